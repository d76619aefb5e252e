"""Draw ROC curves of detecting underspecified sentences (beyond the paper)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification import detection, figures, sets, study

TITLES = {"winogender": "Winogender", "simplified": "Simplified"}


def panels(frame):
    """Return evaluation sets and template sets that are there, in order."""
    found = set(frame[["evaluation_set", "templates"]].itertuples(index=False, name=None))
    return [(s, t) for s in sets.SETS for t in ("replica", "official") if (s, t) in found]


def looks(names):
    """Return a colour, marker and line for each model: hues by group, lines within it."""
    hues = ("#E69F00", "#56B4E9", "#CC79A7", "#009E73", "#882255", "#0072B2", "#D55E00", "#595959")
    groups = list(dict.fromkeys(study.MODELS[n].group if n in study.MODELS else n for n in names))
    lines = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
    found, used = {}, {}
    for name in names:
        group = study.MODELS[name].group if name in study.MODELS else name
        number = used.setdefault(group, 0)
        used[group] += 1
        found[name] = {"color": hues[groups.index(group) % len(hues)], "linestyle": lines[number % len(lines)]}
    return found


@plotting.style()
def draw(frame, areas, models):
    """Draw one panel for each set, a curve for each model, with a dot at the study's threshold."""
    shown = panels(frame)
    names = study.order(frame.model)
    look = looks(names)
    drawn = plotting.figure(plotting.PAGE if len(shown) > 1 else plotting.COLUMN * 1.3, 3.2)
    axes = np.atleast_1d(drawn.subplots(1, len(shown), sharey=True))
    for ax, (evaluation_set, templates) in zip(axes, shown, strict=True):
        own = frame[(frame.evaluation_set == evaluation_set) & (frame.templates == templates)]
        for name in names:
            curve = own[own.model == name]
            if curve.empty:
                continue
            ax.plot(curve.FPR, curve.TPR, linewidth=1, **look[name])
            # Scores above the largest score that is not above the threshold are those above the threshold.
            at = curve[curve.threshold <= detection.THRESHOLD].iloc[:1]
            ax.plot(at.FPR, at.TPR, marker="o", markersize=3, color=look[name]["color"], linestyle="none")
        ax.plot([0, 1], [0, 1], color=plotting.GREY, linewidth=0.6, linestyle=(0, (1, 1.2)))
        ax.set(xlabel="well-specified sentences above the threshold", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_title(f"{TITLES[evaluation_set]}" + (" (replica)" if templates == "replica" else ""))
    axes[0].set_ylabel("unspecified sentences above it")
    handles = []
    for name in names:
        area = areas[areas.model == name].set_index(["evaluation_set", "templates"]).value
        values = ", ".join(f"{area[key]:.2f}" for key in shown if key in area.index)
        handles.append(plotting.handle(look[name], f"{name} (AUC {values})"))
    plotting.legend_below(drawn, handles, 3)
    figures.demonstration(drawn, names, models)
    return drawn


def main(*, roc: str, specification_detection: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the female metric of every model that fills masks, and of the others with the prompt of Method 2."""
    frame, table = figures.read(roc, "ROC curves"), figures.read(specification_detection, "areas")
    frame, table = (own[selected(own)] for own in (frame, table))
    facts = {entry["label"]: entry for entry in models.values()}
    areas = table[(table.metric == "AUC") & (table.dates == 1)]
    plotting.save(draw(frame.reset_index(drop=True), areas, facts), frame, pdf, png, csv)


def selected(frame):
    """Return which rows are of the female metric from the most probable tokens with the prompt of Method 2."""
    prompts = frame.prompt.isin(["mask", study.DETECTION_PROMPT])
    return (frame.gender == "female") & (frame.accumulation == "top") & prompts


if __name__ == "__main__":
    run(main)
