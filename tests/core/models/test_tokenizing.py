"""A tokenizer does what its file says, every time, whatever transformers makes of it."""

import json
import shutil
from pathlib import Path

import pytest
import tokenizers
import transformers

from scripts.core import config
from scripts.core.models import loading
from scripts.core.models.entries import read_job_entry
from scripts.core.models.tokenizing import STORED_TEXTS, load_tokenizer
from tests import zoo as builder
from tests.refusals import refused

FAST = "PreTrainedTokenizerFast"
CLASSES = {
    "AlbertTokenizer": {"ALBERT-v2": "tiny-albert"},
    "BartTokenizer": {"BART": "tiny-bart"},
    "BertTokenizer": {"BERT": "tiny-bert", "MosaicBERT": "tiny-bert"},
    "BloomTokenizerFast": {"BLOOM": "tiny-bloom"},
    "GPT2Tokenizer": {
        "GPT-2": "tiny-gpt2", "GPT-J": "tiny-gpt-j", "OLMo-2": "tiny-olmo2", "OLMo-3": "tiny-olmo3", "OPT": "tiny-opt",
        "Phi-4": "tiny-phi-4",
    },
    "GPTNeoXTokenizer": {"Mamba": "tiny-mamba", "Mamba-2": "tiny-gpt-neox", "Pythia": "tiny-gpt-neox"},
    "GemmaTokenizer": {"Gemma-3": "tiny-gemma-3"},
    "LlamaTokenizer": {
        "LLaMA": "tiny-llama", "Llama-2": "tiny-llama", "Llama-2-chat": "tiny-llama", "Mistral": "tiny-mistral",
    },
    "Qwen2Tokenizer": {"Qwen3": "tiny-qwen3"},
    "RobertaTokenizer": {"RoBERTa": "tiny-roberta"},
    "T5Tokenizer": {"FLAN-T5": "tiny-flan-t5", "T5": "tiny-t5", "UL2": "tiny-ul2"},
    FAST: {
        "Falcon-Mamba": "tiny-falcon-mamba", "Llama-3": "tiny-llama-3", "ModernBERT": "tiny-modernbert",
        "SmolLM3": "tiny-smollm3",
    },
}  # fmt: skip
"""The class that checkpoints of each family of the registry name, and a small tokenizer of its kind."""
FAMILIES = {family: (name, kind) for kind, families in CLASSES.items() for family, name in families.items()}
OTHERWISE = {
    "AlbertTokenizer", "GPTNeoXTokenizer", "GemmaTokenizer", "LlamaTokenizer", "Qwen2Tokenizer", "T5Tokenizer",
}  # fmt: skip
"""Classes that normalise or split, and so cut, the small tokenizers' texts otherwise than their files say. Files of
Mistral are read by no class."""


@pytest.fixture
def checkpoint(entries, tmp_path):
    """Return a function that copies a checkpoint and changes what its tokenizer's configuration says."""

    def copy(name, **values):
        folder = tmp_path / name
        shutil.copytree(entries[name]["source"]["path"], folder)
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")
        return entries[name] | {"source": {"path": str(folder)}}, folder

    return copy


def stored_ids(folder, text):
    stored = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    stored.no_truncation()
    stored.no_padding()
    return stored.encode(text).ids


TEXTS = (*STORED_TEXTS, "ze/hir, xem & fae's: “Is THAT é or e\u0301?”  -- no\tway!", "\u00a0…of   3.14 naïve ñandúes")


@pytest.mark.parametrize("family", FAMILIES)
def test_tokenizers_of_the_registry_are_as_stored(checkpoint, family):
    """Where a release of transformers makes a class cut otherwise, or as stored again, this says so."""
    name, kind = FAMILIES[family]
    entry, folder = checkpoint(name, tokenizer_class=kind)
    plain = transformers.AutoTokenizer.from_pretrained(folder)
    alike = all(plain(text)["input_ids"] == stored_ids(folder, text) for text in TEXTS)
    assert alike == (kind not in OTHERWISE or family == "Mistral")
    tokenizer = load_tokenizer("m", read_job_entry(entry), folder)
    assert [tokenizer(text)["input_ids"] for text in TEXTS] == [stored_ids(folder, text) for text in TEXTS]


def test_every_family_of_the_registry_is_compared():
    registry = config.load_yaml(Path("config/models.yaml"))["models"]
    assert {entry["family"] for entry in registry.values() if "hub" in entry.get("source", {})} == set(FAMILIES)


def test_the_packaged_tokenizer_is_as_stored():
    source = config.load_yaml(Path("config/models.yaml"))["models"]["minilm-l6-mlm"]["source"]
    folder = loading.package_file("m", source, source["folder"])
    tokenizer = load_tokenizer("m", read_job_entry({}), folder)
    assert type(tokenizer).__name__.startswith("Bert")
    assert [tokenizer(text)["input_ids"] for text in TEXTS] == [stored_ids(folder, text) for text in TEXTS]


def test_a_file_is_followed_where_its_class_does_otherwise(checkpoint, caplog):
    """BERT's class lower-cases a cased file, GPT-NeoX's loses a token at the beginning."""
    entry, folder = checkpoint("tiny-bert", tokenizer_class="BertTokenizer", do_lower_case=True)
    stored = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    stored.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=False)
    stored.save(str(folder / "tokenizer.json"))
    tokenizer = load_tokenizer("m", read_job_entry(entry), folder)
    assert tokenizer("THE clerk")["input_ids"] == stored.encode("THE clerk").ids
    assert tokenizer.mask_token == "[MASK]"
    assert "tokenizer.json is followed" in caplog.text
    entry, folder = checkpoint("tiny-gpt-neox", tokenizer_class="GPTNeoXTokenizer")
    stored = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    first = stored.id_to_token(0)
    stored.post_processor = tokenizers.processors.TemplateProcessing(single=f"{first} $A", special_tokens=[(first, 0)])
    stored.save(str(folder / "tokenizer.json"))
    tokenizer = load_tokenizer("m", read_job_entry(entry), folder)
    assert tokenizer("clerk")["input_ids"] == stored.encode("clerk").ids


def test_a_tokenizer_that_draws_its_cuts_is_refused(checkpoint):
    # A class of its own would be built from vocabulary and merges alone.
    entry, folder = checkpoint("tiny-gpt-neox", tokenizer_class=FAST)
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["dropout"] = 0.1
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with refused("model drawn", "other tokens each time", "dropout", "null"):
        builder.load("drawn", entry, device="cpu")


def test_texts_begin_with_the_token_that_an_entry_names(entries):
    entry = entries["tiny-gpt-neox"]
    folder = Path(entry["source"]["path"])
    plain = load_tokenizer("m", read_job_entry(entry), folder)
    token = plain.convert_ids_to_tokens(7)
    begun = load_tokenizer("m", read_job_entry(entry | {"bos_token": token}), folder)
    assert begun("The baker")["input_ids"] == [7, *plain("The baker")["input_ids"]]
    assert begun("The baker", add_special_tokens=False)["input_ids"] == plain("The baker")["input_ids"]
    with refused("model m", "bos_token 'no such token'", "vocabulary"):
        load_tokenizer("m", read_job_entry(entry | {"bos_token": "no such token"}), folder)


def test_a_package_that_a_tokenizer_needs_is_named(entries, tmp_path, monkeypatch):
    def lacks(*_, **__):
        raise ImportError("X requires sentencepiece: `pip install sentencepiece`")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lacks)
    with refused("model m", tmp_path, "no tokenizer can be loaded", "install sentencepiece"):
        load_tokenizer("m", read_job_entry(entries["tiny-bert"]), tmp_path)
