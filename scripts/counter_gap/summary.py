"""Write Counter-GAP's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.estimate_rows import write
from scripts.core.job import run
from scripts.counter_gap.lib.summary import rows


def main(*, metrics: str, sizes: str, summary: str, systems: dict):
    """Write ``summary`` (CSV); ``systems`` are the coreference systems of the run."""
    write(summary, "counter_gap", rows(files.read_csv(metrics), files.read_csv(sizes), systems))


if __name__ == "__main__":
    run(main)
