"""MISGENDERED's rows of the summary over all studies: accuracies, and what analyses of the same scores say of them."""

from scripts.core.normalisation import LABELS
from scripts.core.paper.summary import DEMONSTRATION, RUN, beside
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.normalisation import STUDY
from scripts.misgendered.lib.labels import ALL, IN_SUMMARY, TYPES


def rows(frame, models, template_sets):
    """Return rows as :func:`scripts.core.paper.summary.write` takes them, all values being shares.

    Parameters
    ----------
    frame : DataFrame
        All accuracies of the run (:mod:`scripts.misgendered.lib.analyses.accuracy`).
    models : dict
    template_sets : list of str
    """
    found = []
    for templates in template_sets:
        split = figures.pooled(frame, templates, {"pronoun_type"}, shots=None)
        for kind in TYPES:
            for row in split[split.model.isin(models) & (split.pronoun_type == kind)].itertuples():
                found.append(
                    {
                        "data": templates,
                        "model": models[row.model]["label"],
                        "metric": f"accuracy, {row.shots} examples" if row.shots else "accuracy",
                        "group": IN_SUMMARY[kind],
                        "value": row.accuracy,
                        "ci_low": row.ci_low,
                        "ci_high": row.ci_high,
                        "n": row.n,
                        "status": DEMONSTRATION if models[row.model]["demonstration"] else RUN,
                        "headline": not row.shots,
                    }
                )
    return found


def of_analyses(tables, models, data):
    """Return the rows of what the analyses of the same scores say, none of which is a headline.

    Parameters
    ----------
    tables : dict of str to DataFrame
        ``normalisation``, ``calibration``, ``regressions``, ``model_pairs``, ``power`` and ``mixed_model``.
    models : dict
        Name to facts (``label``, ``demonstration``).
    data : str
        The template set.
    """
    found = []
    names = {ALL: "all"} | IN_SUMMARY

    def add(names, *cells):
        found.append(beside(names, models, data)(*cells))

    parts = tables["normalisation"]
    for row in parts[parts.model.isin(models) & (parts.group == ALL) & (parts.normalisation != STUDY)].itertuples():
        name, group = LABELS[row.normalisation], names[row.pronoun_type]
        add([row.model], f"accuracy by {name}", group, row.accuracy, row.n, row.ci_low, row.ci_high)
        add([row.model], f"other pick by {name}", group, row.flipped, row.n)
    parts = tables["calibration"]
    for row in parts[parts.model.isin(models) & (parts.group == ALL) & (parts.normalisation == "sum")].itertuples():
        group = names[row.pronoun_type]
        add([row.model], "calibration error of sums", group, row.ece, row.n, row.ci_low, row.ci_high)
    for row in tables["regressions"].itertuples():
        metric = "change of accuracy with a token of the form"
        if row.model in models:
            add([row.model], metric, row.subset, row.slope, row.forms, row.ci_low, row.ci_high)
    for row in tables["model_pairs"].itertuples():
        pair, group = [row.model_a, row.model_b], names[row.pronoun_type]
        add(pair, "accuracy, difference", group, row.difference, row.n_clusters, row.ci_low, row.ci_high)
    for row in tables["power"].itertuples():
        metric = "smallest difference from another model found with 80 % power"
        add([row.model], metric, names[row.pronoun_type], row.detectable_pair, row.n)
    parts = tables["mixed_model"]
    for row in parts[parts.converged.astype(bool) & (parts.factor == "pronoun_type")].itertuples():
        add([], "log odds of being right", names[row.level], row.estimate, row.n, row.ci_low, row.ci_high)
    return found
