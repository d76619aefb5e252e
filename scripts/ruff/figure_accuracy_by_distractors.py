"""Draw accuracy over the number of distractors for every model (paper Figure 7)."""

from functools import partial

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "n_distractors", "factor", "n", "accuracy", "ci_low", "ci_high"]


@plotting.style()
def draw(frame, models, chance, human):
    """Draw decoders above encoders, with their intervals as shading; return the figure."""
    references = [partial(plotting.chance_line, chance=chance), partial(plotting.human_line, human=human)]
    return figures.curves(frame, models, "accuracy", "Accuracy", [(None, frame)], figures.BOOTSTRAP, references)


def main(*, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure; ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3)."""
    frame = figures.read(accuracy, COLUMNS, model=models)
    frame = frame[frame.factor == "all"].drop(columns="factor").rename(columns={"ci_low": "low", "ci_high": "high"})
    frame = figures.in_order(frame, model=models, n_distractors=None)
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
