"""From scores to predictions and from answers to outcomes, on a few instances that can be counted by hand."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import templates
from scripts.ruff import predictions
from tests import plans
from tests.refusals import refused
from tests.ruff.synthetic import FOUR, SHARING

PRONOUNS = templates.select_pronoun_sets(plans.PRONOUNS, FOUR)


def instance(identifier, task, n=None, seed=None, **facts):
    known = dict.fromkeys(("polarity", "pronoun", "distractor_pronoun", "gold"))
    known |= {"occupation": ("baker", "clerk")[task], "participant": "p", "case": "nominative", "options": FOUR}
    return known | {"instance_id": identifier, "task_index": task, "n_distractors": n, "seed": seed} | facts


@pytest.fixture
def selected():
    """Two task sentences: each without context, and one instance drawn by two seeds."""
    given = {"polarity": "positive", "pronoun": "xe", "distractor_pronoun": "she", "gold": "xe"}
    return pd.DataFrame([instance("f0", 0), instance("f1", 1), *(instance("a", 1, 1, s, **given) for s in (13, 17))])


def scores(**best):
    return pd.DataFrame(
        [
            {"instance_id": i, "option_index": k, "log_probability": -1.0 if k == b else -5.0}
            for i, b in best.items()
            for k in range(4)
        ]
    )


def test_predictions_join_scores_with_every_sample(selected):
    # Scores come in another order than instances.
    table = predictions.make_predictions(selected, scores(a=3, f1=2, f0=0), "m", FOUR)
    assert table.setting.tolist() == ["context_free", "context_free", "fidelity", "fidelity"]
    assert table.prediction.tolist() == ["he", "they", "xe", "xe"]
    assert table.context_free_prediction.tolist() == ["he", "they", "they", "they"]
    assert table.correct.isna().tolist() == [True, True, False, False] and table.correct.dropna().all()
    assert table.margin.tolist() == [4.0] * 4
    wrong = predictions.make_predictions(selected, scores(a=1, f1=2, f0=0), "m", FOUR)
    assert not wrong.correct.dropna().any()


def test_models_with_smaller_samples_score_the_first_of_each(selected, tmp_path, monkeypatch):
    files.write_parquet(tmp_path / "selected.parquet", selected.assign(priority=[None, None, 3, 4]))
    monkeypatch.setattr(predictions.model_outputs, "read_scores", lambda path, model, scored: scored)
    read = predictions.read_scores(str(tmp_path / "selected.parquet"), ["", ""], ["m", "n"], {"m": 4, "n": 5})
    assert {model: len(scored) for model, scored, _ in read} == {"m": 3, "n": 4}


def test_scores_that_do_not_fit_the_instances_are_refused(selected):
    with refused("scores of m", "a", "not scored", "delete"):
        predictions.make_predictions(selected, scores(f0=0, f1=2), "m", FOUR)
    # Otherwise the place of a form would be taken for another set.
    with refused("f0", "4 options", "3 pronoun sets", "delete"):
        predictions.make_predictions(selected, scores(f0=0, f1=2, a=2), "m", FOUR[:3])
    with refused("scores of m", "context-free"):
        predictions.make_predictions(selected[1:].assign(task_index=[1, 0, 0]), scores(f1=2, a=2), "m", FOUR)


# Two instances; the second is in two samples and is asked for a chain in one of them.
PROMPTED = pd.DataFrame(
    [
        ("a0", 13, 0, "baker", "nominative", "she", False),
        ("b1", 13, 1, "cook", "accusative", "xe", True),
        ("b1", 17, 1, "cook", "accusative", "xe", False),
    ],
    columns=["instance_id", "seed", "n_distractors", "occupation", "case", "pronoun", "chains"],
)
WRITTEN = pd.DataFrame(
    [
        ("a0", "vanilla", "0", "open", None, "She."),
        ("a0", "vanilla", "5", "options", None, "he"),
        ("b1", "vanilla", "0", "open", None, "xe"),
        ("b1", "vanilla", "5", "options", None, "xem or him"),
        ("b1", "kojima", "0", "open", "It is xem.", ""),
    ],
    columns=["instance_id", "method", "prompt", "kind", "chain", "answer"],
)
PROMPTS = WRITTEN.assign(text_id=WRITTEN.instance_id + WRITTEN.method + WRITTEN.prompt)
ANSWERS = PROMPTS[["text_id", "chain", "answer"]][::-1]
PROMPTS = PROMPTS.drop(columns=["chain", "answer"])


def outputs(answers=ANSWERS):
    return predictions.make_outputs(PROMPTED, PROMPTS, answers, "m", PRONOUNS)


def test_outputs_belong_to_every_sample_of_their_instance():
    rows = outputs()
    assert len(rows) == 2 + 2 * 2 + 2
    # Chains are asked for in one of the samples.
    assert rows[rows.method == "kojima"].seed.unique().tolist() == [13]
    keys = ["instance_id", "seed", "method", "prompt", "answer"]
    found = rows.astype(object).where(rows.notna(), None).set_index(keys)[["outcome", "named"]]
    told = {key: tuple(values) for key, values in zip(found.index, found.to_numpy(), strict=True)}
    assert told["a0", 13, "vanilla", "0", "final"] == ("right", "she")
    assert told["a0", 13, "vanilla", "5", "final"] == ("wrong", "he")
    assert told["b1", 17, "vanilla", "5", "final"] == ("several", None)
    assert told["b1", 17, "vanilla", "0", "final"] == ("wrong_case", "xe")
    assert told["b1", 13, "kojima", "0", "chain"] == ("right", "xe")
    assert told["b1", 13, "kojima", "0", "final"] == ("none", None)


def test_a_form_of_two_sets_is_right_for_either():
    sets = SHARING | {"xe": PRONOUNS["xe"]}
    asked = pd.DataFrame(
        [(name, 13, 0, "cook", "accusative", name, False) for name in sets], columns=PROMPTED.columns
    )  # fmt: skip
    prompts = pd.DataFrame([(name, name, "vanilla", "5", "options") for name in sets])
    prompts.columns = ["text_id", "instance_id", "method", "prompt", "kind"]
    rows = predictions.make_outputs(asked, prompts, prompts[["text_id"]].assign(chain=None, answer="em"), "m", sets)
    rows = rows.set_index("instance_id")
    assert rows.outcome.to_dict() == {"e": "right", "ey": "right", "xe": "wrong"}
    assert rows.named.to_dict() == {"e": "e", "ey": "ey", "xe": "e or ey"}


def test_a_model_may_be_asked_by_fewer_methods_but_not_by_other_prompts():
    assert set(outputs(ANSWERS[ANSWERS.chain.isna()]).method) == {"vanilla"}
    for wrong in (ANSWERS[2:], pd.concat([ANSWERS, ANSWERS[:1]]), ANSWERS.assign(text_id="x" + ANSWERS.text_id)):
        with refused("answers of m", "other prompts", "delete"):
            outputs(wrong)
