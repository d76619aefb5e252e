"""The repository's own files: citation, continuous integration, container, catalogue, changes."""

import re
import tomllib
from pathlib import Path

import yaml

from tests import conftest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_has_what_its_format_asks_for():
    """The fields of version 1.2.0 of the format; cffconvert, which has the schema, is no part of the environment."""
    citation = load("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["type"] == "software"
    assert [reference["notes"] for reference in citation["references"]] == [
        "RUFF", "Counter-GAP", "Underspecification", "WinoPron", "MISGENDERED",
    ]  # fmt: skip
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= reference.keys()
        assert reference["type"] in ("article", "conference-paper")
        for author in reference["authors"]:
            assert author.keys() == {"family-names", "given-names"}
            assert all(isinstance(name, str) and name for name in author.values())


def test_the_citation_agrees_with_the_papers_references():
    bibliography = (ROOT / "paper/references.bib").read_text(encoding="utf-8").replace("{", "").replace("}", "")
    plain = re.sub(r"\s+", " ", bibliography)
    for reference in load("CITATION.cff")["references"]:
        if reference["title"] in plain:
            entry = plain[: plain.index(reference["title"])].rpartition("author")[2]
            for author in reference["authors"]:
                assert f"{author['family-names']}, {author['given-names']}" in entry
    assert sum(reference["title"] in plain for reference in load("CITATION.cff")["references"]) >= 3


def jobs(workflow="ci.yml"):
    return load(f".github/workflows/{workflow}")["jobs"]


def steps(workflow="ci.yml"):
    return [(name, step) for name, job in jobs(workflow).items() for step in job["steps"]]


def test_continuous_integration_lints_tests_and_keeps_paper_and_report():
    commands = "\n".join(step["run"] for _, step in steps() if "run" in step)
    for command in ("make lint", "make test", "make paper", "make docs", "--report report.html", "scripts.audit"):
        assert command in commands
    uploads = [step["with"] for _, step in steps() if step.get("uses", "").startswith("actions/upload-artifact@")]
    (kept,) = [upload for upload in uploads if upload["name"] == "paper-and-report"]
    made = {"results/paper/main.pdf", "results/paper/summary.csv", "results/paper/summary.json", "report.html"}
    assert made <= set(kept["path"].split())
    assert kept["if-no-files-found"] == "error"
    # YAML 1.1 reads the key `on` as a truth value.
    assert {"push", "pull_request"} <= load(".github/workflows/ci.yml")[True].keys()


def test_the_newest_packages_are_tried_one_at_a_time():
    workflow = load(".github/workflows/newest.yml")
    assert workflow[True].keys() == {"schedule", "workflow_dispatch"}
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["fail-fast"] is False
    tried = job["strategy"]["matrix"]["package"]
    needed = re.findall(r"^[\w-]+", (ROOT / "requirements.in").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(tried) <= set(needed) and {"transformers", "torch", "snakemake", "pandas"} <= set(tried)
    commands = "\n".join(step["run"] for step in job["steps"] if "run" in step)
    # The lock first, then one package of it newer, then the tests.
    order = [
        "make environment",
        "install --upgrade ${{ matrix.package }}",
        "pytest -m quick",
        "pytest tests/core/models tests/core/scoring tests/core/generation",
    ]
    assert [commands.index(part) for part in order] == sorted(commands.index(part) for part in order)


def test_actions_are_pinned_and_jobs_bounded():
    workflows = sorted(path.name for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert workflows == ["ci.yml", "newest.yml", "nightly.yml"]
    for workflow in workflows:
        for name, step in steps(workflow):
            assert ("uses" in step) != ("run" in step), name
            assert "uses" not in step or re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", step["uses"]), step
        for name, job in jobs(workflow).items():
            assert job["timeout-minutes"] <= 180 and re.fullmatch(r"ubuntu-\d\d\.04", job["runs-on"]), name
            assert "needs" not in job or job["needs"] in jobs(workflow)
        with_python = [step for _, step in steps(workflow) if "setup-python" in step.get("uses", "")]
        version = {step["with"]["python-version"] for step in with_python}
        assert version == {PROJECT["requires-python"].removeprefix(">=")}


def test_the_container_copies_what_is_there_and_makes_the_paper():
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert {"envs/tex.sh", "envs/setup.sh", "requirements.lock", "."} <= set(copied)
    assert all((ROOT / word).exists() for word in copied)
    assert lines[-1] == 'CMD ["make", "paper"]'
    # What the set-up reads is copied before it runs.
    for script, at in (("envs/tex.sh", "RUN bash envs/tex.sh"), ("requirements.lock", "RUN bash envs/setup.sh")):
        first = next(number for number, line in enumerate(lines) if line.startswith("COPY ") and script in line)
        assert first < next(number for number, line in enumerate(lines) if line.startswith(at))
    read = re.findall(r"\b(\w+\.(?:lock|in))\b", (ROOT / "envs/setup.sh").read_text(encoding="utf-8"))
    assert set(read) <= set(copied)
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert {".venv", "results", "runs", ".snakemake"} <= set(ignored)


def test_the_catalogue_is_told_how_the_workflow_runs():
    usage = load(".snakemake-workflow-catalog.yml")["usage"]
    assert usage.keys() == {"mandatory-flags", "software-stack-deployment"}
    assert usage["software-stack-deployment"].keys() == {"conda", "apptainer", "apptainer+conda", "report"}
    assert usage["software-stack-deployment"]["report"] is True
    # Conda environments are there for every rule that has one; no rule names an image.
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
    assert usage["software-stack-deployment"]["conda"] == ("conda:" in rules)
    assert usage["software-stack-deployment"]["apptainer"] == ("container:" in rules)
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme and "workflow" in readme


def test_changes_are_in_order_and_say_which_numbers_moved():
    """A heading is a date, or a release with its date."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    dates = [re.fullmatch(r"(?:\d+\.\d+\.\d+ \()?(\d{4}-\d\d-\d\d)\)?", heading)[1] for heading in headings]
    assert dates == sorted(dates, reverse=True) and len(dates) == len(set(dates)) > 1
    assert text.count("### Numbers that moved") == len(dates)
    assert [heading for heading in headings if heading.startswith(f"{load('CITATION.cff')['version']} (")]


def test_slow_places_are_there():
    """One that has moved would be part of make quick."""
    assert not [place for place in conftest.SLOW if not (ROOT / "tests" / place).exists()]
