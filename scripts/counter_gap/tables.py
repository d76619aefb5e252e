"""The paper's tables, each by the function that the wildcard ``table`` names (rules/counter_gap.smk).

Cells are written as they are printed (LaTeX and CSV); full precision is in estimates.csv.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper.formats import (
    MANY_UNITS,
    MISSING_MARK,
    NOT_RELEASED,
    NOT_RUN,
    format_interval,
    format_number,
    format_percent,
)
from scripts.core.paper.tables import blank_repeats, change_points, drop_uninformative, write_table
from scripts.core.workflow.job import run_named
from scripts.counter_gap import study
from scripts.counter_gap.study import CORPORA, COUNTERFACTUAL, GAP, METHODS, ORIGINAL, PUBLISHED, READINGS

Columns = Mapping[str, tuple[str, dict[str, str]]]
"""Heads of columns to a metric and its levels; factors that are not named are pooled."""
MASCULINE, FEMININE = {"gender": "M"}, {"gender": "F"}
FROM_MASCULINE, FROM_FEMININE = {"original_gender": "M"}, {"original_gender": "F"}
COLUMNS: dict[str, Columns] = {
    "accuracy": {
        "Acc_M": ("accuracy", MASCULINE),
        "Acc_F": ("accuracy", FEMININE),
        "Acc_Diff": ("acc_diff", {}),
    },
    "inconsistency": {
        "M": ("i_within", MASCULINE),
        "F": ("i_within", FEMININE),
        "M−F": ("i_within_diff", {}),
        "I_within": ("i_within", {}),
        "M2F": ("i_across", FROM_MASCULINE),
        "F2M": ("i_across", FROM_FEMININE),
        "M2F−F2M": ("i_across_diff", {}),
        "I_across": ("i_across", {}),
        "ΔI": ("delta_i", {}),
    },
    "original_counterfactual": {
        "Original": ("accuracy", {"role": ORIGINAL}),
        "Counterfactual": ("accuracy", {"role": COUNTERFACTUAL}),
        "Difference": ("original_minus_counterfactual", {}),
        "Spearman's ρ": ("spearman_rho", {}),
    },
    "debiasing": {"Acc_Diff": ("acc_diff", {}), "ΔI": ("delta_i", {}), "Overall": ("accuracy", {})},
    "bias": {
        "accuracy: M": ("accuracy", MASCULINE),
        "accuracy: F": ("accuracy", FEMININE),
        "accuracy: Acc_Diff": ("acc_diff", {}),
        "inconsistency: I_within": ("i_within", {}),
        "inconsistency: I_across": ("i_across", {}),
        "inconsistency: ΔI": ("delta_i", {}),
    },
    "by_gender": {
        "within: M": ("i_within", MASCULINE),
        "within: F": ("i_within", FEMININE),
        "within: M−F": ("i_within_diff", {}),
        "across: M2F": ("i_across", FROM_MASCULINE),
        "across: F2M": ("i_across", FROM_FEMININE),
        "across: M2F−F2M": ("i_across_diff", {}),
        "accuracy: original": ("accuracy", {"role": ORIGINAL}),
        "accuracy: counterf.": ("accuracy", {"role": COUNTERFACTUAL}),
        "accuracy: difference": ("original_minus_counterfactual", {}),
        "accuracy: ρ": ("spearman_rho", {}),
    },
}
"""Columns of the paper's Tables 2, 3, 4 and 6; ``bias`` is Table 2 and what Tables 3 and 6 come to, and ``by_gender``
the parts of Table 3, and Table 4."""
COLUMNS["datasets"] = {**COLUMNS["accuracy"], "Overall": ("accuracy", {}), "ΔI": ("delta_i", {})}
COUNTED = {"2:0": "split_masculine", "0:2": "split_feminine", "1:1": "one_each"}
"""Right masculine and feminine instances of a quadruple, to the metric that counts such quadruples."""
DIFFERENCES = ("acc_diff", "delta_i", "i_within_diff", "i_across_diff", "original_minus_counterfactual")
"""Metrics that are printed with their sign; the others are shares, or a correlation."""
SIGNIFICANT_MARK, CORRECTED_MARK = "*", "†"
"""Marks of p values below the level, before and after Holm's correction."""
DISAGREEMENT_MARK = "‡"
"""Mark of values of which the centred bootstrap decides otherwise, before the correction or after it."""
TRAINING = {
    "bert_learning_rate": ("training", "encoder_learning_rate"),
    "task_learning_rate": ("training", "task_learning_rate"),
    "max_segment_len": ("model", "max_segment_pieces"),
    "max_training_sentences": ("training", "max_training_segments"),
    "epochs": ("training", "epochs"),
    "dropout": ("model", "dropout"),
}
"""Rows of Table 8 and, from Appendix A, epochs and dropout, which all systems share: where a setting is listed."""
# What LaTeX text cannot show as it is, after escaping.
SYMBOLS = {
    "ΔI": r"$\Delta I$",
    "ρ": r"$\rho$",
    r"Acc\_Diff": r"$\mathrm{Acc}_\mathrm{Diff}$",
    r"Acc\_M": r"$\mathrm{Acc}_M$",
    r"Acc\_F": r"$\mathrm{Acc}_F$",
    r"I\_within": r"$I_\mathrm{within}$",
    r"I\_across": r"$I_\mathrm{across}$",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
}


def table(*, estimates: str, tex: str, csv: str, table: str, template_sets: list, labels: dict, alpha: float) -> None:
    """Write ``<set of quadruples>/<one of TABLES>``, or ``bias`` or ``by_gender`` of all ``template_sets``.

    ``labels`` are what tables call systems, ``alpha`` is the level of tests.
    """
    rows = study.with_systems(study.read_estimates(estimates, alpha), labels)
    templates, _, name = table.rpartition("/")
    if templates:
        cells, printed = TABLES[name](rows, templates)
        write(tex, csv, cells, ["System"], printed)
    else:
        write(tex, csv, cells_of_sets(rows, name, template_sets), ["templates", "System"])


def cells_of_sets(rows: pd.DataFrame, name: str, template_sets: Sequence[str]) -> pd.DataFrame:
    """Return the cells of a table of all sets, of each the outputs that figures show.

    ``bias`` is of all debiasing methods, ``by_gender`` without any.
    """
    methods, show = {"bias": (METHODS, show_with_interval), "by_gender": (METHODS[:1], show_short)}[name]
    parts = []
    for templates in template_sets:
        shown = study.main_outputs(rows[rows.templates == templates])
        cells = pivot(shown[shown.debiasing.isin(methods)], COLUMNS[name], show).drop(columns="Scoring")
        parts.append(cells.assign(templates=templates)[["templates", *cells]])
    return pd.concat(parts, ignore_index=True)


def pivot(rows: pd.DataFrame, columns: Columns, show: Callable[[Any], str]) -> pd.DataFrame:
    """Return cells: ``System``, ``Scoring``, ``Debiasing`` and the columns, a row for each system in their order."""
    of_columns = [
        study.pick(rows, metric=metric, **levels).assign(head=head) for head, (metric, levels) in columns.items()
    ]
    values = pd.concat(of_columns)
    keys = ["system", "output", "debiasing"]
    values = values.assign(text=[show(row) for row in files.iterate_rows(values)])
    cells = values.pivot(index=keys, columns="head", values="text").reindex(columns=list(columns)).astype(object)
    order = pd.MultiIndex.from_frame(rows[keys].drop_duplicates())
    cells = cells.reindex(order).fillna(MISSING_MARK).reset_index()
    return cells.rename(columns={"system": "System", "output": "Scoring", "debiasing": "Debiasing"})


def show_value(row: Any, decimals: int = 2) -> str:
    """Return one value as it is printed: a share in percent, a difference with its sign and marks, or a correlation.

    ``decimals`` are of percent; a correlation has one more.
    """
    if row.metric == "spearman_rho":
        return format_number(row.value, decimals + 1) + significance_marks(row)
    if row.metric in DIFFERENCES:
        return format_percent(row.value, decimals, signed=True) + significance_marks(row)
    return format_percent(row.value, decimals)


def show_short(row: Any) -> str:
    """Return one value with a decimal less."""
    return show_value(row, 1)


def show_with_interval(row: Any) -> str:
    """Return a value in percent with one decimal and its marks; a difference between genders has its interval too."""
    if row.metric not in DIFFERENCES:
        return format_percent(row.value, 1)
    text = format_percent(row.value, 1, signed=True)
    # Without a width an interval would say that the value is known exactly.
    if row.low < row.high:
        text += f" ({format_interval(100 * row.low, 100 * row.high, 1, signed=True)})"
    return text + significance_marks(row)


def significance_marks(row: Any) -> str:
    """Return the marks of a tested value: significant, after Holm's correction too, decided otherwise if centred."""
    if pd.isna(row.significant):
        return ""
    text = SIGNIFICANT_MARK if row.significant else ""
    text += CORRECTED_MARK if row.significant_holm else ""
    return text + (DISAGREEMENT_MARK if study.tests_disagree(row) else "")


def without_debiasing(name: str, rows: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, None]:
    """Tables 2 to 4: the columns of that name for systems without debiasing."""
    rows = rows[(rows.templates == templates) & (rows.debiasing == "none")]
    return pivot(rows, COLUMNS[name], show_value).drop(columns="Debiasing"), None


def datasets(rows: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 5: each system on every part of GAP, on the originals alone and on the quadruples.

    Printed are, of GAP, the first part, and of clusters those read rightly.
    """
    rows = rows[rows.debiasing == "none"]
    columns = COLUMNS["datasets"]
    # Of the originals and of GAP there is no difference of inconsistencies.
    alone = {head: (metric, levels | {"role": "original"}) for head, (metric, levels) in columns.items()}
    gap = [data for data in GAP if (rows.templates == data).any()] or ["gap_test"]
    wanted = [(GAP[data], data, columns) for data in gap]
    wanted += [("originals only", templates, alone), ("quadruples", templates, columns)]
    keys = ["System", "Scoring"]
    whole = pivot(rows[rows.templates == templates], columns, show_value)[keys]
    parts = []
    for label, data, of_data in wanted:
        of_set = rows[rows.templates == data]
        cells = pivot(of_set, of_data, show_value) if len(of_set) else pd.DataFrame(columns=[*keys, *columns])
        cells = whole.merge(cells, on=keys, how="left")
        for head in set(columns) - {"ΔI"}:
            cells[head] = cells[head].fillna(cells.Scoring.map(absence_reason))
        parts.append(cells.assign(Data=label)[[*keys, "Data", *columns]].fillna(MISSING_MARK))
    cells = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    others = cells.Data.isin(GAP.values()) & (cells.Data != GAP[gap[0]])
    return cells, cells[~others & (cells.Scoring != READINGS[PUBLISHED])].reset_index(drop=True)


def debiasing(rows: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, None]:
    """Table 6: what debiasing does.

    Rules are not trained and have one row; every other system has one for each method. What was not released or not
    run says so. Where no annotated corpus was scored, the column is of the study's.
    """
    of_set = rows[rows.templates == templates]
    keys = ["System", "Scoring", "Debiasing"]
    every = of_set[["system", "output", "kind"]].drop_duplicates()
    every = every.merge(pd.DataFrame({"Debiasing": METHODS}), how="cross")
    every = every[(every.kind != HEURISTIC) | (every.Debiasing == "none")]
    every = every.rename(columns={"system": "System", "output": "Scoring"})[keys]
    cells = every.merge(pivot(of_set, COLUMNS["debiasing"], show_value), on=keys, how="left")
    of_corpora = rows[rows.metric == "conll_f1"]
    for corpus in list(of_corpora.templates.unique()) or ["ontonotes"]:
        f1 = of_corpora[of_corpora.templates == corpus].rename(columns={"system": "System", "debiasing": "Debiasing"})
        column = f"F1 on {CORPORA[corpus]}"
        f1 = f1.assign(**{column: f1.value.map(format_percent)})[["System", "Debiasing", column]]
        cells = cells.merge(f1, on=["System", "Debiasing"], how="left")
        # An annotated corpus needs a system and its data, not flags.
        cells[column] = cells[column].astype(object).where(cells.Scoring != READINGS[""])
    for head in cells.columns[3:]:
        cells[head] = cells[head].fillna(cells.Scoring.map(absence_reason))
    return cells, None


def absence_reason(scoring: str) -> str:
    """Return why a system with this scoring has no number: only released flags could have been released."""
    return NOT_RELEASED if scoring == READINGS[""] else NOT_RUN


def cancellation(rows: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, None]:
    """What takes Acc_Diff and Delta I apart: leanings, and quadruples that gender splits."""
    rows = rows[(rows.templates == templates) & (rows.debiasing.isin(METHODS))]
    decimals = 1 + int(rows.clusters.max() >= MANY_UNITS)
    columns = {
        "to M": ("lean_masculine", {}), "to F": ("lean_feminine", {}), "Acc_Diff": ("acc_diff", {}),
        "cancelled": ("cancelled", {}), **{head: (metric, {}) for head, metric in COUNTED.items()},
        "ΔI": ("delta_i", {}),
    }  # fmt: skip

    def show(row: Any) -> str:
        if row.metric in COUNTED.values():
            return f"{row.above:.0f}"
        return format_percent(row.value, decimals, signed=row.metric in DIFFERENCES)

    return pivot(rows, columns, show), None


TABLES = {
    **{name: partial(without_debiasing, name) for name in ("accuracy", "inconsistency", "original_counterfactual")},
    "datasets": datasets,
    "debiasing": debiasing,
    "cancellation": cancellation,
}
"""Which function makes each: all cells, and those that are printed if these are others."""


def table_training(*, listed: dict, tex: str, csv: str) -> None:
    """Tabulate how the coreference systems of the study are trained (paper Table 8).

    ``listed`` is label to ``model`` and ``training`` of config/coreference_training.yaml.
    """
    cells = {"Setting": list(TRAINING)}
    for label, entry in listed.items():
        cells[label] = [_setting(entry[part][key]) for part, key in TRAINING.values()]
    write_table(tex, csv, pd.DataFrame(cells), 1)


def _setting(value: float):
    """Return a setting as text: rates as 2e-5, the others as they are."""
    if 0 < value < 0.01:
        digits, exponent = f"{value:e}".split("e")
        return f"{float(digits):g}e{int(exponent)}"
    return f"{value:g}"


def write(tex: str, csv: str, cells: pd.DataFrame, keep: Sequence[str], printed: pd.DataFrame | None = None) -> None:
    """Write all cells (CSV), and those that say something (LaTeX), with a rule between sets and ways of scoring.

    ``keep`` are columns that name the rows; ``printed`` is what is typeset, if it is less than ``cells``.
    """
    shown, constant = drop_uninformative(cells if printed is None else printed, keep)
    blocks = next((name for name in ("templates", "Scoring") if name in shown), "System")
    midrules = change_points(shown[blocks]) if blocks != "System" else []
    shown = shown.assign(System=blank_repeats(shown.System, again=midrules))
    if "templates" in shown:
        shown = shown.assign(templates=blank_repeats(shown.templates)) if midrules else shown.drop(columns="templates")
        shown = shown.rename(columns={"templates": "Data"})
    left = sum(head in shown for head in ("Data", "System", "Scoring", "Debiasing"))
    write_table(tex, csv, shown, left, rows=cells, midrules=midrules, symbols=SYMBOLS, constant=constant)


if __name__ == "__main__":
    run_named()
