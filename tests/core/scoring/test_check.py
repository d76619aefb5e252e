"""A score depends on nothing but its own text: what is refused, what falls back, and that results stay right.

``make architectures`` prints the whole table of architectures, at both sizes of packed sequences.
"""

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from scripts.core import config, files
from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.scoring import check, packed
from scripts.core.scoring.reader import Reader
from scripts.scoring import score
from tests import zoo as builder
from tests.core.scoring import architectures
from tests.core.scoring.memory import Scores

KINDS = {kind.name: kind for kind in architectures.KINDS}
SOME = architectures.instances(6)
# Pseudo-log-likelihoods take a forward pass for each token.
SHORT = architectures.instances(2, asides=(1,))
GPU_PACK = 1024
ENGINES = ("packed", "minicons")


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-bert", "tiny-llama", "tiny-t5"))
    return config.load_yaml(registry)["models"]


def load(entry):
    return (*builder.load("m", entry), entry["architecture"])


def scores(kind, some=SOME, engine="packed", precision=torch.float32, **changed):
    model, words = architectures.build(KINDS[kind], **changed)
    return Scores((model.to(precision), words, KINDS[kind].architecture), some, engine=engine)


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
    if kind.architecture == "decoder":
        model_type = architectures.build(kind)[0].config.model_type
        assert found["way"] == ("packed" if model_type in check.PACKABLE else "equal")


def test_all_that_may_be_packed_is_proved_to_be():
    """By the test above, or by those of the zoo in ``test_scores.py``."""
    proved = {architectures.build(kind)[0].config.model_type for kind in KINDS.values() if kind.name != "marian"}
    assert proved | {"gemma", "gpt2", "gpt_neox", "gptj", "llama", "opt", "qwen2"} >= check.PACKABLE


@pytest.mark.parametrize(("kind", "scale"), [("qwen3-next", 1.0), ("lfm2", 1.0), ("lfm2", 3.0), ("falcon-h1", 3.0)])
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_weak_mixing_is_not_packed_in_any_precision(kind, scale, precision):
    """Weights as they are initialised, or little more, mix neighbours by less than half precision rounds."""
    weak = dataclasses.replace(KINDS[kind], scale=scale)
    model, words = architectures.build(weak)
    assert Scores((model.to(precision), words, "decoder"), SOME).check == {"way": "equal", "checked": True}


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["falcon-alibi", "mpt", "mamba", "rwkv", "jamba", "recurrent-gemma"])
def test_what_is_wrongly_listed_as_packable_is_seen(kind, precision, monkeypatch):
    model_type = architectures.build(KINDS[kind])[0].config.model_type
    monkeypatch.setattr(check, "PACKABLE", {*check.PACKABLE, model_type})
    assert scores(kind, precision=precision).check == {"way": "equal", "checked": True}


@pytest.mark.parametrize("pack_tokens", [256, GPU_PACK])
@pytest.mark.parametrize(("missing", "way"), [(0, "packed"), (8, "equal")])
def test_a_window_a_little_shorter_than_the_largest_pack_is_seen(pack_tokens, missing, way, monkeypatch):
    monkeypatch.setattr(check, "PACKABLE", {"gpt_neo"})
    some = architectures.instances(24)
    longest = max(map(len, scores("gpt-neo", some, window_size=4096).texts))
    window = packed.tree.largest_pack(longest - 1, pack_tokens, None) - missing
    found = architectures.measure(KINDS["gpt-neo"], "float32", pack_tokens, some, window_size=window)
    assert found["way"] == way
    assert found["difference"] < 1e-4


def test_what_would_be_wrong_is_wrong(monkeypatch):
    """Without the check the same instances get other scores, so the test above can fail."""
    monkeypatch.setattr(check, "PACKABLE", {"gpt_neo"})
    monkeypatch.setattr(check, "compare", lambda *_: 0.0)
    found = architectures.measure(KINDS["gpt-neo"], "float32", GPU_PACK, architectures.instances(40))
    assert (found["way"], found["difference"] > 0.1) == ("packed", True)


@pytest.mark.parametrize("length", [-1, 0, 1])
@pytest.mark.parametrize("size", [16, 256])
def test_texts_on_both_sides_of_a_change_of_positions_are_not_mixed(length, size):
    some = architectures.instances(40)
    _, words = architectures.build(KINDS["phi-3-longrope"])
    lengths = [len(ids) for ids in words(options.option_texts(some).text.tolist())["input_ids"]]
    limit = int(np.median(lengths)) + length
    assert min(lengths) < limit < max(lengths)
    found = architectures.measure(
        KINDS["phi-3-longrope"], "float32", size, some, original_max_position_embeddings=limit
    )
    assert found["way"] == "packed" and found["difference"] < 1e-4


def test_a_mixed_pack_would_be_wrong(monkeypatch):
    monkeypatch.setattr(packed, "packed_length", lambda _: np.inf)
    assert scores("phi-3-longrope", architectures.instances(40)).check["way"] == "equal"
    monkeypatch.setattr(check, "compare", lambda *_: 0.0)
    found = architectures.measure(KINDS["phi-3-longrope"], "float32", 256, architectures.instances(40))
    assert found["difference"] > 0.1


def test_full_packs_have_exactly_the_largest_size(gpu_packs):
    for instances in (architectures.instances(20), architectures.instances(3, (0,))):
        made = scores("olmo2", instances)
        for text in (max(made.texts, key=len), min(made.texts, key=len)):
            branches, batch = check.fill_pack(made.scorer, text)
            assert len({tuple(branch.ids) for branch in branches}) == len(branches) == len(batch.members)
            assert batch.tokens == packed.tree.largest_pack(len(text) - 1, GPU_PACK, made.scorer.limit)


def test_a_broken_pack_is_an_error_and_no_reason_to_fall_back(monkeypatch):
    monkeypatch.setattr(check, "fill_pack", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        scores("olmo2")


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


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["bert-as-decoder", "xlnet"])
def test_models_that_look_ahead_are_refused_by_every_engine(kind, engine, precision):
    with pytest.raises(UserError, match="a later token changes the score of an earlier one") as raised:
        scores(kind, engine=engine, precision=precision)
    assert "\n" not in str(raised.value) and "minicons" not in str(raised.value)


def test_an_encoder_that_was_taken_for_a_decoder_is_scored_as_the_message_says():
    model, words = architectures.build(KINDS["bert-as-decoder"])
    encoder = transformers.BertForMaskedLM(model.config).eval().to(builder.DEVICE)
    assert len(Scores((encoder, words, "encoder"), SOME.iloc[:2]).table) == 8


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_that_mix_texts_are_refused_by_every_engine(entries, monkeypatch, engine):
    model = load(entries["tiny-llama"])
    forward = type(model[0].model).forward

    def mixing(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        output.last_hidden_state = output.last_hidden_state * len(output.last_hidden_state) ** 0.1
        return output

    monkeypatch.setattr(type(model[0].model), "forward", mixing)
    if engine == "packed":
        # Batches fall back to single texts.
        assert Scores(model, SOME).check == {"way": "single", "checked": True}
    else:
        with pytest.raises(UserError, match=r"do not get what they get by themselves.*leave this model out"):
            Scores(model, SOME, engine=engine)


@pytest.mark.parametrize(
    ("name", "ways"),
    [("tiny-bert", ["last", "head", "all", "single"]), ("tiny-llama", ["packed", "equal", "single"]),
     ("tiny-t5", ["padded", "equal", "single"])],
)  # fmt: skip
def test_ways_that_fail_fall_back_to_plainer_ones_and_the_last_failure_is_told(entries, monkeypatch, name, ways):
    model, run = load(entries[name]), type(Scores(load(entries[name]), SOME).scorer).run
    scorer = type(Scores(model, SOME).scorer)
    for number, way in enumerate(ways[1:], 1):
        monkeypatch.setattr(
            scorer, "run", lambda self, batch, broken=ways[:number]: 1 / (self.way not in broken) and run(self, batch)
        )
        assert Scores(model, SOME).check == {"way": way, "checked": True}
    monkeypatch.setattr(scorer, "run", lambda self, batch: [value * np.nan for value in run(self, batch)])
    with pytest.raises(UserError, match=r"texts run single do not get .*\(scores differ by nan times"):
        Scores(model, SOME)
    monkeypatch.setattr(scorer, "run", lambda self, batch: 1 / 0)
    with pytest.raises(UserError, match=r"texts run single do not get .*\(ZeroDivisionError: division by zero\)"):
        Scores(model, SOME)


def test_rounding_of_a_large_model_is_no_reason_to_fall_back_and_ten_times_as_much_is_one(entries, monkeypatch):
    """Packed, a token of Llama-2-7B's shape differs by up to 1.1e-4 nats on a GPU, and by 2.6e-5 on average."""
    model, run = load(entries["tiny-llama"]), packed.PackedScorer.run

    def rounded(self, batch, size=2.6e-5):
        return [values + size * (-1) ** np.arange(len(values)) for values in run(self, batch)]

    monkeypatch.setattr(packed.PackedScorer, "run", rounded)
    assert Scores(model, SOME).check == {"way": "packed", "checked": True}
    monkeypatch.setattr(packed.PackedScorer, "run", lambda *a: rounded(*a, size=2.6e-4))
    with pytest.raises(UserError, match="texts run single do not get what they get by themselves"):
        Scores(model, SOME)


def test_a_decoder_that_ignores_positions_is_not_packed(entries, monkeypatch):
    model = load(entries["tiny-llama"])
    forward = model[0].model.forward
    monkeypatch.setattr(model[0].model, "forward", lambda *a, position_ids=None, **o: forward(*a, **o))
    assert Scores(model, SOME).check == {"way": "equal", "checked": True}


def test_a_head_that_looks_at_its_neighbours_is_run_at_all_positions(entries, monkeypatch):
    model = load(entries["tiny-bert"])
    forward = type(model[0]).forward

    def scrambled(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        output.logits = output.logits + output.logits.mean(dim=1, keepdim=True)
        return output

    monkeypatch.setattr(type(model[0]), "forward", scrambled)
    assert Scores(model, SOME).check == {"way": "all", "checked": True}


def test_a_last_layer_that_mixes_positions_is_run_whole(entries, monkeypatch):
    model = load(entries["tiny-bert"])
    last = model[0].bert.encoder.layer[-1]
    feed = last.feed_forward_chunk
    monkeypatch.setattr(last, "feed_forward_chunk", lambda mixed: feed(mixed) + mixed.mean(dim=1, keepdim=True))
    assert Scores(model, SOME).check == {"way": "head", "checked": True}


def test_tokenizers_without_a_mask_or_sentinels_are_refused():
    with pytest.raises(UserError, match="has neither a mask nor <extra_id_0> as one token"):
        scores("marian")
    with pytest.raises(UserError, match="has no mask"):
        Reader(architectures.tokenizer("gpt2"), "encoder")


def test_packed_sequences_stay_within_a_models_positions(gpu_packs, monkeypatch):
    short = SOME[SOME.text.str.len() < 200]
    made = scores("biogpt", short, max_position_embeddings=128)
    assert made.scorer.pack_tokens == 128 and made.check["way"] == "packed"


@pytest.mark.parametrize("shard", [1, 2])
def test_a_text_that_is_too_long_ends_a_job_before_it_starts(entries, tmp_path, monkeypatch, shard):
    texts = [f"The baker said that ___ had {i} cakes." for i in range(40)] + ["word " * 300 + "___"]
    table = pd.DataFrame(
        {"instance_id": [f"{i:016x}" for i in range(41)], "text": texts, "options": [["he", "she"]] * 41}
    )
    files.write_parquet(tmp_path / "instances.parquet", table)
    monkeypatch.setattr(score, "choose_way", lambda *_: pytest.fail("the model was run"))
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


def test_the_longest_text_of_a_file_and_options_of_several_lengths_are_checked(tmp_path, entries):
    count = 3 * score.WINDOW
    texts = [f"The baker said that ___ had {'very ' * (i % 7)}good cakes, {i}." for i in range(count)]
    texts[1500] = "long " * 30 + "___"
    forms = [["he", "themselves", "faerself", "she", "xe", "they"]] * count
    table = pd.DataFrame({"instance_id": [str(i) for i in range(count)], "text": texts, "options": forms})
    files.write_parquet(tmp_path / "instances.parquet", table)
    _, tokenizer, _ = load(entries["tiny-llama"])
    reader = Reader(tokenizer, "decoder")
    found = score.sample_texts(tmp_path / "instances.parquet", reader, "log_likelihood", 500, "m")
    own = [text for text in found if text.text.startswith("long long")]
    assert len(own) == score.OPTIONS and len(found) == score.OPTIONS + score.RANDOM
    every = reader.read(options.option_texts(table.iloc[[1500]]).assign(capitals=True))
    assert {max(map(len, own)), min(map(len, own))} == {max(map(len, every)), min(map(len, every))}
    with pytest.raises(UserError, match="1 of 3072 instances have texts of up to"):
        score.sample_texts(tmp_path / "instances.parquet", reader, "log_likelihood", max(map(len, own)) - 1, "m")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_that_no_model_states_is_found(entries, monkeypatch, engine):
    monkeypatch.setattr("tests.core.scoring.memory.context_length", lambda model: None)
    long = pd.DataFrame({"instance_id": ["a"], "text": ["word " * 300 + "___"], "options": [["he", "she"]]})
    with pytest.raises(UserError, match=r"BertForMaskedLM: cannot be run on texts of up to \d+ tokens"):
        Scores(load(entries["tiny-bert"]), long, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_models_that_cannot_be_run_end_in_one_line(engine):
    with pytest.raises(
        UserError, match=r"NystromformerForMaskedLM: cannot be run on texts of up to 161 tokens"
    ) as raised:
        scores("nystromformer-512", engine=engine)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_model_that_has_no_room_in_float32_runs_unchecked_and_says_so(entries, monkeypatch, precision):
    model = load(entries["tiny-llama"] | {"precision": precision})
    plain = check.plain_values

    def full(scorer, text):
        if scorer.network.dtype == torch.float32:
            raise torch.OutOfMemoryError("full")
        return plain(scorer, text)

    monkeypatch.setattr(check, "plain_values", full)
    if precision == "float32":
        with pytest.raises(UserError, match=r"memory runs out with texts of up to \d+ tokens; give the model more"):
            Scores(model, SOME)
        return
    assert Scores(model, SOME).check == {"way": "packed", "checked": False}
    # What the list does not know is run plainly.
    monkeypatch.setattr(check, "PACKABLE", set())
    assert Scores(model, SOME).check == {"way": "equal", "checked": False}


def test_a_way_that_was_found_unfit_is_not_taken_where_memory_runs_out_after_it(entries, monkeypatch):
    answers = iter(["scores differ", torch.OutOfMemoryError("full")])

    def disagree(*_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(check, "_disagreement", disagree)
    model = load(entries["tiny-llama"] | {"precision": "bfloat16"})
    assert Scores(model, SOME).check == {"way": "equal", "checked": False}


def test_half_precision_that_overflows_is_refused(entries):
    model = load(entries["tiny-llama"] | {"precision": "float16"})
    with torch.no_grad():
        model[0].lm_head.weight.fill_(6e4)
    with pytest.raises(UserError, match=r"scores in torch.float16 are not finite; use a wider precision"):
        Scores(model, SOME)


@pytest.mark.parametrize("kind", ["gpt-neo", "mixtral", "lfm2", "rwkv", "jamba", "mpnet", "mt5"])
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
    assert widened.dtype == torch.float32
    assert torch.equal(widened, expected)
    assert torch.equal(before, after)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    assert all(value.dtype == weights[name].dtype for name, value in model.state_dict().items())


def test_a_layer_is_widened_while_it_runs_and_weights_are_put_back_after_an_error(entries):
    model, *_ = load({**entries["tiny-llama"], "precision": "bfloat16"})
    first, second = model.model.layers
    seen = []
    hook = first.mlp.register_forward_hook(
        lambda *_: seen.append((first.mlp.up_proj.weight.dtype, second.mlp.up_proj.weight.dtype))
    )
    with pytest.raises(RuntimeError, match="stop"), check.in_float32(model):
        model(input_ids=torch.tensor([[1, 2]], device=model.device))
        raise RuntimeError("stop")
    hook.remove()
    assert seen == [(torch.float32, torch.bfloat16)]
    assert {value.dtype for value in model.parameters()} == {torch.bfloat16}


@pytest.mark.parametrize(("precision", "step"), [("float32", 1.01), ("bfloat16", 1.5)])
def test_a_model_whose_scores_drift_is_refused(entries, monkeypatch, precision, step):
    model = load({**entries["tiny-llama"], "precision": precision})
    forward = type(model[0]).forward

    def drifting(self, *arguments, **keywords):
        output = forward(self, *arguments, **keywords)
        self.lm_head.weight.data.mul_(step)
        return output

    monkeypatch.setattr(type(model[0]), "forward", drifting)
    with pytest.raises(UserError, match="LlamaForCausalLM: "):
        Scores(model, SOME)


def test_probes_are_cheap_beside_a_job():
    """Tokens of the check on a CPU: at most two in a hundred of one of RUFF's full samples, of which a job has many."""
    some = architectures.instances(60)
    made, read = scores("olmo2", some), []
    hook = made.scorer.network.register_forward_pre_hook(
        lambda _module, _arguments, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    check.choose_way(made.scorer, made.texts[: score.OPTIONS + score.RANDOM])
    hook.remove()
    instance = sum(batch.tokens for batch in made.plan) / len(some)
    print(f"\nthe check reads {sum(read)} tokens, an instance of the job has {instance:.0f}")
    assert sum(read) < 0.02 * 2160 * instance
