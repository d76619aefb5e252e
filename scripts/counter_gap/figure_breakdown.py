"""Draw Delta I by source, case and distance, with and without the quadruples that the conversion spoilt."""

import numpy as np

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.counter_gap import figures

LABELS = {
    "all": "all",
    "gutenberg": "Gutenberg",
    "bookcorpus": "BookCorpus",
    "nominative": "nominative",
    "accusative": "accusative",
    "possessive": "possessive",
    "near": "near",
    "middle": "middle",
    "far": "far",
}
WITHOUT = " without artefact"


@plotting.style()
def draw(frame, sizes):
    """Draw one panel for each subset's kind; filled marks are all quadruples, open ones those without the artefact."""
    subsets = [s for s in LABELS if (frame.subset == s).any()]
    systems = list(dict.fromkeys(frame.system))
    colours = figures.colours(systems)
    drawn = plotting.figure(plotting.PAGE, 2.4)
    ax = drawn.subplots()
    width = 0.8 / len(systems)
    for i, system in enumerate(systems):
        own = frame[frame.system == system].set_index("subset")
        for suffix, filled, shift in (("", True, -0.12), (WITHOUT, False, 0.12)):
            found = [s for s in subsets if s + suffix in own.index]
            if not found:
                continue
            rows = own.loc[[s + suffix for s in found]]
            x = np.array([subsets.index(s) for s in found]) + (i - (len(systems) - 1) / 2 + shift) * width
            errors = 100 * np.abs(np.array([rows.value - rows.ci_low, rows.ci_high - rows.value]))
            ax.errorbar(
                x, 100 * rows.value, yerr=errors, fmt="o", color=colours[system], markersize=3.2, elinewidth=0.7,
                markerfacecolor=colours[system] if filled else "white",
            )  # fmt: skip
    ax.axhline(0, color=plotting.GREY, linewidth=0.7)
    ax.set_xticks(range(len(subsets)), [f"{LABELS[s]}\nn = {sizes[s]}" for s in subsets])
    ax.set_ylabel(r"$\Delta I$ (percentage points)")
    handles = [plotting.handle({"color": colours[s], "marker": "o", "linestyle": "none"}, s) for s in systems]
    handles += [plotting.interval_handle("95 % interval")]
    if frame.subset.str.endswith(WITHOUT).any():
        handles.append(plotting.point_handle("without artefact"))
    plotting.legend_below(drawn, handles, 6)
    return drawn


def main(*, metrics: str, subset_sizes: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the systems without debiasing on the set of quadruples ``templates``."""
    frame = figures.main_scoring(figures.read(metrics, templates))
    wanted = frame.subset.isin([s + suffix for s in LABELS for suffix in ("", WITHOUT)])
    frame = frame[(frame.metric == "delta_i") & (frame.debiasing == "none") & wanted].reset_index(drop=True)
    sizes = files.read_csv(subset_sizes)
    sizes = sizes[sizes.data == templates].set_index("subset").quadruples
    plotting.save(draw(frame, sizes), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
