"""Check RUFF's own template files against the constraints of the paper and list everything that breaks one.

    python -m scripts.ruff.check_templates [FOLDER]

The rules are those of :func:`scripts.ruff.template_checks.find_problems`. Jobs that make instances refuse such files as
well, but stop at the first problem.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.ruff.template_checks import find_problems
from scripts.ruff.templates import read_replica

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per problem, or how many templates are fine; return 1 if there is a problem."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.ruff.check_templates",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "templates", help="default: the project's own")
    folder = parser.parse_args(arguments).folder
    tables = (folder / "ruff/task.tsv", folder / "ruff/context.tsv", folder / "occupations.tsv")
    try:
        templates = read_replica(*tables)
        problems = find_problems(templates, read_pronouns(folder / "pronouns.tsv"))
    except UserError as error:
        problems = [str(error)]
    if problems:
        print(*(f"Error: {problem}" for problem in problems), sep="\n", file=sys.stderr)
        return 1
    contexts = sum(map(len, templates.contexts.values()))
    print(f"{len(templates.tasks)} task sentences and {contexts} context templates are fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
