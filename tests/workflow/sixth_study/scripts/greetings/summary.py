"""Write the study's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.summary import RUN, write


def main(*, choices: list, summary: str, template_sets: list):
    """Write ``summary`` (CSV) from one table of ``choices`` for each of ``template_sets``."""
    rows = [
        {
            "data": name,
            "model": row.model,
            "metric": "share of sentences",
            "group": row.pronoun,
            "value": row.chosen / row.n,
            "n": row.n,
            "status": RUN,
            "headline": row.pronoun == "they",
        }
        for name, path in zip(template_sets, choices, strict=True)
        for row in files.read_csv(path).rename(columns={"count": "chosen"}).itertuples()
    ]
    write(summary, "Greetings", rows)


if __name__ == "__main__":
    run(main)
