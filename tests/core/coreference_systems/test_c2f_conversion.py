"""Conversions of other implementations' checkpoints: scores as from their weights, and every variable named."""

import json
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file, save_file

from scripts.core.coreference_systems.c2f import (
    checkpoints,
    conversion,
    coref_hoi,
    foreign,
    published_tensorflow,
    tensorflow_reader,
)
from scripts.core.coreference_systems.c2f.model import clusters
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.errors import UserError
from scripts.core.workflow import environments
from scripts.coreference_conversion import convert_coreference, convert_tensorflow
from tests.core.coreference_systems import foreign_zoo
from tests.core.coreference_systems.plain_c2f import Options, resolve
from tests.core.coreference_systems.test_c2f_plain import Bert, compare, document

ROOT = Path(__file__).parents[3]
FEATURES = {
    # In the order of the input of their networks of pairs.
    "coref-hoi": ("speaker", "genre", "segment", "distance"),
    "tensorflow": ("speaker", "genre", "distance", "segment"),
}


class Checkpoint:
    """A tiny checkpoint in a folder as it is downloaded; TensorFlow's as its variables were read."""

    def __init__(self, folder, kind, **settings):
        self.folder, self.kind = folder, kind
        self.is_hoi = kind == "coref-hoi"
        self.settings = (foreign_zoo.hoi_settings if self.is_hoi else foreign_zoo.tensorflow_settings)(**settings)
        self.encoder = folder / ("config.json" if self.is_hoi else "bert_config.json")
        size = foreign_zoo.write_encoder(folder, self.encoder.name)
        shapes = foreign_zoo.hoi_shapes if self.is_hoi else foreign_zoo.tensorflow_shapes
        self.values = foreign_zoo.values(shapes(size, self.settings))
        self.weights = folder / ("model_x.bin" if self.is_hoi else "variables.safetensors")
        self.vocabulary = folder / "vocab.txt"

    def write(self, **changes):
        """Write the variables; a change is an array, or None to leave a variable out."""
        tensors = {name: value for name, value in (self.values | changes).items() if value is not None}
        if self.is_hoi:
            torch.save({name: torch.tensor(value) for name, value in tensors.items()}, self.weights)
        else:
            save_file(tensors, self.weights)
        return self

    def convert(self, system):
        convert_coreference.main(
            weights=str(self.weights),
            encoder=str(self.encoder),
            vocabulary=str(self.vocabulary),
            system=str(system),
            kind=self.kind,
            settings=self.settings,
            name="tiny",
        )
        return system

    def options(self):
        used = {"speaker": "use_metadata", "genre": "use_metadata", "segment": "use_segment_distance"}
        features = [name for name in FEATURES[self.kind] if self.settings.get(used.get(name), True)]
        return Options(
            segment_pieces=self.settings["max_segment_len"],
            span_width=self.settings["max_span_width"],
            ratio=self.settings["top_span_ratio"],
            most_spans=self.settings.get("max_num_extracted_spans", 3900),
            antecedents=self.settings["max_top_antecedents"],
            depth=self.settings["coref_depth"],
            heads=foreign_zoo.HEADS,
            features=tuple(features),
            genre=foreign_zoo.GENRES.index("nw"),
            segment_distances=self.settings["max_training_sentences"],
        )

    def view(self):
        depth = self.settings["ffnn_depth"]
        if self.is_hoi:
            return foreign_zoo.hoi_view(self.values, Bert, depth)
        return foreign_zoo.tensorflow_view(self.values, depth)


def hold(checkpoint, system):
    """Hold a converted system against the plain implementation on the checkpoint's weights as they are there."""
    model, tokenizer = checkpoints.load(system)
    text = document()
    window = Splitter(tokenizer, model.configuration).window(text)
    assert len(window.input_ids) > 4
    with torch.no_grad():
        scores = model(window)
    found = clusters(scores, window, False)
    assert found
    compare(scores, found, resolve(text, tokenizer, checkpoint.view(), checkpoint.options()))


VARIANTS = {
    "published": {},
    "one pass": {"coref_depth": 1},
    "two hidden layers": {"ffnn_depth": 2},
    "no metadata": {"use_metadata": False},
    "no segments": {"use_segment_distance": False},
}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("kind", conversion.FORMATS)
def test_a_converted_system_has_the_scores_of_the_original_weights(tmp_path, kind, name):
    checkpoint = Checkpoint(tmp_path / "downloaded", kind, **VARIANTS[name]).write()
    hold(checkpoint, checkpoint.convert(tmp_path / "system"))


@pytest.mark.parametrize("kind", conversion.FORMATS)
def test_priors_can_be_absent(tmp_path, kind):
    names = ("use_width_prior", "use_distance_prior") if kind == "coref-hoi" else ("use_prior",)
    checkpoint = Checkpoint(tmp_path / "downloaded", kind, **dict.fromkeys(names, False)).write()
    hold(checkpoint, checkpoint.convert(tmp_path / "system"))


def test_the_system_says_where_it_comes_from_and_resolves_texts(tmp_path):
    checkpoint = Checkpoint(tmp_path / "downloaded", "coref-hoi").write()
    system = checkpoint.convert(tmp_path / "system")
    made = checkpoints.recipe(system)
    assert made["converted_from"] == "coref-hoi" and made["settings"] == checkpoint.settings
    assert set(made["files_sha256"]) == {"model_x.bin", "config.json", "vocab.txt"}
    (resolved,) = Resolver.load(system).resolve([("a", "Alice met Bob. She greeted him.")])
    assert resolved.document == "a" and len(resolved.tokens) == 8
    again = checkpoint.convert(tmp_path / "again")
    assert (
        checkpoints.read(again / "model.safetensors")[0].keys()
        == checkpoints.read(system / checkpoints.WEIGHTS)[0].keys()
    )


def test_features_in_another_order_are_seen(tmp_path, monkeypatch):
    """The comparison itself: the two formats differ in the order of two features."""
    checkpoint = Checkpoint(tmp_path / "downloaded", "tensorflow").write()
    system = checkpoint.convert(tmp_path / "system")
    monkeypatch.setitem(FEATURES, "tensorflow", FEATURES["coref-hoi"])
    with pytest.raises(AssertionError):
        hold(checkpoint, system)


ONE = {"coref-hoi": "coref_score_ffnn.0.weight", "tensorflow": "coref_layer/slow_antecedent_scores/hidden_weights_0"}


SPARE = {
    "coref-hoi": {"bert.embeddings.position_ids", "bert.pooler.dense.weight", "bert.pooler.dense.bias"},
    "tensorflow": {"bert/pooler/dense/kernel", "bert/pooler/dense/bias"},
}


@pytest.mark.parametrize("kind", conversion.FORMATS)
def test_every_variable_is_needed_or_known_not_to_be(tmp_path, kind):
    """Each of them left out in turn: it is named, or it is one on which no score depends."""
    checkpoint = Checkpoint(tmp_path / "downloaded", kind)
    module = {"coref-hoi": coref_hoi, "tensorflow": published_tensorflow}[kind]
    made = module.convert_settings(checkpoint.settings, "tiny")
    model, _ = foreign.build(checkpoint.encoder, checkpoint.vocabulary, made)
    tensors = {name: torch.tensor(value) for name, value in checkpoint.values.items()}
    spare = set()
    for name in tensors:
        try:
            module.fill(model, {other: value for other, value in tensors.items() if other != name}, "tiny")
        except UserError as error:
            assert str(error) == f"tiny: lacks the variable {name}; name the checkpoint of these settings"
        else:
            spare.add(name)
    assert spare == SPARE[kind]


@pytest.mark.parametrize("kind", conversion.FORMATS)
def test_a_variable_too_many_or_of_another_shape_is_named(tmp_path, kind):
    checkpoint, name = Checkpoint(tmp_path / "downloaded", kind), ONE[kind]
    value = checkpoint.values[name]
    with pytest.raises(UserError, match=f"has a variable too many, {name}_2; "):
        checkpoint.write(**{f"{name}_2": value}).convert(tmp_path / "system")
    # A matrix the wrong way round, and an embedding for fewer distances than the settings say.
    shapes = tuple(value.shape[::-1]), tuple(value.shape)
    with pytest.raises(UserError) as caught:
        checkpoint.write(**{name: value.T.copy()}).convert(tmp_path / "system")
    assert f"{name} has the shape {shapes[0]}, by the settings {shapes[1]}; " in str(caught.value)
    checkpoint.settings["max_training_sentences"] = 5
    with pytest.raises(UserError, match=r"segment.* has the shape \(3, 4\), by the settings \(5, 4\); "):
        checkpoint.write().convert(tmp_path / "system")
    checkpoint.settings["max_training_sentences"] = 3
    broken = value.copy()
    broken[0, 0] = float("nan")
    with pytest.raises(UserError, match="not finite"):
        checkpoint.write(**{name: broken}).convert(tmp_path / "system")
    assert not (tmp_path / "system").exists()


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("coref-hoi", {"higher_order": "cluster_merging"}, 'higher_order is "cluster_merging"; only systems with "att'),
        ("coref-hoi", {"higher_order": "span_clustering"}, 'higher_order is "span_clustering"; only systems with'),
        ("coref-hoi", {"model_heads": False}, "model_heads is false; only systems with true can be converted"),
        ("tensorflow", {"fine_grained": False}, "fine_grained is false; only systems with true can be converted"),
        ("tensorflow", {"use_features": False}, "use_features is false; only systems with true"),
        ("tensorflow", {"model_type": "overlap"}, 'model_type is "overlap"; only systems with "independent" can'),
        ("tensorflow", {"ffnn_depth": 0}, "ffnn_depth is 0; at least 1 is needed"),
        ("tensorflow", {"genres": "nw"}, "genres is 'nw'"),
        ("tensorflow", {"max_span": 3}, "the setting 'max_span' is unknown; did you mean 'max_span_width'?; remove it"),
        ("coref-hoi", {"use_prior": True}, "the setting 'use_prior' is unknown"),
    ],
)
def test_what_this_project_has_no_part_for_is_refused(tmp_path, kind, settings, message):
    checkpoint = Checkpoint(tmp_path / "downloaded", kind)
    checkpoint.settings |= settings
    with pytest.raises(UserError) as caught:
        checkpoint.write().convert(tmp_path / "system")
    assert str(caught.value).startswith("tiny: settings: ") and message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_files_are_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "downloaded", "coref-hoi").write()
    del checkpoint.settings["coref_depth"]
    with pytest.raises(UserError, match=r"tiny: settings: the setting 'coref_depth' is missing; take it from"):
        checkpoint.convert(tmp_path / "system")
    checkpoint.settings["coref_depth"] = 2
    whole = checkpoint.weights.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"no checkpoint"):
        checkpoint.weights.write_bytes(content)
        with pytest.raises(UserError, match="cannot be read as a PyTorch checkpoint"):
            checkpoint.convert(tmp_path / "system")
    torch.save([1, 2], checkpoint.weights)
    with pytest.raises(UserError, match="holds no variables by name"):
        checkpoint.convert(tmp_path / "system")
    checkpoint.weights.unlink()
    with pytest.raises(UserError, match="no such file"):
        checkpoint.convert(tmp_path / "system")
    checkpoint.write()
    checkpoint.vocabulary.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", encoding="utf-8")
    with pytest.raises(UserError, match="has 6 word pieces, the encoder"):
        checkpoint.convert(tmp_path / "system")
    checkpoint.vocabulary.unlink()
    with pytest.raises(UserError, match=r"vocab.txt: no such file"):
        checkpoint.convert(tmp_path / "system")
    sizes = json.loads(checkpoint.encoder.read_text(encoding="utf-8"))
    del sizes["num_attention_heads"]
    checkpoint.encoder.write_text(json.dumps(sizes), encoding="utf-8")
    with pytest.raises(UserError, match="has no 'num_attention_heads'"):
        checkpoint.convert(tmp_path / "system")
    with pytest.raises(UserError, match="the kind 'allennlp' is none of coref-hoi, tensorflow"):
        convert_coreference.main(weights="", encoder="", vocabulary="", system="", kind="allennlp", settings={})


def test_optimisers_variables_are_left_out():
    shapes = foreign_zoo.tensorflow_shapes(9, foreign_zoo.tensorflow_settings())
    names = [*shapes, *foreign_zoo.optimiser_shapes(shapes)]
    assert tensorflow_reader.weights(names) == sorted(shapes)
    # A moment of nothing is a variable like any other, which the conversion names.
    assert tensorflow_reader.weights(["a", "a/Adam", "b/Adam", "c/adam_m/d"]) == ["a", "b/Adam", "c/adam_m/d"]


WRITER = """
import sys
import tensorflow as tf
from safetensors.numpy import load_file

tf.compat.v1.disable_eager_execution()
variables = [tf.compat.v1.Variable(value, name=name) for name, value in load_file(sys.argv[1]).items()]
with tf.compat.v1.Session() as session:
    session.run(tf.compat.v1.global_variables_initializer())
    tf.compat.v1.train.Saver(variables).save(session, sys.argv[2], write_meta_graph=False)
"""


@pytest.fixture(scope="session")
def tensorflow_python():
    """The environment of the rule convert_tensorflow, made where it is missing."""
    try:
        return environments.prepare(ROOT / "envs/tensorflow.lock", ROOT / ".venv-tensorflow")
    except UserError as error:
        pytest.skip(f"TensorFlow cannot be installed here, so that its checkpoints are not read: {error}")


def test_a_checkpoint_that_tensorflow_wrote(tmp_path, tensorflow_python):
    """Through TensorFlow itself: written as the published system's saver does, with optimisers' variables."""
    checkpoint = Checkpoint(tmp_path / "downloaded", "tensorflow")
    shapes = {name: value.shape for name, value in checkpoint.values.items()}
    save_file(checkpoint.values | foreign_zoo.values(foreign_zoo.optimiser_shapes(shapes), 6), tmp_path / "all")
    prefix = checkpoint.folder / "model.max.ckpt"
    subprocess.run([tensorflow_python, "-c", WRITER, tmp_path / "all", prefix], check=True, capture_output=True)
    files = conversion.checkpoint_files({"format": "tensorflow", "weights": prefix.name}, checkpoint.folder)

    def read():
        convert_tensorflow.main(
            **files,
            variables=str(checkpoint.weights),
            lock=str(ROOT / "envs/tensorflow.lock"),
            environment=str(ROOT / ".venv-tensorflow"),
        )

    read()
    assert load_file(checkpoint.weights).keys() == checkpoint.values.keys()
    hold(checkpoint, checkpoint.convert(tmp_path / "system"))
    content = Path(files["values"]).read_bytes()
    Path(files["values"]).write_bytes(content[:-100])
    with pytest.raises(UserError, match=r"model.max.ckpt: cannot be read as a TensorFlow checkpoint"):
        read()
    Path(files["index"]).write_bytes(b"no index")
    with pytest.raises(UserError, match=r"model.max.ckpt: cannot be read as a TensorFlow checkpoint"):
        read()


def test_files_of_two_checkpoints_are_refused(tmp_path):
    names = {"variables": "", "lock": "", "environment": ""}
    with pytest.raises(UserError, match=r"are no index and values of one checkpoint"):
        convert_tensorflow.main(index="a.ckpt.index", values="b.ckpt.data-00000-of-00001", **names)


def test_listed_checkpoints_have_settings_of_their_format():
    entries = conversion.read_entries(ROOT / "config/coreference_conversion.yaml")
    formats = {"coref-hoi": coref_hoi, "tensorflow": published_tensorflow}
    made = {name: formats[entry["format"]].convert_settings(entry["settings"], name) for name, entry in entries.items()}
    # Xie et al. (2023), Table 8: segments, and how many of them in training.
    assert {name: (c.max_segment_pieces, c.segment_distances, c.coref_depth) for name, c in made.items()} == {
        "joshi-bert-base": (128, 11, 2),
        "joshi-bert-large": (384, 3, 2),
        "joshi-spanbert-base": (384, 3, 2),
        "joshi-spanbert-large": (512, 3, 2),
        "coref-hoi-spanbert-large-d1": (512, 3, 1),
        "coref-hoi-spanbert-large-d2": (512, 3, 2),
    }
    assert {c.ffnn_size for c in made.values()} == {3000} and {c.genre for c in made.values()} == {"nw"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "allennlp"}, "joshi: format is 'allennlp', none of coref-hoi, tensorflow; correct it"),
        ({"format": None}, "joshi: 'format' must be text; correct it"),
        ({"settings": []}, "joshi: 'settings' must be a mapping; correct it"),
        ({"weight": "x"}, "joshi: 'weight' is unknown; did you mean 'weights'?; remove it"),
    ],
)
def test_entries_that_cannot_be_used_are_refused(tmp_path, change, message):
    entry = {
        "format": "tensorflow", "folder": "a", "weights": "b", "encoder": "c", "vocabulary": "d", "settings": {"e": 1},
    }  # fmt: skip
    path = tmp_path / "entries.yaml"
    path.write_text(json.dumps({"joshi": entry | change}), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        conversion.read_entries(path)
    assert str(caught.value) == f"{path}: {message}"
    path.write_text(json.dumps({"joshi": {"format": "tensorflow"}}), encoding="utf-8")
    with pytest.raises(UserError, match="'folder' is missing; add it"):
        conversion.read_entries(path)
    path.write_text("joshi: 3\n", encoding="utf-8")
    with pytest.raises(UserError, match="a mapping with format"):
        conversion.read_entries(path)
