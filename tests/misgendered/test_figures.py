"""Figures of the MISGENDERED wing keep the rules of all figures, with one model and with all of the study's."""

import pytest

from scripts.core import files
from scripts.misgendered import examples, figures, study, tables
from tests import figures as rules
from tests.misgendered import make, synthetic

CHANCE = 0.0945


@pytest.fixture(scope="module", params=["one model", "all models"])
def given(request, tmp_path_factory):
    """Return the models of a run, its folder with predictions and estimates, and what figures know of it."""
    models = synthetic.DEMONSTRATION if request.param == "one model" else synthetic.STUDY_MODELS
    folder = tmp_path_factory.mktemp("run")
    path = synthetic.write(folder / "p.parquet", synthetic.predicted(list(models), size=330, shots=(2, 6), draws=2))
    files.write_csv(folder / "estimates.csv", synthetic.estimated(path, 20))
    return models, folder, figures.Run(models, list(synthetic.GROUPS), CHANCE)


def alone(models):
    """Return the label of the only model of a run."""
    return next(iter(models.values()))["label"] if len(models) == 1 else None


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_keep_the_rules(given, name):
    models, folder, run = given
    select, draw = figures.FIGURES[name]
    rows = study.read_table(folder / "estimates.csv")
    drawn = draw(select(rows, run), run)
    assert rules.problems(drawn, alone=alone(models)) == []
    if name == "few_shot":
        assert len([ax for ax in drawn.axes if ax.axison]) == len(models)
    nothing = draw(select(rows.assign(below=1), run), run)
    assert "Nothing is drawn" in nothing.axes[0].texts[0].get_text()


@pytest.mark.parametrize("name", tables.TABLES)
def test_tables_print_what_their_files_say(given, name, tmp_path):
    models, folder, _ = given
    paths = {"tex": str(tmp_path / "t.tex"), "csv": str(tmp_path / "t.csv")}
    tables.table(estimates=str(folder / "estimates.csv"), **paths, table=name, templates="replica", models=models)
    rows, text = study.read_table(paths["csv"]), (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert set(rows.metric) == {"accuracy"}
    assert text.startswith(r"\begin{tabular}")
    if name == "few_shot":
        # Without examples it is the declaration that examples use, not all of them.
        base = rows[rows.shots == "0"]
        assert set(base.declaration_number) == {"5"} and set(rows.shots) == {"0", "2", "6"}
        for row in base[base.pronoun_type == "neo"].to_dict("records"):
            assert f"{100 * row['value']:.1f}" in text
    if name == "zero_shot":
        row = rows[(rows.pronoun_type == "binary") & (rows.model == next(iter(models)))].iloc[0]
        assert tables.accuracy(row) in text


def test_examples_of_instances_are_the_first_by_their_rule(given, tmp_path):
    models, folder, _ = given
    files.write_parquet(tmp_path / "i.parquet", synthetic.instances(330).assign(wording="corrected"))
    paths = {"instances": "i.parquet", "tex": "t.tex", "csv": "t.csv"}
    paths = {key: str(tmp_path / name) for key, name in paths.items()}
    tables.table_evaluation_examples(predictions=str(folder / "p.parquet"), **paths, models=models)
    rows, text = files.read_csv(tmp_path / "t.csv"), (tmp_path / "t.tex").read_text(encoding="utf-8")
    largest = max(models, key=lambda name: models[name]["parameters"])
    table = files.read_parquet(folder / "p.parquet")
    chosen = table[(table.model == largest) & (table.shots == 0)].set_index("instance_id").loc[rows.instance_id]
    assert list(rows.form) == ["nom", "acc", "pos_dep", "pos_ind", "ref"] and set(rows.model) == {largest}
    assert (chosen.pronoun_type == "neo").all() and (chosen.declaration_type == "explicit").all()
    assert rows.picked.tolist() == chosen.picked.tolist()
    cells = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if " & " in line][1:]
    for row, (_, _, right, predicted) in zip(rows.itertuples(), cells, strict=True):
        assert (right.lower(), predicted.lower()) == (row.gold, row.picked)


def test_of_several_declarations_those_of_most_forms_are_shown():
    rows = synthetic.predicted(["m"], 330).assign(pronoun_type="neo", declaration_type="explicit")
    assert set(examples.first_instances(rows).declaration_number) == {5}


def test_the_framework_is_shown_from_the_files(tmp_path):
    made = make.sources(numbers=[2, 5])
    tables.table_inputs(**made, table="framework", tex=str(tmp_path / "t.tex"), csv=str(tmp_path / "t.csv"))
    steps = files.read_csv(tmp_path / "t.csv").set_index("part").text
    assert "thon" in steps["Pronoun groups"] and steps["Instances"].count("pronouns are") == 1
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert text.count(r"\newline") == steps.str.count("\n").sum() > 0
    assert all(line in text for line in steps["Names"].split("\n"))


def test_inputs_and_labels_of_one_instance():
    instances = synthetic.instances(330)
    shown = figures.decoding_example(instances)
    assert (shown.form, shown.pronoun_type, shown.declaration_type) == ("acc", "neo", "explicit")
    facts = {
        "BART": ("encoder-decoder", "BART"),
        "T5": ("encoder-decoder", "FLAN-T5"),
        "UL2": ("encoder-decoder", "UL2"),
    }
    run = {name: dict(zip(("architecture", "family"), pair, strict=True)) for name, pair in facts.items()}
    kinds = {kind: (read, label) for kind, read, label in figures.read_and_predicted(shown, run)}
    assert list(kinds) == ["BART", "T5"]
    # Only what the run has is shown, and both where a family is not known.
    assert [kind for kind, *_ in figures.read_and_predicted(shown, synthetic.DEMONSTRATION)] == ["Decoder"]
    assert [kind for kind, *_ in figures.read_and_predicted(shown, {"UL2": run["UL2"]})] == ["T5"]
    unknown = {"own": {"architecture": "encoder-decoder", "family": "Mine"}}
    assert len(figures.read_and_predicted(shown, unknown)) == 2
    assert "<mask>" in kinds["BART"][0] and shown.gold in kinds["BART"][1]
    assert kinds["T5"][1] == f"<extra_id_0> {shown.gold} <extra_id_1>"
