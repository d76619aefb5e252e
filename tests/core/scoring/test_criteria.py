"""Sums and numbers of labels, and of what follows the slot, equal those of a plain loop, whole and in parts.

``pytest -s tests/core/scoring/test_criteria.py`` prints the largest differences.
"""

import itertools
from types import SimpleNamespace

import pytest

from scripts.core.data import options
from scripts.core.scoring.criteria import fill_options
from tests.core.scoring import loops
from tests.core.scoring.architectures import frame
from tests.core.scoring.memory import Scores
from tests.refusals import refused

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
# Forms that two sets share are one option.
INSTANCES = frame(
    [
        (text.format(*forms), list(dict.fromkeys(each[form] for each in SETS.values())))
        for (text, form), forms in itertools.product(TEMPLATES, SETS.values())
    ]
)
CONTINUED = frame(
    [
        ("The weaver told the buyer that ___ would sell the loom.", ["the weaver", "the buyer"]),
        ("The weaver let the buyer wait, because ___ tools lay on the loom.", ["the weaver's", "the buyer's"]),
        ("The weaver met the buyer, and the loom tired ___.", ["the weaver", "the buyer"]),
        ("The buyer was late for ___", ["the weaver", "the buyer"]),
    ]
)
BEFORE_THE_SLOT = ("tiny-gpt2", "tiny-llama", "tiny-opt", "tiny-bloom", "tiny-bert", "tiny-roberta", "tiny-albert")


def scored(loaded, name, instances=INSTANCES, criterion="label_loss", **more):
    architecture, model, tokenizer = loaded[name]
    return Scores((model, tokenizer, architecture), instances, criterion=criterion, **more)


def plain(model, instance, option, capital=True):
    """Return sum and number of each kind of label of an option in an instance's text, one text at a time."""
    architecture, _, tokenizer = model
    form = options.fill_slot(instance.text, option, capitals=capital)[len(instance.text.split("___")[0]) :][
        : len(option)
    ]
    row = SimpleNamespace(masked=instance.text, filled=form, text=instance.text.replace("___", form))
    labels, values = loops.token_values(model[1], tokenizer, architecture, row)
    # Labels that a beginning with the option has and one without has not.
    spanned = architecture == "encoder-decoder" and not tokenizer.mask_token
    before = "<extra_id_0> " if spanned else instance.text.split("___")[0]
    without, including = (len(tokenizer(part).input_ids) for part in (before.rstrip(), before + form))
    ended = architecture != "decoder" and labels[-1] == tokenizer.eos_token_id
    first, number = without - (architecture == "decoder") - ended, including - without
    texts = tokenizer.convert_ids_to_tokens(labels)
    sentinels = [value for value, text in zip(values, texts, strict=True) if text.startswith("<extra_")]
    return {
        "all": (sum(values), len(values)),
        "option": (sum(values[first : first + number]), number),
        "sentinel": (sum(sentinels), len(sentinels)),
        "end": (values[-1], 1) if ended else (0.0, 0),
    }


def looped(loaded, name, rows):
    """Yield rows of scores with the instance that each is of."""
    instances = {instance.instance_id: instance for instance in INSTANCES.itertuples()}
    for row in rows.itertuples():
        yield row, instances[row.instance_id], loaded[name]


@pytest.mark.parametrize("name", NAMES)
def test_sums_and_numbers_equal_the_loop(loaded, name):
    table = scored(loaded, name).table
    assert table.option.tolist() == [option for offered in INSTANCES.options for option in offered]
    for row, instance, model in looped(loaded, name, table):
        kinds = plain(model, instance, row.option)
        assert (row.log_probability, row.scored_tokens) == (pytest.approx(kinds["all"][0], abs=1e-4), kinds["all"][1])
        assert row.mean_log_probability == pytest.approx(kinds["all"][0] / kinds["all"][1], abs=1e-4)
        for kind in ("option", "sentinel", "end"):
            found = getattr(row, f"{kind}_log_probability"), getattr(row, f"{kind}_tokens")
            assert found == (pytest.approx(kinds[kind][0], abs=1e-4), kinds[kind][1]), (kind, instance.text, row.option)
    # Options must differ, or equality with the loop would show little.
    assert table.groupby("instance_id").mean_log_probability.nunique().min() >= 4


@pytest.mark.parametrize("name", ["tiny-bart", "tiny-t5"])
def test_options_without_a_capital_are_scored_where_a_sentence_starts(loaded, name):
    table = scored(loaded, name).table
    starts = table.instance_id.isin(INSTANCES.instance_id[INSTANCES.text.str.contains(". ___", regex=False)])
    assert 0 < starts.sum() < len(table)
    assert (table.uncapitalised_log_probability.notna() == starts).all()
    for row, instance, model in looped(loaded, name, table[starts]):
        kinds = plain(model, instance, row.option, capital=False)
        assert row.uncapitalised_log_probability == pytest.approx(kinds["all"][0], abs=1e-4)
        assert row.uncapitalised_option_log_probability == pytest.approx(kinds["option"][0], abs=1e-4)
        assert row.uncapitalised_scored_tokens == kinds["all"][1]
        assert row.uncapitalised_option_tokens == kinds["option"][1]
    assert (table.uncapitalised_log_probability[starts] != table.log_probability[starts]).all()


def test_an_option_that_begins_a_decoders_text_has_all_its_tokens(loaded):
    """Also the first, which nothing predicts."""
    table = scored(loaded, "tiny-gpt2", frame([("___ slept badly.", ["they", "emself"])])).table
    tokenizer = loaded["tiny-gpt2"][2]
    assert table.option_tokens.tolist() == [len(tokenizer(form)["input_ids"]) for form in ("They", "Emself")]


def test_decoders_are_scored_with_capitals_alone(loaded):
    table = scored(loaded, "tiny-llama").table
    assert table.filter(like="uncapitalised").isna().all(axis=None)
    assert len(table) == INSTANCES.options.map(len).sum()


def test_an_instance_is_encoded_once_whatever_its_labels_lengths(loaded, monkeypatch):
    made = scored(loaded, "tiny-t5", tokens=100_000)
    assert made.check["way"] == "padded" and len({len(text.ids) for text in made.texts}) > 1
    encoder, encoded = loaded["tiny-t5"][1].encoder, []
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda *a, **k: encoded.append(k["input_ids"]) or forward(*a, **k))
    made.values()
    assert sum(len(ids) for ids in encoded) == INSTANCES.text.nunique()


def test_a_decoder_that_sees_what_is_added_behind_labels_gets_labels_of_one_length(loaded, monkeypatch):
    decoder = loaded["tiny-bart"][1].model.decoder
    forward = decoder.forward

    def mixing(*arguments, **keywords):
        output = forward(*arguments, **keywords)
        output["last_hidden_state"] = output.last_hidden_state + keywords["input_ids"].shape[1] / 100
        return output

    monkeypatch.setattr(decoder, "forward", mixing)
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
    for row in made.table.iloc[::5].itertuples():
        instance = SimpleNamespace(text=long.set_index("instance_id").text[row.instance_id])
        assert row.log_probability == pytest.approx(plain(loaded[name], instance, row.option)["all"][0], abs=1e-4)


@pytest.mark.parametrize(
    ("architecture", "criterion", "named"),
    [("encoder", "label_loss", "no loss on labels"), ("encoder-decoder", "continuation", "what follows the slot")],
)
def test_what_a_model_has_no_score_of_is_refused(architecture, criterion, named):
    with refused(named, "leave the model out"):
        fill_options(INSTANCES, architecture, criterion)


@pytest.mark.parametrize("name", BEFORE_THE_SLOT)
@pytest.mark.parametrize("engine", ["packed", "minicons"])
def test_what_follows_the_slot_is_scored_as_in_a_plain_loop(loaded, name, engine):
    architecture, model, tokenizer = loaded[name]
    made = scored(loaded, name, CONTINUED, "continuation", engine=engine)
    for found, row in zip(made.table.itertuples(), made.rows.itertuples(), strict=True):
        encoded = tokenizer(row.text, return_offsets_mapping=True)
        end = row.masked.index(options.SLOT) + len(row.filled)
        # A tokenizer may count the space before a word as part of its token.
        starts = [start + (stop > start and row.text[start] == " ") for start, stop in encoded["offset_mapping"]]
        # Nothing predicts a decoder's first token.
        words = [place for place, word in enumerate(encoded.word_ids(0)) if word is not None]
        places = range(1, len(starts)) if architecture == "decoder" else words
        _, values = loops.token_values(model, tokenizer, architecture, row, by_token=True)
        behind = [value for value, place in zip(values, places, strict=True) if starts[place] >= end]
        assert found.continuation_tokens == len(behind)
        assert found.continuation_log_probability == pytest.approx(sum(behind), abs=1e-4)
    # Nothing follows in the last text; elsewhere the rest of the text is scored as well.
    table = made.table
    assert (table.continuation_tokens[-2:] == 0).all() and (table.continuation_log_probability[-2:] == 0).all()
    assert (table.continuation_tokens[:-2] < table.scored_tokens[:-2]).all()
