"""Scores agree with a plain loop over tokens and with minicons called by hand, on every architecture of the zoo.

``pytest -s tests/core/engines/test_scoring.py`` prints the largest differences.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.core import config
from scripts.core.data import options
from scripts.core.engines import memory, minicons, output_layer, scoring, structure
from scripts.core.engines import packed as packed_engine
from scripts.core.engines.batches import context_length
from scripts.core.errors import UserError
from scripts.core.models import loading
from tests import zoo as builder

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
ENCODER_DECODERS = ("tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2")


def frame(texts):
    """Return instances of texts and their options."""
    return pd.DataFrame(
        {
            "instance_id": [f"{i:016x}" for i in range(len(texts))],
            "text": [text for text, _ in texts],
            "options": [forms for _, forms in texts],
        }
    )


# 40 instances: openings, tasks, and forms of different token lengths.
TEXTS = [(opening + task, forms) for opening, task, forms in itertools.product(OPENINGS, TASKS, FORMS)][:40]
INSTANCES = frame(TEXTS)


@pytest.fixture(scope="module")
def zoo_registry(tmp_path_factory):
    return builder.build(tmp_path_factory.mktemp("zoo"), builder.ALL_NAMES)


@pytest.fixture(scope="module")
def loaded(zoo_registry):
    entries = config.load_yaml(zoo_registry)["models"]
    return {
        name: (entry, *loading.load(name, entry, loading.locate(name, entry), builder.DEVICE))
        for name, entry in entries.items()
    }


@pytest.fixture(scope="module")
def looped(loaded):
    """The scores of a plain loop for each model and text, computed when first asked for."""
    known = {}

    def scores(name, row):
        if (name, row.masked, row.text) not in known:
            known[name, row.masked, row.text] = plain_loop(*loaded[name][1:], loaded[name][0]["architecture"], row)
        return known[name, row.masked, row.text]

    return scores


def plain_loop(model, tokenizer, architecture, row):
    """Score one option, one text in one forward pass: shares no code with the engines.

    Of an encoder it is one pass over the text's masked copies. That both are what a pass for each token gives is a
    test of its own.
    """
    if architecture == "encoder-decoder":
        return plain_labels(model, tokenizer, row)
    if architecture == "decoder":
        ids = tokenizer(row.text)["input_ids"]
        targets = ids[1:]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids], device=model.device)).logits[0, :-1]
    else:
        copies, places, targets = masked_copies(tokenizer, row)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor(copies, device=model.device)).logits[range(len(places)), places]
    return sum(log_probability(values, token) for values, token in zip(logits, targets, strict=True)), len(targets)


def token_loop(model, tokenizer, architecture, row):
    """Score one option token by token, one forward pass each: of a decoder over the tokens before it alone."""
    if architecture == "decoder":
        ids = tokenizer(row.text)["input_ids"]
        steps = [(ids[:position], -1, ids[position]) for position in range(1, len(ids))]
    else:
        steps = list(zip(*masked_copies(tokenizer, row), strict=True))
    total = 0.0
    for ids, place, token in steps:
        with torch.no_grad():
            total += log_probability(model(input_ids=torch.tensor([ids], device=model.device)).logits[0, place], token)
    return total, len(steps)


def masked_copies(tokenizer, row):
    """Return a text's masked copies, the position that each is scored at, and the token that stood there."""
    encoding = tokenizer(row.text)
    ids, words = encoding["input_ids"], encoding.word_ids()
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    places = [position for position, token in enumerate(ids) if token not in special]
    copies = [
        [tokenizer.mask_token_id if p == place or (p > place and words[p] == words[place]) else token
         for p, token in enumerate(ids)]
        for place in places
    ]  # fmt: skip
    return copies, places, [ids[place] for place in places]


def log_probability(logits, token):
    """Return a token's log-probability in double precision, in nats."""
    return (logits[token].double() - logits.double().logsumexp(0)).item()


def plain_labels(model, tokenizer, row):
    """Score one option by the model's own loss, which transformers computes as the mean over labels."""
    if tokenizer.mask_token:
        source, target = row.masked.replace("___", tokenizer.mask_token), row.text
    else:
        source, target = row.masked.replace("___", "<extra_id_0>"), f"<extra_id_0> {row.filled} <extra_id_1>"
    inputs, labels = (tokenizer(text, return_tensors="pt").to(model.device) for text in (source, target))
    labels = labels.input_ids
    with torch.no_grad():
        loss = model(**inputs, labels=labels).loss
    return -loss.item() * labels.shape[1], labels.shape[1]


def by_hand(model, tokenizer, architecture, text):
    """Score one text with minicons, called as its documentation shows."""
    from minicons import scorer

    tokenizer = minicons.with_batch_encoding(tokenizer)
    if architecture == "encoder":
        by_one = scorer.MaskedLMScorer(model, builder.DEVICE, tokenizer=tokenizer)
        return by_one.sequence_score([text], reduction=lambda x: x.sum().item(), PLL_metric="within_word_l2r")[0]
    by_one = scorer.IncrementalLMScorer(model, builder.DEVICE, tokenizer=tokenizer)
    return by_one.sequence_score([text], reduction=lambda x: x.sum().item())[0]


def engine(loaded, name, kind="packed", budget="auto", instances=INSTANCES):
    entry, model, tokenizer = loaded[name]
    return scoring.make_engine(kind, model, tokenizer, entry["architecture"], builder.DEVICE, budget, instances)


def test_there_are_forty_instances_with_what_makes_them_hard(loaded):
    assert len(INSTANCES) == 40
    assert INSTANCES.text.str.startswith("___").any()
    assert INSTANCES.text.str.contains("  ").any()
    for name, (_, _, tokenizer) in loaded.items():
        lengths = [len(tokenizer(f" {form}", add_special_tokens=False)["input_ids"]) for form in ALL_FORMS]
        assert len(set(lengths)) > 1, name


@pytest.mark.parametrize("name", [n for n in builder.ALL_NAMES if n not in ENCODER_DECODERS])
def test_the_loop_over_texts_is_the_loop_over_tokens(loaded, looped, name):
    entry, model, tokenizer = loaded[name]
    rows = options.option_texts(INSTANCES)
    lengths = [len(ids) for ids in tokenizer(rows.text.tolist())["input_ids"]]
    # From every opening and every task one, and the shortest and the longest.
    some = {*range(0, len(rows), 29), int(np.argmin(lengths)), int(np.argmax(lengths))}
    for row in rows.iloc[sorted(some)].itertuples():
        total, scored = token_loop(model, tokenizer, entry["architecture"], row)
        assert scored == looped(name, row)[1]
        assert looped(name, row)[0] == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("name", builder.ALL_NAMES)
def test_packed_scores_equal_the_loop(loaded, looped, name):
    result = scoring.score_instances(engine(loaded, name), INSTANCES)
    rows = options.option_texts(INSTANCES)
    expected = [looped(name, row) for row in rows.itertuples()]
    assert result.scored_tokens.tolist() == [scored for _, scored in expected]
    difference = np.abs(result.log_probability - [total for total, _ in expected]).max()
    print(f"\n{name:16} packed   to the loop {difference:.1e} nats")
    assert difference < 1e-4
    assert result.mean_log_probability.tolist() == pytest.approx([t / n for t, n in expected], abs=1e-4)
    assert [sum(v) for v in result.token_log_probabilities] == pytest.approx([t for t, _ in expected], abs=1e-3)
    # Options must differ, or equality with the loop would show little.
    assert result.groupby("instance_id").log_probability.nunique().median() >= 3


@pytest.mark.parametrize("name", [n for n in builder.ALL_NAMES if n not in ENCODER_DECODERS])
def test_minicons_agrees(loaded, looped, name):
    entry, model, tokenizer = loaded[name]
    some = INSTANCES.iloc[::4]
    result = scoring.score_instances(engine(loaded, name, "minicons"), some)
    rows = options.option_texts(some)
    to_loop = max(abs(looped(name, r)[0] - s) for r, s in zip(rows.itertuples(), result.log_probability, strict=True))
    hand = [by_hand(model, tokenizer, entry["architecture"], text) for text in rows.text]
    to_hand = np.abs(result.log_probability - hand).max()
    print(f"\n{name:16} minicons to the loop {to_loop:.1e} nats, to minicons by hand {to_hand:.1e} nats")
    assert to_loop < 1e-3
    assert to_hand < 1e-3


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_minicons_refuses_what_it_cannot_score(loaded, name):
    with pytest.raises(UserError, match=r"set scoring\.engine to packed"):
        engine(loaded, name, "minicons")


def test_each_architecture_is_run_as_fast_as_it_can_be(loaded):
    found = {name: engine(loaded, name).description for name in builder.ALL_NAMES}
    assert {d["output_layer"] for d in found.values()} == {"chosen positions"}
    trees = {name for name, d in found.items() if d["batching"] == "prefix tree"}
    decoders = {name for name in builder.ALL_NAMES if loaded[name][0]["architecture"] == "decoder"}
    narrow = {name for name, d in found.items() if d["last_layer"] == "chosen positions"}
    assert narrow == {"tiny-bert", "tiny-roberta", "tiny-spanbert"}
    assert trees == decoders - set(builder.STATE_SPACE)
    assert {found[name]["batching"] for name in builder.STATE_SPACE} == {"equal length"}


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-opt", "tiny-bert"])
def test_the_first_logits_cost_no_more_than_others(loaded, name):
    """The search for the trunk is no pass of its own."""
    _, model, tokenizer = loaded[name]
    selective = output_layer.SelectiveModel(model)
    ids = torch.tensor([tokenizer("The baker slept.")["input_ids"]]).to(model.device)
    calls = []
    hook = model.register_forward_pre_hook(lambda *_: calls.append(selective.trunk))
    first, second = (list(selective.logits({"input_ids": ids}, torch.arange(2))) for _ in range(2))
    hook.remove()
    assert calls[0] is None and len(calls) == 4
    assert torch.equal(first[0][1], second[0][1])


def test_a_model_that_ignores_positions_falls_back(loaded, looped, monkeypatch):
    _, model, _ = loaded["tiny-llama"]
    forward = model.model.forward
    monkeypatch.setattr(model.model, "forward", lambda *a, position_ids=None, **o: forward(*a, **o))
    fallen = engine(loaded, "tiny-llama")
    assert fallen.description["batching"] == "equal length"
    some = INSTANCES.iloc[:4]
    rows = options.option_texts(some)
    result = scoring.score_instances(fallen, some)
    for row, score in zip(rows.itertuples(), result.log_probability, strict=True):
        assert score == pytest.approx(looped("tiny-llama", row)[0], abs=1e-4)


def test_a_model_that_hides_its_trunk_falls_back(loaded, monkeypatch):
    _, model, _ = loaded["tiny-bert"]
    forward = type(model).forward

    def scrambled(self, *arguments, **keywords):
        """An output layer that looks at neighbouring positions cannot be given chosen ones."""
        output = forward(self, *arguments, **keywords)
        output.logits = output.logits + output.logits.mean(dim=1, keepdim=True)
        return output

    monkeypatch.setattr(type(model), "forward", scrambled)
    found = engine(loaded, "tiny-bert").description
    assert found["output_layer"] == found["last_layer"] == "all positions"


def test_a_last_layer_that_mixes_positions_is_run_whole(loaded, monkeypatch):
    _, model, _ = loaded["tiny-bert"]
    last = model.bert.encoder.layer[-1]
    feed = last.feed_forward_chunk
    monkeypatch.setattr(last, "feed_forward_chunk", lambda mixed: feed(mixed) + mixed.mean(dim=1, keepdim=True))
    found = engine(loaded, "tiny-bert").description
    assert (found["output_layer"], found["last_layer"]) == ("chosen positions", "all positions")


def test_texts_longer_than_a_sliding_window_are_not_packed(loaded, monkeypatch):
    rows = options.option_texts(INSTANCES)
    lengths = engine(loaded, "tiny-qwen").lengths(rows)
    window = int(np.median(lengths))
    monkeypatch.setattr(loaded["tiny-qwen"][1].config, "sliding_window", window)
    packed = engine(loaded, "tiny-qwen")
    assert packed.description["batching"] == "prefix tree"
    plan = packed.plan(rows)
    together = np.concatenate([batch.rows for batch in plan if isinstance(batch.payload, tuple)])
    alone = np.concatenate([batch.rows for batch in plan if not isinstance(batch.payload, tuple)])
    assert sorted([*together, *alone]) == list(range(len(rows)))
    assert lengths[together].max() <= window < lengths[alone].min()


def test_texts_longer_than_any_that_was_checked_are_not_packed(loaded, looped):
    packed = engine(loaded, "tiny-llama", instances=INSTANCES.iloc[:4])
    rows = options.option_texts(INSTANCES)
    longer = packed.lengths(rows) > packed.longest
    assert 0 < longer.sum() < len(rows)
    alone = [row for batch in packed.plan(rows) if not isinstance(batch.payload, tuple) for row in batch.rows]
    assert sorted(alone) == np.flatnonzero(longer).tolist()
    found = scoring.score_instances(packed, INSTANCES).log_probability
    expected = [looped("tiny-llama", row)[0] for row in rows.itertuples()]
    assert np.abs(found - expected).max() < 1e-4


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-llama", "tiny-bloom", "tiny-bart", "tiny-t5"])
def test_scores_do_not_depend_on_batches_or_order(loaded, name):
    some = INSTANCES.iloc[::5]
    shuffled = some.sample(frac=1, random_state=1)
    tables = [scoring.score_instances(engine(loaded, name, budget=budget), some) for budget in (1, 64, 100_000)]
    tables.append(scoring.score_instances(engine(loaded, name), shuffled))
    keyed = [table.set_index(["instance_id", "option"]).log_probability for table in tables]
    for other in keyed[1:]:
        assert np.abs(keyed[0] - other.reindex(keyed[0].index)).max() < 1e-4
    best = [options.predict(table).option_index.sort_index() for table in tables]
    assert all(best[0].equals(other) for other in best[1:])


words = st.sampled_from(
    ["the baker", "the client", "xylophone", "said", "was", "late", "(ü)", " ", "and so", "__", "1999"]
)
sentences = st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6))
forms = st.lists(st.sampled_from(ALL_FORMS), min_size=2, max_size=5, unique=True)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(sentences, forms), min_size=1, max_size=5), st.sampled_from([1, 100, "auto"]))
@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-roberta", "tiny-bloom", "tiny-t5"])
def test_random_instances_score_as_in_the_loop(loaded, name, drawn, budget):
    texts = [
        (" ".join([*before, "___", *after, "."]).replace("__ ", "_ "), options_) for (before, after), options_ in drawn
    ]
    instances = frame([(text, options_) for text, options_ in texts if text.count("___") == 1])
    entry, model, tokenizer = loaded[name]
    result = scoring.score_instances(engine(loaded, name, budget=budget), instances) if len(instances) else instances
    for row, score in zip(options.option_texts(instances).itertuples(), result.get("log_probability", []), strict=True):
        assert score == pytest.approx(plain_loop(model, tokenizer, entry["architecture"], row)[0], abs=1e-4)


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=30), st.integers(1, 200))
def test_passes_hold_every_sequence_in_order_within_the_budget(sizes, budget):
    sizes = sorted(sizes, reverse=True)
    found = packed_engine.plan_passes(sizes, budget)
    assert [i for part in found for i in part] == list(range(len(sizes)))
    for part in found:
        assert len(part) == 1 or len(part) * sizes[part.start] <= budget


def test_little_is_padded():
    assert packed_engine.plan_passes([250, 223, 219, 215, 100], 1000) == [range(1), range(1, 4), range(4, 5)]
    # A pass of its own costs more than a few padded tokens.
    assert packed_engine.plan_passes([250, 245, 240, 240], 1000) == [range(4)]


@pytest.mark.parametrize("size", [(1, 9), (70, 49152), (3, 1 << 20)])
def test_log_sum_exp_in_parts_is_the_whole(size):
    logits = 20 * torch.randn(size, generator=torch.Generator().manual_seed(20240601)).to(builder.DEVICE) - 50
    expected = logits.double().logsumexp(1)
    assert (output_layer.log_sum_exp_(logits) - expected).abs().max() < 1e-5


def test_sharing_saves_tokens(loaded):
    packed = engine(loaded, "tiny-llama")
    rows = options.option_texts(INSTANCES)
    assert sum(b.tokens for b in packed.plan(rows)) < 0.7 * packed.lengths(rows).sum()


def test_identical_masked_inputs_are_computed_once(loaded):
    packed = engine(loaded, "tiny-bert")
    rows = options.option_texts(frame([("The clerk asked ___ to wait.", ["his", "her"])]))
    lengths = packed.lengths(rows)
    assert lengths[0] == lengths[1]
    # With the slot masked the two texts are the same, so one of their masked inputs is shared.
    scored = 2 * (lengths[0] - 2)
    assert sum(b.tokens for b in packed.plan(rows)) == (scored - 1) * lengths[0]


@pytest.mark.parametrize("name", ["tiny-opt", "tiny-bert", "tiny-t5"])
def test_half_precision_weights_still_get_a_float32_softmax(loaded, name):
    _, model, _ = loaded[name]
    try:
        model.bfloat16()
        scores = scoring.score_instances(engine(loaded, name), INSTANCES.iloc[:5]).log_probability
    finally:
        model.float()
    # bfloat16 sums of about -200 would be multiples of one.
    assert (np.abs(scores * 4 - (scores * 4).round()) > 1e-3).any()


@pytest.mark.parametrize("kind", scoring.ENGINES)
def test_too_long_a_text_is_refused(loaded, kind):
    limit = context_length(loaded["tiny-bert"][1])
    long = frame([("short ___", ["he", "she"]), ("word " * 300 + "___", ["he", "she"])])
    with pytest.raises(UserError, match=r"instance 0{15}1: .* tokens and the model takes 258.*never truncated"):
        scoring.score_instances(engine(loaded, "tiny-bert", kind), long, limit)


def test_scores_that_are_not_finite_are_refused(loaded, monkeypatch):
    packed = engine(loaded, "tiny-llama")
    head = loaded["tiny-llama"][1].lm_head.weight
    monkeypatch.setattr(head, "data", torch.full_like(head.data, float("nan")))
    with pytest.raises(
        UserError, match=r"score is not finite; the weights .* of its checkpoint are not finite: fetch it"
    ):
        scoring.score_instances(packed, INSTANCES.iloc[:2])
    # The check before the first batch names them too.
    with pytest.raises(UserError, match=r"LlamaForCausalLM: .*of its checkpoint are not finite: fetch it again"):
        engine(loaded, "tiny-llama")


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-bert", "tiny-t5", "tiny-bloom"])
def test_running_out_of_memory_halves_the_batches(loaded, monkeypatch, name):
    some = INSTANCES.iloc[::4]
    expected = scoring.score_instances(engine(loaded, name, budget=2048), some).log_probability
    packed = engine(loaded, name, budget=2048)
    run = packed._log_probabilities

    def small(inputs, positions, targets):
        ids = inputs.get("input_ids", inputs.get("decoder_input_ids"))
        if len(ids) > 1:
            raise torch.OutOfMemoryError("out of memory")
        return run(inputs, positions, targets)

    monkeypatch.setattr(packed, "_log_probabilities", small)
    scores = scoring.score_instances(packed, some).log_probability
    assert packed.budget < 2048
    assert np.abs(scores - expected).max() < 1e-4


def test_too_little_memory_for_one_text_is_an_error(loaded, monkeypatch):
    packed = engine(loaded, "tiny-llama")

    def full(*_):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(packed, "_log_probabilities", full)
    with pytest.raises(UserError, match="smallest forward pass; give the model more GPUs"):
        scoring.score_instances(packed, INSTANCES.iloc[:1])


def test_other_errors_are_not_taken_for_a_lack_of_memory(loaded, monkeypatch):
    packed = engine(loaded, "tiny-llama")

    def broken(*_):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(packed, "_log_probabilities", broken)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        scoring.score_instances(packed, INSTANCES.iloc[:1])


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
    assert memory.ran_out(RuntimeError(message)) == expected


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 200))
def test_minicons_batches_hold_every_text_once_within_the_budget(lengths, budget):
    costs = [1 + n % 3 for n in lengths]
    found = list(minicons.equal_lengths(costs, lengths, budget))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) == 1 or sum(costs[i] for i in batch) * lengths[batch[0]] <= budget


def test_probes_exercise_what_can_go_wrong():
    starts = [text.startswith("___") for text in structure.PROBES]
    assert any(starts)
    assert not all(starts)
