"""The instances of the greetings."""

import pandas as pd

from scripts.core import files
from scripts.core.data import templates
from scripts.core.data.instances import content_id
from scripts.core.workflow.job import run_named


def instances(*, sentences: str, pronouns: str, pronoun_sets: list, instances: str):
    """Write one row for each sentence (Parquet), with the row of the template file that it was made from."""
    forms = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    options = [forms[name]["nominative"] for name in pronoun_sets]
    rows = [
        {
            "instance_id": content_id("greetings", cells["sentence"], "|".join(options), ""),
            "sentences_index": index,
            "text": cells["sentence"],
            "options": options,
        }
        for index, (_, cells) in enumerate(templates.read_tsv(sentences, ("sentence",)))
    ]
    files.write_parquet(instances, pd.DataFrame(rows))


if __name__ == "__main__":
    run_named()
