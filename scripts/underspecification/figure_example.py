"""Draw the female probability over dates for the sentences about one occupation (Figure 4)."""

import numpy as np
from matplotlib.transforms import offset_copy

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.analyses.masses import read_masses
from scripts.underspecification.lib.instances import COREFERENTS, PARTICIPANTS, is_well_specified

LOOKS = {
    "professional": {"color": "#000000", "marker": "o", "linestyle": "-", "linewidth": 0.9},
    "participant": {"color": "#B07800", "marker": "s", "linestyle": (0, (4, 1.5)), "linewidth": 0.9},
}
"""By the person that the pronoun means."""
FILLS = {True: {}, False: {"markerfacecolor": "white"}}
"""By whether the sentence is well-specified."""
BESIDE = {"professional": -1.5, "participant": 1.5}
"""How far right of its date a mark stands, in points."""


def choose(frame, occupation, model):
    """Return the rows to draw, for the wanted occupation and model.

    Where they are not there it is the first occupation, and the first model that gives a female word any mass in it.
    """
    rows = frame[
        (frame.evaluation_set == "winogender")
        & (frame.gender == "female")
        & (frame.accumulation == "top")
        & ~frame.debris
        & frame.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    occupations = sorted(rows.occupation.unique())
    rows = rows[rows.occupation == (occupation if occupation in occupations else occupations[0])]
    models = study.order(rows.model)
    if model not in models:
        model = next((name for name in models if rows.probability[rows.model == name].max() > 0), models[0])
    rows = rows[rows.model == model]
    rows = rows[rows.templates == rows.templates.iloc[0]]
    return rows.assign(kind=figures.kinds_of_sentences(rows)).reset_index(drop=True)


def spans(dates):
    """Return the dates in one list, or in two where more than half of the time between the outer ones has none."""
    gaps = np.diff(dates)
    if len(dates) > 1 and 2 * gaps.max() > dates[-1] - dates[0]:
        after = int(gaps.argmax()) + 1
        return [dates[:after], dates[after:]]
    return [dates]


def show_dates(ax, dates):
    """Let a panel show ``dates`` with room on both sides."""
    room = max(1, 0.15 * (dates[-1] - dates[0]))
    ax.set_xlim(dates[0] - room, dates[-1] + room)
    ax.set_xticks(dates if len(dates) <= 3 else dates[[0, -1]])


@plotting.style()
def draw(frame):
    """Draw a panel for each other person in the sentence; where dates are missing in between, its halves stand apart.

    Parameters
    ----------
    frame : DataFrame
        From :func:`choose`.
    """
    drawn = plotting.figure(plotting.PAGE, 3.7)
    parts = spans(np.unique(frame.value.astype(int)))
    axes = drawn.subplots(2, 2 * len(parts), sharey=True, squeeze=False)
    blocks = axes.reshape(2 * 2, len(parts))
    for panel, (block, participant) in enumerate(zip(blocks, PARTICIPANTS, strict=True)):
        for coreferent in COREFERENTS:
            sentence = frame[(frame.participant == participant) & (frame.coreferent == coreferent)]
            sentence = sentence.sort_values("position")
            look = LOOKS[coreferent] | FILLS[is_well_specified("winogender", participant, coreferent)]
            for ax, dates in zip(block, parts, strict=True):
                part = sentence[sentence.value.astype(int).isin(dates)]
                # Of two marks at one place both are seen.
                beside = offset_copy(ax.transData, drawn, x=BESIDE[coreferent], units="points")
                ax.plot(part.value.astype(int), 100 * part.probability, clip_on=False, transform=beside, **look)
        for ax, dates in zip(block, parts, strict=True):
            show_dates(ax, dates)
            if panel // 2:
                ax.set_xlabel("date (year)")
        for ax in block[1:]:
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        block[0].set_title("<other>" if participant == "other" else f"'{participant}'")
    axes[0, 0].set(ylim=(-4, 104))
    model, occupation = frame.model.iloc[0], frame.occupation.iloc[0]
    drawn.suptitle(f"{model}: sentences about a professional called {occupation}", fontsize=8)
    drawn.supylabel("normalised female probability (%)", fontsize=8)
    handles = [
        plotting.handle(LOOKS[coreferent] | FILLS[specified], label)
        for coreferent, specified, label in (
            ("professional", False, "pronoun: professional"),
            ("participant", False, "pronoun: participant"),
            ("participant", True, "pronoun: participant, well-specified"),
        )
    ]
    for handle in handles:
        handle.set_markeredgecolor(handle.get_color())
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(*, masses: list, pdf: str, png: str, csv: str, occupation: str, model: str):
    """Draw the sentences about ``occupation`` as ``model`` fills them, or what :func:`choose` takes."""
    frame = choose(read_masses(masses), occupation, model)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
