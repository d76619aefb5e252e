"""Draw accuracy over distractors by grammatical case, or by the polarity of the introduction (not in the paper)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures


def main(
    *,
    accuracy: str,
    accuracy_over_models: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    factor: str,
    chance: float,
    human: float | dict,
):
    """Draw a panel for each model, or one for each architecture where the run has many models.

    Bars are 95 % bootstrap intervals over occupations for a model, and the SD over models for an architecture.
    ``factor`` is case or polarity, ``chance`` the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    frame = figures.read_factor(accuracy, accuracy_over_models, factor, models)
    plotting.save(figures.factor_figure(frame, factor, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
