"""Every figure keeps the rules of figures and shows what its table says, whatever the models, sets and samples.

Values of the tables of figures are golden (tests/golden); here is what the default run does not have.
"""

import functools
import warnings

import pandas as pd
import pytest

from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.ruff import drawing, figures, pronoun_figures
from tests.figures import colours, problems
from tests.golden import marks
from tests.ruff import synthetic

OF_PRONOUNS = ("context_free", "accuracy_by_pronoun", "who_becomes_whom")
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
    """Return the tables of one of :data:`RUNS`; nobody changes them."""
    models, asked, sets, seeds, distractors = RUNS[run]
    tables = synthetic.tables(models, sets, seeds, distractors)
    if asked:
        outputs = synthetic.prompted_outputs(asked, sets, distractors, list(asked)[-1:])
        tables["estimates"] = pd.concat([tables["estimates"], synthetic.prompted_tables(outputs)["estimates"]])
    return tables


def draw(name, tables, models=TWO, sets=FOUR):
    """Return the rows and the figure that the functions of a figure make of tables."""
    select, paint = figures.FIGURES[name]
    labels = {entry["set"]: entry["label"] for entry in sets}
    run = drawing.Run(models, labels, 1 / len(sets), 0.998, ["vanilla", "kojima", "zhou"])
    rows = select(tables, run)
    return rows, drawing.draw_enough(paint, rows, run)


def few_instances(tables, **where):
    """Return tables in which shares of models rest on fewer instances than a figure draws."""
    rows = tables["estimates"]
    chosen = (rows[list(where)] == pd.Series(where)).all(axis=1)
    return tables | {"estimates": rows.assign(below=rows.below.mask(chosen, plotting.FEWEST - 1))}


CASES = [
    pytest.param(run, name, id=f"{run}-{name}")
    for run, (models, asked, *_, distractors) in RUNS.items()
    for name in figures.FIGURES
    if (asked or "prompting" not in name)
    and (len(models) > 1 or name != "scaling")
    and (list(distractors) != [0] or name != "error_types")
]


@pytest.mark.parametrize(("run", "name"), CASES)
def test_figures_keep_the_rules_and_show_their_tables(run, name):
    scored, asked, sets, _, _ = RUNS[run]
    models = asked if "prompting" in name else scored
    rows, drawn = draw(name, tables_of(run), models, sets)
    assert max(drawn.get_size_inches() - (plotting.PAGE, 9)) <= 0
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert problems(drawn, pronouns=name in OF_PRONOUNS, alone=alone) == []
    assert len(rows)
    assert marks.undrawn(name, rows.replace({"model": {"": None}}), marks.marks(drawn)) == []


@pytest.mark.parametrize("name", figures.FIGURES)
def test_nothing_is_drawn_of_a_run_of_few_instances(name):
    models = ASKED if "prompting" in name else PAPER
    _, drawn = draw(name, few_instances(tables_of("paper-five-sets")), models, synthetic.SETS)
    assert problems(drawn, pronouns=name in OF_PRONOUNS) == []
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert any("Nothing is drawn" in text for text in texts)


@pytest.mark.parametrize("name", ["introduction_accuracy", "accuracy_by_pronoun", "accuracy_by_distractors"])
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
        paths = synthetic.write(folder, {key: tables[key] for key in ("estimates", "pronoun_tests")})
        made = {kind: [str(folder / f"{name}.{kind}")] for kind in ("pdf", "png", "csv")}
        figures.figures(
            **paths, **made, templates="replica", models=TWO, asked={}, pronoun_sets=FOUR, chance=0.25, human=0.998,
            methods=["vanilla"],
        )  # fmt: skip
        return [(folder / f"{name}.{kind}").read_bytes() for kind in made]

    first, again = (write(tmp_path / name, "accuracy_by_distractors", range(6)) for name in "ab")
    assert first == again
    with pytest.raises(UserError, match=r"estimates\.csv: has no rows for introduction_accuracy; add 0 to ruff.distr"):
        write(tmp_path / "c", "introduction_accuracy", [1, 2])


def test_picks_without_context_have_a_mean_and_a_random_choice():
    tables = tables_of("paper-five-sets")
    rows, _ = draw("context_free", tables, PAPER, synthetic.SETS)
    he = rows[rows.preferred == "he"].set_index("model")["count"]
    assert he[""] == pytest.approx(he.drop("").mean())
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
    assert [texts.count(mark) for mark in pronoun_figures.MARKS] == [7, 1, 1]
    said = [text.get_text()[:4].split("  ")[0] for text in drawn.legends[0].get_texts()]
    assert [one for one in said if one in pronoun_figures.MARKS] == ["∗", "n.s.", "–"]
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
