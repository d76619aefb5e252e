"""Collect the numbers that the section's text uses, with where they come from."""

from scripts.core import files
from scripts.core.job import run


def main(*, choices: str, paper_numbers: str):
    """Write ``sentences``, how many a model has read (JSON)."""
    n = int(files.read_csv(choices).n.iloc[0])
    entry = {"value": n, "text": str(n), "source": "choices.csv", "cell": {"column": "n"}}
    files.write_json(paper_numbers, {"sentences": entry})


if __name__ == "__main__":
    run(main)
