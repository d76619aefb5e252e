"""What the tables of examples show (Figures 1 and 2 of the paper): instances with what a model picks, and the steps."""

import pandas as pd

from scripts.core.data.options import SLOT, fill_slot
from scripts.misgendered import declarations
from scripts.misgendered.assembly import Instances
from scripts.misgendered.study import CLASS_LABELS, DECLARATION_TYPES, SHORT, TYPES, levels_in

EXAMINED = [
    "instance_id", "pronoun_type", "declaration_type", "declaration_number", "form", "gold", "picked", "correct",
]  # fmt: skip
"""Columns of predictions that examples are chosen by and show."""


def first_instances(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first instance of each form, of one model's predictions.

    Neo-pronouns come first, then explicit declarations, then those of most forms, then the lowest instance id.
    """
    rows = rows.assign(
        other=rows.pronoun_type != "neo",
        behind=rows.declaration_type != "explicit",
        declared=rows.declaration_number.astype(str).str[0].astype(int),
    )
    rows = rows.sort_values(["other", "behind", "declared", "instance_id"], ascending=[True, True, False, True])
    return rows.drop_duplicates("form")


def with_texts(first: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return ``form``, ``instance_id``, ``text``, ``gold``, ``picked``, ``correct`` of these instances by form."""
    rows = first.merge(instances[["instance_id", "text"]].drop_duplicates("instance_id"), on="instance_id")
    rows = rows.set_index("form").loc[list(levels_in(SHORT, rows.form))].reset_index()
    return rows[["form", "instance_id", "text", "gold", "picked", "correct"]]


def as_written(text: str, form: str) -> str:
    """Return a form as it stands in the slot of a text."""
    before = text.partition(SLOT)[0]
    return fill_slot(text, form)[len(before) : len(before) + len(form)]


def framework_steps(loaded: Instances) -> list[tuple[str, str]]:
    """Return how instances are made and models asked, step by step: pairs of a head and its text.

    The template is the first of the accusative (or of what comes first without one), the names are the first of each
    class, and the group is the first neo-pronoun (or the last group).
    """
    rows, groups = loaded.templates.rows, loaded.groups
    template = next((row for row in rows if row.form == "acc"), rows[0])
    group = next((name for name in groups if groups[name].type == "neo"), list(groups)[-1])
    by_class = {
        name_class: [entry["name"] for entry in loaded.names if entry["name_class"] == name_class]
        for name_class in CLASS_LABELS
    }
    of_type = {kind: [name for name in groups if groups[name].type == kind] for kind in TYPES}
    texts = []
    for kind, label in DECLARATION_TYPES.items():
        way = next((way for way in loaded.declarations if way.kind == kind), None)
        if way:
            text = declarations.pattern(kind, template.text, loaded.wording)
            said = declarations.declared_forms(way, groups[group])
            text = text.replace(declarations.DECLARED_SLOT, said).replace(declarations.NAME, by_class["unisex"][0])
            texts.append(f"{label}: {text}")
    names = [f"{CLASS_LABELS[kind]} ({len(of)}): {', '.join(of[:3])}, …" for kind, of in by_class.items()]
    pronouns = [f"{TYPES[kind]}: {', '.join(members)}" for kind, members in of_type.items() if members]
    forms = dict.fromkeys(groups[other][template.form] for other in groups)
    return [
        ("Template", template.text),
        ("Names", "\n".join(names)),
        ("Pronoun groups", "\n".join(pronouns)),
        ("Instances", "\n".join(texts)),
        (f"Candidates for {SLOT}", ", ".join(forms)),
        ("Model", f"predicts the candidate with the lowest mean loss; right: {groups[group][template.form]}"),
    ]
