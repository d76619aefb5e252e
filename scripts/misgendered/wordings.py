"""Count how many templates the choice between the wordings of declarations changes, and why."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib import instances
from scripts.misgendered.lib import wordings as compared


def main(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wordings: str,
):  # fmt: skip
    """Write the table to ``wordings``; the other arguments are those of the full sets' script."""
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers, "faithful")
    files.write_csv(wordings, compared.table(loaded.templates, loaded.declarations))


if __name__ == "__main__":
    run(main)
