"""Draw what the order of files does to detection: printed rates, each gender's, and the spread over all orders."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.paper import published
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.analyses import agreement
from scripts.underspecification.lib.readers import read_rows

RATES = ("TPR", "TNR", "balanced accuracy")
TITLES = {"winogender": "Winogender", "simplified": "Simplified"}
BAR = 0.84
SHIFTS = {"female": 0.27, "male": 0.0, "neutral": -0.27}
"""Heights of the genders' marks, in rows."""


@plotting.style()
def draw(frame):
    """Draw one panel for each set and rate.

    Parameters
    ----------
    frame : DataFrame
        ``model``, ``evaluation_set``, ``rate``, ``printed``, ``female``, ``male``, ``neutral``, ``mean``, ``low``,
        ``high``, ``lowest``, ``highest``.
    """
    names = study.order(frame.model)
    y = {name: i for i, name in enumerate(reversed(names))}
    shown = [s for s in TITLES if (frame.evaluation_set == s).any()]
    drawn = plotting.figure(plotting.PAGE, (0.26 * len(names) + 0.4) * len(shown) + 0.3)
    axes = drawn.subplots(len(shown), len(RATES), sharey=True, squeeze=False)
    colours = figures.colours()
    for row, evaluation_set in zip(axes, shown, strict=True):
        for ax, rate in zip(row, RATES, strict=True):
            rates = frame[(frame.evaluation_set == evaluation_set) & (frame.rate == rate)]
            place = rates.model.map(y)
            ax.barh(place, rates.highest - rates.lowest, left=rates.lowest, height=BAR, color="#E3E3E3", linewidth=0)
            ax.barh(place, rates.high - rates.low, left=rates.low, height=BAR, color="#A6A6A6", linewidth=0)
            # Each gender on a height of its own, and the printed rate as a line across all, so that none hides another.
            for gender, shift in SHIFTS.items():
                ax.plot(rates[gender], place + shift, linestyle="none", marker=figures.MARKERS[gender], markersize=3,
                        color=colours[gender], markeredgewidth=0, clip_on=False, zorder=3)  # fmt: skip
            ax.vlines(rates.printed, place - BAR / 2, place + BAR / 2, color="black", linewidth=1.1, zorder=2.5)
            ax.set(xlim=(-0.02, 1.02))
            ax.set_title(f"{TITLES[evaluation_set]}: {rate}", fontsize=7)
            ax.grid(axis="x")
        row[0].set_yticks(list(y.values()), list(y))
        row[0].set_ylim(-0.6, len(names) - 0.4)
    for ax, rate in zip(axes[-1], RATES, strict=True):
        ax.set_xlabel("mean of TPR and TNR" if rate == "balanced accuracy" else "share of sentences", fontsize=7)
    handles = [plotting.interval_handle("printed")]
    handles[0].set_color("black")
    handles += [
        plotting.handle({"color": colours[g], "marker": figures.MARKERS[g], "linestyle": "none"}, f"{g} files alone")
        for g in SHIFTS
    ]
    handles += [plotting.patch_handle("#A6A6A6", "95 % of file orders"), plotting.patch_handle("#E3E3E3", "all orders")]
    plotting.legend_below(drawn, handles, 6)
    return drawn


def main(*, orders: str, specification_detection: str, printed: str, pdf: str, png: str, csv: str):
    """Draw the rates of a release beside those of ``printed`` (paper/published)."""
    table = agreement.beside_printed(
        read_rows(specification_detection, "rates"),
        read_rows(orders, "orders"),
        published.read_published(printed),
    )
    plotting.save(draw(table), table, pdf, png, csv)


if __name__ == "__main__":
    run(main)
