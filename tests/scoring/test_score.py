"""A scoring job: streaming, resuming after it was killed, shards, and what it writes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.core import config, files
from scripts.core.data import losses, model_outputs, options
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.provenance import closure
from scripts.core.scoring.check import choose_way
from scripts.core.workflow import parts
from scripts.scoring import merge_scores, score
from tests import jobs
from tests import zoo as builder

ROOT = Path(__file__).parents[2]
FORMS = ["he", "she", "they", "xe"]


def write_instances(path, count, repeated=0):
    """Write ``count`` instances, the first ``repeated`` of them once more at the end; no two texts are equal."""
    words = ["baker", "client", "long bill", "garden wall", "passenger", "late train", "cook"]
    texts = []
    for i in range(count):
        chain = " near the ".join(words[i // 7**k % 7] for k in range(5))
        texts.append(f"The clerk saw the {chain}.  The clerk said that ___ would pay.")
    table = {
        "instance_id": [f"{i:016x}" for i in range(count)],
        "text": texts,
        "options": [FORMS] * count,
    }
    table = pd.DataFrame({key: values + values[:repeated] for key, values in table.items()})
    files.write_parquet(path, table)
    return path


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-llama", "tiny-bert", "tiny-t5", "tiny-qwen"))
    return config.load_yaml(registry)["models"]


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
    given = arguments(entries, tmp_path, path, model, score="label_loss")
    score.main(**given)
    scores = model_outputs.read_scores(given["scores"], model, table)
    assert scores.option.tolist() == FORMS * 9
    assert files.parquet_metadata(given["scores"])["metric"] == "label_loss"
    spanned = model == "tiny-t5"
    assert (scores.sentinel_tokens == 2 * spanned).all()
    assert (scores.end_tokens == spanned).all()
    starts = scores.instance_id == f"{4:016x}"
    assert (scores.uncapitalised_log_probability.notna() == (starts & spanned)).all()
    picks = options.predict(losses.comparable_scores(scores), options.option_counts(table))
    assert len(picks) == 9
    merged = tmp_path / "merged.parquet"
    merge_scores.main(shards=[given["scores"]], scores=str(merged))
    assert files.read_arrow(merged).schema.equals(files.read_arrow(given["scores"]).schema)


def test_a_masked_model_has_no_losses(entries, tmp_path, many):
    with pytest.raises(UserError, match=r"a masked language model has no loss on labels.*leave the model out"):
        score.main(**arguments(entries, tmp_path, many, "tiny-bert", score="label_loss"))


def test_token_values_add_up(entries, tmp_path, many):
    score.main(**arguments(entries, tmp_path, many, token_values=True))
    table = files.read_parquet(tmp_path / "scores.parquet")
    assert [len(v) for v in table.token_log_probabilities] == table.scored_tokens.tolist()
    assert [v.sum() for v in table.token_log_probabilities] == pytest.approx(table.log_probability.tolist(), abs=1e-3)


@pytest.mark.parametrize(("model", "count"), [("tiny-llama", 1100), ("tiny-bert", 24), ("tiny-t5", 60)])
def test_a_killed_job_goes_on_where_it_was(entries, tmp_path, monkeypatch, model, count):
    path = write_instances(tmp_path / "instances.parquet", count)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    given = arguments(entries, broken, path, model)
    status, said = jobs.Job("scripts.scoring.score", arguments(entries, whole, path, model)).end()
    assert status == 0, said
    rng = np.random.default_rng(20240601)
    kept = broken / "scores.parts"
    for _ in range(3):
        # Killed somewhere behind its next finished part.
        target = jobs.finished_parts(kept) + int(rng.integers(1, 12))
        jobs.kill_with_parts("scripts.scoring.score", given, kept, target)
        assert not (broken / "scores.parquet").exists()
    (broken / ".scores.parquet.left.parquet").write_text("half")
    ran = []
    original = score.make_scorer

    def counting(*values):
        scorer = original(*values)
        run = scorer.run
        scorer.run = lambda batch: ran.append(batch) or run(batch)
        return scorer

    monkeypatch.setattr(score, "make_scorer", counting)
    # What a way is checked with is not of the job.
    monkeypatch.setattr(score, "choose_way", lambda *given: (choose_way(*given), ran.clear())[0])
    score.main(**given)
    speed = json.loads((broken / "speed.json").read_text())
    facts = files.parquet_metadata(broken / "scores.parquet")
    # What was finished was not scored again, and everything else was.
    assert speed["scored_tokens"] == sum(b.tokens for b in ran) < facts["forward_tokens"]
    assert (broken / "scores.parquet").read_bytes() == (whole / "scores.parquet").read_bytes()
    assert sorted(p.name for p in broken.iterdir()) == ["scores.parquet", "speed.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"model": "tiny-qwen"},
        {"engine": "minicons"},
        {"tokens_per_batch": 300},
        {"entry": "bfloat16"},
        {"instances": "other"},
        {"revision": "other"},
        {"code": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_parts_of_anything_else_are_not_taken(entries, tmp_path, many, monkeypatch, change):
    given = arguments(entries, tmp_path, many)
    monkeypatch.setattr(parts.Parts, "remove", lambda self: None)
    score.main(**given)
    (name, value), *_ = change.items()
    if name == "model":
        given |= {"model": value, "entry": entries[value]}
    elif name == "entry":
        given["entry"] = {**given["entry"], "precision": value}
    elif name == "instances":
        given["instances"] = str(write_instances(tmp_path / "other.parquet", 89))
    elif name == "revision":
        locate = loading.locate
        monkeypatch.setattr(loading, "locate", lambda *a: loading.Location(locate(*a).folder, None, "another"))
    elif name == "code":
        monkeypatch.setattr(closure, "digests", lambda *_: {"scripts/scoring/score.py": "0" * 16})
    else:
        given[name] = value
    score.main(**given)
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


def test_shards_of_different_runs_are_not_merged(entries, tmp_path, many):
    paths = []
    for shard, engine in ((1, "packed"), (2, "minicons")):
        given = arguments(entries, tmp_path / str(shard), many, shard=shard, shards=2, engine=engine)
        score.main(**given)
        paths.append(given["scores"])
    with pytest.raises(UserError, match=r"2/scores.parquet: engine is 'minicons', but 'packed' in .*delete the shard"):
        merge_scores.main(shards=paths, scores=str(tmp_path / "scores.parquet"))
    with pytest.raises(UserError, match="is part 1 of 2, where part 2 of 2 was expected"):
        merge_scores.main(shards=[paths[0]] * 2, scores=str(tmp_path / "scores.parquet"))
    # The first two of three parts, and parts of two revisions of one model.
    table, stated = files.read_parquet(paths[0]), files.parquet_metadata(paths[0])
    for changed, told in (
        ({"shards": 3}, "is part 1 of 3, where part 1 of 2 was expected"),
        ({"shards": 2, "revision": "b" * 40}, "revision is 'b{40}', but None in"),
        ({"shards": 2, "bos_token": "<s>"}, "bos_token is '<s>', but None in"),
    ):
        for shard in (1, 2):
            facts = stated | {"shard": shard} | (changed if shard == 2 or changed.keys() == {"shards"} else {})
            files.write_parquet(tmp_path / f"{shard}.parquet", table, metadata=facts)
        with pytest.raises(UserError, match=told):
            merge_scores.main(
                shards=[str(tmp_path / f"{shard}.parquet") for shard in (1, 2)], scores=str(tmp_path / "scores.parquet")
            )
    assert not (tmp_path / "scores.parquet").exists()


def test_a_file_without_priorities_is_refused_where_a_model_scores_fewer(entries, tmp_path, many):
    with pytest.raises(UserError, match="priority"):
        score.main(**arguments(entries, tmp_path, many, priority=4))


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


def test_no_instances_are_an_error(entries, tmp_path):
    empty = pa.table({"instance_id": pa.array([], "str"), "text": pa.array([], "str"), "options": pa.array([], "str")})
    pq.write_table(empty, tmp_path / "empty.parquet")
    with pytest.raises(UserError, match="no instances; delete the file"):
        score.main(**arguments(entries, tmp_path, tmp_path / "empty.parquet"))


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
