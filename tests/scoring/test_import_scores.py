"""Scores that were computed elsewhere: they become the model's, or are refused by file, instance and option."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import losses, model_outputs
from scripts.scoring import import_scores, score
from tests import jobs
from tests.refusals import refused
from tests.scoring.test_score import write_instances

ENTRY = {"label": "Theirs", "outputs": {}, "architecture": "decoder", "demonstration": False}


@pytest.fixture(scope="module")
def scored(tmp_path_factory, entries):
    """A folder with instances and this project's own scores of them."""
    folder = tmp_path_factory.mktemp("scored")
    write_instances(folder / "instances.parquet", 12, repeated=3)
    given = jobs.model_arguments(entries, "tiny-llama", folder) | {"criterion": "continuation", "engine": "packed"}
    score.main(**given, instances=str(folder / "instances.parquet"), scores=str(folder / "scores.parquet"))
    return folder


@pytest.fixture
def bring(scored, tmp_path):
    """Import a table as a file of some name; return the scores."""

    def bring(table, name="given.csv", criterion="continuation"):
        path, scores = tmp_path / name, tmp_path / "scores.parquet"
        table.to_csv(path, index=False) if name.endswith(".csv") else table.to_parquet(path)
        import_scores.main(
            instances=str(scored / "instances.parquet"), given=str(path), scores=str(scores), model="theirs",
            entry=ENTRY, criterion=criterion,
        )  # fmt: skip
        return files.read_parquet(scores)

    return bring


@pytest.fixture
def own(scored):
    return files.read_parquet(scored / "scores.parquet")


@pytest.mark.parametrize("name", ["given.csv", "given.parquet"])
@pytest.mark.parametrize("left_out", ["option_index", "mean_log_probability"])
def test_scores_in_any_order_become_the_models(name, left_out, bring, own, tmp_path):
    shuffled = own.sample(frac=1, random_state=1).drop(columns=left_out)
    pd.testing.assert_frame_equal(bring(shuffled, name), own)
    facts = files.parquet_metadata(tmp_path / "scores.parquet")
    assert (facts["model"], facts["instances"], facts["source"]) == ("theirs", 12, {"outputs": name})


def test_scores_are_read_by_studies_as_any_others(bring, own, scored, tmp_path):
    instances = files.read_parquet(scored / "instances.parquet")
    bring(own, criterion="log_likelihood")
    read = model_outputs.read_scores(tmp_path / "scores.parquet", "theirs", instances)
    assert read.log_probability.tolist() == own.log_probability.tolist()
    # MISGENDERED compares the mean over the tokens of the text, whose labels are all of a decoder's.
    mean = losses.comparable_scores(bring(own.assign(option_tokens=1), criterion="label_loss"))
    assert mean.log_probability.tolist() == pytest.approx(own.mean_log_probability.tolist())


def with_cell(row, column, value):
    return lambda table: table.astype({column: object}).mask(
        (table.index == row).reshape(-1, 1) & [c == column for c in table], value
    )


SHE = ["instance 0000000000000001", "option 'she'"]
REFUSED = {
    "no counts": (lambda t: t.drop(columns="scored_tokens"), ["column scored_tokens"]),
    "no options": (lambda t: t.drop(columns="option"), ["column option"]),
    "infinite": (with_cell(5, "log_probability", "-inf"), [*SHE, "log_probability is -inf"]),
    "positive": (with_cell(5, "log_probability", 0.5), [*SHE, "log_probability is 0.5"]),
    "empty": (with_cell(5, "log_probability", ""), [SHE[0], "column log_probability is empty"]),
    "text": (with_cell(5, "continuation_log_probability", "x"), [SHE[1], "continuation_log_probability is nan"]),
    "part": (with_cell(5, "continuation_log_probability", -9999), ["more probable than a part of it"]),
    "zero tokens": (with_cell(5, "scored_tokens", 0), [*SHE, "scored_tokens is 0"]),
    "half a token": (with_cell(5, "scored_tokens", 2.5), [*SHE, "scored_tokens is 2.5"]),
    "another instance": (with_cell(5, "instance_id", "x"), ["instance x is not among"]),
    "another option": (with_cell(5, "option", "hen"), [SHE[0], "'hen'"]),
    "twice": (lambda t: pd.concat([t, t[4:5]]), [SHE[0], "option 'he' occurs twice"]),
    "an option less": (lambda t: t.drop(index=[5, 9]), [SHE[0], "lacks the option 'she'"]),
    "an instance less": (lambda t: t[4:], ["instance 0000000000000000 is not scored", "1 of 12"]),
}


@pytest.mark.parametrize(("change", "named"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_every_option_once_is_refused(change, named, bring, own):
    with refused("given.csv", *named, "correct the file", "docs/models.md"):
        bring(change(own))


def test_a_damaged_file_is_refused(tmp_path, scored):
    (tmp_path / "given.parquet").write_text("no table")
    with refused("given.parquet", "not Parquet", "correct the file"):
        import_scores.main(
            instances=str(scored / "instances.parquet"), given=str(tmp_path / "given.parquet"),
            scores=str(tmp_path / "scores.parquet"), model="theirs", entry=ENTRY,
        )  # fmt: skip
    assert not (tmp_path / "scores.parquet").exists()
