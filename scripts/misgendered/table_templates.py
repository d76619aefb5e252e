"""List the templates (Table 14)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.misgendered.lib import instances, tables


def main(
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
    """Write the list (LaTeX and CSV); the other arguments are those of the script that makes the full sets."""
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, wording)
    cells = tables.templates(loaded.templates.rows)
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, tables.TEMPLATE_WIDTHS))


if __name__ == "__main__":
    run(main)
