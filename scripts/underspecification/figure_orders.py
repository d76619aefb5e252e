"""Draw what the order of files does to detection: printed rates, each gender's own, and the spread over all orders."""

from scripts.core import plotting, published
from scripts.core.job import run
from scripts.underspecification import agreement, figures, study

RATES = ("TPR", "TNR", "balanced accuracy")
TITLES = {"winogender": "Winogender", "simplified": "Simplified"}


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
    drawn = plotting.figure(plotting.PAGE, 2.2 * len(shown) + 0.4)
    axes = drawn.subplots(len(shown), len(RATES), sharey=True, squeeze=False)
    colours = figures.colours()
    for row, evaluation_set in zip(axes, shown, strict=True):
        for ax, rate in zip(row, RATES, strict=True):
            own = frame[(frame.evaluation_set == evaluation_set) & (frame.rate == rate)]
            place = own.model.map(y)
            ax.hlines(place, own.lowest, own.highest, color="#D9D9D9", linewidth=3)
            ax.hlines(place, own.low, own.high, color="#7F7F7F", linewidth=3)
            for gender in ("female", "male", "neutral"):
                ax.plot(own[gender], place, linestyle="none", marker=figures.MARKERS[gender], markersize=3,
                        color=colours[gender], markeredgewidth=0)  # fmt: skip
            ax.plot(own.printed, place, linestyle="none", marker="x", markersize=4.5, color="black", markeredgewidth=1)
            ax.set(xlim=(-0.02, 1.02))
            ax.set_title(f"{TITLES[evaluation_set]}: {rate}", fontsize=7)
            ax.grid(axis="x")
        row[0].set_yticks(list(y.values()), list(y))
        row[0].set_ylim(-0.6, len(names) - 0.4)
    handles = [plotting.handle({"color": "black", "marker": "x", "linestyle": "none"}, "printed")]
    handles[0].set_markeredgecolor("black")
    handles += [
        plotting.handle({"color": colours[g], "marker": figures.MARKERS[g], "linestyle": "none"}, f"{g} files alone")
        for g in ("female", "male", "neutral")
    ]
    handles += [plotting.patch_handle("#7F7F7F", "95 % of file orders"), plotting.patch_handle("#D9D9D9", "all orders")]
    plotting.legend_below(drawn, handles, 6)
    return drawn


def main(*, orders: str, specification_detection: str, printed: str, pdf: str, png: str, csv: str):
    """Draw the rates of a release beside those of ``printed`` (paper/published)."""
    table = agreement.beside_printed(
        figures.read(specification_detection, "rates"),
        figures.read(orders, "orders"),
        published.read_published(printed),
    )
    plotting.save(draw(table), table, pdf, png, csv)


if __name__ == "__main__":
    run(main)
