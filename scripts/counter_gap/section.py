"""Counter-GAP in the paper: its section with the numbers of its text, and its rows of the summary."""

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper import sections
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.numbers import make_count, of_settings
from scripts.core.workflow.job import run_named
from scripts.counter_gap import study
from scripts.counter_gap.study import CORRECTED, FACTORS, IDENTITY, METHODS, pick

SUMMARISED = {
    "delta_i": "inconsistency, across minus within genders",
    "i_across": "inconsistency, across genders",
    "i_within": "inconsistency, within genders",
    "acc_diff": "accuracy, masculine minus feminine",
    "accuracy": "accuracy",
}
"""Metrics of the summary to what it calls them; the first is the headline."""
SOURCE = "estimates.csv"


def section(
    *, section_templates: list, estimates: str, figures: list, tables: list, comparison_numbers: list,
    section_files: list, paper_numbers: list, template_sets: list, labels: dict, alpha: float, draws: int,
) -> None:  # fmt: skip
    """Render the paper's section on Counter-GAP, and write the numbers that its text prints.

    ``paper_numbers`` (JSON) has one file for each of ``template_sets``, in that order; ``comparison_numbers`` count
    verdicts on what the study publishes.
    """
    common = sections.make_context("counter_gap", template_sets, figures, tables, comparison_numbers, section_files[0])
    table = study.read_estimates(estimates, labels, alpha)
    table = table.assign(system=[study.full_label(row) for row in files.iterate_rows(table)])
    settings = {"alpha": alpha, "draws": draws}
    keys = {"alpha": "counter_gap.alpha", "draws": "counter_gap.bootstrap.draws"}
    for name in template_sets:
        part, rows = common["sets"][name], study.main_outputs(table[table.templates == name])
        part["numbers"] |= of_settings(settings, keys) | count_quadruples(rows, name) | count_systems(rows, name)
        part["methods"] = {
            method: Numbers(part, rows[rows.debiasing == method], IDENTITY, FACTORS, SOURCE)
            for method in METHODS
            if (rows.debiasing == method).any()
        }
    common |= {"called": study.SETS, "main": [name for name in study.SETS if name in template_sets][-1]}
    sections.write_all(section_files, section_templates, common)
    for name, path in zip(template_sets, paper_numbers, strict=True):
        files.write_json(path, common["sets"][name]["numbers"])


def count_quadruples(rows: pd.DataFrame, templates: str) -> dict[str, dict]:
    """Return how many quadruples there are: ``size.all``, and with originals about men and women ``size.M``, ``.F``."""
    found = {}
    for name, levels in {"all": {}, "M": {"original_gender": "M"}, "F": {"original_gender": "F"}}.items():
        quadruples = pick(rows, metric="i_across", **levels).clusters.max()
        cell = {"templates": templates, "metric": "i_across", **levels}
        found[f"size.{name}"] = make_count(quadruples, SOURCE, **cell, column="clusters")
    return found


def count_systems(rows: pd.DataFrame, templates: str) -> dict[str, dict]:
    """Return how many systems there are, and of how many a test found something.

    ``systems`` without debiasing, and ``rules`` among them; ``<method>.systems`` after debiasing;
    ``<metric>.significant_holm`` and ``<method>.<metric>.significant_holm``, counts of systems; ``disputed``, how many
    tests the centred bootstrap decides otherwise.
    """
    found = {}
    for method in METHODS:
        of_method = rows[rows.debiasing == method]
        if of_method.empty:
            continue
        prefix = "" if method == "none" else f"{method}."
        where = {"templates": templates, "debiasing": method}
        found[f"{prefix}systems"] = make_count(of_method.model.nunique(), SOURCE, **where, column="model")
        for metric in ("acc_diff", "delta_i"):
            significant = pick(of_method, metric=metric).significant_holm.sum()
            found[f"{prefix}{metric}.significant_holm"] = make_count(
                significant, SOURCE, **where, metric=metric, column="p_holm"
            )
    rules = rows.model[rows.kind == HEURISTIC].nunique()
    tested = rows[rows.p_value.notna() & (rows.role != "original")]
    disputed = sum(study.tests_disagree(row) for row in files.iterate_rows(tested))
    return found | {
        "rules": make_count(rules, SOURCE, templates=templates, kind=HEURISTIC, column="model"),
        "disputed": make_count(disputed, SOURCE, templates=templates, column="p_centred"),
    }


def summary(*, estimates: str, summary: str, labels: dict, systems: dict) -> None:
    """Write the study's rows of the summary over all studies (CSV), of clusters as they are read rightly.

    ``systems`` are the coreference systems of the run and what figures say of them.
    """
    rows = estimate_rows.read_table(estimates, [*IDENTITY, *FACTORS])
    rows = rows[rows.metric.isin(SUMMARISED) & (rows.role != "original")]
    rows = rows[rows.reading.isin(["", CORRECTED])]
    rank = rows.metric.map(list(SUMMARISED).index).sort_values(kind="stable")
    rows = rows.loc[rank.index].rename(columns={"templates": "part", "clusters": "n"})
    rows = rows.assign(
        debiasing=rows.debiasing.replace("none", ""),
        label=rows.model.map(labels),
        demonstration=[name in systems and systems[name]["demonstration"] for name in rows.model],
        headline=rows.metric == "delta_i",
        metric=rows.metric.map(SUMMARISED),
        n_unit=["instances" if part in study.GAP else "quadruples" for part in rows.part],
    )
    columns = ["part", "model", "kind", "scoring", "debiasing", "label", "demonstration", "metric", "original_gender"]
    columns += ["gender", "role", "value", "low", "high", "n", "n_unit", "headline"]
    estimate_rows.write_estimates(summary, "counter_gap", rows[columns].to_dict("records"))


if __name__ == "__main__":
    run_named()
