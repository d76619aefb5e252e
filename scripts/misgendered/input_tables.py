"""The paper's tables of what instances are made of, of corpora and of models: cells (LaTeX) and rows (CSV)."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.paper.formats import MISSING_MARK, format_number
from scripts.core.paper.tables import blank_repeats, write_table
from scripts.core.workflow.job import run_named
from scripts.misgendered import corpora, instances
from scripts.misgendered.assembly import Instances
from scripts.misgendered.study import SHORT, TYPES, levels_in
from scripts.misgendered.tables import blank_labels, pivot


def input_tables(
    *, template_files: list, pronouns: str, combinations: str, pronoun_sets: list, declared: dict,
    corpus_counts: str, tex: list[str], csv: list[str], models: dict,
) -> None:  # fmt: skip
    """Write the tables of pronouns, declarations, templates, corpora and models."""
    loaded = instances.load(template_files, pronouns, combinations, pronoun_sets, declared)
    paths = {Path(path).stem: (path, other) for path, other in zip(tex, csv, strict=True)}
    write_pronouns(*paths["pronouns"], loaded)
    write_declarations(*paths["declarations"], loaded)
    write_templates(*paths["templates"], loaded)
    write_counts(*paths["corpus_counts"], files.read_csv(corpus_counts), pronoun_sets)
    write_models(*paths["models"], models)


def write_pronouns(tex: str, csv: str, loaded: Instances) -> None:
    """Table 1: the forms of each pronoun group."""
    groups = loaded.groups
    order = [group for kind in TYPES for group in groups if groups[group].type == kind]
    rows = [[TYPES[groups[group].type], *(groups[group][form] for form in SHORT)] for group in order]
    cells = pd.DataFrame(rows, columns=["Type", *SHORT.values()])
    write_table(tex, csv, cells.assign(Type=blank_repeats(cells.Type)), left=len(cells.columns))


def write_declarations(tex: str, csv: str, loaded: Instances) -> None:
    """Table 2: the combinations of forms that are declared."""
    declared = dict.fromkeys(declaration.forms for declaration in loaded.declarations)
    rows = [(len(forms), ", ".join(SHORT[form] for form in forms)) for forms in declared]
    write_table(tex, csv, pd.DataFrame(rows, columns=["Forms", "Declared"]), left=2)


def write_templates(tex: str, csv: str, loaded: Instances) -> None:
    """Table 14: the templates of each form."""
    order = sorted(loaded.templates.rows, key=lambda row: list(SHORT).index(row.form))
    cells = pd.DataFrame([(SHORT[row.form], row.text) for row in order], columns=["Form", "Template"])
    cells = cells.assign(Form=blank_repeats(cells.Form))
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.1, 0.86]))


def write_counts(tex: str, csv: str, counts: pd.DataFrame, pronoun_sets: list[str]) -> None:
    """Table 11: documents that hold each form of a group (summed), any form, and the nominative."""
    heads = {(corpora.SUM, corpora.ANY): "sum", (corpora.DOCUMENTS, corpora.ANY): "any form"}
    heads |= {(corpora.DOCUMENTS, "nom"): "nominative"}
    shown = [(quantity, form) in heads for quantity, form in zip(counts.quantity, counts.form, strict=True)]
    rows = counts[shown].astype({"form": object})
    head = [f"{row.label}: {heads[row.quantity, row.form]}" for row in files.iterate_rows(rows)]
    columns = dict.fromkeys(f"{label}: {head}" for label in rows.label.unique() for head in heads.values())
    factors = {
        "Type": ("pronoun_type", levels_in(TYPES, rows.pronoun_type)),
        "Group": ("group", {group: group for group in pronoun_sets}),
    }
    rows = rows.assign(head=head, text=[format_number(count, 0) for count in rows["count"]])
    cells = pivot(rows, factors, "head", {name: name for name in columns}, ["text"])
    write_table(tex, csv, blank_labels(cells, 2), 2, rows=counts)


def write_models(tex: str, csv: str, models: Mapping[str, Mapping]) -> None:
    """Table 3: the run's models."""
    rows = pd.DataFrame([{"model": name, **facts} for name, facts in models.items()])
    columns = ["model", "family", "label", "architecture", "parameters"]
    write_table(tex, csv, model_cells(models), left=3, rows=rows[columns])


def model_cells(models: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return the cells of Table 3; the number of parameters of some models is not known."""
    heads = {"family": "Family", "label": "Model", "architecture": "Architecture", "parameters": "Parameters"}
    rows = pd.DataFrame(list(models.values()))[[*heads]]
    sizes = [f"{size / 1e6:,.0f}M" if size else MISSING_MARK for size in rows.parameters]
    return rows.assign(parameters=sizes).rename(columns=heads)


if __name__ == "__main__":
    run_named()
