"""The tables of RUFF, as text cells ready to be typeset.

Each function returns a DataFrame of strings whose column names are the heads; numbers keep their full precision in
the CSV files that the rules of tables write beside it.
"""

from collections.abc import Iterable

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import MISSING_MARK, number, p_text, with_sd


def instance_counts(
    context_free: int, full: dict, samples: dict, selected: pd.DataFrame, sizes: Iterable[int]
) -> pd.DataFrame:
    """Count instances (paper Table 1).

    Args:
        context_free: Task sentences without context.
        full: Number of distractors to the size of the full set.
        samples: Number of distractors to the sizes of its samples, one for each seed.
        selected: The selected instances: ``n_distractors``, ``priority`` (both missing without context).
        sizes: How many instances of each sample models score.

    Returns:
        ``setting``, ``n_distractors``, ``instances``, ``samples``, ``sample_size``, ``scored`` (over all samples, by
        models with the largest size) and ``scored_<size>`` for each smaller size.
    """
    largest, *smaller = sorted(set(sizes), reverse=True)
    names = {"scored": largest} | {f"scored_{size}": size for size in smaller}
    free = selected.n_distractors.isna()
    counts = {
        name: selected[~free & (selected.priority < size)].n_distractors.value_counts() for name, size in names.items()
    }
    rows: list[tuple] = [("no context", None, context_free, None, None, *[int(free.sum())] * len(names))]
    for n, size in sorted(full.items()):
        drawn = set(samples[n])
        if len(drawn) != 1:
            raise ValueError(f"samples with {n} distractors differ in size: {sorted(drawn)}")
        setting = f"+ {n} distractor{'' if n == 1 else 's'}"
        rows.append((setting, n, size, len(samples[n]), drawn.pop(), *(int(of_size[n]) for of_size in counts.values())))
    columns = ["setting", "n_distractors", "instances", "samples", "sample_size", *counts]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype(dict.fromkeys(("n_distractors", "samples", "sample_size"), "Int64"))


def instance_counts_cells(table: pd.DataFrame, sizes: dict[str, int], models: dict) -> pd.DataFrame:
    """Return the cells of Table 1.

    Args:
        table: From :func:`instance_counts`.
        sizes: How many instances of each sample every model scores.
        models: Model to ``label``.
    """
    largest = max(sizes.values())
    columns = {"scored" if size == largest else f"scored_{size}": size for size in sorted(sizes.values())[::-1]}
    heads = {
        name: ", ".join(models[m]["label"] for m, taken in sizes.items() if taken == size)
        for name, size in columns.items()
    }
    if len(columns) > 1 and len(sizes) > 3:
        heads["scored"] = "others"
    samples = [
        MISSING_MARK if pd.isna(row.samples) else f"{row.samples} × {row.sample_size:,}"
        for row in files.rows(table, index=False)
    ]
    return pd.DataFrame(
        {
            "Setting": table.setting,
            "Instances": [f"{n:,}" for n in table.instances],
            "Samples": samples,
            **{
                f"Scored: {head}" if len(columns) > 1 else "Scored here": [f"{n:,}" for n in table[name]]
                for name, head in heads.items()
            },
        }
    )


def models_cells(models: dict) -> pd.DataFrame:
    """Return the cells of Table 2: families with their sizes, in registry order.

    Args:
        models: Model name to ``family``, ``size``, ``architecture``, ``parameters``, ``demonstration``.
    """
    rows = {}
    for facts in models.values():
        key = (facts["family"], facts["architecture"], facts["demonstration"])
        rows.setdefault(key, []).append(f"{facts['size']} ({parameters(facts['parameters'])})")
    return pd.DataFrame(
        [
            (family + (" (demonstration)" if demonstration else ""), ", ".join(sizes), architecture)
            for (family, architecture, demonstration), sizes in rows.items()
        ],
        columns=["Model", "Sizes (parameters)", "Architecture"],
    )


def parameters(count: float | None) -> str:
    """Return a number of parameters as it is usually printed: 11M, 1.3B; a dash where it is not known."""
    if count is None or pd.isna(count):
        return MISSING_MARK
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            value = count / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.3g}{unit}"
    return str(count)


def accuracy_cells(accuracy: pd.DataFrame, models: dict[str, dict]) -> pd.DataFrame:
    """Return accuracies with their SD over samples: a row for each model, a column for each number of distractors."""
    overall = accuracy[accuracy.factor == "all"]
    rows = []
    for name, facts in models.items():
        by_count = overall[overall.model == name].set_index("n_distractors").sort_index()
        rows.append([facts["label"], *map(with_sd, by_count.accuracy, by_count.sd)])
    return pd.DataFrame(rows, columns=["Model", *(str(n) for n in sorted(overall.n_distractors.unique()))])


TESTS = {"p, Welch": "", "p, paired": "_paired"}
"""Tests between pronoun sets by the heads of their p values, and the ends of their columns."""


def pronoun_tests_cells(tests: pd.DataFrame, models: dict, most: int = 4) -> pd.DataFrame:
    """Return both tests between pronoun sets: over several models, and of each model if there are at most ``most``.

    Args:
        tests: pronoun_tests.csv.
        models: Model to ``label``.

    Returns:
        A row for each pair of sets that some test compares; of each model with a test the ``difference`` of accuracies
        and p of every test after Holm's correction, with a star if it is below the level. No rows without any test.
    """
    rows = {}
    pooled = [] if len(models) == 1 else ["all"]
    for name in [*pooled, *(models if len(models) <= most else [])]:
        label = "all models" if name == "all" else models[name]["label"]
        for row in tests[tests.model == name].to_dict("records"):
            cells = rows.setdefault(f"{row['pronoun_a']} – {row['pronoun_b']}", {})
            defined = [end for end in TESTS.values() if pd.notna(row[f"p{end}_holm"])]
            cells[f"{label}: difference"] = number(row["difference"], 2, signed=True) if defined else MISSING_MARK
            for head, end in TESTS.items():
                star = "*" if row[f"significant{end}_holm"] else ""
                cells[f"{label}: {head}"] = _p(row[f"p{end}_holm"]) + star if end in defined else MISSING_MARK
    frame = pd.DataFrame([{"Sets": pair, **cells} for pair, cells in rows.items()]).fillna(MISSING_MARK)
    if frame.empty:
        return frame
    said = frame.drop(columns="Sets") != MISSING_MARK
    return frame.loc[said.any(axis=1), ["Sets", *said.columns[said.any()]]].reset_index(drop=True)


def _p(value: float):
    # Three decimals, unless they hide on which side of a usual level the value lies.
    decimals = 4 if f"{value:.3f}" in ("0.010", "0.050") else 3
    return p_text(value, smallest=0.001, decimals=decimals).removeprefix("= ")


def error_types_cells(types: pd.DataFrame, models: dict[str, dict]) -> pd.DataFrame:
    """Return the shares of distraction and bias among unambiguous errors: a row for each model."""
    counts = sorted(types.n_distractors.unique())
    rows = []
    for name, facts in models.items():
        shares = types[types.model == name].set_index(["error_type", "n_distractors"]).share
        rows.append([facts["label"], *(number(shares[kind, n], 2) for kind in ("distraction", "bias") for n in counts)])
    heads = [f"{letter}{n}" for letter in "DB" for n in counts]
    return pd.DataFrame(rows, columns=["Model", *heads])
