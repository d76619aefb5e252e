"""Draw what the metrics say of simulated systems whose bias is known."""

from matplotlib.lines import Line2D

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.counter_gap.lib import figures

LOOKS = {
    "i_across": (figures.ACROSS, "^", 3.0, 7.0, r"$I_\mathrm{across}$"),
    "delta_i": (figures.DELTA_I, "s", 2.2, 5.0, r"$\Delta I$"),
    "acc_diff": (figures.ACC_DIFF, "o", 0.9, 3.0, r"$\mathrm{Acc}_\mathrm{Diff}$"),
}
"""Colour, marker, widths of line and marker, label; narrow over wide, because curves lie on one another."""
TITLES = {
    "one direction": "every passage leans to masculine",
    "both directions": "half of the passages lean each way",
    "names only": "no bias, only names",
}


@plotting.style()
def draw(frame):
    """Draw one panel for each setting; return the figure."""
    drawn = plotting.figure(plotting.PAGE, 2.3)
    axes = drawn.subplots(1, len(TITLES), sharey=True)
    for ax, (setting, title) in zip(axes, TITLES.items(), strict=True):
        part = frame[frame.setting == setting]
        x = "strength" if setting == "names only" else "true_gap"
        for metric, (colour, marker, width, size, _) in LOOKS.items():
            rows = part[part.metric == metric]
            look = {"color": colour, "marker": marker, "linewidth": width, "markersize": size}
            ax.plot(rows[x], rows.value, markeredgecolor="white", markeredgewidth=0.3, **look)
            ax.fill_between(rows[x], rows.low.clip(-1, 1), rows.high.clip(-1, 1), color=colour, alpha=0.18, linewidth=0)
        squared = part[part.metric == "delta_i"]
        ax.plot(
            squared[x],
            squared.true_squared,
            color=plotting.CATEGORIES[1],
            linestyle=(0, (1, 1.2)),
            linewidth=1.2,
            zorder=3,
        )
        ax.set(title=title, xlabel="Effect of names (SD)" if x == "strength" else "True gap (mean absolute, share)")
    axes[0].set_ylabel("Value of the metric (share)")
    handles = [
        plotting.handle({"color": colour, "marker": marker, "linewidth": width, "markersize": size}, label)
        for colour, marker, width, size, label in LOOKS.values()
    ]
    handles.append(
        Line2D(
            [],
            [],
            color=plotting.CATEGORIES[1],
            linestyle=(0, (1, 1.2)),
            linewidth=1.2,
            label="true squared gap (mean)",
        )
    )
    plotting.legend_below(drawn, [*handles, plotting.patch_handle("#D5D5D5", "95 % of the data sets")], 5)
    return drawn


def main(*, simulation: str, pdf: str, png: str, csv: str):
    """Draw the figure; every row of the table is drawn."""
    frame = files.read_csv(simulation)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
