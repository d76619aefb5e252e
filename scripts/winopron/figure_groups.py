"""Draw sentences that have to be resolved rightly together (paper Figure 4)."""

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.winopron.lib import examples, figures


def main(*, instances: str, pdf: str, png: str, csv: str):
    """Draw the figure with this project's ``instances`` about two people."""
    frame = examples.groups(files.read_parquet(instances))
    plotting.save(figures.sentences(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
