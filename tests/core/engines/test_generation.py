"""Continuations agree with a plain loop, whatever is in the batch, on every generating architecture of the zoo.

``pytest -s tests/core/engines/test_generation.py`` prints how often a near-tie flipped.
"""

import itertools

import numpy as np
import pytest
import torch

from scripts.core import config
from scripts.core.engines import decoding, generation
from scripts.core.errors import UserError
from scripts.core.models import costs, loading
from tests import zoo as builder

NAMES = (
    "tiny-opt", "tiny-gpt-neox", "tiny-llama", "tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-qwen", "tiny-gemma",
    "tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2", "tiny-llama-3", "tiny-qwen3", "tiny-gemma-3", "tiny-olmo2",
    "tiny-olmo3", "tiny-mistral", "tiny-phi-4", "tiny-smollm3", "tiny-mamba", "tiny-mamba-2", "tiny-falcon-mamba",
)  # fmt: skip
PROMPTS = [
    "The baker was late.",
    "What pronoun fits?",
    "The clerk met the client, who was tired. The client had found an umbrella. What should fill the blank?",
    "Fill in the blank with a pronoun.\n\nThe baker said that ___ would need it.",
    "The clerk",
    "The manager was glad because the bus was early, the rain had stopped and the shoes were dry again.",
    "A",
]
NEW = 12


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    entries = config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), NAMES))["models"]
    return {
        name: loading.load(name, entry, loading.locate(name, entry), builder.DEVICE) for name, entry in entries.items()
    }


def loop(model, tokenizer, prompt, steps=NEW):
    """Continue one prompt token by token without cache, mask or padding; return tokens and each step's logits."""
    ids = torch.tensor([tokenizer(prompt)["input_ids"]], device=model.device)
    written, logits = [], []
    with torch.inference_mode():
        while len(written) < steps:
            if model.config.is_encoder_decoder:
                start = [model.config.decoder_start_token_id, *written]
                output = model(input_ids=ids, decoder_input_ids=torch.tensor([start], device=model.device))
            else:
                new = torch.tensor([written], dtype=torch.long, device=model.device)
                output = model(input_ids=torch.cat([ids, new], dim=1))
            logits.append(output.logits[0, -1].cpu())
            written.append(int(logits[-1].argmax()))
            if written[-1] in generation.end_tokens(model, tokenizer):
                break
    return written, torch.stack(logits)


def settings(**changes):
    return {"max_new_tokens": NEW, "tokens_per_batch": 4096, **changes}


@pytest.mark.parametrize("name", NAMES)
def test_continuations_are_those_of_a_plain_loop_alone_and_in_a_batch(loaded, name):
    model, tokenizer = loaded[name]
    expected = [loop(model, tokenizer, prompt) for prompt in PROMPTS]
    together = generation.generate(model, tokenizer, PROMPTS, **settings(top_k=3))
    alone = generation.generate(model, tokenizer, PROMPTS, **settings(tokens_per_batch=1, top_k=3))
    ends = generation.end_tokens(model, tokenizer)
    for (written, logits), *both in zip(expected, together, alone, strict=True):
        for result in both:
            assert result.finished == (written[-1] in ends)
            assert list(result.tokens) == (written[:-1] if result.finished else written)
            assert result.text == tokenizer.decode(
                result.tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            assert len(result.steps) == len(written)
            probabilities = torch.softmax(logits.double(), -1)
            for token, (ids, values), truth in zip(written, result.steps, probabilities, strict=True):
                assert ids[0] == token
                np.testing.assert_allclose(values, truth[torch.tensor(ids)], atol=1e-5)
                np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)


ALIKE = [
    f"Please read the following passage and say who was late that day: {rest}"
    for rest in (
        "In spring, the baker was.",
        "In spring, the baker had been late.",
        "The clerk",
        "In autumn, the cook.",
    )
]


GROUPED = [
    *ALIKE,
    *[
        f"Please read the following passage and say who was glad that day: in spring, the {rest}"
        for rest in ("cook", "clerk had", "cook had been")
    ],
    "Please read the following passage.",
    "Please read the following passage and tell the client.",
]


@pytest.mark.parametrize("name", NAMES[:8])
def test_what_prompts_share_is_read_once(loaded, name, monkeypatch):
    model, tokenizer = loaded[name]
    generator = generation.Generator(model, tokenizer, **settings(top_k=3))
    read, original = [], decoding.Batch._pass
    monkeypatch.setattr(decoding.Batch, "_pass", lambda self, some: read.extend(some) or original(self, some))
    for prompts, groups in ((ALIKE, 0), (GROUPED, 2)):
        ids = generator.tokenize(prompts)
        plan = decoding.layout(ids)
        assert plan.shared >= decoding.SHORTEST_SHARED
        assert len({tuple(tokens[: plan.shared]) for tokens in ids}) == 1
        assert len(plan.groups) >= groups
        read.clear()
        results = generator.run(prompts)
        assert sum(map(len, read)) <= sum(map(len, ids)) - (len(ids) - 1) * plan.shared
        if groups:
            whole = plan.shared + len(ids) * (max(map(len, ids)) - plan.shared)
            assert sum(map(len, read)) <= plan.tokens(len(ids)) < whole
        for prompt, result in zip(prompts, results, strict=True):
            written, logits = loop(model, tokenizer, prompt)
            assert generator.raw(result) == written
            for (_, values), truth in zip(result.steps, torch.softmax(logits.double(), -1), strict=True):
                np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)


def test_a_layout_reads_every_prompt_and_what_is_common_once():
    start, one, two = list(range(10)), list(range(100, 120)), list(range(200, 215))
    ids = [
        [*start, *one, 1, 2],
        [*start, *two, 3],
        [*start, *one, 4, 5, 6],
        [*start, *two, 7, 8],
        [*start, 9, 9],
        [*start, *one, 4, 6, 6],
    ]
    plan = decoding.layout(ids)
    assert plan.shared == 10
    assert sorted(row for group in plan.groups for row in group) == list(range(len(ids)))
    assert {frozenset(group) for group in plan.groups} == {frozenset({0, 2, 5}), frozenset({1, 3}), frozenset({4})}
    for group, prefix in zip(plan.groups, plan.prefixes, strict=True):
        assert len({tuple(ids[row][:prefix]) for row in group}) == 1
        assert all(plan.shared <= prefix < len(ids[row]) for row in group)
        assert all(len(ids[row]) - prefix <= plan.widths[1] for row in group)
        assert prefix - plan.shared <= plan.widths[0]
    assert plan.tokens(len(ids)) == 10 + 3 * 20 + 6 * 3
    # Nothing in common, a single prompt, equal prompts.
    assert decoding.layout([[1] * 20, [2] * 21]) == decoding.Layout(0, (), (), (0, 21))
    assert decoding.layout([[1] * 20]) == decoding.Layout(0, (), (), (0, 20))
    assert decoding.layout([[1] * 20] * 3) == decoding.Layout(19, (), (), (0, 1))


def test_plans_share_where_it_saves(loaded):
    model, tokenizer = loaded["tiny-llama"]
    prompts = [*ALIKE, *PROMPTS, *[text.replace("Please", "Kindly") for text in ALIKE]]
    budget = 4 * (max(map(len, generation.Generator(model, tokenizer, **settings()).tokenize(ALIKE))) + NEW)
    generator = generation.Generator(model, tokenizer, **settings(tokens_per_batch=budget))
    plan = generator.plan(prompts)
    assert sorted(row for batch in plan for row in batch.rows) == list(range(len(prompts)))
    generator.way = "batched"
    plain = generator.plan(prompts)
    assert sum(batch.tokens for batch in plan) < sum(batch.tokens for batch in plain)
    widths = [max(len(generator.tokenize([prompts[row]])[0]) for row in batch.rows) for batch in plain]
    assert widths == sorted(widths, reverse=True)
    assert all((width + NEW) * len(batch.rows) == batch.tokens for width, batch in zip(widths, plain, strict=True))


def test_batches_are_as_large_as_memory(loaded):
    model, _ = loaded["tiny-llama"]
    config = model.config
    each = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * 4
    assert decoding.cached_bytes(model, 0) == each
    weights = sum(parameter.nbytes for parameter in model.parameters())
    memory = (1.1 * weights + costs.LOGITS_BYTES + 5000.5 * (each + costs.ACTIVATION_BYTES)) / 0.92
    assert generation._tokens_within(memory, model) == 5000
    assert generation._tokens_within(0, model) == 1
    model, tokenizer = loaded["tiny-flan-t5"]
    config = model.config
    assert decoding.cached_bytes(model, 0) == 2 * config.num_decoder_layers * config.num_heads * config.d_kv * 4
    assert generation.batch_tokens(model.cpu(), "auto") == generation.BATCH_TOKENS["cpu"]
    model.to(builder.DEVICE)
    many = generation.Generator(model, tokenizer, **settings(tokens_per_batch=10**6)).plan(["The clerk"] * 1000)
    assert [len(batch.rows) for batch in many] == [512, 488]


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-qwen", "tiny-flan-t5"])
def test_rows_that_have_ended_leave_the_batch(loaded, name, monkeypatch):
    """Most answers end early, at tokens that are made end tokens; the others are what they were."""
    model, tokenizer = loaded[name]
    before = [loop(model, tokenizer, prompt)[0] for prompt in PROMPTS]
    # No answer begins with one, so that all rows are there at the first step.
    late = {max(written[:-2], key=written.index) for written in before} - {written[0] for written in before}
    assert late
    ends = [tokenizer.eos_token_id, *late]
    monkeypatch.setattr(model.generation_config, "eos_token_id", ends)
    monkeypatch.setattr(generation.Generator, "choose", lambda *_: None)
    sizes, original = [], decoding.Batch.step
    monkeypatch.setattr(
        decoding.Batch, "step", lambda self, tokens: sizes.append(len(tokens)) or original(self, tokens)
    )
    results = generation.generate(model, tokenizer, PROMPTS, **settings(top_k=2))
    assert [list(result.tokens) for result in results] == [
        next((written[:i] for i, token in enumerate(written) if token in ends), written) for written in before
    ]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < sizes[0]


def test_models_that_cannot_be_run_step_by_step_run_in_their_own_loop(loaded, monkeypatch):
    for name in ("tiny-llama", "tiny-flan-t5"):
        model, tokenizer = loaded[name]
        expected = generation.generate(model, tokenizer, PROMPTS, **settings(top_k=2))
        with monkeypatch.context() as patched:
            patched.setattr(type(model.config), "sliding_window", 64, raising=False)
            assert not decoding.can_continue(model)
            patched.setattr(decoding, "Batch", None)
            again = generation.generate(model, tokenizer, PROMPTS, **settings(top_k=2))
        assert again == expected


def test_padding_matters(loaded, monkeypatch):
    """The test above would see a wrong mask: with padding that is looked at, continuations change."""
    model, tokenizer = loaded["tiny-llama"]
    expected = [loop(model, tokenizer, prompt)[0] for prompt in PROMPTS]
    original = torch.zeros
    monkeypatch.setattr(decoding.torch, "zeros", lambda *a, **k: torch.ones(*a, **k) if "dtype" in k else original(*a))
    generator = generation.Generator(model, tokenizer, **settings())
    wrong = [raw for raw, *_ in generator._continue(generator.tokenize(PROMPTS))]
    assert wrong != expected


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-flan-t5"])
def test_the_end_token_ends_a_text_and_is_not_returned(loaded, name, monkeypatch):
    model, tokenizer = loaded[name]
    written, _ = loop(model, tokenizer, PROMPTS[0])
    # The first token that does not come earlier becomes one of two end tokens.
    position = next(i for i in range(1, NEW) if written[i] not in written[:i])
    monkeypatch.setattr(model.generation_config, "eos_token_id", [tokenizer.eos_token_id, written[position]])
    result, other = generation.generate(model, tokenizer, PROMPTS[:2], **settings(top_k=2))
    assert result.finished
    assert list(result.tokens) == written[:position]
    assert len(result.steps) == position + 1
    assert list(other.tokens) == loop(model, tokenizer, PROMPTS[1])[0][: len(other.tokens)]


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-flan-t5"])
def test_at_most_the_new_tokens_are_generated(loaded, name):
    model, tokenizer = loaded[name]
    for most in (1, 5):
        for prompt, result in zip(
            PROMPTS, generation.generate(model, tokenizer, PROMPTS, **settings(max_new_tokens=most)), strict=True
        ):
            written, _ = loop(model, tokenizer, prompt, most)
            assert len(result.tokens) + result.finished == len(written) <= most


@pytest.mark.parametrize("name", ["tiny-opt", "tiny-llama", "tiny-bart"])
def test_a_stop_string_ends_a_text(loaded, name):
    model, tokenizer = loaded[name]
    plain = generation.generate(model, tokenizer, PROMPTS, **settings())
    word = plain[0].text.strip()[3:6]
    stopped = generation.generate(model, tokenizer, PROMPTS, **settings(stop=[word]))
    assert stopped[0].text == plain[0].text.partition(word)[0]
    assert not stopped[0].finished
    for before, after in zip(plain, stopped, strict=True):
        assert after.text == before.text.partition(word)[0]
        assert after.tokens == before.tokens[: len(after.tokens)]
        assert after.finished == (before.finished and word not in before.text)


def test_groups_hold_the_mass_of_their_tokens(loaded):
    model, tokenizer = loaded["tiny-opt"]
    groups = torch.zeros(model.config.vocab_size, 2, dtype=torch.bool)
    groups[5:40, 0] = True
    groups[300, 1] = True
    results = generation.generate(model, tokenizer, PROMPTS, **settings(groups=groups))
    for prompt, result in zip(PROMPTS, results, strict=True):
        truth = torch.softmax(loop(model, tokenizer, prompt)[1].double(), -1)
        np.testing.assert_allclose(result.masses, truth @ groups.double(), atol=1e-5)


def test_batches_hold_every_prompt_once_within_their_tokens(loaded):
    model, tokenizer = loaded["tiny-gpt2"]
    lengths = [len(ids) for ids in tokenizer(PROMPTS)["input_ids"]]
    for budget in (1, 100, 300, 4096):
        batches = generation.Generator(model, tokenizer, **settings(tokens_per_batch=budget)).plan(PROMPTS)
        assert sorted(itertools.chain(*[batch.rows for batch in batches])) == list(range(len(PROMPTS)))
        for batch in batches:
            width = max(lengths[row] for row in batch.rows) + NEW
            assert batch.tokens == width * len(batch.rows)
            assert len(batch.rows) == 1 or batch.tokens <= budget


def test_a_batch_that_does_not_fit_is_halved(loaded, monkeypatch):
    model, tokenizer = loaded["tiny-llama"]
    expected = generation.generate(model, tokenizer, PROMPTS, **settings())
    original, sizes = decoding.Batch, []

    def small(model, ids, padding):
        sizes.append(len(ids))
        if len(ids) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(model, ids, padding)

    monkeypatch.setattr(decoding, "Batch", small)
    assert generation.generate(model, tokenizer, PROMPTS, **settings()) == expected
    monkeypatch.setattr(generation.Generator, "choose", lambda *_: None)
    sizes.clear()
    assert generation.generate(model, tokenizer, PROMPTS, **settings()) == expected
    assert sizes[0] == 7
    assert sum(size for size in sizes if size <= 2) == 7

    monkeypatch.setattr(decoding, "Batch", lambda *a: (_ for _ in ()).throw(torch.OutOfMemoryError("none")))
    with pytest.raises(UserError, match="single prompt; give the model more GPUs"):
        generation.generate(model, tokenizer, PROMPTS, **settings())


def test_a_written_start_token_is_not_doubled(loaded):
    model, tokenizer = loaded["tiny-llama"]
    generator = generation.Generator(model, tokenizer, **settings())
    plain, written = generator.tokenize(["The baker", "<s> The baker"])
    assert plain.count(tokenizer.bos_token_id) == written.count(tokenizer.bos_token_id) == 1


def test_what_the_checkpoint_asks_for_besides_is_left_out(loaded, monkeypatch):
    model, tokenizer = loaded["tiny-bart"]
    expected = generation.generate(model, tokenizer, PROMPTS, **settings())
    for key, value in (("num_beams", 3), ("forced_bos_token_id", 5), ("no_repeat_ngram_size", 1), ("do_sample", True)):
        monkeypatch.setattr(model.generation_config, key, value)
    assert generation.generate(model, tokenizer, PROMPTS, **settings()) == expected


def test_prompts_are_never_truncated(loaded):
    model, tokenizer = loaded["tiny-llama"]
    with pytest.raises(UserError, match=r"the model takes 256; prompts are never truncated"):
        generation.generate(model, tokenizer, ["The baker was late. " * 100], **settings())
    model, tokenizer = loaded["tiny-gpt2"]
    with pytest.raises(UserError, match="a prompt is empty"):
        generation.generate(model, tokenizer, [""], **settings())


def test_raw_tokens_can_be_kept_and_read_again(loaded):
    for name in ("tiny-flan-t5", "tiny-llama"):
        generator = generation.Generator(*loaded[name], **settings())
        for result in generator.run(PROMPTS):
            again = generator.read(generator.raw(result))
            assert (again.text, again.tokens, again.finished) == (result.text, result.tokens, result.finished)


@pytest.mark.workflow
def test_batch_size_changes_no_answer_of_the_default_chat_model(root):
    """The embedded chat model, float32: one prompt at a time against all together, 40 tokens each."""
    name = "smollm2-135m-instruct"
    entry = config.load_yaml(root / "config/models.yaml")["models"][name]
    model, tokenizer = loading.load(name, entry, loading.locate(name, entry), builder.DEVICE)
    prompts = [
        tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True)
        for text in PROMPTS
    ]
    options = {"max_new_tokens": 40, "top_k": 2}
    alone = generation.generate(model, tokenizer, prompts, tokens_per_batch=1, **options)
    together = generation.generate(model, tokenizer, prompts, tokens_per_batch=4096, **options)
    flips, margins = 0, []
    for one, many in zip(alone, together, strict=True):
        margins += [float(np.log(values[0] / values[1])) for _, values in one.steps]
        if one.tokens != many.tokens:
            flips += 1
            at = next(i for i, (a, b) in enumerate(zip(one.steps, many.steps, strict=False)) if a[0][0] != b[0][0])
            assert np.log(one.steps[at][1][0] / one.steps[at][1][1]) < 1e-3, "more than a near-tie changed"
    print(
        f"\n{name}: {flips} of {len(prompts)} continuations changed with the batch; "
        f"smallest of {len(margins)} margins between the two best tokens: {min(margins):.1e} nats"
    )
    assert flips <= 1
