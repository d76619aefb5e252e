"""What the paper says of all studies together, and the table behind it."""

import json
import re

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import finding_verdicts
from scripts.core.paper.finding_verdicts import Check, Finding
from scripts.core.paper.sections import link_target
from scripts.paper import paper_figure, paper_overview, paper_scores
from scripts.paper.front import Front
from tests.figures import problems
from tests.paper import test_score_changes
from tests.paper.typeset import ROOT, build_column, needs_tex

STUDIES = [
    {"key": "one", "label": "One", "question": "Does it_ rise?", "parts": ["replica", "official"],
     "appendix": False, "chances": {"accuracy": 0.25}},
    {"key": "two", "label": "Two", "question": "", "parts": ["run"], "appendix": False, "chances": {}},
]  # fmt: skip
COMMON = ("overview", "protocols", "scores", "headlines", "evidence", "findings")
FRONT = r"""\BLOCK{if place == "protocol"}text & decision & score & others
\BLOCK{elif place == "scores"}Its scores are these.
\BLOCK{elif place == "thesis"}It rises to \VAR{front.estimate("accuracy", part="replica", pronoun="xe")}.
Both reach \VAR{front.estimate("accuracy", part="replica")},
\VAR{front.against("accuracy", part="replica", pronoun="xe")}.
\BLOCK{endif}"""


def rows(models, **given):
    return [
        {"part": "replica", "model": model, "kind": "model", "scoring": "probability", "metric": "accuracy",
         "pronoun": pronoun, "value": 0.5 + n / 10, "low": 0.4, "high": 0.6 + n / 10, "n": 9,
         "n_unit": "pairs of people", "label": model, "headline": True}
        | given
        for n, model in enumerate(models) for pronoun in ("", "xe")
    ]  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """The first page of two studies, of which one tests findings, has a picture and sentences of its own."""
    paths = [tmp_path / f"{name}.csv" for name in ("one", "two", "all")]
    shown = [
        *rows(["A_1"]),
        *rows(["B"], pronoun=""),
        *rows(["rule"], kind="heuristic"),
        *rows(["demo"], demonstration=True),
    ]
    estimate_rows.write_estimates(paths[0], "one", [row for n, row in enumerate(shown) if n != 3])
    estimate_rows.write_estimates(paths[1], "two", rows(["A_1"], low=None, high=None, n=2000)[:1])
    files.write_csv(paths[2], estimate_rows.read_estimates(paths[:2]))
    folder = tmp_path / "results/one/tables"
    found = [
        Finding(
            n,
            "S",
            f"Finding {n}.",
            lambda run, n=n: [Check(run < n if n < 12 else None, missing=("delta_i of C",) * (n == 12))],
        )
        for n in range(1, 13)
    ]
    beside = {kind: folder / f"findings.{kind}" for kind in ("csv", "tex", "json")}
    finding_verdicts.write_verdicts(
        found, {"replica": 1, "official": 99}, ["replica", "official"],
        csv=beside["csv"], tex=beside["tex"], numbers=beside["json"],
    )  # fmt: skip
    (tmp_path / "one_front.tex.j2").write_text(FRONT)
    relative = {path: str(path.relative_to(tmp_path)) for path in beside.values()}
    return render(
        tmp_path, paths[2], STUDIES, fronts=[str(tmp_path / "one_front.tex.j2")],
        verdicts=[relative[beside["csv"]]], findings_tables=[relative[beside["tex"]]],
        comparison_numbers=[relative[beside["json"]]],
    )  # fmt: skip


def render(folder, summary_csv, studies, **given):
    """Draw both figures and write all that the paper says of the studies together; return the texts by name."""
    drawn = {
        name: {kind: str(folder / f"{name}.{kind}") for kind in ("pdf", "png", "csv")}
        for name in ("headlines", "scores")
    }
    table = {f"table_{kind}": str(folder / f"table.{kind}") for kind in ("tex", "csv")}
    outputs = {name: folder / f"out/sections/{name}" for name in ("csv", "numbers")}
    sections_tex = [folder / f"out/sections/{name}.tex" for name in COMMON]
    nothing: dict = {name: [] for name in ("fronts", "verdicts", "findings_tables", "comparison_numbers")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        paper_figure.main(summary_csv=str(summary_csv), studies=studies, models={}, **drawn["headlines"])
        paper_scores.main(summary_csv=str(summary_csv), studies=studies, **drawn["scores"], **table)
        paper_overview.main(
            templates=[str(ROOT / f"paper/{name}.tex.j2") for name in COMMON], summary_csv=str(summary_csv),
            figure=drawn["headlines"]["pdf"], scores_figure=drawn["scores"]["pdf"], scores_table=table["table_tex"],
            studies=[dict(study) for study in studies],
            models=[{"label": "A_1", "demonstration": False}], sections_tex=[str(path) for path in sections_tex],
            **{name: str(path) for name, path in outputs.items()}, **(nothing | given),
        )  # fmt: skip
    made = {path.stem: path.read_text(encoding="utf-8") for path in sections_tex}
    return made | {name: path.read_text(encoding="utf-8") for name, path in outputs.items()} | {"folder": folder}


def seen(text):
    """Return LaTeX as a reader sees it, without links."""
    return " ".join(re.sub(r"\\sourced\{[^}]+\}\{((?:\\.|[^{}])*)\}", r"\1", text).split())


def test_every_estimate_has_its_interval_and_n_and_links_to_its_row(made):
    # Nothing was compared by several scores: the abstract has the sentence of the first study.
    assert r"It rises to 50\% (40 to 60; n = 9 pairs of people)." in seen(made["overview"])
    both = (
        r"Both reach 50\% (40 to 60; n = 9 pairs of people; A\_1) to 50\% (40 to 60; n = 9 pairs of people; B), above"
    )
    assert both in seen(made["overview"])
    numbers = json.loads(made["numbers"])
    printed = "".join(made[name] for name in COMMON)
    links = set(re.findall(r"\\sourced\{paper\.([^}]+)\}", printed))
    assert links and links <= {link_target(name) for name in numbers}
    used = files.read_csv(made["folder"] / "out/sections/csv", dtype=str).fillna("")
    for entry in numbers.values():
        same = used
        for column, value in entry["cell"].items():
            same = same[same[column] == value]
        assert len(same) == 1 and entry["source"] == "overview.csv"


def test_protocols_and_scores_are_those_that_studies_state(made):
    assert r"One & text & decision & score & others \\" in seen(made["protocols"])
    assert r"Two & \multicolumn{4}{l}{}" in seen(made["protocols"])
    assert "Its scores are these." in seen(made["scores"]) and "Two" not in made["scores"]
    assert "half-widths go from 10.0 to 10.0 points" in seen(made["evidence"])


@pytest.mark.parametrize(
    ("models", "abstract", "moves"),
    [
        (["m"], r"M gets \emph{xe} right in 10\% (0 to 20; n = 40) of the sentences by the sum of log-probabilities,"
         r" which the study uses, and in 90\% (80 to 100) by the sum minus that of the sentence without its context;"
         r" for \emph{he} it is 70\% (60 to 80; n = 40) and 20\% (10 to 30), for all pronouns together 40\% (30 to 50)"
         r" and 40\% (30 to 50). The score decides whom this model misgenders.",
         r"For M, these accuracies move most: \emph{he} from 70\% (60 to 80) to 20\% (10 to 30) (minus context-free);"),
        ([f"m{n}" for n in range(4)], "In 4 of 4 models one pronoun rises while another falls", "For M0, these"),
        ([f"m{n}" for n in range(7)], "In 7 of 7 models one pronoun rises while another falls",
         "Of 7 models, 7 have an accuracy that moves beyond its interval, and 7 have one pronoun that rises"),
    ],
    ids=["one", "four", "many"],
)  # fmt: skip
def test_the_abstract_states_the_largest_moves_in_opposite_directions(tmp_path, models, abstract, moves):
    rows = [one for model in models for one in test_score_changes.by_score(model)]
    test_score_changes.summary(tmp_path, rows)
    (tmp_path / "ruff_front.tex.j2").write_text(FRONT)
    study = STUDIES[0] | {"key": "ruff", "label": "RUFF"}
    made = render(tmp_path, tmp_path / "ruff.csv", [study], fronts=[str(tmp_path / "ruff_front.tex.j2")])
    assert abstract in seen(made["overview"]) and moves in seen(made["scores"])
    # A score that favours an option is right wherever this option is: the others stand next to it.
    assert r"right in 90\% (80 to 100), and \emph{he} in 20\% (10 to 30); over all pronouns" in seen(made["scores"])
    assert "pooled over numbers of distractors. Over all pronouns, n = 40 instances (RUFF)" in seen(made["overview"])
    # A row for each model, but one row for many: that is no table.
    assert ("tab:scores" in made["scores"]) == (len(models) == 4)


def test_it_says_where_else_a_score_chooses_the_pronoun_that_it_favours(tmp_path):
    chosen = [
        test_score_changes.row(
            "m", share, metric="chosen elsewhere", preferred=name, pronoun=other, normalisation=score, low=None,
            high=None, n=810,
        )
        for score, share in (("sum", 0.01), ("context_free", 0.59)) for name, other in (("xe", "he"), ("he", "xe"))
    ]  # fmt: skip
    test_score_changes.summary(tmp_path, [*test_score_changes.by_score("m"), *chosen])
    (tmp_path / "ruff_front.tex.j2").write_text(FRONT)
    study = STUDIES[0] | {"key": "ruff", "label": "RUFF"}
    made = render(tmp_path, tmp_path / "ruff.csv", [study], fronts=[str(tmp_path / "ruff_front.tex.j2")])
    told = r"It chooses \emph{xe} in 59\% (no interval; n = 810) of the sentences with another pronoun. One"
    assert told in seen(made["scores"]) and seen(made["scores"]).count("It chooses") == 1


def test_rules_and_demonstrations_are_left_out_where_there_is_anything_else(made):
    assert not re.search("; demo|; rule", made["overview"])
    drawn = files.read_csv(made["folder"] / "headlines.csv")
    assert set(drawn.label) == {"A_1", "B"} and drawn.value.tolist() == [50.0] * 4
    assert drawn.chance.iloc[:3].tolist() == [25.0] * 3 and drawn.chance.isna().iloc[3]


def test_findings_that_hold_or_fail_are_listed(made):
    text = seen(made["findings"])
    assert "1 & Finding 1. (S) & fails & fails &" in text and "2 & Finding 2. (S) & holds & fails & Replica:" in text
    # What is undecided, and a study that tests none, are not.
    assert "Finding 12." not in text and "Two" not in text
    assert "n = 22 verdicts" in text and "because this run has none" not in made["evidence"]


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ({"A": 0.5}, "not distinguishable from chance"),
        ({"A": 0.5, "B": 0.5}, "not distinguishable from chance for any of them"),
        ({"A": 0.3, "B": 0.3}, "above chance for all of them"),
        ({"A": 0.9, "B": 0.5}, "below chance for 1 of 2"),
        ({"A": 0.3, "B": 0.9}, "above chance for 1 of 2 and below it for 1"),
    ],
)
def test_several_models_against_chance(chances, words):
    """Each with a value of .5 and an interval from .4 to .6, moved together so that the given chance is at .5."""
    frame = pd.DataFrame([
        row | {"study": "one", "debiasing": "", "demonstration": False, "value": 1 - chance, "low": 0.9 - chance,
               "high": 1.1 - chance}
        for model, chance in chances.items() for row in rows([model])[:1]
    ])  # fmt: skip
    told = Front("one", frame, {"accuracy": 0.5}).against("accuracy")
    assert told.replace(r" (50\%)", "") == words


def test_an_interval_over_few_units_is_judged_by_students_distribution():
    facts = {"study": "one", "debiasing": "", "demonstration": False, "value": 0.59, "low": 0.503, "high": 0.68}
    found = {
        n: Front("one", pd.DataFrame([rows(["A"])[0] | facts | {"n": n}]), {"accuracy": 0.5}).against("accuracy")
        for n in (12, 120)
    }
    assert {n: text.partition(" chance")[0] for n, text in found.items()} == {
        12: "not distinguishable from", 120: "above",
    }  # fmt: skip


def test_of_many_models_the_legend_names_none_and_rows_are_in_the_order_of_values(tmp_path):
    listed = [row | {"value": 0.5 - n % 7 / 20} for n in range(20) for row in rows([f"M{n}"])[:1]]
    frame = paper_figure.select(estimate_rows.check_rows(written(tmp_path, listed), "x"), STUDIES[:1])
    drawn = paper_figure.draw(frame, {})
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [
        "20 models and systems", "chance", "95% interval",
    ]  # fmt: skip
    points = [line.get_xdata()[0] for line in drawn.axes[0].lines if line.get_marker() == "o"]
    assert points == sorted(points) and len(points) == 20


def test_long_names_of_studies_fit_and_unknown_models_can_be_told_apart(tmp_path):
    listed = written(tmp_path, rows(["M1", "M2"]))
    frame = paper_figure.select(listed, [STUDIES[0] | {"label": "A study whose name is as long as three others are"}])
    frame["group"] += " (released outputs of its authors)"
    drawn = paper_figure.draw(frame, {})
    assert problems(drawn) == []
    first, second = drawn.legends[0].legend_handles[:2]
    assert first.get_marker() != second.get_marker()


@pytest.mark.parametrize(
    ("levels", "left"),
    [
        (["two people, full", "two people, partial"], ["S: m, two people", "full", "partial"]),
        (["A, female", "A, female, prompt B"], ["S: m, A", "female", "female, prompt B"]),
        (["A, prompt B"], ["S: m, A", "prompt B"]),
        (["A, full", "B, partial"], ["S: m", "A, full", "B, partial"]),
        (["a level of 20 letters, and one as long"], ["S: m, a level of 20 letters", "and one as long"]),
        (["one, a level, of letters", "a level, of letters", "b"], ["S: m", "one, a level,\nof letters",
                                                                  "a level, of letters", "b"]),
    ],
)  # fmt: skip
def test_a_heading_has_what_its_rows_share_and_lines_break_between_phrases(levels, left):
    frame = pd.DataFrame({"group": "S: m", "row": levels, "n": 1002, "n_unit": "pairs of people"})
    shown = list(paper_figure.panel_rows(frame))
    assert [text for text, _, _ in shown] == left
    assert [text for _, text, _ in shown] == ["n (pairs)", *["1,002"] * len(levels)]


def written(folder, made):
    estimate_rows.write_estimates(folder / "s.csv", "one", made)
    return estimate_rows.read_estimates([folder / "s.csv"])


@needs_tex
def test_it_can_be_typeset(made, tmp_path):
    folder = tmp_path / "typeset"
    folder.mkdir()
    (folder / "headlines.pdf").write_bytes((made["folder"] / "headlines.pdf").read_bytes())
    labels = "".join(rf"\label{{sec:{name}}}" for name in ("provenance", "results", "limits"))
    text = "".join(made[name] for name in COMMON) + labels
    text = re.sub(r"\{[^{}]*headlines\.pdf\}", "{headlines.pdf}", text)
    targets = sorted(set(re.findall(r"\\(?:sourced|origin)\{([^}]+)\}", text)))
    build_column(folder, f"{text} The end. " + "".join(rf"\hypertarget{{{name}}}{{}}" for name in targets))
