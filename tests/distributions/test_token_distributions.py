"""Jobs of token distributions: formats, resuming after a kill, and the job that asks a server."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from scripts.core import files
from scripts.core.generation import check, distributions, generate
from scripts.core.scoring import masked, seq2seq
from scripts.core.workflow.parts import Parts
from scripts.distributions import completions as completions_job
from scripts.distributions import token_distributions
from tests import jobs
from tests.core.generation.completion_server import KEY, answer, serve
from tests.refusals import refused

GROUPS = {"female": ["she", "her"], "male": ["he", "him", "his"], "neutral": ["they"]}
PLACES = ["garden", "kitchen", "street", "office", "market", "river", "tower"]
METHODS = {"tiny-bert": ["mask"], "tiny-llama": ["generate"], "tiny-ul2": ["mask", "generate"], "tiny-bart": ["mask"]}
KEYS = ["text_id", "step", "rank", "token", "chosen"]


def write_texts(path, count):
    """Write ``count`` texts with a mask and as many prompts, alternating; no two texts are equal."""
    rows = []
    for i in range(count):
        chain = " near the ".join(PLACES[i // 7**k % 7] for k in range(1 + i % 4))
        sentence = f"In the {chain}, [MASK] was late for the {i}th time."
        rows.append((f"mask-{i}", f"instance-{i}", "mask", sentence, "mask"))
        rows.append((f"prompt-{i}", f"instance-{i}", "A", f"Fill in: {sentence.replace('[MASK]', '_')}", "generate"))
    files.write_parquet(path, pd.DataFrame(rows, columns=["text_id", "instance_id", "prompt", "text", "method"]))
    return path


@pytest.fixture
def texts(tmp_path):
    return write_texts(tmp_path / "texts.parquet", 30)


def arguments(entries, folder, texts, model, **changed):
    """Return the keyword arguments of a job."""
    return {
        **jobs.model_arguments(entries, model, folder),
        "texts": str(texts),
        "distributions": str(folder / "out.parquet"),
        "masses": str(folder / "out.mass.parquet"),
        "methods": METHODS[model],
        "top_k": 5,
        "max_new_tokens": 4,
        "groups": GROUPS,
        "date": "2024-07-26",
        **changed,
    }


@pytest.mark.parametrize("model", METHODS)
def test_files(entries, tmp_path, texts, model):
    token_distributions.main(**arguments(entries, tmp_path, texts, model))
    table, masses = (files.read_parquet(tmp_path / name) for name in ("out.parquet", "out.mass.parquet"))
    wanted = files.read_parquet(texts)
    wanted = wanted[wanted.method.isin(METHODS[model])]
    steps = table.groupby("text_id").step.max() + 1
    assert (steps[steps.index.str.startswith("mask")] == 1).all()
    assert (steps[steps.index.str.startswith("prompt")] <= 4).all()
    # The order of the texts file, then step, then rank or group.
    places = [(text, step) for text in wanted.text_id for step in range(steps[text])]
    assert table[["text_id", "step", "rank"]].to_numpy().tolist() == [[*place, n] for place in places for n in range(5)]
    assert masses[["text_id", "step", "group"]].to_numpy().tolist() == [[*place, g] for place in places for g in GROUPS]
    assert (table["chosen"] == (table["rank"] == 0)).all()
    assert (table.groupby(["text_id", "step"]).probability.diff().dropna() <= 0).all()
    # The mass over the vocabulary holds what the five most probable tokens have of it.
    words = {word: group for group, listed in GROUPS.items() for word in listed}
    named = table.assign(group=table.token.str.strip().str.lower().map(words))
    part = named.dropna(subset="group").groupby(["text_id", "step", "group"], as_index=False).probability.sum()
    both = masses.merge(part, on=["text_id", "step", "group"], how="left", suffixes=("", "_top")).fillna(0)
    assert (both.probability >= both.probability_top - 1e-9).all() and (both.probability > 0).all()
    facts = files.parquet_metadata(tmp_path / "out.parquet")
    assert facts == files.parquet_metadata(tmp_path / "out.mass.parquet")
    assert (facts["texts"], facts["model"], facts["top_k"]) == (len(wanted), model, 5)
    assert len(facts["weights_sha256"]) == len(facts["texts_sha256"]) == 64
    assert json.loads((tmp_path / "speed.json").read_text())["tokens"] == facts["forward_tokens"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.mass.parquet", "out.parquet", "speed.json", texts.name]


def test_no_groups_and_all_tokens(entries, tmp_path, texts):
    token_distributions.main(**arguments(entries, tmp_path, texts, "tiny-bert", groups={}, top_k="all"))
    table = files.read_parquet(tmp_path / "out.parquet")
    assert len(files.read_parquet(tmp_path / "out.mass.parquet")) == 0
    assert table.groupby("text_id").probability.sum().tolist() == pytest.approx([1.0] * 30, abs=1e-5)


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-llama", "tiny-ul2"])
def test_windows_and_batches_change_nothing(entries, tmp_path, texts, monkeypatch, model):
    token_distributions.main(**arguments(entries, tmp_path / "one", texts, model, tokens_per_batch=4000))
    monkeypatch.setattr(token_distributions, "WINDOW", 7)
    token_distributions.main(**arguments(entries, tmp_path / "two", texts, model, tokens_per_batch=64))
    tables = [files.read_parquet(tmp_path / name / "out.parquet") for name in ("one", "two")]
    assert tables[0][KEYS].equals(tables[1][KEYS])
    # Rounding: what is in a batch decides in which order a matrix product is summed.
    assert np.abs(tables[0].probability - tables[1].probability).max() < 2e-5


@pytest.mark.parametrize("model", ["tiny-ul2", pytest.param("tiny-bert", marks=pytest.mark.nightly)])
def test_a_killed_job_goes_on_where_it_was(entries, tmp_path, model):
    path = write_texts(tmp_path / "texts.parquet", 400)

    def make(folder):
        return arguments(entries, folder, path, model)

    module = "scripts.distributions.token_distributions"
    speed, facts, kept = jobs.resume(module, make, tmp_path, "out.parquet", (2, 5))
    assert 0 < speed["tokens"] <= facts["forward_tokens"] - kept


@pytest.mark.parametrize(
    "change", [{}, {"top_k": 6}, {"max_new_tokens": 3}, {"groups": {"male": ["he"]}}, {"entry": "prefixes"}], ids=str
)
def test_parts_of_anything_else_are_not_taken(entries, tmp_path, texts, monkeypatch, change):
    given = arguments(entries, tmp_path, texts, "tiny-ul2")
    monkeypatch.setattr(Parts, "remove", lambda self: None)
    token_distributions.main(**given)
    if "entry" in change:
        change = {"entry": {**given["entry"], "prefixes": {"mask": "[NLU]", "generate": "[S2S]"}}}
    token_distributions.main(**{**given, **change})
    facts = files.parquet_metadata(tmp_path / "out.parquet")
    again = json.loads((tmp_path / "speed.json").read_text())["tokens"]
    assert again == (facts["forward_tokens"] if change else 0)


def test_prompts_are_wrapped(entries, tmp_path, texts):
    table = files.read_parquet(texts)
    files.write_parquet(tmp_path / "wrapped.parquet", table.assign(text="[INST] " + table.text + " [/INST]"))
    read = {}
    for name, wrapping in (("texts", "llama2"), ("wrapped", "none"), ("plain", "none")):
        path = tmp_path / "wrapped.parquet" if name == "wrapped" else texts
        entry = {**entries["tiny-llama"], "prompt_wrapping": wrapping}
        given = arguments(entries, tmp_path / name, path, "tiny-llama", entry=entry)
        token_distributions.main(**given)
        read[name] = files.read_parquet(given["distributions"])
    assert read["texts"].equals(read["wrapped"])
    assert not read["texts"].probability.equals(read["plain"].probability)


def test_prefixes_reach_the_model(entries, tmp_path, texts):
    read = {}
    for method in ("none", "mask", "generate"):
        entry = {**entries["tiny-ul2"], "prefixes": {method: "[NLU]"}}
        given = arguments(entries, tmp_path / method, texts, "tiny-ul2", entry=entry)
        token_distributions.main(**given)
        table = files.read_parquet(given["distributions"])
        read[method] = table[table.step == 0].pivot(index="text_id", columns="rank", values="probability")
    masks = read["none"].index.str.startswith("mask")
    assert ((read["mask"] != read["none"]).any(axis=1) == masks).all()
    assert ((read["generate"] != read["none"]).any(axis=1) == ~masks).all()


def test_a_way_of_reading_masks_that_disagrees_is_not_taken(entries, tmp_path, texts, monkeypatch):
    def read(name):
        given = arguments(entries, tmp_path / name, texts, "tiny-bert")
        token_distributions.main(**given)
        return files.read_parquet(given["distributions"]), files.parquet_metadata(given["distributions"])["check"]

    expected, check = read("right")
    assert check == {"mask": {"way": "last", "checked": True}}
    states = masked.last_states
    monkeypatch.setattr(masked, "last_states", lambda *given: states(*given) + 1)
    found, check = read("last layer")
    assert check["mask"]["way"] == "head"
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-bart"])
def test_memory_that_runs_out_halves_the_batch(entries, tmp_path, texts, monkeypatch, model):
    expected = arguments(entries, tmp_path / "whole", texts, model, tokens_per_batch=4000)
    token_distributions.main(**expected)
    for kind in (masked.MaskedScorer, seq2seq.Seq2SeqScorer):
        monkeypatch.setattr(kind, "logits", narrow(kind.logits, most=2))
    given = arguments(entries, tmp_path / "halved", texts, model, tokens_per_batch=4000)
    token_distributions.main(**given)
    tables = [files.read_parquet(one["distributions"]) for one in (expected, given)]
    assert tables[0][KEYS].equals(tables[1][KEYS])
    assert np.abs(tables[0].probability - tables[1].probability).max() < 1e-5
    for kind in (masked.MaskedScorer, seq2seq.Seq2SeqScorer):
        monkeypatch.setattr(kind, "logits", narrow(kind.logits, most=0))
    monkeypatch.setattr(token_distributions, "choose_way", lambda *_: {})
    with refused("memory runs out with a single text"):
        token_distributions.main(**arguments(entries, tmp_path / "none", texts, model))


def narrow(logits, most):
    """Return a function that gives logits for so many texts at most."""

    def run(self, some):
        if len(some) > most:
            raise torch.OutOfMemoryError("no more")
        return logits(self, some)

    return run


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-llama"])
def test_probabilities_that_are_not_finite_are_refused(entries, tmp_path, texts, monkeypatch, model):
    """As of half precision, whose numbers end at 65,504."""
    most_probable = distributions.most_probable

    def broken(logits, *given):
        logits = logits.clone()
        logits[-1] = math.inf
        return most_probable(logits, *given)

    for module in (distributions, generate):
        monkeypatch.setattr(module, "most_probable", broken)
    for module in (token_distributions, check):
        monkeypatch.setattr(module, "choose_way", lambda *_: {})
    with refused("text ", "a probability is not finite", "leave this model out"):
        token_distributions.main(**arguments(entries, tmp_path, texts, model))
    assert not (tmp_path / "out.parquet").exists()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    with serve() as running:
        yield running


def server_arguments(server, folder, texts, **changed):
    api = {"base_url": server.base_url, "model": "test-model", "interface": "chat", "key": "TEST_SERVER_KEY"}
    return {
        "texts": str(texts),
        "distributions": str(folder / "out.parquet"),
        "model": "mine",
        "entry": {"api": api | {"top_logprobs": 3}, "architecture": "decoder", "demonstration": False},
        "top_k": 5,
        "max_new_tokens": 10,
        "cache": str(folder / "cache"),
        "parallel": 3,
        **changed,
    }


def test_a_server_is_asked_once_for_each_prompt(server, tmp_path, texts):
    table = files.read_parquet(texts)
    twin = table[table.method == "generate"].iloc[:1].assign(text_id="twin")
    files.write_parquet(texts, pd.concat([table, twin]))
    given = server_arguments(server, tmp_path, texts)
    completions_job.main(**given)
    found = files.read_parquet(given["distributions"])
    assert found.columns.tolist() == ["text_id", "step", "rank", "token", "probability", "chosen"]
    assert found.text_id.drop_duplicates().tolist() == [f"prompt-{i}" for i in range(30)] + ["twin"]
    rows = found[found.text_id == "prompt-7"]
    assert rows.token.tolist() == [" she", " he", " they", ".", "!", "?"]
    assert rows.probability.tolist() == pytest.approx([0.5, 0.3, 0.1, 0.9, 0.05, 0.01])
    assert rows.chosen.tolist() == [True, False, False, True, False, False]
    assert len(server.seen) == 30
    facts = files.parquet_metadata(given["distributions"])
    assert (facts["model"], facts["top_k"], facts["texts"]) == ("mine", 3, 31)
    assert (facts["prompt_tokens"], facts["new_tokens"]) == (31 * 7, 31 * 2)
    assert facts["source"] == {"base_url": server.base_url, "model": "test-model", "interface": "chat"}
    before = Path(given["distributions"]).read_bytes()
    assert KEY.encode() not in before
    # Once more: everything is on disk.
    completions_job.main(**given)
    assert len(server.seen) == 30
    assert Path(given["distributions"]).read_bytes() == before


def test_a_failed_job_goes_on_without_asking_again(server, tmp_path, texts):
    given = server_arguments(server, tmp_path, texts, parallel=1)
    server.script = [0] * 12 + [(400, {}, "no")]
    with refused("failed (Error code: 400"):
        completions_job.main(**given)
    assert not (tmp_path / "out.parquet").exists()
    server.script = []
    completions_job.main(**given)
    asked = [body["messages"][0]["content"] for _, _, body in server.seen]
    assert len(set(asked)) == 30
    assert len(asked) - 30 <= 2  # the refused one, and at most one that was under way


@pytest.mark.parametrize("place", ["reasoning_content", "content"])
def test_a_server_whose_model_thinks_first_is_refused(server, tmp_path, texts, place):
    thought = answer({"messages": [], "top_logprobs": 3})
    thought["choices"][0]["message"][place] = "<think>It may be her."
    server.script = [thought]
    with refused("model mine", "thinks before it answers", "switch that off"):
        completions_job.main(**server_arguments(server, tmp_path, texts, parallel=1))
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(("model", "message"), [("tiny-bert", "text late: it has"), ("tiny-llama", "a prompt ")])
def test_a_text_that_is_too_long_ends_the_job_before_it_starts(entries, texts, tmp_path, monkeypatch, model, message):
    table = files.read_parquet(texts)
    long = {"text_id": "late", "instance_id": "i", "prompt": "p", "text": "[MASK] " + "word " * 300}
    longest = pd.DataFrame([{**long, "method": METHODS[model][0]}])
    files.write_parquet(texts, pd.concat([table, longest], ignore_index=True))
    monkeypatch.setattr(token_distributions, "WINDOW", 5)
    monkeypatch.setattr(Parts, "work", lambda *_: pytest.fail("a text was run"))
    with refused(message, "tokens", "the model takes 25", "never truncated"):
        token_distributions.main(**arguments(entries, tmp_path, texts, model))
