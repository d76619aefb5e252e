"""README, CONTRIBUTING, the pages of docs/ and examples in docstrings: what can be checked without a run."""

import doctest
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.core import config
from scripts.core.workflow import studies
from tests import attacks, pages

ROOT = Path(__file__).parents[1]
# Commands in the prose that are in no block, and what types them; those of make and hf are asked below.
MENTIONED = {
    "snakemake plan": "docs/running.md, with cores",
    "snakemake --cores 2 --rerun-incomplete": "tests/workflow/test_readme.py",
    "snakemake --cores 2 --quiet rules host": "tests/workflow/test_readme.py",
    "snakemake --cores 2 -R ruff_figures": "tests/workflow/test_readme.py",
    "python -m scripts.audit FILE": "docs/audit.md has files in its place",
    "python -m tests.attacks": "tests/test_docs.py lists the same",
    "python -m tests.golden --check STUDY --store": "tests/golden/test_golden.py asks for its help",
}
ASKED = ("make ", "hf ")


def anchors(text):
    """Return the anchors of a page's headings as forges make them."""
    heads = re.findall(r"^#+ (.+)$", pages.FENCE.sub("", text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_readme_is_short_and_links_every_page():
    assert len(pages.read("README.md").splitlines()) <= 150
    linked = set(re.findall(r"\]\(([^)#]+)", pages.read("README.md")))
    assert {page for page in pages.PAGES if page != "README.md"} <= linked


def test_links_and_named_files_exist():
    lost = []
    for page in [*pages.PAGES, "CHANGELOG.md"]:
        for linked, shown in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", pages.read(page)):
            path, _, anchor = (linked or shown).partition("#")
            file = (ROOT / page).parent / path if path else ROOT / page
            there = file.is_file() and (not anchor or anchor in anchors(file.read_text(encoding="utf-8")))
            lost += [] if there or path.startswith("https://") else [f"{page}: {linked or shown}"]
        # Files that the prose names; what is made, and places with <variables> or NAMES, are not there.
        for span in re.findall(r"(?<!`)`([\w./-]+/[\w./-]*)`", pages.prose(page)):
            made = re.match(
                r"results|runs|release|checkpoints|profiles|\.site|\.snakemake|completions|\.durations/", span
            )
            lost += [] if made or (ROOT / span).exists() else [f"{page}: {span}"]
    assert not lost


def test_every_block_has_a_kind():
    for page in pages.PAGES:
        fences = re.findall(r"^ *```", pages.read(page), flags=re.MULTILINE)
        assert len(fences) == 2 * len(pages.blocks(page)), f"{page}: a block without an info string"
        for block in pages.blocks(page):
            assert block.info in pages.KINDS or block.file, f"{page}:{block.line}: {block.info!r} is no kind of block"


def test_every_command_in_the_prose_is_typed_somewhere():
    typed = {command for page in pages.PAGES for block in pages.blocks(page) for _, command in block.commands}
    for page in pages.PAGES:
        for command in pages.inline(page):
            known = command in MENTIONED or command.startswith(ASKED)
            known = known or any(re.search(rf"(^|/){re.escape(command)}( |$)", line) for line in typed)
            assert known, f"{page}: `{command}` is in no block and not in MENTIONED"


def test_commands_without_a_kind_and_broken_ones_are_seen():
    """The checks themselves."""
    page = (
        "```bash\nsnakemake\n```\n\n- x\n\n  ```bash run\n  snakemake -n  # dry\n  # nothing\n  ```\n`make tee`, `x`\n"
    )
    plain, indented = pages.blocks("x.md", page)
    assert plain.info not in pages.KINDS
    assert (indented.line, indented.commands) == (8, [(8, "snakemake -n")])
    assert pages.inline("x.md", page) == ["make tee"]


MACHINE = sorted(
    {
        command
        for page in pages.PAGES
        for block in pages.blocks(page) if block.info == "bash machine"
        for _, command in block.commands
    }
    | {command for page in pages.PAGES for command in pages.inline(page) if command.startswith(ASKED)}
)  # fmt: skip
PYTEST = [command for command in MACHINE if command.startswith("pytest ")]


def test_commands_of_pytest_find_tests():
    """All their paths together, because every start of pytest costs seconds."""
    words = dict.fromkeys(word for command in PYTEST for word in command.split()[1:])
    paths = [word for word in words if word.endswith(".py")]
    assert words.keys() - paths <= {"-s", "-m", "workflow"}
    line = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--override-ini", "addopts=", *paths]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    for path in paths:
        assert re.search(rf"^{re.escape(path)}::", done.stdout, flags=re.MULTILINE), path


@pytest.mark.parametrize("command", [command for command in MACHINE if command not in PYTEST])
def test_commands_that_change_the_machine_are_known(command):
    """make says what it would run; of other programs the arguments are read."""
    program, *arguments = command.split()
    if program == "make":
        line = ["make", "--dry-run", *arguments]
    elif program == "hf":
        line = [Path(sys.executable).parent / "hf", *arguments, "--help"]
    elif program == "podman":
        # No container is at hand: the recipe is there, and the results are mounted where it makes them.
        recipe = (ROOT / "Containerfile").read_text(encoding="utf-8")
        place = re.search(r"^WORKDIR (\S+)$", recipe, flags=re.MULTILINE).group(1)
        assert arguments[-1] == "." or f'"$PWD/results:{place}/results"' in arguments
        assert arguments[0] in ("build", "run") and "pronouns" in arguments
        return
    else:
        line = [Path(sys.executable).parent / program, *arguments, "--help"]
    if program == "make" and shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_files_in_the_pages_are_valid():
    registry, whole = config.load_schema("models"), config.configuration_schema(ROOT / "config/schemas")
    blocks = [block for page in pages.PAGES for block in pages.blocks(page) if block.file]
    assert len(blocks) > 5
    for block in blocks:
        where, content = f"{block.page}:{block.line}, {block.file}", yaml.safe_load(block.text)
        if any(isinstance(content.get(key), dict) for key in ("models", "systems")):
            config.validate(content, registry, where)
        else:
            merged = config.merge(config.load_yaml(ROOT / "config.yaml"), content)
            config.validate(merged, whole, where)
            if merged["studies"] != "all":
                known = ("ruff", "counter_gap", "misgendered", "underspecification", "winopron")
                assert studies.select_studies(merged["studies"], known)


def test_attacks_are_listed_with_how_they_are_noticed():
    assert len(dict(attacks.marked())) >= 36


@pytest.mark.parametrize("study", ["counter_gap", "misgendered", "ruff", "underspecification", "winopron"])
def test_a_study_s_readme_follows_a_row_through_few_files_that_exist(study):
    text = (ROOT / f"scripts/{study}/README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:scripts/[\w/]+/)?(\w+\.py)`", text))
    there = {path.name for path in [*(ROOT / "scripts" / study).glob("*.py"), *(ROOT / "scripts/core").rglob("*.py")]}
    assert named <= there
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
    assert set(re.findall(r"[Rr]ules? `(\w+)`", text)) <= set(re.findall(r"\w+", rules))
    (steps,) = re.findall(r"^1\. .*?\n(?=\n\S)", text, flags=re.MULTILINE | re.DOTALL)
    assert 5 <= len(set(re.findall(r"`(\w+\.py)`", steps))) <= 8


def test_examples_in_docstrings_are_true():
    tried = 0
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
            assert not found.failed, module
            tried += found.attempted
    assert tried > 50
