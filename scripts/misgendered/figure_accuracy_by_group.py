"""Draw the accuracy on each pronoun group (the numbers behind Table 7)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import TYPES, present


def main(
    *, accuracy: str, pdf: str, png: str, csv: str, templates: str, models: dict, pronoun_sets: list, chance: float
):
    """Draw the figure; ``chance`` is the accuracy of a random pick among the forms of ``pronoun_sets``."""
    frame = figures.pooled(figures.read(accuracy, ["group"]), templates, {"pronoun_type", "group"})
    frame = plotting.enough(frame[frame.model.isin(figures.panels(models))])
    types = dict(zip(frame.group, frame.pronoun_type, strict=True))
    order = [g for kind in present(TYPES, types.values()) for g in pronoun_sets if types.get(g) == kind]
    with plotting.style():
        drawn = figures.accuracy_rows(frame, {group: group for group in order}, models, chance, "group")
    plotting.save(drawn, frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
