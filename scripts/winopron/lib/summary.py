"""WinoPron's rows of the summary over all studies: accuracy and consistencies of each system."""

from scripts.core.paper.summary import BASELINE, DEMONSTRATION, RUN
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses.consistency import POOLED

METRICS = {
    "accuracy": "accuracy",
    "pronoun_consistency": "pronoun consistency",
    "disambiguation_consistency": "disambiguation consistency",
}
"""Metrics of the summary to what it calls them; the first is the headline."""


def rows(metrics, demonstration=()):
    """Return rows as :func:`scripts.core.paper.summary.write` takes them, all values being shares.

    Parameters
    ----------
    metrics : DataFrame
        Of ``metrics.csv``.
    demonstration : collection of str
        Labels of demonstration models.
    """
    table = study.corrected(metrics[metrics.pairing != POOLED])
    kept = table.split.isin(["all", "nominative", "accusative", "possessive"])
    # Sentences about one person leave rules no choice.
    table = table[kept & ~((table.entities == "single") & table.system.map(study.is_rule))]
    found = []
    for metric, name in METRICS.items():
        for row in table[table.metric == metric].itertuples():
            data = study.SETS[row.templates] if row.templates != "replica" else "replica"
            rule = study.is_rule(row.system)
            status = BASELINE if rule else DEMONSTRATION if row.system in demonstration else RUN
            found.append(
                {
                    "data": f"{data}, {study.ENTITIES[row.entities]}",
                    "model": row.system,
                    "metric": name,
                    "group": row.split,
                    "value": row.value,
                    "ci_low": row.ci_low,
                    "ci_high": row.ci_high,
                    "n": row.n,
                    "status": status,
                    "headline": row.entities == "double" and row.split == "all" and metric == "accuracy",
                }
            )
    return found
