"""Draw accuracies with and without a chain of thought: final answers, or those in the chain (Figures 12 and 13)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import prompting_figures


@plotting.style()
def draw(frame, models, methods, chance, human):
    """Draw a panel for each model with chains of thought, with a box for each of ``methods``; return the figure."""
    return prompting_figures.draw_methods(frame, models, methods, chance, human)


def main(
    *,
    prompted_accuracy: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    methods: list,
    answer: str,
    chance: float,
    human: float | dict,
):
    """Draw a figure on the numbers of distractors with which chains were elicited; ``answer`` is final or chain."""
    frame = prompting_figures.read_methods(prompted_accuracy, models, methods, answer)
    plotting.save(draw(frame, models, methods, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
