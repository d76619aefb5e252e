"""The figures: what is written beside them is what goes in, whatever the models, pronoun sets and samples."""

import warnings

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.ruff import curves, scaling_figure, study
from scripts.ruff import figures as rules
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
    "who_becomes_whom",
)
OF_PRONOUNS = (
    "context_free",
    "context_free_by_model",
    "accuracy_by_pronoun",
    "who_becomes_whom",
)
HUMAN = 0.998
KINDS = ("pdf", "png", "csv")
TWO = synthetic.DEMONSTRATION
PAPER = synthetic.paper_models()
SETS = synthetic.SETS[:4]


def draw(name, folder, models=TWO, sets=SETS, tables=None, asked=None):
    """Run the function of a figure on tables; return what it writes as CSV."""
    paths = synthetic.write(folder, tables or synthetic.tables(models, sets))
    paths.pop("normalisation", None)
    paths |= {kind: [str(folder / f"{name}.{kind}")] for kind in KINDS}
    rules.figures(
        **paths, templates="replica", models=models, asked=asked or {}, pronoun_sets=sets,
        chance=1 / len(sets), human=HUMAN, methods=["vanilla", "kojima", "zhou"],
    )  # fmt: skip
    return study.read_table(paths["csv"][0])


def drawn_of(models=TWO, sets=SETS):
    """Return what figures are told of a run."""
    labels = {entry["set"]: entry["label"] for entry in sets}
    return curves.Drawn(models, labels, 1 / len(sets), HUMAN, ["vanilla"])


def accuracies(models=TWO, **levels):
    """Return the accuracies that figures take."""
    rows = study.pick(synthetic.accuracy(models, SETS), **({"n_distractors": ...} | levels))
    return curves.shares(rows)


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


def assert_same(got, expected, keys):
    """The frames hold the same numbers, whatever the order of rows."""
    expected = expected[list(got)].astype({"n_distractors": str} if "n_distractors" in got else {})
    pd.testing.assert_frame_equal(written(got, keys), written(expected, keys), check_dtype=False, rtol=1e-9)


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


def test_who_becomes_whom_has_every_preference_and_an_interval_on_the_right_one(tmp_path, kept):
    tables = synthetic.tables(TWO, SETS)
    rows = tables["estimates"]
    few = (rows.metric == "preferred") & (rows.pronoun == "they")
    tables["estimates"] = rows.assign(below=rows.below.mask(few, 5))
    frame = draw("who_becomes_whom", tmp_path, tables=tables)
    assert set(frame.model) == {study.main_model(TWO)}
    assert (frame.low.notna() == (frame.pronoun == frame.preferred)).all()
    (drawn,) = kept
    assert problems(drawn, pronouns=True) == []
    # Five instances are too few to draw.
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert titles == ["introduced with he", "introduced with she", "introduced with xe", ""]
    bars = [(bar.get_y(), bar.get_height()) for bar in drawn.axes[0].patches[::6]]
    assert bars == [pytest.approx((0, 2 / 3)), *(pytest.approx(((6 + n) / 9, 1 / 9)) for n in range(3))]
    nothing = rules.draw_who_becomes_whom(frame.assign(n=5), drawn_of())
    assert not any(ax.patches for ax in nothing.axes)


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
        (tmp_path / run).mkdir()
        draw(name, tmp_path / run)
    for kind in KINDS:
        first, second = ((tmp_path / run / f"{name}.{kind}").read_bytes() for run in "ab")
        assert first == second
        assert first


def test_headline_shows_the_largest_of_each_architecture(tmp_path, kept):
    frame = draw("headline", tmp_path, PAPER)
    assert list(dict.fromkeys(frame.model)) == ["llama-2-70b", "roberta-large"]
    shown = accuracies(PAPER)
    assert_same(frame, shown[shown.model.isin(frame.model)], ["model", "n_distractors"])


def test_largest_takes_the_first_of_equals_and_unpublished_sizes_last():
    models = {
        "a": {"architecture": "decoder", "parameters": None},
        "b": {"architecture": "decoder", "parameters": 5},
        "c": {"architecture": "decoder", "parameters": 5},
    }
    assert list(rules.largest(models)) == ["b"]


def picked(sets=SETS):
    """Return picks without context as figures name them."""
    rows = synthetic.context_free(TWO, sets)
    return rows[rows.metric == "picked"].rename(columns={"above": "count", "below": "n"})


def test_context_free_shows_means_and_models(tmp_path, kept):
    frame = draw("context_free", tmp_path)
    columns = ["model", "preferred", "count", "n"]
    assert_same(frame[frame.model != ""][columns], picked(), columns[:2])
    # One of the two models is a demonstration, which is left out of means.
    means = picked().query("model == 'smollm2-135m-instruct'").assign(model="")
    assert_same(frame[frame.model == ""][["model", "preferred", "count"]], means, columns[:2])
    assert (frame.n_models == 1).all() and frame.sd[frame.model == ""].isna().all()
    assert frame.preferred.tolist() == [s["set"] for s in SETS for _ in range(3)]


def test_context_free_by_model_adds_the_random_baseline(tmp_path, kept):
    frame = draw("context_free_by_model", tmp_path)
    assert frame[frame.model == "random"]["count"].tolist() == [45] * 4
    columns = ["model", "preferred", "count"]
    assert_same(frame[frame.model != "random"][columns], picked(), columns[:2])
    (tmp_path / "five").mkdir()
    five = draw("context_free_by_model", tmp_path / "five", sets=synthetic.SETS)
    assert five[five.model == "random"]["count"].tolist() == [36] * 5


def test_introduction_accuracy_has_no_distractors_and_groups_architectures(tmp_path, kept):
    frame = draw("introduction_accuracy", tmp_path, PAPER)
    assert_same(frame, accuracies(PAPER, n_distractors="0"), ["model"])
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
    shown = accuracies(n_distractors="0", pronoun=[entry["set"] for entry in SETS])
    of_models = frame[frame.model != ""]
    assert_same(of_models[["model", "pronoun", "value", "low", "high", "n"]], shown, ["model", "pronoun"])
    assert frame.model.tolist()[:4] == [""] * 4
    pooled = tests[(tests.model == "") & (tests.pronoun_a == "he")]
    assert frame.value[0] == pytest.approx(pooled.mean_a.iloc[-1])
    row = frame[(frame.model == "minilm-l6-mlm") & (frame.pronoun == "she")].iloc[0]
    expected = tests[(tests.model == "minilm-l6-mlm") & turned].iloc[0]
    assert row.next_pronoun == "they"
    assert row.significant_holm
    assert row.p_holm == pytest.approx(expected.p_holm)
    assert frame[frame.pronoun == "xe"].next_pronoun.isna().all()


def test_marks_tell_significant_others_and_undefined_apart():
    frame = rules.accuracy_by_pronoun(synthetic.tables(TWO, SETS), drawn_of())
    drawn = rules.draw_accuracy_by_pronoun(frame, drawn_of())
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
    assert_same(frame, accuracies(PAPER), ["model", "n_distractors"])


def test_decoders_stand_above_encoders_with_chance_and_people():
    drawn = rules.draw_accuracy_by_distractors(accuracies(), drawn_of())
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
    rows = tables["estimates"]
    few = (rows.model == "minilm-l6-mlm") & (rows.metric == "accuracy")
    tables["estimates"] = rows.assign(below=rows.below.mask(few, plotting.FEWEST - 1))
    draw(name, tmp_path, tables=tables)
    (drawn,) = kept
    said = [t.get_text() for legend in drawn.legends for t in legend.get_texts()]
    colour = palette.model_style(TWO["minilm-l6-mlm"])["color"].lower()
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
    tables = synthetic.tables(models, SETS)
    rows = tables["estimates"]
    tables["estimates"] = rows.assign(below=rows.below.mask(rows.metric != "picked", plotting.FEWEST - 1))
    draw(name, tmp_path, models, tables=tables)
    (drawn,) = kept
    assert problems(drawn, pronouns=name in OF_PRONOUNS) == []
    if name not in ("context_free", "context_free_by_model") and (name != "accuracy_by_pronoun" or count == 1):
        assert "Nothing is drawn" in drawn.axes[0].texts[0].get_text()


def test_scaling_takes_the_fewest_and_the_most_distractors(tmp_path, kept):
    frame = draw("scaling", tmp_path, PAPER)
    ends = accuracies(PAPER, n_distractors=["0", "5"])
    assert_same(frame[["model", "n_distractors", "value", "low", "high", "sd"]], ends, ["model", "n_distractors"])
    assert frame.parameters.tolist() == [*sorted(f["parameters"] for f in PAPER.values())] * 2


def test_scaling_has_a_panel_for_each_end():
    for counts, titles in ((range(6), ["0 distractors", "5 distractors"]), ([1], ["1 distractor"])):
        tables = {"estimates": synthetic.accuracy(PAPER, SETS, distractors=counts)}
        drawn = scaling_figure.draw_scaling(scaling_figure.scaling(tables, drawn_of(PAPER)), drawn_of(PAPER))
        assert [ax.get_title("left") for ax in drawn.axes] == titles


def test_error_types_shows_distraction_and_bias_with_gaps(tmp_path, kept):
    frame = draw("error_types", tmp_path)
    table = curves.shares(synthetic.error_types(TWO))
    shown = table[table.metric.isin(["distraction", "bias"])]
    shown = shown.assign(low=(shown.value - shown.sd).clip(0, 1), high=(shown.value + shown.sd).clip(0, 1))
    assert_same(frame, shown, ["model", "n_distractors", "metric"])
    assert frame.value.isna().sum() == 2


def test_figures_without_distractors_need_such_rows(tmp_path):
    with pytest.raises(UserError, match=r"estimates\.csv: has no rows for introduction_accuracy; add 0 to ruff.distr"):
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
    names, said = curves.shown_models(models, list(models))
    assert (len(names), said) == (drawn, words) and names == [name for name in models if name in names]
    if each > 1:
        assert f"m0-{each - 1}" in names
