"""What ``--help`` says of the scripts that users call: each argument, and how it is written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core import job

ROOT = Path(__file__).parents[1]
CALLED = ("audit", "check_config", "ruff.check_templates", "scoring.score", "prompting.prompt")


def arguments(printed):
    """Return ``{argument: (shape, description)}`` of what ``--help`` printed; the shape of a switch is empty."""
    listed = re.split(r"^(?:positional arguments|options):\n", printed, flags=re.MULTILINE)[1:]
    entries = re.findall(r"^  (?=\S)(.*(?:\n {4,}.*)*)", "\n".join(listed), flags=re.MULTILINE)
    found = {}
    for entry in entries:
        head, _, description = re.sub(r"\n +", "  ", entry, count=1).partition("  ")
        name, _, shape = head.partition(" ")
        found[name] = (shape, " ".join(description.split()))
    return found


@pytest.mark.parametrize("script", CALLED)
def test_every_argument_is_described(script):
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{script}", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = arguments(done.stdout)
    assert len(found) > 1
    bare = {name: entry for name, entry in found.items() if not re.search(r"\w+ \w+", entry[1].split(";")[0])}
    assert not bare
    shapes = {name: shape for name, (shape, _) in found.items() if name.startswith("--")}
    assert not {name for name, shape in shapes.items() if re.search("STR|DICT|LIST\\b(?<!JSON_LIST)", shape)}


def test_parameters_are_read_from_the_docstring():
    def main(*, table: str, draws: int, models: dict, note: str | None = None):
        """Write a table.

        It has one row for each model.

        Parameters
        ----------
        table : str
            The file to write, in
            two lines.
        draws, models : int
            Shared by both.
        note : str or None

        Raises
        ------
        UserError
        """

    prose, described = job._documentation(main)
    assert prose == "Write a table.\n\nIt has one row for each model."
    assert described == {
        "table": "The file to write, in two lines",
        "draws": "Shared by both",
        "models": "Shared by both",
        "note": "str or None",
    }
    assert job._documentation(lambda: None) == ("", {})
    assert [job._shape(kind) for kind in main.__annotations__.values()] == [
        "TEXT",
        "INTEGER",
        "JSON_OBJECT",
        "TEXT|null",
    ]
