"""Half precision where it decides as float32 does: bounds, weights that take turns, and whole jobs in bfloat16."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

from scripts.core import config, files
from scripts.core.data import model_outputs, options
from scripts.core.engines import mixed_precision, models
from scripts.core.engines.mixed_precision import Bound, HalfWeights, calibration_rows, exceeding_share
from scripts.scoring import merge_scores, score
from tests import jobs
from tests import zoo as builder

MODELS = ("tiny-llama", "tiny-bert", "tiny-t5")
FORMS = ["he", "she", "they", "xe"]
WORDS = ["baker", "client", "long bill", "garden wall", "passenger", "late train", "cook"]


def table(scores, column="log_probability"):
    """Return a table of scores: instance to the scores of its options."""
    rows = [(name, i, value) for name, values in scores.items() for i, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["instance_id", "option_index", column])


@pytest.fixture
def one_is_enough(monkeypatch):
    monkeypatch.setattr(mixed_precision, "CALIBRATION", 1)


@pytest.mark.usefixtures("one_is_enough")
def test_the_bound_is_twice_the_largest_movement_of_options_against_each_other():
    bound = Bound(["log_probability"])
    wide = table({"a": [-1.0, -2.0, -3.0], "b": [-5.0, -6.0]})
    # All options of an instance move together: nothing changes between them.
    half = table({"a": [-1.5, -2.5, -3.5], "b": [-5.25, -5.75]})
    bound.observe(half, wide)
    bound.set()
    assert bound.nats == {"log_probability": pytest.approx(1.0)}
    bound.observe(half.assign(log_probability=[-1, -2, -4.5, -5, -6]), wide)
    assert bound.too_small


@pytest.mark.usefixtures("one_is_enough")
def test_close_instances_are_those_within_the_bound_ties_and_what_is_not_finite():
    bound = Bound(["log_probability"])
    scores = {
        "apart": [-3.0, -1.0, -9.0], "close": [-1.0, -9.0, -1.5], "tie": [-2.0, -2.0], "one": [-2.0],
        "nan": [-1.0, np.nan, -9.0], "infinite": [-1.0, -np.inf], "just": [-1.0, -2.0],
    }  # fmt: skip
    half = table(scores).sample(frac=1, random_state=1)
    assert bound.close(half) == set(scores) - {"one"}
    bound.nats = {"log_probability": 1.0}
    assert bound.close(half) == {"close", "tie", "nan", "infinite", "just"}
    bound.nats = {"log_probability": 0.0}
    assert bound.close(half) == {"tie", "nan", "infinite"}


@pytest.mark.usefixtures("one_is_enough")
def test_every_column_that_is_compared_has_a_bound():
    bound = Bound(["first", "second"])
    wide = table({"a": [-1.0, -4.0]}, "first").assign(second=[-1.0, -4.0])
    bound.observe(wide.assign(second=[-1.0, -4.5]), wide)
    bound.set()
    assert bound.nats == {"first": 0.0, "second": 1.0}
    half = table({"a": [-1.0, -1.5], "b": [-1.0, -9.0]}, "first").assign(second=[-1.0, -9.0, -1.0, -1.75])
    assert bound.close(half) == {"b"}


def test_a_bound_that_rests_on_too_few_instances_keeps_everything_close():
    bound = Bound(["log_probability"])
    wide = table({"a": [-1.0, -4.0]})
    bound.observe(wide, wide)
    bound.set()
    assert bound.nats == {"log_probability": np.inf}
    assert bound.close(wide) == {"a"}


@pytest.mark.parametrize("count", [1, 5, 40, 100])
def test_calibration_is_spread_over_the_chosen_rows(monkeypatch, count):
    monkeypatch.setattr(mixed_precision, "CALIBRATION", count)
    chosen = np.arange(100) % 2 == 0
    sample = calibration_rows(chosen)
    assert sample.sum() == min(count, 50)
    assert not (sample & ~chosen).any()
    if count > 1:
        assert sample[0]
        assert sample[98]
        assert np.diff(np.flatnonzero(sample)).max() <= 98 / (min(count, 50) - 1) + 2


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    zoo = builder.build(tmp_path_factory.mktemp("zoo"), MODELS)
    return config.load_yaml(zoo)["models"]


@pytest.mark.parametrize("name", MODELS)
def test_weights_take_turns_and_stay_as_they_are(entries, name):
    network, _ = models.load(name, entries[name], models.locate(name, entries[name]), builder.DEVICE)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    half = HalfWeights(network, "bfloat16")
    with half.used():
        assert network.dtype == torch.bfloat16
        assert {p.dtype for p in network.parameters()} == {torch.bfloat16}
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())


def write_instances(path, count):
    """Write instances whose options models rate differently; no two texts are equal."""
    texts = []
    for i in range(count):
        chain = " near the ".join(WORDS[i // 7**k % 7] for k in range(3))
        texts.append(f"The clerk saw the {chain}.  The clerk said that ___ would pay.")
    names = [f"{i:016x}" for i in range(count)]
    files.write_parquet(path, pd.DataFrame({"instance_id": names, "text": texts, "options": [FORMS] * count}))
    return files.read_parquet(path)


def arguments(entries, folder, path, name, precision, **changed):
    given = jobs.model_arguments(entries, name, folder) | {"tokens_per_batch": "auto", "save_seconds": 30}
    return given | {
        "entry": entries[name] | {"precision": precision},
        "instances": str(path),
        "scores": str(folder / "scores.parquet"),
        "engine": "packed",
        **changed,
    }


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "log_likelihood") for name in MODELS),
        *((name, "continuation") for name in MODELS if name != "tiny-t5"),
    ],
)
def test_decisions_are_those_of_float32(entries, tmp_path, monkeypatch, name, way):
    count = 24 if name == "tiny-bert" else 90
    monkeypatch.setattr(mixed_precision, "CALIBRATION", count // 4)
    asked = write_instances(tmp_path / "instances.parquet", count)
    tables = {}
    for precision in ("float32", "mixed"):
        given = arguments(entries, tmp_path / precision, tmp_path / "instances.parquet", name, precision, score=way)
        score.main(**given)
        tables[precision] = model_outputs.read_scores(given["scores"], name, asked)
    mixed, wide = tables["mixed"], tables["float32"]
    facts = files.parquet_metadata(given["scores"])
    assert (facts["precision"], facts["half_precision"]) == ("mixed", "bfloat16")
    assert facts["calibration_instances"] == count // 4
    rescored = mixed[mixed.precision == "float32"].instance_id.unique()
    assert set(mixed.precision) == {"float32", "bfloat16"}
    assert facts["rescored_instances"] == len(rescored) < count
    compared = score.SCORE_TYPES[way](entries[name]["architecture"]).compared
    assert set(facts["decision_bounds"][0]) == set(compared)
    again = mixed.precision == "float32"
    for column in compared:
        assert options.predict(mixed.assign(log_probability=mixed[column])).option_index.equals(
            options.predict(wide.assign(log_probability=wide[column])).option_index
        )
        assert np.abs(mixed[column] - wide[column])[again].max() < 1e-4
        assert np.abs(mixed[column] - wide[column])[~again].max() > 1e-3
    picks = options.predict(mixed)
    assert picks.margin.notna().sum() == len(rescored)
    assert "precision" not in wide


def test_few_instances_are_scored_in_float32(entries, tmp_path):
    asked = write_instances(tmp_path / "instances.parquet", 5)
    given = arguments(entries, tmp_path, tmp_path / "instances.parquet", "tiny-llama", "mixed")
    score.main(**given)
    assert set(model_outputs.read_scores(given["scores"], "tiny-llama", asked).precision) == {"float32"}
    facts = files.parquet_metadata(given["scores"])
    assert facts["decision_bounds"] == [{"log_probability": None}]
    assert (facts["calibration_instances"], facts["rescored_instances"]) == (0, 5)


@pytest.mark.parametrize("draw", ["normal", "lognormal", "standard_cauchy"])
def test_the_share_that_may_exceed_the_largest_range_holds_however_ranges_are_distributed(draw):
    """In 5 % of calibrations, and no more, a larger share of all instances moves by more than the largest of them."""
    rng = np.random.default_rng(0)
    everything = np.sort(np.abs(getattr(rng, draw)(size=200_000)))
    largest = np.array([rng.choice(everything, 256).max() for _ in range(2000)])
    exceeding = 1 - np.searchsorted(everything, largest, side="right") / len(everything)
    missed = (exceeding > exceeding_share(256)).mean()
    assert exceeding_share(256) == pytest.approx(0.0116, abs=1e-4)
    assert 0.03 < missed < 0.07


def test_a_job_whose_bound_was_too_small_starts_again(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_precision, "CALIBRATION", 8)
    asked = write_instances(tmp_path / "instances.parquet", 60)
    original, runs = Bound.observe, []

    def observe(self, half, wide):
        """The instances that calibrate seem to move by a tenth of what they do."""
        original(self, half, wide)
        if not runs:
            self.largest = {column: largest / 10 for column, largest in self.largest.items()}
        runs.append(dict(self.largest))

    monkeypatch.setattr(Bound, "observe", observe)
    close, asked_for = Bound.close, []

    def first_all(self, half):
        """Return all at first, so that some move by more than a fifth of what those did that calibrated."""
        asked_for.append(len(half))
        return set(half.instance_id) if len(asked_for) == 1 else close(self, half)

    monkeypatch.setattr(Bound, "close", first_all)
    given = arguments(entries, tmp_path, tmp_path / "instances.parquet", "tiny-llama", "mixed")
    score.main(**given)
    (bounds,) = files.parquet_metadata(given["scores"])["decision_bounds"]
    assert bounds["log_probability"] > 2 * runs[0]["log_probability"]
    assert bounds["log_probability"] >= runs[-1]["log_probability"]
    mixed = model_outputs.read_scores(given["scores"], "tiny-llama", asked)
    assert files.parquet_metadata(given["scores"])["instances"] == 60
    half = mixed[mixed.precision == "bfloat16"]
    assert (options.predict(half.drop(columns="precision")).margin > bounds["log_probability"]).all()


def test_losses_on_labels_are_computed_in_float32(entries, tmp_path):
    write_instances(tmp_path / "instances.parquet", 3)
    given = arguments(
        entries, tmp_path, tmp_path / "instances.parquet", "tiny-llama", "mixed", score="label_loss"
    )  # fmt: skip
    score.main(**given)
    assert files.parquet_metadata(given["scores"])["precision"] == "float32"
    assert "precision" not in files.read_parquet(given["scores"])


def test_shards_have_bounds_of_their_own_and_are_merged(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_precision, "CALIBRATION", 8)
    asked = write_instances(tmp_path / "instances.parquet", 60)
    paths = []
    for shard in (1, 2):
        given = arguments(
            entries, tmp_path / str(shard), tmp_path / "instances.parquet", "tiny-llama", "mixed", shard=shard, shards=2
        )  # fmt: skip
        score.main(**given)
        paths.append(given["scores"])
    merged = tmp_path / "merged.parquet"
    merge_scores.main(shards=paths, scores=str(merged))
    facts, each = files.parquet_metadata(merged), [files.parquet_metadata(path) for path in paths]
    assert facts["decision_bounds"] == [stated["decision_bounds"][0] for stated in each]
    for key in ("instances", "calibration_instances", "rescored_instances"):
        assert facts[key] == sum(stated[key] for stated in each)
    mixed = model_outputs.read_scores(merged, "tiny-llama", asked)
    assert mixed[mixed.precision == "float32"].instance_id.nunique() == facts["rescored_instances"]


def test_a_killed_job_takes_up_what_it_had_in_both_precisions(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_precision, "CALIBRATION", 8)
    monkeypatch.setattr(score.chunks.Chunks, "remove", lambda self: None)
    write_instances(tmp_path / "instances.parquet", 60)
    given = arguments(entries, tmp_path, tmp_path / "instances.parquet", "tiny-llama", "mixed", save_seconds=0)
    score.main(**given)
    first = (tmp_path / "scores.parquet").read_bytes()
    score.main(**given)
    assert json.loads((tmp_path / "speed.json").read_text())["scored_tokens"] == 0
    assert (tmp_path / "scores.parquet").read_bytes() == first
