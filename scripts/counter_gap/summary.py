"""Write Counter-GAP's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.summary import write
from scripts.counter_gap.lib.summary import rows


def main(*, metrics: str, sizes: str, summary: str):
    """Write ``summary`` (CSV)."""
    write(summary, "Counter-GAP", rows(files.read_csv(metrics), files.read_csv(sizes)))


if __name__ == "__main__":
    run(main)
