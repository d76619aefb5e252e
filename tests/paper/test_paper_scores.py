"""The same options by other scores: what is drawn and tabulated."""

import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.paper import paper_scores
from scripts.paper.score_changes import select_accuracies, select_drawn
from tests.figures import problems
from tests.paper.test_score_changes import STUDIES, by_score, row, summary


@pytest.mark.parametrize(
    ("models", "titles", "lines"),
    [
        (["m"], ["RUFF"], ["all", "he", "xe"]),
        (["m", "n"], ["all", "he", "xe"], ["M", "N"]),
        ([f"m{n}" for n in range(29)], ["all", "he", "xe"], [f"M{n}" for n in range(29)]),
    ],
    ids=["one model: a line for each pronoun", "two: a line for each model", "29"],
)
def test_the_figure_shows_every_accuracy_by_every_score(tmp_path, models, titles, lines):
    made = summary(tmp_path, [one for model in models for one in by_score(model)])
    frame = select_drawn(select_accuracies(made, STUDIES))
    drawn = paper_scores.draw(frame)
    assert problems(drawn) == []
    assert [ax.get_title(loc="left") for ax in drawn.axes] == titles
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == lines
    points = [round(float(x), 6) for ax in drawn.axes for box in ax.containers for x in box.lines[0].get_xdata()]
    assert sorted(points) == sorted(frame.accuracy.round(6))


def test_nothing_is_drawn_of_few_instances(tmp_path):
    frame = select_drawn(select_accuracies(summary(tmp_path, by_score("m")), STUDIES))
    assert "Nothing is drawn" in paper_scores.draw(frame.assign(n=9)).axes[0].texts[0].get_text()


def test_the_table_has_a_row_for_each_model_or_both_ends_of_many(tmp_path):
    halves = [row("m", value, scoring=f"{half} likelihood", entities="double")
              for half, value in (("full", 0.6), ("partial", 0.8))]  # fmt: skip
    summary(tmp_path, halves, "winopron")
    summary(tmp_path, [*by_score("m"), *by_score("n")])
    files.write_csv(
        tmp_path / "all.csv", estimate_rows.read_estimates([tmp_path / "ruff.csv", tmp_path / "winopron.csv"])
    )
    paths = {name: str(tmp_path / f"f.{name}") for name in ("pdf", "png", "csv")}
    paths |= {"table_tex": str(tmp_path / "t.tex"), "table_csv": str(tmp_path / "t.csv")}
    paper_scores.main(summary_csv=str(tmp_path / "all.csv"), studies=STUDIES, **paths)
    text = (tmp_path / "t.tex").read_text(encoding="utf-8").partition("midrule")[2]
    rows = [[cell.strip(" \\") for cell in line.split(" & ")] for line in text.splitlines() if " & " in line]
    assert rows == [["RUFF", "M", "40.0", "40.0", "–", "–"], ["", "N", "40.0", "40.0", "–", "–"],
                    ["WinoPron", "M", "–", "–", "60.0", "80.0"]]  # fmt: skip
    assert len(files.read_csv(tmp_path / "t.csv")) == 14
    many = [one | {"value": one["value"] + n / 100} for n in range(7) for one in by_score(f"m{n}")]
    cells = paper_scores.cells(select_accuracies(summary(tmp_path, many), STUDIES))
    assert cells.to_numpy().tolist() == [["RUFF", "7 models", "40.0 to 46.0", "40.0 to 46.0"]]
