"""Every figure keeps the rules of figures and shows what its table says, whatever the models, sets and samples.

Values of the tables of figures are golden (tests/golden); here is what the default run does not have.
"""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.ruff import curves, figures, pronoun_figure
from tests.figures import colours, problems
from tests.golden import marks
from tests.ruff import synthetic

OF_PRONOUNS = ("context_free", "context_free_by_model", "accuracy_by_pronoun", "who_becomes_whom")
WITHOUT_CONTEXT = ("context_free", "context_free_by_model")
TWO, PAPER, ASKED = synthetic.DEMONSTRATION, synthetic.paper_models(), synthetic.prompted_models()
FOUR = synthetic.SETS[:4]
MINILM = "minilm-l6-mlm"
# Models that are scored, those that are asked, pronoun sets, samples, numbers of distractors.
RUNS = {
    "one-model-one-sample": (dict(list(TWO.items())[:1]), dict(list(TWO.items())[:1]), FOUR, 1, range(6)),
    "encoder-without-distractors": (dict(list(TWO.items())[1:]), {}, synthetic.SETS, 3, [0]),
    "eight-models": (dict(list(PAPER.items())[5:13]), dict(list(ASKED.items())[:2]), synthetic.SETS, 3, [0, 2]),
    "paper-five-sets": (PAPER, ASKED, synthetic.SETS, 3, range(6)),
}


@functools.cache
def tables_of(run):
    """Return the tables of one of :data:`RUNS`, prompted models being compared with themselves; nobody changes them."""
    models, asked, sets, seeds, distractors = RUNS[run]
    tables = synthetic.tables(models, sets, seeds, distractors)
    if asked:
        orders = ["published", "rotated"]
        outputs = synthetic.prompted_outputs(asked, sets, distractors, list(asked)[-1:], orders)
        pairs = [{"prompted": name, "scored": name} for name in asked]
        for name, frame in synthetic.prompted_tables(outputs, pairs).items():
            tables[name] = pd.concat([tables[name], frame]) if len(tables[name]) else frame
    return tables


def drawn_of(models, sets):
    labels = {entry["set"]: entry["label"] for entry in sets}
    return curves.Drawn(models, labels, 1 / len(sets), 0.998, ["vanilla", "kojima", "zhou"])


def draw(name, tables, models=TWO, sets=FOUR):
    """Return the rows and the figure that the functions of a figure make of tables."""
    select, paint = figures.FIGURES[name]
    run = drawn_of(models, sets)
    rows = select(tables, run)
    return rows, paint(rows, run)


def few_instances(tables, **where):
    """Return tables in which shares of models rest on fewer instances than a figure draws."""
    changed = dict(tables)
    for name in ("estimates", "against_scored"):
        rows = changed[name]
        if len(rows):
            chosen = rows.metric != "picked"
            for column, value in where.items():
                chosen &= rows[column] == value
            changed[name] = rows.assign(below=rows.below.mask(chosen, plotting.FEWEST - 1))
    return changed


CASES = [
    pytest.param(run, name, id=f"{run}-{name}")
    for run, (models, asked, *_, distractors) in RUNS.items()
    for name in figures.FIGURES
    if (asked or "prompting" not in name)
    and (len(models) > 1 or name != "scaling")
    and (list(distractors) != [0] or name != "error_types")
]
PROMPTED = dict.fromkeys(("prompting_vanilla", "prompting_final", "prompting_chain"), marks.Shown("value", axis="y"))
PROMPTED["prompting_against_scored"] = marks.Shown("value", "lowest", "highest", "y")


@pytest.mark.parametrize(("run", "name"), CASES)
def test_figures_keep_the_rules_and_show_their_tables(run, name):
    scored, asked, sets, _, _ = RUNS[run]
    models = asked | scored if name == "prompting_against_scored" else asked if "prompting" in name else scored
    rows, drawn = draw(name, tables_of(run), models, sets)
    assert max(drawn.get_size_inches() - (plotting.PAGE, 9)) <= 0
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert problems(drawn, pronouns=name in OF_PRONOUNS, alone=alone) == []
    assert len(rows)
    rows, placed = rows.replace({"model": {"": None}}), marks.marks(drawn)
    shown = marks.missing(rows, placed, PROMPTED[name]) if name in PROMPTED else marks.undrawn(name, rows, placed)
    assert list(shown) == []


@pytest.mark.parametrize("name", figures.FIGURES)
def test_nothing_is_drawn_of_a_run_of_few_instances(name):
    models = ASKED if "prompting" in name else PAPER
    _, drawn = draw(name, few_instances(tables_of("paper-five-sets")), models, synthetic.SETS)
    assert problems(drawn, pronouns=name in OF_PRONOUNS) == []
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert any("Nothing is drawn" in text for text in texts) != (name in WITHOUT_CONTEXT)


@pytest.mark.parametrize(
    "name", ["headline", "introduction_accuracy", "accuracy_by_pronoun", "accuracy_by_distractors"]
)
def test_models_with_too_few_instances_are_named_and_not_drawn(name):
    _, drawn = draw(name, few_instances(synthetic.tables(TWO, FOUR), model=MINILM))
    assert palette.model_style(TWO[MINILM])["color"].lower() not in colours(drawn)
    said = [text.get_text() for legend in drawn.legends for text in legend.get_texts()]
    assert f"not drawn, with 9 instances: {TWO[MINILM]['label']}" in said
    assert problems(drawn, pronouns=name == "accuracy_by_pronoun") == []


def test_introductions_with_few_instances_have_no_panel():
    tables = synthetic.tables(TWO, FOUR)
    _, drawn = draw("who_becomes_whom", few_instances(tables, pronoun="they"))
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert titles == ["introduced with he", "introduced with she", "introduced with xe", ""]
    assert problems(drawn, pronouns=True) == []
    # The right set first, then what is preferred in its place.
    bars = [(bar.get_y(), bar.get_height()) for bar in drawn.axes[0].patches[::6]]
    assert bars == [pytest.approx((0, 2 / 3)), *(pytest.approx(((6 + n) / 9, 1 / 9)) for n in range(3))]


def test_figures_are_written_the_same_again_and_need_rows(tmp_path):
    def write(folder, name, distractors):
        folder.mkdir()
        tables = synthetic.tables(TWO, FOUR, distractors=distractors)
        paths = synthetic.write(folder, {key: tables[key] for key in tables if key != "normalisation"})
        made = {kind: [str(folder / f"{name}.{kind}")] for kind in ("pdf", "png", "csv")}
        figures.figures(
            **paths, **made, templates="replica", models=TWO, asked={}, pronoun_sets=FOUR, chance=0.25, human=0.998,
            methods=["vanilla"],
        )  # fmt: skip
        return [(folder / f"{name}.{kind}").read_bytes() for kind in made]

    assert write(tmp_path / "a", "headline", range(6)) == write(tmp_path / "b", "headline", range(6))
    with pytest.raises(UserError, match=r"estimates\.csv: has no rows for introduction_accuracy; add 0 to ruff.distr"):
        write(tmp_path / "c", "introduction_accuracy", [1, 2])


def test_curves_are_shaded_between_bounds_on_the_scale_if_there_are_any():
    ax = plotting.new_figure(plotting.COLUMN, 1.5).subplots()
    x, y, gaps = pd.Series([0, 1]), pd.Series([0.5, 0.4]), pd.Series([np.nan, np.nan])
    curves.draw_curve(ax, x, y, gaps, gaps, {"color": "#000000"})
    assert not ax.collections
    curves.draw_curve(ax, x, y, y - 0.45, y + 0.1, {"color": "#000000"})
    (area,) = ax.collections
    assert area.get_paths()[0].vertices[:, 1].min() == 0


def test_the_headline_shows_the_largest_of_each_architecture():
    rows, _ = draw("headline", tables_of("paper-five-sets"), PAPER)
    assert list(dict.fromkeys(rows.model)) == ["llama-2-70b", "roberta-large"]
    # The first of equals; an unpublished size is the smallest.
    sizes = {"a": None, "b": 5, "c": 5}
    models = {name: {"architecture": "decoder", "parameters": size} for name, size in sizes.items()}
    assert list(figures.largest(models)) == ["b"]


def test_picks_without_context_have_a_mean_and_a_random_choice():
    tables = tables_of("paper-five-sets")
    rows, _ = draw("context_free", tables, PAPER, synthetic.SETS)
    he = rows[rows.preferred == "he"].set_index("model")["count"]
    assert he[""] == pytest.approx(he.drop("").mean())
    by_model, _ = draw("context_free_by_model", tables, PAPER, synthetic.SETS)
    assert by_model["count"][by_model.model == "random"].tolist() == [36] * 5
    # The mean leaves out a demonstration model, so that it has no SD.
    rows, _ = draw("context_free", synthetic.tables(TWO, FOUR))
    assert (rows.n_models == 1).all() and rows.sd[rows.model == ""].isna().all()


def test_marks_tell_significant_others_and_undefined_apart():
    tables = synthetic.tables(TWO, FOUR)
    tests = tables["pronoun_tests"]
    at = tests.pronoun.map({"she|they": 1, "they|xe": 2}).fillna(0).where(tests.model == MINILM, 0)
    tests["p_holm"], tests["significant_holm"] = tests.p_holm.mask(at == 2), tests.significant_holm & (at == 0)
    rows, drawn = draw("accuracy_by_pronoun", tables)
    marked = rows[rows.model == MINILM].set_index("pronoun")
    assert marked.next_pronoun.dropna().to_dict() == {"he": "she", "she": "they", "they": "xe"}
    assert rows.model.tolist()[:4] == [""] * 4 and rows.value[0] == pytest.approx(0.9)
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert [texts.count(mark) for mark in pronoun_figure.MARKS] == [7, 1, 1]
    said = [text.get_text()[:4].split("  ")[0] for text in drawn.legends[0].get_texts()]
    assert [one for one in said if one in pronoun_figure.MARKS] == ["∗", "n.s.", "–"]
    models = RUNS["one-model-one-sample"][0]
    alone, _ = draw("accuracy_by_pronoun", tables_of("one-model-one-sample"), models)
    assert set(alone.model) == set(models)


def test_decoders_stand_above_encoders():
    _, drawn = draw("accuracy_by_distractors", synthetic.tables(TWO, FOUR))
    assert [ax.get_title("left") for ax in drawn.axes] == ["Decoder-only", "Encoder-only"]
    for ax in drawn.axes:
        assert [{0.25}, {0.998}] == [set(line.get_ydata()) for line in ax.lines[-2:]]


@pytest.mark.parametrize(
    ("distractors", "titles"), [(range(6), ["0 distractors", "5 distractors"]), ([1], ["1 distractor"])]
)
def test_scaling_has_a_panel_for_the_fewest_and_the_most_distractors(distractors, titles):
    _, drawn = draw("scaling", {"estimates": synthetic.accuracy(PAPER, FOUR, distractors=distractors)}, PAPER)
    assert [ax.get_title("left") for ax in drawn.axes] == titles
    _, one_size = draw("scaling", few_instances(synthetic.tables(TWO, FOUR), model=MINILM))
    assert "two sizes" in one_size.axes[0].texts[0].get_text().replace("\n", " ")


def test_shares_of_errors_have_gaps_and_shading_where_samples_vary():
    tables = synthetic.tables(TWO, FOUR)
    rows = tables["estimates"]
    gap = (rows.model == MINILM) & (rows.n_distractors == "5") & rows.metric.isin(["distraction", "bias"])
    rows.loc[rows.metric == "bias", "sd"] = 0.9
    rows.loc[gap, ["value", "sd"]] = None
    shown, drawn = draw("error_types", tables)
    assert shown.value.isna().sum() == 2 and (shown.low.min(), shown.high.max()) == (0, 1)
    assert problems(drawn) == []
    _, plain = draw("error_types", synthetic.tables(TWO, FOUR, seeds=1))
    assert not any(ax.collections for ax in plain.axes)
    assert not any("SD" in text.get_text() for text in plain.legends[0].get_texts())


def test_chains_of_thought_stand_beside_vanilla_answers_to_the_same_instances():
    outputs = synthetic.prompted_outputs(ASKED, FOUR, [0, 3], ["flan-t5-xxl"], size=4)
    tables = synthetic.prompted_tables(outputs[(outputs.method == "vanilla") | (outputs.n_distractors == 3)])
    vanilla, _ = draw("prompting_vanilla", tables, ASKED)
    assert (set(vanilla.method), len(vanilla)) == ({"vanilla"}, 8 * 2 * 10)
    for answer in ("final", "chain"):
        rows, _ = draw(f"prompting_{answer}", tables, ASKED)
        read = rows.groupby("method").answer.unique().map(list).to_dict()
        assert read == {"vanilla": ["final"], "kojima": [answer], "zhou": [answer]}
        assert (set(rows.model), set(rows.n_distractors), len(rows)) == ({"flan-t5-xxl"}, {3}, 3 * 10)


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
