"""Read a pronoun out of everything that prompted models wrote."""

import pandas as pd

from scripts.core import files, model_outputs, templates
from scripts.core.job import log, run
from scripts.ruff.lib.analyses import prompting


def main(*, prompted: str, prompts: str, answers: list, pronouns: str, outputs: str, models: list, pronoun_sets: list):
    """Write ``outputs`` (Parquet), one row for each instance of a sample, prompt, model and place of the answer.

    ``prompted`` and ``prompts`` are what ``scripts/ruff/prompts.py`` wrote; ``answers`` has one file for each of
    ``models``, in that order; ``pronouns`` is the file of all pronoun sets.
    """
    sets = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    rows, asked = files.read_parquet(prompted), files.read_parquet(prompts)
    parts = []
    for model, path in zip(models, answers, strict=True):
        part = prompting.output_rows(rows, asked, model_outputs.read_answers(path, model, asked), model, sets)
        log.info("%s: %d outputs: %s", model, len(part), part.outcome.value_counts().to_dict())
        parts.append(part)
    files.write_parquet(outputs, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    run(main)
