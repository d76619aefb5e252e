"""Figures keep the rules of all figures, with one model and with all of the study's; what examples show is chosen."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.misgendered import examples, figures, study
from tests import figures as rules
from tests import plans
from tests.misgendered import synthetic


@pytest.mark.parametrize(
    "models",
    [
        pytest.param(synthetic.DEMONSTRATION, id="one"),
        pytest.param(synthetic.STUDY_MODELS, id="all of the study", marks=pytest.mark.nightly),
    ],
)
def test_figures_keep_the_rules(models, tmp_path):
    path = synthetic.write(tmp_path / "p.parquet", synthetic.predicted(list(models), size=330, shots=(2, 6), draws=2))
    files.write_csv(tmp_path / "estimates.csv", synthetic.estimated(path, 20))
    rows, run = study.read_table(tmp_path / "estimates.csv"), figures.Run(models, list(study.PRONOUN_GROUPS), 0.0945)
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    for name, (select, draw) in figures.FIGURES.items():
        drawn = draw(select(rows, run), run)
        assert rules.problems(drawn, alone=alone) == [], name
        if name == "few_shot":
            assert len([ax for ax in drawn.axes if ax.axison]) == len(models)
        nothing = draw(select(rows.assign(below=1), run), run)
        assert "Nothing is drawn" in nothing.axes[0].texts[0].get_text(), name


def test_the_figure_of_decoding_keeps_the_rules():
    shown = figures.decoding_example(synthetic.instances(330))
    losses = [{"option": option, "loss": 2 + 0.1 * place} for place, option in enumerate(shown.options)]
    frame = pd.DataFrame(losses).assign(model=plans.DECODER, right=lambda rows: rows.option == shown.gold)
    drawn = figures.draw_decoding(shown, frame.assign(picked=frame.index == 0), synthetic.DEMONSTRATION)
    assert rules.problems(drawn, alone=synthetic.DEMONSTRATION[plans.DECODER]["label"]) == []


@pytest.mark.parametrize(
    ("architecture", "family", "kinds"),
    [
        ("decoder", "SmolLM2", ["Decoder"]), ("encoder-decoder", "BART", ["BART"]),
        ("encoder-decoder", "FLAN-T5", ["T5"]), ("encoder-decoder", "UL2", ["T5"]),
        # Only the weights of another one tell.
        ("encoder-decoder", "Mine", ["BART", "T5"]),
    ],
)  # fmt: skip
def test_inputs_and_labels_of_one_instance(architecture, family, kinds):
    instance = pd.Series({"text": "Ada's pronouns are xe/xem. Ada rang. Please call ___ now.", "gold": "xem"})
    whole = "… Please call xem now."
    expected = {
        "Decoder": (whole, "the text itself, token by token"),
        "BART": ("… Please call <mask> now.", whole),
        "T5": ("… Please call <extra_id_0> now.", "<extra_id_0> xem <extra_id_1>"),
    }
    run = {"m": {"architecture": architecture, "family": family}}
    assert figures.read_and_predicted(instance, run) == [(kind, *expected[kind]) for kind in kinds]


def test_instances_that_tables_show_are_of_neo_pronouns_declared_explicitly_with_most_forms():
    rows = [
        ("4", "acc", "neo", "explicit", 5), ("5", "acc", "neo", "explicit", 5), ("1", "acc", "neo", "explicit", 2),
        ("2", "acc", "neo", "parenthetical", 5), ("3", "acc", "binary", "explicit", 5),
        ("7", "nom", "neo", "parenthetical", 31), ("6", "nom", "neo", "parenthetical", 41),
    ]  # fmt: skip
    columns = ["instance_id", "form", "pronoun_type", "declaration_type", "declaration_number"]
    first = examples.first_instances(pd.DataFrame(rows, columns=columns))
    assert first.set_index("form").instance_id.to_dict() == {"acc": "4", "nom": "6"}
