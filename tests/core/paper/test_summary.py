"""The summary over all studies."""

import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import summary
from scripts.paper import paper_summary


def row(**given):
    usual = {"data": "replica", "model": "A", "metric": "accuracy", "group": "all", "value": 0.5, "n": 10}
    return usual | {"status": "run", "headline": True} | given


def test_every_study_has_the_same_columns(tmp_path):
    one, two, none = (tmp_path / f"{name}.csv" for name in ("one", "two", "none"))
    summary.write(one, "One", [row(ci_low=0.4, ci_high=0.6), row(model="B", headline=False)])
    summary.write(two, "Two", [row(data="", value=None, status="released")])
    summary.write(none, "None", [])
    csv, as_json = tmp_path / "summary.csv", tmp_path / "summary.json"
    paper_summary.main(summaries_of_studies=[str(one), str(none), str(two)], csv=str(csv), json_file=str(as_json))
    made = files.read_csv(csv)
    assert made.columns.tolist() == summary.COLUMNS
    assert made.study.tolist() == ["One", "One", "Two"]
    assert made.ci_low.notna().tolist() == [True, False, False]
    listed = json.loads(as_json.read_text(encoding="utf-8"))
    assert listed[0] == {"study": "One", **row(ci_low=0.4, ci_high=0.6)} and listed[2]["value"] is None
    assert summary.read([none]).columns.tolist() == summary.COLUMNS


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(status="ran")], "status 'ran'; did you mean 'run'"),
        ([row(ci_low=0.4)], "one end of the interval is missing"),
        ([row(ci_low=0.6, ci_high=0.4)], "ends before it begins"),
        ([row(), row(value=0.7)], "two rows for .*replica, A, accuracy, all"),
        ([row(valeu=3)], "no columns of a summary: valeu"),
    ],
)
def test_rows_that_are_no_summary_are_refused(tmp_path, rows, words):
    with pytest.raises(ValueError, match=words):
        summary.write(tmp_path / "s.csv", "S", rows)
    assert not (tmp_path / "s.csv").exists()


def test_a_file_of_another_form_is_refused(tmp_path):
    files.write_csv(tmp_path / "s.csv", pd.DataFrame({"study": ["S"]}))
    with pytest.raises(UserError, match="column 'data' is missing; delete the file"):
        summary.read([tmp_path / "s.csv"])


def test_the_overview_shows_headlines_and_of_many_models_the_ends():
    several = [row(model=f"m{n}", value=n / 100, n=1000 + n) for n in range(summary.FEW + 1)]
    frame = pd.DataFrame([
        row(ci_low=0.4, ci_high=0.6), row(group="xe", value=-0.1), row(model="B", headline=False),
        *[r | {"metric": "other"} for r in several],
    ]).assign(study="S").reindex(columns=summary.COLUMNS)  # fmt: skip
    cells = summary.overview(frame)
    assert cells["Metric"].tolist() == ["accuracy", "accuracy, xe", "other", "other"]
    assert cells["Model or system"].tolist() == ["A", "A", "lowest of 9: m0", "highest of 9: m8"]
    assert cells[summary.VALUE].tolist() == ["0.500 [0.400, 0.600]", "−0.100", "0.000", "0.080"]
    assert cells["n"].tolist()[-1] == "1,008"
    assert summary.overview(frame[:0]).empty
