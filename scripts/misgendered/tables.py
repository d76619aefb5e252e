"""The tables of MISGENDERED, each by the function of its rule.

They write the cells (LaTeX) and, unless they say otherwise, the tidy rows behind them (CSV).
"""

from collections.abc import Mapping

import pandas as pd

from scripts.core import files
from scripts.core.data.templates import read_pronouns
from scripts.core.paper import latex
from scripts.core.paper import published as published_numbers
from scripts.core.paper.formats import with_sd
from scripts.core.paper.grid import Column, Factor, grid, level_columns, value, write_grid
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run_named
from scripts.misgendered.lib import corpora, declarations, examples, figures, instances, study
from scripts.misgendered.lib import tables as parts
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.predictions import instance_parts
from scripts.misgendered.lib.labels import ALL, DECLARATION_TYPES, FORMS, NAME_CLASSES, SHORT, TYPES, present

NONE = f"% No name has {parts.FEWEST} instances.\n"


def table_choices(*, choices: str, tex: str, csv: str, models: dict) -> None:
    """Tabulate what changes, in points, where the paper and the authors' code part."""
    rows = files.read_csv(choices)
    made = dict(zip(rows.choice, rows.made, strict=True))
    made = Factor("Choice", "choice", {choice: f"{choice}: {other}" for choice, other in made.items()})
    columns = level_columns("pronoun_type", present(TYPES, rows.pronoun_type), parts.DIFFERENCE)
    columns.append(Column("Other pick", value("other_pick"), {"pronoun_type": ALL}))
    write_table(tex, csv, grid(rows, [parts.of_panels(models), made], columns, "choice"), left=2, rows=rows)


def table_corpus_counts(*, corpus_counts: str, tex: str, csv: str, pronoun_sets: list) -> None:
    """Tabulate how many documents hold each form of a group (summed), any form, and the nominative (Table 11).

    Write the cells (LaTeX) and the counts of all forms (CSV).
    """
    counts = files.read_csv(corpus_counts)
    printed = counts[counts.form.isin([corpora.ANY, "nom"])]
    groups = Factor("Group", "group", {group: group for group in pronoun_sets})
    columns = [
        Column(
            f"{rows.label.iloc[0]}: {head}",
            value("count", 0, scale=1),
            {"corpus": corpus, "quantity": quantity, "form": form},
        )
        for corpus, rows in printed.groupby("corpus", sort=False)
        for head, quantity, form in (
            ("sum", corpora.SUM, corpora.ANY),
            ("any form", corpora.DOCUMENTS, corpora.ANY),
            ("nominative", corpora.DOCUMENTS, "nom"),
        )
    ]
    write_grid(tex, csv, counts, [parts.of_types(printed), groups], columns, printed=printed)


def table_declaration_number(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy by the number of declared forms (Table 6)."""
    _by_type(accuracy, tex, csv, templates, models, "Forms", "declaration_number", {count: count for count in "12345"})


def table_declaration_type(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy by type of declaration (Table 5)."""
    _by_type(accuracy, tex, csv, templates, models, "Declaration", "declaration_type", DECLARATION_TYPES)


def _by_type(
    accuracy: str,
    tex: str,
    csv: str,
    templates: str,
    models: dict[str, dict],
    head: str,
    column: str,
    levels: Mapping[str, str],
):
    """Write accuracies by a factor and the type of pronouns."""
    rows = figures.pooled_rows(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", column})
    columns = parts.accuracies("pronoun_type", present(TYPES, rows.pronoun_type))
    write_grid(tex, csv, rows, [parts.of_panels(models), Factor(head, column, levels)], columns)


def table_declarations(*, combinations: str, tex: str, csv: str, numbers: list) -> None:
    """Tabulate which forms are declared (Table 2).

    Write the table (LaTeX and CSV) of the configured combinations.
    """
    known = declarations.read(combinations)
    write_table(tex, csv, parts.declarations({number: known[number][0] for number in numbers}), left=2)


def table_evaluation_examples(*, predictions: str, instances: str, tex: str, csv: str, models: dict) -> None:
    """Show one instance of each form with its right form and what the largest model picks (Figure 1)."""
    model = max(models, key=lambda name: models[name]["parameters"] or 0)
    first = examples.first_instances(ByModel(predictions, examples.EXAMINED).read(0, model))
    texts = [rows.loc[rows.instance_id.isin(first.instance_id)] for _, rows in instance_parts(instances, ["text"])]
    shown = examples.evaluation_examples(first, pd.concat(texts), model)
    files.write_csv(csv, shown.assign(model=model))
    cells = {"Form": shown.form.map(SHORT), "Instance": shown.text}
    for head, column in (("Right", "gold"), ("Predicted", "picked")):
        cells[head] = [examples.as_written(str(row.text), getattr(row, column)) for row in shown.itertuples()]
    files.write_text(tex, latex.wrapped_table(pd.DataFrame(cells), examples.EXAMPLE_WIDTHS))


def table_excerpts(*, excerpts: str, tex: str, csv: str) -> None:
    """Show excerpts of the text corpora (Table 12).

    Write those of nominative forms as a table (LaTeX) and all of them (CSV).
    """
    rows = files.read_csv(excerpts)
    files.write_csv(csv, rows)
    files.write_text(tex, latex.wrapped_table(parts.excerpts(rows), parts.EXCERPT_WIDTHS))


def table_few_shot(
    *, accuracy_over_draws: str, accuracy: str, tex: str, csv: str, templates: str, models: dict
) -> None:
    """Tabulate accuracies with examples in the prompt (Table 13).

    Write the cells (LaTeX) and means with standard deviations over the draws of examples (CSV).

    Without examples both have the declaration that examples use, from ``accuracy``.
    """
    summary = files.read_csv(accuracy_over_draws)
    rows = figures.by_examples(figures.read(accuracy, ["shots"]), summary, templates)
    seen = {name: facts["label"] for name, facts in models.items() if name in set(rows[rows.shots > 0].model)}
    kinds = present(TYPES, rows.pronoun_type)
    types = Factor("Type", "pronoun_type", {kind: kinds[kind] for kind in kinds if kind != "binary"} or kinds)
    shots = Factor("Examples", "shots", {number: f"{number}" for number in sorted(set(rows.shots))})
    columns = level_columns("model", seen, lambda row: with_sd(100 * row["accuracy"], 100 * row["sd"], 1))
    write_grid(tex, csv, rows, [types, shots], columns)


def table_forms(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy by pronoun form (Table 8)."""
    _by_type(accuracy, tex, csv, templates, models, "Form", "form", FORMS)


def table_framework(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, tex: str, csv: str,
) -> None:  # fmt: skip
    """Show how instances are made and models asked (Figure 2), with parts of this run's own files.

    The arguments are those of the rule that makes the full sets.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    steps = pd.DataFrame(examples.framework_steps(loaded, wording), columns=["part", "text"])
    files.write_csv(csv, steps)
    lines = [latex.Raw(r" \newline ".join(map(latex.escape, text.split("\n")))) for text in steps.text]
    cells = pd.DataFrame({"Step": steps.part, "Example": pd.Series(lines, dtype=object)})
    files.write_text(tex, latex.wrapped_table(cells, examples.FRAMEWORK_WIDTHS))


def table_groups(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy on each pronoun group, the best of each type first (Table 7)."""
    rows = figures.pooled_rows(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "group"})
    shown = figures.panels(models)
    first = rows[rows.model == next(iter(shown))].sort_values(["accuracy", "group"], ascending=[False, True])
    groups = Factor("Group", "group", {group: group for group in first.group})
    heads = shown if len(shown) > 1 else dict.fromkeys(shown, "Accuracy")
    columns = level_columns("model", heads, parts.accuracy)
    columns.append(Column("n", value("n", 0, scale=1), {"model": next(iter(shown))}))
    write_grid(tex, csv, rows, [parts.of_types(first), groups], columns)


def table_models(*, tex: str, csv: str, models: dict) -> None:
    """Tabulate the run's models (Table 3).

    Write the cells (LaTeX) and the facts behind them (CSV).
    """
    rows = [
        {"model": name} | {key: facts[key] for key in ("family", "label", "architecture", "parameters")}
        for name, facts in models.items()
    ]
    write_table(tex, csv, parts.models(models), left=3, rows=pd.DataFrame(rows))


def table_name_class(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy on she, he and they, and on neo-pronouns together, by class of names (Table 10)."""
    table = figures.read(accuracy, ["name_class"])
    margins = [
        figures.pooled_rows(table, templates, {"pronoun_type", "name_class", *more}) for more in (("group",), ())
    ]
    rows = pd.concat(margins, ignore_index=True)
    printed = rows[(rows.group == ALL) == (rows.pronoun_type == "neo")]
    groups = {group: group for group in dict.fromkeys(printed.group) if group != ALL} | {ALL: "neo-pronouns"}
    columns = parts.accuracies("name_class", present(NAME_CLASSES, rows.name_class))
    factors = [parts.of_panels(models), Factor("Pronouns", "group", groups)]
    write_grid(tex, csv, rows, factors, columns, printed=printed)


def table_name_ranks(*, name_ranks: str, tex: str, csv: str) -> None:
    """Tabulate the names with the highest and the lowest accuracy on neo-pronouns (Table 9).

    Write both ends of the ranking (LaTeX) and all names (CSV); those of few instances are in the CSV alone.
    """
    ranked = files.read_csv(name_ranks)
    known = ranked[ranked.n >= parts.FEWEST]
    if known.empty:
        files.write_csv(csv, ranked)
        files.write_text(tex, NONE)
        return
    write_table(tex, csv, parts.names(*parts.ranking_ends(known)), rows=ranked, align="llrrllrr")


def table_pronouns(*, pronouns: str, tex: str, csv: str, pronoun_sets: list) -> None:
    """Tabulate the forms of the pronoun groups (Table 1).

    Write the table (LaTeX and CSV) of the configured groups.
    """
    cells = parts.pronouns(study.select_groups(read_pronouns(pronouns), pronoun_sets))
    write_table(tex, csv, cells, left=len(cells.columns))


def table_templates(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, tex: str, csv: str,
) -> None:  # fmt: skip
    """List the templates (Table 14).

    Write the list (LaTeX and CSV); the other arguments are those of the script that makes the full sets.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    cells = parts.templates(loaded.templates.rows)
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, parts.TEMPLATE_WIDTHS))


def table_zero_shot(*, accuracy: str, tex: str, csv: str, templates: str, models: dict) -> None:
    """Tabulate the accuracy by type of pronouns, of each model and of their mean (Table 4)."""
    table = figures.read(accuracy, ["accuracy"])
    rows, overall = (figures.pooled_rows(table, templates, kept) for kept in ({"pronoun_type"}, ()))
    mean = {ALL: f"Mean over {len(models)} models"} if len(models) > 1 else {}
    named = Factor("Model", "model", {name: facts["label"] for name, facts in models.items()} | mean)
    columns = level_columns("pronoun_type", present(TYPES, rows.pronoun_type), parts.accuracy)
    columns.append(Column("n", value("n", 0, scale=1), {"pronoun_type": ALL}))
    write_grid(tex, csv, rows, [named], columns, printed=pd.concat([rows, overall]))


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, accuracy: str, corpus_counts: str, tables: list, csv: str,
    tex: str, numbers: str, template_sets: list, every_set: list, models: dict, pronoun_sets: list,
) -> None:  # fmt: skip
    """Set every published number of MISGENDERED beside ours, on each template set, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``accuracy`` has the accuracies on all of ``template_sets`` and ``corpus_counts`` what was counted in corpora;
    ``tables`` are tables of each of the sets. Those of ``every_set`` that were not run are listed so. Demonstration
    models among ``models`` are left out.
    """
    printed = published_numbers.read(published, mapping, study_models)
    by_set = published_numbers.read_tables(tables, template_sets)
    everything = files.read_csv(accuracy, dtype={"declaration_number": str})
    counts = files.read_csv(corpus_counts)
    for name in template_sets:
        by_set[name]["analysis/accuracy.csv"] = everything[everything.templates == name]
        by_set[name]["analysis/corpus_counts.csv"] = counts
    published_numbers.write(
        "misgendered",
        printed,
        by_set,
        every_set,
        excluded=published_numbers.demonstration(models),
        obstacles={"likelihood": study.comparison_obstacle(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run_named()
