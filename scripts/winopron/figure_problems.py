"""Draw sentences with the problems of Winogender Schemas beside sentences without them (paper Figure 1)."""

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.winopron.lib import examples, figures


def main(*, problems: str, instances: str, pdf: str, png: str, csv: str):
    """Draw the figure with the made-up sentences of ``problems`` and this project's ``instances`` about two people."""
    frame = examples.problems(examples.read_problems(problems), files.read_parquet(instances))
    plotting.save(figures.sentences(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
