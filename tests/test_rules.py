"""The conventions that make the house readable: one name finds the rule, its script, its log and its benchmark."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RULES = {}
for _path in sorted((ROOT / "rules").glob("*.smk")):
    for _name, _body in re.findall(
        r"^(?:    )?rule (\w+):\n(.*?)(?=^\S|\Z)", _path.read_text(), flags=re.MULTILINE | re.DOTALL
    ):
        RULES[_name] = _body
ORDER = ["input", "output", "log", "benchmark", "conda", "threads", "resources", "params", "script"]


@pytest.mark.parametrize("name", RULES)
def test_directives_are_complete_and_in_order(name):
    found = re.findall(r"^\s{4,8}(\w+):", RULES[name], flags=re.MULTILINE)
    directives = [d for d in found if d in ORDER]
    assert directives == sorted(directives, key=ORDER.index)
    # What only reports has no output, so that it runs whenever it is asked for.
    for needed in ("log", "threads", "script") if name == "audit" else ("output", "log", "threads", "script"):
        assert needed in directives, f"rule {name} has no {needed}"


@pytest.mark.parametrize("name", RULES)
def test_script_and_log_have_the_name_of_the_rule(name):
    script = re.search(r'"\.\./(scripts/[\w/]+\.py)"', RULES[name]).group(1)
    assert (ROOT / script).is_file()
    wing, stem = Path(script).parent.name, Path(script).stem
    assert name in (stem, f"{wing}_{stem}")
    assert f"results/logs/{name}/" in RULES[name] or f"results/logs/{name}." in RULES[name]
    if "benchmark:" in RULES[name]:
        assert f"results/benchmarks/{name}/" in RULES[name]


@pytest.mark.parametrize("name", RULES)
def test_rules_carry_the_digests_of_their_code(name):
    script = re.search(r'"\.\./(scripts/[\w/]+\.py)"', RULES[name]).group(1)
    assert f'_code=code("{script}")' in RULES[name]


def test_every_figure_of_the_loop_has_its_script():
    text = (ROOT / "rules/ruff.smk").read_text()
    names = re.findall(r'^    "(\w+)": \(\[', text, flags=re.MULTILINE)
    assert len(names) >= 10
    for name in names:
        assert (ROOT / f"scripts/ruff/figure_{name}.py").is_file()


def test_scripts_never_read_the_global_config():
    for path in (ROOT / "scripts").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "snakemake.config" not in text, path
        assert "load_yaml(" not in text or path.name in ("config.py", "registry.py"), path
