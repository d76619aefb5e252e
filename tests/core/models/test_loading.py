"""Checkpoints that people have: what is loaded is all of the checkpoint and nothing else, or a refusal."""

import json
import re
import shutil

import pytest
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file

from scripts.core import config
from scripts.core.engines.batches import TextReader
from scripts.core.errors import UserError
from scripts.core.models import loading, tokenizing
from tests import zoo as builder

TEXT = "The clerk saw the baker."


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-llama", "tiny-bert", "tiny-gpt-neox"))
    return config.load_yaml(registry)["models"]


@pytest.fixture
def checkpoint(entries, tmp_path):
    """Return a function that copies a checkpoint: its registry entry and its folder."""

    def copy(name):
        folder = tmp_path / name
        shutil.copytree(entries[name]["source"]["path"], folder)
        return entries[name] | {"source": {"path": str(folder)}}, folder

    return copy


def load(entry):
    return loading.load("m", entry, loading.locate("m", entry), "cpu")


def logits(model, tokenizer):
    with torch.no_grad():
        return model(torch.tensor([tokenizer(TEXT)["input_ids"]])).logits


def change(path, **values):
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | values), encoding="utf-8")


def test_weights_that_the_configuration_does_not_know_are_refused(checkpoint):
    entry, folder = checkpoint("tiny-llama")
    change(folder / "config.json", num_hidden_layers=1)
    with pytest.raises(UserError, match=r"the checkpoint holds model\.layers\.1\.\S+ and \d+ others.*config\.json"):
        load(entry)
    entry, folder = checkpoint("tiny-bert")
    weights = load_file(folder / "model.safetensors")
    # A pooler, the head of next sentences and buffers may be left over; a bias may not.
    extra = {"bert.pooler.dense.weight": 1, "cls.seq_relationship.bias": 1, "bert.embeddings.position_ids": 1}
    save_file(weights | {key: torch.zeros(1) for key in extra}, folder / "model.safetensors", {"format": "pt"})
    load(entry)
    biases = {f"bert.encoder.layer.{layer}.attention.self.query.more": torch.zeros(1) for layer in range(2)}
    save_file(weights | biases, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"holds bert\.encoder\.layer\.0\.attention\.self\.query\.more and 1 other, "):
        load(entry)


def test_biases_of_a_llama_are_refused(checkpoint):
    entry, folder = checkpoint("tiny-llama")
    weights = load_file(folder / "model.safetensors")
    bias = {f"model.layers.{layer}.self_attn.q_proj.bias": torch.ones(1) for layer in range(2)}
    save_file(weights | bias, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"holds model\.layers\.0\.self_attn\.q_proj\.bias and 1 other"):
        load(entry)


@pytest.fixture
def adapted(entries, tmp_path):
    """Return a base model's entry, the folder of an adapter for it, and what model and adapter give together."""
    import peft

    entry = entries["tiny-llama"]
    model, tokenizer = load(entry)
    torch.manual_seed(0)
    lora = peft.get_peft_model(model, peft.LoraConfig(target_modules=["q_proj", "down_proj"], init_lora_weights=False))
    lora.save_pretrained(tmp_path / "adapter")
    return entry, tmp_path / "adapter", logits(lora.eval(), tokenizer)


def test_an_adapter_is_merged(adapted, tmp_path):
    base, adapter, expected = adapted
    together = base | {"adapter": {"path": str(adapter)}}
    plain, merged = load(base), load(together)
    assert (logits(*plain) - expected).abs().max() > 0.01
    assert torch.allclose(logits(*merged), expected, atol=1e-5)
    digest = loading.weights_digest(loading.locate("m", together))
    assert digest != loading.weights_digest(loading.locate("m", base))
    # Beside the base model's weights it is found.
    shutil.copytree(base["source"]["path"], tmp_path / "both")
    shutil.copytree(adapter, tmp_path / "both", dirs_exist_ok=True)
    both = base | {"source": {"path": str(tmp_path / "both")}}
    assert torch.allclose(logits(*load(both)), expected, atol=1e-5)
    tensors = load_file(adapter / "adapter_model.safetensors")
    save_file({key: 2 * value for key, value in tensors.items()}, adapter / "adapter_model.safetensors")
    assert loading.weights_digest(loading.locate("m", together)) != digest


def test_an_adapter_that_cannot_be_merged_is_refused(adapted, tmp_path, entries):
    base, adapter, _ = adapted
    with pytest.raises(UserError, match=r"an adapter without its base model; name the base model as source") as raised:
        loading.locate("m", base | {"source": {"path": str(adapter)}})
    assert "\n" not in str(raised.value)
    with pytest.raises(UserError, match=r"holds no adapter_config\.json with weights; correct adapter.path"):
        loading.locate("m", base | {"adapter": {"path": str(tmp_path)}})
    with pytest.raises(UserError, match="does not fit its base model"):
        load(entries["tiny-gpt-neox"] | {"adapter": {"path": str(adapter)}})
    tensors = load_file(adapter / "adapter_model.safetensors")
    tensors.pop(min(tensors))
    save_file(tensors, adapter / "adapter_model.safetensors")
    with pytest.raises(UserError, match="does not fit its base model"):
        load(base | {"adapter": {"path": str(adapter)}})


def test_a_tokenizer_is_what_its_file_says(checkpoint, caplog):
    """BERT's class lower-cases a cased file, GPT-NeoX's loses a token at the beginning."""
    entry, folder = checkpoint("tiny-bert")
    stored = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    stored.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=False)
    stored.save(str(folder / "tokenizer.json"))
    change(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=True)
    tokenizer = tokenizing.load_tokenizer("m", entry, loading.locate("m", entry).folder)
    assert tokenizer("THE clerk")["input_ids"] == stored.encode("THE clerk").ids
    assert tokenizer.mask_token == "[MASK]"
    assert "tokenizer.json is followed" in caplog.text
    entry, folder = checkpoint("tiny-gpt-neox")
    stored = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    first = stored.id_to_token(0)
    stored.post_processor = tokenizers.processors.TemplateProcessing(single=f"{first} $A", special_tokens=[(first, 0)])
    stored.save(str(folder / "tokenizer.json"))
    change(folder / "tokenizer_config.json", tokenizer_class="GPTNeoXTokenizer")
    tokenizer = tokenizing.load_tokenizer("m", entry, loading.locate("m", entry).folder)
    assert tokenizer("clerk")["input_ids"] == stored.encode("clerk").ids


def test_a_token_without_an_embedding_is_refused(checkpoint):
    entry, folder = checkpoint("tiny-llama")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size = len(tokenizer)
    tokenizer.add_tokens(["<more>"])
    tokenizer.save_pretrained(folder)
    with pytest.raises(UserError, match=rf"has the token '<more>' \({size}\), and the model has {size} embeddings"):
        load(entry)


def test_what_keeps_a_checkpoint_from_loading_is_said(checkpoint):
    entry, folder = checkpoint("tiny-llama")
    change(folder / "config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    with pytest.raises(UserError, match=r"cannot be loaded.*; install bitsandbytes$"):
        load(entry)
    entry, folder = checkpoint("tiny-bert")
    weights = load_file(folder / "model.safetensors")
    save_file({key: torch.empty(0) for key in weights}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"m: bert\.\S+ is empty in the checkpoint, as training with ZeRO-3 leaves it"):
        load(entry)
    save_file(weights | {"cls.predictions.bias": torch.zeros(7)}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"cls\.predictions\.bias has the shape \(7,\) in the checkpoint and \(\d+,\)"):
        load(entry)


def _sentencepiece(splits: bool):
    """Return a tokenizer whose tokens begin with the space before them, with or without a split at spaces."""
    words = ["▁The", "▁cl", "erk", "▁saw", "▁them", ".", "▁"]
    vocabulary = [("<unk>", 0.0), ("<mask>", 0.0), *((word, -1.0) for word in words)]
    vocabulary += [(letter, -9.0) for letter in "Thclerksawm"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, 0))
    if splits:
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    else:
        # Gemma's kind: nothing is left to split at.
        steps = tokenizers.normalizers
        tokenizer.normalizer = steps.Sequence([steps.Prepend("▁"), steps.Replace(" ", "▁")])
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(" ", "merged_with_previous")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="<mask>", unk_token="<unk>")


@pytest.mark.parametrize("splits", [True, False])
def test_words_end_at_spaces_where_a_tokenizer_makes_none(splits):
    tokenizer = _sentencepiece(splits)
    reader = TextReader(tokenizer, "encoder")
    (ids,), (words,) = reader.read_words(["The clerk saw them."])
    assert tokenizer.convert_ids_to_tokens(ids) == ["▁The", "▁cl", "erk", "▁saw", "▁them", "."]
    first = words[0]
    assert [word - first for word in words] == [0, 1, 1, 2, 3, 3]
    masked = [list(copy == tokenizer.mask_token_id).count(True) for copy, _, _ in reader.masked_copies(ids, words)]
    assert masked == [1, 2, 1, 1, 2, 1]


def test_words_of_berts_tokenizer_are_its_own(entries):
    entry = entries["tiny-bert"]
    tokenizer = tokenizing.load_tokenizer("m", entry, loading.locate("m", entry).folder)
    (_,), (words,) = TextReader(tokenizer, "encoder").read_words([TEXT])
    assert words == tokenizer(TEXT).word_ids()
    assert re.search(r"baker\.", TEXT) and words[-2] != words[-3]
