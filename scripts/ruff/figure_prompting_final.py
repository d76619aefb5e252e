"""Draw accuracies with and without a chain of thought, by their final answers (paper Figure 12)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff import prompting_figures


@plotting.style()
def draw(frame, models, methods, n_options, human):
    """Draw a panel for each model with chains of thought, with a box for each of ``methods``; return the figure."""
    return prompting_figures.draw_methods(frame, models, methods, n_options, human)


def main(
    *,
    prompted_accuracy: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    methods: list,
    pronoun_sets: list,
    human: float,
):
    """Draw the figure on the numbers of distractors with which chains were elicited."""
    frame = prompting_figures.read_methods(prompted_accuracy, models, methods, "final")
    plotting.save(draw(frame, models, methods, len(pronoun_sets), human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
