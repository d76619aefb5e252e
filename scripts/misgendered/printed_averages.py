"""Work out from the study's printed numbers which combinations of declared forms its averages are over."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import read_published
from scripts.misgendered.lib.analyses import printed_averages as analysis


def main(*, published: str, printed_averages: str):
    """Write ``printed_averages`` (CSV) from the ``published`` numbers."""
    files.write_csv(printed_averages, analysis.printed_averages(read_published(published)))


if __name__ == "__main__":
    run(main)
