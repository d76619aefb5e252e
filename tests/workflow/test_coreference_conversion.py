"""The rules that convert checkpoints of other implementations, on tiny ones."""

import subprocess
from pathlib import Path

import pytest
import yaml
from safetensors.numpy import save_file

from scripts.core.coreference_systems.c2f import checkpoints, conversion
from tests import forks
from tests.core.coreference_systems.test_c2f_conversion import (
    WRITER,
    Checkpoint,
    hold,
    tensorflow_python,  # noqa: F401
)

ROOT = Path(__file__).parents[2]
TARGET = "results/coreference/systems/tiny"
pytestmark = pytest.mark.workflow


def snakemake(folder, *arguments):
    options = ["--cores", "1", "--nocolor", "--directory", str(folder)]
    done = forks.run_snakemake([*options, *arguments], ROOT)
    return done.returncode, done.stdout


def write_list(folder, checkpoint, weights):
    """Write a list of one checkpoint, which takes the place of the repository's."""
    entry = {
        "format": checkpoint.kind,
        "folder": "checkpoints/tiny",
        "weights": weights,
        "encoder": checkpoint.encoder.name,
        "vocabulary": "vocab.txt",
        "settings": checkpoint.settings,
    }
    (folder / "config").mkdir()
    path = folder / "config/coreference_conversion.yaml"
    path.write_text(yaml.safe_dump({"tiny": entry}), encoding="utf-8")


def test_a_pytorch_checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoints/tiny", "coref-hoi").write()
    write_list(tmp_path, checkpoint, "model_x.bin")
    status, said = snakemake(tmp_path, TARGET)
    assert status == 0, said
    hold(checkpoint, tmp_path / TARGET)
    assert list((tmp_path / "results/provenance/convert_coreference").glob("*tiny*"))
    assert "Nothing to be done" in snakemake(tmp_path, TARGET)[1]
    checkpoint.write(**{"emb_genre.weight": None})
    status, said = snakemake(tmp_path, TARGET)
    assert status and "model_x.bin: lacks the variable emb_genre.weight; name the checkpoint of these settings" in said


def test_a_tensorflow_checkpoint(tmp_path, tensorflow_python):  # noqa: F811
    checkpoint = Checkpoint(tmp_path / "checkpoints/tiny", "tensorflow")
    save_file(checkpoint.values, tmp_path / "all")
    prefix = checkpoint.folder / "model.max.ckpt"
    subprocess.run([tensorflow_python, "-c", WRITER, tmp_path / "all", prefix], check=True, capture_output=True)
    write_list(tmp_path, checkpoint, prefix.name)
    status, said = snakemake(tmp_path, TARGET)
    assert status == 0, said
    hold(checkpoint, tmp_path / TARGET)
    made = checkpoints.recipe(tmp_path / TARGET)["files_sha256"]
    names = conversion.checkpoint_files({"format": "tensorflow", "weights": prefix.name}, "")
    assert set(made) == {*names.values(), "bert_config.json", "vocab.txt"}
    assert not (tmp_path / "results/coreference/variables/tiny.safetensors").exists()
