"""A score depends on nothing but its own text: what is refused, what falls back, and that results stay right.

``make architectures`` prints the whole table of architectures, at both sizes of packed sequences.
"""

import copy
import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from scripts.core import config, files
from scripts.core.data import options
from scripts.core.engines import distributions, output_layer, packed, scoring, structure
from scripts.core.engines.batches import BATCH_TOKENS, TextReader, context_length
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.scoring import score
from tests import zoo as builder
from tests.core.engines import architectures

KINDS = {kind.name: kind for kind in architectures.KINDS}
SOME = architectures.instances(6)
# Pseudo-log-likelihoods take a forward pass for each token.
SHORT = architectures.instances(2, asides=(1,))
GPU_PACK = 1024
SHARED = "prefix tree"
MIXING = ("mamba-2", "recurrent-gemma", "rwkv", "qwen3-next", "lfm2", "falcon-h1")
"""Decoders whose layers carry a state from token to token, packed or not."""


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-bert", "tiny-llama", "tiny-t5"))
    return config.load_yaml(registry)["models"]


def load(entry):
    return loading.load("m", entry, loading.locate("m", entry), builder.DEVICE)


def engine(kind, some=SOME, name="packed", budget="auto", precision=torch.float32, **changed):
    model, words = architectures.build(KINDS[kind], **changed)
    model = model.to(precision)
    return scoring.make_engine(name, model, words, KINDS[kind].architecture, builder.DEVICE, budget, some)


@pytest.fixture
def gpu_packs(monkeypatch):
    monkeypatch.setitem(packed.PACK_TOKENS, architectures.PLACE, GPU_PACK)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", KINDS)
def test_every_architecture_is_scored_as_in_a_plain_loop_or_refused(name, precision):
    kind = KINDS[name]
    found = architectures.measure(kind, precision, GPU_PACK, SHORT if kind.architecture == "encoder" else SOME)
    print(f"\n{name} {precision}: {found}")
    if kind.refused or (precision != "float32" and not kind.half):
        assert (kind.refused or "cannot be run") in found["way"]
        assert "\n" not in found["way"] and "minicons" not in found["way"]
        return
    assert found["changed"] == 0 or found["margin"] < found["rounding"]
    assert found["difference"] < (1e-4 if precision == "float32" else 0.1 + found["rounding"])
    if name in MIXING:
        assert found["way"] == "equal length"


@pytest.mark.parametrize(("kind", "scale"), [("qwen3-next", 1.0), ("lfm2", 1.0), ("lfm2", 3.0), ("falcon-h1", 3.0)])
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_weak_mixing_is_seen_in_any_precision(kind, scale, precision):
    """Weights as they are initialised, or little more, mix neighbours by less than half precision rounds."""
    weak = dataclasses.replace(KINDS[kind], scale=scale)
    model, words = architectures.build(weak)
    made = scoring.make_engine("packed", model.to(precision), words, "decoder", builder.DEVICE, "auto", SOME)
    assert made.description["batching"] == "equal length"


@pytest.mark.parametrize(
    ("pack_tokens", "asides", "way"),
    [
        (256, (0, 2), SHARED),
        # Texts that leave little of a pack of 256 tokens get longer ones, which a job cuts in two among few probes.
        (256, (0, 2, 5), "equal length"),
        (GPU_PACK, (0, 2), "equal length"),
    ],
)
def test_a_local_window_is_seen_in_packs_of_the_size_that_is_run(pack_tokens, asides, way):
    some = architectures.instances(24, asides)
    found = architectures.measure(KINDS["gpt-neo"], "float32", pack_tokens, some)
    assert (found["way"], found["changed"]) == (way, 0)
    assert found["difference"] < 1e-4


@pytest.mark.parametrize("pack_tokens", [256, GPU_PACK])
@pytest.mark.parametrize(("missing", "way"), [(0, SHARED), (8, "equal length")])
def test_a_window_a_little_shorter_than_the_largest_pack_is_seen(pack_tokens, missing, way):
    some = architectures.instances(24)
    longest = engine("gpt-neo", some, window_size=2048).longest
    window = packed.prefix_tree.largest_pack(longest, pack_tokens) - missing
    found = architectures.measure(KINDS["gpt-neo"], "float32", pack_tokens, some, window_size=window)
    assert found["way"] == way
    assert found["difference"] < 1e-4


def test_what_would_be_wrong_is_wrong(gpu_packs, monkeypatch):
    """Without the check the same instances get other scores, so the test above can fail."""
    monkeypatch.setattr(structure, "check", lambda engine, *_: 10**6)
    found = architectures.measure(KINDS["gpt-neo"], "float32", GPU_PACK, architectures.instances(40))
    assert (found["way"], found["difference"] > 0.1) == (SHARED, True)


@pytest.mark.parametrize("name", ["big-bird", "bigbird-pegasus"])
def test_a_short_text_does_not_change_how_a_long_one_is_read(name, monkeypatch):
    def difference():
        model, words = architectures.build(KINDS[name], block_size=4, num_random_blocks=1)
        texts = [
            torch.tensor(words([text])["input_ids"], device=model.device)
            for text in ("The clerk had left early. " * 8, "The clerk")
        ]
        with torch.inference_mode():
            before, _, after = (model(input_ids=texts[i]).logits for i in (0, 1, 0))
        return (before - after).abs().max().item()

    assert difference() == 0
    monkeypatch.setattr(loading, "keep_attention_type", lambda model: model)
    assert difference() > 0.01


def test_texts_on_both_sides_of_a_change_of_positions_are_not_mixed(gpu_packs):
    some = architectures.instances(40)
    made = engine("phi-3-longrope", some)
    lengths = made.lengths(options.option_texts(some))
    original = made.network.config.original_max_position_embeddings
    assert lengths.min() < original < lengths.max()
    assert made.description["batching"] == "equal length"
    # Where all of the job's texts are on one side, they are packed.
    short = some[some.text.str.len() < some.text.str.len().median()]
    packed = engine("phi-3-longrope", short, original_max_position_embeddings=int(lengths.max()))
    assert packed.description["batching"] == SHARED


@pytest.mark.parametrize(("asides", "limit", "size"), [((4, 5), 153, 32), ((1, 2, 3), 86, 16)])
def test_small_packs_hide_no_change_of_positions(asides, limit, size, monkeypatch):
    """Packs of this size hold texts of the job on both sides of the limit, but no probe beside the longest text."""
    # As many as on a CPU: in a GPU's larger batches another probe notices.
    monkeypatch.setitem(BATCH_TOKENS, architectures.PLACE, 1024)
    some = architectures.instances(30, asides)

    def measure():
        return architectures.measure(
            KINDS["phi-3-longrope"], "float32", size, some, original_max_position_embeddings=limit
        )

    assert measure()["difference"] < 1e-4
    monkeypatch.setattr(structure.Probes, "stretch", lambda *_: 0.0)
    assert measure()["difference"] > 0.1


@pytest.mark.parametrize("length", [-1, 0, 1])
def test_the_last_token_counts_where_positions_change(length):
    some = architectures.instances(40)
    _, words = architectures.build(KINDS["phi-3-longrope"])
    rows = options.option_texts(some)
    limit = int(np.median([len(ids) for ids in words(rows.text.tolist())["input_ids"]])) + length
    found = architectures.measure(KINDS["phi-3-longrope"], "float32", 256, some, original_max_position_embeddings=limit)
    assert found["difference"] < 1e-4


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", scoring.ENGINES)
@pytest.mark.parametrize("kind", ["bert-as-decoder", "xlnet"])
def test_models_that_look_ahead_are_refused_by_every_engine(kind, name, precision):
    with pytest.raises(UserError, match="a later token changes the score of an earlier one") as raised:
        engine(kind, name=name, precision=precision)
    assert "\n" not in str(raised.value) and "minicons" not in str(raised.value)


def test_an_encoder_that_was_taken_for_a_decoder_is_scored_as_the_message_says():
    model, words = architectures.build(KINDS["bert-as-decoder"])
    encoder = transformers.BertForMaskedLM(model.config).eval().to(builder.DEVICE)
    made = scoring.make_engine("packed", encoder, words, "encoder", builder.DEVICE, "auto", SOME)
    assert len(scoring.score_instances(made, SOME.iloc[:2])) == 8


@pytest.mark.parametrize("name", scoring.ENGINES)
def test_batches_that_mix_texts_are_refused_by_every_engine(entries, monkeypatch, name):
    model, tokenizer = load(entries["tiny-llama"])
    forward = type(model.model).forward

    def mixing(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        output.last_hidden_state = output.last_hidden_state * len(output.last_hidden_state) ** 0.1
        return output

    monkeypatch.setattr(type(model.model), "forward", mixing)
    with pytest.raises(UserError, match=r"scores in batches are not those of single texts.*leave this model out"):
        scoring.make_engine(name, model, tokenizer, "decoder", builder.DEVICE, "auto", SOME)


def test_minicons_scores_what_passes(entries):
    for name in ("tiny-llama", "tiny-bert"):
        model, tokenizer = load(entries[name])
        scoring.make_engine("minicons", model, tokenizer, entries[name]["architecture"], builder.DEVICE, "auto", SOME)


def test_tokenizers_without_a_mask_or_sentinels_are_refused():
    with pytest.raises(UserError, match="has neither a mask nor <extra_id_0> as one token"):
        engine("marian")
    model, words = architectures.build(KINDS["marian"])
    with pytest.raises(UserError, match="has neither a mask nor <extra_id_0> as one token"):
        distributions.MaskFiller(model, words, tokens_per_batch=100, top_k=1)
    words = architectures.tokenizer("gpt2")
    with pytest.raises(UserError, match="has no mask"):
        TextReader(words, "encoder")


@pytest.mark.parametrize(
    ("kind", "changed", "limit"),
    [
        ("mpnet", {}, 512),
        ("longformer", {}, 512),
        ("xlm-roberta", {}, 512),
        ("camembert", {}, 512),
        ("electra", {}, 514),
        ("led", {}, 512),
        ("mpt", {}, 2048),
        ("gpt-neo", {"max_position_embeddings": 128}, 128),
        ("gpt-1", {"max_position_embeddings": 300}, 300),
        ("biogpt", {"max_position_embeddings": 300}, 300),
        ("rwkv", {}, 2048),
        ("pegasus", {}, 2048),
        ("mt5", {}, None),
        ("mamba", {}, None),
        ("xlnet", {}, None),
    ],
)
def test_what_a_model_takes_is_known(kind, changed, limit):
    model, _ = architectures.build(KINDS[kind], **changed)
    assert context_length(model) == limit
    if limit and limit < 1000:
        ids = torch.randint(10, 100, (1, limit), device=model.device)
        given = {"labels": ids} if KINDS[kind].architecture == "encoder-decoder" else {}
        with torch.no_grad():
            assert model(input_ids=ids, **given).logits.shape[1] == limit


def test_packed_sequences_stay_within_a_models_positions(gpu_packs):
    short = SOME[SOME.text.str.len() < 200]
    made = engine("gpt-neo", short, max_position_embeddings=128, window_size=128)
    assert made.pack_tokens == 128
    assert len(scoring.score_instances(made, short, 128)) == 4 * len(short)


@pytest.mark.parametrize("shard", [1, 2])
def test_a_text_that_is_too_long_ends_a_job_before_it_starts(entries, tmp_path, monkeypatch, shard):
    texts = [f"The baker said that ___ had {i} cakes." for i in range(40)] + ["word " * 300 + "___"]
    table = pd.DataFrame(
        {"instance_id": [f"{i:016x}" for i in range(41)], "text": texts, "options": [["he", "she"]] * 41}
    )
    files.write_parquet(tmp_path / "instances.parquet", table)
    monkeypatch.setattr(score.scoring, "make_engine", lambda *_: pytest.fail("an engine was made"))
    long = (
        r"instances.parquet: 1 of 41 instances have texts of up to 603 tokens, and model tiny-bert takes 258; texts "
        r"are never truncated: leave this model or these instances out \(the first is 0{14}28\)$"
    )
    with pytest.raises(UserError, match=long):
        score.main(
            instances=str(tmp_path / "instances.parquet"), scores=str(tmp_path / "s.parquet"),
            speed=str(tmp_path / "s.json"), model="tiny-bert", entry=entries["tiny-bert"], engine="packed",
            device=builder.DEVICE, tokens_per_batch="auto", shard=shard, shards=2,
        )  # fmt: skip


def test_the_longest_instances_of_a_file_are_found(tmp_path, entries):
    count = 3 * score.WINDOW
    texts = [f"The baker said that ___ had {'very ' * (i % 7)}good cakes, {i}." for i in range(count)]
    texts[1500] = "long " * 30 + "___"
    table = pd.DataFrame({"instance_id": [str(i) for i in range(count)], "text": texts, "options": [["he"]] * count})
    files.write_parquet(tmp_path / "instances.parquet", table)
    _, tokenizer = load(entries["tiny-llama"])
    found = score.longest_instances(
        tmp_path / "instances.parquet", TextReader(tokenizer, "decoder"), 500, score.LogLikelihood("decoder"), "m"
    )
    assert len(found) == structure.CANDIDATES
    assert found.instance_id.iloc[0] == "1500"
    shortest = found.text.str.len().min()
    assert shortest >= sorted(map(len, texts))[-structure.CANDIDATES]


@pytest.mark.parametrize("name", scoring.ENGINES)
def test_a_limit_that_no_model_states_is_found(entries, monkeypatch, name):
    model, tokenizer = load(entries["tiny-bert"])
    for module in ("packed", "minicons"):
        monkeypatch.setattr(f"scripts.core.engines.{module}.context_length", lambda model: None)
    long = pd.DataFrame({"instance_id": ["a"], "text": ["word " * 300 + "___"], "options": [["he", "she"]]})
    with pytest.raises(UserError, match=r"BertForMaskedLM: the model cannot be run on texts of up to \d+ tokens"):
        scoring.make_engine(name, model, tokenizer, "encoder", builder.DEVICE, "auto", long)


@pytest.mark.parametrize("name", scoring.ENGINES)
def test_models_that_cannot_be_run_end_in_one_line(name):
    with pytest.raises(UserError, match=r"NystromformerForMaskedLM: the model cannot be run on a short text") as raised:
        engine("nystromformer-512", name=name)
    assert "\n" not in str(raised.value)
    model, words = architectures.build(KINDS["nystromformer-512"])
    with pytest.raises(UserError, match="the model cannot be run on a short text"):
        distributions.MaskFiller(model, words, tokens_per_batch=100, top_k=1)


@pytest.mark.parametrize("changed", [{"pad_token_id": 10**6}, {"num_attention_heads": 5}])
def test_a_configuration_that_does_not_fit_is_named(entries, tmp_path, changed):
    folder = tmp_path / "broken"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | changed))
    entry = {**entries["tiny-bert"], "source": {"path": str(folder)}}
    with pytest.raises(UserError, match="model m: cannot be loaded from") as raised:
        load(entry)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", ["gpt-neo", "mixtral", "lfm2", "rwkv", "jamba", "mpnet", "mt5"])
def test_a_widened_model_is_the_model_in_float32_and_is_left_as_it_was(kind, whole, monkeypatch):
    model, _ = architectures.build(KINDS[kind])
    # Some change their weights once when they first run.
    ids = torch.arange(20, 40, device=model.device)[None]
    given = {"labels": ids} if KINDS[kind].architecture == "encoder-decoder" else {}
    model = model.to(torch.bfloat16)
    with torch.no_grad():
        before = model(input_ids=ids, **given).logits
        expected = copy.deepcopy(model).float()(input_ids=ids, **given).logits
        weights = {name: value.clone() for name, value in model.state_dict().items()}
        monkeypatch.setattr(structure, "WHOLE_BYTES", 1 << 40 if whole else 0)
        with structure.in_float32(model):
            widened = model(input_ids=ids, **given).logits
        after = model(input_ids=ids, **given).logits
    assert widened.dtype == torch.float32
    assert torch.equal(widened, expected)
    assert torch.equal(before, after)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    assert all(value.dtype == weights[name].dtype for name, value in model.state_dict().items())


def test_weights_are_put_back_after_an_error(entries):
    model, _ = load({**entries["tiny-llama"], "precision": "bfloat16"})
    with pytest.raises(RuntimeError, match="stop"), structure.in_float32(model):
        assert model.dtype == torch.float32
        raise RuntimeError("stop")
    assert {value.dtype for value in model.parameters()} == {torch.bfloat16}


def test_a_large_model_in_half_precision_is_checked_layer_by_layer(entries, monkeypatch):
    monkeypatch.setattr(structure, "WHOLE_BYTES", 0)
    assert engine("qwen3-next", precision=torch.bfloat16).description["batching"] == "equal length"
    assert engine("qwen3", precision=torch.bfloat16).description["batching"] == SHARED


@pytest.mark.parametrize(("precision", "step"), [("float32", 1.01), ("bfloat16", 1.5)])
def test_a_model_whose_scores_drift_is_refused(entries, monkeypatch, precision, step):
    model, tokenizer = load({**entries["tiny-llama"], "precision": precision})
    forward = type(model).forward

    def drifting(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        self.lm_head.weight.data.mul_(step)
        return output

    monkeypatch.setattr(type(model), "forward", drifting)
    with pytest.raises(UserError, match="LlamaForCausalLM: a text gets another score when it is scored again"):
        scoring.make_engine("packed", model, tokenizer, "decoder", builder.DEVICE, "auto", SOME)


@pytest.mark.parametrize("size", [0, 256, 1024])
def test_branches_fill_a_packed_sequence(size):
    ids = np.random.default_rng(1).integers(5, 60, 120)
    found = [ids, *structure.branches(ids, size)]
    assert len({tuple(branch) for branch in found}) == len(found) >= 4
    assert all(len(branch) == len(ids) and branch[0] == ids[0] for branch in found)
    places = [structure.changed_at(ids, branch) for branch in found[1:]]
    assert places[:2] == [105, 105] and set(places[2:]) == {30}
    packs = packed.prefix_tree.pack(found, 10**6)
    assert len(packs) == 1 and len(packs[0]) > size


def test_the_longest_instance_is_among_the_probes_and_fills_a_pack(gpu_packs, monkeypatch):
    seen = []
    original = packed.PackedEngine._forward_trees

    def keeping(self, packs, targets):
        seen.extend(packs)
        return original(self, packs, targets)

    monkeypatch.setattr(packed.PackedEngine, "_forward_trees", keeping)
    some = architectures.instances(20)
    made = engine("olmo2", some)
    assert made.longest >= made.lengths(options.option_texts(some)).max()
    assert max(map(len, seen)) == GPU_PACK


def test_probes_are_cheap_beside_a_job(monkeypatch):
    """Tokens of the check on a CPU: at most two in a hundred of one of RUFF's full samples, of which a job has many."""
    some = architectures.instances(60)
    made = engine("olmo2", some)
    packed, alone = [], []
    logits, plain = made.model.logits, structure.plain_decoder

    def counting(inputs, positions):
        packed.append(inputs["input_ids"].numel())
        return logits(inputs, positions)

    def counting_plain(model, ids):
        alone.append(len(ids))
        return plain(model, ids)

    made.model.logits = counting
    monkeypatch.setattr(structure, "plain_decoder", counting_plain)
    structure.check(made, some, None, made.pack_tokens)
    instance = sum(batch.tokens for batch in made.plan(options.option_texts(some))) / len(some)
    print(f"\nthe check reads {sum(packed)} + {sum(alone)} tokens, an instance of the job has {instance:.0f}")
    assert sum(packed) + sum(alone) < 0.02 * 2160 * instance


def test_a_model_without_an_output_layer_is_refused():
    sizes = {"num_latents": 4, "d_latents": 16, "d_model": 16, "num_self_attends_per_block": 1,
             "num_self_attention_heads": 2, "num_cross_attention_heads": 2, "max_position_embeddings": 32}  # fmt: skip
    model = transformers.PerceiverForMaskedLM(transformers.PerceiverConfig(**sizes))
    with pytest.raises(UserError, match="PerceiverForMaskedLM has no output layer over a vocabulary"):
        output_layer.SelectiveModel(model)
