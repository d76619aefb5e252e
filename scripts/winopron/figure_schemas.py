"""Draw a pair of templates with all pronouns (paper Figure 2)."""

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.winopron.lib import examples, figures


def main(*, instances: str, pdf: str, png: str, csv: str):
    """Draw the figure with this project's ``instances`` about two people."""
    frame = examples.schemas(files.read_parquet(instances))
    plotting.save(figures.sentences(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
