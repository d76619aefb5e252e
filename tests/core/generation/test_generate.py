"""Answers agree with a plain loop, whatever is in the batch, on every generating architecture of the zoo."""

import copy

import numpy as np
import pytest
import torch

from scripts.core.generation import check, generate
from scripts.core.generation.beginnings import lay_out
from scripts.core.generation.generate import Generator, end_tokens
from tests import zoo as builder
from tests.core.scoring import architectures, loops
from tests.core.scoring.architectures import KINDS
from tests.refusals import refused

NAMES = tuple(name for name, row in builder.MODELS.items() if row["architecture"] != "encoder")
SHARED = {
    "tiny-opt", "tiny-gpt-neox", "tiny-llama", "tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-qwen", "tiny-gemma",
    "tiny-llama-3", "tiny-qwen3", "tiny-olmo2", "tiny-phi-4", "tiny-smollm3",
}  # fmt: skip
"""The others are encoder-decoders, count windows or carry states."""
DAILY = ("tiny-opt", "tiny-llama", "tiny-gpt2", "tiny-bloom", "tiny-gemma-3", "tiny-mamba", "tiny-bart", "tiny-t5")
PROMPTS = [
    "The baker was late.",
    "What pronoun fits?",
    "The clerk met the client, who was tired. The client had found an umbrella. What should fill the blank?",
    "Fill in the blank with a pronoun.\n\nThe baker said that ___ would need it.",
    "The clerk",
    "The manager was glad because the bus was early, the rain had stopped and the shoes were dry again.",
    "A",
]
BEGUN = "Please read the following passage and say who was late that day:"
ALIKE = [
    *(f"{BEGUN} {rest}" for rest in ("In spring, the baker was.", "In spring, the baker had been late.", "The clerk")),
    *(f"{BEGUN.replace('late', 'glad')} in spring, the {rest}" for rest in ("cook", "clerk had", "cook had been")),
    "Please read the following passage.",
    "Please read the following passage and tell the client.",
]
NEW = 12


def written(loaded, name, prompt, steps=NEW):
    """Return what a plain loop writes after a prompt, until an end token, and each step's logits."""
    _, model, tokenizer = loaded[name]
    return loops.write(model, tokenizer(prompt)["input_ids"], steps, end_tokens(model, tokenizer))


@pytest.fixture
def make(loaded):
    """Return a function that makes a generator of a model of the zoo."""
    return lambda name, steps=NEW, **given: Generator(*loaded[name][1:], steps, **given)


@pytest.mark.parametrize("name", architectures.by_tier(NAMES, DAILY))
def test_answers_are_those_of_a_plain_loop_alone_and_in_batches(loaded, make, name):
    _, model, tokenizer = loaded[name]
    generator = make(name, top_k=3)
    assert check.choose_way(generator, generator.tokenize([*PROMPTS, *ALIKE]))["checked"]
    assert generator.way == ("shared" if name in SHARED else "padded")
    ends = end_tokens(model, tokenizer)
    expected = [written(loaded, name, prompt) for prompt in [*PROMPTS, *ALIKE]]
    plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    for generator.batch_tokens in (1, 300, 4096):
        for (tokens, logits), result in zip(expected, generator.answer([*PROMPTS, *ALIKE]), strict=True):
            assert result.finished == (tokens[-1] in ends)
            assert list(result.tokens) == (tokens[:-1] if result.finished else tokens)
            assert result.text == tokenizer.decode(result.tokens, **plain)
            assert generator.read(generator.raw(result)) == result
            for token, (best, values), truth in zip(tokens, result.top, logits.double().softmax(-1), strict=True):
                assert best[0] == token
                np.testing.assert_allclose(values, truth[torch.tensor(best)], atol=1e-5)
                np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)


@pytest.mark.parametrize(
    "name", architectures.by_tier(name for name, kind in KINDS.items() if kind.architecture != "encoder")
)
def test_every_architecture_answers_as_in_a_plain_loop_or_is_refused(name):
    found = architectures.prompted(KINDS[name])
    if KINDS[name].refused == "a later token changes":
        assert "prompts are not continued as by single passes" in found["way"] and "\n" not in found["way"]
    else:
        assert found["changed"] == 0


# A window, biases and states that count the padding, positions of the longest prompt, a cache that fails.
@pytest.mark.parametrize(
    ("name", "changed", "wrong", "way"),
    [("gpt-neo", {"window_size": 16}, "shared", "padded"), ("mpt", {}, "shared", "padded"),
     ("recurrent-gemma", {}, "padded", "equal"), ("rwkv", {}, "padded", "single"), ("m2m-100", {}, "padded", "single")],
)  # fmt: skip
def test_what_would_be_written_wrong_is_written_in_another_way(name, changed, wrong, way, monkeypatch):
    found = architectures.prompted(KINDS[name], **changed)
    assert (found["way"], found["changed"]) == (way, 0)
    monkeypatch.setattr(generate, "possible_ways", lambda _: (wrong,))
    monkeypatch.setattr(check, "choose_way", lambda *_: None)
    assert architectures.prompted(KINDS[name], **changed)["changed"] > 0


def test_answers_that_cross_a_change_of_positions_are_written_as_in_a_plain_loop(monkeypatch):
    """Prompts of 163 to 168 tokens, and positions that change beyond 172: no prompt crosses it, all answers do."""
    changed = {"original_max_position_embeddings": 172}
    texts = architectures.instances(40).text.str.replace("___", "they")
    words = architectures.tokenizer(KINDS["phi-3-longrope"].tokenizer)
    similar = [text for text in texts if 160 <= len(words(text)["input_ids"]) <= 170][:4]
    monkeypatch.setattr(architectures, "prompts", lambda: similar)
    assert architectures.prompted(KINDS["phi-3-longrope"], **changed)["changed"] == 0
    monkeypatch.setattr(generate.net, "rescaled_lengths", lambda *_: [])
    assert architectures.prompted(KINDS["phi-3-longrope"], **changed)["changed"] > 0


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
    made = lay_out(ids)
    assert {frozenset(group): prefix for group, prefix in zip(made.groups, made.prefixes, strict=True)} == {
        frozenset({0, 2, 5}): 30, frozenset({1, 3}): 25, frozenset({4}): 10
    }  # fmt: skip
    assert (made.shared, made.widths, made.tokens) == (10, (10, 20, 3), 10 + 3 * 20 + 6 * 3)
    # Nothing in common, a single prompt, equal prompts.
    assert lay_out([[1] * 20, [2] * 21]).widths == (0, 0, 21)
    assert lay_out([[1] * 20]).widths == (0, 0, 20)
    assert lay_out([[1] * 20] * 3).widths == (19, 0, 1)


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-qwen"])
def test_what_prompts_share_is_read_once(loaded, make, name):
    """The tokens that the network is given are those of the plan, fewer than without sharing."""
    generator, read = make(name, 1), []
    ids = generator.tokenize(ALIKE)
    hook = loaded[name][1].base_model.register_forward_pre_hook(
        lambda _, given, named: read.append(named["input_ids"].numel()), with_kwargs=True
    )
    planned = {}
    for generator.way in ("shared", "padded"):
        read.clear()
        batches = generator.plan(ids)
        assert sorted(n for batch in batches for n in batch.members) == list(range(len(ids)))
        for batch in batches:
            generator.run(batch)
        planned[generator.way] = sum(read)
        assert sum(read) == sum(batch.tokens - len(batch.members) for batch in batches)
    hook.remove()
    assert planned["shared"] < 0.7 * planned["padded"]


def test_batches_stay_within_their_tokens(make):
    for way in generate.BATCHING_MODES:
        for budget in (1, 100, 300, 4096):
            generator = make("tiny-gpt2", tokens_per_batch=budget)
            generator.way = way
            batches = generator.plan(generator.tokenize(PROMPTS))
            assert sorted(n for batch in batches for n in batch.members) == list(range(len(PROMPTS)))
            sizes = [list(map(len, batch.work)) for batch in batches]
            assert [max(size) for size in sizes] == sorted(map(max, sizes), reverse=True)
            assert all(len(size) == 1 or (max(size) + NEW) * len(size) <= budget for size in sizes)
            padding = [1 - sum(size) / (max(size) * len(size)) for size in sizes]
            assert way != "padded" or max(padding) <= generate.PADDING[architectures.PLACE]


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-flan-t5"])
def test_the_end_token_ends_a_text_and_is_not_returned(loaded, make, name, monkeypatch):
    _, model, tokenizer = loaded[name]
    tokens, _ = written(loaded, name, PROMPTS[0])
    # The first token that does not come earlier becomes one of two end tokens.
    position = next(i for i in range(1, NEW) if tokens[i] not in tokens[:i])
    monkeypatch.setattr(model.generation_config, "eos_token_id", [tokenizer.eos_token_id, tokens[position]])
    result, other = make(name, top_k=2).answer(PROMPTS[:2])
    assert result.finished and list(result.tokens) == tokens[:position] and len(result.top) == position + 1
    assert list(other.tokens) == written(loaded, name, PROMPTS[1])[0][: len(other.tokens)]
    first = make(name).limited(1).answer(PROMPTS[:1])[0]
    assert list(first.tokens) == tokens[:1] and not first.finished


@pytest.mark.parametrize("end", [10**6, -1, "</s>"])
def test_an_end_token_that_is_none_is_refused(loaded, make, monkeypatch, end):
    monkeypatch.setattr(loaded["tiny-llama"][1].generation_config, "eos_token_id", [1, end])
    with refused("LlamaForCausalLM", f"eos_token_id {end!r}", "not a token of the model", "generation_config.json"):
        make("tiny-llama")


def test_a_batch_that_does_not_fit_is_halved(loaded, make, monkeypatch):
    model, generator = loaded["tiny-llama"][1], make("tiny-llama")
    expected = generator.answer(ALIKE)
    original, sizes, most = model.generate, [], 2

    def small(tokens, **given):
        sizes.append(len(tokens))
        if len(tokens) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(tokens, **given)

    monkeypatch.setattr(model, "generate", small)
    assert generator.answer(ALIKE) == expected
    assert max(sizes) > 4 and sum(size for size in sizes if size <= 2) == len(ALIKE)
    # What was too large once is not tried again.
    sizes.clear()
    assert generator.answer(ALIKE) == expected
    assert max(sizes) <= 2
    most = 0
    with refused("memory runs out with a single text", "more GPUs"):
        generator.answer(ALIKE)
    # A check that does not fit leaves what tests prove of the architecture, and says so.
    ids = generator.tokenize(PROMPTS)
    assert check.choose_way(generator, ids) == {"way": "shared", "checked": False}
    monkeypatch.setattr(check, "PACKABLE", set())
    assert check.choose_way(generator, ids) == {"way": "single", "checked": False}


@pytest.mark.parametrize("top_k", [0, 3])
def test_probabilities_that_are_not_finite_are_refused(loaded, top_k):
    """As in half precision that overflows, which the check in float32 does not see: token 0 would be the answer."""
    _, model, tokenizer = loaded["tiny-llama"]
    broken = copy.deepcopy(model)
    with torch.no_grad():
        broken.lm_head.weight.fill_(torch.inf)
    with refused("LlamaForCausalLM", "no finite probability", "lm_head.weight"):
        Generator(broken, tokenizer, NEW, top_k=top_k).answer(PROMPTS)


def test_a_model_that_cannot_be_run_is_refused_in_one_line(loaded, make, monkeypatch):
    generator = make("tiny-llama")
    monkeypatch.setattr(type(loaded["tiny-llama"][1]), "forward", lambda *_, **__: 1 / 0)
    with refused("LlamaForCausalLM", "not continued", "ZeroDivisionError", "leave the model out"):
        check.choose_way(generator, generator.tokenize(PROMPTS))


def test_a_written_start_token_is_not_doubled(loaded, make):
    plain, begun = make("tiny-llama").tokenize(["The baker", "<s> The baker"])
    assert plain.count(loaded["tiny-llama"][2].bos_token_id) == begun.count(loaded["tiny-llama"][2].bos_token_id) == 1


def test_what_the_checkpoint_asks_for_besides_is_left_out(loaded, make, monkeypatch):
    settings = loaded["tiny-bart"][1].generation_config
    expected = make("tiny-bart").answer(PROMPTS)
    for key, value in (("num_beams", 3), ("forced_bos_token_id", 5), ("no_repeat_ngram_size", 1), ("do_sample", True)):
        monkeypatch.setattr(settings, key, value)
    assert make("tiny-bart").answer(PROMPTS) == expected
    assert settings.num_beams == 3


@pytest.mark.parametrize(
    ("name", "prompt", "named"),
    [("tiny-llama", "The baker was late. " * 100, ["the model takes 256", "never truncated", "The baker"]),
     ("tiny-gpt2", "", ["a prompt is empty"])],
    ids=["long", "empty"],
)  # fmt: skip
def test_prompts_that_leave_nothing_to_continue_are_refused(make, name, prompt, named):
    with refused(*named):
        make(name).answer([prompt])
