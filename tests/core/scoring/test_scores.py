"""Scores agree with a plain loop over tokens and with minicons called by hand, on every architecture of the zoo.

``pytest -s tests/core/scoring/test_scores.py`` prints the largest differences.
"""

import inspect
import itertools

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.core.data import options
from scripts.core.scoring import decoder, network
from scripts.core.scoring.minicons import MiniconsScorer, with_batch_encoding
from scripts.core.scoring.reader import Text
from tests import zoo as builder
from tests.core.scoring import loops
from tests.core.scoring.architectures import by_tier, frame
from tests.core.scoring.memory import Scores
from tests.refusals import refused

# Four of the studies' forms; a neopronoun and a form that split into pieces in every vocabulary of the zoo.
FORMS = [["he", "she", "they", "xe"], ["his", "her", "their", "xyrs"], ["himself", "herself", "themselves", "faerself"]]
ALL_FORMS = list(itertools.chain(*FORMS))
OPENINGS = ["", "The baker was late. ", "The clerk met the client, who was tired.  ", "Zürich (☃): "]
TASKS = [
    "The baker was glad because ___ had slept well.",
    "___ left early because the bus was late and the rain had not stopped for hours, so the shoes were wet.",
    "The clerk asked ___ to wait.",
    "The client found an umbrella.  The baker said that ___ would need it",
]
# 40 instances: openings, tasks, and forms of different token lengths.
INSTANCES = frame([(opening + task, forms) for opening, task, forms in itertools.product(OPENINGS, TASKS, FORMS)][:40])

PAIRS = tuple(name for name, row in builder.MODELS.items() if row["architecture"] == "encoder-decoder")
OTHERS = tuple(name for name in builder.ALL_NAMES if name not in PAIRS)
DAILY = (
    "tiny-bert", "tiny-albert", "tiny-mosaicbert", "tiny-llama", "tiny-opt", "tiny-bloom", "tiny-mamba", "tiny-t5",
    "tiny-bart",
)  # fmt: skip
"""One of each way in which the engine runs them, and of each kind of tokenizer; the night has all."""


@pytest.fixture(scope="module")
def looped(loaded):
    """The sum of a plain loop and the number of scored tokens, by model and row, computed when first asked for."""
    known = {}

    def scores(name, row):
        key = (name, row.masked, row.text)
        if key not in known:
            architecture, model, tokenizer = loaded[name]
            known[key] = loops.token_values(model, tokenizer, architecture, row)[1]
        return sum(known[key]), len(known[key])

    return scores


def by_hand(model, tokenizer, architecture, text):
    """Score one text with minicons, called as its documentation shows."""
    from minicons import scorer

    tokenizer = with_batch_encoding(tokenizer)
    if architecture == "encoder":
        by_one = scorer.MaskedLMScorer(model, builder.DEVICE, tokenizer=tokenizer)
        return by_one.sequence_score([text], reduction=lambda x: x.sum().item(), PLL_metric="within_word_l2r")[0]
    by_one = scorer.IncrementalLMScorer(model, builder.DEVICE, tokenizer=tokenizer)
    return by_one.sequence_score([text], reduction=lambda x: x.sum().item())[0]


def scored(loaded, name, instances=INSTANCES, **more):
    architecture, model, tokenizer = loaded[name]
    return Scores((model, tokenizer, architecture), instances, **more)


def test_there_are_forty_instances_with_what_makes_them_hard():
    assert len(INSTANCES) == 40
    assert INSTANCES.text.str.startswith("___").any()
    assert INSTANCES.text.str.contains("  ").any()
    for kind in builder.DATA["tokenizers"]:
        tokenizer = builder.make_tokenizer(kind)
        lengths = [len(tokenizer(f" {form}", add_special_tokens=False)["input_ids"]) for form in ALL_FORMS]
        assert len(set(lengths)) > 1, kind


@pytest.mark.parametrize("name", by_tier(OTHERS, DAILY))
def test_the_loop_over_texts_is_the_loop_over_tokens(loaded, looped, name):
    architecture, model, tokenizer = loaded[name]
    rows = options.option_texts(INSTANCES)
    lengths = [len(ids) for ids in tokenizer(rows.text.tolist())["input_ids"]]
    # From every opening and every task one, and the shortest and the longest.
    some = {*range(0, len(rows), 29), int(np.argmin(lengths)), int(np.argmax(lengths))}
    for row in rows.iloc[sorted(some)].itertuples():
        values = loops.token_values(model, tokenizer, architecture, row, by_token=True)[1]
        assert looped(name, row) == (pytest.approx(sum(values), abs=1e-4), len(values))


@pytest.mark.parametrize("name", [*PAIRS, "tiny-gpt2", "tiny-bloom"])
def test_the_loop_over_labels_is_the_models_own_loss(loaded, name):
    architecture, model, tokenizer = loaded[name]
    for row in options.option_texts(INSTANCES).iloc[::7].itertuples():
        targets, values = loops.token_values(model, tokenizer, architecture, row)
        given = {"input_ids": tokenizer(row.text)["input_ids"], "labels": tokenizer(row.text)["input_ids"]}
        if architecture == "encoder-decoder":
            source = row.masked.replace("___", tokenizer.mask_token or "<extra_id_0>")
            given = {"input_ids": tokenizer(source)["input_ids"], "labels": targets}
        with torch.no_grad():
            loss = model(**{key: torch.tensor([ids], device=model.device) for key, ids in given.items()}).loss
        assert np.mean(values) == pytest.approx(-loss.item(), abs=1e-5)


@pytest.mark.parametrize("name", by_tier(builder.ALL_NAMES, DAILY))
def test_scores_equal_the_loop(loaded, looped, name):
    made = scored(loaded, name)
    result = made.table
    expected = [looped(name, row) for row in made.rows.itertuples()]
    assert result.scored_tokens.tolist() == [scored for _, scored in expected]
    difference = np.abs(result.log_probability - [total for total, _ in expected]).max()
    print(f"\n{name:16} {made.check['way']:7} to the loop {difference:.1e} nats")
    assert difference < 1e-4
    assert result.mean_log_probability.tolist() == pytest.approx([t / n for t, n in expected], abs=1e-4)
    assert [sum(v) for v in result.token_log_probabilities] == pytest.approx([t for t, _ in expected], abs=1e-3)
    # Options must differ, or equality with the loop would show little.
    assert result.groupby("instance_id").log_probability.nunique().median() >= 3
    # Each is run as fast as it can be.
    slow = {"tiny-bloom": "equal", "tiny-mosaicbert": "all", "tiny-deberta-v3": "all", "tiny-albert": "head",
            "tiny-modernbert": "head"}  # fmt: skip
    fast = {"decoder": "packed", "encoder": "last", "encoder-decoder": "padded"}[loaded[name][0]]
    way = "equal" if builder.MODELS[name].get("recurrent") else slow.get(name, fast)
    assert made.check == {"way": way, "checked": True}


@pytest.mark.parametrize("name", by_tier(OTHERS, DAILY))
def test_minicons_agrees(loaded, looped, name):
    architecture, model, tokenizer = loaded[name]
    made = scored(loaded, name, INSTANCES.iloc[::4], engine="minicons")
    rows, result = made.rows, made.table.log_probability
    to_loop = max(abs(looped(name, row)[0] - value) for row, value in zip(rows.itertuples(), result, strict=True))
    hand = [by_hand(model, tokenizer, architecture, text) for text in rows.text]
    to_hand = np.abs(result - hand).max()
    print(f"\n{name:16} minicons to the loop {to_loop:.1e} nats, to minicons by hand {to_hand:.1e} nats")
    assert to_loop < 1e-3 and to_hand < 1e-3


def test_minicons_refuses_what_it_cannot_score(loaded):
    with refused("minicons", "encoder-decoder", "set scoring.engine to packed"):
        scored(loaded, "tiny-t5", engine="minicons")


def test_texts_longer_than_a_sliding_window_or_any_that_was_checked_are_not_packed(loaded, looped, monkeypatch):
    name, lengths = "tiny-qwen", np.array([len(text) for text in scored(loaded, "tiny-qwen").texts])
    window = int(np.median(lengths))
    with monkeypatch.context() as patched:
        patched.setattr(loaded[name][1].config, "sliding_window", window)
        plans = {"window": scored(loaded, name)}
    plans["checked"] = scored(loaded, name, checked=INSTANCES[INSTANCES.text.str.len() < 60])
    for made in plans.values():
        together, alone = [], []
        for batch in made.plan:
            (together if isinstance(batch.work[0], tuple) else alone).extend(batch.members)
        assert made.check["way"] == "packed" and sorted([*together, *alone]) == list(range(len(lengths)))
        assert lengths[together].max() <= made.scorer.longest < lengths[alone].min()
        expected = [looped(name, row)[0] for row in made.rows.itertuples()]
        assert np.abs(made.table.log_probability - expected).max() < 1e-4
    assert plans["window"].scorer.longest == window


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-llama", "tiny-bloom", "tiny-bart", "tiny-t5"])
def test_scores_do_not_depend_on_batches_or_order(loaded, name):
    some = INSTANCES.iloc[::5]
    shuffled = some.sample(frac=1, random_state=1)
    tables = [scored(loaded, name, some, tokens=tokens).table for tokens in (1, 64, 100_000)]
    tables.append(scored(loaded, name, shuffled).table)
    keyed = [table.set_index(["instance_id", "option"]).log_probability for table in tables]
    for other in keyed[1:]:
        assert np.abs(keyed[0] - other.reindex(keyed[0].index)).max() < 1e-4
    best = [options.pick_best(table).option_index.sort_index() for table in tables]
    assert all(best[0].equals(other) for other in best[1:])


words = st.sampled_from(
    ["the baker", "the client", "xylophone", "said", "was", "late", "(ü)", " ", "and so", "__", "1999"]
)
sentences = st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6))
forms = st.lists(st.sampled_from(ALL_FORMS), min_size=2, max_size=5, unique=True)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(sentences, forms), min_size=1, max_size=5), st.sampled_from([1, 100, "auto"]))
@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-roberta", "tiny-bloom", "tiny-t5"])
def test_random_instances_score_as_in_the_loop(loaded, looped, name, drawn, tokens):
    """With few and many options each, in batches of any size."""
    instances = frame([(" ".join([*before, "___", *after, "."]), some) for (before, after), some in drawn])
    made = scored(loaded, name, instances, tokens=tokens)
    for row, score in zip(made.rows.itertuples(), made.table.log_probability, strict=True):
        assert score == pytest.approx(looped(name, row)[0], abs=1e-4)


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=30), st.integers(1, 200))
def test_passes_hold_every_sequence_in_order_within_their_tokens_and_pad_little(sizes, tokens):
    sizes = sorted(sizes, reverse=True)
    found = network.cut_passes(range(len(sizes)), sizes, tokens)
    assert [i for part in found for i in part] == list(range(len(sizes)))
    for part in found:
        assert len(part) == 1 or len(part) * sizes[part[0]] <= tokens
        assert sizes[part[-1]] >= 0.875 * sizes[part[0]]


def test_a_pass_has_fewer_tokens_where_the_vocabulary_is_large(loaded, monkeypatch):
    model = loaded["tiny-llama"][1]
    assert network.pass_tokens(model) == network.PASS_TOKENS[network.kind_of_device(model)]
    monkeypatch.setattr(network, "LOGITS_BYTES", 4 * 600 * 100)
    assert network.pass_tokens(model) == network.pass_tokens(model, 1000) == 100
    assert network.pass_tokens(model, 64) == 64


@pytest.mark.parametrize("size", [(1, 9), (70, 49152), (3, 1 << 20)])
def test_log_sum_exp_in_parts_is_the_whole(size):
    logits = 20 * torch.randn(size, generator=torch.Generator().manual_seed(20240601)).to(builder.DEVICE) - 50
    expected = logits.double().logsumexp(1)
    assert (network.log_sum_exp_(logits) - expected).abs().max() < 1e-5


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-gpt-j"])
def test_logits_are_those_of_the_chosen_positions_whether_or_not_a_model_selects(loaded, name, monkeypatch):
    model = loaded[name][1]
    arguments = network.text_arguments(model, np.arange(10, 34).reshape(2, 12))
    with torch.inference_mode():
        every = model(**arguments).logits
        for chosen in (np.ones((2, 12), bool), np.arange(24).reshape(2, 12) % 5 == 2, np.eye(2, 12, 3, dtype=bool)):
            for selects in (True, False):
                with monkeypatch.context() as patched:
                    if not selects:
                        patched.setattr(network, "accepts_argument", lambda *_: False)
                    found = network.logits_at(model, arguments, chosen)
                assert torch.allclose(found, every[torch.from_numpy(chosen)], atol=1e-5)


def test_identical_masked_inputs_are_computed_once(loaded):
    made = scored(loaded, "tiny-bert", frame([("The clerk asked ___ to wait.", ["his", "her"])]))
    length, other = map(len, made.texts)
    assert length == other
    # With the slot masked the two texts are the same, so one of their masked inputs is shared.
    assert sum(batch.tokens for batch in made.plan) == (2 * (length - 2) - 1) * length


@pytest.mark.parametrize("name", ["tiny-opt", "tiny-bert", "tiny-t5"])
def test_half_precision_weights_still_get_a_float32_softmax(loaded, name):
    _, model, _ = loaded[name]
    try:
        model.bfloat16()
        scores = scored(loaded, name, INSTANCES.iloc[:5]).table.log_probability
    finally:
        model.float()
    # bfloat16 sums of about -200 would be multiples of one.
    assert (np.abs(scores * 4 - (scores * 4).round()) > 1e-3).any()


def test_scores_that_are_not_finite_are_refused(loaded, monkeypatch):
    made, head = scored(loaded, "tiny-llama", INSTANCES.iloc[:2]), loaded["tiny-llama"][1].lm_head.weight
    monkeypatch.setattr(head, "data", torch.full_like(head.data, float("nan")))
    with refused("instance", "option", "not finite", "weights", "fetch it again"):
        made.values()
    # The check before the first batch names them too.
    with refused("LlamaForCausalLM", "not finite", "fetch it again"):
        scored(loaded, "tiny-llama")


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-bert", "tiny-t5", "tiny-bloom"])
def test_running_out_of_memory_halves_the_batches(loaded, monkeypatch, name):
    made = scored(loaded, name, INSTANCES.iloc[::4], tokens=2048)
    tried = []
    model, run = loaded[name][1], type(loaded[name][1]).forward

    def small(self, *arguments, **given):
        ids = given.get("input_ids", given.get("decoder_input_ids"))
        tried.append(len(ids))
        if len(ids) > 1:
            raise torch.OutOfMemoryError("out of memory")
        return run(self, *arguments, **given)

    monkeypatch.setattr(made.scorer, "way", made.scorer.ways[-2] if name == "tiny-bert" else made.scorer.way)
    small.__signature__ = inspect.signature(model.forward)
    monkeypatch.setattr(type(model), "forward", small)
    found = np.array([value.sum() for value in made.values()])
    assert max(tried) > 1 and np.abs(found - made.table.log_probability).max() < 1e-4


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("full"), refused("memory runs out with a single text", "more GPUs")),
        (RuntimeError("shapes do not fit"), pytest.raises(RuntimeError, match="shapes do not fit")),
    ],
    ids=["memory", "shapes"],
)
def test_too_little_memory_for_one_text_is_told_from_other_errors(loaded, monkeypatch, error, expected):
    made = scored(loaded, "tiny-llama", INSTANCES.iloc[:1])

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(decoder.net, "logits_at", fail)
    with expected:
        made.values()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried to allocate", True),
        ("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported", True),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", True),
        ("CUDA error: an illegal memory access was encountered", False),
    ],
)
def test_a_lack_of_memory_is_told_from_other_errors_by_its_message(message, expected):
    assert network.ran_out_of_memory(RuntimeError(message)) == expected


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 200))
@pytest.mark.parametrize("name", ["tiny-llama", "tiny-bert"])
def test_minicons_batches_hold_every_text_once_within_their_tokens(loaded, name, lengths, tokens):
    architecture, model, tokenizer = loaded[name]
    scorer = MiniconsScorer(model, tokenizer, architecture, tokens)
    nothing = np.zeros(0, dtype=np.int64)
    found = scorer.plan([Text(np.ones(n, int), np.ones(n, bool), nothing, nothing) for n in lengths])
    assert sorted(i for batch in found for i in batch.members) == list(range(len(lengths)))
    for batch in found:
        assert len({lengths[i] for i in batch.members}) == 1
        assert len(batch.members) == 1 or batch.tokens <= tokens
