"""The instances of the greetings."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import templates
from scripts.core.data.instances import content_id
from scripts.core.workflow.job import run_named


def instances(*, sentences: str, pronouns: str, pronoun_sets: list, instances: str):
    """Write one row for each sentence and introduced pronoun set (Parquet), with the lines that it was made from."""
    forms = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    lines = templates.pronoun_lines(pronouns)
    options = [forms[name]["accusative"] for name in pronoun_sets]
    rows = []
    for line, cells in templates.read_tsv(sentences, ("introduction", "sentence")):
        for name in pronoun_sets:
            text = f"{cells['introduction'].format(**forms[name])} {cells['sentence']}"
            gold = forms[name]["accusative"]
            rows.append(
                {
                    "instance_id": content_id("greetings", text, "|".join(options), gold),
                    "sentence_row": line,
                    "pronoun_row": lines[name],
                    "pronoun": name,
                    "text": text,
                    "options": options,
                    "gold": gold,
                }
            )
    origins = {"sentence_row": Path(sentences).name, "pronoun_row": Path(pronouns).name}
    files.write_parquet(instances, pd.DataFrame(rows), {"origins": origins})


if __name__ == "__main__":
    run_named()
