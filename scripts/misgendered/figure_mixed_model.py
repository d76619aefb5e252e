"""Draw the coefficients of the mixed model of correctness."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures, tables


@plotting.style()
def draw(frame, models):
    """Draw fixed effects and the standard deviations of random effects, each with its interval.

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.analyses.mixed_model.mixed_model`, without the intercept.
    models : dict
    """
    labels = [tables.effect(row, models) for row in frame.itertuples()]
    drawn = plotting.figure(plotting.COLUMN, 0.18 * max(len(frame), 2) + 0.55)
    ax = drawn.subplots()
    for y, row in enumerate(frame.itertuples()):
        look = {"color": "#000000" if row.kind == "fixed" else plotting.GREY}
        look["marker"] = "o" if row.kind == "fixed" else "D"
        figures.point(ax, row.estimate, y, row.ci_low, row.ci_high, look)
    if frame.empty:
        ax.text(0.5, 0.5, "the model has no estimates", ha="center", va="center", transform=ax.transAxes)
    ax.set_yticks(range(len(frame)), labels)
    ax.set_ylim(max(len(frame), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")
    ax.set_xlabel("Log odds of a right pick")
    handles = [
        plotting.handle({"color": "#000000", "marker": "o", "linestyle": "none"}, "effect"),
        plotting.handle({"color": plotting.GREY, "marker": "D", "linestyle": "none"}, "SD over clusters"),
        plotting.interval_handle("95 % of the posterior", "_"),
        plotting.reference_line([ax], 0, "no effect", (0, (1, 1.2)), along="x"),
    ]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, mixed_model: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure; a fit that did not converge has no estimates to draw."""
    frame = figures.read(mixed_model, ["estimate"])
    frame = frame[(frame.factor != "intercept") & frame.converged].fillna({"reason": "", "level": ""})
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
