"""Scores agree with a plain loop over tokens and with minicons called by hand, on every architecture of the zoo."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.core import config, models, options, scoring
from scripts.core.errors import UserError
from tests import zoo as builder

FORMS = ["he", "she", "they", "xe"]
TEXTS = [
    "The baker was glad because ___ had slept well.",
    "The client found an umbrella.  The baker said that ___ would need it.",
    "___ left early because the bus was late and the rain had not stopped for hours, so the shoes were wet.",
    "The clerk asked ___ to wait.",
    "The Zürich clerk (☃) said ___ had left.",
]


@pytest.fixture(scope="module")
def loaded(zoo):
    entries = config.load_yaml(zoo)["models"]
    return {
        name: (entry, *models.load(name, entry, models.locate(name, entry), "cpu")) for name, entry in entries.items()
    }


@pytest.fixture(scope="module")
def instances():
    return pd.DataFrame(
        {"instance_id": [f"{i:016x}" for i in range(len(TEXTS))], "text": TEXTS, "options": [FORMS] * len(TEXTS)}
    )


def plain_loop(model, tokenizer, architecture, text):
    """Score one text token by token, one forward pass each: shares no code with the engine."""
    encoding = tokenizer(text)
    ids = encoding["input_ids"]
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    total, scored = 0.0, 0
    for position, token in enumerate(ids):
        if architecture == "decoder":
            if position == 0:
                continue
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids[:position]])).logits[0, -1]
        else:
            if token in special:
                continue
            word = encoding.word_ids()[position]
            masked = [
                tokenizer.mask_token_id if p == position or (p > position and encoding.word_ids()[p] == word) else t
                for p, t in enumerate(ids)
            ]
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([masked])).logits[0, position]
        total += (logits[token].double() - logits.double().logsumexp(0)).item()
        scored += 1
    return total, scored


def by_hand(model, tokenizer, architecture, text):
    from minicons import scorer

    if architecture == "encoder":
        by_one = scorer.MaskedLMScorer(model, "cpu", tokenizer=tokenizer)
        return by_one.sequence_score([text], reduction=lambda x: x.sum().item(), PLL_metric="within_word_l2r")[0]
    by_one = scorer.IncrementalLMScorer(model, "cpu", tokenizer=tokenizer)
    return by_one.sequence_score([text], reduction=lambda x: x.sum().item())[0]


@pytest.mark.parametrize("name", builder.NAMES)
def test_scores_equal_the_loop_and_minicons(loaded, instances, name):
    entry, model, tokenizer = loaded[name]
    engine = scoring.MiniconsEngine(model, tokenizer, entry["architecture"], "cpu", 300)
    result = scoring.score_instances(engine, instances)
    texts = options.option_texts(instances).text
    assert len(result) == len(TEXTS) * len(FORMS)
    for text, row in zip(texts, result.itertuples(), strict=True):
        expected, scored = plain_loop(model, tokenizer, entry["architecture"], text)
        assert row.scored_tokens == scored
        assert row.log_probability == pytest.approx(expected, abs=1e-3)
        assert row.log_probability == pytest.approx(by_hand(model, tokenizer, entry["architecture"], text), abs=1e-3)
    # Options must differ, or equality with the loop would show little.
    assert result.groupby("instance_id").log_probability.nunique().min() >= len(FORMS) - 1


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-llama"])
def test_scores_do_not_depend_on_batches(loaded, instances, name):
    entry, model, tokenizer = loaded[name]
    scores = [
        scoring.score_instances(
            scoring.MiniconsEngine(model, tokenizer, entry["architecture"], "cpu", budget), instances
        ).log_probability.to_numpy()
        for budget in (1, 64, 100_000)
    ]
    assert np.abs(scores[0] - scores[1]).max() < 1e-3
    assert np.abs(scores[0] - scores[2]).max() < 1e-3


def test_half_precision_weights_still_get_a_float32_softmax(loaded, instances):
    _, model, tokenizer = loaded["tiny-opt"]
    engine = scoring.MiniconsEngine(model.bfloat16(), tokenizer, "decoder", "cpu", 1000)
    try:
        scores = scoring.score_instances(engine, instances).log_probability
    finally:
        model.float()
    # bfloat16 sums of about -200 would be multiples of one.
    assert (np.abs(scores * 4 - (scores * 4).round()) > 1e-3).any()


def test_too_long_a_text_is_refused(loaded):
    _, model, tokenizer = loaded["tiny-bert"]
    engine = scoring.MiniconsEngine(model, tokenizer, "encoder", "cpu", 1000)
    with pytest.raises(UserError, match="never truncated"):
        engine.score(["short text", "word " * 300])


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 200))
def test_batches_hold_every_text_once_within_the_budget(lengths, budget):
    costs = [1 + n % 3 for n in lengths]
    found = list(scoring.batches(costs, lengths, budget))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) == 1 or sum(costs[i] for i in batch) * lengths[batch[0]] <= budget
