"""The paper's tables (rules ``winopron_tables`` and others in ``rules/winopron.smk``).

Cells are written as they are printed (LaTeX and CSV); full precision is in the tables that they are made from.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.data.templates import CASES
from scripts.core.paper import latex
from scripts.core.paper.formats import MISSING_MARK, NOT_RUN, format_interval, format_number, format_percent, p_text
from scripts.core.paper.tables import write_cells, write_table
from scripts.core.workflow.job import run_named
from scripts.winopron import examples, study
from scripts.winopron.prompts import read_prompts
from scripts.winopron.study import CASE_LABELS, CORRECTED, EACH, ENTITIES, READINGS, SETS, TOGETHER, pick

PROMPTS = {"": "", EACH: "each", TOGETHER: "all together"}
"""How the consistency of prompted systems is counted, to what the table calls it."""
CONSISTENCIES = {"pronoun_consistency": "Pronoun", "disambiguation_consistency": "Disambig."}
MOST_OCCUPATIONS = 4
"""Up to this many biased occupations of a form are printed; the CSV has all."""
CHANGED_VERB = "Verb changed for they"
"""Row of the templates whose verb is another one with *they* (section 3.1)."""


def tables(
    *,
    estimates: str,
    biased_occupations: str,
    overlap: str,
    tex: list[str],
    csv: list[str],
    templates: str,
    labels: dict,
) -> None:
    """Write the tables of results on a template set that their files name; ``labels`` are what tables call systems."""
    paths = {"estimates": estimates, "overlap": overlap, "biased_occupations": biased_occupations}
    read = {name: study.with_systems(study.read_table(path), labels) for name, path in paths.items()}
    for made in zip(tex, csv, strict=True):
        source, tabulate, left = TABLES[Path(made[0]).stem]
        cells, printed = tabulate(*(read[name] for name in source), templates)
        write_cells(*made, cells, left, ("System", "Sentences", "Split", "Pronoun set", "Case"), printed)


def tabulate_performance(estimates: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Table 2: F1 on Winogender Schemas (three pronoun sets), on this set, and the difference."""

    def of(templates: str, entities: str, **levels: str) -> pd.DataFrame:
        rows = pick(estimates, metric="f1", templates=templates, entities=entities, **levels)
        return rows.set_index(["system", "reading"])

    ours = of(templates, "double")
    there = of(study.WINOGENDER, "double", pronoun_set=study.THREE_SETS).value.reindex(ours.index)
    single = of(templates, "single").value.reindex(ours.index)
    cells = pd.DataFrame(
        {
            "Winogender": [NOT_RUN if pd.isna(value) else format_percent(value, 1) for value in there],
            "F1": format_percents(ours.value),
            "Interval": format_intervals(ours),
            "Difference": format_percents(ours.value - there, signed=True),
            "One person": format_percents(single),
        },
        index=ours.index,
    )
    return add_heads(cells.reset_index()), None


def tabulate_consistency(estimates: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Table 3: both consistencies, with intervals and chance."""
    rows = pick(estimates, templates=templates, entities="double", metric=list(CONSISTENCIES), prompts=...)
    texts = rows.assign(
        value=format_percents(rows.value),
        interval=format_intervals(rows),
        chance=["under 0.01" if share < 1e-4 else format_percent(share) for share in rows.chance],
    )
    keys = ["system", "reading", "prompts"]
    cells = texts[keys].drop_duplicates().sort_values(keys[:2], kind="stable")
    for metric, head in CONSISTENCIES.items():
        columns = {"value": head, "interval": f"{head} interval", "chance": f"{head} chance"}
        of_metric = texts[texts.metric == metric][[*keys, *columns]].rename(columns=columns)
        cells = cells.merge(of_metric, on=keys, how="left")
    cells = add_heads(cells.assign(prompts=cells.prompts.map(PROMPTS)))
    return cells, cells[cells.Reading == READINGS[CORRECTED]]


def tabulate_splits(metric: str) -> Callable:
    """Tables 8 to 10: a metric on all sentences, by case and by pronoun set, a column for each system."""

    def cells(estimates: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        rows = pick(estimates, metric=metric, templates=templates, reading=CORRECTED, case=..., pronoun_set=...)
        rows = rows[(rows["case"] == "") | (rows.pronoun_set == "")]
        part = rows["case"].str.capitalize() + rows.pronoun_set
        parts = ["all", *(case.capitalize() for case in CASES), *rows.pronoun_set[rows.pronoun_set != ""].unique()]
        rows = rows.assign(
            Sentences=pd.Categorical(rows.entities.map(ENTITIES), list(ENTITIES.values()), ordered=True),
            Split=pd.Categorical(part.replace("", "all"), parts, ordered=True),
            text=format_percents(rows.value),
        )
        wide = rows.pivot(index=["Sentences", "Split"], columns="system", values="text").fillna(MISSING_MARK)
        wide = wide.sort_index(axis=1).rename(columns=str)
        wide = wide.reset_index().astype(str)
        # All rules come to the same.
        rules = rows.system[rows.kind == HEURISTIC].unique()
        return wide, None if len(rules) == rows.system.nunique() else wide.drop(columns=rules)

    return cells


def tabulate_biased_occupations(
    biased: pd.DataFrame, estimates: pd.DataFrame, templates: str
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Table 4: biased occupations of each form, those of prompted systems by how many prompts show the bias.

    What is printed are the first of each form, and how many more there are.
    """
    asked = pick(estimates, templates=templates, reading=CORRECTED, metric="biased", case=CASES, pronoun_set=...)
    forms = list(itertools.product(asked.system.unique(), filter(None, asked.pronoun_set.unique()), CASES))
    rows = pick(biased, templates=templates, reading=CORRECTED, case=..., pronoun_set=..., prompt=...)
    keys = ["system", "pronoun_set", "case", "bias"]
    lists = rows.groupby(keys, observed=True).occupation.agg(lambda names: list(names.value_counts().index)).to_dict()
    found = [[lists.get((*form, sign), []) for sign in ("positive", "negative")] for form in forms]
    heads = ["System", "Pronoun set", "Case", "Positive", "Negative"]
    cells, printed = (
        pd.DataFrame([(*form, *map(write, both)) for form, both in zip(forms, found, strict=True)], columns=heads)
        for write in (", ".join, _first)
    )
    return cells, printed[printed.Positive + printed.Negative != ""].reset_index(drop=True)


def _first(names: list[str]) -> str:
    more = len(names) - MOST_OCCUPATIONS
    return ", ".join(names[:MOST_OCCUPATIONS]) + (f" and {more} more" if more > 0 else "")


def tabulate_overlaps(comparison: str) -> Callable:
    """Tables 5 and 6: the Jaccard index of biased occupations of two systems or cases, beside chance.

    Pairs in which both sets are empty are left out.
    """

    def cells(overlap: pd.DataFrame, templates: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        rows = overlap[(overlap.templates == templates) & (overlap.comparison == comparison)]
        rows = rows[rows["first"] + rows["second"] > 0]
        case, other = (rows[name].map(CASE_LABELS) for name in ("case", "case_other"))
        systems = comparison == "systems"
        cells = {
            "Reading": rows.reading.map(READINGS),
            "System": rows.system.astype(str) + (" / " + rows.system_other.astype(str) if systems else ""),
            "Case": case if systems else case + ", " + other,
            "Pronoun set": rows.pronoun_set.map(study.short_label),
            "Sizes": rows["first"].astype(str) + ", " + rows["second"].astype(str),
            "Jaccard": [format_number(value, 2) for value in rows.jaccard],
            "By chance": [format_number(value, 2) for value in rows.expected],
            "p": [MISSING_MARK if pd.isna(p) else p_text(p, 1e-4, 3).removeprefix("= ") for p in rows.p_holm],
        }
        return pd.DataFrame(cells).reset_index(drop=True), None

    return cells


TABLES = {
    "performance": (["estimates"], tabulate_performance, 2),
    "consistency": (["estimates"], tabulate_consistency, 3),
    "biased_occupations": (["biased_occupations", "estimates"], tabulate_biased_occupations, 5),
    "overlap_systems": (["overlap"], tabulate_overlaps("systems"), 4),
    "overlap_cases": (["overlap"], tabulate_overlaps("cases"), 4),
    "f1": (["estimates"], tabulate_splits("f1"), 2),
    "precision": (["estimates"], tabulate_splits("precision"), 2),
    "recall": (["estimates"], tabulate_splits("recall"), 2),
}
"""What each is made from and by which function (all cells, and those that are printed if these are others), and how
many of its first columns are text."""


def add_heads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells with the heads of their first columns."""
    cells = cells.rename(columns={"system": "System", "reading": "Reading", "prompts": "Prompts"})
    return cells.assign(System=cells.System.astype(str), Reading=cells.Reading.map(READINGS))


def format_percents(values: pd.Series, signed: bool = False) -> list[str]:
    """Return shares in percent."""
    return [format_percent(value, 1, signed) for value in values]


def format_intervals(rows: pd.DataFrame) -> list[str]:
    """Return intervals in percent."""
    return [format_interval(100 * low, 100 * high, 1) for low, high in zip(rows.low, rows.high, strict=True)]


def table_counts(*, instances: list, tex: str, csv: str, sets: list) -> None:
    """Tabulate templates by case, the sentences that they make, and templates that *they* changes (paper Table 1)."""
    columns = {}
    for path, (templates, entities) in zip(instances, sets, strict=True):
        columns[f"{SETS[templates]}: {ENTITIES[entities]}"] = count_templates(files.read_parquet(path))
    cells = pd.DataFrame(columns).rename_axis("Case").reset_index()
    shown = cells.map(lambda cell: cell if isinstance(cell, str) else format_number(cell, 0))
    write_table(tex, csv, shown, 1, rows=cells)


def count_templates(instances: pd.DataFrame) -> pd.Series:
    """Return the number of templates by case and in all, of sentences, and of templates whose verb *they* changes."""
    by_case = instances.groupby("case").template_row.nunique().reindex(CASES, fill_value=0)
    behind = [
        text[offset + len(pronoun) :]
        for text, offset, pronoun in zip(instances.text, instances.pronoun_offset, instances.pronoun, strict=True)
    ]
    changed = (instances.assign(behind=behind).groupby("template_row").behind.nunique() > 1).sum()
    rest = {"All": by_case.sum(), "Sentences": len(instances), CHANGED_VERB: changed}
    return pd.concat([by_case.rename(str.capitalize), pd.Series(rest)])


def table_prompts(*, prompt_templates: str, tex: str, csv: str, wording: str, chosen: str | list) -> None:
    """List the prompts of the run (paper Table 7); ``\\\\n`` stands for a line break, as in the study."""
    read = read_prompts(prompt_templates, wording, chosen)
    cells = pd.DataFrame(
        {"ID": list(read), "Prompt": [prompt["text"].replace("\n", "\\n") for prompt in read.values()]}
    )
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.05, 0.9]))


def tables_of_sentences(*, instances: str, problems: str, tex: list[str], csv: list[str]) -> None:
    """Show this project's sentences about two people (paper Figures 1, 2 and 4)."""
    read = files.read_parquet(instances)
    frames = {
        "problems": examples.tabulate_problems(examples.read_problems(problems), read),
        "schemas": examples.tabulate_schemas(read),
        "groups": examples.tabulate_groups(read),
    }
    for tex_file, csv_file in zip(tex, csv, strict=True):
        frame = frames[Path(csv_file).stem]
        files.write_csv(csv_file, frame)
        files.write_text(tex_file, examples.typeset_sentences(frame))


if __name__ == "__main__":
    run_named()
