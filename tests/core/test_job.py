"""Scripts run from the command line as they do under Snakemake."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    p.relative_to(ROOT)
    for p in (ROOT / "scripts").rglob("*.py")
    if "run(main)" in p.read_text(encoding="utf-8") and p.name != "job.py"
)


def command(module, *arguments):
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_every_script_has_a_docstring_and_ends_by_running_main(path):
    import ast

    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    main = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main")
    assert ast.get_docstring(main)
    assert not main.args.args, "main takes keyword-only arguments"


def test_help_lists_the_arguments():
    done = command("scripts.ruff.scaling", "--help")
    assert done.returncode == 0
    for word in ("--accuracy", "--scaling", "--models"):
        assert word in done.stdout


def test_user_errors_are_one_line(tmp_path):
    done = command(
        "scripts.ruff.scaling",
        "--accuracy",
        str(tmp_path / "none.csv"),
        "--scaling",
        str(tmp_path / "x.csv"),
        "--models",
        "{}",
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "none.csv" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
