"""Draw the accuracy on each pronoun form, by type of pronouns (the numbers behind Table 8)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import FORMS, present


def main(*, accuracy: str, pdf: str, png: str, csv: str, templates: str, models: dict, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    frame = figures.pooled(figures.read(accuracy, ["form"]), templates, {"pronoun_type", "form"})
    frame = plotting.enough(frame[frame.model.isin(figures.panels(models))])
    with plotting.style():
        drawn = figures.accuracy_rows(frame, present(FORMS, frame.form), models, chance, "form")
    plotting.save(drawn, frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
