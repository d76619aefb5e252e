"""RUFF's annotators in the workflow: a sheet goes out, sheets come back, and the human line of the figures moves."""

import json

import pytest
import yaml

from scripts.core import files

pytestmark = pytest.mark.workflow

FOLDER = "results/ruff/annotation/replica"
FIGURE = "results/ruff/figures/replica/accuracy_by_distractors.pdf"


def test_the_human_line_is_that_of_the_annotators(finished):
    """Nothing is scored or computed again: the figure alone is drawn anew. A bad sheet ends the job in one line."""
    record = finished.folder / "results/provenance/ruff_figures/templates=replica.json"
    assert json.loads(record.read_text(encoding="utf-8"))["params"]["human"] == 0.998
    assert finished.planned(FIGURE) == {}
    done = finished.snakemake(f"{FOLDER}/sheet.csv")
    assert done.returncode == 0, done.stdout[-4000:]
    sheet = files.read_csv(finished.folder / FOLDER / "sheet.csv", dtype=str)
    for name in ("ada", "ben"):
        sheet.assign(Pronoun="she", Annotator=name).to_csv(finished.folder / f"{name}.csv", index=False)
    overlay = finished.folder / "config/test.yaml"
    settings = yaml.safe_load(overlay.read_text(encoding="utf-8"))
    settings["ruff"]["annotation"] = {"sheets": {"replica": ["ada.csv", "ben.csv"]}}
    overlay.write_text(yaml.safe_dump(settings), encoding="utf-8")

    assert finished.planned(FIGURE) == {"ruff_human_accuracy": 1, "ruff_figures": 1}
    good = (finished.folder / "ben.csv").read_text(encoding="utf-8")
    (finished.folder / "ben.csv").write_text(good.replace(",she,", ",42,", 1), encoding="utf-8")
    done = finished.snakemake(FIGURE)
    assert done.returncode != 0
    assert "ben.csv: row 2: '42' is not an answer to 'Pronoun'; enter the one word that fills the blank" in done.stdout
    (finished.folder / "ben.csv").write_text(good, encoding="utf-8")
    done = finished.snakemake(FIGURE)
    assert done.returncode == 0, done.stdout[-4000:]
    table = files.read_csv(finished.folder / FOLDER / "accuracy.csv").set_index("annotator")
    assert set(table.n) == {len(sheet)} and len(sheet) % 100 == 0 and 0 < table.accuracy["ada"] < 0.5
    human = json.loads(record.read_text(encoding="utf-8"))["params"]["human"]
    assert human == {"accuracy": pytest.approx(table.accuracy["ben"]), "label": "human, this run"}
    assert finished.planned(FIGURE) == {}
