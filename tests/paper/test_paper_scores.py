"""The same options by other scores, over all studies: what is drawn, tabulated and said."""

import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.paper import paper_scores
from tests.figures import problems
from tests.paper.typeset import ROOT, build_column, needs_tex

STUDIES = [
    {"key": "ruff", "label": "RUFF", "chances": {"accuracy": 0.25}},
    {"key": "winopron", "label": "WinoPron", "chances": {"accuracy": 0.5}},
]
MODELS = {"small": {"parameters": 1e8}, "large": {"parameters": 1e9}, "demo": {"parameters": 1e7}}


def row(model, value, **given):
    usual = {
        "part": "replica", "model": model, "kind": "model", "scoring": "probability", "metric": "accuracy",
        "value": value, "low": max(0, value - 0.1), "high": min(1, value + 0.1), "n": 40, "n_unit": "instances",
        "label": model.title(), "demonstration": model == "demo", "headline": False,
    }  # fmt: skip
    return usual | given


def ruff(models):
    values = {"sum": {"": 0.4, "he": 0.7, "xe": 0.1}, "context_free": {"": 0.4, "he": 0.2, "xe": 0.9}}
    return [
        row(model, value + shift / 100, pronoun=pronoun, normalisation=score, setting="fidelity")
        for shift, model in enumerate(models)
        for score, by_set in values.items()
        for pronoun, value in by_set.items()
    ]


@pytest.fixture
def summary(tmp_path):
    plain = [row("small", 0.99, n_distractors=0, headline=True)]
    plain.append(row("small", 0.5, metric="other pick", normalisation="sum"))
    estimate_rows.write(tmp_path / "r.csv", "ruff", [*plain, *ruff(["small", "large", "demo"])])
    halves = [row("small", value, scoring=f"{half} likelihood", entities="double", n=20, n_unit="pairs of people")
              for half, value in (("full", 0.6), ("partial", 0.8))]  # fmt: skip
    alone = row("large", 0.9, scoring="full likelihood", entities="double")
    estimate_rows.write(tmp_path / "w.csv", "winopron", [*halves, alone])
    files.write_csv(tmp_path / "all.csv", estimate_rows.read([tmp_path / "r.csv", tmp_path / "w.csv"]))
    return str(tmp_path / "all.csv")


def made(summary, folder, studies=STUDIES):
    names = {
        "pdf": "figures/f.pdf", "png": "figures/f.png", "csv": "figures/f.csv", "table_tex": "tables/t.tex",
        "table_csv": "tables/t.csv", "scores_tex": "sections/s.tex",
    }  # fmt: skip
    paths = {name: folder / path for name, path in names.items()}
    paper_scores.main(
        summary_csv=summary, template=str(ROOT / "paper/scores.tex.j2"), studies=studies, models=MODELS,
        **{name: str(path) for name, path in paths.items()},
    )  # fmt: skip
    return paths


def test_accuracies_by_several_scores_are_kept_and_nothing_else(summary):
    table = paper_scores.select(estimate_rows.read([summary]), STUDIES)
    assert set(table.model[table.study == "ruff"]) == {"small", "large"}
    assert table[table.study == "ruff"]["level"].drop_duplicates().tolist() == ["all", "he", "xe"]
    # A model with the full likelihood alone has nothing to be compared with; headlines are by the study's own score.
    assert table[table.study == "winopron"].accuracy.tolist() == [0.6, 0.8]
    assert 0.99 not in set(table.accuracy)


def test_the_largest_model_of_each_study_is_drawn_as_the_csv_says(summary, tmp_path):
    table = paper_scores.select(estimate_rows.read([summary]), STUDIES)
    frame = paper_scores.largest_models(table, MODELS)
    assert set(zip(frame.study, frame.model, strict=True)) == {("ruff", "large"), ("winopron", "small")}
    drawn = paper_scores.draw(frame)
    assert problems(drawn) == []
    assert [ax.get_title(loc="left") for ax in drawn.axes] == ["RUFF: Large", "WinoPron: Small"]
    points = {round(float(x), 6) for ax in drawn.axes for box in ax.containers for x in box.lines[0].get_xdata()}
    assert points == set(frame.accuracy.round(6))
    assert "Nothing is drawn" in paper_scores.draw(frame.assign(n=9)).axes[0].texts[0].get_text()


def test_the_section_has_figure_and_table_or_is_empty(summary, tmp_path):
    paths = made(summary, tmp_path)
    text = paths["scores_tex"].read_text(encoding="utf-8")
    assert paths["table_tex"].read_text(encoding="utf-8").strip() in text
    assert "Accuracy of Large and Small by each score" in text
    assert "40 instances (RUFF), 20 pairs of people (WinoPron)." in text and "MISGENDERED" not in text
    rows = [line.split(" & ") for line in text.splitlines() if line.startswith(("RUFF &", " &", "WinoPron &"))]
    assert [cell.strip(" \\") for cell in rows[0]] == ["RUFF", "Small", "40.0", "40.0", "–", "–"]
    assert [cell.strip(" \\") for cell in rows[2]] == ["WinoPron", "Small", "–", "–", "60.0", "80.0"]
    assert len(files.read_csv(paths["table_csv"])) == 14
    empty = made(summary, tmp_path / "none", [])
    assert r"\section" not in empty["scores_tex"].read_text(encoding="utf-8")


def test_of_many_models_the_table_has_both_ends(tmp_path):
    estimate_rows.write(tmp_path / "r.csv", "ruff", ruff([f"m{n}" for n in range(7)]))
    table = paper_scores.select(estimate_rows.read([tmp_path / "r.csv"]), STUDIES)
    cells = paper_scores.cells(table)
    assert cells.to_numpy().tolist() == [["RUFF", "7 models", "40.0 to 46.0", "40.0 to 46.0"]]


@needs_tex
def test_it_can_be_typeset(summary, tmp_path):
    paths = made(summary, tmp_path)
    text = paths["scores_tex"].read_text(encoding="utf-8").replace("figures/f.pdf", str(paths["pdf"]))
    build_column(tmp_path, text + r"\hypertarget{fig:scores}{}\hypertarget{tab:scores}{}")
