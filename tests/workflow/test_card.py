"""The card of a checkpoint that no registry knows, from one command to its audit."""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from pypdf import PdfReader

from scripts.core import config, files
from scripts.core.paper import finding_verdicts
from tests import forks, printed
from tests import zoo as builder
from tests.workflow.conftest import audit

pytestmark = pytest.mark.workflow
RUN = "runs/card-tiny-flan-t5"
CARD = f"{RUN}/results/cards/tiny-flan-t5"
# Two studies that read an encoder-decoder in their own ways, with samples of the size that other workflow tests have.
SMALL = {
    "studies": ["underspecification", "winopron"],
    "scoring": {"device": "cpu"},
    "underspecification": {
        "sample": {"dates": 3, "places": 3, "occupations": 3},
        "max_new_tokens": {"mgc": 2, "winogender": 2},
        "bootstrap": {"draws": 200, "seed": 1},
        "toy": {"amplification": 10, "draws": 5000, "seed": 1},
    },
    "winopron": {"prompting": {"pairs": 2, "prompts": ["1"]}, "resolution": {"pairs": 2}},
}


def write_card(workflow, *words, small=SMALL):
    """Write the configuration of a card, and lay ``small`` over it; return the options of the command that it says."""
    environment = {**os.environ, "PYTHONPATH": str(workflow.folder)}
    done = forks.run_module("scripts.card", words, workflow.folder, environment, apart=True)
    assert done.returncode == 0, done.stdout
    said = done.stdout.strip().splitlines()[-1].split()
    assert said[:4] == ["snakemake", "--cores", "8", "card"]
    overlay = said[-1].removeprefix("--configfile=")
    merged = config.merge(config.load_yaml(workflow.folder / overlay), small)
    (workflow.folder / overlay).write_text(yaml.safe_dump(merged), encoding="utf-8")
    return said[4:6], overlay


@pytest.fixture(scope="module")
def carded(fresh):
    """A copy in which the card of a tiny encoder-decoder has been made."""
    workflow = fresh(("tiny-bert",))
    builder.build(workflow.folder / "checkpoints", {"tiny-flan-t5"})
    (workflow.folder / "checkpoints/models.yaml").unlink()
    place, overlay = write_card(workflow, "checkpoints/tiny-flan-t5", "licence=MIT")
    done = workflow.snakemake(*place, "--", "card", overlay=overlay)
    assert done.returncode == 0, done.stdout[-5000:]
    return workflow


def test_two_pages_and_a_page_that_needs_no_other_file(carded):
    folder = carded.folder / CARD
    html = (folder / "card.html").read_text(encoding="utf-8")
    assert "How does tiny-flan-t5 treat pronouns?" in html
    assert set(re.findall(r'(?:src|href)="(\w+:)', html)) <= {"data:"}
    assert html.count("data:image/png") == 1
    # The source has no folders of this machine.
    assert "folder tiny-flan-t5" in html and str(carded.folder) not in html
    found = files.read_csv(folder / "findings.csv")
    assert set(found.study) == {"Underspecification", "WinoPron"}
    assert set(found.verdict) <= {*finding_verdicts.VERDICTS}
    shown = files.read_csv(folder / "studies.csv")
    assert set(shown.study) == {"underspecification", "winopron"}
    assert {"model", "published"} <= set(shown[shown.study == "underspecification"].who)
    assert shown[shown.who == "model"].value.between(0, 1).all()
    if shutil.which("pdfinfo"):
        said = subprocess.run(["pdfinfo", folder / "card.pdf"], capture_output=True, text=True, check=True).stdout
        assert re.search(r"^Pages: +[12]$", said, flags=re.MULTILINE), said
    if (folder / "card.pdf").is_file():
        assert printed.problems(folder / "card.pdf") == []


@pytest.mark.nightly
def test_two_models_share_a_card(carded):
    """Each is a column. They are compared on the instances that both read, and only clear differences are told."""
    builder.build(carded.folder / "checkpoints", {"tiny-opt"})
    (carded.folder / "checkpoints/models.yaml").unlink()
    both = ("checkpoints/tiny-flan-t5", "checkpoints/tiny-opt", "licence=MIT")
    place, overlay = write_card(carded, *both, small=SMALL | {"studies": ["winopron"]})
    done = carded.snakemake(*place, "--", "card", overlay=overlay)
    assert done.returncode == 0, done.stdout[-5000:]
    folder = carded.folder / "runs/card-tiny-flan-t5-and-tiny-opt/results/cards/tiny-flan-t5-and-tiny-opt"
    html = (folder / "card.html").read_text(encoding="utf-8")
    assert "How do tiny-flan-t5 and tiny-opt treat pronouns?" in html
    assert "<th>tiny-flan-t5</th><th>tiny-opt</th>" in html
    assert set(files.read_csv(folder / "findings.csv").model) == {"tiny-flan-t5", "tiny-opt"}
    apart = files.read_csv(folder / "differences.csv")
    assert set(apart["first"]) <= {"tiny-flan-t5"} and apart.p_holm.dropna().between(0, 1).all()
    assert html.count(" after Holm") == bool(len(apart)) and html.count("; p = ") == (apart.p_holm < 0.05).sum()
    if (folder / "card.pdf").is_file():
        assert len(PdfReader(folder / "card.pdf").pages) <= 2 and printed.problems(folder / "card.pdf") == []


@pytest.mark.nightly
def test_a_chat_model_with_a_short_entry_is_prompted(carded):
    """Whether it can be is read from its checkpoint."""
    builder.build(carded.folder / "chat", {"tiny-opt"})
    (carded.folder / "chat/tiny-opt/chat_template.jinja").write_text("{{ messages }}", encoding="utf-8")
    entry = {"label": "Mine", "licence": "MIT", "source": {"path": "chat/tiny-opt"}}
    (carded.folder / "mine.yaml").write_text(yaml.safe_dump({"models": {"mine": entry}}), encoding="utf-8")
    place, overlay = write_card(carded, "mine", "--registry", "mine.yaml")
    planned = carded.planned(*place, "--", "card", overlay=overlay)
    assert planned["prompt"] == 1


def test_a_second_run_does_nothing_and_it_is_audited_as_the_card_says(carded):
    place, overlay = write_card(carded, "checkpoints/tiny-flan-t5", "licence=MIT")
    assert carded.planned(*place, "--", "card", overlay=overlay) == {}
    html = (carded.folder / CARD / "card.html").read_text(encoding="utf-8")
    command = re.search(r"python -m scripts\.audit (.*?) FILE", html)[1].split()
    configured = command[-1].removeprefix("--configfile=")
    assert command == ["--target", "card", "--directory", RUN, f"--configfile={configured}"]
    asked = {"overlay": configured, "targets": ["card"]}
    code, printed = audit(carded.folder, "--directory", RUN, **asked)
    assert code == 0, printed
    path = carded.folder / CARD / "findings.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("holds", "fails", 1) + "\n", encoding="utf-8")
    code, printed = audit(carded.folder, "--directory", RUN, **asked)
    assert code == 1 and "findings.csv" in printed
