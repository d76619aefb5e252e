"""Write MISGENDERED's rows of the summary over all studies."""

from scripts.core.job import run
from scripts.core.paper.summary import write
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.summary import rows


def main(*, accuracy: str, summary: str, models: dict, template_sets: list):
    """Write ``summary`` (CSV)."""
    frame = figures.read(accuracy, ["shots"])
    write(summary, "MISGENDERED", rows(frame, models, template_sets))


if __name__ == "__main__":
    run(main)
