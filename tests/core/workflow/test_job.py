"""Scripts run from the command line as they do under Snakemake."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted(
    p.relative_to(ROOT)
    for p in (ROOT / "scripts").rglob("*.py")
    if ("run(main)" in (text := p.read_text(encoding="utf-8")) or "run_named()" in text) and p.name != "job.py"
)


def test_every_script_has_a_docstring_and_ends_by_running_a_function():
    assert len(SCRIPTS) > 50
    for path in SCRIPTS:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.args.kwonlyargs and not n.args.args]
        assert functions, f"{path}: functions of rules take keyword-only arguments"
        assert all(ast.get_docstring(function) for function in functions), path
        named = [function.name for function in functions]
        assert ("run(main)" in ast.unparse(tree.body[-1])) == (named == ["main"]), path


def test_a_script_that_no_rule_runs_says_how_to_run_a_job_again():
    command = [sys.executable, "-m", "scripts.ruff.tables", "table"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "python -m scripts.replay RECORD" in done.stderr


UNDER_SNAKEMAKE = """
import atexit, sys, warnings
from pathlib import Path
import pandas
from types import SimpleNamespace
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run

snakemake = SimpleNamespace(
    rule="say", wildcards={}, input={}, output={}, params={}, log=["job.log"], threads=1, resources={},
)

def main():
    atexit.register(lambda: print("after the log was closed", file=sys.stderr))
    print("a bar of progress", file=sys.stderr)
    log.info("a line")
    print(__file__, pandas.__file__, sys.prefix, Path.home(), file=sys.stderr)
    warnings.warn("careful")
    raise {"user": UserError("x.tsv: row 3 is empty"), "defect": ValueError("a\\ntraceback")}[sys.argv[1]]

run(main)
"""


@pytest.mark.parametrize(
    ("kind", "last", "kept"),
    [
        ("user", "Error: x.tsv: row 3 is empty", "ERROR x.tsv: row 3 is empty"),
        ("defect", "Error: traceback", "ValueError: a"),
    ],
)
def test_a_job_says_warnings_and_errors_in_one_line_and_logs_all(tmp_path, kind, last, kept):
    (tmp_path / "job.py").write_text(UNDER_SNAKEMAKE)
    (tmp_path / "job.log").write_text("of an earlier run\n")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "SLURMD_NODENAME": "n1", "SLURM_JOB_ID": "7"}
    done = subprocess.run(
        [sys.executable, "job.py", kind], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stdout == ""
    warning, error = done.stderr.splitlines()
    assert re.fullmatch(r"Warning: \./job\.py:\d+: UserWarning: careful", warning) and error == last
    text = (tmp_path / "job.log").read_text()
    assert "of an earlier run" not in text
    for line in ("node n1, Slurm job 7, GPUs none", "a bar of progress", "INFO a line", "memory high-water mark", kept):
        assert line in text
    assert ("Traceback" in text) == (kind == "defect")
    # Of a defect, too.
    for folder in (tmp_path, ROOT, sys.prefix, Path.home()):
        assert str(folder) not in text
    assert text.endswith("after the log was closed\n")
