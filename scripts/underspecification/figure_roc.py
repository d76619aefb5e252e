"""Draw ROC curves of detecting underspecified sentences (beyond the paper)."""

from matplotlib.ticker import MultipleLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.instances import SETS
from scripts.underspecification.lib.readers import read_rows

TITLES = {"winogender": "Winogender", "simplified": "Simplified"}
GROUPS = (("BERT", "RoBERTa"), ("BART", "UL2", "Flan-UL2", "Flan-T5"), ("GPT",), ("GPT chat",))
"""Families that share a column of panels."""
LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))


def evaluation_sets(frame):
    """Return the evaluation sets of a frame with their template sets, in order."""
    present = set(frame[["evaluation_set", "templates"]].itertuples(index=False, name=None))
    return [(s, t) for s in SETS for t in ("replica", "official") if (s, t) in present]


def columns(names):
    """Return the models of each column of panels, at most as many as there are kinds of lines."""
    known = [[n for n in names if n in study.MODELS and study.MODELS[n].group in group] for group in GROUPS]
    known.append([n for n in names if n not in study.MODELS])
    size = len(LINES)
    return [group[i : i + size] for group in known for i in range(0, len(group), size)]


@plotting.style()
def draw(frame, areas, sizes, models, threshold):
    """Draw a row for each set and a column for each group of models, with a dot at ``threshold``.

    Parameters
    ----------
    frame, areas : DataFrame
        Curves, and rows of their areas.
    sizes : dict
        From :func:`sentences`. A set with fewer than :data:`scripts.underspecification.lib.figures.LEAST` of either
        kind gets a note instead of curves.
    models : dict
        The run's models by their labels.
    threshold : float
        In percentage points.
    """
    shown = evaluation_sets(frame)
    groups = columns(study.order(frame.model))
    width = plotting.PAGE if len(groups) > 2 else plotting.COLUMN
    heights = [2.35 if is_enough(sizes[key]) else 0.7 for key in shown]
    drawn = plotting.figure(width, sum(heights) + 0.2)
    axes = drawn.subplots(len(shown), len(groups), sharex=True, sharey=True, squeeze=False, height_ratios=heights)
    values = areas.set_index(["evaluation_set", "templates", "model"]).value
    for row, (evaluation_set, templates) in zip(axes, shown, strict=True):
        specified, unspecified = sizes[evaluation_set, templates]
        row[0].set_title(TITLES[evaluation_set] + (" (replica)" if templates == "replica" else ""))
        if not is_enough(sizes[evaluation_set, templates]):
            counts = f"{specified} well-specified and {unspecified} unspecified sentences"
            note = f"{counts}:\nno curve below {figures.LEAST} of each"
            row[0].text(0, 1, note, ha="left", va="top", fontsize=7, transform=row[0].transAxes)
            for ax in row:
                ax.axis("off")
            continue
        of_set = frame[(frame.evaluation_set == evaluation_set) & (frame.templates == templates)]
        for ax, names in zip(row, groups, strict=True):
            handles = []
            for place, (name, line) in enumerate(zip(names, LINES, strict=False)):
                # A model of the run has its own colour; the released ones are told apart in their column alone.
                own = plotting.model_style(models[name])["color"] if name in models else None
                colour = own or plotting.CATEGORIES[place]
                curve = of_set[of_set.model == name]
                if curve.empty:
                    continue
                look = {"color": colour, "linestyle": line, "linewidth": 1.1}
                ax.plot(curve.FPR, curve.TPR, clip_on=False, **look)
                # Scores above the largest score that is not above the threshold are those above the threshold.
                at = curve[curve.threshold <= threshold].iloc[:1]
                ax.plot(at.FPR, at.TPR, marker="o", markersize=3.5, color=colour, linestyle="none", clip_on=False)
                area = values[evaluation_set, templates, name]
                handles.append(plotting.handle(look, f"{figures.panel_label(name)}: {area:.2f}"))
            ax.plot([0, 1], [0, 1], color=plotting.GREY, linewidth=0.6, linestyle=(0, (1, 1.2)))
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            ax.xaxis.set_major_locator(MultipleLocator(0.5))
            ax.yaxis.set_major_locator(MultipleLocator(0.5))
            ax.legend(
                handles=handles, title="AUC", loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=7,
                handlelength=1.8, alignment="left",
            )  # fmt: skip
    for ax in axes.ravel():
        ax.tick_params(labelbottom=True)
    if any(is_enough(sizes[key]) for key in shown):
        # In a narrow figure the label needs two lines.
        end = " " if width > 5 else "\n"
        drawn.supxlabel(f"share of well-specified sentences{end}above the threshold (1 − TNR)", fontsize=8)
        drawn.supylabel(f"share of unspecified{end}sentences above it (TPR)", fontsize=8)
    return drawn


def sentences(metric):
    """Return how many well-specified and unspecified sentences each set has.

    Parameters
    ----------
    metric : DataFrame
        From :func:`scripts.underspecification.lib.analyses.detection.specification_metric`.

    Returns
    -------
    dict of (str, str) to (int, int)
        By evaluation set and template set.
    """
    items = metric.drop_duplicates(["evaluation_set", "templates", "item"])
    specified = items.groupby(["evaluation_set", "templates"]).well_specified.agg(["sum", "size"])
    return {key: (int(row["sum"]), int(row["size"] - row["sum"])) for key, row in specified.iterrows()}


def is_enough(size):
    """Tell whether a set has enough well-specified and enough unspecified sentences for a curve."""
    return min(size) >= figures.LEAST


def main(
    *,
    roc: str,
    specification_detection: str,
    metric: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    threshold: float,
):
    """Draw the female metric of every model that fills masks, and of the others with the prompt of Method 2."""
    frame, table = read_rows(roc, "ROC curves"), read_rows(specification_detection, "areas")
    frame, table = (rows[is_drawn(rows)] for rows in (frame, table))
    facts = {entry["label"]: entry for entry in models.values()}
    areas = table[(table.metric == "AUC") & (table.dates == 1)]
    sizes = sentences(read_rows(metric, "the metric"))
    drawn = draw(frame.reset_index(drop=True), areas, sizes, facts, threshold)
    enough = [
        is_enough(sizes[key]) for key in frame[["evaluation_set", "templates"]].itertuples(index=False, name=None)
    ]
    plotting.save(drawn, frame[enough], pdf, png, csv)


def is_drawn(frame):
    """Tell which rows are of the female metric from the most probable tokens with the prompt of Method 2."""
    prompts = frame.prompt.isin(["mask", study.DETECTION_PROMPT])
    return (frame.gender == "female") & (frame.accumulation == "top") & prompts


if __name__ == "__main__":
    run(main)
