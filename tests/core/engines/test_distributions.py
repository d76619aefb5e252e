"""Token distributions of every architecture of the studies, against a plain loop."""

import math
import types

import numpy as np
import pandas as pd
import pytest
import torch

from scripts.core import config, files
from scripts.core.engines import distributions, generation
from scripts.core.errors import UserError
from scripts.core.generation import servers
from scripts.core.models import loading
from tests import zoo as builder

GROUPS = {"female": ["she", "her"], "male": ["he", "him", "his"], "neutral": ["they"], "neo": ["xe"]}
ENCODERS = ("tiny-bert", "tiny-roberta", "tiny-albert", "tiny-spanbert", "tiny-modernbert", "tiny-mosaicbert")
SEQ2SEQ = ("tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2")
DECODERS = ("tiny-llama", "tiny-opt", "tiny-gpt-neox", "tiny-gpt2", "tiny-bloom", "tiny-qwen", "tiny-gemma")
TOP_K = 5

# How far a probability may be from the plain loop's, in float32; the largest seen is printed by pytest -s.
TOLERANCE = 2e-5

TEXTS = [
    f"The baker was glad because {distributions.MASK} had slept well.",
    f"In spring, {distributions.MASK} was late.",
    f"In autumn, {distributions.MASK} was late.",
    f"The clerk spoke to the client, who was in a hurry.  The client said that {distributions.MASK} would come back.",
    f"{distributions.MASK} left early.",
    f"It was the cook's and not {distributions.MASK}",
]


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Return a function that loads a model of the zoo; each is built and loaded once."""
    folder = tmp_path_factory.mktemp("zoo")
    loaded = {}

    def get(name):
        if name not in loaded:
            entry = config.load_yaml(builder.build(folder, (name,)))["models"][name]
            loaded[name] = loading.load(name, entry, loading.locate(name, entry), builder.DEVICE)
        return loaded[name]

    return get


def filler(load, name, budget=1024, groups=True, **options):
    model, tokenizer = load(name)
    size = model.get_output_embeddings().weight.shape[0]
    tokens = distributions.group_tokens(distributions.token_texts(tokenizer, size), GROUPS) if groups else None
    given = {"tokens_per_batch": budget, "top_k": TOP_K, "groups": tokens, **options}
    return distributions.MaskFiller(model, tokenizer, **given)


def fill(engine, texts):
    """Return ids, probabilities and masses of each text, in order."""
    results = [None] * len(texts)
    for batch in engine.plan(texts):
        for row, *result in zip(batch.rows, *engine.run(batch.payload), strict=True):
            results[row] = result
    return results


def plain_logits(model, tokenizer, text, prefix=""):
    """Return the logits at the mask of one text alone, float64 of shape (vocabulary,)."""
    blank = tokenizer.mask_token or "<extra_id_0>"
    ids = torch.tensor([tokenizer(prefix + text.replace("[MASK]", blank))["input_ids"]], device=model.device)
    blank_id = tokenizer.convert_tokens_to_ids(blank)
    with torch.no_grad():
        if tokenizer.mask_token:
            return model(input_ids=ids).logits[0, ids[0].tolist().index(blank_id)].double().cpu()
        begun = torch.tensor([[model.config.decoder_start_token_id, blank_id]], device=model.device)
        return model(input_ids=ids, decoder_input_ids=begun).logits[0, 1].double().cpu()


def plain_mass(tokenizer, probabilities, group):
    """Return the mass of a group's words, token by token."""
    total = 0.0
    for token, probability in enumerate(probabilities):
        piece = tokenizer.convert_ids_to_tokens(token)
        if piece is not None and tokenizer.decode([token]).strip().lower() in GROUPS[group]:
            total += probability
    return total


@pytest.mark.parametrize("name", ENCODERS + SEQ2SEQ)
def test_mask_against_a_plain_loop(load, name):
    model, tokenizer = load(name)
    largest = 0.0
    for text, (ids, values, masses) in zip(TEXTS, fill(filler(load, name), TEXTS), strict=True):
        expected = plain_logits(model, tokenizer, text).softmax(0)
        best = expected.topk(TOP_K)
        assert ids.tolist() == best.indices.tolist()
        largest = max(largest, np.abs(values - best.values.numpy()).max())
        for group, mass in zip(GROUPS, masses, strict=True):
            largest = max(largest, abs(mass - plain_mass(tokenizer, expected.tolist(), group)))
        # All of these words but the neopronoun are single tokens of the small vocabularies.
        assert masses[0] > 0 and masses[1] > 0
    print(f"\n{name}: largest difference {largest:.1e}")
    assert largest < TOLERANCE


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-bart", "tiny-ul2"])
def test_batches_change_nothing(load, name):
    many = [text.replace("late", word) for text in TEXTS for word in ("late", "early", "glad")]
    whole = fill(filler(load, name), many)
    single = fill(filler(load, name, budget=1), many)
    backwards = fill(filler(load, name), many[::-1])[::-1]
    for parts in zip(whole, single, backwards, strict=True):
        for other in parts[1:]:
            assert parts[0][0].tolist() == other[0].tolist()
            assert np.abs(parts[0][1] - other[1]).max() < TOLERANCE
            assert np.abs(parts[0][2] - other[2]).max() < TOLERANCE


def test_all_tokens_sum_to_one(load):
    model, tokenizer = load("tiny-bert")
    ids, values, masses = fill(filler(load, "tiny-bert", top_k=10**6), TEXTS[:1])[0]
    assert sorted(ids.tolist()) == list(range(model.config.vocab_size))
    assert values.sum() == pytest.approx(1, abs=1e-5)
    assert (np.diff(values) <= 0).all()
    texts = distributions.token_texts(tokenizer, model.config.vocab_size)
    words = [texts[i].strip().lower() for i in ids]
    for group, mass in zip(GROUPS, masses, strict=True):
        assert mass == pytest.approx(sum(v for w, v in zip(words, values, strict=True) if w in GROUPS[group]))


def test_a_prefix_stands_before_the_text(load):
    model, tokenizer = load("tiny-ul2")
    told = fill(filler(load, "tiny-ul2", prefix="[NLU]"), TEXTS)
    for text, (_, values, _) in zip(TEXTS, told, strict=True):
        best = plain_logits(model, tokenizer, text, "[NLU] ").softmax(0).topk(TOP_K).values.numpy()
        assert np.abs(values - best).max() < TOLERANCE
    untold = fill(filler(load, "tiny-ul2"), TEXTS)
    assert np.abs(told[0][1] - untold[0][1]).max() > 1e-3


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-bart"])
def test_memory_that_runs_out_halves_the_batch(load, name, monkeypatch):
    engine = filler(load, name)
    texts = [text.replace("late", word) for text in TEXTS[1:2] for word in ("late", "glad", "here", "there")]
    expected = fill(engine, texts)
    run = engine._run

    def narrow(ids):
        if len(ids) > 1:
            raise torch.OutOfMemoryError("no more")
        return run(ids)

    monkeypatch.setattr(engine, "_run", narrow)
    for a, b in zip(expected, fill(engine, texts), strict=True):
        assert np.abs(a[1] - b[1]).max() < TOLERANCE
    monkeypatch.setattr(engine, "_run", lambda ids: narrow([0, 0]))
    with pytest.raises(UserError, match="memory runs out with a single text"):
        fill(engine, texts)


def test_a_way_of_running_that_disagrees_is_not_taken(load, monkeypatch):
    assert filler(load, "tiny-bert").description["last_layer"] == "chosen positions"
    run_trunk = distributions.SelectiveModel._run_trunk

    def wrong(self, inputs, one_each=None):
        output = run_trunk(self, inputs, one_each)
        if one_each is not None:
            output[0].add_(1.0)
        return output

    monkeypatch.setattr(distributions.SelectiveModel, "_run_trunk", wrong)
    assert filler(load, "tiny-bert").description["last_layer"] == "all positions"
    monkeypatch.setattr(distributions.SelectiveModel, "logits", lambda self, *_: [(0, torch.zeros(2, 3))])
    with pytest.raises(UserError, match="do not agree with those of single texts"):
        filler(load, "tiny-bert")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No mask here.", r"text first: it holds \[MASK\] 0 times"),
        ("[MASK] and [MASK].", r"text first: it holds \[MASK\] 2 times"),
        ("[MASK] " + "and so on " * 200, "text first: it has [0-9]+ tokens and the model takes 25"),
    ],
)
def test_bad_texts(load, text, message):
    with pytest.raises(UserError, match=message):
        filler(load, "tiny-bert").plan([text], ["first"])


def test_decoders_fill_no_masks(load):
    with pytest.raises(UserError, match="has neither a mask nor <extra_id_0>"):
        filler(load, "tiny-gpt-neox")


@pytest.mark.parametrize("name", DECODERS + SEQ2SEQ[1:])
def test_steps_against_a_plain_loop(load, name):
    model, tokenizer = load(name)
    size = model.get_output_embeddings().weight.shape[0]
    groups = distributions.group_tokens(distributions.token_texts(tokenizer, size), GROUPS)
    prompts = [text.replace("[MASK]", "_") for text in TEXTS]
    engine = generation.Generator(model, tokenizer, max_new_tokens=6, tokens_per_batch=512, top_k=TOP_K, groups=groups)
    ends = generation.end_tokens(model, tokenizer)
    largest = 0.0
    for batch in engine.plan(prompts):
        for row, result in zip(batch.rows, engine.run([prompts[row] for row in batch.rows]), strict=True):
            ids, values, masses = distributions.of_generation(result)
            source = tokenizer(prompts[row], return_tensors="pt")["input_ids"].to(model.device)
            written = [model.config.decoder_start_token_id] if model.config.is_encoder_decoder else source[0].tolist()
            for step in range(6):
                with torch.no_grad():
                    now = torch.tensor([written], device=model.device)
                    given = {"input_ids": source, "decoder_input_ids": now} if source.tolist() != now.tolist() else {}
                    if not model.config.is_encoder_decoder:
                        given = {"input_ids": now}
                    expected = model(**given).logits[0, -1].double().softmax(0).cpu()
                best = expected.topk(TOP_K)
                assert ids[step].tolist() == best.indices.tolist()
                largest = max(largest, np.abs(values[step] - best.values.numpy()).max())
                for group, mass in zip(GROUPS, masses[step], strict=True):
                    largest = max(largest, abs(mass - plain_mass(tokenizer, expected.tolist(), group)))
                written.append(int(best.indices[0]))
                if written[-1] in ends:
                    break
            assert len(ids) == step + 1
    print(f"\n{name}: largest difference {largest:.1e}")
    assert largest < TOLERANCE


@pytest.mark.parametrize("name", builder.ALL_NAMES)
def test_token_texts(load, name):
    model, tokenizer = load(name)
    size = model.get_output_embeddings().weight.shape[0]
    texts = distributions.token_texts(tokenizer, size + 3)
    assert len(texts) == size + 3 and texts[-3:] == [""] * 3
    # The token of a word in the middle of a text, with a space where the tokenizer has one of its own.
    (token,) = set(tokenizer("the she", add_special_tokens=False)["input_ids"][-1:])
    assert texts[token] == ("she" if name in ("tiny-bert", "tiny-spanbert", "tiny-mosaicbert") else " she")
    groups = distributions.group_tokens(texts, GROUPS)
    assert groups.shape == (size + 3, 4)
    assert groups[token].tolist() == [True, False, False, False]


def test_pieces_are_no_words():
    groups = distributions.group_tokens(
        [" He", "##he", "HE ", "she's", "", "hers"], {"male": ["he"], "female": ["her"]}
    )
    assert groups[:, 0].tolist() == [True, False, True, False, False, False]
    assert not groups[:, 1].any()


def test_pack_and_unpack():
    rng = np.random.default_rng(1)
    given = rng.integers(0, 10**6, (3, 5)), rng.random((3, 5)), rng.random((3, 2))
    for a, b in zip(given, distributions.unpack(distributions.pack(*given)), strict=True):
        assert a.shape == b.shape and (a == b).all()
    without = given[0], given[1], np.zeros((3, 0))
    assert distributions.unpack(distributions.pack(*without))[2].shape == (3, 0)


def test_rows_of_the_files(tmp_path):
    vocabulary = ["she", " he", "they"]
    results = [
        (np.array([[2, 0]]), np.array([[0.5, 0.25]]), np.array([[0.1, 0.2]])),
        (np.array([[1, 2], [0, 1]]), np.array([[0.6, 0.2], [0.7, 0.1]]), np.array([[0.3, 0.4], [0.5, 0.6]])),
    ]
    table = distributions.token_batch(pd.Series(["b", "a"]), results, vocabulary).to_pandas()
    assert table.astype({"text_id": str, "token": str}).to_numpy().tolist() == [
        ["b", 0, 0, "they", 0.5, True],
        ["b", 0, 1, "she", 0.25, False],
        ["a", 0, 0, " he", 0.6, True],
        ["a", 0, 1, "they", 0.2, False],
        ["a", 1, 0, "she", 0.7, True],
        ["a", 1, 1, " he", 0.1, False],
    ]
    masses = distributions.mass_batch(["b", "a"], results, ["female", "male"]).to_pandas()
    assert masses.astype({"text_id": str, "group": str}).to_numpy().tolist() == [
        ["b", 0, "female", 0.1],
        ["b", 0, "male", 0.2],
        ["a", 0, "female", 0.3],
        ["a", 0, "male", 0.4],
        ["a", 1, "female", 0.5],
        ["a", 1, "male", 0.6],
    ]
    none = [(ids, values, np.zeros((len(ids), 0))) for ids, values, _ in results]
    assert len(distributions.mass_batch(["b", "a"], none, [])) == 0


def test_rows_of_a_server():
    steps = [[servers.Step((" she", " he", " xe"), (0.5, 0.3, 0.1), 2)], [], [servers.Step((".",), (1.0,), 0)]]
    table = distributions.step_batch(["a", "b", "c"], steps).to_pandas()
    assert table.astype({"text_id": str, "token": str}).to_numpy().tolist() == [
        ["a", 0, 0, " she", 0.5, False],
        ["a", 0, 1, " he", 0.3, False],
        ["a", 0, 2, " xe", 0.1, True],
        ["c", 0, 0, ".", 1.0, True],
    ]
    assert len(distributions.step_batch([], [])) == 0


def test_not_finite():
    result = np.array([[1]]), np.array([[math.nan]]), np.zeros((1, 0))
    network = torch.nn.Linear(2, 2)
    network.dtype = torch.bfloat16
    with pytest.raises(UserError, match="text a: a probability is not finite; use a wider precision"):
        distributions.check_finite("a", result, network)
    network.bias.data[0] = math.nan
    with pytest.raises(
        UserError, match="a probability is not finite; the weights bias of its checkpoint are not finite"
    ):
        distributions.check_finite("a", result, network)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_id": ["a", "a", "b"]}, "row 2: text_id a occurs twice"),
        ({"method": ["mask", "generate", "fill"]}, "row 3: method is 'fill'; expected one of mask, generate"),
        ({"method": ["mask"] * 3}, "no text is for generate; leave this model out"),
        ({"text": None}, "column text is missing"),
    ],
)
def test_texts_files(tmp_path, change, message):
    path = tmp_path / "texts.parquet"
    good = {"text_id": ["a", "b", "c"], "text": ["A", "B", "C"], "method": ["generate", "mask", "generate"]}
    files.write_parquet(path, pd.DataFrame(good))
    assert distributions.count(path, ["generate"]) == 2
    windows = list(distributions.windows(path, ["generate"], 1))
    assert [w.text_id.tolist() for w in windows] == [["a"], ["c"]]
    changed = {name: values for name, values in {**good, **change}.items() if values is not None}
    files.write_parquet(path, pd.DataFrame(changed))
    with pytest.raises(UserError, match=message):
        distributions.count(path, ["generate"])


def test_generations_are_stacked():
    steps = ((np.array([3, 1]), np.array([0.6, 0.2])), (np.array([0, 1]), np.array([0.5, 0.4])))
    ids, values, masses = distributions.of_generation(types.SimpleNamespace(steps=steps, masses=np.zeros((2, 0))))
    assert ids.tolist() == [[3, 1], [0, 1]] and values[1].tolist() == [0.5, 0.4] and masses.shape == (2, 0)
