"""What the tables of examples show (Figures 1 and 2 of the paper): instances with what a model picks, and the steps."""

import pandas as pd

from scripts.core.data.options import SLOT, fill
from scripts.misgendered.lib import declarations
from scripts.misgendered.lib import instances as assembly
from scripts.misgendered.lib.labels import DECLARATION_TYPES, NAME_CLASSES, SHORT, TYPES, present

EXAMINED = [
    "instance_id", "pronoun_type", "declaration_type", "declaration_number", "form", "gold", "picked", "correct",
]  # fmt: skip
"""Columns of predictions that :func:`evaluation_examples` takes."""
EXAMPLE_WIDTHS = [0.1, 0.42, 0.15, 0.17]
FRAMEWORK_WIDTHS = [0.18, 0.72]
"""Columns of the tables, in parts of a column of the page."""


def evaluation_examples(predictions: pd.DataFrame, instances: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return one row for each form: a model's pick on the first instance by a stated rule.

    Neo-pronouns come first, then explicit declarations, then those of most forms, then the lowest instance id.

    Returns:
        ``form``, ``instance_id``, ``text``, ``gold``, ``picked``, ``correct``.
    """
    rows = predictions[(predictions.model == model) & (predictions.shots == 0)]
    rows = rows.merge(instances[["instance_id", "text"]].drop_duplicates("instance_id"), on="instance_id")
    first = first_instances(rows).set_index("form").loc[list(present(SHORT, rows.form))].reset_index()
    return first[["form", "instance_id", "text", "gold", "picked", "correct"]]


def first_instances(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first instance of each form."""
    rows = rows.assign(other=rows.pronoun_type != "neo", behind=rows.declaration_type != "explicit")
    rows = rows.sort_values(
        ["other", "behind", "declaration_number", "instance_id"], ascending=[True, True, False, True]
    )
    return rows.drop_duplicates("form")


def as_written(text: str, form: str) -> str:
    """Return a form as it stands in the slot of a text."""
    before = text.partition("___")[0]
    return fill(text, form)[len(before) : len(before) + len(form)]


def framework_steps(loaded: assembly.Instances, wording: str) -> list[tuple[str, str]]:
    """Return how instances are made and models asked, step by step: pairs of a head and its text.

    The template is the first of the accusative (or of what comes first without one), the names are the first of each
    class, and the group is the first neo-pronoun (or the last group).
    """
    rows = loaded.templates.rows
    template = next((row for row in rows if row.form == "acc"), rows[0])
    groups = loaded.groups
    group = next((name for name in groups if groups[name].type == "neo"), list(groups)[-1])
    by_class = {
        name_class: [entry["name"] for entry in loaded.names if entry["name_class"] == name_class]
        for name_class in NAME_CLASSES
    }
    names = "\n".join(
        f"{NAME_CLASSES[name_class]} ({len(names)}): {', '.join(names[:3])}, …"
        for name_class, names in by_class.items()
    )
    of_type = {kind: [name for name in groups if groups[name].type == kind] for kind in TYPES}
    pronouns = "\n".join(f"{TYPES[kind]}: {', '.join(members)}" for kind, members in of_type.items() if members)
    name = by_class["unisex"][0]
    texts = []
    for kind, label in DECLARATION_TYPES.items():
        way = next((way for way in loaded.declarations if way.kind == kind), None)
        if way:
            pattern = declarations.pattern(kind, template.text, wording)
            said = declarations.declared_forms(way, groups[group])
            text = pattern.replace(declarations.DECLARED_SLOT, said).replace(declarations.NAME, name)
            texts.append(f"{label}: {text}")
    forms = list(dict.fromkeys(groups[other][template.form] for other in groups))
    return [
        ("Template", template.text),
        ("Names", names),
        ("Pronoun groups", pronouns),
        ("Instances", "\n".join(texts)),
        (f"Candidates for {SLOT}", ", ".join(forms)),
        ("Model", f"predicts the candidate with the lowest mean loss; right: {groups[group][template.form]}"),
    ]
