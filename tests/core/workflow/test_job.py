"""Scripts run from the command line as they do under Snakemake."""

import platform
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


def command(module, *arguments):
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_every_script_has_a_docstring_and_ends_by_running_a_function(path):
    import ast

    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.args.kwonlyargs and not n.args.args]
    assert functions, "functions of rules take keyword-only arguments"
    assert all(ast.get_docstring(function) for function in functions)
    assert ("run(main)" in ast.unparse(tree.body[-1])) == ([function.name for function in functions] == ["main"])


def test_help_lists_the_arguments():
    done = command("scripts.ruff.analyses", "scaling", "--help")
    assert done.returncode == 0
    for word in ("--accuracy", "--scaling", "--models"):
        assert word in done.stdout


def test_a_module_of_several_rules_takes_the_name_of_one_first():
    done = command("scripts.ruff.tables", "--help")
    assert done.returncode == 0
    assert "table_power" in done.stdout and "Tabulate the tests between pronoun sets." in done.stdout
    done = command("scripts.ruff.tables", "table_power", "--help")
    assert done.returncode == 0 and "table_power [-h]" in done.stdout and "--power TEXT" in done.stdout
    done = command("scripts.ruff.tables", "table_powr")
    assert done.returncode == 2 and "invalid choice: 'table_powr'" in done.stderr


def test_user_errors_are_one_line(tmp_path):
    done = command(
        "scripts.ruff.analyses",
        "scaling",
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


UNDER_SNAKEMAKE = """
import logging, sys, warnings
from types import SimpleNamespace
from scripts.core.workflow.job import ROOT, log, run

snakemake = SimpleNamespace(
    rule="say", wildcards={}, input={}, output={}, params={}, log=["job.log"], threads=1, resources={},
)

def main():
    from pathlib import Path
    log.info("root %s, below it %s, here %s, at home %s", ROOT, ROOT / "config.yaml", Path("x").absolute(), Path.home())
    log.info("the environment %s/lib", sys.prefix)
    log.info("another folder: %s-other/x and /elsewhere%s/x", ROOT, ROOT)
    warnings.warn("careful")
    raise ValueError("a traceback")

run(main)
"""


def test_a_log_names_neither_machine_nor_folders(tmp_path, monkeypatch):
    home = tmp_path / "home/alice"
    run = home / "runs/first"
    run.mkdir(parents=True)
    (run / "job.py").write_text(UNDER_SNAKEMAKE)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(home)}
    done = subprocess.run([sys.executable, run / "job.py"], cwd=run, env=environment, capture_output=True, check=False)
    assert done.returncode == 1
    text = (run / "job.log").read_text()
    assert "root ., below it config.yaml, here x, at home ~" in text
    assert "ValueError: a traceback" in text and "careful" in text
    # What only looks like the folder is told as it is.
    assert f"another folder: {ROOT}-other/x and /elsewhere{ROOT}/x" in text
    inside = Path(sys.prefix).is_relative_to(ROOT)
    assert f"the environment {Path(sys.prefix).relative_to(ROOT) if inside else '<environment>'}/lib" in text
    text = text.replace(f"{ROOT}-other/x", "").replace(f"/elsewhere{ROOT}/x", "")
    for secret in (str(ROOT), str(home), platform.release()):
        assert secret not in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)
    assert "node" not in text
    # An environment elsewhere, as a link or not.
    (run / "job.py").write_text(f"import sys\nsys.prefix = '/opt/shared/env'\n{UNDER_SNAKEMAKE}")
    subprocess.run([sys.executable, run / "job.py"], cwd=run, env=environment, capture_output=True, check=False)
    assert "the environment <environment>/lib" in (run / "job.log").read_text()
    environment |= {"SLURMD_NODENAME": "n1", "SLURM_JOB_ID": "7"}
    subprocess.run([sys.executable, run / "job.py"], cwd=run, env=environment, capture_output=True, check=False)
    assert "node n1, Slurm job 7, GPUs none" in (run / "job.log").read_text()
