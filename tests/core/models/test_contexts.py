"""The registry's contexts: those of the packages' own configurations, of each architecture, and of what is fetched."""

from pathlib import Path

import pytest

from scripts.core.config import load_yaml
from scripts.core.engines.batches import context_length
from scripts.core.errors import UserError
from scripts.core.models import contexts, loading
from scripts.scoring import fetch_model
from tests import zoo

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def registry():
    return load_yaml(ROOT / "config/models.yaml")["models"]


TINY = ("tiny-bert", "tiny-opt", "tiny-gpt2", "tiny-bart", "tiny-t5", "tiny-bloom")


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return load_yaml(zoo.build(tmp_path_factory.mktemp("zoo"), TINY))["models"]


def test_contexts_of_the_packages_are_those_of_their_configurations(registry):
    embedded = {name: entry for name, entry in registry.items() if "package" in entry.get("source", {})}
    assert len(embedded) == 2
    for name, entry in embedded.items():
        source = entry["source"]
        path = loading.package_file(name, source, source.get("file") or source["folder"])
        folder, options = (path, {}) if path.is_dir() else (path.parent, {"gguf_file": path.name})
        assert contexts.configured_length(name, entry, folder, **options) == entry["context"], name


def test_contexts_are_the_defaults_of_their_architectures(registry):
    """What transformers builds without a checkpoint; a model without a context has none there either."""
    import transformers

    classes = {
        "OPT": "OPT", "GPT-2": "GPT2", "GPT-J": "GPTJ", "BLOOM": "Bloom", "LLaMA": "Llama", "BART": "Bart", "T5": "T5",
    }  # fmt: skip
    chosen = {name: entry for name, entry in registry.items() if "misgendered" in entry.get("studies", {})}
    assert len(chosen) == 19
    for name, entry in chosen.items():
        config = getattr(transformers, f"{classes[entry['family']]}Config")()
        assert getattr(config, "max_position_embeddings", None) == entry.get("context"), name


@pytest.mark.parametrize("name", TINY)
def test_a_configuration_says_what_the_loaded_model_says(entries, name):
    entry = entries[name]
    location = loading.locate(name, entry)
    network, _ = loading.load(name, entry, location, "cpu")
    assert contexts.configured_length(name, entry, location.folder) == context_length(network)


def test_another_context_is_refused(entries):
    entry = entries["tiny-opt"]
    folder = entry["source"]["path"]
    stated = contexts.configured_length("tiny-opt", entry, folder)
    contexts.check("tiny-opt", entry | {"context": stated}, folder)
    with pytest.raises(UserError, match=rf"models\.tiny-opt\.context is 7, and .* says {stated}; write context"):
        contexts.check("tiny-opt", entry | {"context": 7}, folder)
    t5 = entries["tiny-t5"]
    with pytest.raises(UserError, match="says that there is no limit; remove context"):
        contexts.check("tiny-t5", t5 | {"context": 512}, t5["source"]["path"])


def test_other_parameters_are_refused(entries):
    entry = entries["tiny-opt"]
    folder, found = entry["source"]["path"], entry["parameters"]
    contexts.check("tiny-opt", entry, folder)
    with pytest.raises(UserError, match=rf"models\.tiny-opt\.parameters is {2 * found}, .*; write parameters: {found}"):
        contexts.check("tiny-opt", entry | {"parameters": 2 * found}, folder)


def test_what_is_fetched_is_checked_and_nothing_is_left_behind(entries, monkeypatch, tmp_path):
    """A refused model is not fetched again without a word, since its file is missing."""
    folder = Path(entries["tiny-opt"]["source"]["path"])
    monkeypatch.setattr(loading.hub, "fetch", lambda what, source, needs: source)
    monkeypatch.setattr(loading.hub, "find", lambda *_: folder)
    entry = {"source": {"hub": "org/name", "revision": "0" * 40}, "architecture": "decoder"}
    fetched = tmp_path / "m.json"
    with pytest.raises(UserError, match=r"models\.m\.context is 7"):
        fetch_model.main(fetched=str(fetched), model="m", entry=entry, stated={"context": 7})
    assert not fetched.exists()
    stated = contexts.configured_length("m", entry, folder)
    fetch_model.main(fetched=str(fetched), model="m", entry=entry, stated={"context": stated})
    assert fetched.exists()


def test_a_configuration_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"model m: the configuration in .* cannot be read") as raised:
        contexts.check("m", {"architecture": "decoder", "context": 8}, tmp_path)
    assert "\n" not in str(raised.value)
