"""Answers agree with a plain loop, whatever is in the batch, on every generating architecture of the zoo."""

import copy

import numpy as np
import pytest
import torch

from scripts.core import config
from scripts.core.errors import UserError
from scripts.core.generation import check, generate
from scripts.core.generation.beginnings import lay_out
from scripts.core.generation.generate import Generator, end_tokens
from tests import zoo as builder
from tests.core.scoring import architectures

NAMES = (
    "tiny-opt", "tiny-gpt-neox", "tiny-llama", "tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-qwen", "tiny-gemma",
    "tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2", "tiny-llama-3", "tiny-qwen3", "tiny-gemma-3", "tiny-olmo2",
    "tiny-olmo3", "tiny-mistral", "tiny-phi-4", "tiny-smollm3", "tiny-mamba", "tiny-mamba-2", "tiny-falcon-mamba",
)  # fmt: skip
SHARED = set(NAMES[:8]) | {"tiny-llama-3", "tiny-qwen3", "tiny-olmo2", "tiny-phi-4", "tiny-smollm3"}
"""The others are encoder-decoders, count windows or carry states."""
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


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    entries = config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), NAMES))["models"]
    return {name: builder.load(name, entry) for name, entry in entries.items()}


def plain_loop(model, tokenizer, prompt, steps=NEW):
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
            if written[-1] in end_tokens(model, tokenizer):
                break
    return written, torch.stack(logits)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_a_plain_loop_alone_and_in_batches(loaded, name):
    model, tokenizer = loaded[name]
    generator = Generator(model, tokenizer, NEW, top_k=3)
    assert check.choose_way(generator, generator.tokenize([*PROMPTS, *ALIKE]))["checked"]
    assert generator.way == ("shared" if name in SHARED else "padded")
    ends = end_tokens(model, tokenizer)
    expected = [plain_loop(model, tokenizer, prompt) for prompt in [*PROMPTS, *ALIKE]]
    for budget in (1, 300, 4096):
        generator.batch_tokens = budget
        for (written, logits), result in zip(expected, generator.answer([*PROMPTS, *ALIKE]), strict=True):
            assert result.finished == (written[-1] in ends)
            assert list(result.tokens) == (written[:-1] if result.finished else written)
            assert result.text == tokenizer.decode(
                result.tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            assert generator.read(generator.raw(result)) == result
            assert len(result.top) == len(written)
            for token, (best, values), truth in zip(written, result.top, logits.double().softmax(-1), strict=True):
                assert best[0] == token
                np.testing.assert_allclose(values, truth[torch.tensor(best)], atol=1e-5)
                np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)


KINDS = {kind.name: kind for kind in architectures.KINDS if kind.architecture != "encoder"}


@pytest.mark.parametrize("name", KINDS)
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
    _, words = architectures.build(KINDS["phi-3-longrope"])
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
def test_what_prompts_share_is_read_once(loaded, name):
    """The tokens that the network is given are those of the plan, fewer than without sharing."""
    model, tokenizer = loaded[name]
    generator = Generator(model, tokenizer, 1)
    ids = generator.tokenize(ALIKE)
    read = []
    hook = model.base_model.register_forward_pre_hook(
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


def test_batches_stay_within_their_tokens(loaded):
    model, tokenizer = loaded["tiny-gpt2"]
    for way in generate.BATCHING_MODES:
        for budget in (1, 100, 300, 4096):
            generator = Generator(model, tokenizer, NEW, tokens_per_batch=budget)
            generator.way = way
            batches = generator.plan(generator.tokenize(PROMPTS))
            assert sorted(n for batch in batches for n in batch.members) == list(range(len(PROMPTS)))
            sizes = [list(map(len, batch.work)) for batch in batches]
            assert [max(size) for size in sizes] == sorted(map(max, sizes), reverse=True)
            assert all(len(size) == 1 or (max(size) + NEW) * len(size) <= budget for size in sizes)
            if way == "padded":
                assert all(
                    1 - sum(size) / (max(size) * len(size)) <= generate.PADDING[builder.DEVICE] for size in sizes
                )


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-flan-t5"])
def test_the_end_token_ends_a_text_and_is_not_returned(loaded, name, monkeypatch):
    model, tokenizer = loaded[name]
    written, _ = plain_loop(model, tokenizer, PROMPTS[0])
    # The first token that does not come earlier becomes one of two end tokens.
    position = next(i for i in range(1, NEW) if written[i] not in written[:i])
    monkeypatch.setattr(model.generation_config, "eos_token_id", [tokenizer.eos_token_id, written[position]])
    result, other = Generator(model, tokenizer, NEW, top_k=2).answer(PROMPTS[:2])
    assert result.finished and list(result.tokens) == written[:position] and len(result.top) == position + 1
    assert list(other.tokens) == plain_loop(model, tokenizer, PROMPTS[1])[0][: len(other.tokens)]
    first = Generator(model, tokenizer, NEW).limited(1).answer(PROMPTS[:1])[0]
    assert list(first.tokens) == written[:1] and not first.finished


@pytest.mark.parametrize("end", [10**6, -1, "</s>"])
def test_an_end_token_that_is_none_is_refused(loaded, monkeypatch, end):
    model, tokenizer = loaded["tiny-llama"]
    monkeypatch.setattr(model.generation_config, "eos_token_id", [1, end])
    with pytest.raises(UserError, match=r"eos_token_id .* is not a token of the model, whose vocabulary has \d+; corr"):
        Generator(model, tokenizer, NEW)


def test_groups_hold_the_mass_of_their_tokens(loaded):
    model, tokenizer = loaded["tiny-opt"]
    groups = torch.zeros(model.config.vocab_size, 2, dtype=torch.bool)
    groups[5:40, 0] = True
    groups[300, 1] = True
    for prompt, result in zip(PROMPTS, Generator(model, tokenizer, NEW, groups=groups).answer(PROMPTS), strict=True):
        truth = torch.softmax(plain_loop(model, tokenizer, prompt)[1].double(), -1)
        np.testing.assert_allclose(result.masses, truth @ groups.double(), atol=1e-5)


def test_a_batch_that_does_not_fit_is_halved(loaded, monkeypatch):
    model, tokenizer = loaded["tiny-llama"]
    generator = Generator(model, tokenizer, NEW)
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
    with pytest.raises(UserError, match=r"memory runs out with a single .*give the model more GPUs"):
        generator.answer(ALIKE)
    # A check that does not fit leaves what tests prove of the architecture, and says so.
    ids = generator.tokenize(PROMPTS)
    assert check.choose_way(generator, ids) == {"way": "shared", "checked": False}
    monkeypatch.setattr(check, "PACKABLE", set())
    assert check.choose_way(generator, ids) == {"way": "single", "checked": False}


@pytest.mark.parametrize("top_k", [0, 3])
def test_probabilities_that_are_not_finite_are_refused(loaded, top_k):
    """As in half precision that overflows, which the check in float32 does not see: token 0 would be the answer."""
    model, tokenizer = loaded["tiny-llama"]
    broken = copy.deepcopy(model)
    with torch.no_grad():
        broken.lm_head.weight.fill_(torch.inf)
    with pytest.raises(UserError, match=r"no finite probability; the weights lm_head\.weight of its"):
        Generator(broken, tokenizer, NEW, top_k=top_k).answer(PROMPTS)


def test_a_model_that_cannot_be_run_is_refused_in_one_line(loaded, monkeypatch):
    model, tokenizer = loaded["tiny-llama"]
    generator = Generator(model, tokenizer, NEW)
    monkeypatch.setattr(type(model), "forward", lambda *_, **__: 1 / 0)
    with pytest.raises(UserError, match=r"^LlamaForCausalLM: prompts are not continued .*\(ZeroDivisionError.*leave"):
        check.choose_way(generator, generator.tokenize(PROMPTS))


def test_a_written_start_token_is_not_doubled(loaded):
    model, tokenizer = loaded["tiny-llama"]
    plain, written = Generator(model, tokenizer, NEW).tokenize(["The baker", "<s> The baker"])
    assert plain.count(tokenizer.bos_token_id) == written.count(tokenizer.bos_token_id) == 1


def test_what_the_checkpoint_asks_for_besides_is_left_out(loaded, monkeypatch):
    model, tokenizer = loaded["tiny-bart"]
    expected = Generator(model, tokenizer, NEW).answer(PROMPTS)
    for key, value in (("num_beams", 3), ("forced_bos_token_id", 5), ("no_repeat_ngram_size", 1), ("do_sample", True)):
        monkeypatch.setattr(model.generation_config, key, value)
    assert Generator(model, tokenizer, NEW).answer(PROMPTS) == expected
    assert model.generation_config.num_beams == 3


def test_prompts_are_never_truncated(loaded):
    with pytest.raises(UserError, match=r"the model takes 256; prompts are never truncated"):
        Generator(*loaded["tiny-llama"], NEW).answer(["The baker was late. " * 100])
    with pytest.raises(UserError, match="a prompt is empty"):
        Generator(*loaded["tiny-gpt2"], NEW).answer([""])
