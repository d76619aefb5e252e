"""Every command of README and of the pages of docs/, typed from the text into a small finished run.

The run is that of the other workflow tests, and its configuration lies in config.yaml, so that commands are typed as
they are printed. tests/pages.py says what the kinds of blocks are.
"""

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts.core import config
from tests import pages
from tests.workflow.conftest import Workflow, bring_ontonotes, type_command

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
# Models of the default run that the small one does not have.
STAND_INS = {"smollm2-135m-instruct": "tiny-llama"}
# Blocks that nothing here can type, and what holds their commands instead.
ELSEWHERE = {
    "bash keys": "tests/core/provenance/test_manifest.py types them, with keys that it makes",
    "bash server": "tests/core/generation asks a server of its own; here Snakemake says what it would do",
    "bash machine": "tests/test_docs.py asks the programs",
}
# In the prose of the pages, where they are advised.
ADVISED = (
    "snakemake --cores 2 --unlock figures",
    "snakemake --cores 2 -R ruff_figures",
    "snakemake --cores 2 --rerun-incomplete",
    "snakemake --cores 2 --quiet rules host",
)
# Commands that ask for what an earlier one of the pages made, by the place where it is; the earlier one comes first
# whichever tests are chosen.
NEEDS = {
    "runs/mine": "snakemake --cores 2 figures tables summary --directory runs/mine --configfile=mine.yaml",
}


def listed(*kinds):
    """Return the commands of all pages, each once; those that README does not have are for the night."""
    found = {}
    for page in pages.PAGES:
        for block in pages.blocks(page):
            lines = [(block.line, block.text)] if block.info == "python run" else block.commands
            for number, command in lines:
                if block.info in kinds:
                    found.setdefault((block.info, command), f"{page}:{number}")
    return [
        pytest.param(
            command,
            id=f"{place} {command.splitlines()[0][:60]}",
            marks=() if place.startswith("README") else pytest.mark.nightly,
        )
        for (_, command), place in found.items()
    ]


@pytest.fixture(scope="module")
def site(finished):
    """The finished run as a user's checkout: its overlay is part of config.yaml, its models of config/models.yaml."""
    folder = finished.folder
    overlay = config.load_yaml(folder / "config/test.yaml")
    registry = config.load_yaml(folder / overlay.pop("registry"))
    merged = config.merge(config.load_yaml(folder / "config.yaml"), overlay) | {"cards": list(STAND_INS.values())}
    (folder / "config.yaml").write_text(yaml.safe_dump(merged, sort_keys=False))
    models = config.merge(config.load_yaml(folder / "config/models.yaml"), registry)
    (folder / "config/models.yaml").write_text(yaml.safe_dump(models, sort_keys=False))
    (folder / "checkpoints").mkdir()
    shutil.copytree(folder / "zoo/tiny-opt", folder / "checkpoints/my-model")
    return furnished(finished)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout as it is published, where nothing was run: for what is too large to be more than planned."""
    return furnished(Workflow(tmp_path_factory.mktemp("checkout")))


def furnished(workflow):
    """Add what users type commands with, and the files that the pages print."""
    shutil.copytree(ROOT / "slurm", workflow.folder / "slurm")
    shutil.copy2(ROOT / "Makefile", workflow.folder)
    (workflow.folder / ".venv").symlink_to(sys.prefix)
    bring_ontonotes(workflow.folder)
    for block in [block for page in pages.PAGES for block in pages.blocks(page) if block.file]:
        (workflow.folder / block.file).write_text(block.text)
    return workflow


def typed(site, command, program=("bash", "-ec")):
    """Type a command into the run."""
    for name, other in STAND_INS.items():
        command = command.replace(name, other)
    return type_command(command, site.folder, program)


def dry(command):
    """Return the command as a dry run, without conda where there is none; what sets the environment stays as it is."""
    if shutil.which("conda") is None:
        command = command.replace(" --sdm conda", "")
    return command.replace("snakemake ", "snakemake --dry-run --quiet rules host --cores 2 ", 1)


@pytest.fixture(scope="module")
def earlier(site):
    """Type what a command needs, once."""
    typed_before = set()

    def type_before(command):
        for place, needed in NEEDS.items():
            if place in command and command != needed and needed not in typed_before:
                done = typed(site, needed)
                assert done.returncode == 0, done.stdout[-4000:]
                typed_before.add(needed)

    return type_before


def test_what_commands_need_is_itself_in_the_pages():
    typed_in_pages = {parameter.values[0] for parameter in listed("bash run")}
    assert set(NEEDS.values()) <= typed_in_pages


@pytest.mark.parametrize("command", [*listed("bash run"), *ADVISED])
def test_a_command_that_is_typed_succeeds(site, earlier, command):
    earlier(command)
    done = typed(site, command)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("command", listed("bash dry", "bash server"))
def test_a_command_that_is_too_large_is_planned(checkout, command):
    assert command.startswith(("snakemake ", "export ")), f"no dry run of: {command}"
    done = typed(checkout, dry(command))
    assert done.returncode == 0, done.stdout[-4000:]
    assert command.startswith("export ") or "This was a dry-run" in done.stdout or "Nothing to be done" in done.stdout


@pytest.mark.parametrize("command", listed("python run"))
def test_python_that_is_typed_prints_what_the_tables_say(site, earlier, command):
    earlier(command)
    done = typed(site, command, (sys.executable, "-c"))
    assert done.returncode == 0, done.stdout[-4000:]
    table = site.folder / "runs/mine/results/ruff/estimates.csv"
    rows = pd.read_csv(table)
    rows = rows[(rows.metric == "accuracy") & rows[["seed", "pronoun", "case", "polarity"]].isna().all(axis=1)]
    said = rows.set_index("n_distractors").value.to_dict()
    printed = {float(a): float(b) for a, b in (line.split() for line in done.stdout.splitlines() if line[:1].isdigit())}
    assert printed == pytest.approx(said, abs=1e-6) and printed


def test_every_kind_of_block_is_held():
    kinds = {block.info for page in pages.PAGES for block in pages.blocks(page) if not block.file}
    assert kinds <= {"bash run", "bash dry", "python run", "text", *ELSEWHERE}
    for page in pages.PAGES:
        for block in pages.blocks(page):
            assert not block.info.startswith("bash") or block.commands, f"{page}:{block.line} is empty"


def test_readme_types_commands_and_a_broken_one_is_seen(site):
    typed_in_readme = [block for block in pages.blocks("README.md") if block.info == "bash run"]
    assert sum(len(block.commands) for block in typed_in_readme) >= 5
    assert typed(site, dry("snakemake --cores 2 --directory runs/mine --configfile=mine.yaml figures")).returncode == 0
    assert typed(site, "snakemake --cores 2 --configfile mine.yaml figures").returncode != 0
    assert typed(site, dry("snakemake --cores 2 results/ruff/figures/replica/scalling.pdf")).returncode != 0
    assert typed(site, 'python -m scripts.audit "figure 700"').returncode != 0
