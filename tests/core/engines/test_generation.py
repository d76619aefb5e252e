"""Continuations agree with a plain loop, whatever is in the batch, on every generating architecture of the zoo.

``pytest -s tests/core/engines/test_generation.py`` prints how often a near-tie flipped.
"""

import itertools

import numpy as np
import pytest
import torch

from scripts.core import config
from scripts.core.engines import generation, models, registry
from scripts.core.errors import UserError
from tests import zoo as builder

NAMES = (
    "tiny-opt", "tiny-gpt-neox", "tiny-llama", "tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-qwen", "tiny-gemma",
    "tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2",
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
    return {name: models.load(name, entry, models.locate(name, entry), "cpu") for name, entry in entries.items()}


def loop(model, tokenizer, prompt, steps=NEW):
    """Continue one prompt token by token without cache, mask or padding; return tokens and each step's logits."""
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    written, logits = [], []
    with torch.inference_mode():
        while len(written) < steps:
            if model.config.is_encoder_decoder:
                start = [model.config.decoder_start_token_id, *written]
                output = model(input_ids=ids, decoder_input_ids=torch.tensor([start]))
            else:
                output = model(input_ids=torch.cat([ids, torch.tensor([written], dtype=torch.long)], dim=1))
            logits.append(output.logits[0, -1])
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


@pytest.mark.parametrize("name", NAMES[:8])
def test_what_prompts_share_is_read_once(loaded, name, monkeypatch):
    model, tokenizer = loaded[name]
    generator = generation.Generator(model, tokenizer, **settings(top_k=3))
    shared = generator._shared(generator.tokenize(ALIKE))
    assert shared >= generation.SHORTEST_SHARED
    ids = generator.tokenize(ALIKE)
    assert len({tuple(tokens[:shared]) for tokens in ids}) == 1
    assert len({tokens[shared] for tokens in ids}) > 1 or min(map(len, ids)) == shared + 1
    read = []
    original = generation.Generator._read_once
    monkeypatch.setattr(generation.Generator, "_read_once", lambda *given: read.append(given[1]) or original(*given))
    results = generator.run(ALIKE)
    assert read == [ids[0][:shared]]
    for prompt, result in zip(ALIKE, results, strict=True):
        written, logits = loop(model, tokenizer, prompt)
        assert generator.raw(result) == written
        for (_, values), truth in zip(result.steps, torch.softmax(logits.double(), -1), strict=True):
            np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)


def test_plans_share_where_it_saves(loaded):
    model, tokenizer = loaded["tiny-llama"]
    prompts = [*ALIKE, *PROMPTS, *[text.replace("Please", "Kindly") for text in ALIKE]]
    budget = 4 * (max(map(len, generation.Generator(model, tokenizer, **settings()).tokenize(ALIKE))) + NEW)
    generator = generation.Generator(model, tokenizer, **settings(tokens_per_batch=budget))
    plan = generator.plan(prompts)
    assert sorted(row for batch in plan for row in batch.rows) == list(range(len(prompts)))
    generator.shares = False
    plain = generator.plan(prompts)
    assert sum(batch.tokens for batch in plan) < sum(batch.tokens for batch in plain)
    widths = [max(len(generator.tokenize([prompts[row]])[0]) for row in batch.rows) for batch in plain]
    assert widths == sorted(widths, reverse=True)
    assert all((width + NEW) * len(batch.rows) == batch.tokens for width, batch in zip(widths, plain, strict=True))
    # Encoder-decoders, and prompts with nothing in common, share nothing.
    assert generation.Generator(*loaded["tiny-t5"], **settings())._shared([[1] * 20, [1] * 21]) == 0
    generator.shares = True
    assert generator._shared(generator.tokenize(PROMPTS)) == 0
    assert generator._shared([[1] * 20] * 3) == 19
    assert generator._shared([[1] * 20]) == 0


def test_padding_matters(loaded, monkeypatch):
    """The test above would see a wrong mask: with padding that is looked at, continuations change."""
    model, tokenizer = loaded["tiny-llama"]
    expected = [loop(model, tokenizer, prompt)[0] for prompt in PROMPTS]
    original = torch.zeros
    monkeypatch.setattr(
        generation.torch, "zeros", lambda *a, **k: torch.ones(*a, **k) if "dtype" in k else original(*a)
    )
    generator = generation.Generator(model, tokenizer, **settings())
    wrong = [raw for raw, *_ in generator._continue(generator.tokenize(PROMPTS))]
    assert wrong != expected


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-flan-t5"])
def test_the_end_token_ends_a_text_and_is_not_returned(loaded, name, monkeypatch):
    model, tokenizer = loaded[name]
    written, _ = loop(model, tokenizer, PROMPTS[0])
    # The first token that does not come earlier becomes one of two end tokens.
    position = next(i for i in range(2, NEW) if written[i] not in written[:i])
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
    original, sizes = model.generate, []

    def small(inputs, **options):
        sizes.append(len(inputs))
        if len(inputs) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(inputs, **options)

    monkeypatch.setattr(model, "generate", small)
    assert generation.generate(model, tokenizer, PROMPTS, **settings()) == expected
    assert sizes[0] == 7
    assert sum(size for size in sizes if size <= 2) == 7

    monkeypatch.setattr(model, "generate", lambda *a, **k: (_ for _ in ()).throw(torch.OutOfMemoryError("none")))
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
    entries = registry.load_registry(root / "config/models.yaml", root / "config/schemas/models.schema.yaml")
    name = "smollm2-135m-instruct"
    model, tokenizer = models.load(name, entries[name], models.locate(name, entries[name]), "cpu")
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
