"""Draw what the place of an option in the list does to prompted models (not a figure of the study)."""

from matplotlib.ticker import MaxNLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures
from scripts.ruff.lib.prompts import ORDERS, VANILLA

COLUMNS = ["model", "method", "order", "place", "n", "accuracy", "n_all", "named"]
LOOKS = {
    "published": {"marker": "o", "linestyle": "-"},
    "rotated": {"marker": "s", "linestyle": (0, (4, 1.5))},
}
COLOURS = dict(zip(("accuracy", "named"), plotting.CATEGORIES, strict=False))
LABELS = {"accuracy": "accuracy if the right option is there", "named": "outputs that name the option there"}


@plotting.style()
def draw(frame, models):
    """Draw a panel for each model, a curve over places for each order of the options; return the figure."""
    drawn, axes, columns = prompting_figures.panels(len(models), columns=3)
    orders = [order for order in ORDERS if order in set(frame.order)]
    for i, (ax, name) in enumerate(zip(axes, figures.ordered(models), strict=True)):
        for order in orders:
            rows = frame[(frame.model == name) & (frame.order == order)]
            for value, colour in COLOURS.items():
                ax.plot(rows.place, rows[value], color=colour, markersize=3.5, **LOOKS[order])
        ax.set_title(models[name]["label"])
        ax.set_xlabel("Place in the list (from 1)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        plotting.fraction_axis(ax.yaxis)
        if i % columns == 0:
            ax.set_ylabel("Share")
    looks = [(value, order) for value in COLOURS for order in orders]
    handles = [
        plotting.handle(
            {"color": COLOURS[value], "markersize": 3.5, **LOOKS[order]},
            LABELS[value] + (f" ({order} order)" if len(orders) > 1 else ""),
        )
        for value, order in looks
    ]
    plotting.legend_below(drawn, handles, 1 if columns == 1 else 2)
    return drawn


def main(*, prompted_positions: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure for vanilla prompting."""
    frame = figures.read(prompted_positions, COLUMNS, model=models)
    frame = frame[frame.method == VANILLA].drop(columns="method")
    frame = figures.in_order(frame, model=models, order=ORDERS, place=None)
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
