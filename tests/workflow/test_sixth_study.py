"""A study more is a few new files, a block of configuration and one line in the Snakefile; no other file is touched.

The files are in ``tests/workflow/sixth_study/``, in the folders that they have in the repository.
"""

import json
import shutil
from pathlib import Path

import pandas as pd
import pypdf
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from tests.workflow.conftest import audit, edited

pytestmark = pytest.mark.workflow

STUDY = Path(__file__).parent / "sixth_study"
FIGURE = "results/greetings/figures/replica/accuracy"


def add(folder):
    """Add the study to a copy of the repository; return what existed before and is changed."""
    changed = set()
    for source in sorted(path for path in STUDY.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        target = folder / source.relative_to(STUDY)
        if target.name == "config.yaml":
            target.write_text(target.read_text() + source.read_text())
            changed.add(target.name)
        else:
            assert not target.exists()
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    snakefile = folder / "Snakefile"
    before = snakefile.read_text()
    after = before.replace('    "underspecification",\n', '    "underspecification",\n    "greetings",\n')
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    snakefile.write_text(after)
    return changed | {snakefile.name}


@pytest.fixture(scope="module")
def site(fresh):
    """A copy in which only the new study is run, by one tiny model."""
    workflow = fresh(("tiny-opt",))
    assert add(workflow.folder) == {"config.yaml", "Snakefile"}
    overlay = workflow.folder / "config/test.yaml"
    overlay.write_text(overlay.read_text() + "studies: [greetings]\n")
    targets = ["paper" if shutil.which("latexmk") else "paper_provenance", "figures", "tables", "instances"]
    done = workflow.snakemake(*targets)
    assert done.returncode == 0, done.stdout[-6000:]
    return workflow


def test_its_figure_table_and_number_are_made(site):
    for path in (f"{FIGURE}.pdf", f"{FIGURE}.png", f"{FIGURE}.csv", "results/greetings/tables/replica/accuracy.tex"):
        assert (site.folder / path).stat().st_size > 50, path
    section = (site.folder / "results/paper/sections/greetings.tex").read_text()
    assert r"\sourced{greetings.replica.sentences}{10}" in section


def test_its_page_is_in_the_paper(site):
    pdf = site.folder / "results/paper/main.pdf"
    if not pdf.exists():
        pytest.skip("latexmk is not installed: no PDF")
    reader = pypdf.PdfReader(pdf)
    assert "Greetings" in "".join(page.extract_text() for page in reader.pages)
    # The targets of its figure and of its number in the appendix; nothing of the others.
    targets = set(reader.named_destinations)
    assert {"fig:greetings-replica-accuracy", "greetings.replica.sentences"} <= targets
    assert not [name for name in targets if name.startswith("fig:ruff")]


def test_its_rows_are_in_the_summary_and_its_question_in_the_overview(site):
    rows = estimate_rows.read_estimates([site.folder / "results/paper/summary.csv"])
    assert rows.study.unique().tolist() == ["greetings"]
    pooled = rows[rows.pronoun == ""]
    assert pooled.value.item() == pytest.approx(rows[rows.pronoun != ""].value.mean())
    assert json.loads((site.folder / "results/paper/summary.json").read_text())[0]["study"] == "greetings"
    protocols = (site.folder / "results/paper/sections/protocols.tex").read_text()
    assert "Does a model continue with the pronoun set that a person was introduced with?" in protocols


def test_its_jobs_are_in_the_plan_and_its_files_in_the_audit(site):
    done = site.snakemake("plan")
    assert done.returncode == 0, done.stdout[-3000:]
    plan = files.read_csv(site.folder / "results/plan.csv")
    assert plan[["rule", "study", "set", "model", "items"]].to_numpy().tolist() == [
        ["score", "greetings", "replica", "tiny-opt", 40]
    ]
    status, printed = audit(site.folder, "--json", targets=[])
    found = json.loads(printed[printed.index("{") :])["files"]
    assert status == 0 and {finding["verdict"] for finding in found.values()} == {"current"}
    assert {f"{FIGURE}.pdf", f"{FIGURE}.csv", "results/greetings/scores/replica/tiny-opt.parquet"} <= found.keys()
    # No job of another study ran, and nothing was fetched.
    ran = {path.name for path in (site.folder / "results/provenance").iterdir()}
    assert {"greetings_instances", "greetings_figures", "greetings_section"} < ran
    assert not [rule for rule in ran if rule.startswith(("ruff", "counter_gap", "underspecification", "fetch"))]


def test_its_numbers_lead_to_template_lines(site):
    for number in (f"{FIGURE}.csv:1:value", "greetings.replica.sentences"):
        status, printed = audit(site.folder, number, targets=[])
        assert status == 0 and "templates/greetings/sentences.tsv: lines 2-11" in printed, printed
        assert "templates/pronouns.tsv: line" in printed and "no template lines" not in printed


def test_instances_without_origins_are_noticed(site):
    instances = site.folder / "results/greetings/instances/replica/selected.parquet"
    kept = shutil.copy2(instances, site.folder / "kept.parquet")
    files.write_parquet(instances, pd.read_parquet(instances))
    status, printed = audit(site.folder, f"{FIGURE}.csv:1:value", targets=[])
    kept.replace(instances)
    assert status == 1 and "no template lines are known" in printed, printed


def test_only_what_a_change_concerns_runs_again(site):
    script = site.folder / "scripts/greetings/figures.py"
    with edited(script, lambda text: text.replace('y="Accuracy"', 'y="Share"')):
        planned = site.planned("figures", "tables", "greetings")
    assert set(planned) == {"greetings_figures", "figures", "greetings"}


def test_a_figure_is_a_name_and_a_function(site):
    """As docs/extending.md says; the study's figures are drawn, and nothing else is made."""
    folder, figure = site.folder, site.folder / "results/greetings/figures/replica/again"
    function, rule = folder / "scripts/greetings/figures.py", folder / "rules/greetings.smk"
    with (
        edited(function, lambda text: text.replace('cy": draw_accuracy', 'cy": draw_accuracy, "again": draw_accuracy')),
        edited(
            rule, lambda text: text.replace('GREETINGS_DRAWN = ["accuracy"', 'GREETINGS_DRAWN = ["accuracy", "again"')
        ),
    ):
        assert site.planned("figures", "tables") == {"greetings_figures": 1, "figures": 1}
        done = site.snakemake(str(figure.with_suffix(".pdf").relative_to(folder)))
    assert done.returncode == 0, done.stdout[-3000:]
    assert figure.with_suffix(".png").is_file() and figure.with_suffix(".csv").is_file()


def test_it_stands_beside_the_others(site):
    """With all studies each has its jobs."""
    overlay = site.folder / "config/every.yaml"
    text = (site.folder / "config/test.yaml").read_text()
    overlay.write_text(text.replace("studies: [greetings]", "studies: all"))
    planned = site.planned("figures", "tables", "--forceall", overlay="config/every.yaml")
    for study in ("ruff", "counter_gap", "underspecification", "greetings"):
        assert [rule for rule in planned if rule.startswith(f"{study}_figure")], study
