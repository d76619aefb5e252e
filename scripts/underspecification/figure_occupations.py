"""Draw the task specification metric of every sentence over occupations (Figures 5 and 9 to 14)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification import detection, figures, findings, study

TOP = 60
"""Metrics above this share of percentage points are drawn at the panel's upper edge, as in the study."""


def kinds(frame):
    """Return each row's kind of sentence."""
    return frame.participant + "_" + frame.coreferent.map({"professional": "0", "participant": "1"})


def select(metric, evaluation_set, part):
    """Return the rows of one figure: the female metric between the outer dates, for one part of the models."""
    own = metric[
        (metric.evaluation_set == evaluation_set)
        & (metric.gender == "female")
        & (metric.dates == 1)
        & (metric.accumulation == "top")
        & metric.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    if part in study.MODELS:
        own = own[own.model == part]
    elif part != study.RUN:
        own = own[own.model.isin([m for m, facts in study.MODELS.items() if facts.group in study.PARTS[part]])]
    return own.assign(kind=kinds(own)).reset_index(drop=True)


@plotting.style()
def draw(frame, evaluation_set, share, models):
    """Draw one panel for each model.

    Parameters
    ----------
    frame : DataFrame
        From :func:`select`.
    evaluation_set : str
    share : dict of str to float
        Women among those who have each occupation, in percent; empty if it is not known.
    models : dict
        The run's models by their labels.
    """
    names = study.order(frame.model)
    occupations = sorted(frame.occupation.unique(), key=lambda name: (share.get(name, 0), name))
    place = {name: i for i, name in enumerate(occupations)}
    drawn = plotting.figure(plotting.PAGE, 1.35 * len(names) + 0.9)
    axes = np.atleast_1d(drawn.subplots(len(names), 1, sharex=True))
    for ax, name in zip(axes, names, strict=True):
        own = frame[frame.model == name]
        for kind in figures.KINDS[evaluation_set]:
            rows = own[own.kind == kind]
            colour, marker = figures.LOOKS[kind]
            x = rows.occupation.map(place)
            ax.plot(x, rows.metric.clip(upper=TOP), linestyle="none", marker=marker, color=colour, markersize=2.6,
                    markeredgewidth=0, alpha=0.85)  # fmt: skip
        ax.axhline(detection.THRESHOLD, color=plotting.GREY, linewidth=0.7, linestyle=(0, (4, 1.5)))
        ax.set_yscale("symlog", linthresh=1, linscale=0.6)
        ax.set(ylim=(-0.15, TOP * 1.15), yticks=[0, 1, 10, TOP], yticklabels=["0", "1", "10", f"{TOP}+"])
        ax.yaxis.set_minor_locator(plotting.MultipleLocator(1000))
        ax.set_title(name, fontsize=7)
        ax.set_ylabel("metric")
    axes[-1].set_xticks(range(len(occupations)), occupations, rotation=90, fontsize=5 if len(occupations) > 30 else 7)
    axes[-1].set_xlim(-0.7, len(occupations) - 0.3)
    axes[-1].set_xlabel("occupations by their share of women" if share else "occupations by name")
    handles = [
        plotting.handle(
            {"color": figures.LOOKS[k][0], "marker": figures.LOOKS[k][1], "linestyle": "none"},
            figures.kind_label(k, evaluation_set),
        )
        for k in figures.KINDS[evaluation_set]
    ]
    handles.append(plotting.handle({"color": plotting.GREY, "linestyle": (0, (4, 1.5))}, "threshold"))
    plotting.legend_below(drawn, handles, 3)
    figures.demonstration(drawn, names, models)
    return drawn


def main(
    *,
    metric: str,
    pdf: str,
    png: str,
    csv: str,
    evaluation_set: str,
    part: str,
    models: dict,
    shares: str | None = None,
):
    """Draw one ``part`` of the models; ``shares`` (TSV) has the share of women by occupation, where it was fetched."""
    frame = select(figures.read(metric, "the metric"), evaluation_set, part)
    known = findings.read_shares(shares) if shares else {}
    facts = {entry["label"]: entry for entry in models.values()}
    plotting.save(draw(frame, evaluation_set, known, facts), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
