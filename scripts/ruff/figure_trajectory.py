"""Draw accuracy over the course of training, for models whose registry entry has several revisions."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.paper import trajectory


def main(*, summary: str, pdf: str, png: str, csv: str, models: dict, points: list, templates: str, chance: float):
    """Draw the figure; arguments are those of :mod:`scripts.core.paper.trajectory`."""
    frame = trajectory.rows(summary, models, points, templates)
    drawn = trajectory.draw(frame, [label for label, *_ in points], chance, key="Distractors")
    plotting.save(drawn, frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
