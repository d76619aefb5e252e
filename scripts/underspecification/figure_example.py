"""Draw the female probability over dates for the sentences about one occupation (Figure 4)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.analyses.masses import read_masses

SIDE = 0.2
"""Years between the marks of a single date."""


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


@plotting.style()
def draw(frame, models):
    """Draw the eight sentences over dates; where dates are missing in between, two panels stand apart."""
    drawn = plotting.figure(plotting.COLUMN * 1.35, 3.0)
    parts = spans(np.unique(frame.value.astype(int)))
    axes = drawn.subplots(1, len(parts), sharey=True, squeeze=False)[0]
    handles = []
    for number, kind in enumerate(figures.KINDS["winogender"]):
        sentence = frame[frame.kind == kind].sort_values("position")
        colour, marker = figures.LOOKS[kind]
        look = {"color": colour, "marker": marker, "linestyle": "-", "linewidth": 0.9}
        for ax, dates in zip(axes, parts, strict=True):
            part = sentence[sentence.value.astype(int).isin(dates)]
            # Marks of a single date stand side by side, so that none hides another.
            shift = SIDE * (number - 3.5) if len(dates) == 1 else 0
            ax.plot(part.value.astype(int) + shift, 100 * part.probability, clip_on=False, **look)
        handles.append(plotting.handle(look, figures.kind_label(kind, "winogender")))
    model, occupation = frame.model.iloc[0], frame.occupation.iloc[0]
    axes[0].set(ylabel="normalised female probability (%)", ylim=(-4, 104))
    for ax, dates in zip(axes, parts, strict=True):
        room = max(1, 0.15 * (dates[-1] - dates[0]))
        ax.set_xlabel("date")
        ax.set_xlim(dates[0] - room, dates[-1] + room)
        ax.set_xticks(dates if len(dates) <= 4 else dates[[0, -1]])
    for ax in axes[1:]:
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    axes[0].set_title(f"{model}: {occupation}")
    plotting.legend_below(drawn, handles, 2)
    figures.note_demonstration(drawn, [model], models)
    return drawn


def main(*, masses: list, pdf: str, png: str, csv: str, occupation: str, model: str, models: dict):
    """Draw the sentences about ``occupation`` as ``model`` fills them, or what :func:`choose` takes."""
    frame = choose(read_masses(masses), occupation, model)
    facts = {entry["label"]: entry for entry in models.values()}
    plotting.save(draw(frame, facts), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
