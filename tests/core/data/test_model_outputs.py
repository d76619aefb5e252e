"""What models left is checked where studies read it: each attack on a file is refused, and names what is wrong."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.core import files
from scripts.core.data import instances, model_outputs
from scripts.core.errors import UserError
from scripts.prompting import merge_answers
from scripts.scoring import merge_scores
from tests.core.data.outputs import changed, write
from tests.refusals import refused

OPTIONS = ["he", "she", "they"]
REMEDY = "run the workflow again"


# Scores ------------------------------------------------------------------------------------------------------------

INSTANCES = pd.DataFrame({"instance_id": [f"{i:016x}" for i in [*range(40), 3]], "options": [OPTIONS] * 41})
"""The last one is the fourth again, in another sample."""


def rows_of_scores(count=40):
    random = np.random.default_rng(1)
    rows = [
        (f"{i:016x}", word, index, -40 + random.normal()) for i in range(count) for index, word in enumerate(OPTIONS)
    ]
    frame = pd.DataFrame(rows, columns=["instance_id", "option", "option_index", "log_probability"])
    return frame.assign(scored_tokens=9, option_tokens=1, continuation_log_probability=-1.0)


SIXTH, SHE = "0000000000000005", "option 'she'"
SCORES = {
    "nan": (lambda f: changed(f, 16, "log_probability", np.nan), [SIXTH, SHE, "log_probability is nan"]),
    "inf": (lambda f: changed(f, 16, "log_probability", np.inf), [SIXTH, SHE, "log_probability is inf"]),
    "minus inf": (lambda f: changed(f, 16, "log_probability", -np.inf), [SIXTH, SHE, "log_probability is -inf"]),
    "empty": (lambda f: changed(f, 16, "log_probability", None), ["row 17", SIXTH, "log_probability is empty"]),
    "positive": (lambda f: changed(f, 16, "log_probability", 3.0), [SIXTH, SHE, "log_probability is 3.0"]),
    "missing row": (lambda f: f.drop(index=16), [SIXTH, "lacks the option 'she'"]),
    "missing first option": (lambda f: f.drop(index=15), [SIXTH, "lacks the option 'he'"]),
    "missing option everywhere": (lambda f: f[f.option != "they"], ["0" * 16, "lacks the option 'they'"]),
    "missing instance": (lambda f: f.drop(index=[15, 16, 17]), [SIXTH, "is not scored (1 of 40 are not)"]),
    "no rows": (lambda f: f.iloc[:0], ["0" * 16, "is not scored (40 of 40 are not)"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[16:17]]), [SIXTH, SHE, "twice"]),
    "contradicting row": (
        lambda f: pd.concat([f, f.iloc[16:17].assign(log_probability=-1.5)]), [SIXTH, SHE, "twice"],
    ),
    "unknown instance": (
        lambda f: pd.concat([f, f.iloc[:3].assign(instance_id="feed")]), ["instance feed", "not among those"],
    ),
    "text for numbers": (
        lambda f: f.assign(log_probability=f.log_probability.map(str)), ["log_probability holds string", "fraction"],
    ),
    "whole numbers": (lambda f: f.assign(log_probability=1), ["log_probability holds int64", "fraction"]),
    "lists": (lambda f: f.assign(instance_id=[[i] for i in f.instance_id]), ["instance_id holds list<"]),
    "fractional index": (lambda f: f.assign(option_index=f.option_index + 0.5), ["option_index holds double", "whole"]),
    "other option": (lambda f: changed(f, 16, "option", "xe"), [SIXTH, "'xe' is not its option 1, 'she'"]),
    "swapped options": (
        lambda f: f.assign(option=f.option.replace({"he": "she", "she": "he"})), ["'she' is not its option 0"],
    ),
    "option beyond": (lambda f: changed(f, 16, "option_index", 9), [SIXTH, "no option 9"]),
    "negative index": (lambda f: changed(f, 16, "option_index", -1), [SIXTH, "no option -1"]),
    "without ids": (lambda f: f.drop(columns="instance_id"), ["column instance_id is missing"]),
    "without scores": (lambda f: f.drop(columns="log_probability"), ["column log_probability is missing"]),
    "missing id": (lambda f: changed(f, 16, "instance_id", None), ["row 17", "instance_id is empty"]),
    "nan of a part": (
        lambda f: changed(f, 16, "continuation_log_probability", np.nan),
        [SIXTH, SHE, "continuation_log_probability is nan"],
    ),
    "no tokens": (lambda f: changed(f, 16, "scored_tokens", 0), [SIXTH, SHE, "scored_tokens is 0"]),
    "no option tokens": (lambda f: changed(f, 16, "option_tokens", -1), [SIXTH, SHE, "option_tokens is -1"]),
    "half a token": (
        lambda f: changed(f.assign(option_tokens=1.0), 16, "option_tokens", 1.5), [SIXTH, SHE, "option_tokens is 1.5"],
    ),
    "infinite without a capital": (
        lambda f: changed(f.assign(uncapitalised_log_probability=np.nan), 16, "uncapitalised_log_probability", -np.inf),
        [SIXTH, SHE, "uncapitalised_log_probability is -inf"],
    ),
    "more than a part": (
        lambda f: changed(f, 16, "continuation_log_probability", -200.0), [SIXTH, SHE, "more probable than a part"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "named"), SCORES.values(), ids=SCORES)
def test_attacks_on_scores_are_refused(tmp_path, change, named):
    path = write(tmp_path / "m.parquet", change(rows_of_scores()))
    with refused(path, *named, REMEDY):
        model_outputs.read_scores(path, "m", INSTANCES)


@pytest.mark.parametrize("rows", [1, 10, 1000])
def test_scores_are_read_in_parts_of_any_size_and_in_any_order(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(model_outputs, "BATCH", rows)
    frame = rows_of_scores()
    files.write_parquet(tmp_path / "instances.parquet", INSTANCES)
    asked = model_outputs.ExpectedOptions.read(tmp_path / "instances.parquet")
    assert len(asked.owner) == 41 and len(asked.sizes) == 40
    for given in (frame, frame.sample(frac=1, random_state=1)):
        path = write(tmp_path / "m.parquet", given)
        parts = list(model_outputs.score_parts(path, "m", asked, ["scored_tokens"]))
        read = pd.concat([part.assign(owner=owner) for owner, part in parts])
        read = read.sort_values(["owner", "option_index"], ignore_index=True)
        assert read.log_probability.tolist() == frame.log_probability.tolist()
        assert read.owner.tolist() == np.repeat(np.arange(40), 3).tolist()
    # A row that is in two parts.
    path = write(tmp_path / "m.parquet", pd.concat([frame, frame.iloc[16:17]]))
    with refused(path, SIXTH, SHE, "twice"):
        list(model_outputs.score_parts(path, "m", asked))


@pytest.mark.parametrize("widths", [(400,), pytest.param((1, 40), marks=pytest.mark.nightly)], ids=["few", "all"])
def test_damage_anywhere_in_a_file_of_scores_is_refused_or_harmless(tmp_path, widths):
    """Zeroed and flipped bytes either change nothing that is read or end in one line."""
    path = write(tmp_path / "m.parquet", rows_of_scores()[[*model_outputs.SCORES]])
    good, expected = path.read_bytes(), model_outputs.read_scores(path, "m", INSTANCES)
    places = [(width, start) for width in widths for start in range(0, len(good) - width, 37)]
    harmless = 0
    for width, start in places:
        damaged = bytes([good[start] ^ 16]) if width == 1 else bytes(width)
        path.write_bytes(good[:start] + damaged + good[start + width :])
        try:
            made = model_outputs.read_scores(path, "m", INSTANCES)
        except UserError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        else:
            pd.testing.assert_frame_equal(made, expected)
            harmless += 1
    assert harmless < len(places) / 2


# Putting shards together -------------------------------------------------------------------------------------------


def shards(tmp_path, change=lambda frame: frame, of=2, **facts):
    """Write two shards, of which the second is changed and says other ``facts`` of itself."""
    frame = rows_of_scores()
    paths = [str(tmp_path / f"{k}of2.parquet") for k in (1, 2)]
    for number, (path, part, own) in enumerate(
        zip(paths, (frame[:60], change(frame[60:])), ({}, facts), strict=True), 1
    ):
        counts = {"instances": 20, "text_tokens": 1, "forward_tokens": 1, "shard": number, "shards": of} | own
        write(path, part, **{key: value for key, value in counts.items() if value is not None})
    return paths


def test_sound_shards_are_put_together(tmp_path):
    merge_scores.main(shards=shards(tmp_path), scores=str(tmp_path / "m.parquet"))
    pd.testing.assert_frame_equal(files.read_parquet(tmp_path / "m.parquet"), rows_of_scores())
    facts = files.parquet_metadata(tmp_path / "m.parquet")
    assert (facts["instances"], facts["text_tokens"]) == (40, 2) and "shard" not in facts


SHARDS = {
    "nan": (lambda f: changed(f, 61, "log_probability", np.nan), {}, ["log_probability is nan"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[1:2]]), {}, ["option 'she' occurs twice"]),
    "missing instance": (lambda f: f.iloc[3:], {}, ["20 instances", "19"]),
    "no ids": (lambda f: f.drop(columns="instance_id"), {}, ["column instance_id is missing"]),
    "text": (lambda f: f.assign(log_probability="x"), {}, ["log_probability holds string"]),
    "more columns": (lambda f: f.assign(more=1), {}, ["its columns differ", "1of2"]),
    "overlap": (lambda f: rows_of_scores()[:60], {}, ["0" * 16, "in another shard"]),
    "order": (lambda f: f, {"shard": 1}, ["part 1 of 2", "part 2 of 2 was expected"]),
    "another whole": (lambda f: f, {"shards": 3}, ["shards is 3, but 2 in", "1of2"]),
    "revision": (lambda f: f, {"revision": "other"}, ["revision is 'other', but None in", "1of2"]),
    "what begins texts": (lambda f: f, {"bos_token": "<s>"}, ["bos_token is '<s>', but None in", "1of2"]),
    "without counts": (lambda f: f, {"instances": None}, ["do not say how many instances"]),
}


@pytest.mark.parametrize(("change", "facts", "named"), SHARDS.values(), ids=SHARDS)
def test_attacks_on_shards_are_refused(tmp_path, change, facts, named):
    paths = shards(tmp_path, change, **facts)
    with refused(f"{paths[1]}: ", *named, REMEDY):
        merge_scores.main(shards=paths, scores=str(tmp_path / "m.parquet"))
    assert not (tmp_path / "m.parquet").exists()


def test_the_first_parts_of_a_finer_division_are_not_the_whole(tmp_path):
    paths = shards(tmp_path, of=3)
    with refused(f"{paths[0]}: ", "part 1 of 3", "part 1 of 2 was expected", REMEDY):
        merge_scores.main(shards=paths, scores=str(tmp_path / "m.parquet"))


# Answers -----------------------------------------------------------------------------------------------------------

PROMPTS = pd.DataFrame(
    [("p0", "vanilla", None), ("p1", "vanilla", None), ("p2", "kojima", "{first} {chain}")],
    columns=["text_id", "method", "follow_up"],
)
ANSWERS = pd.DataFrame(
    [("p0", None, "she"), ("p1", None, ""), ("p2", "He.", "he")], columns=["text_id", "chain", "answer"]
).convert_dtypes()


def test_sound_answers_are_read(tmp_path):
    path = write(tmp_path / "m.parquet", ANSWERS, methods=["vanilla", "kojima"])
    assert model_outputs.read_answers(path, "m", PROMPTS).answer.tolist() == ["she", "", "he"]
    # A model may be asked by one method alone.
    path = write(tmp_path / "m.parquet", ANSWERS.iloc[:2], methods=["vanilla"])
    assert len(model_outputs.read_answers(path, "m", PROMPTS)) == 2


BAD_ANSWERS = {
    "missing row": (lambda f: f.iloc[1:], ["text p0", "1 of 3 have none"]),
    "missing method": (lambda f: f.iloc[:2], ["text p2 has no answer"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[:1]]), ["text p0 occurs twice"]),
    "unknown text": (lambda f: changed(f, 0, "text_id", "zz"), ["text zz", "not among the prompts"]),
    "empty": (lambda f: changed(f, 0, "answer", None), ["text p0", "answer is empty"]),
    "no chain": (lambda f: changed(f, 2, "chain", None), ["text p2", "two steps", "no chain"]),
    "chain without step": (lambda f: changed(f, 0, "chain", "So."), ["text p0", "one step", "a chain"]),
    "numbers": (lambda f: f.assign(answer=[1, 2, 3]), ["answer holds int64", "text"]),
    "no column": (lambda f: f.drop(columns="chain"), ["column chain is missing"]),
    "missing id": (lambda f: changed(f, 0, "text_id", None), ["row 1", "text_id is empty"]),
}


@pytest.mark.parametrize(("change", "named"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_attacks_on_answers_are_refused(tmp_path, change, named):
    path = write(tmp_path / "m.parquet", change(ANSWERS), methods=["vanilla", "kojima"])
    with refused(f"{path}: ", *named, REMEDY):
        model_outputs.read_answers(path, "m", PROMPTS)


def test_repeated_answers_in_a_shard_are_refused(tmp_path):
    facts = {"prompts": 3, "prompt_tokens": 1, "new_tokens": 1, "shard": 1, "shards": 1}
    path = write(tmp_path / "1of1.parquet", pd.concat([ANSWERS, ANSWERS.iloc[:1]]), **facts)
    with refused(path, "text p0 occurs twice"):
        merge_answers.main(shards=[str(path)], answers=str(tmp_path / "m.parquet"))


READERS = {
    "scores": (rows_of_scores(), lambda path: model_outputs.read_scores(path, "m", INSTANCES)),
    "answers": (ANSWERS, lambda path: model_outputs.read_answers(path, "m", PROMPTS)),
}


@pytest.mark.parametrize(("frame", "read"), READERS.values(), ids=READERS)
def test_outputs_of_another_model_are_refused(tmp_path, frame, read):
    path = write(tmp_path / "m.parquet", frame, model="other")
    with refused(path, "of the model 'other', not of 'm'", REMEDY):
        read(path)


# Instances ---------------------------------------------------------------------------------------------------------

BAD_INSTANCES = {
    "no text": (lambda f: f.drop(columns="text"), ["column text is missing"]),
    "missing id": (lambda f: changed(f, 2, "instance_id", None), ["row 3", "instance_id is empty"]),
    "missing text": (lambda f: changed(f, 2, "text", None), ["row 3", "text is empty"]),
    "numbers": (lambda f: f.assign(text=1), ["text holds int64"]),
    "no lists": (lambda f: f.assign(options="he"), ["options holds string", "lists of text"]),
}


@pytest.mark.parametrize(("change", "named"), BAD_INSTANCES.values(), ids=BAD_INSTANCES)
def test_attacks_on_instances_are_refused(tmp_path, change, named):
    path = tmp_path / "selected.parquet"
    frame = INSTANCES.iloc[:5].assign(text="___ left.")
    pq.write_table(pa.Table.from_pandas(change(frame), preserve_index=False), path)
    with refused(f"{path}: ", *named, REMEDY):
        instances.shard_rows(path, 1, 1)
