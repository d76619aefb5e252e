"""The tables of MISGENDERED, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run_named
from scripts.core.paper import latex, paired_cells
from scripts.core.paper import published as published_numbers
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import declarations, figures, instances, study, tables
from scripts.misgendered.lib.labels import ALL, DECLARATION_TYPES, FORMS, present

NONE = f"% No name has {tables.FEWEST} instances.\n"


def table_calibration(*, calibration: str, tex: str, csv: str, models: dict):
    """Tabulate calibration errors.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(calibration)
    write_table(tex, csv, tables.calibration(rows, models), left=3, rows=rows)


def table_choices(*, choices: str, tex: str, csv: str, models: dict):
    """Tabulate what changes where the paper and the authors' code part.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(choices)
    write_table(tex, csv, tables.choices(rows, models), left=2, rows=rows)


def table_corpus_counts(*, corpus_counts: str, tex: str, csv: str, pronoun_sets: list):
    """Tabulate how many documents of text corpora hold each pronoun (Table 11).

    Write the cells (LaTeX) and the counts of all forms (CSV).
    """
    counts = files.read_csv(corpus_counts)
    write_table(tex, csv, tables.corpus_counts(counts, pronoun_sets), left=2, rows=counts)


def table_declaration_number(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy by the number of declared forms (Table 6).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "declaration_number"})
    cells = tables.by_type(
        frame, "declaration_number", {n: n for n in sorted(set(frame.declaration_number))}, models, "Forms"
    )
    write_table(tex, csv, cells, left=cells.columns.get_loc("Forms") + 1, rows=frame)


def table_declaration_type(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy by type of declaration (Table 5).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "declaration_type"})
    cells = tables.by_type(
        frame, "declaration_type", present(DECLARATION_TYPES, frame.declaration_type), models, "Declaration"
    )
    write_table(tex, csv, cells, left=cells.columns.get_loc("Declaration") + 1, rows=frame)


def table_declarations(*, combinations: str, tex: str, csv: str, numbers: list):
    """Tabulate which forms are declared (Table 2).

    Write the table (LaTeX and CSV) of the configured combinations.
    """
    known = declarations.read(combinations)
    write_table(tex, csv, tables.declarations({number: known[number][0] for number in numbers}), left=2)


def table_declared_forms(*, declared_forms: str, tex: str, csv: str, models: dict):
    """Tabulate accuracies on declared and on undeclared forms.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(declared_forms)
    write_table(tex, csv, tables.declared_forms(rows, models), left=2, rows=rows)


def table_excerpts(*, excerpts: str, tex: str, csv: str):
    """Show excerpts of the text corpora (Table 12).

    Write those of nominative forms as a table (LaTeX) and all of them (CSV).
    """
    rows = files.read_csv(excerpts)
    files.write_csv(csv, rows)
    files.write_text(tex, latex.wrapped_table(tables.excerpts(rows), tables.EXCERPT_WIDTHS))


def table_fertility(*, regressions: str, tex: str, csv: str, models: dict):
    """Tabulate the regressions of accuracy on tokens.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(regressions)
    write_table(tex, csv, tables.fertility(rows, models), left=2, rows=rows)


def table_few_shot(*, accuracy_over_draws: str, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate accuracies with examples in the prompt (Table 13).

    Write the cells (LaTeX) and means with standard deviations over the draws of examples (CSV).

    Without examples both have the declaration that examples use, from ``accuracy``.
    """
    summary = files.read_csv(accuracy_over_draws)
    frame = figures.by_examples(figures.read(accuracy, ["shots"]), summary, templates)
    write_table(tex, csv, tables.few_shot(frame, models), left=2, rows=frame)


def table_forms(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy by pronoun form (Table 8).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "form"})
    cells = tables.by_type(frame, "form", present(FORMS, frame.form), models, "Form")
    write_table(tex, csv, cells, left=cells.columns.get_loc("Form") + 1, rows=frame)


def table_groups(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy on each pronoun group (Table 7).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type", "group"})
    cells = tables.groups(frame, models)
    write_table(tex, csv, cells, left=2, rows=frame)


def table_mixed_model(*, mixed_model: str, tex: str, csv: str, models: dict):
    """Tabulate the mixed model of correctness.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(mixed_model)
    write_table(tex, csv, tables.mixed_model(rows, models), left=1, rows=rows)


def table_model_pairs(*, model_pairs: str, tex: str, csv: str, models: dict):
    """Tabulate differences between models on the same instances.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(model_pairs)
    cells = paired_cells.pairs(rows, models, "pronoun_type", "Pronouns", tables.PRONOUNS)
    write_table(tex, csv, cells, left=2, rows=rows)


def table_models(*, tex: str, csv: str, models: dict):
    """Tabulate the run's models (Table 3).

    Write the cells (LaTeX) and the facts behind them (CSV).
    """
    rows = [
        {"model": name} | {key: facts[key] for key in ("family", "label", "architecture", "parameters")}
        for name, facts in models.items()
    ]
    write_table(tex, csv, tables.models(models), left=3, rows=pd.DataFrame(rows))


def table_name_class(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy by class of names (Table 10).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    table = figures.read(accuracy, ["name_class"])
    parts = [figures.pooled(table, templates, {"pronoun_type", "name_class", *more}) for more in (("group",), ())]
    frame = pd.concat(parts, ignore_index=True)
    cells = tables.name_class(frame, models)
    write_table(tex, csv, cells, left=cells.columns.get_loc("Pronouns") + 1, rows=frame)


def table_name_ranks(*, name_ranks: str, tex: str, csv: str):
    """Tabulate the names with the highest and the lowest accuracy on neo-pronouns (Table 9).

    Write both ends of the ranking (LaTeX) and all names (CSV); those of few instances are in the CSV alone.
    """
    ranked = files.read_csv(name_ranks)
    known = ranked[ranked.n >= tables.FEWEST]
    if known.empty:
        files.write_csv(csv, ranked)
        files.write_text(tex, NONE)
        return
    write_table(tex, csv, tables.names(*tables.ends(known)), rows=ranked, align="llrrllrr")


def table_normalisation(*, normalisation: str, tex: str, csv: str, models: dict):
    """Tabulate accuracies and decisions under each normalisation of the losses.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(normalisation)
    write_table(tex, csv, tables.normalisation(rows, models), left=3, rows=rows)


def table_power(*, power: str, tex: str, csv: str, models: dict):
    """Tabulate how small a difference the samples can show, and how many instances a given one needs.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(power)
    cells = paired_cells.power(rows, models, "pronoun_type", "Pronouns", tables.PRONOUNS)
    write_table(tex, csv, cells, left=2, rows=rows)


def table_printed_averages(*, printed_averages: str, tex: str, csv: str):
    """Tabulate which averages the study's printed numbers are.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(printed_averages)
    write_table(tex, csv, tables.printed_averages(rows), left=3, rows=rows)


def table_pronouns(*, pronouns: str, tex: str, csv: str, pronoun_sets: list):
    """Tabulate the forms of the pronoun groups (Table 1).

    Write the table (LaTeX and CSV) of the configured groups.
    """
    cells = tables.pronouns(tables.known_pronouns(pronouns, pronoun_sets))
    write_table(tex, csv, cells, left=len(cells.columns))


def table_reductions(*, reductions: str, tex: str, csv: str, models: dict):
    """Tabulate accuracies by the mean of a candidate's losses and by their sum.

    Write the cells (LaTeX) and the tidy rows (CSV).
    """
    rows = files.read_csv(reductions)
    write_table(tex, csv, tables.reductions(rows, models), left=2, rows=rows)


def table_templates(
    *,
    template_files: list,
    kinds: list,
    pronouns: str,
    combinations: str,
    pronoun_sets: list,
    types: list,
    numbers: list,
    wording: str,
    tex: str,
    csv: str,
):
    """List the templates (Table 14).

    Write the list (LaTeX and CSV); the other arguments are those of the script that makes the full sets.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    cells = tables.templates(loaded.templates.rows)
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, tables.TEMPLATE_WIDTHS))


def table_zero_shot(*, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Tabulate the accuracy by type of pronouns (Table 4).

    Write the cells (LaTeX) and the accuracies behind them (CSV).
    """
    frame = figures.pooled(figures.read(accuracy, ["accuracy"]), templates, {"pronoun_type"})
    cells = tables.zero_shot(frame[frame.model.isin([*models, ALL])], models)
    write_table(tex, csv, cells, left=1, rows=frame)


def published_vs_ours(
    *,
    published: str,
    mapping: str,
    study_models: str,
    accuracy: str,
    corpus_counts: str,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    pronoun_sets: list,
):
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
        obstacles={"likelihood": study.obstacle(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run_named()
