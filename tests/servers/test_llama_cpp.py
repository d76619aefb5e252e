"""The check of a server against a real one: that of llama-cpp-python, with the model that ships with the project.

PRONOUN_LLAMA_PYTHON names the interpreter of an environment with `llama-cpp-python[server]`, which has to be compiled
and is no requirement of the project; the test is skipped without it. It takes some minutes.
"""

import json
import os
import socket
import subprocess
import time
import urllib.request

import gguf
import pytest

from scripts.core import config, files
from scripts.core.engines import models
from scripts.core.errors import UserError
from scripts.servers import score_at_server, score_reference
from tests.scoring.test_score import ROOT, write_instances

SHIPPED = "smollm2-135m-instruct"
PYTHON = os.environ.get("PRONOUN_LLAMA_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PRONOUN_LLAMA_PYTHON is not set: no server of llama.cpp is at hand")


class LlamaServer:
    """Serves a GGUF file on a free port of this machine while the ``with`` block runs."""

    def __init__(self, path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.path = path

    def __enter__(self):
        command = [
            PYTHON, "-m", "llama_cpp.server", "--model", str(self.path), "--host", "127.0.0.1", "--port",
            str(self.port), "--logits_all", "true", "--n_ctx", "512", "--n_threads", "1", "--n_threads_batch", "1",
        ]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(120):
            try:
                json.load(opener.open(f"http://127.0.0.1:{self.port}/v1/models", timeout=5))
                return self
            except OSError:
                assert self.process.poll() is None
                time.sleep(0.5)
        raise AssertionError("the server does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def shipped():
    entry = config.load_yaml(ROOT / "config/models.yaml")["models"][SHIPPED]
    return entry, models.locate(SHIPPED, entry)


@pytest.fixture(scope="module")
def widened(shipped, tmp_path_factory):
    """The shipped GGUF file with all weights in float32."""
    _, location = shipped
    reader = gguf.GGUFReader(location.folder / location.gguf)
    path = tmp_path_factory.mktemp("widened") / "model.gguf"
    writer = gguf.GGUFWriter(path, reader.get_field("general.architecture").contents())
    for name, field in reader.fields.items():
        if not name.startswith(("GGUF.", "general.architecture", "general.file_type")):
            kind = field.types[0]
            inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, inner)
    for tensor in reader.tensors:
        shape = [int(size) for size in reversed(tensor.shape)]
        writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def arguments(tmp_path):
    instances = write_instances(tmp_path / "instances.parquet", 5)

    def make(server, entry, **scoring):
        path = str(tmp_path / "reference.parquet")
        score_reference.main(instances=str(instances), reference=path, model="here", entry=entry, device="cpu")
        api = {
            "base_url": f"http://127.0.0.1:{server.port}/v1", "model": "any", "interface": "completions", "key": None,
            "top_logprobs": 1, "requests_per_minute": 600000, "usd_per_million_tokens": {"prompt": 0, "completion": 0},
            "scoring": {"answers": "llama_cpp", "reference": "here", **scoring},
        }  # fmt: skip
        return {
            "instances": str(instances), "scores": str(tmp_path / "scores.parquet"), "model": "served",
            "usage": str(tmp_path / "usage.json"), "cache": str(tmp_path / f"cache{server.port}"),
            "cost_limit_usd": 1.0, "entry": {"api": api, "architecture": "decoder", "demonstration": False},
            "reference_entry": entry, "reference": path,
        }  # fmt: skip

    return make


def test_weights_in_float32_pass_and_what_is_computed_otherwise_is_told(shipped, widened, arguments):
    entry, location = shipped
    with LlamaServer(widened) as server:
        given = arguments(server, entry)
        score_at_server.main(**given)
    close = files.parquet_metadata(given["scores"])["gate"]
    print(close)
    assert close["checked"] and close["changed_decisions"] == 0 and close["largest_difference_nats"] < 0.1
    # The same weights, whose products llama.cpp computes with rounded activations.
    with LlamaServer(location.folder / location.gguf) as server:
        given = arguments(server, entry, bound_nats=100)
        score_at_server.main(**given)
        far = files.parquet_metadata(given["scores"])["gate"]
        print(far)
        assert far["largest_difference_nats"] > close["largest_difference_nats"]
        # A bound below that ends the run.
        given["entry"]["api"]["scoring"]["bound_nats"] = far["largest_difference_nats"] / 2
        with pytest.raises(UserError, match=r"texts scored there and here in float32, one differs by"):
            score_at_server.main(**given)
