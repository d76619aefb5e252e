"""Losses on labels equal each model's own loss and a plain loop, whole and in parts, on every architecture of the zoo;
and what follows the slot is scored as in a plain loop.

``pytest -s tests/core/scoring/test_losses.py`` prints the largest differences.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

from scripts.core import config
from scripts.core.data import losses, options
from scripts.core.errors import UserError
from scripts.core.scoring.criteria import fill_options
from scripts.core.scoring.reader import Reader
from tests import zoo as builder
from tests.core.scoring.memory import Scores

# The study's architectures, and its two kinds of labels.
NAMES = ("tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-opt", "tiny-llama", "tiny-bart", "tiny-t5")

SETS = {
    "he": ("he", "him", "himself"), "they": ("they", "them", "themself"), "e": ("e", "em", "emself"),
    "xe": ("xe", "xem", "xemself"), "ey": ("ey", "em", "emself"), "vi": ("vi", "vir", "virself"),
}  # fmt: skip
TEMPLATES = [
    ("Zoë's pronouns are {0}/{1}. Zoë (ill) slept badly. ___ kept sneezing all night.", 0),
    ("Zoë's pronouns are {0}/{1}. The nurse brought ___ some tea!  The day was long.", 1),
    ("Ida ({0}/{1}/{2}) has a new saw. Ida cut ___", 2),
    ("Ida ({0}/{1}/{2}) said: “___ will win”, and so it went.", 0),
]


def frame():
    """Return instances; forms that two sets share are one option."""
    rows = [
        (f"{number:016x}", text.format(*forms), list(dict.fromkeys(each[form] for each in SETS.values())), forms[form])
        for number, ((text, form), forms) in enumerate(itertools.product(TEMPLATES, SETS.values()))
    ]
    return pd.DataFrame(rows, columns=["instance_id", "text", "options", "gold"])


INSTANCES = frame()


CONTINUED = pd.DataFrame(
    [
        ("a" * 16, "The weaver told the buyer that ___ would sell the loom.", ["the weaver", "the buyer"]),
        (
            "b" * 16,
            "The weaver let the buyer wait, because ___ tools lay on the loom.",
            ["the weaver's", "the buyer's"],
        ),
        ("c" * 16, "The weaver met the buyer, and the loom tired ___.", ["the weaver", "the buyer"]),
        ("d" * 16, "The buyer was late for ___", ["the weaver", "the buyer"]),
    ],
    columns=["instance_id", "text", "options"],
)
BEFORE_THE_SLOT = ("tiny-gpt2", "tiny-llama", "tiny-opt", "tiny-bloom", "tiny-bert", "tiny-roberta", "tiny-albert")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), {*NAMES, *BEFORE_THE_SLOT})
    entries = config.load_yaml(registry)["models"]
    return {name: (entry["architecture"], *builder.load(name, entry)) for name, entry in entries.items()}


def scored(loaded, name, instances=INSTANCES, loss="label_loss", **more):
    architecture, model, tokenizer = loaded[name]
    return Scores((model, tokenizer, architecture), instances, loss=loss, **more)


@torch.no_grad()
def plain(architecture, model, tokenizer, text, option, capital=True, by_token=False):
    """Return sum and number of each kind of label of an option, one text at a time, and the model's own mean loss.

    If ``by_token``, a decoder reads each label's beginning by itself.
    """
    form = options.fill(text, option, capitals=capital)[len(text.split("___")[0]) :][: len(option)]
    full = text.replace("___", form)
    if architecture == "decoder":
        ids = tokenizer(full, return_tensors="pt").input_ids.to(model.device)
        output = model(input_ids=ids, labels=ids)
        own, steps, labels = -output.loss.item(), output.logits[0, :-1], ids[0, 1:]
        if by_token:
            steps = [model(input_ids=ids[:, :n]).logits[0, -1] for n in range(1, ids.shape[1])]
    else:
        blank = tokenizer.mask_token or "<extra_id_0>"
        target = full if tokenizer.mask_token else f"<extra_id_0> {form} <extra_id_1>"
        source = tokenizer(text.replace("___", blank), return_tensors="pt").to(model.device)
        ids = tokenizer(target, return_tensors="pt").input_ids.to(model.device)
        output = model(**source, labels=ids)
        own, labels = -output.loss.item(), ids[0]
        steps = list(output.logits[0])
    values = [
        (step[label].double() - step.double().logsumexp(0)).item() for step, label in zip(steps, labels, strict=True)
    ]
    # Labels that a beginning with the option has and one without has not.
    before = text.split("___")[0] if architecture == "decoder" or tokenizer.mask_token else "<extra_id_0> "
    without, including = (len(tokenizer(part).input_ids) for part in (before.rstrip(), before + form))
    ended = architecture != "decoder" and labels[-1].item() == tokenizer.eos_token_id
    first, number = without - (architecture == "decoder") - ended, including - without
    kinds = {"all": (sum(values), len(values)), "option": (sum(values[first : first + number]), number)}
    sentinels = [
        i for i, label in enumerate(labels.tolist()) if tokenizer.convert_ids_to_tokens(label)[:7] == "<extra_"
    ]
    kinds["sentinel"] = (sum(values[i] for i in sentinels), len(sentinels))
    kinds["end"] = (values[-1], 1) if ended else (0.0, 0)
    return kinds, own


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("tiny-bart", "tiny-t5")])
def test_the_loop_over_texts_is_the_loop_over_labels(loaded, name):
    for text in INSTANCES.text[::7]:
        for option in ("she", "emself"):
            found, expected = (plain(*loaded[name], text, option, by_token=each)[0] for each in (False, True))
            assert found.keys() == expected.keys()
            for kind, (total, number) in expected.items():
                assert found[kind] == (pytest.approx(total, abs=1e-4), number)


@pytest.mark.parametrize("name", NAMES)
def test_means_and_sums_equal_the_loop(loaded, name):
    table = scored(loaded, name).table
    assert table.option.tolist() == [option for offered in INSTANCES.options for option in offered]
    texts = dict(zip(INSTANCES.instance_id, INSTANCES.text, strict=True))
    worst = {"sum": 0.0, "mean": 0.0, "option": 0.0}
    for row in table.itertuples():
        kinds, own = plain(*loaded[name], texts[row.instance_id], row.option)
        assert row.scored_tokens == kinds["all"][1]
        worst["sum"] = max(worst["sum"], abs(row.log_probability - kinds["all"][0]))
        worst["mean"] = max(worst["mean"], abs(row.mean_log_probability - own))
        assert row.option_tokens == kinds["option"][1], (texts[row.instance_id], row.option)
        worst["option"] = max(worst["option"], abs(row.option_log_probability - kinds["option"][0]))
        for kind in ("sentinel", "end"):
            found = getattr(row, f"{kind}_log_probability"), getattr(row, f"{kind}_tokens")
            assert found == (pytest.approx(kinds[kind][0], abs=1e-4), kinds[kind][1])
    print(f"\n{name:12} " + ", ".join(f"{what} {value:.1e}" for what, value in worst.items()))
    assert max(worst.values()) < 1e-4
    # Options must differ, or equality with the loop would show little.
    assert table.groupby("instance_id").mean_log_probability.nunique().min() >= 4


@pytest.mark.parametrize("name", ["tiny-bart", "tiny-t5"])
def test_options_without_a_capital_are_scored_where_a_sentence_starts(loaded, name):
    table = scored(loaded, name).table
    texts = dict(zip(INSTANCES.instance_id, INSTANCES.text, strict=True))
    starts = table.instance_id.map(texts).str.contains(". ___", regex=False)
    assert 0 < starts.sum() < len(table)
    assert (table.uncapitalised_log_probability.notna() == starts).all()
    for row in table[starts].itertuples():
        kinds, own = plain(*loaded[name], texts[row.instance_id], row.option, capital=False)
        assert row.uncapitalised_log_probability == pytest.approx(kinds["all"][0], abs=1e-4)
        assert row.uncapitalised_log_probability / row.uncapitalised_scored_tokens == pytest.approx(own, abs=1e-4)
        assert row.uncapitalised_option_log_probability == pytest.approx(kinds["option"][0], abs=1e-4)
        assert row.uncapitalised_option_tokens == kinds["option"][1]
    assert (table.uncapitalised_log_probability[starts] != table.log_probability[starts]).all()


def test_decoders_are_scored_with_capitals_alone(loaded):
    table = scored(loaded, "tiny-llama").table
    assert table.filter(like="uncapitalised").isna().all(axis=None)
    assert len(table) == INSTANCES.options.map(len).sum()


def test_choices(loaded):
    table = scored(loaded, "tiny-t5").table
    faithful = losses.comparable_scores(table, labels="faithful")
    assert faithful.log_probability.tolist() == pytest.approx(table.mean_log_probability.tolist())
    corrected = losses.comparable_scores(table)
    expected = table.option_log_probability / table.option_tokens
    assert corrected.log_probability.tolist() == pytest.approx(expected.tolist())
    sums = losses.comparable_scores(table, statistic="sum", labels="faithful")
    assert sums.log_probability.tolist() == table.log_probability.tolist()
    lower = losses.comparable_scores(table, statistic="sum", labels="faithful", capitals="faithful")
    starts = table.uncapitalised_log_probability.notna()
    assert lower.log_probability[starts].tolist() == table.uncapitalised_log_probability[starts].tolist()
    assert lower.log_probability[~starts].tolist() == table.log_probability[~starts].tolist()
    assert lower.scored_tokens.dtype == lower.option_tokens.dtype == np.int32
    # What has no sentinels is the same with both.
    other = scored(loaded, "tiny-bart").table
    assert losses.comparable_scores(other).log_probability.equals(
        losses.comparable_scores(other, labels="faithful").log_probability
    )
    causal = scored(loaded, "tiny-gpt2").table
    same = [
        losses.comparable_scores(causal, capitals=capitals).log_probability for capitals in ("faithful", "corrected")
    ]
    assert same[0].equals(same[1])
    with pytest.raises(UserError, match=r"my scores: the column option_tokens is missing; delete the file"):
        losses.comparable_scores(table.drop(columns="option_tokens"), where="my scores")
    with pytest.raises(ValueError, match="statistic is 'median', none of mean, sum"):
        losses.comparable_scores(table, statistic="median")


@pytest.mark.parametrize("name", NAMES)
def test_scores_do_not_depend_on_batches(loaded, name):
    tables = [scored(loaded, name, tokens=tokens).table for tokens in (16, 100, 100_000)]
    columns = ["log_probability", "option_log_probability", "uncapitalised_log_probability"]
    for other in tables[1:]:
        assert np.nanmax(np.abs(tables[0][columns] - other[columns]).to_numpy(dtype=float)) < 1e-4
        assert other.option_tokens.equals(tables[0].option_tokens)


def test_an_instance_is_encoded_once_whatever_its_labels_lengths(loaded, monkeypatch):
    made = scored(loaded, "tiny-t5", tokens=100_000)
    assert made.check["way"] == "padded" and len({len(text.ids) for text in made.texts}) > 1
    encoder, encoded = loaded["tiny-t5"][1].encoder, []
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda *a, **k: encoded.append(k["input_ids"]) or forward(*a, **k))
    made.values()
    assert sum(len(ids) for ids in encoded) == INSTANCES.text.nunique()


def test_a_decoder_that_sees_what_is_added_behind_labels_gets_labels_of_one_length(loaded, monkeypatch):
    _, model, _ = loaded["tiny-bart"]
    forward = model.model.decoder.forward

    def mixing(*arguments, **keywords):
        output = forward(*arguments, **keywords)
        output["last_hidden_state"] = output.last_hidden_state + keywords["input_ids"].shape[1] / 100
        return output

    monkeypatch.setattr(model.model.decoder, "forward", mixing)
    assert scored(loaded, "tiny-bart").check == {"way": "equal", "checked": True}


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-llama"])
def test_long_texts_with_many_options_share_their_beginning(loaded, name):
    """Prompts with examples fill more than half a pack: options would each be computed from the beginning."""
    long = INSTANCES.iloc[:6].copy()
    long["text"] = "".join(f"Ida has {n} saws. " for n in range(8)) + long.text
    made = scored(loaded, name, long, tokens=64)
    lengths = [len(text) for text in made.texts]
    assert min(lengths) > made.scorer.pack_tokens and made.check["way"] == "packed"
    assert sum(batch.tokens for batch in made.plan) < sum(lengths) / 2
    texts = dict(zip(long.instance_id, long.text, strict=True))
    for row in made.table.iloc[::5].itertuples():
        kinds, own = plain(*loaded[name], texts[row.instance_id], row.option)
        assert row.log_probability == pytest.approx(kinds["all"][0], abs=1e-4)
        assert row.mean_log_probability == pytest.approx(own, abs=1e-4)


def test_what_a_model_has_no_score_of_is_refused():
    with pytest.raises(UserError, match=r"a masked language model has no loss on labels.*leave the model out"):
        fill_options(INSTANCES, "encoder", "label_loss")
    with pytest.raises(UserError, match="an encoder-decoder does not score what follows the slot"):
        fill_options(CONTINUED, "encoder-decoder", "continuation")


def test_an_option_without_tokens_is_refused(loaded):
    reader = Reader(loaded["tiny-gpt2"][2], "decoder", with_kinds=True)
    broken = fill_options(INSTANCES.iloc[:1], "decoder", "label_loss").assign(filled="")
    with pytest.raises(UserError, match=r"instance 0{16}, option 'he': \w+ has no token for it; leave this model"):
        reader.read(broken)


def continued(architecture, model, tokenizer, text, end):
    """Return the sum over the tokens that begin at ``end`` or later, and their number, one token at a time."""
    encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    offsets = encoded.pop("offset_mapping")[0].tolist()
    ids, words = encoded["input_ids"][0].to(model.device), encoded.word_ids(0)
    total, count = 0.0, 0
    for place, (start, stop) in enumerate(offsets):
        # A tokenizer may count the space before a word as part of its token.
        start += stop > start and text[start] == " "
        if start < end or words[place] is None or not place:
            continue
        if architecture == "decoder":
            logits = model(input_ids=ids[None, :place]).logits[0, -1]
        else:
            copy = ids.clone()
            copy[[p for p, word in enumerate(words) if word == words[place] and p >= place]] = tokenizer.mask_token_id
            logits = model(input_ids=copy[None]).logits[0, place]
        total += float(torch.log_softmax(logits.double(), 0)[ids[place]])
        count += 1
    return total, count


@pytest.mark.parametrize("name", BEFORE_THE_SLOT)
@pytest.mark.parametrize("engine", ["packed", "minicons"])
def test_what_follows_the_slot_is_scored_as_in_a_plain_loop(loaded, name, engine):
    made = scored(loaded, name, CONTINUED, "continuation", engine=engine)
    with torch.no_grad():
        for row, text in zip(made.table.itertuples(), made.rows.itertuples(), strict=True):
            end = text.masked.index(options.SLOT) + len(text.filled)
            expected, count = continued(*loaded[name], text.text, end)
            assert row.continuation_tokens == count
            assert row.continuation_log_probability == pytest.approx(expected, abs=1e-4)
    # Nothing follows in the last text; elsewhere the rest of the text is scored as well.
    table = made.table
    assert (table.continuation_tokens[-2:] == 0).all() and (table.continuation_log_probability[-2:] == 0).all()
    assert (table.continuation_tokens[:-2] < table.scored_tokens[:-2]).all()
