"""The cells of Counter-GAP's tables, from tidy rows, and how they become LaTeX."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper.formats import MANY_UNITS, MISSING_MARK, NOT_RELEASED, NOT_RUN, interval, number, percent
from scripts.core.paper.tables import blank_repeats, change_points, drop_uninformative, write_table
from scripts.counter_gap.lib.study import CORPORA, DATA, SCORING, TRAINED_HERE, is_rule, main_scoring

METHODS = ("none", "a-CDA", "n-CDA")
"""Debiasing methods in the order of the study's Table 6."""
COMPARABLE_SCORINGS = ("released", "clusters")
"""Ways of scoring that may stand beside the study: its own flags, without them clusters whose spans match rightly."""
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

FORMS = dict.fromkeys(
    ("acc_diff", "delta_i", "i_within_diff", "i_across_diff", "original_minus_counterfactual"), "marked"
) | {"spearman_rho": "rho"}
"""How a metric is printed (:func:`format_value`); the others are shares in percent."""

ACCURACY = {"Acc_M": ("accuracy", "M"), "Acc_F": ("accuracy", "F"), "Acc_Diff": ("acc_diff", "all")}
"""Columns of Table 2, accuracy by gender, by head: metric and group, and the subset if it is not all quadruples."""
INCONSISTENCY = {
    "M": ("i_within", "M"),
    "F": ("i_within", "F"),
    "M−F": ("i_within_diff", "all"),
    "I_within": ("i_within", "all"),
    "M2F": ("i_across", "M2F"),
    "F2M": ("i_across", "F2M"),
    "M2F−F2M": ("i_across_diff", "all"),
    "I_across": ("i_across", "all"),
    "ΔI": ("delta_i", "all"),
}
"""Columns of Table 3, inconsistency within and across genders."""
ORIGINAL_COUNTERFACTUAL = {
    "Original": ("accuracy", "original"),
    "Counterfactual": ("accuracy", "counterfactual"),
    "Difference": ("original_minus_counterfactual", "all"),
    "Spearman's ρ": ("spearman_rho", "all"),
}
"""Columns of Table 4, original against counterfactual gender."""
DATASETS = ACCURACY | {"Overall": ("accuracy", "all"), "ΔI": ("delta_i", "all")}
"""Columns of Table 5, on each data set."""
DEBIASING = {"Acc_Diff": ("acc_diff", "all"), "ΔI": ("delta_i", "all"), "Overall": ("accuracy", "all")}
"""Columns of Table 6 that flags tell."""
BIAS = {
    "accuracy: M": ("accuracy", "M"),
    "accuracy: F": ("accuracy", "F"),
    "accuracy: Acc_Diff": ("acc_diff", "all"),
    "inconsistency: I_within": ("i_within", "all"),
    "inconsistency: I_across": ("i_across", "all"),
    "inconsistency: ΔI": ("delta_i", "all"),
}
"""Columns of the table of both measures of bias: Table 2 and what Tables 3 and 6 of the study come to."""
BY_GENDER = {
    "within: M": ("i_within", "M"),
    "within: F": ("i_within", "F"),
    "within: M−F": ("i_within_diff", "all"),
    "across: M2F": ("i_across", "M2F"),
    "across: F2M": ("i_across", "F2M"),
    "across: M2F−F2M": ("i_across_diff", "all"),
    "accuracy: original": ("accuracy", "original"),
    "accuracy: counterf.": ("accuracy", "counterfactual"),
    "accuracy: difference": ("original_minus_counterfactual", "all"),
    "accuracy: ρ": ("spearman_rho", "all"),
}
"""Columns of the table of both genders: the parts of Table 3, and Table 4."""
# What LaTeX text cannot show as it is, after escaping.
_SYMBOLS = {
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


def read(metrics: str | Path, significance: str | Path, templates: str) -> pd.DataFrame:
    """Read the metrics of one set of quadruples together with their corrected tests.

    Returns:
        The rows of metrics.csv on this set of quadruples or on GAP, with ``p_holm``, ``significant``,
        ``significant_holm`` and the same of the centred bootstrap.
    """
    tests = files.read_csv(significance)
    table = files.read_csv(metrics)
    keys = ["data", "scoring", "system", "debiasing", "subset", "metric", "group"]
    table = table.merge(tests[[*keys, *tests.columns.difference(table.columns, sort=False)]], on=keys, how="left")
    table = table[table.data.isin([templates, *DATA])]
    if not (table.data == templates).any():
        raise UserError(f"{metrics}: has no rows of '{templates}'; run the workflow with it in counter_gap.templates")
    return table


def read_comparable(metrics: str | Path, significance: str | Path, templates: str) -> pd.DataFrame:
    """Read what may stand beside the study, as :func:`read` does, with each system once.

    Where a system has released flags its clusters are left out, and what :data:`COMPARABLE_SCORINGS` does not name
    always is.
    """
    table = take_study_names(read(metrics, significance, templates))
    rank = table.scoring.map({name: rank for rank, name in enumerate(COMPARABLE_SCORINGS)})
    keys = [table.data, table.system, table.debiasing]
    return table[rank.notna() & (rank == rank.groupby(keys).transform("min"))].reset_index(drop=True)


def take_study_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with systems that were trained here under the study's names, where its own are not there.

    Whether they are is asked of a data set and a system with all debiasing methods, so that no debiased system is
    compared with one of another training.
    """
    own = set(zip(table.data, table.system, strict=True))
    named = [(data, system.removesuffix(TRAINED_HERE)) for data, system in zip(table.data, table.system, strict=True)]
    shown = [key[1] if key not in own else system for key, system in zip(named, table.system, strict=True)]
    return table.assign(system=shown)


def add_model_names(table: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the table with ``model``, a system's name among the study's models, else its own, and ``place``.

    ``place`` is ``quadruples``, the part of GAP or the corpus; ``models`` are of
    :func:`scripts.core.paper.published.read_models`.
    """
    names = dict(zip(models.label, models.model, strict=True))
    place = table.data.where(table.data.isin([*DATA, *CORPORA]), "quadruples")
    return table.assign(model=table.system.map(names).fillna(table.system), place=place)


def significance_marks(row: pd.Series) -> str:
    """Return the marks of a tested value: significant, after Holm's correction too, decided otherwise if centred."""
    if pd.isna(row.significant):
        return ""
    text = SIGNIFICANT_MARK if row.significant else ""
    text += CORRECTED_MARK if row.significant_holm else ""
    return text + (DISAGREEMENT_MARK if tests_disagree(row) else "")


def tests_disagree(row: pd.Series) -> bool:
    """Tell whether the two variants of the bootstrap decide a test differently, before or after the correction."""
    return any(bool(row[f"significant{after}"]) != bool(row[f"significant_centred{after}"]) for after in ("", "_holm"))


def systems(table: pd.DataFrame, data: str, methods: Sequence[str] = ("none",)) -> list[tuple[Any, ...]]:
    """Return the keys (scoring, system, debiasing) of what was run on a data set, by scoring, rules last."""
    run = table[(table.data == data) & table.debiasing.isin(methods)]
    keys = run[["scoring", "system", "debiasing"]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(keys, key=lambda key: (list(SCORING).index(key[0]), is_rule(key[1])))


def of_system(table: pd.DataFrame, data: str, scoring: str, system: str, debiasing: str) -> pd.DataFrame:
    """Return the rows of one system on a data set."""
    return table[
        (table.data == data) & (table.scoring == scoring) & (table.system == system) & (table.debiasing == debiasing)
    ]


def value_cells(
    rows: pd.DataFrame, columns: dict[str, tuple[str, str]], subset: str = "all", empty: str = MISSING_MARK,
    cell: Callable | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return cells (head to text) of one system.

    Args:
        rows: Of one system.
        columns: Head to metric and group.
        empty: Stands for a metric without a row.
        cell: How a row is printed; by default :func:`format_value`.
    """
    cell = cell or format_value
    cells = {}
    for head, (metric, group) in columns.items():
        values = rows[(rows.subset == subset) & (rows.metric == metric) & (rows.group == group)]
        if len(values) > 1:
            raise ValueError(f"{len(values)} rows of {metric}, {group}")
        cells[head] = empty if values.empty else cell(values.iloc[0], FORMS.get(metric, "percent"))
    return cells


def bias(rows: pd.DataFrame) -> dict[str, str]:
    """Return the cells of the table of both measures of bias for one system."""
    return value_cells(rows, BIAS, cell=_with_interval)


def _with_interval(row: pd.Series, form: str):
    """Return a value in percent with one decimal and its marks; a difference between genders has its interval too."""
    if form == "percent":
        return percent(row.value, 1)
    text = percent(row.value, 1, signed=True)
    # Without a width an interval would say that the value is known exactly.
    if row.ci_low < row.ci_high:
        text += f" ({interval(100 * row.ci_low, 100 * row.ci_high, 1, signed=True)})"
    return text + significance_marks(row)


def cells(
    table: pd.DataFrame, data: str, columns: dict | Callable, methods: Sequence[str] = METHODS[:1],
    heads: Sequence[str] = ("System", "Scoring"),
) -> pd.DataFrame:  # fmt: skip
    """Return a row for each system and debiasing method on a data set.

    Args:
        columns: As :func:`value_cells` takes them; or what makes cells (head to text) of the rows of one
            system.
        heads: Which columns name the rows.
    """
    rows = []
    for scoring, system, method in systems(table, data, methods):
        about = {"System": system, "Scoring": SCORING[scoring], "Debiasing": method}
        values = of_system(table, data, scoring, system, method)
        shown = columns(values) if callable(columns) else value_cells(values, columns)
        rows.append({head: about[head] for head in heads} | shown)
    return pd.DataFrame(rows)


def by_gender(rows: pd.DataFrame) -> dict[str, str]:
    """Return the cells of the table of both genders for one system, with one decimal."""
    return value_cells(rows, BY_GENDER, cell=lambda row, form: format_value(row, form, 1))


def format_value(row: pd.Series, form: str, decimals: int = 2) -> str:
    """Return one value as it is printed: ``percent``; ``marked``, signed and with marks; or ``rho``, a correlation.

    Args:
        decimals: Of percent; a correlation has one more.
    """
    if form == "percent":
        return percent(row.value, decimals)
    if form == "rho":
        return number(row.value, decimals + 1) + significance_marks(row)
    return percent(row.value, decimals, signed=True) + significance_marks(row)


def absence_reason(scoring: str) -> str:
    """Return why a system with this scoring has no number: only released flags could have been released."""
    return NOT_RELEASED if scoring == "released" else NOT_RUN


def of_sets(
    metrics: str | Path,
    significance: str | Path,
    template_sets: Iterable[str],
    columns: dict | Callable,
    methods: Sequence[str] = METHODS[:1],
) -> pd.DataFrame:
    """Return the cells of all sets of quadruples below each other: ``templates`` (the set), then :func:`cells`.

    Of each set there is the scoring of :func:`scripts.counter_gap.lib.study.main_scoring` alone.
    """
    parts = []
    for templates in template_sets:
        table = read(metrics, significance, templates)
        table = main_scoring(table[table.data == templates])
        shown = cells(table, templates, columns, methods, ("System", "Debiasing"))
        parts.append(shown.assign(templates=templates)[["templates", *shown]])
    return pd.concat(parts, ignore_index=True)


def write_sets(tex: str, csv: str, frame: pd.DataFrame) -> None:
    """Write a table of all sets of quadruples, a rule between them; columns and rows that tell nothing are not typeset.

    Args:
        tex, csv: Paths.
        frame: From :func:`of_sets`; all goes to the CSV.
    """
    shown, constant = drop_uninformative(frame, ["templates", "System"])
    midrules = change_points(shown.templates)
    shown = shown.assign(templates=blank_repeats(shown.templates), System=blank_repeats(shown.System, again=midrules))
    if not midrules:
        shown = shown.drop(columns="templates")
    shown = shown.rename(columns={"templates": "Data"})
    left = sum(head in shown for head in ("Data", "System", "Debiasing"))
    write_table(tex, csv, shown, left, rows=frame, midrules=midrules, symbols=_SYMBOLS, constant=constant)


def datasets(table: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return the cells of Table 5: each system on every part of GAP, on the originals alone and on the quadruples."""
    gap = [data for data in DATA if (table.data == data).any()] or ["gap_test"]
    wanted = [(data, "all", DATA[data]) for data in gap]
    wanted += [(templates, "originals", "originals only"), (templates, "all", "quadruples")]
    rows = []
    for scoring, system, debiasing in systems(table, templates):
        for data, subset, label in wanted:
            values = of_system(table, data, scoring, system, debiasing)
            shown = value_cells(values, DATASETS, subset)
            if not (values.subset == subset).any():
                # Of the originals and of GAP there is no difference of inconsistencies.
                shown |= {head: absence_reason(scoring) for head in DATASETS if head != "ΔI"}
            rows.append({"System": system, "Scoring": SCORING[scoring], "Data": label, **shown})
    return pd.DataFrame(rows)


def debiasing(table: pd.DataFrame, templates: str, corpus_scores: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 6: what debiasing does.

    Rules are not trained and have one row; every other system has one for each method. What was not released or not
    run says so. ``corpus_scores`` is of :func:`scripts.counter_gap.lib.analyses.metrics.of_corpora`; where no corpus
    was scored, the column is of the study's.
    """
    corpora = list(corpus_scores.data.unique()) or ["ontonotes"]
    f1 = corpus_scores.set_index(["data", "system", "debiasing"]).value
    rows = []
    for scoring, system, _ in systems(table, templates):
        for method in METHODS if not is_rule(system) else METHODS[:1]:
            values = of_system(table, templates, scoring, system, method)
            shown = value_cells(values, DEBIASING, empty=absence_reason(scoring))
            for corpus in corpora:
                # An annotated corpus needs a system and its data, not flags.
                score = f1.get((corpus, system, method)) if scoring.startswith("clusters") else None
                shown[f"F1 on {CORPORA[corpus]}"] = absence_reason(scoring) if score is None else percent(score)
            rows.append({"System": system, "Scoring": SCORING[scoring], "Debiasing": method, **shown})
    return pd.DataFrame(rows)


def training(listed: dict[str, dict]) -> pd.DataFrame:
    """Return the cells of Table 8: how each system is trained.

    Args:
        listed: Label to ``model`` and ``training`` of config/coreference_training.yaml.

    Returns:
        ``Setting``, as the study calls it, and a column for each system.
    """
    cells = {"Setting": list(TRAINING)}
    for label, entry in listed.items():
        cells[label] = [_setting(entry[part][key]) for part, key in TRAINING.values()]
    return pd.DataFrame(cells)


def _setting(value: float):
    """Return a setting as text: rates as 2e-5, the others as they are."""
    if 0 < value < 0.01:
        digits, exponent = f"{value:e}".split("e")
        return f"{float(digits):g}e{int(exponent)}"
    return f"{value:g}"


def cancellation(metrics: pd.DataFrame, decomposition: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return the cells that take Acc_Diff and Delta I apart, from metrics.csv and decomposition.csv."""
    decomposition = decomposition[decomposition.subset == "all"]

    def parts(rows: pd.DataFrame):
        value = rows[rows.subset == "all"].set_index(["metric", "group"]).value
        of_one = of_system(decomposition, templates, *rows[["scoring", "system", "debiasing"]].iloc[0])
        pairs = of_one.set_index(["right_m", "right_f"]).quadruples
        decimals = 1 + int(pairs.sum() >= MANY_UNITS)
        return {
            "to M": percent(value["lean", "M"], decimals),
            "to F": percent(value["lean", "F"], decimals),
            "Acc_Diff": percent(value["acc_diff", "all"], decimals, signed=True),
            "cancelled": percent(value["cancelled", "all"], decimals),
            **{f"{m}:{f}": str(pairs[m, f]) for m, f in ((2, 0), (0, 2), (1, 1))},
            "ΔI": percent(value["delta_i", "all"], decimals, signed=True),
        }

    return cells(metrics, templates, parts, METHODS, ("System", "Scoring", "Debiasing"))


def printed_datasets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of Table 5 that are printed: of GAP the first part, and clusters in one scoring only."""
    first = next(data for data in frame.Data if data in DATA.values())
    others = frame.Data.isin(DATA.values()) & (frame.Data != first)
    return frame[~others & (frame.Scoring != SCORING["clusters_faithful"])].reset_index(drop=True)


def write(tex: str, csv: str, frame: pd.DataFrame, left: int, shown: pd.DataFrame | None = None) -> None:
    """Write a table as LaTeX and CSV.

    Args:
        tex, csv: Paths.
        frame: Cells; all go to the CSV.
        left: The first columns, which are text. In LaTeX a repeated system is printed once for each scoring.
        shown: What is printed, if it is less than ``frame``.
    """
    shown = frame if shown is None else shown
    # Between scorings there is a rule.
    midrules = change_points(shown.Scoring) if shown.columns[1] == "Scoring" else ()
    if "Data" in shown or "Debiasing" in shown:
        shown = shown.assign(System=blank_repeats(shown.System, again=midrules))
    write_table(tex, csv, shown, left, rows=frame, midrules=midrules, symbols=_SYMBOLS)
