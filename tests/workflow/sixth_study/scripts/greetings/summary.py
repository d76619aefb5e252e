"""Write the study's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.estimate_rows import MODEL, PROBABILITY, write
from scripts.core.job import run


def main(*, choices: list, summary: str, template_sets: list):
    """Write ``summary`` (CSV) from one table of ``choices`` for each of ``template_sets``."""
    rows = [
        {
            "part": name,
            "model": row.model,
            "kind": MODEL,
            "scoring": PROBABILITY,
            "metric": "share of sentences",
            "pronoun": row.pronoun,
            "value": row.chosen / row.n,
            "n": row.n,
            "n_unit": "instances",
            "label": row.model,
            "headline": row.pronoun == "they",
        }
        for name, path in zip(template_sets, choices, strict=True)
        for row in files.read_csv(path).rename(columns={"count": "chosen"}).itertuples()
    ]
    write(summary, "greetings", rows)


if __name__ == "__main__":
    run(main)
