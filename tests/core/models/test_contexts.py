"""What the registry states of a model's context, architecture and parameters must be true of its checkpoint."""

from pathlib import Path

import pytest
import torch
import transformers

from scripts.core.config import load_yaml
from scripts.core.models import contexts, descriptions, loading
from scripts.core.models.entries import Model, read_entry, read_job_entry
from scripts.scoring import fetch_model
from tests.core.scoring import architectures
from tests.refusals import refused

KNOWN = load_yaml("config/models.yaml")["models"]


def test_contexts_of_the_packages_are_those_of_their_configurations():
    stated = {}
    for name, entry in KNOWN.items():
        if "package" in entry.get("source", {}):
            source = entry["source"]
            path = loading.package_file(name, source, source.get("file") or source["folder"])
            options = {"gguf_file": path.name} if path.is_file() else {}
            read = transformers.AutoConfig.from_pretrained(path.parent if options else path, **options)
            stated[name] = entry["context"], read.max_position_embeddings
    assert len(stated) == 2 and all(said == read for said, read in stated.values())


def test_contexts_are_the_defaults_of_their_architectures():
    """What transformers builds without a checkpoint; a model without a context has none there either."""
    classes = {"GPT-2": "GPT2", "GPT-J": "GPTJ", "BLOOM": "Bloom", "LLaMA": "Llama", "BART": "Bart"}
    chosen = {name: entry for name, entry in KNOWN.items() if "misgendered" in entry.get("studies", {})}
    assert len(chosen) == 19
    for name, entry in chosen.items():
        config = getattr(transformers, f"{classes.get(entry['family'], entry['family'])}Config")()
        assert getattr(config, "max_position_embeddings", None) == entry.get("context"), name


@pytest.mark.parametrize(
    ("kind", "changed", "limit"),
    [
        *((kind, {}, 512) for kind in ("mpnet", "longformer", "xlm-roberta", "camembert", "led")),
        ("electra", {}, 514),
        ("gpt-neo", {"max_position_embeddings": 128}, 128),
        ("gpt-1", {"max_position_embeddings": 300}, 300),
        ("biogpt", {"max_position_embeddings": 300}, 300),
        *((kind, {}, 2048) for kind in ("mpt", "rwkv", "pegasus")),
        *((kind, {}, None) for kind in ("mt5", "mamba", "xlnet")),
    ],
)
def test_what_a_model_takes_is_known(kind, changed, limit):
    kind = architectures.KINDS[kind]
    model, _ = architectures.build(kind, **changed)
    assert contexts.context_length(model) == limit
    if limit and limit < 1000:
        ids = torch.randint(10, 100, (1, limit), device=model.device)
        given = {"labels": ids} if kind.architecture == "encoder-decoder" else {}
        with torch.no_grad():
            assert model(input_ids=ids, **given).logits.shape[1] == limit


def check(entry, folder):
    stated = {key: entry[key] for key in ("context", "parameters") if key in entry}
    contexts.check_stated_facts("mine", read_job_entry(entry), folder, **stated)


CONTRADICTED = {
    "decoder": ("tiny-llama", {"architecture": "encoder"}, ["LlamaForCausalLM", "a decoder", "write architecture"]),
    "encoder": ("tiny-bert", {"architecture": "decoder"}, ["BertForMaskedLM", "write architecture: encoder"]),
    "pair": ("tiny-t5", {"architecture": "decoder"}, ["write architecture: encoder-decoder"]),
    "parameters": ("tiny-bert", {"parameters": 10}, ["parameters is 10", "makes", "write parameters:"]),
    "very many": ("tiny-llama", {"parameters": 10**400}, ["parameters is 1000000000", "makes"]),
    "context": ("tiny-opt", {"context": 7}, ["context is 7", "says 256", "write context: 256"]),
    "no limit": ("tiny-t5", {"context": 512}, ["context is 512", "no limit", "remove context"]),
}


@pytest.mark.parametrize(("name", "stated", "named"), CONTRADICTED.values(), ids=CONTRADICTED)
def test_what_the_checkpoint_contradicts_is_refused(entries, tmp_path, name, stated, named):
    entry, folder = entries[name] | stated, entries[name]["source"]["path"]
    check(entries[name], folder)
    with refused("models.mine", *named):
        check(entry, folder)
    if "context" not in stated:  # which is compared when a model is fetched, since it takes seconds
        with refused("models.mine", *named):
            descriptions.complete_model(read_entry(Model, "mine", entry), tmp_path)


def test_what_is_fetched_is_checked_and_nothing_is_left_behind(entries, monkeypatch, tmp_path):
    """A refused model is not fetched again without a word, since its file is missing."""
    folder = Path(entries["tiny-opt"]["source"]["path"])
    monkeypatch.setattr(loading.hub, "fetch_repository", lambda what, source, needs: source)
    monkeypatch.setattr(loading.hub, "find_snapshot", lambda *_: folder)
    entry = {"source": {"hub": "org/name", "revision": "0" * 40}, "architecture": "decoder"}
    fetched = tmp_path / "m.json"
    with refused("models.m.context is 7"):
        fetch_model.main(fetched=str(fetched), name="m", entry=entry, stated={"context": 7})
    assert not fetched.exists()
    fetch_model.main(fetched=str(fetched), name="m", entry=entry, stated={"context": 256})
    assert fetched.exists()


def test_a_configuration_that_cannot_be_read_is_named(tmp_path):
    with refused("model mine", tmp_path, "cannot be read"):
        check({"architecture": "decoder", "context": 8}, tmp_path)
