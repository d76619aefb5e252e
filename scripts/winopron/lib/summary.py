"""WinoPron's rows of the summary over all studies: accuracy and consistencies of each system."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.core.data.estimate_rows import CLUSTERS, FULL, HEURISTIC, MODEL, PARTIAL, PROMPT_FACTOR, PROMPTED, SYSTEM
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses.consistency import POOLED

METRICS = {
    "accuracy": "accuracy",
    "pronoun_consistency": "pronoun consistency",
    "disambiguation_consistency": "disambiguation consistency",
}
"""Metrics of the summary to what it calls them; the first is the headline."""
LIKELIHOODS = {study.FULL: FULL, study.PARTIAL: PARTIAL}
"""What labels of models that resolve by likelihood end with, to the ways of scoring."""


def identities(models: dict, scored: dict, systems: dict) -> dict[str, dict]:
    """Return what tells rules, models and coreference systems apart, by the label that tables have.

    Args:
        models: Name to facts of the models that are prompted.
        scored: The same of those that resolve by likelihood.
        systems: The same of the coreference systems.
    """
    found = {
        label: {"model": name, "kind": HEURISTIC, "scoring": CLUSTERS, "label": label}
        for name, label in study.RULES.items()
    }
    for name, facts in models.items():
        found[facts["label"]] = _of(name, facts, MODEL, PROMPTED)
    for name, facts in scored.items():
        for ending, scoring in LIKELIHOODS.items():
            found[facts["label"] + ending] = _of(name, facts, MODEL, scoring)
    for name, facts in systems.items():
        debiasing = "" if facts["debiasing"] == "none" else facts["debiasing"]
        found[study.system_label(facts)] = _of(name, facts, SYSTEM, CLUSTERS) | {"debiasing": debiasing}
    return found


def _of(name: str, facts: Mapping[str, Any], kind: str, scoring: str):
    shown = {"label": facts["label"], "demonstration": facts["demonstration"]}
    return {"model": name, "kind": kind, "scoring": scoring, **shown}


def rows(metrics: pd.DataFrame, by_prompt: pd.DataFrame, known: Mapping | None = None) -> list[dict]:
    """Return rows as :func:`scripts.core.data.estimate_rows.write` takes them, all values being shares.

    The accuracy of a system with several prompts is that of each: prompts may differ by more than models do, and their
    mean is nobody's. The headlines are the lowest and the highest.

    Args:
        metrics: Of ``metrics.csv``.
        by_prompt: Of ``by_prompt.csv``.
        known: As :func:`identities` returns it. A system that is not there was given as a file, under its label.
    """
    table = study.corrected_rows(metrics[metrics.pairing != POOLED])
    kept = table.pronoun_set == "all"
    # Sentences about one person leave rules no choice.
    table = table[kept & ~((table.entities == "single") & table.system.map(study.is_rule))]
    apart = study.corrected_rows(by_prompt)
    of_system = apart.groupby(["templates", "entities", "system"]).value
    ends = (apart.value == of_system.transform("min")) | (apart.value == of_system.transform("max"))
    apart = apart.assign(metric="accuracy", case="all", headline=ends & (apart.entities == "double"))
    pooled = (table.metric == "accuracy") & (table["case"] == "all") & table.system.isin(apart.system)
    table = table.assign(prompt="", headline=(table.metric == "accuracy") & (table.entities == "double"))
    table.loc[table["case"] != "all", "headline"] = False
    table = pd.concat([table[~pooled], apart])
    found = []
    for metric, name in METRICS.items():
        for row in table[table.metric == metric].itertuples():
            given = {"model": row.system, "kind": SYSTEM, "scoring": "", "label": row.system}
            found.append(
                {
                    "part": row.templates,
                    **(known or {}).get(row.system, given),
                    "metric": name,
                    "entities": row.entities,
                    "case": "" if row.case == "all" else row.case,
                    PROMPT_FACTOR: row.prompt,
                    "value": row.value,
                    "low": row.ci_low,
                    "high": row.ci_high,
                    "n": row.n,
                    "n_unit": "pairs of people",
                    "headline": row.headline,
                }
            )
    return found
