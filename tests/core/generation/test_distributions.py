"""Token distributions of every architecture of the studies, against a plain loop."""

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from scripts.core import files
from scripts.core.generation import check, distributions, servers
from scripts.core.generation.distributions import Selection
from scripts.core.generation.generate import Generator
from scripts.core.scoring.check import choose_way, make_scorer
from tests import zoo as builder
from tests.core.scoring import architectures, loops
from tests.refusals import refused

GROUPS = {"female": ["she", "her"], "male": ["he", "him", "his"], "neutral": ["they"], "neo": ["xe"]}
ENCODERS = ("tiny-bert", "tiny-roberta", "tiny-albert", "tiny-spanbert", "tiny-modernbert", "tiny-mosaicbert")
SEQ2SEQ = ("tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2")
DECODERS = ("tiny-llama", "tiny-opt", "tiny-gpt-neox", "tiny-gpt2", "tiny-bloom", "tiny-qwen", "tiny-gemma")
DAILY = ("tiny-bert", "tiny-roberta", "tiny-mosaicbert", "tiny-bart", "tiny-ul2", "tiny-llama", "tiny-gpt2")
TOP_K = 5

# How far a probability may be from the plain loop's, in float32; the largest seen is printed by pytest -s.
TOLERANCE = 1e-5

TEXTS = [
    "The baker was glad because [MASK] had slept well.",
    "In spring, [MASK] was late.",
    "In autumn, [MASK] was late.",
    "The clerk spoke to the client, who was in a hurry.  The client said that [MASK] would come back.",
    "In spring, [MASK] was late.",
    "[MASK] left early.",
    "It was the cook's and not [MASK]",
]


def rows(texts):
    return pd.DataFrame({"text_id": [f"text {n}" for n in range(len(texts))], "text": texts})


def fill(loaded, name, texts, budget="auto", prefix=""):
    """Return ids, probabilities and masses at the mask of each text, in order."""
    architecture, model, tokenizer = loaded[name]
    selection = Selection.for_model(model, tokenizer, TOP_K, GROUPS)
    read = distributions.read_masks(tokenizer, architecture, rows(texts), 256, prefix)
    scorer = make_scorer("packed", model, tokenizer, architecture, budget, None)
    assert choose_way(scorer, distributions.choose_probes(read))["way"] == scorer.ways[0]
    found = {}
    for batch in scorer.plan(read):
        found |= dict(zip(batch.members, selection.of_masks(scorer, batch), strict=True))
    return [split(found[number]) for number in range(len(texts))]


def split(found):
    return found[:, :TOP_K].astype(int), found[:, TOP_K : 2 * TOP_K], found[:, 2 * TOP_K :]


def largest_difference(tokenizer, step, probabilities):
    """Return how far what is kept of a step is from the probabilities of the whole vocabulary; ids must be equal."""
    ids, values, masses = step
    best = probabilities.topk(TOP_K)
    assert ids.tolist() == best.indices.tolist()
    words = [tokenizer.decode([token]).strip().lower() for token in range(len(tokenizer))]
    plain = [
        sum(p for w, p in zip(words, probabilities.tolist(), strict=False) if w in GROUPS[group]) for group in GROUPS
    ]
    return max(np.abs(values - best.values.numpy()).max(), np.abs(masses - plain).max())


@torch.no_grad()
def plain_mask(model, tokenizer, text):
    """Return the probabilities at the mask of one text alone, float64 of shape (vocabulary,)."""
    blank = tokenizer.mask_token or "<extra_id_0>"
    ids = torch.tensor([tokenizer(text.replace("[MASK]", blank))["input_ids"]], device=model.device)
    blank_id = tokenizer.convert_tokens_to_ids(blank)
    if tokenizer.mask_token:
        logits = model(input_ids=ids).logits[0, ids[0].tolist().index(blank_id)]
    else:
        begun = torch.tensor([[model.config.decoder_start_token_id, blank_id]], device=model.device)
        logits = model(input_ids=ids, decoder_input_ids=begun).logits[0, 1]
    return logits.double().softmax(0).cpu()


@pytest.mark.parametrize("name", architectures.by_tier(ENCODERS + SEQ2SEQ, DAILY))
def test_masks_against_a_plain_loop_in_batches_of_any_size(loaded, name):
    _, model, tokenizer = loaded[name]
    largest = 0.0
    for budget, order in (("auto", 1), (1, 1), (30, -1)):
        found = fill(loaded, name, TEXTS[::order], budget)
        for text, (ids, values, masses) in zip(TEXTS[::order], found, strict=True):
            step = ids[0], values[0], masses[0]
            largest = max(largest, largest_difference(tokenizer, step, plain_mask(model, tokenizer, text)))
            # All of these words but the neopronoun are single tokens of the small vocabularies.
            assert len(ids) == 1 and (masses[0, :3] > 0).all()
    print(f"\n{name}: largest difference {largest:.1e}")
    assert largest < TOLERANCE


def test_a_prefix_stands_before_the_text(loaded):
    _, model, tokenizer = loaded["tiny-ul2"]
    told, untold = (fill(loaded, "tiny-ul2", TEXTS, prefix=prefix) for prefix in ("[NLU]", ""))
    for text, (_, values, _) in zip(TEXTS, told, strict=True):
        best = plain_mask(model, tokenizer, f"[NLU] {text}").topk(TOP_K).values.numpy()
        assert np.abs(values[0] - best).max() < TOLERANCE
    assert np.abs(told[0][1] - untold[0][1]).max() > 1e-3


@pytest.mark.parametrize("name", architectures.by_tier(DECODERS + SEQ2SEQ[1:], DAILY))
def test_steps_against_a_plain_loop(loaded, name):
    _, model, tokenizer = loaded[name]
    selection = Selection.for_model(model, tokenizer, TOP_K, GROUPS)
    prompts = [text.replace("[MASK]", "_") for text in TEXTS]
    generator = Generator(model, tokenizer, 6, top_k=TOP_K, groups=selection.members, tokens_per_batch=512)
    ids = generator.tokenize(prompts)
    check.choose_way(generator, ids)
    largest = 0.0
    for batch in generator.plan(ids):
        for row, answer in zip(batch.members, generator.run(batch), strict=True):
            steps = list(zip(*split(selection.of_answer(answer)), strict=True))
            assert len(steps) == len(answer.tokens) + answer.finished
            _, logits = loops.write(model, ids[row], len(steps))
            for step, expected in zip(steps, logits.double().softmax(1), strict=True):
                largest = max(largest, largest_difference(tokenizer, step, expected))
    print(f"\n{name}: largest difference {largest:.1e}")
    assert largest < TOLERANCE


NO_MASK = ["neither a mask nor <extra_id_0>", "architecture"]
UNREADABLE = {
    "no mask in the text": ("wordpiece", "encoder", "No mask here.", ["text 0", "[MASK] 0 times"]),
    "two masks": ("wordpiece", "encoder", "[MASK] and [MASK].", ["text 0", "[MASK] 2 times"]),
    "a sentinel": ("t5", "encoder-decoder", "[MASK] and <extra_id_0>.", ["text 0", "its one mask into 2"]),
    "too long": ("wordpiece", "encoder", "[MASK] " + "and so on " * 99, ["text 0", "the model takes 256"]),
    "a decoder's tokenizer": ("neox", "decoder", TEXTS[0], NO_MASK),
    "a pair without sentinels": ("llama", "encoder-decoder", TEXTS[0], NO_MASK),
    # As of entries whose architecture is wrong.
    "an encoder called decoder": ("wordpiece", "decoder", TEXTS[0], NO_MASK),
    "a pair called encoder": ("t5", "encoder", TEXTS[0], NO_MASK),
}


@pytest.mark.parametrize(("kind", "architecture", "text", "named"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_refused(kind, architecture, text, named):
    with refused(*named):
        distributions.read_masks(builder.make_tokenizer(kind), architecture, rows([text]), 256)


def test_a_network_without_an_output_layer_is_refused():
    sizes = {"num_latents": 4, "d_latents": 16, "d_model": 16, "num_self_attends_per_block": 1,
             "num_self_attention_heads": 2, "num_cross_attention_heads": 2, "max_position_embeddings": 32}  # fmt: skip
    network = transformers.PerceiverForMaskedLM(transformers.PerceiverConfig(**sizes))
    with refused("PerceiverForMaskedLM", "no output layer"):
        distributions.vocabulary_size(network)


@pytest.mark.parametrize("kind", builder.DATA["tokenizers"])
def test_token_texts(kind):
    tokenizer = builder.make_tokenizer(kind)
    size = len(tokenizer)
    texts = distributions.token_texts(tokenizer, size + 3)
    assert len(texts) == size + 3 and texts[-3:] == [""] * 3
    # The token of a word in the middle of a text, with a space where the tokenizer has one of its own.
    (token,) = set(tokenizer("the she", add_special_tokens=False)["input_ids"][-1:])
    assert texts[token] == ("she" if "wordpiece" in kind else " she")
    groups = distributions.find_group_tokens(texts, GROUPS)
    assert groups.shape == (size + 3, 4) and groups[token].tolist() == [True, False, False, False]


def test_pieces_are_no_words():
    texts = [" He", "##he", "HE ", "she's", "", "hers"]
    groups = distributions.find_group_tokens(texts, {"male": ["he"], "female": ["her"]})
    assert groups[:, 0].tolist() == [True, False, True, False, False, False]
    assert not groups[:, 1].any()
    assert distributions.find_group_tokens(texts, {}).shape == (6, 0)


def plain_rows(table):
    return table.to_pandas().to_numpy().tolist()


def test_rows_of_the_files():
    selection = Selection(2, ["she", " he", "they"], ["female", "male"], torch.zeros(3, 2, dtype=torch.bool))
    found = [
        np.array([[2, 0, 0.5, 0.25, 0.1, 0.2]]),
        np.array([[1, 2, 0.6, 0.2, 0.3, 0.4], [0, 1, 0.7, 0.1, 0.5, 0.6]]),
    ]
    tokens, masses = selection.tabulate(pd.Series(["b", "a"], index=[7, 9]), found)
    assert tokens.schema == distributions.TOKENS and masses.schema == distributions.MASSES
    assert plain_rows(tokens) == [
        ["b", 0, 0, "they", 0.5, True],
        ["b", 0, 1, "she", 0.25, False],
        ["a", 0, 0, " he", 0.6, True],
        ["a", 0, 1, "they", 0.2, False],
        ["a", 1, 0, "she", 0.7, True],
        ["a", 1, 1, " he", 0.1, False],
    ]
    assert plain_rows(masses) == [
        ["b", 0, "female", 0.1],
        ["b", 0, "male", 0.2],
        ["a", 0, "female", 0.3],
        ["a", 0, "male", 0.4],
        ["a", 1, "female", 0.5],
        ["a", 1, "male", 0.6],
    ]


def test_rows_of_a_server():
    steps = [[servers.Step((" she", " he", " xe"), (0.5, 0.3, 0.1), 2)], [], [servers.Step((".",), (1.0,), 0)]]
    table = distributions.tabulate_steps(["a", "b", "c"], steps)
    assert table.schema == distributions.TOKENS and plain_rows(table) == [
        ["a", 0, 0, " she", 0.5, False],
        ["a", 0, 1, " he", 0.3, False],
        ["a", 0, 2, " xe", 0.1, True],
        ["c", 0, 0, ".", 1.0, True],
    ]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"text_id": ["a", "a", "b"]}, ["row 2", "text_id a"]),
        ({"method": ["mask", "generate", "fill"]}, ["row 3", "'fill'", "mask, generate"]),
        ({"method": ["mask"] * 3}, ["no text is for generate", "leave this model out"]),
        ({"text": None}, ["column text", "missing"]),
    ],
    ids=["twice", "method", "none", "column"],
)
def test_texts_files(tmp_path, change, named):
    path = tmp_path / "texts.parquet"
    good = {"text_id": ["a", "b", "c"], "text": ["A", "B", "C"], "method": ["generate", "mask", "generate"]}
    files.write_parquet(path, pd.DataFrame(good))
    assert distributions.read_texts(path, ["generate"]).text_id.tolist() == ["a", "c"]
    files.write_parquet(path, pd.DataFrame(good | change).dropna(axis=1))
    with refused(path, *named):
        distributions.read_texts(path, ["generate"])
