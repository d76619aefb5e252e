"""MISGENDERED's rows of the summary over all studies: accuracy by type of pronouns and examples in the prompt."""

from scripts.core.paper.summary import DEMONSTRATION, RUN
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import TYPES

GROUPS = {"binary": "binary pronouns", "neutral": "they", "neo": "neo-pronouns"}
"""Types of pronouns as the summary calls them."""


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
                        "group": GROUPS[kind],
                        "value": row.accuracy,
                        "ci_low": row.ci_low,
                        "ci_high": row.ci_high,
                        "n": row.n,
                        "status": DEMONSTRATION if models[row.model]["demonstration"] else RUN,
                        "headline": not row.shots,
                    }
                )
    return found
