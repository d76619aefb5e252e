"""The figures: what is written beside them is what goes in, whatever the models, pronoun sets and samples."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.ruff import figures as rules
from scripts.ruff.lib import figures, study
from tests.figures import colours, problems
from tests.ruff import synthetic

NAMES = (
    "headline",
    "context_free",
    "context_free_by_model",
    "introduction_accuracy",
    "accuracy_by_pronoun",
    "accuracy_by_distractors",
    "scaling",
    "error_types",
)
OF_PRONOUNS = (
    "context_free",
    "context_free_by_model",
    "accuracy_by_pronoun",
)
HUMAN = 0.998
KINDS = ("pdf", "png", "csv")
TWO = synthetic.DEMONSTRATION
PAPER = synthetic.paper_models()
SETS = synthetic.SETS[:4]


def figure(name):
    """Return the function that draws a figure and its parameters by name."""
    function = getattr(rules, f"figure_{name}")
    return function, inspect.signature(function).parameters


def draw(name, folder, models=TWO, sets=SETS, tables=None):
    """Run the function of a figure on tables; return what it writes as CSV."""
    draw_figure, wanted = figure(name)
    arguments = {"models": models, "pronoun_sets": sets, "chance": 1 / len(sets), "human": HUMAN}
    for table, frame in (tables or synthetic.tables(models, sets)).items():
        if table in wanted:
            arguments[table] = str(folder / f"{table}.csv")
            files.write_csv(arguments[table], frame)
    arguments |= {kind: str(folder / f"drawn.{kind}") for kind in KINDS}
    draw_figure(**{k: arguments[k] for k in wanted})
    return files.read_csv(arguments["csv"])


@pytest.fixture
def kept(monkeypatch):
    """Figures drawn so far; only their CSV is written, because rendering is slow."""
    figures_so_far = []

    def save(drawn, frame, pdf, png, csv):
        figures_so_far.append(drawn)
        files.write_csv(csv, frame)

    monkeypatch.setattr(plotting, "save", save)
    return figures_so_far


def written(frame, keys):
    """Bring a frame to the shape it has after writing and reading, in the order of ``keys``."""
    return frame.sort_values(keys, ignore_index=True)


def bounds(table):
    """Return a table of accuracies with the names that figures give to the ends of intervals."""
    return table.rename(columns={"ci_low": "low", "ci_high": "high"})


def assert_same(got, expected, keys):
    """The frames hold the same numbers, whatever the order of rows."""
    pd.testing.assert_frame_equal(written(got, keys), written(expected[list(got)], keys), check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("models", "sets", "seeds", "distractors"),
    [
        (dict(list(TWO.items())[:1]), SETS, 1, range(6)),
        (dict(list(TWO.items())[1:]), synthetic.SETS, 3, [0]),
        (dict(list(PAPER.items())[5:13]), synthetic.SETS, 3, [0, 2]),
        (PAPER, synthetic.SETS, 3, range(6)),
    ],
    ids=["one-model-one-sample", "encoder-without-distractors", "eight-models", "paper-five-sets"],
)
def test_every_figure_takes_every_run_and_nothing_is_cut_off(name, models, sets, seeds, distractors, tmp_path, kept):
    tables = synthetic.tables(models, sets, seeds, distractors)
    assert len(draw(name, tmp_path, models, sets, tables))
    (drawn,) = kept
    width, height = drawn.get_size_inches()
    assert width <= plotting.PAGE
    assert height <= 9
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert problems(drawn, pronouns=name in OF_PRONOUNS, alone=alone) == []


def test_who_becomes_whom_has_every_preference_and_an_interval_on_the_right_one():
    rows = [("he", "he", 6), ("he", "she", 4), ("xe", "he", 9), ("xe", "xe", 3), ("they", "they", 5)]
    counted = [(set_, picked, n) for set_, picked, count in rows for n in range(count)]
    predictions = pd.DataFrame(counted, columns=["pronoun", "prediction", "occupation"]).assign(
        setting="fidelity", model="m", n_distractors=1
    )
    others = [predictions.assign(model="other"), predictions.assign(setting="context_free")]
    sets = [entry["set"] for entry in SETS]
    frame = rules.preferences(pd.concat([predictions, *others]), "m", sets, 200, 1)
    shares = frame.set_index(["pronoun", "preferred"]).share
    assert [shares["he", "he"], shares["he", "she"], shares["xe", "he"]] == [0.6, 0.4, 0.75]
    assert frame.groupby("pronoun").share.sum().tolist() == pytest.approx([1, 1, 1])
    assert (frame.low.notna() == (frame.pronoun == frame.preferred)).all()
    labels = {entry["set"]: entry["label"] for entry in SETS}
    drawn = rules.draw_who_becomes_whom(frame, labels, 0.25)
    assert problems(drawn, pronouns=True) == []
    # Five instances are too few to draw.
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert titles == ["introduced with he", "introduced with xe"]
    bars = drawn.axes[1].patches
    assert [(bar.get_y(), bar.get_height()) for bar in bars] == [(0, 0.25), (0.25, 0.75)]
    assert not any(ax.patches for ax in rules.draw_who_becomes_whom(frame.assign(n=5), labels, 0.25).axes)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ({"a": (False, "encoder", 9), "b": (False, "decoder", 3), "c": (False, "decoder", 5)}, "c"),
        ({"a": (False, "encoder", 9), "b": (True, "decoder", 3)}, "a"),
        ({"b": (True, "decoder", None)}, "b"),
    ],
)
def test_one_model_stands_for_a_run(models, expected):
    keys = ("demonstration", "architecture", "parameters")
    assert study.main_model({name: dict(zip(keys, facts, strict=True)) for name, facts in models.items()}) == expected


@pytest.mark.parametrize("name", ["headline", "context_free_by_model"])
def test_the_same_tables_give_the_same_bytes(name, tmp_path):
    for run in "ab":
        draw(name, tmp_path / run)
    for kind in KINDS:
        first, second = ((tmp_path / run / f"drawn.{kind}").read_bytes() for run in "ab")
        assert first == second
        assert first


def test_headline_shows_the_largest_of_each_architecture(tmp_path, kept):
    frame = draw("headline", tmp_path, PAPER)
    assert list(dict.fromkeys(frame.model)) == ["llama-2-70b", "roberta-large"]
    table = synthetic.accuracy(PAPER, SETS)
    shown = table[(table.factor == "all") & table.model.isin(frame.model)]
    assert_same(frame, bounds(shown), ["model", "n_distractors"])


def test_largest_takes_the_first_of_equals_and_unpublished_sizes_last():
    models = {
        "a": {"architecture": "decoder", "parameters": None},
        "b": {"architecture": "decoder", "parameters": 5},
        "c": {"architecture": "decoder", "parameters": 5},
    }
    assert list(rules.largest(models)) == ["b"]


def test_context_free_shows_means_and_models(tmp_path, kept):
    frame = draw("context_free", tmp_path)
    counts = synthetic.context_free(TWO, SETS)
    assert_same(frame[frame.model != "all"], counts.assign(sd=np.nan, n_models=1), ["model", "pronoun"])
    means = synthetic.context_free_summary(counts, TWO)
    means = means[means.architecture == "all"].rename(columns={"mean_count": "count", "sd_count": "sd"})
    assert_same(frame[frame.model == "all"], means.assign(model="all"), ["pronoun"])
    assert frame.pronoun.tolist() == [s["set"] for s in SETS for _ in range(3)]


def test_context_free_by_model_adds_the_random_baseline(tmp_path, kept):
    frame = draw("context_free_by_model", tmp_path)
    assert frame[frame.model == "random"]["count"].tolist() == [45] * 4
    assert_same(frame[frame.model != "random"], synthetic.context_free(TWO, SETS), ["model", "pronoun"])
    five = draw("context_free_by_model", tmp_path / "five", sets=synthetic.SETS)
    assert five[five.model == "random"]["count"].tolist() == [36] * 5


def test_introduction_accuracy_has_no_distractors_and_groups_architectures(tmp_path, kept):
    frame = draw("introduction_accuracy", tmp_path, PAPER)
    table = synthetic.accuracy(PAPER, SETS)
    assert_same(frame, bounds(table[(table.factor == "all") & (table.n_distractors == 0)]), ["model"])
    architectures = [PAPER[m]["architecture"] for m in frame.model]
    assert architectures == ["decoder"] * 20 + ["encoder"] * 9


def test_accuracy_by_pronoun_has_the_tests_between_neighbours(tmp_path, kept):
    tables = synthetic.tables(TWO, SETS)
    tests = tables["pronoun_tests"]
    turned = (tests.pronoun_a == "she") & (tests.pronoun_b == "they")
    tables["pronoun_tests"] = tests.assign(
        significant_holm=tests.significant_holm | ((tests.model == "minilm-l6-mlm") & turned)
    )
    frame = draw("accuracy_by_pronoun", tmp_path, tables=tables)
    table = tables["accuracy"].rename(columns={"level": "pronoun"})
    shown = bounds(table[(table.factor == "pronoun") & (table.n_distractors == 0)])
    of_models = frame[frame.model != "all"]
    assert_same(of_models[["model", "pronoun", "accuracy", "low", "high", "n"]], shown, ["model", "pronoun"])
    assert frame.model.tolist()[:4] == ["all"] * 4
    pooled = tests[(tests.model == "all") & (tests.pronoun_a == "he")]
    assert frame.accuracy[0] == pytest.approx(pooled.mean_a.iloc[-1])
    row = frame[(frame.model == "minilm-l6-mlm") & (frame.pronoun == "she")].iloc[0]
    expected = tests[(tests.model == "minilm-l6-mlm") & turned].iloc[0]
    assert row.next_pronoun == "they"
    assert row.significant_holm
    assert row.p_holm == pytest.approx(expected.p_holm)
    assert frame[frame.pronoun == "xe"].next_pronoun.isna().all()


def test_marks_tell_significant_others_and_undefined_apart():
    labels = {s["set"]: s["label"] for s in SETS}
    tables = synthetic.tables(TWO, SETS)
    accuracy = tables["accuracy"][tables["accuracy"].n_distractors == 0]
    frame = rules.accuracy_by_pronoun(accuracy, tables["pronoun_tests"], TWO, labels)
    drawn = rules.draw_accuracy_by_pronoun(frame, TWO, labels, 0.25, HUMAN)
    texts = [t.get_text() for ax in drawn.axes for t in ax.texts]
    tested = frame[frame.next_pronoun.notna()]
    assert texts.count("–") == tested.p_holm.isna().sum() == 1
    assert texts.count("∗") == (tested.significant_holm == True).sum() > 0  # noqa: E712
    assert texts.count("n.s.") == len(tested) - texts.count("–") - texts.count("∗")
    said = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert [mark for mark in rules.MARKS if any(one.startswith(f"{mark}  ") for one in said)] == ["∗", "n.s.", "–"]


def test_one_model_has_no_mean_over_models(tmp_path, kept):
    models = dict(list(TWO.items())[:1])
    frame = draw("accuracy_by_pronoun", tmp_path, models)
    assert set(frame.model) == set(models)


def test_accuracy_by_distractors_shows_every_model(tmp_path, kept):
    frame = draw("accuracy_by_distractors", tmp_path, PAPER)
    table = synthetic.accuracy(PAPER, SETS)
    assert_same(frame, bounds(table[table.factor == "all"]), ["model", "n_distractors"])


def test_decoders_stand_above_encoders_with_chance_and_people():
    table = synthetic.accuracy(TWO, SETS)
    drawn = rules.draw_accuracy_by_distractors(bounds(table[table.factor == "all"]), TWO, 0.25, HUMAN)
    assert [ax.get_title("left") for ax in drawn.axes] == ["Decoder-only", "Encoder-only"]
    for ax in drawn.axes:
        heights = [set(line.get_ydata()) for line in ax.lines]
        assert {0.25} in heights
        assert {HUMAN} in heights
        assert len(ax.collections) == 1
    labels = [t.get_text() for t in drawn.legends[0].get_texts()]
    assert "95% bootstrap over occupations" in labels


def test_without_sd_nothing_is_shaded_or_promised(tmp_path, kept):
    draw("error_types", tmp_path, tables=synthetic.tables(TWO, SETS, seeds=1))
    assert not any(ax.collections for ax in kept[0].axes)
    assert not any("SD" in t.get_text() for t in kept[0].legends[0].get_texts())


@pytest.mark.parametrize(
    "name",
    [
        "headline",
        "introduction_accuracy",
        "accuracy_by_pronoun",
        "accuracy_by_distractors",
        "scaling",
    ],
)
def test_models_with_too_few_instances_are_not_drawn(name, tmp_path, kept):
    tables = synthetic.tables(TWO, SETS)
    for table in ("accuracy", "scaling"):
        few = tables[table].model == "minilm-l6-mlm"
        tables[table] = tables[table].assign(n=tables[table].n.mask(few, plotting.FEWEST - 1))
    draw(name, tmp_path, tables=tables)
    (drawn,) = kept
    said = [t.get_text() for legend in drawn.legends for t in legend.get_texts()]
    colour = plotting.model_style(TWO["minilm-l6-mlm"])["color"].lower()
    assert colour not in colours(drawn)
    if name == "scaling":
        # One size is left.
        assert "two sizes" in drawn.axes[0].texts[0].get_text().replace("\n", " ")
    else:
        assert f"not drawn, with 9 instances: {TWO['minilm-l6-mlm']['label']}" in said
    assert problems(drawn, pronouns=name == "accuracy_by_pronoun") == []


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_few_instances_has_all_figures(name, count, tmp_path, kept):
    models = dict(list(PAPER.items())[5 : 5 + count])
    tables = {
        table: frame.assign(**{n: plotting.FEWEST - 1 for n in ("n", "n_unambiguous") if n in frame})
        for table, frame in synthetic.tables(models, SETS).items()
    }
    draw(name, tmp_path, models, tables=tables)
    (drawn,) = kept
    assert problems(drawn, pronouns=name in OF_PRONOUNS) == []
    if name not in ("context_free", "context_free_by_model") and (name != "accuracy_by_pronoun" or count == 1):
        assert "Nothing is drawn" in drawn.axes[0].texts[0].get_text()


def test_scaling_is_drawn_as_it_is(tmp_path, kept):
    frame = draw("scaling", tmp_path, PAPER)
    assert_same(frame, synthetic.scaling(synthetic.accuracy(PAPER, SETS), PAPER), ["model", "n_distractors"])


def test_scaling_has_a_panel_for_each_end():
    for distractors, titles in ((range(6), ["0 distractors", "5 distractors"]), ([1], ["1 distractor"])):
        frame = synthetic.scaling(synthetic.accuracy(PAPER, SETS, distractors=distractors), PAPER)
        drawn = rules.draw_scaling(frame, PAPER, 0.25, HUMAN)
        assert [ax.get_title("left") for ax in drawn.axes] == titles


def test_error_types_shows_distraction_and_bias_with_gaps(tmp_path, kept):
    frame = draw("error_types", tmp_path)
    table = synthetic.error_types(TWO)
    shown = table[table.error_type != "other"].rename(columns={"n_unambiguous": "n"})
    shown = shown.assign(low=(shown.share - shown.sd).clip(0, 1), high=(shown.share + shown.sd).clip(0, 1))
    assert_same(frame, shown, ["model", "n_distractors", "error_type"])
    assert frame.share.isna().sum() == 2


def test_a_table_that_does_not_fit_the_run_is_named_with_its_row(tmp_path):
    path = tmp_path / "accuracy.csv"
    files.write_csv(path, pd.DataFrame({"model": ["a", "b"], "n": [1, 2]}))
    with pytest.raises(UserError, match=r"accuracy\.csv: row 3: model 'b' is not in this run"):
        figures.read(path, ["n"], model=["a"])
    with pytest.raises(UserError, match=r"accuracy\.csv: model c has no row"):
        figures.read(path, ["n"], model=["a", "b", "c"])
    with pytest.raises(UserError, match=r"accuracy\.csv: column sd is missing"):
        figures.read(path, ["n", "sd"])
    files.write_csv(path, pd.DataFrame({"model": [], "n": []}))
    with pytest.raises(UserError, match=r"accuracy\.csv: has no rows"):
        figures.read(path, ["n"])


def test_figures_without_distractors_need_such_rows(tmp_path):
    with pytest.raises(UserError, match=r"add 0 to ruff\.distractors"):
        draw("introduction_accuracy", tmp_path, tables=synthetic.tables(TWO, SETS, distractors=[1, 2]))


@pytest.mark.parametrize(
    ("families", "each", "drawn", "words"),
    [
        (3, 8, 24, ""),
        (4, 8, 8, "smallest and largest of each family"),
        (20, 2, 20, "largest of each family"),
        (60, 1, 24, "largest of 24 families"),
    ],
)
def test_of_many_models_a_figure_says_which_it_shows(families, each, drawn, words):
    models = {
        f"m{family}-{size}": {"family": f"F{family}", "parameters": 10**size + family, "architecture": "decoder"}
        for family in range(families)
        for size in range(each)
    }
    names, said = figures.shown_models(models, list(models))
    assert (len(names), said) == (drawn, words) and names == [name for name in models if name in names]
    if each > 1:
        assert f"m0-{each - 1}" in names
