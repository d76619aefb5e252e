"""What ``--help`` says of scripts: each argument, and how it is written."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from scripts.core.workflow import job
from tests import forks

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


RULE_SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "scripts").rglob("*.py")
    if re.search(r"^    run(\(main|_named\()\)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    and path != ROOT / "scripts/core/workflow/job.py"
)
RULE_FUNCTIONS = [
    pytest.param(module, function, id=module.__name__ if name == "main" else f"{module.__name__}-{name}")
    for module in map(importlib.import_module, RULE_SCRIPTS)
    for name, function in job.rule_functions(module).items()
]
TYPES = {"str", "int", "float", "bool", "list", "dict", "str or None", "list of str", "list of dict", "dict of str"}


@pytest.mark.parametrize(("module", "function"), RULE_FUNCTIONS)
def test_every_argument_of_every_rule_script_is_described(module, function):
    actions = job._parser(function, module)._actions[1:]
    assert {action.dest for action in actions} == inspect.signature(function).parameters.keys()
    bare = [action.dest for action in actions if not described(action.help)]
    assert not bare, f"describe {', '.join(bare)} in the function's docstring or in scripts/core/workflow/arguments.py"
    assert all(re.fullmatch(r"[A-Z_a-z|]+", action.metavar) for action in actions)


def described(text):
    """Tell whether the help of an argument says more than its type and its default: words, a file or literals."""
    words = re.sub(r"(; )?(required|default: .*)$", "", text, flags=re.DOTALL)
    return bool(re.search(r"\w+ \w+|\w/\w|``", words)) and words not in TYPES


def test_an_argument_without_a_description_is_seen():
    """The check itself."""
    assert described("the table to write; required")
    assert not described("required") and not described("default: null") and not described("list of str; required")


@pytest.mark.parametrize("script", CALLED)
def test_every_argument_is_described(script):
    done = forks.run_module(f"scripts.{script}", ["--help"], ROOT, kind="job", apart=True)
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

        Args:
            table: The file to write, in two lines.
            draws, models: Shared by both.

        Raises:
            UserError
        """

    prose, described = job._documentation(main)
    assert prose == "Write a table.\n\nIt has one row for each model."
    assert described == {
        "table": "The file to write, in two lines",
        "draws": "Shared by both",
        "models": "Shared by both",
    }
    assert job._documentation(lambda: None) == ("", {})
    text = "Write ``table``. ``draws`` and\n``models`` (CSV)\nare read; ``note`` is not."
    assert job._clause(text, "table") == "Write ``table``"
    assert job._clause(text, "models") == "``draws`` and ``models`` (CSV) are read"
    assert (job._clause(text, "note"), job._clause(text, "no")) == ("``note`` is not", "")
    assert [job._shape(kind) for kind in main.__annotations__.values()] == [
        "TEXT",
        "INTEGER",
        "JSON_OBJECT",
        "TEXT|null",
    ]
