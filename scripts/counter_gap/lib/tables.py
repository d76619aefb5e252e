"""The tables of the Counter-GAP wing: tidy rows to cells, and cells to LaTeX."""

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex
from scripts.counter_gap.lib.study import DATA, SCORING

METHODS = ("none", "a-CDA", "n-CDA")
"""Debiasing methods in the order of the study's Table 6."""
NOT_RUN, NOT_RELEASED = "not run", "not released"
"""What the run lacks, and what the study's authors did not publish of the systems whose flags they did."""
MISSING = "–"
SIGNIFICANT, CORRECTED = "*", "†"
"""Marks of p values below the level, before and after Holm's correction."""
DISPUTED = "‡"
"""Mark of values of which the centred bootstrap decides otherwise, before the correction or after it."""

# What LaTeX text cannot show as it is, after escaping.
_MATHS = {
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


def read(metrics, significance, templates):
    """Read the metrics of one set of quadruples together with their corrected tests.

    Returns
    -------
    DataFrame
        The rows of metrics.csv on this set of quadruples or on GAP, with ``p_holm``, ``significant``,
        ``significant_holm`` and the same of the centred bootstrap.
    """
    keys = ["data", "scoring", "system", "debiasing", "subset", "metric", "group"]
    tests = files.read_csv(significance)[
        [
            *keys, "p_holm", "significant", "significant_holm", "p_centred_holm", "significant_centred",
            "significant_centred_holm",
        ]
    ]  # fmt: skip
    table = files.read_csv(metrics).merge(tests, on=keys, how="left")
    table = table[(table.data == templates) | table.data.str.startswith("gap_")]
    if not (table.data == templates).any():
        raise UserError(f"{metrics}: has no rows of '{templates}'; run the workflow with it in counter_gap.templates")
    return table


def percent(value, signed=False):
    """Return a share in percent with two decimals, as the study prints it; a dash if it is missing."""
    if pd.isna(value):
        return MISSING
    text = f"{100 * value:{'+' if signed else ''}.2f}"
    return (text[1:] if float(text) == 0 and text[0] in "+-" else text).replace("-", "−")


def marked(row, signed=True):
    """Return a tested value with its marks."""
    return percent(row.value, signed) + marks(row)


def marks(row):
    """Return the marks of a tested value: significant, after Holm's correction too, decided otherwise if centred."""
    if pd.isna(row.significant):
        return ""
    text = SIGNIFICANT if row.significant else ""
    text += CORRECTED if row.significant_holm else ""
    return text + (DISPUTED if disputed(row) else "")


def disputed(row):
    """Tell whether the two variants of the bootstrap decide a test differently, before or after the correction."""
    return any(bool(row[f"significant{after}"]) != bool(row[f"significant_centred{after}"]) for after in ("", "_holm"))


def lookup(table, **keys):
    """Return the one row with these keys; None without any."""
    for key, value in keys.items():
        table = table[table[key] == value]
    if len(table) > 1:
        raise ValueError(f"{len(table)} rows for {keys}")
    return table.iloc[0] if len(table) else None


def systems(table, data, methods=("none",)):
    """Return the keys (scoring, system, debiasing) of what was run on a data set, by scoring as :data:`SCORING`."""
    own = table[(table.data == data) & table.debiasing.isin(methods)]
    found = own[["scoring", "system", "debiasing"]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(found, key=lambda key: list(SCORING).index(key[0]))


def cells(table, data, subset, columns, methods=("none",)):
    """Return one row a system with one column a metric.

    Parameters
    ----------
    table : DataFrame
        Of :func:`read`.
    data, subset : str
    columns : list of (str, str, str, str)
        Head, metric, group and format: ``percent``, ``marked`` or ``rho``.
    methods : tuple of str
    """
    rows = []
    for scoring, system, debiasing in systems(table, data, methods):
        own = table[
            (table.data == data)
            & (table.scoring == scoring)
            & (table.system == system)
            & (table.debiasing == debiasing)
            & (table.subset == subset)
        ]
        row = {"System": system, "Scoring": SCORING[scoring]}
        for head, metric, group, form in columns:
            found = lookup(own, metric=metric, group=group)
            row[head] = MISSING if found is None else formatted(found, form)
        rows.append(row)
    return pd.DataFrame(rows)


def formatted(row, form):
    """Return one value as it is printed."""
    if form == "rho":
        return MISSING if pd.isna(row.value) else f"{row.value:.3f}".replace("-", "−") + marks(row)
    if form == "marked":
        return marked(row)
    return percent(row.value)


def accuracy(table, templates):
    """Return the cells of Table 2: accuracy by gender."""
    return cells(table, templates, "all", [
        ("Acc_M", "accuracy", "M", "percent"),
        ("Acc_F", "accuracy", "F", "percent"),
        ("Acc_Diff", "acc_diff", "all", "marked"),
    ])  # fmt: skip


def inconsistency(table, templates):
    """Return the cells of Table 3: inconsistency within and across genders."""
    return cells(table, templates, "all", [
        ("M", "i_within", "M", "percent"),
        ("F", "i_within", "F", "percent"),
        ("M−F", "i_within_diff", "all", "marked"),
        ("I_within", "i_within", "all", "percent"),
        ("M2F", "i_across", "M2F", "percent"),
        ("F2M", "i_across", "F2M", "percent"),
        ("M2F−F2M", "i_across_diff", "all", "marked"),
        ("I_across", "i_across", "all", "percent"),
        ("ΔI", "delta_i", "all", "marked"),
    ])  # fmt: skip


def original_counterfactual(table, templates):
    """Return the cells of Table 4: original against counterfactual gender."""
    return cells(table, templates, "all", [
        ("Original", "accuracy", "original", "percent"),
        ("Counterfactual", "accuracy", "counterfactual", "percent"),
        ("Difference", "original_minus_counterfactual", "all", "marked"),
        ("Spearman's ρ", "spearman_rho", "all", "rho"),
    ])  # fmt: skip


def absent(scoring):
    """Return why a system with this scoring has no number: only released flags could have been released."""
    return NOT_RELEASED if scoring == "released" else NOT_RUN


def datasets(table, templates):
    """Return the cells of Table 5: each system on every part of GAP, on the originals alone and on the quadruples."""
    columns = [
        ("Acc_M", "accuracy", "M", "percent"),
        ("Acc_F", "accuracy", "F", "percent"),
        ("Acc_Diff", "acc_diff", "all", "marked"),
        ("Overall", "accuracy", "all", "percent"),
        ("ΔI", "delta_i", "all", "marked"),
    ]
    gap = [data for data in DATA if (table.data == data).any()] or ["gap_test"]
    wanted = [(data, "all", DATA[data]) for data in gap]
    wanted += [(templates, "originals", "originals only"), (templates, "all", "quadruples")]
    rows = []
    for scoring, system, debiasing in systems(table, templates):
        for data, subset, label in wanted:
            own = table[
                (table.data == data)
                & (table.scoring == scoring)
                & (table.system == system)
                & (table.debiasing == debiasing)
                & (table.subset == subset)
            ]
            row = {"System": system, "Scoring": SCORING[scoring], "Data": label}
            for head, metric, group, form in columns:
                found = lookup(own, metric=metric, group=group)
                empty = absent(scoring) if own.empty and metric != "delta_i" else MISSING
                row[head] = empty if found is None else formatted(found, form)
            rows.append(row)
    return pd.DataFrame(rows)


def debiasing(table, templates):
    """Return the cells of Table 6: what debiasing does.

    Rules are not trained and have one row; every other system has one for each method. What was not released or not
    run says so.
    """
    rows = []
    for scoring, system, _ in systems(table, templates):
        for method in METHODS if not system.endswith("(rule)") else METHODS[:1]:
            own = table[
                (table.data == templates)
                & (table.scoring == scoring)
                & (table.system == system)
                & (table.debiasing == method)
                & (table.subset == "all")
            ]
            row = {"System": system, "Scoring": SCORING[scoring], "Debiasing": method}
            for head, metric, group, form in (
                ("Acc_Diff", "acc_diff", "all", "marked"),
                ("ΔI", "delta_i", "all", "marked"),
                ("Overall", "accuracy", "all", "percent"),
            ):
                found = lookup(own, metric=metric, group=group)
                row[head] = absent(scoring) if found is None else formatted(found, form)
            # OntoNotes needs a system and its data, not flags.
            row["F1 on OntoNotes"] = absent(scoring)
            rows.append(row)
    return pd.DataFrame(rows)


def cancellation(metrics, decomposition, templates):
    """Return the cells that take Acc_Diff and Delta I apart.

    Parameters
    ----------
    metrics : DataFrame
        Of :func:`read`, or metrics.csv.
    decomposition : DataFrame
        decomposition.csv.
    templates : str
    """
    rows = []
    for scoring, system, method in systems(metrics, templates, METHODS):
        own = metrics[
            (metrics.data == templates)
            & (metrics.scoring == scoring)
            & (metrics.system == system)
            & (metrics.debiasing == method)
            & (metrics.subset == "all")
        ].set_index(["metric", "group"])
        parts = decomposition[
            (decomposition.data == templates)
            & (decomposition.scoring == scoring)
            & (decomposition.system == system)
            & (decomposition.debiasing == method)
            & (decomposition.subset == "all")
        ].set_index(["right_m", "right_f"])
        rows.append(
            {
                "System": system,
                "Scoring": SCORING[scoring],
                "Debiasing": method,
                "to M": percent(own.value["lean", "M"]),
                "to F": percent(own.value["lean", "F"]),
                "Acc_Diff": percent(own.value["acc_diff", "all"], signed=True),
                "cancelled": percent(own.value["cancelled", "all"]),
                "2:0": str(parts.quadruples[2, 0]),
                "0:2": str(parts.quadruples[0, 2]),
                "1:1": str(parts.quadruples[1, 1]),
                "ΔI": percent(own.value["delta_i", "all"], signed=True),
            }
        )
    return pd.DataFrame(rows)


def artefact(table, templates):
    """Return the cells that compare all quadruples with those that the conversion did not spoil."""
    rows = []
    for scoring, system, method in systems(table, templates, METHODS):
        own = table[
            (table.data == templates)
            & (table.scoring == scoring)
            & (table.system == system)
            & (table.debiasing == method)
        ]
        row = {"System": system, "Scoring": SCORING[scoring], "Debiasing": method}
        for metric, head, form in (
            ("accuracy", "Acc.", "percent"),
            ("acc_diff", "Acc_Diff", "marked"),
            ("delta_i", "ΔI", "marked"),
        ):
            for subset, suffix in (("all", ""), ("all without artefact", " w/o")):
                found = lookup(own, subset=subset, metric=metric, group="all")
                row[head + suffix] = MISSING if found is None else formatted(found, form)
        rows.append(row)
    return pd.DataFrame(rows)


def printed_datasets(frame):
    """Return the rows of Table 5 that are printed: of GAP the first part, and clusters in one scoring only."""
    first = next(data for data in frame.Data if data in DATA.values())
    others = frame.Data.isin(DATA.values()) & (frame.Data != first)
    return frame[~others & (frame.Scoring != SCORING["clusters_faithful"])].reset_index(drop=True)


def write(tex, csv, frame, left, shown=None):
    """Write a table as LaTeX and CSV.

    Parameters
    ----------
    tex, csv : str
        Paths.
    frame : DataFrame
        Cells; all go to the CSV.
    left : int
        The first columns, which are text. In LaTeX a repeated system is printed once.
    shown : DataFrame, optional
        What is printed, if it is less than ``frame``.
    """
    files.write_csv(csv, frame)
    frame = frame if shown is None else shown
    shown = frame.copy()
    new = [True] + [shown.iloc[i, 0] != shown.iloc[i - 1, 0] for i in range(1, len(shown))]
    groups = frame.columns[1] == "Scoring" and len(set(frame.Scoring)) > 1
    midrules = [i for i in range(1, len(shown)) if groups and frame.Scoring[i] != frame.Scoring[i - 1]]
    if "Data" in shown or "Debiasing" in shown:
        shown.iloc[:, 0] = [
            cell if first or i in midrules else ""
            for i, (cell, first) in enumerate(zip(shown.iloc[:, 0], new, strict=True))
        ]
    text = latex.latex_table(shown, align="l" * left + "r" * (shown.shape[1] - left), midrules=midrules)
    for plain, maths in _MATHS.items():
        text = text.replace(plain, maths)
    files.write_text(tex, text)
