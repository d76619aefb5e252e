"""The tables of RUFF, each by the function that the wildcard ``table`` names (rules/ruff.smk).

Cells are written as they are printed (LaTeX); the CSV beside them has the rows that they are made from.
"""

import re
from collections.abc import Iterable

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import PROMPTED
from scripts.core.paper.formats import MISSING_MARK, count_parameters, format_number, p_text, with_sd
from scripts.core.paper.tables import blank_repeats, drop_uninformative, write_table
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.ruff import study
from scripts.ruff.answers import OUTCOME_LABELS, OUTCOMES
from scripts.ruff.narratives import full_size
from scripts.ruff.study import VANILLA, select_rows

MOST = 4
"""Up to this many models have their own tests between pronoun sets in the table."""
TESTS = {"p, Welch": "", "p, paired": "_paired"}
"""Tests between pronoun sets by the heads of their p values, and the ends of their columns."""


def table(
    *, estimates: str, pronoun_tests: str, tex: str, csv: str, table: str, templates: str, models: dict, asked: dict
) -> None:
    """Write one of the tables of results on a template set; ``asked`` are the models that are prompted."""
    made = TABLES[table]
    source = pronoun_tests if table == "pronoun_tests" else estimates
    rows, cells = made(study.read_table(source, templates), asked if table == "prompting" else models)
    files.write_csv(csv, rows)
    constant = {}
    if table == "prompting":
        cells, constant = drop_uninformative(cells, ["Model", "Method"])
    if cells.shape[1] < 2:
        files.write_text(tex, "% No pair of sets can be tested.\n")
    else:
        left = sum(head in cells for head in ("Model", "Method", "Answer in", "Sets"))
        write_table(tex, csv, cells, left, rows=rows, constant=constant)


def accuracy(estimates: pd.DataFrame, models: dict[str, dict]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracies with their SD over samples: a row for each model, a column for each number of distractors."""
    rows = select_rows(estimates, n_distractors=..., **study.SCORED)
    texts = rows.assign(text=list(map(with_sd, rows.value, rows.sd)))
    wide = texts.pivot(index="model", columns="n_distractors", values="text").loc[list(models)]
    cells = wide.rename(index={name: facts["label"] for name, facts in models.items()})
    return rows, cells.rename_axis(index="Model", columns=None).reset_index()


def pronoun_tests(tests: pd.DataFrame, models: dict[str, dict]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tests between pronoun sets: over several models, and of each model if there are at most :data:`MOST`.

    A row for each pair of sets that some test compares; of each model with a test the difference of accuracies and p of
    every test after Holm's correction, with a star if it is below the level. No rows without any test.
    """
    rows = {}
    pooled = [] if len(models) == 1 else [POOLED]
    for name in [*pooled, *(models if len(models) <= MOST else [])]:
        label = "all models" if name == POOLED else models[name]["label"]
        for row in tests[tests.model == name].to_dict("records"):
            cells = rows.setdefault(f"{row['pronoun_a']} – {row['pronoun_b']}", {})
            defined = [end for end in TESTS.values() if pd.notna(row[f"p{end}_holm"])]
            cells[f"{label}: difference"] = (
                format_number(row["difference"], 2, signed=True) if defined else MISSING_MARK
            )
            for head, end in TESTS.items():
                star = "*" if row[f"significant{end}_holm"] else ""
                cells[f"{label}: {head}"] = _p(row[f"p{end}_holm"]) + star if end in defined else MISSING_MARK
    frame = pd.DataFrame([{"Sets": pair, **cells} for pair, cells in rows.items()]).fillna(MISSING_MARK)
    if frame.empty:
        return tests, frame
    said = frame.drop(columns="Sets") != MISSING_MARK
    return tests, frame.loc[said.any(axis=1), ["Sets", *said.columns[said.any()]]].reset_index(drop=True)


def _p(value: float) -> str:
    # Three decimals, unless they hide on which side of a usual level the value lies.
    decimals = 4 if f"{value:.3f}" in ("0.010", "0.050") else 3
    return p_text(value, smallest=0.001, decimals=decimals).removeprefix("= ")


def prompting(estimates: pd.DataFrame, models: dict[str, dict]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracies of prompted models over all prompts with their SD, and the shares of outputs that are no answer."""
    rows = select_rows(estimates[estimates.scoring == PROMPTED], ["accuracy", *OUTCOMES[1:]], n_distractors=...)
    counts = sorted(rows.n_distractors.unique())
    accuracies = rows[rows.metric == "accuracy"]
    keys = ["model", "method", "answer"]
    texts = accuracies.assign(text=list(map(with_sd, accuracies.value, accuracies.sd)))
    wide = texts.pivot(index=keys, columns="n_distractors", values="text").fillna(MISSING_MARK)[counts]
    wide.columns = [f"accuracy by distractors: {n}" for n in counts]
    others = rows.groupby([*keys, "metric"])[["above", "below"]].sum()
    for name in OUTCOMES[2:]:
        sums = others.xs(name, level="metric")
        head = f"no answer: {OUTCOME_LABELS[name].removesuffix(' pronouns')}"
        wide[head] = [format_number(value, 2) for value in (sums.above / sums.below).reindex(wide.index)]
    order = accuracies[keys].drop_duplicates().itertuples(index=False, name=None)
    cells = wide.loc[list(order)].reset_index()
    # Without a chain there is one place to read the answer in.
    plain = cells.method == VANILLA
    heads = {
        "Model": blank_repeats(cells.model.map({name: facts["label"] for name, facts in models.items()})),
        "Method": cells.method.where(plain, cells.method.str.capitalize()),
        "Answer in": cells.answer.where(~plain, ""),
    }
    return rows, pd.concat([pd.DataFrame(heads), cells.drop(columns=keys)], axis=1)


TABLES = {"accuracy": accuracy, "pronoun_tests": pronoun_tests, "prompting": prompting}


def table_instance_counts(
    *, context_free: str, samples: list, selected: str, tex: str, csv: str, models: dict, pronoun_sets: list,
    sizes: dict,
) -> None:  # fmt: skip
    """Count the instances of every setting: possible, sampled and scored (paper Table 1).

    Rows are counted in the files themselves, but for full sets, which are not made; ``samples`` are named by their
    settings, and ``sizes`` says how many instances of each sample every one of ``models`` scores.
    """
    import pyarrow.parquet as pq

    sampled = {}
    for path in samples:
        (n,) = re.findall(r"distractors(\d+)\.parquet$", path)
        sampled.setdefault(int(n), []).append(pq.read_metadata(path).num_rows)
    tasks = pq.read_metadata(context_free).num_rows
    counts = count_instances(
        tasks,
        {n: full_size(n, len(pronoun_sets), tasks) for n in sampled},
        sampled,
        files.read_parquet(selected, columns=["n_distractors", "priority"]),
        sizes.values(),
    )
    cells = instance_count_cells(counts, sizes, models)
    write_table(tex, csv, cells, rows=counts)


def count_instances(
    context_free: int, full: dict, samples: dict, selected: pd.DataFrame, sizes: Iterable[int]
) -> pd.DataFrame:
    """Count instances.

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
    return pd.DataFrame(rows, columns=columns).astype(
        dict.fromkeys(("n_distractors", "samples", "sample_size"), "Int64")
    )


def instance_count_cells(counts: pd.DataFrame, sizes: dict[str, int], models: dict) -> pd.DataFrame:
    """Return the cells of Table 1: a column for each size of samples, with the models that score so many."""
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
        for row in files.iterate_rows(counts, index=False)
    ]
    scored = {
        f"Scored: {head}" if len(columns) > 1 else "Scored here": [f"{n:,}" for n in counts[name]]
        for name, head in heads.items()
    }
    instances = [f"{n:,}" for n in counts.instances]
    return pd.DataFrame({"Setting": counts.setting, "Instances": instances, "Samples": samples} | scored)


def table_models(*, tex: str, csv: str, models: dict) -> None:
    """List the models of the run by family with their sizes, in registry order (paper Table 2).

    Write families and sizes (LaTeX) and one row for each model (CSV).
    """
    rows = pd.DataFrame.from_dict(models, orient="index").rename_axis("model").reset_index()
    write_table(tex, csv, model_cells(models), align="lXl", rows=rows)


def model_cells(models: dict[str, dict]) -> pd.DataFrame:
    """Return the cells of Table 2; ``models`` have ``family``, ``size``, ``architecture``, ``parameters``."""
    rows = {}
    for facts in models.values():
        key = (facts["family"] + (" (demonstration)" if facts["demonstration"] else ""), facts["architecture"])
        rows.setdefault(key, []).append(f"{facts['size']} ({count_parameters(facts['parameters'])})")
    cells = [(family, ", ".join(sizes), architecture) for (family, architecture), sizes in rows.items()]
    return pd.DataFrame(cells, columns=["Model", "Sizes (parameters)", "Architecture"])


if __name__ == "__main__":
    run_named()
