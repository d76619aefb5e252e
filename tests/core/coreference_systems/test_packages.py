"""Systems of packages: tiny random checkpoints through the packages' own loading, in the common format."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.core.coreference_systems.packages.client import Client
from scripts.core.coreference_systems.packages.words import drop_duplicates
from scripts.core.data import coreference
from scripts.core.workflow import environments
from tests.refusals import refused

TEXTS = {
    "plain": "The nurse told the doctor that she was late. He said she should go.",
    "characters": "Anna met Zoë 😀 at the park, and then she left because Zoë wasn't there.  Anna\nlaughed.",
    "twice": "Her aunt saw her aunt's sister, and her sister saw her.",
    "word": "Hi",
}
ROOT = Path(__file__).parents[3]
NAMES = ("tiny-lingmess", "tiny-f-coref", "tiny-caw", "tiny-caw-lora")
# Making the environment takes minutes where it is not there.
workflow = pytest.mark.workflow


def settings(name, entry, **changes):
    folder = entry["source"]["path"]
    return {
        "name": name,
        "architecture": entry["architecture"],
        "checkpoint": f"{folder}/model.pt" if entry["architecture"] == "caw" else folder,
        "encoder": entry.get("encoder", {}).get("path"),
        "device": "cpu",
        "threads": 1,
        **changes,
    }


@pytest.fixture(scope="module")
def clients(coreference_python, package_systems):
    opened = {}

    def client(name):
        if name not in opened:
            opened[name] = Client(str(coreference_python), settings(name, package_systems[name]))
        return opened[name]

    yield client
    for one in opened.values():
        one.process.process.stdin.close()


@workflow
@pytest.mark.parametrize("name", NAMES)
def test_documents_are_in_the_common_format_by_places_in_the_text(clients, tmp_path, name):
    documents = list(clients(name).resolve(TEXTS.items()))
    coreference.write_clusters(tmp_path / "clusters.jsonl", documents)
    read = coreference.read_clusters(tmp_path / "clusters.jsonl", TEXTS)
    assert list(read.values()) == documents
    # Random weights corefer something in each text of several words, and nothing in one word.
    assert all(document.clusters for document in documents[:3]) and not documents[3].clusters
    for document, text in zip(documents, TEXTS.values(), strict=True):
        pieces = [text[start:end] for start, end in document.tokens]
        assert "".join("".join(pieces).split()) == "".join(text.split())
    # The same words occur twice, and each has its own place.
    words = [TEXTS["twice"][start:end] for start, end in documents[2].tokens]
    assert words.count("aunt") == 2 and len(set(documents[2].tokens)) == len(words)


@workflow
@pytest.mark.parametrize("name", NAMES)
def test_a_document_does_not_depend_on_the_others(clients, name):
    together = list(clients(name).resolve(TEXTS.items()))
    alone = [next(iter(clients(name).resolve([item]))) for item in reversed(TEXTS.items())]
    assert together == alone[::-1]


@workflow
@pytest.mark.parametrize("name", ["tiny-lingmess", "tiny-f-coref"])
def test_clusters_are_those_of_the_package_itself(coreference_python, package_systems, clients, tmp_path, name):
    """The package's ``predict``, which divides texts into batches by itself and gives places of characters."""
    script = """
import json, sys
import fastcoref
from scripts.core.coreference_systems.packages.fastcoref_systems import CLASSES, _eager
from scripts.core.coreference_systems.packages.words import WordSplitter
folder, architecture, texts = json.load(sys.stdin)
with _eager():
    system = getattr(fastcoref, CLASSES[architecture])(folder, device="cpu", nlp=WordSplitter().pipeline)
found = [result.get_clusters(as_strings=False) for result in system.predict(texts=texts, max_tokens_in_batch=1)]
print("FOUND" + json.dumps(found))
"""
    entry = package_systems[name]
    texts = list(TEXTS.values())[:3]
    done = subprocess.run(
        [coreference_python, "-c", script],
        input=json.dumps([entry["source"]["path"], entry["architecture"], texts]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout.partition("FOUND")[2])
    for document, clusters in zip(clients(name).resolve(list(TEXTS.items())[:3]), theirs, strict=True):
        ours = {
            (document.tokens[first][0], document.tokens[last][1])
            for cluster in document.clusters
            for first, last in cluster
        }
        named = {tuple(mention) for cluster in clusters for mention in cluster if mention is not None}
        assert ours and ours <= named
        # Where the package puts the same words into a cluster twice, or alone, nothing is left of it here.
        for cluster in document.clusters:
            places = {(document.tokens[first][0], document.tokens[last][1]) for first, last in cluster}
            assert any(places <= {tuple(m) for m in other if m is not None} for other in clusters)


@workflow
def test_long_documents(clients):
    sentence = "The nurse told the doctor that she was late. "
    # Windows of F-coref, and the sentences of CAW-coref, are the system's own.
    for name in ("tiny-f-coref", "tiny-caw"):
        (document,) = clients(name).resolve([("long", sentence * 12)])
        assert document.tokens[-1][1] == len(sentence * 12) - 1 and document.clusters
    with refused("'long'", "tokens", "tiny-lingmess", "128"):
        list(clients("tiny-lingmess").resolve([("long", sentence * 12)]))
    with refused("'endless'", "a sentence of", "tiny-caw-lora"):
        list(clients("tiny-caw-lora").resolve([("endless", "and then " * 200)]))


def other_encoder(coreference_python, package_systems, folder):
    """Make an encoder of another size, as of another registry entry."""
    shutil.copytree(package_systems["tiny-f-coref"]["source"]["path"], folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 16, "num_hidden_layers": 1}))
    (folder / "model.safetensors").unlink()
    make = (
        "import sys, transformers as t; folder = sys.argv[1]; "
        "t.RobertaModel(t.AutoConfig.from_pretrained(folder)).save_pretrained(folder)"
    )
    subprocess.run([coreference_python, "-c", make, folder], check=True, capture_output=True)
    return str(folder)


@workflow
def test_what_does_not_fit_is_refused(coreference_python, package_systems, tmp_path):
    encoder = other_encoder(coreference_python, package_systems, tmp_path / "encoder")
    for name, changes, named in (
        ("tiny-f-coref", {"device": "cuda"}, ["scoring.device", "cuda", "no GPU", "auto or cpu"]),
        ("tiny-lingmess", {"architecture": "f-coref"}, ["tiny-lingmess", "checkpoint", "use one of this arch"]),
        ("tiny-caw", {"encoder": encoder}, ["tiny-caw", "model.pt", "size mismatch"]),
    ):
        with refused(*named):
            Client(str(coreference_python), settings(name, package_systems[name], **changes))


@workflow
def test_a_checkpoint_that_lacks_a_weight_is_named(coreference_python, package_systems, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(package_systems["tiny-f-coref"]["source"]["path"], tmp_path / "cut")
    whole = load_file(folder / "model.safetensors")
    name = "mention_start_classifier.weight"
    entry = package_systems["tiny-f-coref"] | {"source": {"path": str(folder)}}
    for weights, named in (
        ({key: value for key, value in whole.items() if key != name}, ["lacks", name]),
        (whole | {"more": whole[name].clone()}, ["has more", "f-coref has not"]),
    ):
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        with refused(*named):
            Client(str(coreference_python), settings("cut", entry))


def test_an_environment_that_is_not_there():
    with refused("nowhere/bin/python", "cannot be started", "-R coreference_environment"):
        Client("nowhere/bin/python", {"name": "f-coref", "threads": 1})


def test_mentions_that_a_system_wrote_twice_are_kept_once():
    clusters = [[(4, 5), (0, 0), (0, 0)], [(0, 0), (7, 7), (9, 9)], [(2, 2), (2, 2)], [(7, 7), (1, 1)]]
    assert drop_duplicates(clusters, fewest=2) == (((0, 0), (4, 5)), ((7, 7), (9, 9)))
    assert drop_duplicates([[(2, 2)], [(2, 2)]], fewest=1) == (((2, 2),),)


def test_an_interpreter_with_all_packages_is_taken_as_it_is(tmp_path):
    (tmp_path / "lock").write_text(f"pyyaml=={importlib.metadata.version('pyyaml')} \\\n    --hash=sha256:0\n")
    torch = importlib.metadata.version("torch").partition("+")[0]
    (tmp_path / "in").write_text(f"torch=={torch}\n")
    assert str(environments.prepare_environment(tmp_path / "lock", tmp_path / "env", tmp_path / "in")) == sys.executable
    assert not (tmp_path / "env").exists()


def test_an_environment_that_cannot_be_made_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    (tmp_path / "lock").write_text("stanza==0.0.1 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    (tmp_path / "in").write_text("torch==0.0.1\n")
    with refused("cannot be made", "ERROR", "stanza"):
        environments.prepare_environment(tmp_path / "lock", tmp_path / "env", tmp_path / "in")
    # Half made, it is made again.
    assert not (tmp_path / "env" / environments.STAMP).exists()
