"""Draw Delta I by source, case and distance, with and without the quadruples that the conversion spoilt."""

import numpy as np

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.counter_gap.lib import figures
from scripts.counter_gap.lib.analyses.metrics import read_set

GROUPS = {
    "": {"all": "all"},
    "source": {"gutenberg": "Gutenberg", "bookcorpus": "BookCorpus"},
    "case of the pronoun": {"nominative": "nominative", "accusative": "accusative", "possessive": "possessive"},
    "distance of the right name": {"near": "near", "middle": "middle", "far": "far"},
}
"""Title of each group of subsets, and its subsets with their labels."""
WITHOUT = " without artefact"
FEWEST = 20
"""Smaller subsets are not drawn: a few quadruples that agree would make an interval without width."""


def prepare(frame, sizes):
    """Return the rows of large enough subsets, with their ``quadruples``; an interval without width is missing.

    Parameters
    ----------
    frame : DataFrame
        Rows of metrics.csv on Delta I.
    sizes : Series
        Quadruples by subset.
    """
    frame = frame.assign(quadruples=frame.subset.map(sizes))
    frame = frame[frame.quadruples >= FEWEST].reset_index(drop=True)
    bounds = ["ci_low", "ci_high"]
    frame[bounds] = frame[bounds].where(frame.ci_low < frame.ci_high)
    return frame


@plotting.style()
def draw(frame, sizes):
    """Draw a group of marks for each subset; filled are all quadruples, open those without the artefact."""
    systems = list(dict.fromkeys(frame.system))
    colours = figures.colours(systems)
    groups = [(title, [s for s in labels if (frame.subset == s).any()], labels) for title, labels in GROUPS.items()]
    groups = [group for group in groups if group[1]]
    drawn = plotting.figure(plotting.PAGE, 2.5)
    ax = drawn.subplots()
    places, ticks, start = {}, [], 0.0
    for number, (title, subsets, labels) in enumerate(groups):
        if number:
            ax.axvline(start - 0.7, color="#BFBFBF", linewidth=0.7)
        for subset in subsets:
            places[subset] = start
            quadruples = [sizes[s] for s in (subset, subset + WITHOUT) if s in sizes]
            ticks.append(f"{labels[subset]}\n{' / '.join(f'{n:,}' for n in quadruples)}")
            start += 1
        ax.text(
            places[subsets[0]] / 2 + places[subsets[-1]] / 2, 1.01, title, transform=ax.get_xaxis_transform(),
            ha="center", va="bottom", fontsize=7,
        )  # fmt: skip
        start += 0.4
    width = 0.8 / len(systems)
    for i, system in enumerate(systems):
        of_system = frame[frame.system == system].set_index("subset")
        for suffix, filled, shift in (("", True, -0.2), (WITHOUT, False, 0.2)):
            shown = [s for s in places if s + suffix in of_system.index]
            if not shown:
                continue
            rows = of_system.loc[[s + suffix for s in shown]]
            x = np.array([places[s] for s in shown]) + (i - (len(systems) - 1) / 2 + shift) * width
            errors = 100 * np.abs(np.array([rows.value - rows.ci_low, rows.ci_high - rows.value]))
            ax.errorbar(
                x, 100 * rows.value, yerr=np.nan_to_num(errors), fmt="none", color=colours[system], elinewidth=0.7
            )
            for with_interval, marker in ((True, "o"), (False, "D")):
                chosen = rows.ci_low.notna().to_numpy() == with_interval
                ax.plot(
                    x[chosen], 100 * rows.value[chosen], marker, color=colours[system], markersize=3.2,
                    markerfacecolor=colours[system] if filled else "white",
                )  # fmt: skip
    ax.axhline(0, color=plotting.GREY, linewidth=0.7)
    ax.set_xlim(-0.6, start - 0.8)
    ax.set_xticks(list(places.values()), ticks)
    ax.set_ylabel(r"$\Delta I$ (percentage points)")
    handles = [plotting.handle({"color": colours[s], "marker": "o", "linestyle": "none"}, s) for s in systems]
    handles += [plotting.interval_handle("95 % interval")]
    if frame.subset.str.endswith(WITHOUT).any():
        handles.append(plotting.point_handle("without artefact"))
    if frame.ci_low.isna().any():
        look = {"color": plotting.GREY, "marker": "D", "linestyle": "none", "markersize": 3.2}
        handles.append(plotting.handle(look, "no interval: all quadruples alike"))
    plotting.legend_below(drawn, handles, 6)
    return drawn


def main(*, metrics: str, subset_sizes: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the systems without debiasing on the set of quadruples ``templates``."""
    frame = figures.main_scoring(read_set(metrics, templates))
    wanted = frame.subset.isin([s + suffix for labels in GROUPS.values() for s in labels for suffix in ("", WITHOUT)])
    frame = frame[(frame.metric == "delta_i") & (frame.debiasing == "none") & wanted].reset_index(drop=True)
    sizes = files.read_csv(subset_sizes)
    sizes = sizes[sizes.data == templates].set_index("subset").quadruples
    frame = prepare(frame, sizes)
    plotting.save(draw(frame, sizes), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
