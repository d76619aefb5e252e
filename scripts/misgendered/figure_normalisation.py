"""Draw the accuracy on each type of pronouns under each normalisation of the losses."""

from scripts.core import normalisation as core
from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.normalisation import KEPT
from scripts.misgendered.lib.labels import ALL

ROWS = {name: core.LABELS[name] for name in KEPT}


@plotting.style()
def draw(frame, models, chance):
    """Draw a panel for each model, or for the mean over many, and a row for each normalisation; return the figure.

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.analyses.normalisation.normalisations`, of the panels and of single types.
    models : dict
    chance : float
    """
    return figures.accuracy_rows(plotting.enough(frame), ROWS, models, chance, "normalisation")


def main(*, normalisation: str, pdf: str, png: str, csv: str, models: dict, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(normalisation, ["normalisation", "accuracy"])
    frame = frame[frame.model.isin(figures.panels(models)) & (frame.group == ALL) & (frame.pronoun_type != ALL)]
    plotting.save(draw(frame, models, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
