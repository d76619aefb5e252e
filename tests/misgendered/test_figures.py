"""Figures of the MISGENDERED wing keep the rules of all figures, with one model and with all of the study's."""

import pytest

from scripts.core import files
from scripts.core.paper import plotting
from scripts.misgendered import analyses, tables
from scripts.misgendered import figures as drawing
from scripts.misgendered.lib import examples, figures
from tests import figures as rules
from tests.misgendered import synthetic

CHANCE = 0.0945
SHIPPED = {"templates": "templates/misgendered/templates.tsv", "names": "templates/misgendered/names.tsv"}


@pytest.fixture(scope="module", params=["one model", "all models"])
def given(request):
    models = synthetic.DEMONSTRATION if request.param == "one model" else synthetic.STUDY_MODELS
    table = synthetic.predicted(list(models), size=330, shots=(2, 6), draws=2)
    return models, table, analyses.accuracies(table, "replica", 100, 1)


def alone(models):
    """Return the label of the only model of a run."""
    return next(iter(models.values()))["label"] if len(models) == 1 else None


def test_accuracies_by_group(given):
    models, _, table = given
    frame = figures.pooled_rows(table, "replica", {"pronoun_type", "group"})
    frame = frame[frame.model.isin(figures.panels(models))]
    with plotting.style():
        drawn = figures.accuracy_rows(frame, {group: group for group in synthetic.GROUPS}, models, CHANCE, "group")
    assert rules.problems(drawn, alone=alone(models)) == []


def test_accuracy_by_size(given):
    models, _, table = given
    frame = figures.pooled_rows(table, "replica", {"pronoun_type"})
    frame = frame[frame.model.isin(models)]
    frame = frame.assign(parameters=frame.model.map({name: facts["parameters"] for name, facts in models.items()}))
    assert rules.problems(drawing.draw_model_size(frame, models, CHANCE), alone=alone(models)) == []
    assert drawing.short_number(134515008, None) == "135M"
    assert drawing.short_number(2.7e9, None) == "2.7B"


def test_examples_in_the_prompt(given):
    models, table, _ = given
    by_draw = analyses.by_draw(table)
    drawn = drawing.draw_few_shot(analyses.over_draws(by_draw), by_draw, models, CHANCE)
    assert rules.problems(drawn, alone=alone(models)) == []
    assert len([ax for ax in drawn.axes if ax.axison]) == len(models)


def test_the_table_of_examples_is_what_its_file_says(given, tmp_path):
    """Without examples both have the declaration that examples use, not all of them."""
    models, predictions, accuracies = given
    files.write_csv(tmp_path / "over.csv", analyses.over_draws(analyses.by_draw(predictions)))
    files.write_csv(tmp_path / "accuracy.csv", accuracies)
    given = {"accuracy_over_draws": "over.csv", "accuracy": "accuracy.csv", "tex": "t.tex", "csv": "t.csv"}
    tables.table_few_shot(
        **{key: str(tmp_path / name) for key, name in given.items()}, templates="replica", models=models
    )  # fmt: skip
    rows = files.read_csv(tmp_path / "t.csv")
    declared = predictions[(predictions.shots == 0) & (predictions.declaration == "explicit_5")]
    shown = rows[(rows.shots == 0) & (rows.pronoun_type == "neo")].set_index("model")
    cells = (tmp_path / "t.tex").read_text(encoding="utf-8")
    for model, part in declared[declared.pronoun_type == "neo"].groupby("model"):
        assert shown.n[model] == len(part)
        assert f"{100 * shown.accuracy[model]:.1f}" in cells
    assert set(rows.shots) == {0, 2, 6}


def test_samples_of_few_instances_have_all_figures(given):
    models, table, accuracies = given
    nothing = accuracies[accuracies.n < 0].assign(parameters=1.0)
    by_draw = analyses.by_draw(table)
    for drawn in (
        figures.accuracy_rows(nothing, {}, models, CHANCE, "group"),
        drawing.draw_model_size(nothing, models, CHANCE),
        drawing.draw_few_shot(analyses.over_draws(by_draw).head(0), by_draw.head(0), models, CHANCE),
    ):
        assert "Nothing is drawn" in drawn.axes[0].texts[0].get_text()
        assert rules.problems(drawn) == []


def test_examples_of_instances_are_the_first_by_their_rule(given, tmp_path):
    models, table, _ = given
    instances = synthetic.instances(330)
    shown = examples.evaluation_examples(table, instances, next(iter(models)))
    assert list(shown.form) == ["nom", "acc", "pos_dep", "pos_ind", "ref"]
    chosen = table[table.instance_id.isin(shown.instance_id)].drop_duplicates("instance_id")
    assert (chosen.pronoun_type == "neo").all() and (chosen.declaration_type == "explicit").all()
    largest = max(models, key=lambda name: models[name]["parameters"])
    files.write_parquet(tmp_path / "p.parquet", table.sort_values(["shots", "model"], kind="stable"))
    files.write_parquet(tmp_path / "i.parquet", instances)
    paths = {"predictions": "p.parquet", "instances": "i.parquet", "tex": "t.tex", "csv": "t.csv"}
    tables.table_evaluation_examples(**{key: str(tmp_path / name) for key, name in paths.items()}, models=models)
    rows, text = files.read_csv(tmp_path / "t.csv"), (tmp_path / "t.tex").read_text(encoding="utf-8")
    of_largest = table[(table.model == largest) & (table.shots == 0)].set_index("instance_id")
    assert rows.picked.tolist() == of_largest.picked[rows.instance_id].tolist() and set(rows.model) == {largest}
    cells = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if " & " in line][1:]
    for row, (_, _, right, predicted) in zip(rows.itertuples(), cells, strict=True):
        assert (right.lower(), predicted.lower()) == (row.gold, row.picked)


def test_the_framework_is_shown_from_the_files(tmp_path):
    tables.table_framework(
        template_files=list(SHIPPED.values()), kinds=list(SHIPPED), pronouns="templates/pronouns.tsv",
        combinations="templates/misgendered/declarations.tsv", pronoun_sets=list(synthetic.GROUPS),
        types=["explicit", "parenthetical"], numbers=[2, 5], wording="corrected", tex=str(tmp_path / "t.tex"),
        csv=str(tmp_path / "t.csv"),
    )  # fmt: skip
    steps = files.read_csv(tmp_path / "t.csv").set_index("part").text
    assert "thon" in steps["Pronoun groups"] and steps["Instances"].count("pronouns are") == 1
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert text.count(r"\newline") == steps.str.count("\n").sum() > 0
    assert all(line in text for line in steps["Names"].split("\n"))


def test_inputs_and_labels_of_one_instance():
    instances = synthetic.instances(330)
    shown = drawing.decoding_example(instances)
    assert (shown.form, shown.pronoun_type, shown.declaration_type) == ("acc", "neo", "explicit")
    facts = {
        "BART": ("encoder-decoder", "BART"),
        "T5": ("encoder-decoder", "FLAN-T5"),
        "UL2": ("encoder-decoder", "UL2"),
    }
    run = {name: dict(zip(("architecture", "family"), pair, strict=True)) for name, pair in facts.items()}
    kinds = {kind: (read, label) for kind, read, label in drawing.read_and_predicted(shown, run)}
    assert list(kinds) == ["BART", "T5"]
    # Only what the run has is shown, and both where a family is not known.
    assert [kind for kind, *_ in drawing.read_and_predicted(shown, synthetic.DEMONSTRATION)] == ["Decoder"]
    assert [kind for kind, *_ in drawing.read_and_predicted(shown, {"UL2": run["UL2"]})] == ["T5"]
    unknown = {"own": {"architecture": "encoder-decoder", "family": "Mine"}}
    assert len(drawing.read_and_predicted(shown, unknown)) == 2
    assert "<mask>" in kinds["BART"][0] and shown.gold in kinds["BART"][1]
    assert kinds["T5"][1] == f"<extra_id_0> {shown.gold} <extra_id_1>"
