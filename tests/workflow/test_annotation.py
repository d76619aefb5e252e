"""Tasks for people in the workflow: exported, answered by simulated people, imported; RUFF's line of people moves."""

import json

import pytest
import yaml

from scripts.core import files
from scripts.core.data import annotation
from tests.annotation import simulated

pytestmark = pytest.mark.workflow

RUFF = "results/ruff/annotation/replica_fidelity"
QUADRUPLES = "results/counter_gap/annotation/replica"
FIGURE = "results/ruff/figures/replica/headline.pdf"
PEOPLE = {"Ada": 0.1, "Ben": 0.2, "Eve": 0.3}


@pytest.fixture(scope="module")
def answered(finished):
    """The finished run after people were asked: RUFF's blanks (two sheets) and Counter-GAP's quadruples (three)."""
    exported = [f"{RUFF}/sheet.csv", f"{RUFF}/page.html", f"{QUADRUPLES}/page.html"]
    assert finished.planned(FIGURE) == {}
    done = finished.snakemake(*exported)
    assert done.returncode == 0, done.stdout[-4000:]
    sheets = {"ruff": [], "counter_gap": []}
    for seed, (name, errors) in enumerate(PEOPLE.items()):
        for study, folder in (("ruff", RUFF), ("counter_gap", QUADRUPLES)):
            task = annotation.load(finished.folder / folder / "questions.parquet")
            given = simulated.answers(task, seed, errors)
            # Sheets from some, files of the page from others.
            path = f"{study}_{name}.{'json' if name == 'Ben' else 'csv'}"
            if name == "Ben":
                (finished.folder / path).write_text(simulated.saved(task, name, given))
            else:
                simulated.fill(annotation.sheet(task, 1), given).to_csv(finished.folder / path, index=False)
            entry = {"annotator": name, "set": folder.split("/")[-1], "file": path}
            if (study, name) != ("ruff", "Eve"):
                sheets[study].append(entry)
    overlay = finished.folder / "config/test.yaml"
    settings = yaml.safe_load(overlay.read_text(encoding="utf-8"))
    for study, entries in sheets.items():
        settings[study]["annotation"] = {"sheets": entries}
    overlay.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return finished


def test_the_line_of_people_is_that_of_the_people_asked(answered):
    """Nothing is scored or computed again: the figure alone is drawn anew, with another line and another label."""
    record = answered.folder / "results/provenance/ruff_figure_headline/templates=replica.json"
    assert json.loads(record.read_text(encoding="utf-8"))["params"]["human"] == 0.998
    assert answered.planned(FIGURE) == {"annotation_agreement": 1, "ruff_figure_headline": 1}
    done = answered.snakemake(FIGURE, f"{QUADRUPLES}/labels.csv")
    assert done.returncode == 0, done.stdout[-4000:]
    table = files.read_csv(answered.folder / RUFF / "accuracy.csv").fillna({"annotator": ""}).set_index("annotator")
    asked = annotation.load(answered.folder / RUFF / "questions.parquet").items
    # 100 instances for each number of distractors.
    assert len(asked) % 100 == 0 and table.n.to_dict() == {"Ada": len(asked), "Ben": len(asked), "": 2 * len(asked)}
    assert all(table.ci_low[name] < 1 - PEOPLE[name] < table.ci_high[name] for name in ("Ada", "Ben"))
    human = json.loads(record.read_text(encoding="utf-8"))["params"]["human"]
    assert human == {"accuracy": pytest.approx(table.accuracy[""]), "label": "human, this run"}
    assert answered.planned(FIGURE) == {}


def test_quadruples_get_labels(answered):
    """What was right for the most of three people whose errors are independent."""
    path = answered.folder / QUADRUPLES / "labels.csv"
    if not path.exists():
        done = answered.snakemake(str(path.relative_to(answered.folder)))
        assert done.returncode == 0, done.stdout[-4000:]
    table, steps = files.read_csv(path, dtype=str), files.read_csv(path.with_name("funnel.csv"))
    assert list(table) == ["ID", "A-coref", "B-coref"]
    assert len(table) == 4 * steps.left.iloc[-1] and 0 < steps.left.iloc[-1] < steps.left.iloc[0] == 24
    discarded = files.read_csv(path.with_name("discarded.csv"))
    assert set(discarded.reason) == {"inconsistent", "undecided"}
    agreement = files.read_csv(path.with_name("agreement.csv")).set_index(["question", "measure"]).value
    assert 0.3 < agreement["coreferent", "alpha"] < 0.8


def test_a_bad_sheet_ends_the_job_in_one_line(answered):
    sheet = answered.folder / "ruff_Ada.csv"
    whole = sheet.read_text()
    sheet.write_text(whole.replace(whole.splitlines()[5].split(",")[0], "x", 1))
    done = answered.snakemake(f"{RUFF}/accuracy.csv")
    sheet.write_text(whole)
    assert done.returncode != 0
    assert "ruff_Ada.csv: 2 problems: row 6: the id 'x' was not asked about; restore it; 1 row missing" in done.stdout
