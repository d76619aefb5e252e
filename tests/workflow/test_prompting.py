"""Prompted models through the real workflow: a Llama-style decoder and an encoder-decoder, tiny and random."""

import pytest

from scripts.core import files
from scripts.core.data import templates
from scripts.ruff import answers
from tests.workflow.conftest import PROMPTED, edited

pytestmark = pytest.mark.workflow


def test_accuracies_can_be_recomputed_from_the_answers(finished):
    """The accuracy in the CSV equals one that is computed here from answers, prompts and rows of the samples."""
    results = finished.folder / "results/ruff"
    rows = files.read_parquet(results / "instances/replica/prompted.parquet")
    prompts = files.read_parquet(results / "prompts/replica.parquet")
    sets = templates.select_pronoun_sets(
        templates.read_pronouns(finished.folder / "templates/pronouns.tsv"), ["he", "she", "they", "xe"]
    )
    table = files.read_csv(results / "estimates.csv", dtype={"prompt": str})
    table = table[table.metric == "accuracy"]
    for model in PROMPTED:
        found = files.read_parquet(results / f"answers/replica/{model}.parquet").merge(prompts, on="text_id")
        found = found[(found.method == "kojima") & (found.prompt == "8")]
        drawn = rows[rows.chains & (rows.n_distractors == 2)].merge(found, on="instance_id")
        # Four of each seed.
        assert len(drawn) == 8
        for answer, column in (("final", "answer"), ("chain", "chain")):
            right = [
                answers.judge_answer(*row, sets)[0] == "right"
                for row in zip(drawn[column], drawn["case"], drawn.pronoun, strict=True)
            ]
            row = table[
                (table.model == model) & (table.method == "kojima") & (table.answer == answer)
                & (table.prompt == "8") & (table.n_distractors == 2)
            ]  # fmt: skip
            assert row.below.item() == 8
            assert row.value.item() == pytest.approx(sum(right) / 8)


def test_figures_and_tables_of_prompts(finished):
    results = finished.folder / "results/ruff"
    # Eight instances of each prompt are too few for a picture: none says that it has nothing to show.
    assert (results / "figures/replica").is_dir() and not list(results.glob("figures/*/prompting_*"))
    assert r"\newline{}" in (results / "tables/prompt_templates.tex").read_text(encoding="utf-8")


def test_only_scored_models_are_compared_with_likelihoods(finished):
    table = files.read_csv(finished.folder / "results/ruff/against_scored.csv")
    assert set(zip(table.prompted, table.scored, strict=True)) == {("tiny-llama", "tiny-llama")}
    predictions = files.read_parquet(finished.folder / "results/ruff/predictions/replica.parquet")
    rows = files.read_parquet(finished.folder / "results/ruff/instances/replica/prompted.parquet")
    own = predictions[predictions.model == "tiny-llama"].astype({"n_distractors": "Int64", "seed": "Int64"})
    both = rows[["instance_id", "seed", "n_distractors"]].astype({"n_distractors": "Int64", "seed": "Int64"})
    both = both.merge(own, on=["instance_id", "seed", "n_distractors"])
    # Prompted instances are among the scored ones.
    assert len(both) == len(rows)
    expected = both.groupby("n_distractors").correct.mean().astype(float)
    scored = table[table.scoring == "probability"]
    assert scored.n_distractors.tolist() == expected.index.tolist()
    assert scored.value.tolist() == pytest.approx(expected.tolist())


def test_a_changed_prompt_asks_again_and_scores_nothing(finished):
    prompts = finished.folder / "templates/ruff/prompts.tsv"
    with edited(prompts, lambda text: text.replace("the correct pronoun", "a fitting pronoun")):
        planned = finished.planned("figures", "tables")
    assert planned["prompt"] == len(PROMPTED)
    assert not {"score", "ruff_predictions"} & planned.keys()
