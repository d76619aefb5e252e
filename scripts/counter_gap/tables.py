"""The paper's tables: some of each set of quadruples, and two of all sets.

Cells are written as they are printed (LaTeX and CSV); full precision is in estimates.csv.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper.formats import (
    MISSING_MARK,
    NOT_RELEASED,
    NOT_RUN,
    format_interval,
    format_number,
    format_percent,
)
from scripts.core.paper.tables import blank_repeats, change_points, drop_uninformative, write_table
from scripts.core.workflow.job import run_named
from scripts.counter_gap import examples, study
from scripts.counter_gap.study import CORPORA, COUNTERFACTUAL, GAP, METHODS, ORIGINAL, READINGS

MASCULINE, FEMININE = ("accuracy", {"gender": "M"}), ("accuracy", {"gender": "F"})
OVERALL, ACC_DIFF, DELTA_I = ("accuracy", {}), ("acc_diff", {}), ("delta_i", {})
I_WITHIN, I_ACROSS = ("i_within", {}), ("i_across", {})
WITHIN = {"M": ("i_within", {"gender": "M"}), "F": ("i_within", {"gender": "F"}), "M−F": ("i_within_diff", {})}
ACROSS = {
    "M2F": ("i_across", {"original_gender": "M"}),
    "F2M": ("i_across", {"original_gender": "F"}),
    "M2F−F2M": ("i_across_diff", {}),
}
ORIGINAL_COUNTERFACTUAL = {
    "Original": ("accuracy", {"role": ORIGINAL}),
    "Counterfactual": ("accuracy", {"role": COUNTERFACTUAL}),
    "Difference": ("original_minus_counterfactual", {}),
    "Spearman's ρ": ("spearman_rho", {}),
}
COLUMNS = {
    "accuracy": {"Acc_M": MASCULINE, "Acc_F": FEMININE, "Acc_Diff": ACC_DIFF},
    "inconsistency": {**WITHIN, "I_within": I_WITHIN, **ACROSS, "I_across": I_ACROSS, "ΔI": DELTA_I},
    "original_counterfactual": ORIGINAL_COUNTERFACTUAL,
    "datasets": {"Acc_M": MASCULINE, "Acc_F": FEMININE, "Acc_Diff": ACC_DIFF, "Overall": OVERALL, "ΔI": DELTA_I},
    "debiasing": {"Acc_Diff": ACC_DIFF, "ΔI": DELTA_I, "Overall": OVERALL},
    "bias": {
        "accuracy: M": MASCULINE,
        "accuracy: F": FEMININE,
        "accuracy: Acc_Diff": ACC_DIFF,
        "inconsistency: I_within": I_WITHIN,
        "inconsistency: I_across": I_ACROSS,
        "inconsistency: ΔI": DELTA_I,
    },
    "by_gender": {
        **{f"within: {head}": cell for head, cell in WITHIN.items()},
        **{f"across: {head}": cell for head, cell in ACROSS.items()},
        "accuracy: original": ORIGINAL_COUNTERFACTUAL["Original"],
        "accuracy: counterf.": ORIGINAL_COUNTERFACTUAL["Counterfactual"],
        "accuracy: difference": ORIGINAL_COUNTERFACTUAL["Difference"],
        "accuracy: ρ": ORIGINAL_COUNTERFACTUAL["Spearman's ρ"],
    },
}
"""Heads of columns to a metric and its levels, others being pooled: the paper's Tables 2 to 6 in this order, and those
of all sets. ``bias`` is Table 2 and what Tables 3 and 6 come to, ``by_gender`` the parts of Table 3, and Table 4."""
HEADS = {"system": "System", "output": "Scoring", "debiasing": "Debiasing"}
KEYS = [*HEADS.values()]
DIFFERENCES = ("acc_diff", "delta_i", "i_within_diff", "i_across_diff", "original_minus_counterfactual")
"""Metrics that are printed with their sign; the others are shares, or a correlation."""
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


def tables(
    *, estimates: str, instances: list, predictions: list, tex: list, csv: list, template_sets: list, labels: dict,
    alpha: float, training: dict,
) -> None:  # fmt: skip
    """Write every table; a file in the folder of a set of quadruples is of this set.

    ``instances`` and ``predictions`` are those of the sets that have examples, in the order of their tables.
    ``training`` is label to ``model`` and ``training`` of config/coreference_training.yaml.
    """
    rows = study.read_estimates(estimates, labels, alpha).rename(columns=HEADS)
    texts = zip(instances, predictions, strict=True)
    for paths in zip(tex, csv, strict=True):
        name, templates = Path(paths[0]).stem, Path(paths[0]).parent.name
        if name == "training":
            write_table(*paths, training_settings(training))
        elif name == "examples":
            examples.write_examples(*next(texts), *paths, labels)
        elif templates in template_sets:
            write_cells(*paths, CELLS[name](rows, templates), ["System"])
        else:
            write_cells(*paths, cells_of_sets(rows, name, template_sets), ["templates", "System"])


def pivot(rows: pd.DataFrame, columns: dict, show: Callable[[Any], str]) -> pd.DataFrame:
    """Return cells: :data:`KEYS` and the columns, a row for each system in their order."""
    parts = [study.pick(rows, metric=metric, **levels).assign(head=head) for head, (metric, levels) in columns.items()]
    values = pd.concat(parts)
    values = values.assign(text=[show(row) for row in files.iterate_rows(values)])
    cells = values.pivot(index=KEYS, columns="head", values="text").reindex(columns=list(columns)).astype(object)
    order = pd.MultiIndex.from_frame(rows[KEYS].drop_duplicates())
    return cells.reindex(order).fillna(MISSING_MARK).reset_index()


def show_value(row: Any, decimals: int = 2, intervals: bool = False) -> str:
    """Return one value as it is printed: a share in percent, a difference with its sign and marks, or a correlation.

    ``decimals`` are of percent; a correlation has one more. With ``intervals`` differences have theirs.
    """
    if row.metric == "spearman_rho":
        text = format_number(row.value, decimals + 1)
    else:
        text = format_percent(row.value, decimals, signed=row.metric in DIFFERENCES)
    # Without a width an interval would say that the value is known exactly.
    if intervals and row.metric in DIFFERENCES and row.low < row.high:
        text += f" ({format_interval(100 * row.low, 100 * row.high, decimals, signed=True)})"
    return text + significance_marks(row)


def significance_marks(row: Any) -> str:
    """Return the marks of a tested value: significant, after Holm's correction too, decided otherwise if centred."""
    if pd.isna(row.significant):
        return ""
    marks = {"*": row.significant, "†": row.significant_holm, "‡": study.tests_disagree(row)}
    return "".join(mark for mark, applies in marks.items() if applies)


def cells_of_sets(rows: pd.DataFrame, name: str, template_sets: Sequence[str]) -> pd.DataFrame:
    """Return the cells of ``bias``, with all debiasing methods, or ``by_gender``, without any."""
    methods = METHODS if name == "bias" else ["none"]
    show = partial(show_value, decimals=1, intervals=name == "bias")
    parts = []
    for templates in template_sets:
        shown = study.main_outputs(rows[rows.templates == templates])
        cells = pivot(shown[shown.Debiasing.isin(methods)], COLUMNS[name], show).drop(columns="Scoring")
        parts.append(cells.assign(templates=templates)[["templates", *cells]])
    return pd.concat(parts, ignore_index=True)


def without_debiasing(name: str, rows: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Tables 2 to 4: the columns of that name for systems without debiasing."""
    rows = rows[(rows.templates == templates) & (rows.Debiasing == "none")]
    return pivot(rows, COLUMNS[name], show_value).drop(columns="Debiasing")


def datasets(rows: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Table 5: each system on every part of GAP, on the originals alone and on the quadruples."""
    columns = COLUMNS["datasets"]
    # Of the originals and of GAP there is no difference of inconsistencies.
    originals = {head: (metric, levels | {"role": "original"}) for head, (metric, levels) in columns.items()}
    wanted = [(GAP[data], data, columns) for data in GAP if (rows.templates == data).any()]
    wanted = wanted or [(GAP["gap_test"], "gap_test", columns)]
    wanted += [("originals only", templates, originals), ("quadruples", templates, columns)]
    systems = without_debiasing("datasets", rows, templates)[["System", "Scoring"]]
    parts = []
    for label, data, of_data in wanted:
        cells = pivot(rows[(rows.templates == data) & (rows.Debiasing == "none")], of_data, show_value)
        cells = with_reasons(systems.merge(cells, how="left"), [head for head in columns if head != "ΔI"])
        parts.append(cells.assign(Data=label)[[*systems, "Data", *columns]].fillna(MISSING_MARK))
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def debiasing(rows: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Table 6: what debiasing does to each system; rules, which are not trained, have one row.

    Where no annotated corpus was scored, the column is of the study's.
    """
    of_set = rows[rows.templates == templates]
    every = of_set[["System", "Scoring", "kind"]].drop_duplicates()
    every = every.merge(pd.DataFrame({"Debiasing": METHODS}), how="cross")
    every = every[(every.kind != HEURISTIC) | (every.Debiasing == "none")]
    cells = every[KEYS].merge(pivot(of_set, COLUMNS["debiasing"], show_value), how="left")
    of_corpora = rows[rows.metric == "conll_f1"]
    for corpus in list(of_corpora.templates.unique()) or ["ontonotes"]:
        f1, column = of_corpora[of_corpora.templates == corpus], f"F1 on {CORPORA[corpus]}"
        f1 = f1.assign(**{column: f1.value.map(format_percent).astype(object)})[["System", "Debiasing", column]]
        cells = cells.merge(f1, how="left")
        # An annotated corpus needs a system and its data, not flags.
        cells[column] = cells[column].where(cells.Scoring != READINGS[""])
    return with_reasons(cells, [*cells.columns[3:]])


def with_reasons(cells: pd.DataFrame, heads: Sequence[str]) -> pd.DataFrame:
    """Return cells in which missing values of these columns say why: only released flags could have been released."""
    reasons = cells.Scoring.map(lambda scoring: NOT_RELEASED if scoring == READINGS[""] else NOT_RUN)
    return cells.assign(**{head: cells[head].fillna(reasons) for head in heads})


CELLS = {
    **{name: partial(without_debiasing, name) for name in ("accuracy", "inconsistency", "original_counterfactual")},
    "datasets": datasets,
    "debiasing": debiasing,
}
"""Which function makes the cells of each table of a set."""


def training_settings(training: dict) -> pd.DataFrame:
    """Table 8: how the coreference systems of the study are trained."""
    cells: dict[str, list] = {"Setting": list(TRAINING)}
    for label, entry in training.items():
        cells[label] = [_setting(entry[part][key]) for part, key in TRAINING.values()]
    return pd.DataFrame(cells)


def _setting(value: float):
    """Return a setting as text: rates as 2e-5, the others as they are."""
    if 0 < value < 0.01:
        digits, exponent = f"{value:e}".split("e")
        return f"{float(digits):g}e{int(exponent)}"
    return f"{value:g}"


def write_cells(tex: str, csv: str, cells: pd.DataFrame, keep: Sequence[str]) -> None:
    """Write all cells (CSV), and those that say something (LaTeX), with a rule between sets and ways of scoring.

    ``keep`` are columns that name the rows.
    """
    shown, constant = drop_uninformative(cells, keep)
    block = next((name for name in ("templates", "Scoring") if name in shown), None)
    midrules = change_points(shown[block]) if block else []
    shown = shown.assign(System=blank_repeats(shown.System, again=midrules))
    if block == "templates":
        shown = shown.assign(templates=blank_repeats(shown.templates)) if midrules else shown.drop(columns=block)
        shown = shown.rename(columns={"templates": "Data"})
    left = sum(head in shown for head in ("Data", *KEYS))
    write_table(tex, csv, shown, left, rows=cells, midrules=midrules, symbols=SYMBOLS, constant=constant)


if __name__ == "__main__":
    run_named()
