"""What models left is checked where studies read it: each attack on a file is refused, and names what is wrong."""

import contextlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.core import files
from scripts.core.data import instances, model_outputs
from scripts.core.errors import UserError
from scripts.core.generation import distributions
from scripts.prompting import merge_answers
from scripts.ruff.predictions import outputs, predictions
from scripts.scoring import merge_scores
from scripts.underspecification import probabilities
from scripts.underspecification.probabilities import COLUMNS
from tests.conftest import ROOT

SETS = ["he", "she", "they"]
REMEDY = "delete the file and run the workflow again"


def refusal(call, *arguments, **named):
    with pytest.raises(UserError) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert "\n" not in message
    return message


def item(number, seed=None, n=None):
    gold = SETS[number % 3]
    return {
        "instance_id": f"{number:016x}", "text": f"No. {number}: ___ left.", "options": SETS, "seed": seed,
        "n_distractors": n, "task_index": 0, "occupation": "clerk", "participant": "man", "case": "nominative",
        "polarity": None if n is None else "positive", "pronoun": None if n is None else gold,
        "gold": None if n is None else gold,
        "distractor_pronoun": SETS[(number + 1) % 3] if n else None,
    }  # fmt: skip


def rows_of_scores(count=40):
    random = np.random.default_rng(1)
    rows = [(f"{i:016x}", word, index, -40 + random.normal()) for i in range(count) for index, word in enumerate(SETS)]
    frame = pd.DataFrame(rows, columns=["instance_id", "option", "option_index", "log_probability"])
    return frame.assign(mean_log_probability=frame.log_probability / 9, scored_tokens=9)


def arrow(frame):
    """Return a frame as an Arrow table in which NaN stays NaN."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for index, field in enumerate(table.schema):
        values = frame[field.name]
        if values.dtype == np.float64:
            table = table.set_column(index, field.name, pa.array(values.to_numpy(), from_pandas=False))
    return table


def write_scores(path, frame, model="m"):
    """Write scores as :mod:`scripts.scoring.score` does."""
    kinds = {"option_index": pa.int8(), "scored_tokens": pa.int32()}
    table = arrow(frame)
    schema = pa.schema(
        [pa.field(f.name, kinds.get(f.name, f.type) if pa.types.is_integer(f.type) else f.type) for f in table.schema]
    )
    table = table.cast(schema)
    instances.write_stream(path, schema, table.to_batches(), {"model": model, "instances": 40})


@pytest.fixture
def study(tmp_path):
    """Return a function that makes predictions from a file of scores."""
    selected = pd.DataFrame([item(0), *(item(i, 13, i % 2) for i in range(1, 40))])
    # An instance may be in two samples.
    selected = pd.concat([selected, selected.iloc[3:4].assign(seed=17)], ignore_index=True)
    selected = selected.assign(priority=0).astype({"seed": "Int64", "n_distractors": "Int64"})
    files.write_parquet(tmp_path / "selected.parquet", selected)

    def make(path=tmp_path / "m.parquet"):
        made = tmp_path / "predictions.parquet"
        predictions(
            instances=str(tmp_path / "selected.parquet"), scores=[str(path)], predictions=str(made), models=["m"],
            pronoun_sets=SETS, sizes={"m": 1},
        )  # fmt: skip
        return files.read_parquet(made)

    return make


def changed(frame, row, column, value):
    frame = frame.astype({column: object}) if isinstance(value, str) or value is None else frame.copy()
    frame.loc[row, column] = value
    return frame.convert_dtypes() if value is None else frame


SIXTH = "instance 0000000000000005"
FURTHER_COLUMNS = {
    "nan_of_the_option": (
        lambda f: changed(f.assign(option_log_probability=-1.0), 16, "option_log_probability", np.nan),
        f"{SIXTH}, option 'she': option_log_probability is nan",
    ),
    "positive_continuation": (
        lambda f: changed(f.assign(continuation_log_probability=-1.0), 16, "continuation_log_probability", 3.0),
        f"{SIXTH}, option 'she': continuation_log_probability is 3.0",
    ),
    "no_tokens": (
        lambda f: changed(f, 16, "scored_tokens", 0),
        f"{SIXTH}, option 'she': scored_tokens is 0",
    ),
    "no_option_tokens": (
        lambda f: changed(f.assign(option_tokens=1), 16, "option_tokens", -1),
        f"{SIXTH}, option 'she': option_tokens is -1",
    ),
    "infinite_without_a_capital": (
        lambda f: changed(f.assign(uncapitalised_log_probability=np.nan), 16, "uncapitalised_log_probability", -np.inf),
        f"{SIXTH}, option 'she': uncapitalised_log_probability is -inf",
    ),
    "half_a_token": (
        lambda f: changed(f.assign(option_tokens=1.0), 16, "option_tokens", 1.5),
        f"{SIXTH}, option 'she': option_tokens is 1.5",
    ),
    "more_than_a_part": (
        lambda f: changed(f.assign(continuation_log_probability=-1.0), 16, "continuation_log_probability", -200.0),
        f"{SIXTH}, option 'she': more probable than a part of it: log_probability is -",
    ),
}
SCORES = {
    "nan": (lambda f: changed(f, 16, "log_probability", np.nan), f"{SIXTH}, option 'she': log_probability is nan"),
    "inf": (lambda f: changed(f, 16, "log_probability", np.inf), f"{SIXTH}, option 'she': log_probability is inf"),
    "minus_inf": (
        lambda f: changed(f, 16, "log_probability", -np.inf), f"{SIXTH}, option 'she': log_probability is -inf",
    ),
    "missing_value": (
        lambda f: changed(f, 16, "log_probability", None), f"row 17, {SIXTH}: the column log_probability is empty",
    ),
    "positive": (lambda f: changed(f, 16, "log_probability", 3.0), f"{SIXTH}, option 'she': log_probability is 3.0"),
    "missing_row": (lambda f: f.drop(index=16), f"{SIXTH} lacks the option 'she'"),
    "missing_first_option": (lambda f: f.drop(index=15), f"{SIXTH} lacks the option 'he'"),
    "missing_option_everywhere": (lambda f: f[f.option != "they"], "instance 0000000000000000 lacks the option 'they'"),
    "missing_instance": (lambda f: f.drop(index=[15, 16, 17]), f"{SIXTH} is not scored (1 of 40 are not)"),
    "no_rows": (lambda f: f.iloc[:0], "instance 0000000000000000 is not scored (40 of 40 are not)"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[16:17]]), f"{SIXTH}, option 'she' occurs twice"),
    "contradicting_row": (
        lambda f: pd.concat([f, f.iloc[16:17].assign(log_probability=-1.0)]), f"{SIXTH}, option 'she' occurs twice",
    ),
    "unknown_instance": (
        lambda f: pd.concat([f, f.iloc[:3].assign(instance_id="feed")]), "instance feed is not among those of the run",
    ),
    "text_for_numbers": (
        lambda f: f.assign(log_probability=f.log_probability.map(str)),
        "the column log_probability holds string where numbers with a fraction were expected",
    ),
    "whole_numbers": (
        lambda f: f.assign(log_probability=1), "the column log_probability holds int64 where numbers with a fraction",
    ),
    "lists": (
        lambda f: f.assign(instance_id=[[i] for i in f.instance_id]),
        "the column instance_id holds list<",
    ),
    "fractional_index": (
        lambda f: f.assign(option_index=f.option_index + 0.5), "the column option_index holds double where whole",
    ),
    "other_option": (lambda f: changed(f, 16, "option", "xe"), f"{SIXTH}, option 'xe' is not its option 1, 'she'"),
    "swapped_options": (
        lambda f: f.assign(option=f.option.replace({"he": "she", "she": "he"})), "option 'she' is not its option 0",
    ),
    "option_beyond": (lambda f: changed(f, 16, "option_index", 9), f"{SIXTH} has no option 9"),
    "negative_index": (lambda f: changed(f, 16, "option_index", -1), f"{SIXTH} has no option -1"),
    "without_ids": (lambda f: f.drop(columns="instance_id"), "column instance_id is missing"),
    "without_scores": (lambda f: f.drop(columns="log_probability"), "column log_probability is missing"),
    "missing_id": (lambda f: changed(f, 16, "instance_id", None), "row 17: the column instance_id is empty"),
}  # fmt: skip


def test_sound_scores_are_read(tmp_path, study):
    frame = rows_of_scores()
    write_scores(tmp_path / "m.parquet", frame)
    made = study()
    assert len(made) == 41 and not made.tie.any()
    # Their order does not matter.
    write_scores(tmp_path / "m.parquet", frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(study(), made)


def in_parts(folder, monkeypatch, rows):
    """Return the scores that are read a few rows at a time, by instance and option."""
    monkeypatch.setattr(model_outputs, "BATCH", rows)
    asked = model_outputs.ExpectedOptions.read(folder / "selected.parquet")
    assert len(asked.owner) == 41 and len(asked.sizes) == 40
    parts = list(model_outputs.score_parts(folder / "m.parquet", "m", asked, ["scored_tokens"]))
    rows = pd.concat([part.assign(owner=owner) for owner, part in parts])
    return rows.sort_values(["owner", "option_index"], ignore_index=True)


@pytest.mark.parametrize("order", [None, 1])
def test_scores_are_the_same_in_parts_and_whole(tmp_path, study, monkeypatch, order):
    frame = rows_of_scores()
    write_scores(tmp_path / "m.parquet", frame if order is None else frame.sample(frac=1, random_state=order))
    rows = in_parts(tmp_path, monkeypatch, 10)
    assert rows.log_probability.tolist() == frame.log_probability.tolist()
    assert rows.owner.tolist() == np.repeat(np.arange(40), 3).tolist()


@pytest.mark.parametrize("name", SCORES)
def test_attacks_on_scores_in_parts_are_refused(tmp_path, study, monkeypatch, name):
    change, expected = SCORES[name]
    write_scores(tmp_path / "m.parquet", change(rows_of_scores()))
    with pytest.raises(UserError) as refused:
        in_parts(tmp_path, monkeypatch, 1000)
    assert expected in str(refused.value) and REMEDY in str(refused.value)


def test_a_row_that_is_in_two_parts_is_refused(tmp_path, study, monkeypatch):
    frame = rows_of_scores()
    write_scores(tmp_path / "m.parquet", pd.concat([frame, frame.iloc[16:17]]))
    with pytest.raises(UserError, match="option 'she' occurs twice"):
        in_parts(tmp_path, monkeypatch, 10)


@pytest.mark.parametrize("name", [*SCORES, *FURTHER_COLUMNS])
def test_attacks_on_scores_are_refused(tmp_path, study, name):
    change, expected = (SCORES | FURTHER_COLUMNS)[name]
    write_scores(tmp_path / "m.parquet", change(rows_of_scores()))
    message = refusal(study)
    assert message.startswith(f"{tmp_path / 'm.parquet'}: ") and expected in message and REMEDY in message
    assert "of model m" in message or "is missing" in message


def test_scores_of_another_model_are_refused(tmp_path, study):
    write_scores(tmp_path / "m.parquet", rows_of_scores(), model="other")
    assert "are of the model 'other', not of 'm'" in refusal(study)


def test_damage_anywhere_in_a_file_of_scores_is_refused_or_harmless(tmp_path, study):
    """Zeroed and flipped bytes either change nothing that is read or end in one line."""
    path = tmp_path / "m.parquet"
    write_scores(path, rows_of_scores())
    good, expected = path.read_bytes(), study()
    refused = 0
    for width in (1, 40, 400):
        for start in range(0, len(good) - width, 37):
            part = good[start : start + width]
            path.write_bytes(
                good[:start] + (bytes([part[0] ^ 16]) if width == 1 else bytes(width)) + good[start + width :]
            )
            try:
                made = study()
            except UserError as error:
                assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
                refused += 1
            else:
                pd.testing.assert_frame_equal(made, expected)
    assert refused > 100


# Putting shards together -------------------------------------------------------------------------------------------


def shards(tmp_path, change=lambda frame: frame, **facts):
    frame = rows_of_scores()
    paths = [str(tmp_path / f"{k}of2.parquet") for k in (1, 2)]
    parts = (frame[:60], change(frame[60:]))
    for number, (path, part, own) in enumerate(zip(paths, parts, ({}, facts), strict=True), 1):
        table = arrow(part)
        counts = {"instances": 20, "text_tokens": 1, "forward_tokens": 1, "shard": number, "shards": 2} | own
        metadata = {"model": "m"} | {key: value for key, value in counts.items() if value is not None}
        instances.write_stream(path, table.schema, table.to_batches(), metadata)
    return paths


def test_sound_shards_are_put_together(tmp_path):
    merge_scores.main(shards=shards(tmp_path), scores=str(tmp_path / "m.parquet"))
    pd.testing.assert_frame_equal(files.read_parquet(tmp_path / "m.parquet"), rows_of_scores())
    assert files.parquet_metadata(tmp_path / "m.parquet")["instances"] == 40


SHARDS = {
    "nan": (lambda f: changed(f, 61, "log_probability", np.nan), {}, "log_probability is nan"),
    "inf": (lambda f: changed(f, 61, "log_probability", np.inf), {}, "log_probability is inf"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[1:2]]), {}, "option 'she' occurs twice"),
    "missing_instance": (lambda f: f.iloc[3:], {}, "its metadata say that it has 20 instances, but it has 19"),
    "no_ids": (lambda f: f.drop(columns="instance_id"), {}, "column instance_id is missing"),
    "text": (lambda f: f.assign(log_probability="x"), {}, "the column log_probability holds string"),
    "more_columns": (lambda f: f.assign(more=1), {}, "its columns differ from those of"),
    "overlap": (lambda f: rows_of_scores()[:60], {}, "instance 0000000000000000 is in another shard as well"),
    "order": (lambda f: f, {"shard": 1}, "is part 1 of 2, where part 2 of 2 was expected"),
    "revision": (lambda f: f, {"revision": "other"}, "revision is 'other', but None in"),
    "without_counts": (lambda f: f, {"instances": None}, "its metadata do not say how many instances it has"),
}


@pytest.mark.parametrize("name", SHARDS)
def test_attacks_on_shards_are_refused(tmp_path, name):
    change, facts, expected = SHARDS[name]
    paths = shards(tmp_path, change, **facts)
    message = refusal(merge_scores.main, shards=paths, scores=str(tmp_path / "m.parquet"))
    assert message.startswith(f"{paths[1]}: ") and expected in message and "run the workflow again" in message
    assert not (tmp_path / "m.parquet").exists()


# Answers -----------------------------------------------------------------------------------------------------------

PROMPTS = pd.DataFrame(
    [
        ("p0", "vanilla", None, "a0", "0", "open", "published", []),
        ("p1", "vanilla", None, "b1", "0", "open", "published", []),
        ("p2", "kojima", "{first} {chain}", "b1", "0", "open", "published", []),
    ],
    columns=["text_id", "method", "follow_up", "instance_id", "prompt", "kind", "order", "listed"],
).assign(text="Who?")
PROMPTED = pd.DataFrame(
    [("a0", 13, 0, "clerk", "nominative", "she", False), ("b1", 13, 1, "clerk", "nominative", "he", True)],
    columns=["instance_id", "seed", "n_distractors", "occupation", "case", "pronoun", "chains"],
)
ANSWERS = pd.DataFrame(
    [
        ("p0", None, None, None, "she", 1, True),
        ("p1", None, None, None, "", 0, True),
        ("p2", "He.", 2, True, "he", 1, True),
    ],
    columns=[
        "text_id", "chain", "chain_tokens", "chain_finished", "answer", "answer_tokens", "answer_finished",
    ],
).convert_dtypes()  # fmt: skip


@pytest.fixture
def read_answers(tmp_path):
    def make(answers, model="m", methods=("vanilla", "kojima")):
        files.write_parquet(tmp_path / "prompts.parquet", PROMPTS)
        files.write_parquet(tmp_path / "prompted.parquet", PROMPTED)
        files.write_parquet(tmp_path / "m.parquet", answers, {"model": model, "methods": list(methods)})
        outputs(
            prompted=str(tmp_path / "prompted.parquet"), prompts=str(tmp_path / "prompts.parquet"),
            answers=[str(tmp_path / "m.parquet")], pronouns=str(ROOT / "templates/pronouns.tsv"),
            outputs=str(tmp_path / "outputs.parquet"), models=["m"], pronoun_sets=SETS,
        )  # fmt: skip
        return files.read_parquet(tmp_path / "outputs.parquet")

    return make


def test_sound_answers_are_read(read_answers):
    assert len(read_answers(ANSWERS)) == 4
    assert len(read_answers(ANSWERS.iloc[:2], methods=["vanilla"])) == 2


BAD_ANSWERS = {
    "missing_row": (lambda f: f.iloc[1:], "text p0 has no answer (1 of 3 have none)"),
    "missing_method": (lambda f: f.iloc[:2], "text p2 has no answer"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[:1]]), "text p0 occurs twice"),
    "unknown_text": (lambda f: changed(f, 0, "text_id", "zz"), "text zz is not among the prompts of the run"),
    "empty": (lambda f: changed(f, 0, "answer", None), "text p0: the column answer is empty"),
    "no_chain": (lambda f: changed(f, 2, "chain", None), "text p2: its prompt has two steps, but the answer has no"),
    "chain_without_step": (
        lambda f: changed(f, 0, "chain", "So."),
        "text p0: its prompt has one step, but the answer has",
    ),
    "numbers": (lambda f: f.assign(answer=[1, 2, 3]), "the column answer holds int64 where text was expected"),
    "no_column": (lambda f: f.drop(columns="chain"), "column chain is missing"),
    "missing_id": (lambda f: changed(f, 0, "text_id", None), "row 1: the column text_id is empty"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_attacks_on_answers_are_refused(read_answers, tmp_path, name):
    change, expected = BAD_ANSWERS[name]
    message = refusal(read_answers, change(ANSWERS))
    assert message.startswith(f"{tmp_path / 'm.parquet'}: ") and expected in message and REMEDY in message


def test_answers_of_another_model_are_refused(read_answers):
    assert "are of the model 'other', not of 'm'" in refusal(read_answers, ANSWERS, model="other")


def test_repeated_answers_in_a_shard_are_refused(tmp_path):
    table = pa.Table.from_pandas(pd.concat([ANSWERS, ANSWERS.iloc[:1]]), preserve_index=False)
    facts = {"model": "m", "prompts": 3, "prompt_tokens": 1, "new_tokens": 1, "shard": 1, "shards": 1}
    instances.write_stream(tmp_path / "1of1.parquet", table.schema, table.to_batches(), facts)
    message = refusal(
        merge_answers.main, shards=[str(tmp_path / "1of1.parquet")], answers=str(tmp_path / "m.parquet")
    )  # fmt: skip
    assert "text p0 occurs twice" in message


# Token distributions and probabilities ------------------------------------------------------------------------------

INSTANCES = pd.DataFrame(
    [
        {"instance_id": f"i{k}", "evaluation_set": "mgc", "templates": "replica", "item": "___ left.",
         "occupation": "", "participant": "", "coreferent": "", "well_specified": False, "variable": "date",
         "value": str(1801 + k), "position": k, "text": f"In {1801 + k}, ___ left."}
        for k in range(3)
    ]
)  # fmt: skip
TEXTS = pd.DataFrame(
    [
        {"text_id": f"t{k}", "instance_id": f"i{k}", "prompt": "mask", "text": f"In {1801 + k}, [MASK] left.",
         "method": "mask"}
        for k in range(3)
    ]
)  # fmt: skip
TOP = pd.DataFrame(
    [
        (f"t{k}", 0, rank, token, value, rank == 0)
        for k in range(3)
        for rank, (token, value) in enumerate([("she", 0.5 + 0.1 * k), ("he", 0.2), ("they", 0.1)])
    ],
    columns=["text_id", "step", "rank", "token", "probability", "chosen"],
)
FULL = pd.DataFrame(
    [
        (f"t{k}", 0, group, value)
        for k in range(3)
        for group, value in (("female", 0.55), ("male", 0.2), ("neutral", 0.1), ("neo", 0.0))
    ],
    columns=["text_id", "step", "group", "probability"],
)


def write_batches(path, frame, schema, model="m"):
    """Write as :mod:`scripts.distributions.token_distributions` does, or as the frame is where it does not fit."""
    table = arrow(frame)
    with contextlib.suppress(ValueError, pa.ArrowException):
        table = table.cast(schema)
    instances.write_stream(path, table.schema, table.to_batches(), {"model": model})


@pytest.fixture
def read_distributions(tmp_path):
    def make(top=TOP, full=FULL, top_model="m", full_model="m"):
        files.write_parquet(tmp_path / "instances.parquet", INSTANCES)
        files.write_parquet(tmp_path / "texts.parquet", TEXTS)
        write_batches(tmp_path / "m.parquet", top, distributions.TOKENS, top_model)
        write_batches(tmp_path / "m.mass.parquet", full, distributions.MASSES, full_model)
        probabilities.word_group_probabilities(
            instances=[str(tmp_path / "instances.parquet")], texts=[str(tmp_path / "texts.parquet")],
            distributions=[str(tmp_path / "m.parquet")], full=[str(tmp_path / "m.mass.parquet")],
            words=str(ROOT / "templates/underspecification/words.tsv"), probabilities=str(tmp_path / "p.parquet"),
            model="m", label="M", methods=["mask"],
        )  # fmt: skip
        return files.read_parquet(tmp_path / "p.parquet")

    return make


def test_sound_distributions_are_read(read_distributions):
    frame = read_distributions()
    assert frame.groupby("accumulation").probability.sum().to_dict() == pytest.approx({"top": 2.7, "full": 2.55})


BAD_DISTRIBUTIONS = {
    "nan": (lambda f: changed(f, 4, "probability", np.nan), "text t1, step 0: probability is nan"),
    "inf": (lambda f: changed(f, 4, "probability", np.inf), "text t1, step 0: probability is inf"),
    "minus_inf": (lambda f: changed(f, 4, "probability", -np.inf), "text t1, step 0: probability is -inf"),
    "negative": (lambda f: changed(f, 4, "probability", -0.1), "text t1, step 0: probability is -0.1"),
    "above_one": (lambda f: changed(f, 3, "probability", 1.5), "text t1, step 0: probability is 1.5"),
    "sum_above_one": (
        lambda f: f.assign(probability=0.5), "text t0, step 0: the probabilities of its tokens add up to 1.5",
    ),
    "out_of_order": (
        lambda f: changed(f, 4, "probability", 0.05), "text t1, step 0: rank 2 is more probable than the one before",
    ),
    "missing_rank": (lambda f: f.drop(index=4), "text t1, step 0: rank 1 is missing"),
    "missing_first_rank": (lambda f: f.drop(index=3), "text t1, step 0: rank 0 is missing"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[4:5]]), "text t1, step 0, rank 1 occurs twice"),
    "missing_text": (lambda f: f.iloc[3:], "text t0 has no distribution (1 of 3 have none)"),
    "unknown_text": (
        lambda f: pd.concat([f, f.iloc[:3].assign(text_id="zz")]), "text zz is not among those of the run",
    ),
    "missing_step": (lambda f: f.assign(step=[0, 0, 0, 1, 1, 1, 0, 0, 0]), "text t1: step 0 is missing"),
    "two_chosen": (lambda f: f.assign(chosen=True), "text t0, step 0: more than one token is chosen"),
    "words": (lambda f: f.assign(probability="much"), "the column probability holds string where numbers"),
    "missing_token": (lambda f: changed(f, 4, "token", None), "row 5, text t1: the column token is empty"),
    "no_column": (lambda f: f.drop(columns="chosen"), "column chosen is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_DISTRIBUTIONS)
def test_attacks_on_distributions_are_refused(read_distributions, tmp_path, name):
    change, expected = BAD_DISTRIBUTIONS[name]
    message = refusal(read_distributions, change(TOP))
    assert message.startswith(f"{tmp_path / 'm.parquet'}: ") and expected in message and "delete " in message


BAD_MASSES = {
    "nan": (lambda f: changed(f, 4, "probability", np.nan), "text t1, step 0: probability is nan"),
    "above_one": (lambda f: changed(f, 4, "probability", 2.0), "text t1, step 0: probability is 2.0"),
    "missing_group": (lambda f: f.drop(index=4), "text t1, step 0 lacks the group 'female'"),
    "missing_text": (lambda f: f.iloc[4:], "text t0, step 0 lacks the group 'female'"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[4:5]]), "text t1, step 0, group 'female' occurs twice"),
    "unknown_group": (lambda f: changed(f, 4, "group", "other"), "text t1, step 0: the group 'other' is unknown"),
    "unknown_place": (
        lambda f: pd.concat([f, f.iloc[:4].assign(step=7)]), "text t0, step 7 is not among the distributions",
    ),
    "words": (lambda f: f.assign(probability="much"), "the column probability holds string where numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MASSES)
def test_attacks_on_masses_are_refused(read_distributions, tmp_path, name):
    change, expected = BAD_MASSES[name]
    message = refusal(read_distributions, TOP, change(FULL))
    assert message.startswith(f"{tmp_path / 'm.mass.parquet'}: ") and expected in message and REMEDY in message


@pytest.mark.parametrize("file", ["top_model", "full_model"])
def test_distributions_of_another_model_are_refused(read_distributions, file):
    assert "are of the model 'other', not of 'm'" in refusal(read_distributions, **{file: "other"})


def tidy():
    rows = [
        (f"{item} ___", gender, position, 0.1 + 0.1 * position)
        for item in ("a", "b")
        for gender in ("female", "male", "neutral")
        for position in range(3)
    ]
    frame = pd.DataFrame(rows, columns=["item", "gender", "position", "probability"])
    frame["value"] = (1801 + frame.position).astype(str)
    common = {
        "part": "run", "model": "M", "label": "M", "prompt": "mask", "evaluation_set": "mgc",
        "templates": "replica",
        "occupation": "", "participant": "", "coreferent": "", "well_specified": False, "variable": "date",
        "accumulation": "top",
    }  # fmt: skip
    return frame.assign(**common)[list(COLUMNS)]


BAD_TIDY = {
    "nan": (lambda f: changed(f, 4, "probability", np.nan), "model M, a ___, 1802, male: probability is nan"),
    "inf": (lambda f: changed(f, 4, "probability", np.inf), "model M, a ___, 1802, male: probability is inf"),
    "above_one": (lambda f: changed(f, 4, "probability", 25.0), "model M, a ___, 1802, male: probability is 25.0"),
    "missing_row": (lambda f: f.drop(index=4), "model M, a ___: male has no probability for 1802"),
    "repeated_row": (lambda f: pd.concat([f, f.iloc[4:5]]), "model M, a ___, 1802, male has two rows"),
    "words": (lambda f: f.assign(probability="much"), "the column probability holds string"),
    "missing_value": (lambda f: changed(f, 4, "gender", None), "row 5: the column gender is empty"),
    "no_column": (lambda f: f.drop(columns="templates"), "column templates is missing"),
    "nothing": (lambda f: f.iloc[:0], "has no row"),
}


@pytest.mark.parametrize("name", BAD_TIDY)
def test_attacks_on_summed_probabilities_are_refused(tmp_path, name):
    change, expected = BAD_TIDY[name]
    path = tmp_path / "m.parquet"
    files.write_parquet(path, arrow(change(tidy())))
    message = refusal(probabilities.read_probabilities, str(path))
    assert message.startswith(f"{path}: ") and expected in message and REMEDY in message


# Instances ---------------------------------------------------------------------------------------------------------

BAD_INSTANCES = {
    "no_text": (lambda f: f.drop(columns="text"), "column text is missing"),
    "missing_id": (lambda f: changed(f, 2, "instance_id", None), "row 3: the column instance_id is empty"),
    "missing_text": (lambda f: changed(f, 2, "text", None), "row 3: the column text is empty"),
    "numbers": (lambda f: f.assign(text=1), "the column text holds int64 where text was expected"),
    "no_lists": (lambda f: f.assign(options="he"), "the column options holds string where lists of text"),
}


@pytest.mark.parametrize("name", BAD_INSTANCES)
def test_attacks_on_instances_are_refused(tmp_path, name):
    change, expected = BAD_INSTANCES[name]
    frame = pd.DataFrame([item(i) for i in range(5)])[["instance_id", "text", "options"]]
    path = tmp_path / "selected.parquet"
    pq.write_table(pa.Table.from_pandas(change(frame), preserve_index=False), path)
    message = refusal(instances.shard_rows, path, 1, 1)
    assert message.startswith(f"{path}: ") and expected in message and REMEDY in message
