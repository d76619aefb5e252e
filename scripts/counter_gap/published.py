"""Every published number of Counter-GAP beside ours, and what of a run may stand there."""

from collections.abc import Mapping

import pandas as pd

from scripts.core.paper.published import read_study, write_comparison
from scripts.core.workflow.job import run_named
from scripts.counter_gap import study
from scripts.counter_gap.study import CORPORA, CORRECTED, COUNTERFACTUAL, GAP, ORIGINAL, TRAINED_HERE

GENDERS = {ORIGINAL: "original gender", COUNTERFACTUAL: "other gender"}
"""Pairs of roles to what the mapping of published numbers calls them."""


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, estimates: str, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list, labels: dict, alpha: float,
) -> None:  # fmt: skip
    """Set every published number beside ours, on each set of quadruples, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).
    """
    printed = read_study(published, mapping, study_models)
    known = dict(zip(printed.models.label, printed.models.model, strict=True))
    table = study.read_estimates(estimates, labels, alpha)
    compared = {name: {"estimates.csv": name_models(comparable(table, name), known)} for name in template_sets}
    write_comparison("counter_gap", printed, compared, every_set, csv=csv, tex=tex, numbers=numbers)


def comparable(table: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return what may stand beside the study on a set of quadruples, on GAP and on corpora, with each system once.

    Where a system has released flags its clusters are left out, and clusters that are not read rightly always are.
    Systems that were trained here have the study's names where its own are not there, with any debiasing method: no
    debiased system is compared with one of another training.
    """
    table = table[table.templates.isin([templates, *GAP, *CORPORA])]
    own = set(zip(table.templates, table.system, strict=True))
    names = [
        system if (data, system.removesuffix(TRAINED_HERE)) in own else system.removesuffix(TRAINED_HERE)
        for data, system in zip(table.templates, table.system, strict=True)
    ]
    table, released = table.assign(system=names), table.reading == ""
    has_flags = released.groupby([table.templates, table.system, table.debiasing]).transform("any")
    return table[released | (~has_flags & (table.reading == CORRECTED))].reset_index(drop=True)


def name_models(table: pd.DataFrame, known: Mapping[str, str]) -> pd.DataFrame:
    """Return the table with the study's models by their names, of which ``known`` has the labels.

    ``place`` is ``quadruples``, the part of GAP or the corpus; pairs of roles are called as in :data:`GENDERS`.
    """
    place = table.templates.where(table.templates.isin([*GAP, *CORPORA]), "quadruples")
    models = table.system.map(known).fillna(table.system)
    return table.assign(model=models, place=place, role=table.role.replace(GENDERS))


if __name__ == "__main__":
    run_named()
