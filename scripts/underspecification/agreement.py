"""Count the printed cells that agree with what is computed from each release."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import read_published
from scripts.underspecification.lib.analyses.agreement import over_releases


def main(*, metric: list, rates: list, orders: list, printed: str, cell_agreement: str, releases: list):
    """Write ``cell_agreement`` (CSV), from the tables of each of ``releases`` and the numbers in ``printed``."""
    tables = {
        release: [files.read_csv(path) for path in paths]
        for release, *paths in zip(releases, metric, rates, orders, strict=True)
    }
    files.write_csv(cell_agreement, over_releases(tables, read_published(printed)))


if __name__ == "__main__":
    run(main)
