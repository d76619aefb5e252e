"""The tables of WinoPron, each by the function of its rule.

Cells are written as they are printed (LaTeX and CSV); full precision is in the tidy tables that they are made from.
"""

from collections.abc import Sequence

import pandas as pd

from scripts.core import files
from scripts.core.data.templates import CASES
from scripts.core.paper import latex
from scripts.core.paper.formats import number
from scripts.core.paper.published import demonstration
from scripts.core.paper.published import read as read_published
from scripts.core.paper.published import write as write_published
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run_named
from scripts.winopron.lib import examples, study, tables
from scripts.winopron.lib.analyses import performance
from scripts.winopron.lib.analyses.consistency import SINGLE


def table_biased_occupations(*, biased_occupations: str, bias: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate the biased occupations of every pronoun form (paper Table 4).

    Write all occupations (CSV) and the first of each form (LaTeX).
    """
    biased, forms = (table[table.templates == templates] for table in map(study.read_table, (biased_occupations, bias)))
    cells = tables.biased_occupations(biased, forms)
    shown = tables.printed_occupations(cells)
    tables.write(tex, csv, cells, 5, ["System", "Pronoun set", "Case"], "No occupation is biased.", shown)


def table_consistency(*, metrics: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate both consistencies beside chance (paper Table 3)."""
    cells = tables.consistency(tables.of_set(study.read_table(metrics), templates))
    tables.write(tex, csv, cells, 3, ["System"], "No system was run.", cells[cells.Reading == "corrected"])


def table_counts(*, instances: list, tex: str, csv: str, sets: list) -> None:
    """Tabulate templates by case and the sentences that they make (paper Table 1).

    Write the counts (LaTeX and CSV) of all ``sets``, each with a file of ``instances``.
    """
    read = [files.read_parquet(path) for path in instances]
    keys = [(names["templates"], names["entities"]) for names in sets]
    cells = tables.counts(dict(zip(keys, read, strict=True)))
    shown = cells.map(lambda cell: cell if isinstance(cell, str) else number(cell, 0))
    write_table(tex, csv, shown, 1, rows=cells)


def table_f1(*, metrics: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate F1 by case and by pronoun set (paper Table 8)."""
    cells = tables.split(tables.of_set(study.read_table(metrics), templates), "f1")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_groups(*, instances: str, tex: str, csv: str) -> None:
    """Show sentences that have to be resolved rightly together (paper Figure 4): this project's, about two people."""
    _write_sentences(tex, csv, examples.groups(files.read_parquet(instances)))


def table_overlap_cases(*, overlap: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate how alike the biased occupations of two cases are (paper Table 6), beside chance."""
    rows = study.read_table(overlap)
    cells = tables.overlaps(rows[rows.templates == templates], "cases")
    tables.write(tex, csv, cells, 4, ["System", "Case", "Pronoun set"], "No system has biased occupations.")


def table_overlap_systems(*, overlap: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate how alike the biased occupations of two systems are (paper Table 5), beside chance."""
    rows = study.read_table(overlap)
    cells = tables.overlaps(rows[rows.templates == templates], "systems")
    tables.write(tex, csv, cells, 4, ["System", "Case", "Pronoun set"], "No system has biased occupations.")


def table_performance(*, metrics: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate F1 beside that on Winogender Schemas (paper Table 2)."""
    cells = tables.performance(study.read_table(metrics), templates)
    tables.write(tex, csv, cells, 2, ["System"], "No system was run.")


def table_precision(*, metrics: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate precision by case and by pronoun set (paper Table 9)."""
    cells = tables.split(tables.of_set(study.read_table(metrics), templates), "precision")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_problems(*, problems: str, instances: str, tex: str, csv: str) -> None:
    """Show sentences with the problems of Winogender Schemas beside sentences without them (paper Figure 1).

    The former are the made-up sentences of ``problems``, the latter this project's ``instances`` about two people.
    """
    faulty = examples.read_problems(problems)
    _write_sentences(tex, csv, examples.problems(faulty, files.read_parquet(instances)))


def table_prompts(*, prompt_templates: str, tex: str, csv: str, wording: str, chosen: str | list) -> None:
    """List the prompts of the run (paper Table 7).

    Write the prompts (LaTeX and CSV); ``\\\\n`` stands for a line break, as in the study.
    """
    from scripts.winopron.lib import prompts

    read = prompts.read(prompt_templates, wording, chosen)
    cells = pd.DataFrame(
        {"ID": list(read), "Prompt": [prompt["text"].replace("\n", "\\n") for prompt in read.values()]}
    )
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.05, 0.9]))


def table_recall(*, metrics: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate recall by case and by pronoun set (paper Table 10)."""
    cells = tables.split(tables.of_set(study.read_table(metrics), templates), "recall")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_schemas(*, instances: str, tex: str, csv: str) -> None:
    """Show a pair of templates with all pronouns (paper Figure 2): this project's ``instances`` about two people."""
    _write_sentences(tex, csv, examples.schemas(files.read_parquet(instances)))


def _write_sentences(tex: str, csv: str, frame: pd.DataFrame):
    files.write_csv(csv, frame)
    files.write_text(tex, examples.typeset(frame))


def published_vs_ours(
    *,
    published: str,
    mapping: str,
    study_models: str,
    metrics: str,
    overlap: str,
    biased_occupations: str,
    named_occupations: str,
    counts: str,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    pronoun_sets: list,
) -> None:
    """Set every published number of WinoPron beside ours, on each template set, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    Systems are read as the study's authors read them. ``counts`` is the table of templates and ``named_occupations``
    lists those of the study's Table 4; demonstration models among
    ``models`` are left out, and so are all results if ``pronoun_sets`` are not the study's.
    """
    printed = read_published(published, mapping, study_models)
    measured, overlaps, biased, sizes = (
        study.read_table(path) for path in (metrics, overlap, biased_occupations, counts)
    )
    named, systems = files.read_csv(named_occupations), measured[measured.templates != study.WINOGENDER].system.unique()
    compared = {
        name: {
            "analysis/metrics.csv": comparable_metrics(measured, name, printed.models),
            "analysis/overlap.csv": comparable_overlaps(overlaps, name),
            "analysis/biased_occupations.csv": comparable_occupations(named, biased, systems, name),
            "tables/counts.csv": comparable_counts(sizes, name),
        }
        for name in template_sets
    }
    reason = study.comparison_obstacle(pronoun_sets)
    write_published(
        "winopron",
        printed,
        compared,
        every_set,
        excluded=demonstration(models),
        obstacles=dict.fromkeys(("coreference", "prompting"), reason),
        inapplicable={"instances": reason},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


def comparable_metrics(table: pd.DataFrame, templates: str, models: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of a template set and of Winogender Schemas, and the difference between their F1.

    Each system is there once, as its authors read it.

    Args:
        table: Of ``metrics.csv``.
        models: Of :func:`scripts.core.paper.published.read_models`.

    Returns:
        With ``model`` (a system's name among the study's models, else its own) and ``data`` (``WP``, ``WS``, or ``WP -
        WS``, which has no interval); prompts are taken together.
    """
    names = dict(zip(models.label, models.model, strict=True))
    rows = study.as_published(table[table.pairing != SINGLE])
    # The study's values on Winogender Schemas are over three pronoun sets.
    four = (rows.templates == study.WINOGENDER) & rows.index.isin(study.overall_rows(rows).index)
    rows = rows[~four]
    rows = rows.assign(pronoun_set=rows.pronoun_set.replace(study.THREE_SETS, "all"))
    rows = rows.assign(
        model=rows.system.map(names).fillna(rows.system),
        data=rows.templates.map({templates: "WP", study.WINOGENDER: "WS"}),
    ).dropna(subset=["data"])
    whole = study.overall_rows(rows)
    whole = whole[(whole.metric == "f1") & (whole.entities == "double")]
    both = whole.pivot_table(index="model", columns="data", values="value")
    if {"WP", "WS"} <= set(both):
        change = (both.WP - both.WS).dropna().reset_index(name="value")
        rows = pd.concat([rows, change.assign(data="WP - WS", metric="f1", entities="double", **performance.PART)])
    return rows.reset_index(drop=True)


def comparable_overlaps(table: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return the comparisons of biased occupations as published; two empty sets have no index."""
    rows = table[(table.templates == templates) & (table.reading == study.READINGS["published"])]
    return rows.reset_index(drop=True)


def comparable_occupations(
    named: pd.DataFrame, biased: pd.DataFrame, systems: Sequence[str], templates: str
) -> pd.DataFrame:
    """Return how many of the occupations that Table 4 names for a form and a sign of bias each system has there too.

    Args:
        named: Occupations by ``case``, ``pronoun_set`` and ``polarity`` (paper/published/winopron_table4.csv).
        biased: Of ``biased_occupations.csv``.
        systems: Those of the run; they are read as their authors read them.

    Returns:
        ``system``, ``case``, ``pronoun_set``, ``bias``, ``found``.
    """
    cells = ["case", "pronoun_set", "bias"]
    named = named.rename(columns={"polarity": "bias"}).assign(case=named["case"].str.lower())
    rows = study.as_published(biased[biased.templates == templates])
    frames = []
    for system in systems:
        there = rows.loc[rows.system == system, [*cells, "occupation"]].drop_duplicates().assign(found=1)
        joined = named.merge(there, how="left", on=[*cells, "occupation"]).fillna({"found": 0})
        frames.append(joined.groupby(cells, sort=False).found.sum().reset_index().assign(system=system))
    return pd.concat(frames, ignore_index=True)


def comparable_counts(table: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return how many templates a set has, a row for each case, and their ``share`` of all.

    Returns:
        ``Case``, ``data`` (``WP``, ``WS``), ``templates``, ``share``.
    """
    columns = {
        "WP": f"{study.SETS[templates]}: {study.ENTITIES['double']}",
        "WS": f"{study.SETS[study.WINOGENDER]}: {study.ENTITIES['double']}",
    }
    kept = [
        pd.DataFrame({"Case": table.Case, "data": name, "templates": table[column]}).assign(
            share=table[column] / table[column][table.Case == "All"].iloc[0]
        )
        for name, column in columns.items()
        if column in table
    ]
    rows = pd.concat(kept, ignore_index=True)
    return rows[rows.Case.isin([*(case.capitalize() for case in CASES), "All", "Sentences", tables.CHANGED_VERB])]


if __name__ == "__main__":
    run_named()
