"""What the registry states of a model must be true of its checkpoint, and what it leaves out is read from there."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from scripts.core.config import load_yaml
from scripts.core.errors import UserError
from scripts.core.models import checkpoints, contexts, descriptions, gguf_heads, loading, registry
from scripts.core.models.entries import Folder, Hub, Model, read_entry, read_job_entry
from scripts.scoring import fetch_model
from tests import zoo
from tests.core.scoring import architectures

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "config/schemas/models.schema.yaml"
TINY = (
    "tiny-bert", "tiny-opt", "tiny-gpt2", "tiny-llama", "tiny-bart", "tiny-t5", "tiny-bloom", "tiny-mamba",
)  # fmt: skip
SMALLEST = "models:\n  mine: {label: Mine, licence: MIT, source: SOURCE}\n"


@pytest.fixture(scope="module")
def known():
    return load_yaml(ROOT / "config/models.yaml")["models"]


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return load_yaml(zoo.build(tmp_path_factory.mktemp("zoo"), TINY))["models"]


def test_contexts_of_the_packages_are_those_of_their_configurations(known):
    stated = {}
    for name, entry in known.items():
        if "package" in entry.get("source", {}):
            source = entry["source"]
            path = loading.package_file(name, source, source.get("file") or source["folder"])
            options = {"gguf_file": path.name} if path.is_file() else {}
            read = transformers.AutoConfig.from_pretrained(path.parent if options else path, **options)
            stated[name] = entry["context"], read.max_position_embeddings
    assert len(stated) == 2 and all(said == read for said, read in stated.values())


def test_contexts_are_the_defaults_of_their_architectures(known):
    """What transformers builds without a checkpoint; a model without a context has none there either."""
    classes = {
        "OPT": "OPT", "GPT-2": "GPT2", "GPT-J": "GPTJ", "BLOOM": "Bloom", "LLaMA": "Llama", "BART": "Bart", "T5": "T5",
    }  # fmt: skip
    chosen = {name: entry for name, entry in known.items() if "misgendered" in entry.get("studies", {})}
    assert len(chosen) == 19
    for name, entry in chosen.items():
        config = getattr(transformers, f"{classes[entry['family']]}Config")()
        assert getattr(config, "max_position_embeddings", None) == entry.get("context"), name


def read_smallest(folder, source):
    """Return what a registry says of a model with label, licence and source alone."""
    path = folder / "models.yaml"
    path.write_text(SMALLEST.replace("SOURCE", source), encoding="utf-8")
    return registry.read_registry(path, SCHEMA).models["mine"]


@pytest.mark.parametrize("name", TINY)
def test_label_source_and_licence_are_enough(entries, tmp_path, name):
    """What is read of the configuration is what the loaded model says."""
    entry = entries[name]
    folder = Path(entry["source"]["path"])
    made = descriptions.complete(read_smallest(tmp_path, f"{{path: {folder}}}"), tmp_path)
    network, _ = zoo.load(name, entry, device="cpu")
    expected = {
        "architecture": entry["architecture"], "parameters": network.num_parameters(), "precision": "float32",
        "gpus": 0, "label": "Mine", "gated": False, "studies": {}, "context": contexts.context_length(network),
    }  # fmt: skip
    assert {key: getattr(made, key) for key in expected} == expected
    assert not checkpoints.sizes_differ(checkpoints.count_parameters(folder), entry["parameters"])
    assert not list(tmp_path.glob("*.json")), "planning leaves nothing behind"


def check(entry, folder):
    stated = {key: entry[key] for key in ("context", "parameters") if key in entry}
    contexts.check("mine", read_job_entry(entry), folder, **stated)


@pytest.mark.parametrize(
    ("name", "stated", "message"),
    [
        ("tiny-llama", {"architecture": "encoder"},
         "models.mine.architecture is encoder, and its config.json names LlamaForCausalLM, a decoder; write"),
        ("tiny-bert", {"architecture": "decoder"}, "names BertForMaskedLM, an encoder; write architecture: encoder"),
        ("tiny-t5", {"architecture": "decoder"}, "an encoder-decoder; write architecture: encoder-decoder"),
        ("tiny-bert", {"parameters": 10}, r"models.mine.parameters is 10, and .* makes (\d+); write parameters: \1"),
        ("tiny-llama", {"parameters": 10**400}, "parameters is 1000000000.*, and the model's own configuration makes"),
        ("tiny-opt", {"context": 7}, r"models\.mine\.context is 7, and .* says (\d+); write context: \1"),
        ("tiny-t5", {"context": 512}, "says that there is no limit; remove context"),
    ],
)  # fmt: skip
def test_what_the_checkpoint_contradicts_is_refused(entries, tmp_path, name, stated, message):
    entry = entries[name] | stated
    check(entries[name], entry["source"]["path"])
    with pytest.raises(UserError, match=message):
        check(entry, entry["source"]["path"])
    if "context" not in stated:  # which is compared when a model is fetched, since it takes seconds
        with pytest.raises(UserError, match=message):
            descriptions.complete(read_entry(Model, "mine", entry), tmp_path)


def test_what_is_fetched_is_checked_and_nothing_is_left_behind(entries, monkeypatch, tmp_path):
    """A refused model is not fetched again without a word, since its file is missing."""
    folder = Path(entries["tiny-opt"]["source"]["path"])
    monkeypatch.setattr(loading.hub, "fetch", lambda what, source, needs: source)
    monkeypatch.setattr(loading.hub, "find", lambda *_: folder)
    entry = {"source": {"hub": "org/name", "revision": "0" * 40}, "architecture": "decoder"}
    fetched = tmp_path / "m.json"
    with pytest.raises(UserError, match=r"models\.m\.context is 7"):
        fetch_model.main(fetched=str(fetched), name="m", entry=entry, stated={"context": 7})
    assert not fetched.exists()
    stated = {"context": contexts.context_length(contexts.build("m", "decoder", folder))}
    fetch_model.main(fetched=str(fetched), name="m", entry=entry, stated=stated)
    assert fetched.exists()


def test_a_configuration_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"model mine: the configuration in .* cannot be read") as raised:
        check({"architecture": "decoder", "context": 8}, tmp_path)
    assert "\n" not in str(raised.value)


def test_a_folder_that_is_away_is_what_jobs_last_ran(entries, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(entries["tiny-bert"]["source"]["path"], folder)
    model = read_smallest(tmp_path, f"{{path: {folder}}}")
    made = descriptions.complete(model, tmp_path)
    descriptions.keep(made, tmp_path)
    shutil.rmtree(folder)
    shutil.copytree(entries["tiny-llama"]["source"]["path"], folder)
    assert descriptions.complete(model, tmp_path).architecture == "decoder"
    shutil.rmtree(folder)
    assert descriptions.complete(model, tmp_path) == made
    with pytest.raises(UserError, match=r"models\.mine\.source\.path: \S+ holds no config\.json; name the folder"):
        descriptions.complete(replace(model, source=Folder(f"{folder}2")), tmp_path)


def test_the_hub_is_asked_once(entries, tmp_path, monkeypatch):
    folder = entries["tiny-llama"]["source"]["path"]
    asked = []

    def describe(hub, revision):
        asked.append((hub, revision))
        if hub == "lab/away":
            raise UserError("the hub cannot be reached; try again with a network")
        return descriptions.of_folder(folder) | {"gated": True}

    monkeypatch.setattr(descriptions, "of_hub", describe)
    model = read_smallest(tmp_path, "{hub: lab/mine, revision: null}")
    made = descriptions.complete(model, tmp_path)
    assert (made.architecture, made.gated, asked) == ("decoder", True, [("lab/mine", None)])
    assert descriptions.complete(model, tmp_path) == made and len(asked) == 1
    away = replace(model, name="other", source=Hub("lab/away"))
    with pytest.raises(UserError, match=r"^models\.other lacks family, .*: the hub cannot be.*; or add these keys"):
        descriptions.complete(away, tmp_path)
    stated = replace(away, **{key: getattr(made, key) for key in away.lacking})
    assert descriptions.complete(stated, tmp_path) == stated


def test_a_model_in_a_package_is_described(tmp_path):
    with pytest.raises(UserError, match=r"models\.mine lacks the key 'family'; add it"):
        read_smallest(tmp_path, "{package: p, version: '1', file: p/m.gguf}")


@pytest.fixture(scope="module")
def packaged():
    return registry.read_registry(SCHEMA.parents[1] / "models.yaml", SCHEMA).models["smollm2-135m-instruct"]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"parameters": 36032},
         "models.mine.parameters is 36032, and SmolLM2-135M-Instruct.Q4_1.gguf holds 134515008; write that number"),
        ({"architecture": "encoder"}, "models.mine.architecture is encoder, and SmolLM2-.* is of the kind llama; write "
         "architecture: decoder"),
    ],
)  # fmt: skip
def test_what_a_gguf_file_contradicts_is_refused(packaged, stated, message):
    assert descriptions.complete(packaged) == packaged
    with pytest.raises(UserError, match=message):
        descriptions.complete(replace(packaged, name="mine", **stated))
    # Whether a package is there is found out by the job that loads it.
    away = replace(packaged, source=replace(packaged.source, version="9"), **stated)
    assert descriptions.complete(away) == away


HEAD = b"GGUF\3" + bytes(11) + b"\1" + bytes(7)
"""Of a file without tensors and with one fact, which is to follow."""


@pytest.mark.parametrize(
    "content", [b"", b"GGUX" + bytes(40), HEAD, HEAD + bytes(8) + b"c" + bytes(40), HEAD + b"\xff" * 8]
)
def test_a_gguf_file_without_a_head_is_refused(tmp_path, content):
    (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(UserError, match=r"m\.gguf.*; install its package again$"):
        gguf_heads.read(tmp_path / "m.gguf")


def test_what_figures_and_tables_print_has_letters_that_they_can_set(tmp_path):
    path = tmp_path / "models.yaml"
    for key, words in (("family", "80 letters"), ("licence", "80 letters"), ("label", "40 letters")):
        text = SMALLEST.replace("SOURCE", "{path: a}").replace("MIT", "MIT, family: F")
        path.write_text(re.sub(rf"{key}: \w+", f"{key}: 模型", text), encoding="utf-8")
        with pytest.raises(UserError, match=rf"models\.mine\.{key} is '模型'; expected text of at most {words}"):
            registry.read_registry(path, SCHEMA)


def test_the_label_of_a_revision_fits_tables(tmp_path):
    path = tmp_path / "models.yaml"
    source = "{path: a}, revisions: [step1, step1000]"
    for label, fits in (("A" * 31, True), ("A" * 32, False)):
        path.write_text(SMALLEST.replace("SOURCE", source).replace("Mine", label), encoding="utf-8")
        if fits:
            assert len(registry.read_registry(path, SCHEMA).models) == 2
        else:
            with pytest.raises(UserError, match=rf"mine\.label and the revision step1000 make '{label} step1000', of "):
                registry.read_registry(path, SCHEMA)


@pytest.mark.parametrize(
    ("kind", "changed", "limit"),
    [
        ("mpnet", {}, 512),
        ("longformer", {}, 512),
        ("xlm-roberta", {}, 512),
        ("camembert", {}, 512),
        ("electra", {}, 514),
        ("led", {}, 512),
        ("mpt", {}, 2048),
        ("gpt-neo", {"max_position_embeddings": 128}, 128),
        ("gpt-1", {"max_position_embeddings": 300}, 300),
        ("biogpt", {"max_position_embeddings": 300}, 300),
        ("rwkv", {}, 2048),
        ("pegasus", {}, 2048),
        ("mt5", {}, None),
        ("mamba", {}, None),
        ("xlnet", {}, None),
    ],
)
def test_what_a_model_takes_is_known(kind, changed, limit):
    kinds = {each.name: each for each in architectures.KINDS}
    model, _ = architectures.build(kinds[kind], **changed)
    assert contexts.context_length(model) == limit
    if limit and limit < 1000:
        ids = torch.randint(10, 100, (1, limit), device=model.device)
        given = {"labels": ids} if kinds[kind].architecture == "encoder-decoder" else {}
        with torch.no_grad():
            assert model(input_ids=ids, **given).logits.shape[1] == limit
