"""The likelihood of what follows the slot equals a plain loop over the model, for decoders and encoders of the zoo."""

import numpy as np
import pandas as pd
import pytest
import torch

from scripts.core import config
from scripts.core.data import options
from scripts.core.engines import continuation, scoring
from scripts.core.engines.batches import TextReader
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.scoring import score
from tests import zoo as builder

DECODERS = ("tiny-gpt2", "tiny-llama", "tiny-opt", "tiny-bloom")
ENCODERS = ("tiny-bert", "tiny-roberta", "tiny-albert")
INSTANCES = pd.DataFrame(
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


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), (*DECODERS, *ENCODERS, "tiny-bart"))
    entries = config.load_yaml(registry)["models"]
    return {
        name: (entry["architecture"], *loading.load(name, entry, loading.locate(name, entry), builder.DEVICE))
        for name, entry in entries.items()
    }


def scored(loaded, name, kind="packed"):
    """Return the table of a job on :data:`INSTANCES`."""
    architecture, model, tokenizer = loaded[name]
    engine = scoring.make_engine(kind, model, tokenizer, architecture, builder.DEVICE, "auto", INSTANCES)
    way = score.Continuation(architecture)
    rows = way.rows(INSTANCES)
    values = [None] * len(rows)
    for batch in engine.plan(rows):
        for row, found in zip(batch.rows, engine.score(batch), strict=True):
            values[row] = found
    return way.table(rows, values, engine)


def in_a_loop(architecture, model, tokenizer, text, end):
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


@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS])
@pytest.mark.parametrize("kind", ["packed", "minicons"])
def test_what_follows_the_slot_is_scored_as_in_a_plain_loop(loaded, name, kind):
    table = scored(loaded, name, kind)
    with torch.no_grad():
        for row, text in zip(table.itertuples(), options.option_texts(INSTANCES).itertuples(), strict=True):
            end = text.masked.index(options.SLOT) + len(text.filled)
            expected, count = in_a_loop(*loaded[name], text.text, end)
            assert row.continuation_tokens == count
            assert row.continuation_log_probability == pytest.approx(expected, abs=1e-4)
    # Nothing follows in the last text; elsewhere the rest of the text is scored as well.
    assert (table.continuation_tokens[-2:] == 0).all() and (table.continuation_log_probability[-2:] == 0).all()
    assert (table.continuation_tokens[:-2] < table.scored_tokens[:-2]).all()


def test_a_decoder_without_the_slot_is_the_difference_of_two_texts(loaded):
    table = scored(loaded, "tiny-llama")
    architecture, model, tokenizer = loaded["tiny-llama"]
    engine = scoring.make_engine("packed", model, tokenizer, architecture, builder.DEVICE, "auto", INSTANCES)
    cut = INSTANCES.assign(text=INSTANCES.text.str.replace("___.*", "___", regex=True))
    before = scoring.score_instances(engine, cut)
    # Where one token holds the end of the option and the full stop, nothing is left of what follows.
    ends = table.instance_id.map(INSTANCES.set_index("instance_id").text).str.endswith("___")
    apart = ends | table.continuation_tokens.gt(0)
    assert apart.sum() >= len(table) - 2
    difference = (table.log_probability - before.log_probability)[apart]
    np.testing.assert_allclose(difference, table.continuation_log_probability[apart], atol=1e-4)


def test_an_encoder_decoder_is_refused(loaded):
    architecture, _, tokenizer = loaded["tiny-bart"]
    with pytest.raises(UserError, match="an encoder-decoder does not score what follows the slot"):
        continuation.continuation_table(options.option_texts(INSTANCES), [], TextReader(tokenizer, architecture))
