"""A scoring job: streaming, resuming after it was killed, shards, and what it writes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import losses, model_outputs, options
from scripts.core.models import loading
from scripts.core.provenance import closure
from scripts.core.scoring.reader import Reader
from scripts.core.workflow import parts
from scripts.scoring import merge_scores, score
from tests import jobs
from tests import zoo as builder
from tests.refusals import refused

ROOT = Path(__file__).parents[2]
FORMS = ["he", "she", "they", "xe"]


def write_instances(path, count, repeated=0):
    """Write ``count`` instances, the first ``repeated`` of them once more at the end; no two texts are equal."""
    words = ["baker", "client", "long bill", "garden wall", "passenger", "late train", "cook"]
    texts = []
    for i in range(count):
        chain = " near the ".join(words[i // 7**k % 7] for k in range(5))
        texts.append(f"The clerk saw the {chain}.  The clerk said that ___ would pay.")
    write_texts(path, texts + texts[:repeated], [f"{i:016x}" for i in [*range(count), *range(repeated)]])
    return path


def write_texts(path, texts, ids=None, forms=FORMS):
    """Write instances with these texts, known by their numbers unless ids are given."""
    ids = [f"{i:016x}" for i in range(len(texts))] if ids is None else ids
    table = pd.DataFrame({"instance_id": ids, "text": texts, "options": [forms] * len(texts)})
    files.write_parquet(path, table.astype({"instance_id": "string", "text": "string"}))


@pytest.fixture
def many(tmp_path):
    return write_instances(tmp_path / "instances.parquet", 90, repeated=7)


def arguments(entries, folder, path, model="tiny-llama", **changed):
    """Return the keyword arguments of a scoring job."""
    return {
        **jobs.model_arguments(entries, model, folder),
        "instances": str(path),
        "scores": str(folder / "scores.parquet"),
        "engine": "packed",
        **changed,
    }


def test_every_distinct_instance_is_scored_once_in_order(entries, tmp_path, many):
    score.main(**arguments(entries, tmp_path, many))
    table = files.read_parquet(tmp_path / "scores.parquet")
    assert table.instance_id.tolist() == [f"{i:016x}" for i in range(90) for _ in FORMS]
    assert table.option.tolist() == FORMS * 90
    facts = files.parquet_metadata(tmp_path / "scores.parquet")
    assert facts["instances"] == 90
    assert facts["scoring"] == {"way": "packed", "checked": True}
    assert facts["forward_tokens"] < facts["text_tokens"] / 2
    assert "token_log_probabilities" not in table
    speed = json.loads((tmp_path / "speed.json").read_text())
    assert speed["scored_tokens"] == facts["forward_tokens"]
    assert not (tmp_path / "scores.parts").exists()


@pytest.mark.parametrize("model", ["tiny-llama", "tiny-t5"])
def test_losses_are_written_with_what_choices_need(entries, tmp_path, model):
    path = write_instances(tmp_path / "instances.parquet", 9)
    table = files.read_parquet(path)
    table.loc[4, "text"] = "The clerk was late.  ___ would pay."
    files.write_parquet(path, table)
    given = arguments(entries, tmp_path, path, model, criterion="label_loss")
    score.main(**given)
    scores = model_outputs.read_scores(given["scores"], model, table)
    assert scores.option.tolist() == FORMS * 9
    assert files.parquet_metadata(given["scores"])["metric"] == "label_loss"
    spanned = model == "tiny-t5"
    assert (scores.sentinel_tokens == 2 * spanned).all()
    assert (scores.end_tokens == spanned).all()
    starts = scores.instance_id == f"{4:016x}"
    assert (scores.uncapitalised_log_probability.notna() == (starts & spanned)).all()
    picks = options.pick_best(losses.comparable_scores(scores), options.option_counts(table))
    assert len(picks) == 9
    merged = tmp_path / "merged.parquet"
    merge_scores.main(shards=[given["scores"]], scores=str(merged))
    assert files.read_arrow(merged).schema.equals(files.read_arrow(given["scores"]).schema)


def test_token_values_add_up(entries, tmp_path, many):
    score.main(**arguments(entries, tmp_path, many, token_values=True))
    table = files.read_parquet(tmp_path / "scores.parquet")
    assert [len(v) for v in table.token_log_probabilities] == table.scored_tokens.tolist()
    assert [v.sum() for v in table.token_log_probabilities] == pytest.approx(table.log_probability.tolist(), abs=1e-3)


@pytest.mark.parametrize(
    ("model", "count"),
    [("tiny-llama", 1100), ("tiny-t5", 60), pytest.param("tiny-bert", 24, marks=pytest.mark.nightly)],
)
def test_a_killed_job_goes_on_where_it_was(entries, tmp_path, model, count):
    path = write_instances(tmp_path / "instances.parquet", count)

    def make(folder):
        return arguments(entries, folder, path, model)

    speed, facts, kept = jobs.resume("scripts.scoring.score", make, tmp_path, "scores.parquet", (2, 9))
    # What was finished was not scored again, and everything else was.
    assert 0 < speed["scored_tokens"] <= facts["forward_tokens"] - kept


CHANGES = {
    "model": {"model": "tiny-qwen"},
    "precision": {"entry": {"precision": "bfloat16"}},
    "engine": {"engine": "minicons"},
    "batches": {"tokens_per_batch": 300},
    "instances": {"instances": 89},
    "revision": None,
    "code": None,
}


@pytest.mark.parametrize("change", CHANGES)
def test_parts_of_anything_else_are_not_taken(entries, tmp_path, many, monkeypatch, change):
    given, changed = arguments(entries, tmp_path, many), CHANGES[change] or {}
    monkeypatch.setattr(parts.Parts, "remove", lambda self: None)
    score.main(**given)
    if change == "revision":
        locate = loading.locate_model
        monkeypatch.setattr(loading, "locate_model", lambda *a: loading.Location(locate(*a).folder, None, "another"))
    elif change == "code":
        monkeypatch.setattr(closure, "digest_modules", lambda *_: {"scripts/scoring/score.py": "0" * 16})
    elif change == "instances":
        changed = {"instances": str(write_instances(tmp_path / "other.parquet", changed["instances"]))}
    entry = entries[changed.get("model", "tiny-llama")] | changed.get("entry", {})
    score.main(**given | changed | {"entry": entry})
    facts = files.parquet_metadata(tmp_path / "scores.parquet")
    assert json.loads((tmp_path / "speed.json").read_text())["scored_tokens"] == facts["forward_tokens"]


def test_scores_of_texts_that_begin_otherwise_say_so(entries, tmp_path, many):
    facts = []
    for token in ("<s>", "</s>"):
        given = arguments(entries, tmp_path / token.strip("</>"), many)
        given["scores"] = str(tmp_path / f"{len(facts)}.parquet")
        score.main(**given | {"entry": given["entry"] | {"bos_token": token}})
        facts.append(files.parquet_metadata(given["scores"]))
    assert [stated["bos_token"] for stated in facts] == ["<s>", "</s>"]


def test_parts_of_the_same_job_are_taken(entries, tmp_path, many, monkeypatch):
    given = arguments(entries, tmp_path, many)
    monkeypatch.setattr(parts.Parts, "remove", lambda self: None)
    score.main(**given)
    # A part that cannot be read counts as none.
    broken = min((tmp_path / "scores.parts").glob("*.parquet"))
    broken.write_bytes(broken.read_bytes()[:50])
    score.main(**given)
    assert 0 < json.loads((tmp_path / "speed.json").read_text())["scored_tokens"] <= 200


@pytest.mark.parametrize(("model", "count"), [("tiny-llama", 90), ("tiny-bert", 24)])
def test_results_do_not_depend_on_the_split(entries, tmp_path, model, count):
    path = write_instances(tmp_path / "instances.parquet", count, repeated=7)
    tables = {}
    for shards in (1, 3):
        folder = tmp_path / str(shards)
        paths = []
        for shard in range(1, shards + 1):
            given = arguments(entries, folder / str(shard), path, model, shard=shard, shards=shards)
            score.main(**given)
            paths.append(given["scores"])
        merge_scores.main(shards=paths, scores=str(folder / "scores.parquet"))
        tables[shards] = files.read_parquet(folder / "scores.parquet")
        assert files.parquet_metadata(folder / "scores.parquet")["instances"] == count
    same = ["instance_id", "option", "option_index", "scored_tokens"]
    pd.testing.assert_frame_equal(tables[1][same], tables[3][same])
    assert np.abs(tables[1].log_probability - tables[3].log_probability).max() < 1e-4


def test_files_that_hold_too_little_are_refused(entries, tmp_path, many):
    """Priorities where a model scores fewer instances, and instances at all."""
    with refused(many, "priority"):
        score.main(**arguments(entries, tmp_path, many, priority=4))
    write_texts(tmp_path / "empty.parquet", [])
    with refused("empty.parquet", "no instances", "delete the file"):
        score.main(**arguments(entries, tmp_path, tmp_path / "empty.parquet"))


@pytest.mark.parametrize("shard", [1, 2])
def test_a_text_that_is_too_long_ends_a_job_before_it_starts(entries, tmp_path, monkeypatch, shard):
    path = tmp_path / "instances.parquet"
    write_texts(
        path,
        [f"The baker said that ___ had {i} cakes." for i in range(40)] + ["word " * 300 + "___"],
        forms=["he", "she"],
    )
    monkeypatch.setattr(score, "choose_way", lambda *_: pytest.fail("the model was run"))
    with refused(path, "1 of 41 instances", "603 tokens", "tiny-bert takes 258", f"the first is {40:016x}"):
        score.main(**arguments(entries, tmp_path, path, "tiny-bert", shard=shard, shards=2))


def test_the_longest_text_of_a_file_and_options_of_several_lengths_are_checked(tmp_path):
    path = tmp_path / "instances.parquet"
    texts = [f"The baker said that ___ had {'very ' * (i % 7)}good cakes, {i}." for i in range(3 * score.WINDOW)]
    texts[1500] = "long " * 30 + "___"
    write_texts(path, texts, forms=["he", "themselves", "faerself", "she", "xe", "they"])
    reader = Reader(builder.make_tokenizer("llama"), "decoder")
    found = score.sample_texts(path, reader, "log_likelihood", 500, "m")
    own = [text for text in found if text.text.startswith("long long")]
    assert len(own) == score.OPTIONS and len(found) == score.OPTIONS + score.RANDOM
    lengths = list(map(len, reader.read(options.option_texts(files.read_parquet(path).iloc[[1500]]))))
    assert {max(map(len, own)), min(map(len, own))} == {max(lengths), min(lengths)}
    with refused(path, "1 of 3072 instances", "model m"):
        score.sample_texts(path, reader, "log_likelihood", max(lengths) - 1, "m")


@pytest.mark.nightly
def test_memory_stays_flat_as_instances_grow_tenfold(entries, tmp_path):
    """The peak of a job with ten times the instances, as the operating system saw it."""
    peaks = {}
    for count in (1100, 11000):
        path = write_instances(tmp_path / f"{count}.parquet", count)
        given = arguments(entries, tmp_path / str(count), path, tokens_per_batch=4000, save_seconds=60)
        # Not forked: the peak of a process that is forked begins with its parent's.
        command = jobs.command("scripts.scoring.score", given)
        job = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        _, status, usage = os.wait4(job.pid, 0)
        assert status == 0, job.stderr.read()
        peaks[count] = usage.ru_maxrss / 1024
    print(f"\npeak memory: {peaks[1100]:.0f} MiB for 1,100 instances, {peaks[11000]:.0f} MiB for 11,000")
    assert peaks[11000] < peaks[1100] + 60


@pytest.mark.nightly
def test_an_enormous_number_of_jobs_is_refused_before_it_is_planned(tmp_path):
    (tmp_path / "short.yaml").write_text("scoring: {minutes_per_job: 0.0001}\n")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--snakefile", ROOT / "Snakefile", "--configfile", "short.yaml"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.fullmatch(
        r"Error: scoring.minutes_per_job is 0.0001: that makes \d+ jobs to score \w+ \w+ with model [\w.-]+, more than "
        r"1000; set it to at least [\d.]+",
        done.stderr.strip().splitlines()[-1],
    ), done.stderr[-2000:]
