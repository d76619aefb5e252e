"""Draw the share of attempted and solvable template pairs that show positive or negative bias (paper Figure 5)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.templates import CASES
from scripts.winopron.lib import figures, study, tidy

SIGNS = ("positive", "negative")


def prepare(bias, templates):
    """Return the rows to draw: forms of systems that read pronouns, all prompts together.

    Shares of few attempted and solvable template pairs (:data:`scripts.core.plotting.FEWEST`) are left out.
    """
    frame = figures.rows(bias, templates, entities="double")
    of_prompts = frame.groupby("system").prompt.transform(lambda prompts: (prompts == "all").any())
    of_pronouns = frame.system.map(study.reads_pronouns)
    kept = (
        of_pronouns
        & (~of_prompts | (frame.prompt == "all"))
        & (frame.pronoun_set != "all")
        & (frame.attempted_solvable >= plotting.FEWEST)
    )
    return frame[kept].reset_index(drop=True)


@plotting.style()
def draw(frame):
    """Draw positive bias upwards and negative bias downwards, a panel for each system."""
    systems = study.ordered(frame.system)
    if not systems:
        return plotting.nothing_drawn()
    looks = figures.pronoun_looks(frame.pronoun_set.unique())
    down, across = figures.panels(len(systems))
    drawn = plotting.figure(plotting.COLUMN if len(systems) == 1 else plotting.PAGE, 1.5 * down + 0.2)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    step = 0.8 / len(looks)
    for ax, system in zip(axes.flat, systems, strict=False):
        of_system = frame[frame.system == system]
        for place, (pronoun_set, look) in enumerate(looks.items()):
            rows = of_system[of_system.pronoun_set == pronoun_set].set_index("case").reindex(CASES)
            x = np.arange(len(CASES)) + (place - (len(looks) - 1) / 2) * step
            for sign, direction in zip(SIGNS, (1, -1), strict=True):
                values = rows[f"share_{sign}"]
                errors = plotting.error_bars(values, rows[f"share_{sign}_low"], rows[f"share_{sign}_high"])
                ax.bar(
                    x, direction * values, step * 0.9, color=look["color"],
                    yerr=errors if direction > 0 else errors[::-1], error_kw={"elinewidth": 0.7, "ecolor": "#333333"},
                )  # fmt: skip
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set_title(system)
        # Also where a system has bars in one case alone.
        ax.set_xlim(-0.6, len(CASES) - 0.4)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.2g}")
    figures.label_cases(axes, len(systems), short=across > 3)
    # One for all rows: it is longer than a panel is high.
    drawn.supylabel("Share: negative | positive", fontsize=8)
    handles = [plotting.patch_handle(look["color"], label) for label, look in looks.items()]
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(figures.INTERVAL)], 5)
    return drawn


def main(*, bias: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the template set ``templates``."""
    frame = prepare(tidy.bias(bias), templates)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
