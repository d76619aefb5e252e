"""Write Underspecification's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.estimate_rows import write
from scripts.core.job import run
from scripts.underspecification.lib.summary import rows


def main(*, slopes: str, detection: str, summary: str, models: dict):
    """Write ``summary`` (CSV) from the tables of all sources; ``models`` are the run's."""
    write(summary, "underspecification", rows(files.read_csv(slopes), files.read_csv(detection), models))


if __name__ == "__main__":
    run(main)
