"""Draw the female probability over dates for the sentences about one occupation (Figure 4)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification import figures, raw_files, study
from scripts.underspecification.figure_occupations import kinds


def choose(frame, occupation, model):
    """Return the rows to draw, for the wanted occupation and model.

    Where they are not there it is the first occupation, and the first model that gives a female word any mass in it.
    """
    own = frame[
        (frame.evaluation_set == "winogender")
        & (frame.gender == "female")
        & (frame.accumulation == "top")
        & ~frame.debris
        & frame.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    names = sorted(own.occupation.unique())
    own = own[own.occupation == (occupation if occupation in names else names[0])]
    known = study.order(own.model)
    if model not in known:
        model = next((name for name in known if own.probability[own.model == name].max() > 0), known[0])
    own = own[own.model == model]
    own = own[own.templates == own.templates.iloc[0]]
    return own.assign(kind=kinds(own)).reset_index(drop=True)


@plotting.style()
def draw(frame, models):
    """Draw a line for each of the eight sentences, with what a shift between sentences and one between dates are."""
    drawn = plotting.figure(plotting.COLUMN * 1.35, 3.0)
    ax = drawn.subplots()
    handles = []
    for kind in figures.KINDS["winogender"]:
        own = frame[frame.kind == kind].sort_values("position")
        colour, marker = figures.LOOKS[kind]
        look = {"color": colour, "marker": marker, "linestyle": "-", "linewidth": 0.9}
        ax.plot(own.value.astype(int), 100 * own.probability, **look)
        handles.append(plotting.handle(look, figures.kind_label(kind, "winogender")))
    model, occupation = frame.model.iloc[0], frame.occupation.iloc[0]
    ax.set(xlabel="date", ylabel="normalised female probability (%)", ylim=(-4, 104))
    ax.set_xticks(np.unique(frame.value.astype(int))[[0, -1]])
    ax.set_title(f"{model}: {occupation}")
    plotting.legend_below(drawn, handles, 2)
    figures.demonstration(drawn, [model], models)
    return drawn


def main(*, masses: list, pdf: str, png: str, csv: str, occupation: str, model: str, models: dict):
    """Draw the sentences about ``occupation`` as ``model`` fills them, or what :func:`choose` takes."""
    frame = choose(raw_files.read_tidy(masses), occupation, model)
    facts = {entry["label"]: entry for entry in models.values()}
    plotting.save(draw(frame, facts), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
