"""From a checkpoint to its registry entry without weights. What the Hub gives: tests/core/models/test_hub.py."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from scripts.core.models import checkpoints, contexts, descriptions, registry
from scripts.core.models.entries import Folder, Hub, read_source
from tests import zoo
from tests.refusals import refused

SCHEMA = Path("config/schemas/models.schema.yaml")
SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 9}
LLAMA = SIZES | {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 2048,
    "torch_dtype": "bfloat16",
}  # fmt: skip
BERT = SIZES | {"architectures": ["BertForMaskedLM"], "model_type": "bert", "max_position_embeddings": 512}
T5 = {
    "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "is_encoder_decoder": True, "d_model": 32,
    "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 100,
}  # fmt: skip
OWN_CODE = LLAMA | {"auto_map": {"AutoModelForCausalLM": "m.M"}}


def described(folder, configuration, members=None, **facts):
    licensed = "---\nlicense: other\nlicense_name: mine\n---\n# A model\n"
    for name, text in ({"config.json": json.dumps(configuration), "README.md": licensed} | (members or {})).items():
        (folder / name).write_text(text, encoding="utf-8")
    return descriptions.describe_folder(folder, **facts)


@pytest.fixture
def valid(tmp_path):
    """Return a function that reads an entry as a registry has it, and so checks it."""

    def read(entry):
        path = tmp_path / "models.yaml"
        path.write_text(yaml.safe_dump({"models": {"mine": entry}}), encoding="utf-8")
        return registry.read_registry(path, SCHEMA).models["mine"]

    return read


def smallest(source):
    """Return an entry with label, licence and source alone."""
    return {"label": "Mine", "licence": "MIT", "source": source}


def test_a_large_chat_model(tmp_path, valid):
    members = {"tokenizer_config.json": json.dumps({"chat_template": "{{ messages }}"})}
    large = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 48, "vocab_size": 32000}
    source = {"hub": "lab/Model-7B", "revision": "a" * 40}
    found = described(tmp_path, LLAMA | large, members, source=source, gated=True)
    entry = valid(descriptions.make_entry(found))
    assert (entry.source, entry.label, entry.architecture) == (read_source(source), "Model-7B", "decoder")
    assert 6e9 < entry.parameters < 12e9
    assert (entry.precision, entry.gpus, entry.context) == ("bfloat16", 1, 2048)
    assert (entry.licence, entry.gated, entry.prompt_wrapping) == ("mine", True, "chat_template")
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        (BERT, {"architecture": "encoder", "context": 512, "precision": "float32", "gpus": 0, "prompt_wrapping": None}),
        (T5, {"architecture": "encoder-decoder", "context": None, "labels": "span", "prompt_wrapping": "none"}),
    ],
)
def test_small_models(tmp_path, valid, configuration, expected):
    entry = valid(descriptions.make_entry(described(tmp_path, configuration)))
    assert {key: getattr(entry, key) for key in expected} == expected
    assert (entry.label, entry.licence) == (tmp_path.name, "mine")


@pytest.mark.parametrize(
    "name",
    ["tiny-bert", "tiny-opt", "tiny-gpt2", "tiny-llama", "tiny-bart", "tiny-t5", "tiny-bloom", "tiny-mamba"],
)
def test_label_source_and_licence_are_enough(entries, tmp_path, valid, name):
    """What is read of the configuration is what the loaded model says."""
    entry = entries[name]
    made = descriptions.complete_model(valid(smallest(entry["source"])), tmp_path)
    network, _ = zoo.load(name, entry, device="cpu")
    expected = {
        "architecture": entry["architecture"], "parameters": network.num_parameters(), "precision": "float32",
        "gpus": 0, "label": "Mine", "gated": False, "studies": {}, "context": contexts.context_length(network),
    }  # fmt: skip
    assert {key: getattr(made, key) for key in expected} == expected
    counted = checkpoints.count_parameters(Path(entry["source"]["path"]))
    assert not checkpoints.sizes_differ(counted, entry["parameters"])
    assert not list(tmp_path.glob("*.json")), "planning leaves nothing behind"


def test_a_folder_that_is_away_is_what_jobs_last_ran(entries, tmp_path, valid):
    folder = tmp_path / "mine"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], folder)
    model = valid(smallest({"path": str(folder)}))
    made = descriptions.complete_model(model, tmp_path)
    descriptions.keep_description(made, tmp_path)
    shutil.rmtree(folder)
    shutil.copytree(entries["tiny-llama"]["source"]["path"], folder)
    assert descriptions.complete_model(model, tmp_path).architecture == "decoder"
    shutil.rmtree(folder)
    assert descriptions.complete_model(model, tmp_path) == made
    with refused("models.mine.source.path", "holds no config.json", "name the folder"):
        descriptions.complete_model(replace(model, source=Folder(f"{folder}2")), tmp_path)


def test_the_hub_is_asked_once(entries, tmp_path, monkeypatch, valid):
    asked = []

    def describe(hub, revision):
        asked.append((hub, revision))
        if hub == "lab/away":
            raise descriptions.UserError("the hub cannot be reached; try again with a network")
        return descriptions.describe_folder(entries["tiny-llama"]["source"]["path"]) | {"gated": True}

    monkeypatch.setattr(descriptions, "describe_repository", describe)
    model = valid(smallest({"hub": "lab/mine", "revision": None}))
    made = descriptions.complete_model(model, tmp_path)
    assert (made.architecture, made.gated, asked) == ("decoder", True, [("lab/mine", None)])
    assert descriptions.complete_model(model, tmp_path) == made and len(asked) == 1
    away = replace(model, name="other", source=Hub("lab/away"))
    with refused("models.other lacks family", "the hub cannot be reached", "add these keys"):
        descriptions.complete_model(away, tmp_path)
    stated = replace(away, **{key: getattr(made, key) for key in away.lacking})
    assert descriptions.complete_model(stated, tmp_path) == stated


@pytest.mark.parametrize(
    ("stated", "named"),
    [({"parameters": 36032}, ["parameters is 36032", "134515008", "write that number"]),
     ({"architecture": "encoder"}, ["architecture is encoder", "of the kind llama", "write architecture: decoder"])],
    ids=["parameters", "architecture"],
)  # fmt: skip
def test_what_a_gguf_file_contradicts_is_refused(stated, named):
    packaged = registry.read_registry("config/models.yaml", SCHEMA).models["smollm2-135m-instruct"]
    assert descriptions.complete_model(packaged) == packaged
    with refused("models.smollm2-135m-instruct", "SmolLM2-135M-Instruct.Q4_1.gguf", *named):
        descriptions.complete_model(replace(packaged, **stated))
    # Whether a package is there is found out by the job that loads it.
    away = replace(packaged, source=replace(packaged.source, version="9"), **stated)
    assert descriptions.complete_model(away) == away


UNFIT = {
    "no known facts": (
        LLAMA | {"num_attention_heads": 0}, {"README.md": "---\nlicense: [\n---\n# Not YAML\n"},
        ["in the model's entry: parameters=... licence=..."],
    ),
    "no words": (
        BERT | {"architectures": ["BertForSequenceClassification"]}, {}, ["is a BertForSequenceClass", "no study"],
    ),
    "no class": (BERT | {"architectures": None}, {}, ["names no class", "no study"]),
    "own code": (OWN_CODE, {}, ["custom code", "remote_code=true"]),
}  # fmt: skip


@pytest.mark.parametrize(("configuration", "members", "named"), UNFIT.values(), ids=UNFIT)
def test_a_model_that_fits_nothing_is_told_why(tmp_path, configuration, members, named):
    with refused(tmp_path, *named):
        descriptions.make_entry(described(tmp_path, configuration, members))


@pytest.mark.parametrize("given", [{}, {"remote_code": True}, {"remote_code": False}], ids=str)
def test_what_is_stated_outranks_the_checkpoint(tmp_path, valid, given):
    given |= {"parameters": 1000, "licence": "MIT"}
    entry = valid(descriptions.make_entry(described(tmp_path, OWN_CODE if "remote_code" in given else LLAMA), given))
    assert {key: getattr(entry, key) for key in given} == given


def test_stated_facts_have_types():
    assert descriptions.stated_facts({"parameters": 1000, "models": "x"}) == {"parameters": 1000}
    with refused("parameters", "'many'", "whole number"):
        descriptions.stated_facts({"parameters": "many"})


@pytest.mark.parametrize(
    ("parameters", "dtype", "precision"),
    [(1e9, "bfloat16", "float32"), (7e9, "float16", "float16"), (7e9, "float32", "bfloat16"), (7e9, None, "bfloat16")],
)
def test_precision_follows_size_and_what_is_stored(parameters, dtype, precision):
    assert descriptions.precision_of(parameters, dtype) == precision
