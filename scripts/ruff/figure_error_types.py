"""Draw the shares of distraction and of bias among unambiguous errors (paper Figure 9)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "n_distractors", "error_type", "n_seeds", "n_unambiguous", "share", "sd"]
SHOWN = ("distraction", "bias")


@plotting.style()
def draw(frame, models):
    """Draw decoders above encoders, distraction beside bias, with the SD over samples as shading; return the figure.

    A number of distractors at which a model makes few unambiguous errors or none is a gap in its curve.
    """
    panels = [(kind, frame[frame.error_type == kind]) for kind in SHOWN]
    return figures.curves(frame, models, "share", "Share of errors", panels, plotting.over_samples(frame))


def main(*, error_types: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure."""
    frame = figures.read(error_types, COLUMNS, model=models)
    frame = frame[frame.error_type.isin(SHOWN)].rename(columns={"n_unambiguous": "n"})
    frame = frame.assign(low=plotting.within(frame.share - frame.sd), high=plotting.within(frame.share + frame.sd))
    frame = figures.in_order(frame, model=models, error_type=SHOWN, n_distractors=None)
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
