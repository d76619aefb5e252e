"""A score depends on nothing but its own text: what is refused, what falls back, and that results stay right.

``make architectures`` prints the whole table of architectures, at both sizes of packed sequences.
"""

import copy
import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from scripts.core import config
from scripts.core.data import options
from scripts.core.models import loading
from scripts.core.scoring import check, decoder
from scripts.scoring import score
from tests import zoo as builder
from tests.core.scoring import architectures
from tests.core.scoring.architectures import KINDS
from tests.core.scoring.memory import Scores
from tests.refusals import refused

SOME = architectures.instances(6)
# Pseudo-log-likelihoods take a forward pass for each token.
SHORT = architectures.instances(2, asides=(1,))
GPU_PACK = 1024
ENGINES = ("packed", "minicons")
PRECISIONS = (torch.float32, torch.bfloat16)
EQUAL = {"way": "equal", "checked": True}


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-bert", "tiny-llama", "tiny-t5"))
    return config.load_yaml(registry)["models"]


@pytest.fixture
def load(entries):
    """Return a function that loads a model of the zoo: network, tokenizer and architecture."""

    def loaded(name, **changed):
        entry = entries[name] | changed
        return (*builder.load("m", entry), entry["architecture"])

    return loaded


def scores(kind, some=SOME, engine="packed", precision=torch.float32, **changed):
    model, words = architectures.build(KINDS[kind], **changed)
    return Scores((model.to(precision), words, KINDS[kind].architecture), some, engine=engine)


@pytest.fixture
def gpu_packs(monkeypatch):
    monkeypatch.setitem(decoder.PACK_TOKENS, architectures.PLACE, GPU_PACK)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", architectures.by_tier(KINDS))
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
    if kind.architecture == "decoder":
        assert found["way"] == ("packed" if kind.model_type in check.PACKABLE else "equal")


def test_all_that_may_be_packed_is_proved_to_be():
    """By the test above, or by those of the zoo in ``test_scores.py``."""
    zoo = {getattr(transformers, row["class"]) for row in builder.MODELS.values() if "remote_code" not in row}
    proved = {kind.model_type for kind in KINDS.values()} | {kind.config_class.model_type for kind in zoo}
    assert proved >= check.PACKABLE


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("kind", "scale"),
    [("lfm2", 1.0), *(pytest.param(*each, marks=pytest.mark.nightly)
                      for each in (("qwen3-next", 1.0), ("lfm2", 3.0), ("falcon-h1", 3.0)))],
)  # fmt: skip
def test_weak_mixing_is_not_packed_in_any_precision(kind, scale, precision):
    """Weights as they are initialised, or little more, mix neighbours by less than half precision rounds."""
    model, words = architectures.build(dataclasses.replace(KINDS[kind], scale=scale))
    assert Scores((model.to(precision), words, "decoder"), SOME).check == EQUAL


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "kind",
    architectures.by_tier(["falcon-alibi", "mpt", "mamba", "rwkv", "jamba", "recurrent-gemma"]),
)
def test_what_is_wrongly_listed_as_packable_is_seen(kind, precision, monkeypatch):
    monkeypatch.setattr(check, "PACKABLE", {*check.PACKABLE, KINDS[kind].model_type})
    assert scores(kind, precision=precision).check == EQUAL


@pytest.mark.parametrize("pack_tokens", [256, GPU_PACK])
@pytest.mark.parametrize(("missing", "way"), [(0, "packed"), (8, "equal")])
def test_a_window_a_little_shorter_than_the_largest_pack_is_seen(pack_tokens, missing, way, monkeypatch):
    monkeypatch.setattr(check, "PACKABLE", {"gpt_neo"})
    some = architectures.instances(24)
    longest = max(map(len, scores("gpt-neo", some, window_size=4096).texts))
    window = decoder.tree.largest_pack(longest - 1, pack_tokens, None) - missing
    found = architectures.measure(KINDS["gpt-neo"], "float32", pack_tokens, some, window_size=window)
    assert (found["way"], found["difference"] < 1e-4) == (way, True)


def test_what_would_be_wrong_is_wrong(monkeypatch):
    """Without the check the same instances get other scores, so the test above can fail."""
    monkeypatch.setattr(check, "PACKABLE", {"gpt_neo"})
    monkeypatch.setattr(check, "largest_difference", lambda *_: 0.0)
    found = architectures.measure(KINDS["gpt-neo"], "float32", GPU_PACK, architectures.instances(40))
    assert (found["way"], found["difference"] > 0.1) == ("packed", True)


@pytest.mark.parametrize("length", [-1, 0, 1])
@pytest.mark.parametrize("size", [16, 256])
def test_texts_on_both_sides_of_a_change_of_positions_are_not_mixed(length, size):
    some, words = architectures.instances(40), architectures.tokenizer(KINDS["phi-3-longrope"].tokenizer)
    lengths = [len(ids) for ids in words(options.option_texts(some).text.tolist())["input_ids"]]
    limit = int(np.median(lengths)) + length
    assert min(lengths) < limit < max(lengths)
    changed = {"original_max_position_embeddings": limit}
    found = architectures.measure(KINDS["phi-3-longrope"], "float32", size, some, **changed)
    assert found["way"] == "packed" and found["difference"] < 1e-4


def test_a_mixed_pack_would_be_wrong(monkeypatch):
    monkeypatch.setattr(decoder, "packed_length", lambda _: np.inf)
    assert scores("phi-3-longrope", architectures.instances(40)).check["way"] == "equal"
    monkeypatch.setattr(check, "largest_difference", lambda *_: 0.0)
    found = architectures.measure(KINDS["phi-3-longrope"], "float32", 256, architectures.instances(40))
    assert found["difference"] > 0.1


def test_full_packs_have_exactly_the_largest_size(gpu_packs):
    for instances in (architectures.instances(20), architectures.instances(3, (0,))):
        made = scores("olmo2", instances)
        for text in (max(made.texts, key=len), min(made.texts, key=len)):
            branches, batch = check.fill_pack(made.scorer, text)
            assert len({tuple(branch.ids) for branch in branches}) == len(branches) == len(batch.members)
            assert batch.tokens == decoder.tree.largest_pack(len(text) - 1, GPU_PACK, made.scorer.limit)


def test_a_broken_pack_is_an_error_and_no_reason_to_fall_back(monkeypatch):
    monkeypatch.setattr(check, "fill_pack", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        scores("olmo2")


@pytest.mark.parametrize("name", ["big-bird", "bigbird-pegasus"])
def test_a_short_text_does_not_change_how_a_long_one_is_read(name, monkeypatch):
    def difference():
        model, words = architectures.build(KINDS[name], block_size=4, num_random_blocks=1)
        texts = ["The clerk had left early. " * 8, "The clerk"]
        long, short = (torch.tensor(words([text])["input_ids"], device=model.device) for text in texts)
        with torch.inference_mode():
            before, _, after = (model(input_ids=ids).logits for ids in (long, short, long))
        return (before - after).abs().max().item()

    assert difference() == 0
    monkeypatch.setattr(loading, "keep_attention_type", lambda model: model)
    assert difference() > 0.01


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["bert-as-decoder", "xlnet"])
def test_models_that_look_ahead_are_refused_by_every_engine(kind, engine, precision):
    with refused(KINDS[kind].kind.__name__, "later token", "architecture"):
        scores(kind, engine=engine, precision=precision)


def test_an_encoder_that_was_taken_for_a_decoder_is_scored_as_the_message_says():
    model, words = architectures.build(KINDS["bert-as-decoder"])
    encoder = transformers.BertForMaskedLM(model.config).eval().to(builder.DEVICE)
    assert len(Scores((encoder, words, "encoder"), SOME.iloc[:2]).table) == 8


def change_forward(monkeypatch, kind, change):
    """Let a class's forward pass change its output; ``change`` takes the module and the output."""
    forward = kind.forward

    def changed(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        change(self, output)
        return output

    monkeypatch.setattr(kind, "forward", changed)


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_that_mix_texts_are_run_singly_or_refused(load, monkeypatch, engine):
    def mix(_, output):
        output.last_hidden_state = output.last_hidden_state * len(output.last_hidden_state) ** 0.1

    model = load("tiny-llama")
    change_forward(monkeypatch, type(model[0].model), mix)
    if engine == "packed":
        assert Scores(model, SOME).check == {"way": "single", "checked": True}
    else:
        with refused("do not get what they get by themselves", "leave this model out"):
            Scores(model, SOME, engine=engine)


@pytest.mark.parametrize(
    ("name", "ways"),
    [("tiny-bert", ["last", "head", "all", "single"]), ("tiny-llama", ["packed", "equal", "single"]),
     ("tiny-t5", ["padded", "equal", "single"])],
)  # fmt: skip
def test_ways_that_fail_fall_back_to_plainer_ones_and_the_last_failure_is_told(load, monkeypatch, name, ways):
    model = load(name)
    scorer = type(Scores(model, SOME).scorer)
    run = scorer.run
    for number, way in enumerate(ways[1:], 1):
        monkeypatch.setattr(
            scorer, "run", lambda self, batch, broken=ways[:number]: 1 / (self.way not in broken) and run(self, batch)
        )
        assert Scores(model, SOME).check == {"way": way, "checked": True}
    monkeypatch.setattr(scorer, "run", lambda self, batch: [value * np.nan for value in run(self, batch)])
    with refused("texts run single", "differ by nan times"):
        Scores(model, SOME)
    monkeypatch.setattr(scorer, "run", lambda self, batch: 1 / 0)
    with refused("texts run single", "ZeroDivisionError"):
        Scores(model, SOME)


def test_a_score_that_is_not_a_number_is_seen_behind_one_that_is():
    scorer = SimpleNamespace(run=lambda batch: [np.zeros(2), np.full(2, np.nan)])
    batch = SimpleNamespace(members=[0, 1])
    assert np.isnan(check.largest_difference(scorer, [batch], {}, [np.zeros(2), np.zeros(2)], check.rounding_bound))


def test_rounding_of_a_large_model_is_no_reason_to_fall_back_and_ten_times_as_much_is_one(load, monkeypatch):
    """Packed, a token of Llama-2-7B's shape differs by up to 1.1e-4 nats on a GPU, and by 2.6e-5 on average."""
    model, run = load("tiny-llama"), decoder.DecoderScorer.run

    def rounded(self, batch, size=2.6e-5):
        return [values + size * (-1) ** np.arange(len(values)) for values in run(self, batch)]

    monkeypatch.setattr(decoder.DecoderScorer, "run", rounded)
    assert Scores(model, SOME).check == {"way": "packed", "checked": True}
    monkeypatch.setattr(decoder.DecoderScorer, "run", lambda *a: rounded(*a, size=2.6e-4))
    with refused("texts run single", "do not get what they get by themselves"):
        Scores(model, SOME)


def test_a_decoder_that_ignores_positions_is_not_packed(load, monkeypatch):
    model = load("tiny-llama")
    forward = model[0].model.forward
    monkeypatch.setattr(model[0].model, "forward", lambda *a, position_ids=None, **o: forward(*a, **o))
    assert Scores(model, SOME).check == EQUAL


def test_a_head_that_looks_at_its_neighbours_is_run_at_all_positions(load, monkeypatch):
    def scramble(_, output):
        output.logits = output.logits + output.logits.mean(dim=1, keepdim=True)

    model = load("tiny-bert")
    change_forward(monkeypatch, type(model[0]), scramble)
    assert Scores(model, SOME).check == {"way": "all", "checked": True}


def test_a_last_layer_that_mixes_positions_is_run_whole(load, monkeypatch):
    model = load("tiny-bert")
    last = model[0].bert.encoder.layer[-1]
    feed = last.feed_forward_chunk
    monkeypatch.setattr(last, "feed_forward_chunk", lambda mixed: feed(mixed) + mixed.mean(dim=1, keepdim=True))
    assert Scores(model, SOME).check == {"way": "head", "checked": True}


def test_packed_sequences_stay_within_a_models_positions(gpu_packs):
    made = scores("biogpt", SOME[SOME.text.str.len() < 200], max_position_embeddings=128)
    assert made.scorer.pack_tokens == 128 and made.check["way"] == "packed"


@pytest.mark.parametrize("engine", ENGINES)
def test_models_that_cannot_be_run_end_in_one_line(load, monkeypatch, engine):
    with refused("NystromformerForMaskedLM", "cannot be run on texts of up to 161 tokens"):
        scores("nystromformer-512", engine=engine)
    # A limit that no model states is found so.
    monkeypatch.setattr("tests.core.scoring.memory.context_length", lambda model: None)
    long = pd.DataFrame({"instance_id": ["a"], "text": ["word " * 300 + "___"], "options": [["he", "she"]]})
    with refused("BertForMaskedLM", "cannot be run on texts of up to"):
        Scores(load("tiny-bert"), long, engine=engine)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_model_that_has_no_room_in_float32_runs_unchecked_and_says_so(load, monkeypatch, precision):
    model = load("tiny-llama", precision=precision)
    plain = check.plain_values

    def full(scorer, text):
        if scorer.network.dtype == torch.float32:
            raise torch.OutOfMemoryError("full")
        return plain(scorer, text)

    monkeypatch.setattr(check, "plain_values", full)
    if precision == "float32":
        with refused("memory runs out with texts of up to", "more GPUs"):
            Scores(model, SOME)
        return
    assert Scores(model, SOME).check == {"way": "packed", "checked": False}
    # What the list does not know is run plainly.
    monkeypatch.setattr(check, "PACKABLE", set())
    assert Scores(model, SOME).check == {"way": "equal", "checked": False}


def test_a_way_that_was_found_unfit_is_not_taken_where_memory_runs_out_after_it(load, monkeypatch):
    answers = iter(["scores differ", torch.OutOfMemoryError("full")])

    def disagree(*_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(check, "_disagreement", disagree)
    assert Scores(load("tiny-llama", precision="bfloat16"), SOME).check == {"way": "equal", "checked": False}


def test_half_precision_that_overflows_is_refused(load):
    model = load("tiny-llama", precision="float16")
    with torch.no_grad():
        model[0].lm_head.weight.fill_(6e4)
    with refused("float16", "not finite", "wider precision"):
        Scores(model, SOME)


@pytest.mark.parametrize(
    "kind",
    architectures.by_tier(["gpt-neo", "mixtral", "lfm2", "rwkv", "jamba", "mpnet", "mt5"], ("mixtral", "mpnet")),
)
def test_a_widened_model_is_the_model_in_float32_and_is_left_as_it_was(kind):
    model, _ = architectures.build(KINDS[kind])
    # Some change their weights once when they first run.
    ids = torch.arange(20, 40, device=model.device)[None]
    given = {"labels": ids} if KINDS[kind].architecture == "encoder-decoder" else {}
    model = model.to(torch.bfloat16)
    with torch.no_grad():
        before = model(input_ids=ids, **given).logits
        expected = copy.deepcopy(model).float()(input_ids=ids, **given).logits
        weights = {name: value.clone() for name, value in model.state_dict().items()}
        with check.in_float32(model):
            widened = model(input_ids=ids, **given).logits
        after = model(input_ids=ids, **given).logits
    assert widened.dtype == torch.float32 and torch.equal(widened, expected)
    assert torch.equal(before, after)
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights[name]) and value.dtype == weights[name].dtype


def test_a_layer_is_widened_while_it_runs_and_weights_are_put_back_after_an_error(load):
    model, *_ = load("tiny-llama", precision="bfloat16")
    first, second = model.model.layers
    seen = []
    first.mlp.register_forward_hook(
        lambda *_: seen.append((first.mlp.up_proj.weight.dtype, second.mlp.up_proj.weight.dtype))
    )
    with pytest.raises(RuntimeError, match="stop"), check.in_float32(model):
        model(input_ids=torch.tensor([[1, 2]], device=model.device))
        raise RuntimeError("stop")
    assert seen == [(torch.float32, torch.bfloat16)]
    assert {value.dtype for value in model.parameters()} == {torch.bfloat16}


@pytest.mark.parametrize(("precision", "step"), [("float32", 1.01), ("bfloat16", 1.5)])
def test_a_model_whose_scores_drift_is_refused(load, monkeypatch, precision, step):
    model = load("tiny-llama", precision=precision)
    change_forward(monkeypatch, type(model[0]), lambda network, _: network.lm_head.weight.data.mul_(step))
    with refused("LlamaForCausalLM"):
        Scores(model, SOME)


def test_probes_are_cheap_beside_a_job():
    """Tokens of the check on a CPU: at most two in a hundred of one of RUFF's full samples, of which a job has many."""
    some = architectures.instances(60)
    made, read = scores("olmo2", some), []
    made.scorer.network.register_forward_pre_hook(
        lambda _module, _arguments, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    check.choose_way(made.scorer, made.texts[: score.OPTIONS + score.RANDOM])
    instance = sum(batch.tokens for batch in made.plan) / len(some)
    print(f"\nthe check reads {sum(read)} tokens, an instance of the job has {instance:.0f}")
    assert sum(read) < 0.02 * 2160 * instance
