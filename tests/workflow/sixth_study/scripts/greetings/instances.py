"""The instances of the greetings."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import templates
from scripts.core.data.instances import content_id
from scripts.core.workflow.job import run_named


def instances(*, sentences: str, pronouns: str, pronoun_sets: list, instances: str):
    """Write one row for each sentence (Parquet), with the lines of the template files that it was made from."""
    forms = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    lines = templates.pronoun_lines(pronouns)
    options = [forms[name]["nominative"] for name in pronoun_sets]
    rows = [
        {
            "instance_id": content_id("greetings", cells["sentence"], "|".join(options), ""),
            "sentence_row": line,
            "pronoun_rows": [lines[name] for name in pronoun_sets],
            "text": cells["sentence"],
            "options": options,
        }
        for line, cells in templates.read_tsv(sentences, ("sentence",))
    ]
    origins = {"sentence_row": Path(sentences).name, "pronoun_rows": Path(pronouns).name}
    files.write_parquet(instances, pd.DataFrame(rows), {"origins": origins})


if __name__ == "__main__":
    run_named()
