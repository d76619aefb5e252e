"""The scores of the default models equal a plain loop over tokens and minicons called by hand, one text at a time.

PRONOUN_CHECKED_INSTANCES says how many random instances are checked (a few by default, for the time it takes).
"""

import os

import pytest
import torch

from scripts.core import config, files
from scripts.core.data import options
from scripts.demo_encoder import merge_demo_encoder
from tests import zoo
from tests.core.scoring.memory import Scores
from tests.core.scoring.test_scores import by_hand

pytestmark = pytest.mark.workflow

CHECKED = int(os.environ.get("PRONOUN_CHECKED_INSTANCES", "4"))
NAMES = ("smollm2-135m-instruct", "minilm-l6-mlm")


def loop(model, tokenizer, architecture, text):
    """Sum the log-probabilities of the tokens of one text in float32, one token after the other."""
    encoding = tokenizer(text)
    ids = torch.tensor([encoding["input_ids"]])
    total = 0.0
    with torch.no_grad():
        if architecture == "decoder":
            logits = model(ids).logits[0]
            for position in range(1, ids.shape[1]):
                row = logits[position - 1].float()
                total += (row[ids[0, position]] - row.logsumexp(0)).item()
            return total
        words = encoding.word_ids()
        for position, word in enumerate(words):
            if word is None:
                continue
            masked = ids.clone()
            masked[0, [p for p, w in enumerate(words) if w == word and p >= position]] = tokenizer.mask_token_id
            row = model(masked).logits[0, position].float()
            total += (row[ids[0, position]] - row.logsumexp(0)).item()
    return total


@pytest.fixture(scope="module")
def drawn(finished):
    instances = files.read_parquet(finished.folder / "results/ruff/instances/replica/selected.parquet")
    return instances.drop_duplicates("instance_id").sample(CHECKED, random_state=20240601)


@pytest.mark.parametrize("name", NAMES)
def test_default_models_agree_with_the_loop_and_minicons(drawn, root, tmp_path, name):
    entry = config.load_yaml(root / "config/models.yaml")["models"][name]
    weights = None
    if "delta" in entry["source"]:
        weights = tmp_path / name
        source = entry["source"]
        merge_demo_encoder.main(
            delta=str(root / source["delta"]), weights=str(weights), package=source["package"],
            version=source["version"], folder=source["folder"],
        )  # fmt: skip
    model, tokenizer = zoo.load(name, entry, device="cpu", weights=weights)
    scores = Scores((model, tokenizer, entry["architecture"]), drawn).table.log_probability
    texts = options.option_texts(drawn).text
    to_loop = max(abs(s - loop(model, tokenizer, entry["architecture"], t)) for s, t in zip(scores, texts, strict=True))
    to_hand = max(
        abs(s - by_hand(model, tokenizer, entry["architecture"], t)) for s, t in zip(scores, texts, strict=True)
    )
    print(f"\n{name}, {CHECKED} instances, {len(texts)} texts: largest difference to the loop {to_loop:.2e} nats, "
          f"to minicons by hand {to_hand:.2e} nats")  # fmt: skip
    assert to_loop < 1e-3
    assert to_hand < 1e-3
