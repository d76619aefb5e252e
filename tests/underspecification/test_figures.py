"""What golden files do not show of the study's figures: looks, limits, and what is drawn of little."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection

from scripts.core import files
from scripts.underspecification import estimates, figures, illustrations, study, toy_model
from tests.figures import problems
from tests.underspecification.synthetic import mgc, winogender

THRESHOLD = 0.7
PLACES = ("Afghanistan", "Mali", "Sweden", "Iceland")
PEOPLE = [(participant, code) for participant in ("man", "woman", "someone", "other") for code in (0, 1)]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Curves, estimates and metrics of three models of a release and of one of a run, as they are read."""
    folder = tmp_path_factory.mktemp("results")
    models = {"BERT-base": ["mask"], "BART-base": ["mask"], "GPT-3.5 SFT": ["A", "B", "C"]}
    named = [("preprint", model, prompt) for model, prompts in models.items() for prompt in prompts]
    parts = []
    for place, (part, model, prompt) in enumerate([*named, (study.RUN, "Our model", "mask")]):
        common = {"part": part, "model": model, "label": model, "prompt": prompt}
        sentences = {"sentences": 12, "noise": 0.05} | common
        parts.append(mgc(values=np.linspace(1801, 2016, 8).astype(int), **sentences))
        parts.append(mgc(values=PLACES, variable="place", **sentences))
        if prompt in ("mask", study.DETECTION_PROMPT):
            changes = {
                (name, *who): (0.004 * (number + place), -0.01 * (number % 3), 0.0)
                for number, (name, who) in enumerate((n, w) for n in ("clerk", "doctor", "nurse") for w in PEOPLE)
            }
            parts.append(winogender(changes, values=(1901, 1904, 2012, 2016), **common))
    files.write_parquet(folder / "probabilities.parquet", pd.concat(parts))
    paths = {name: str(folder / f"{name}.csv") for name in ("estimates", "curves", "metrics")}
    settings = {"threshold": THRESHOLD, "folds": 3, "draws": 100, "seed": 1}
    estimates.estimates(probabilities=[folder / "probabilities.parquet"], **paths, **settings)
    tables = {name: study.read_table(path) for name, path in paths.items()}
    return tables | {"probabilities": folder / "probabilities.parquet"}


def of_part(table, part):
    return table[table.part == part]


@pytest.fixture(scope="module")
def curves(results):
    return figures.select_lines(of_part(results["curves"], "preprint"), results["estimates"], "date", "all")


@pytest.fixture(scope="module")
def cells(results):
    """The metrics that the figure of a run's occupations shows."""
    return figures.select_occupations(of_part(results["metrics"], study.RUN), "winogender", study.RUN)


@pytest.fixture(scope="module")
def drawn(results, curves, cells):
    places = figures.select_lines(of_part(results["curves"], study.RUN), results["estimates"], "place", "all")
    example = illustrations.select_example(of_part(illustrations.read_examples([results["probabilities"]]), "preprint"))
    points = pd.concat(toy_model.simulate_variables(task, 10, 3000, 1).assign(task=task) for task in toy_model.TASKS)
    return {
        "date": figures.draw_correlations(curves, "date"),
        "place": figures.draw_correlations(places, "place"),
        "example": illustrations.draw_example(example.assign(label="Some-model-135M-Instruct (demonstration)")),
        "occupations": figures.draw_occupations(cells, "winogender", THRESHOLD),
        "toy": illustrations.draw_toy_model(toy_model.correlate_variables(10, 3000, 1), points),
    }


@pytest.mark.parametrize("name", ["date", "place", "example", "occupations", "toy"])
def test_figures_keep_the_rules_and_their_axes_are_labelled(drawn, name):
    figure = drawn[name]
    assert problems(figure, pronouns=name in ("date", "place")) == []
    for axis in ("x", "y"):
        labels = [getattr(figure, f"get_sup{axis}label")(), *(getattr(ax, f"get_{axis}label")() for ax in figure.axes)]
        assert any(labels), axis


@pytest.mark.parametrize("name", ["date", "place", "example"])
def test_no_mark_lies_on_one_of_another_kind(drawn, name):
    """Two marks of equal value stand side by side."""
    for ax in drawn[name].axes:
        lines = [line for line in ax.lines if line.get_marker() not in ("None", "", None)]
        places = sorted(line.get_transform().transform((0, 0))[0] for line in lines)
        assert all(gap >= 1 for gap in np.diff(places) * 72 / drawn[name].dpi)


def test_no_line_of_the_example_crosses_years_without_data(drawn):
    panels = [ax for ax in drawn["example"].axes if ax.lines]
    assert len(panels) == 8 and all(len(ax.lines) == 2 for ax in panels)
    assert all(np.ptp(line.get_xdata()) < 20 for ax in panels for line in ax.lines)
    assert [list(part) for part in illustrations.date_spans(np.array([1900, 1950, 2000]))] == [[1900, 1950, 2000]]


def test_the_toy_model_says_which_draws_it_shows_and_no_zero_has_a_sign(drawn):
    table = toy_model.correlate_variables(10, 3000, 1).assign(simulated=-1e-5, exact=0.0)
    points = toy_model.simulate_variables("unspecified", 10, 3000, 1).head(1500)
    points = pd.concat(points.assign(task=task) for task in toy_model.TASKS)
    figure = illustrations.draw_toy_model(table, points)
    assert "all: 0.000 (0.000)\nselected: 0.000 (0.000)" in [ax.get_title(loc="left") for ax in figure.axes]
    assert figure.legends[0].get_texts()[0].get_text() == "the first 1,500 of 3,000 draws"


def test_a_model_that_writes_no_pronoun_has_no_panel(curves):
    shares = ["probability", "fit", "low", "high"]
    silent = curves.copy()
    silent.loc[silent.label == "BERT-base", shares] = 0.0
    figure = figures.draw_correlations(silent, "date")
    assert {ax.get_title(loc="left") for ax in figure.axes if ax.get_visible()} == {
        "BART-base", "GPT-3.5 SFT (A)", "GPT-3.5 SFT (B)", "GPT-3.5 SFT (C)",
    }  # fmt: skip
    (ax,) = figures.draw_correlations(curves.assign(**dict.fromkeys(shares, 0.0)), "date").axes
    assert "no model gives a pronoun any" in ax.texts[0].get_text().replace("\n", " ")


def test_intervals_and_lines_beyond_the_scale_are_cut(curves):
    wide = curves.assign(low=-20.0, high=130.0, fit=np.where(curves.position == 0, -5.0, 110.0), study_band=30.0)
    for ax in figures.draw_correlations(wide, "date").axes:
        for area in ax.collections:
            values = np.concatenate([path.vertices[:, 1] for path in area.get_paths()])
            assert (values.min(), values.max()) == (0, 100)
        for line in ax.lines:
            assert np.min(line.get_ydata()) >= 0 and np.max(line.get_ydata()) <= 100


def test_lines_end_between_0_and_100_percent():
    for values, ends in {
        (90, 110): [(0, 10), (90, 100)], (110, 90): [(10, 20), (100, 90)], (-5, 5): [(10, 20), (0, 5)],
        (20, 40): [(0, 20), (20, 40)], (30, 30): [(0, 20), (30, 30)],
    }.items():  # fmt: skip
        assert [tuple(part) for part in figures.clipped_line([0, 20], values)] == ends


def test_ticks_of_dates_are_evenly_spaced_and_places_named():
    years = np.linspace(1801, 2016, 30).astype(int)
    at, labels = figures.variable_ticks(pd.DataFrame({"position": range(30), "value": years}), "date")
    assert labels == ["", "1900", "", "2000"] and np.ptp(np.diff(at)) < 0.2
    at, labels = figures.variable_ticks(pd.DataFrame({"position": range(4), "value": list("abcd")}), "place")
    assert list(at) == [0, 1, 2, 3] and labels == ["a", "", "", "d"]


@pytest.mark.parametrize("models", [1, 3, 29])
def test_sentences_without_a_pronoun_are_counted_and_not_drawn(cells, models):
    """A row is a kind of sentence, a point an occupation at its metric; a line is at the median, one at the limit."""
    frame = pd.concat(
        [cells.assign(label=f"Model-{n}B", value=np.arange(len(cells)) / 4) for n in range(models)], ignore_index=True
    )
    frame["undefined"] = frame.value.isin([0.25, 2.0])
    figure = figures.draw_occupations(frame, "winogender", THRESHOLD)
    assert problems(figure) == [] and len(figure.axes) == models
    kinds = sorted(study.SENTENCES["winogender"], key=lambda kind: kind not in study.SPECIFIED)
    for number, ax in enumerate(figure.axes):
        label = f"Model-{number}B"
        title = " ".join(ax.get_title(loc="left").split())
        assert title == f"{label if models > 1 else ''} 2 of {len(cells)} without a pronoun".strip()
        shown = frame[(frame.label == label) & ~frame.undefined]
        points = [marks.get_offsets() for marks in ax.collections if isinstance(marks, PathCollection)]
        assert places(np.concatenate(points)) == sorted(zip(shown.value, shown.sentence.map(kinds.index), strict=True))
        lines = [path for marks in ax.collections if isinstance(marks, LineCollection) for path in marks.get_segments()]
        medians = shown.groupby(shown.sentence.map(kinds.index)).value.median()
        assert places(np.mean(lines, axis=1)) == sorted(zip(medians, medians.index, strict=True))
        assert [line.get_xdata()[0] for line in ax.lines] == [THRESHOLD]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [
        figures.SENTENCE_LABELS[kind] for kind in kinds
    ]


def places(points):
    """Return the values of points with their rows, from which jitter moves them."""
    return sorted((round(x, 6), round(y)) for x, y in points)


def test_of_two_sets_of_templates_this_projects_is_drawn(results, cells):
    metrics = of_part(results["metrics"], study.RUN)
    both = pd.concat([metrics.assign(value=9.0), metrics.assign(templates="replica")])
    assert figures.select_occupations(both, "winogender", study.RUN).value.equals(cells.value)


def test_released_models_that_no_figure_of_the_study_shows_are_marked():
    shown = {("GPT-4", "A"): "GPT-4† (A)", ("Flan-T5-XXL", "mask"): "Flan-T5-XXL†", ("GPT-3", "A"): "GPT-3 (A)"}
    for panel, label in (shown | {("SmolLM2", "mask"): "SmolLM2"}).items():
        assert figures.panel_label(*panel) == label
