"""Models are fetched by the hub's own client, in a process like that of a job, from a stand-in that answers as it does.

A stand-in for the client would not notice that the client has changed.
"""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"model_type": "bert", "architectures": ["BertForMaskedLM"], "max_position_embeddings": 512}',
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"weights again",
    "tokenizer.json": b"{}",
}


class Hub(http.server.BaseHTTPRequestHandler):
    """Has one model, ``org/name``, at one commit, and one that asks for a licence; every other path is not found."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append(self.path)
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:4] == ["api", "models", "org", "name"]:
            members = [{"rfilename": name} for name in FILES]
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for name, data in FILES.items()
            ]
            facts = {"safetensors": {"parameters": {"BF16": 4096}, "total": 4096}, "cardData": {"license": "mit"}}
            content = tree if "tree" in parts else {"id": "org/name", "sha": COMMIT, "siblings": members, **facts}
            self._send(json.dumps(content).encode(), {"Content-Type": "application/json"})
        elif parts[:3] == ["org", "name", "resolve"] and parts[-1] in FILES:
            data = FILES[parts[-1]]
            self._send(data, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            gated = "closed" in parts
            self.send_response(403 if gated else 404)
            self.send_header("X-Error-Code", "GatedRepo" if gated else "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _send(self, data, headers):
        self.send_response(200)
        for name, value in (headers | {"Content-Length": str(len(data))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def hub():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def run(hub, folder, *arguments):
    """Run Python with the hub in place; return the finished process."""
    cache = folder / "home/hub"
    address = {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_HOME": str(cache.parent),
        "HF_HUB_CACHE": str(cache),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **address, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )


# The client asks a hub that does not answer six times, and waits 24 seconds in between.
IMPATIENT = """
import runpy, time
time.sleep = lambda seconds: None
runpy.run_module("scripts.scoring.fetch_model", run_name="__main__", alter_sys=True)
"""


def fetch(hub, folder, name="org/name", program=("-m", "scripts.scoring.fetch_model"), **facts):
    """Run the job that fetches a model; return the finished process, and what it wrote."""
    target = folder / "fetched.json"
    entry = {"source": {"hub": name, "revision": None}, "architecture": "encoder", **facts}
    given = ["--fetched", str(target), "--model", "m", "--entry", json.dumps(entry)]
    done = run(hub, folder, *program, *given)
    return done, json.loads(target.read_text(encoding="utf-8")) if target.is_file() else None


def test_a_model_is_fetched_at_its_commit(hub, tmp_path):
    done, fetched = fetch(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    assert fetched == {"source": {"hub": "org/name", "revision": COMMIT}}
    snapshot = tmp_path / f"home/hub/models--org--name/snapshots/{COMMIT}"
    # Of two forms of the same weights one is enough.
    assert {path.name for path in snapshot.iterdir()} == FILES.keys() - {"pytorch_model.bin"}
    assert (snapshot / "model.safetensors").read_bytes() == b"weights"


def test_a_model_that_is_not_there_and_a_hub_that_is_not_there(hub, tmp_path):
    done, fetched = fetch(hub, tmp_path, "org/nome")
    assert done.returncode == 1 and fetched is None
    assert "model m: org/nome is not on the hub; correct source.hub in config/models.yaml" in done.stderr
    done, fetched = fetch(hub, tmp_path, "org/closed", gated=True)
    assert done.returncode == 1 and fetched is None
    assert "access to org/closed is gated; ask for it at https://huggingface.co/org/closed and log in" in done.stderr
    hub.shutdown()
    hub.server_close()
    done, fetched = fetch(hub, tmp_path, program=("-c", IMPATIENT))
    assert done.returncode == 1 and fetched is None
    assert "the hub cannot be reached and org/name is not in the local cache (ConnectError)" in done.stderr


def test_a_model_is_described_from_its_small_files(hub, tmp_path):
    code = "import json; from scripts.core.engines.descriptions import of_hub; print(json.dumps(of_hub('org/name')))"
    done = run(hub, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    described = json.loads(done.stdout)
    assert described["source"] == {"hub": "org/name", "revision": COMMIT}
    assert (described["classes"], described["context"]) == (["BertForMaskedLM"], 512)
    assert [described[key] for key in ("parameters", "licence", "gated", "dtype")] == [4096, "mit", False, "bfloat16"]
    assert not any("safetensors" in path for path in hub.asked)
