"""Set answers that were drawn several times beside each other and beside the most probable ones."""

import pandas as pd

from scripts.core import files, model_outputs, templates
from scripts.core.job import run
from scripts.ruff.lib.analyses import generation, prompting


def main(
    *,
    prompted: str,
    prompts: str,
    outputs: str,
    answers: list,
    pronouns: str,
    sampled_agreement: str,
    sampled: list,
    pronoun_sets: list,
    draws: int,
    seed: int,
):
    """Write ``sampled_agreement`` (CSV).

    ``answers`` has a file for each of ``sampled`` (``model`` and ``seed``), in that order; ``outputs`` are those to the
    same prompts whose tokens are the most probable ones; ``draws`` and ``seed`` belong to the bootstrap over
    occupations.
    """
    sets = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    rows, asked = files.read_parquet(prompted), files.read_parquet(prompts)
    parts = []
    for draw, path in zip(sampled, answers, strict=True):
        model = draw["model"]
        part = prompting.output_rows(rows, asked, model_outputs.read_answers(path, model, asked), model, sets)
        parts.append(part.assign(sample=draw["seed"]))
    written = pd.concat(parts, ignore_index=True)
    files.write_csv(sampled_agreement, generation.sampled_agreement(files.read_parquet(outputs), written, draws, seed))


if __name__ == "__main__":
    run(main)
