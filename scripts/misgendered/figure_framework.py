"""Draw how instances are made and models asked (Figure 2), with parts of this run's own files."""

import pandas as pd

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.options import SLOT
from scripts.misgendered.lib import declarations, figures
from scripts.misgendered.lib import instances as assembly
from scripts.misgendered.lib.labels import DECLARATION_TYPES, NAME_CLASSES, TYPES

CHARACTERS = 56
LINE, SIZE = 0.128, 7
NAMES_SHOWN = 3


def parts(loaded, wording):
    """Return the boxes of the figure from the top down: a head and its text.

    The template is the first of the accusative (or of what comes first without one), the names are the first of each
    class, and the group is the first neo-pronoun (or the last group).

    Parameters
    ----------
    loaded : scripts.misgendered.lib.instances.Instances
    wording : str

    Returns
    -------
    list of (str, str)
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
        f"{NAME_CLASSES[name_class]} ({len(names)}): {', '.join(names[:NAMES_SHOWN])}, …"
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
            said = declarations.declared(way, groups[group])
            text = pattern.replace(declarations.DECLARED, said).replace(declarations.NAME, name)
            texts.append(f"{label}: {text}")
    forms = list(dict.fromkeys(groups[other][template.form] for other in groups))
    return [
        ("Template", template.text),
        ("Names", names),
        ("Pronoun groups", pronouns),
        ("Instances", "\n".join(texts)),
        (f"Candidates for {SLOT}", ", ".join(forms)),
        ("Model", f"picks the candidate with the lowest mean loss; right: {groups[group][template.form]}"),
    ]


@plotting.style()
def draw(boxes):
    """Draw the boxes with arrows between them."""
    texts = ["\n".join(figures.wrapped(line, CHARACTERS) for line in text.split("\n")) for _, text in boxes]
    heights = [LINE * (text.count("\n") + 2) + 0.1 for text in texts]
    gap, width = 0.14, plotting.COLUMN
    total = sum(heights) + gap * (len(heights) - 1) + 0.04
    drawn, ax = figures.canvas(width, total)
    top = total - 0.02
    for index, ((head, _), text, height) in enumerate(zip(boxes, texts, heights, strict=True)):
        figures.box(ax, 0.03, top - height, width - 0.06, height, "#F4F4F4" if index in (3, 5) else "white")
        ax.text(0.1, top - 0.05, head, fontsize=SIZE, fontweight="bold", va="top")
        ax.text(0.1, top - 0.05 - LINE, text, fontsize=SIZE, va="top", linespacing=1.15)
        top -= height
        if index + 1 < len(boxes):
            arrow = {"arrowstyle": "-|>", "color": plotting.GREY, "linewidth": 0.8, "mutation_scale": 7}
            ax.annotate("", (width / 2, top - gap), (width / 2, top), arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0})
        top -= gap
    return drawn


def main(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wording: str, pdf: str, png: str, csv: str,
):  # fmt: skip
    """Draw the figure; its arguments are those of the script that makes the full sets."""
    given = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    boxes = parts(loaded, wording)
    plotting.save(draw(boxes), pd.DataFrame(boxes, columns=["part", "text"]), pdf, png, csv)


if __name__ == "__main__":
    run(main)
