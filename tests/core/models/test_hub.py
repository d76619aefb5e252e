"""Models are fetched by the hub's own client, in a process like that of a job, from a stand-in that answers as it does.

A stand-in for the client would not notice that the client has changed.
"""

import errno
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import peft
import pytest

from scripts.core import config, files
from scripts.core.models import hub as hub_files
from tests import jobs
from tests import zoo as builder

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"model_type": "bert", "architectures": ["BertForMaskedLM"], "max_position_embeddings": 512}',
    "model.safetensors": b"weights",
    "tokenizer.json": b"{}",
}
LEFT = {
    ".gitattributes": b"*.bin filter=lfs",
    "README.md": b"---\nlicense: mit\n---\nA model",
    "consolidated.safetensors": b"weights again",
    "pytorch_model.bin": b"weights again",
    "onnx/model.onnx": b"weights again",
    "checkpoint-500/model.safetensors": b"older weights",
    "checkpoint-500/config.json": b"{}",
}
"""What stands beside the files that are read, as in most repositories."""
FAILING = {"closed": (403, "GatedRepo"), "private": (401, "RepoNotFound"), "busy": (429, ""), "down": (503, "")}


class Hub(http.server.BaseHTTPRequestHandler):
    """Has the repositories of its server, each at one commit, and some that fail; every other path is not found."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        parts = urllib.parse.unquote(self.path.partition("?")[0]).strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts
        owner, name, *rest = [*parts, "", ""]
        files = self.server.repositories.get(f"{owner}/{name}")
        member = "/".join(rest[2:]).rstrip("/")
        if self.headers.get("Authorization") == "Bearer expired":
            self._fail(401, "")
        elif files is None or (rest[:1] == ["resolve"] and member not in files):
            self._fail(*FAILING.get(name, (404, "RepoNotFound")))
        elif rest[:1] == ["resolve"]:
            etag = f'"{hashlib.sha1(files[member]).hexdigest()}"'
            self._send(files[member], {"ETag": etag, "X-Repo-Commit": COMMIT})
        else:
            tree = [
                {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for path, data in files.items()
            ]
            members = [{"rfilename": path} for path in files]
            facts = {"id": f"{owner}/{name}", "sha": COMMIT, "siblings": members, "gated": "manual"}
            content = tree if "tree" in rest else facts
            self._send(json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _fail(self, status, code):
        self.send_response(status)
        self.send_header("X-Error-Code", code)
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
    server.asked, server.repositories = [], {"org/name": FILES | LEFT}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


# The client asks a hub that does not answer six times, and waits 24 seconds in between.
PROGRAM = """
import json, sys, time
from scripts.core.errors import UserError
time.sleep = lambda seconds: None
try:
{code}
except UserError as error:
    sys.exit(f"Error: {{error}}")
"""


def run(hub, folder, code, **environment):
    """Run Python with the hub in place; return the finished process."""
    cache = folder / "home/hub"
    address = {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_HOME": str(cache.parent),
        "HF_HUB_CACHE": str(cache),
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=textwrap.indent(code, "    "))],
        cwd=ROOT,
        env={**os.environ, **address, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


FETCH = "from scripts.scoring import fetch_model; fetch_model.main(fetched={!r}, name='m', entry={!r})"


def fetch(hub, folder, name="org/name", revision=None, entry=None, **environment):
    """Run the job that fetches a model; return the finished process, and what it wrote."""
    target = folder / "fetched.json"
    entry = {"source": {"hub": name, "revision": revision}, "architecture": "encoder", **(entry or {})}
    done = run(hub, folder, FETCH.format(str(target), entry), **environment)
    return done, json.loads(target.read_text(encoding="utf-8")) if target.is_file() else None


def test_a_model_is_fetched_at_its_commit(hub, tmp_path):
    done, fetched = fetch(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    assert fetched == {"source": {"hub": "org/name", "revision": COMMIT, "files": sorted(FILES)}}
    snapshot = tmp_path / f"home/hub/models--org--name/snapshots/{COMMIT}"
    assert {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*")} == FILES.keys()
    assert (snapshot / "model.safetensors").read_bytes() == b"weights"


def test_jobs_that_need_the_same_files_fetch_them_once(hub, tmp_path):
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: fetch(hub, tmp_path)[0].returncode, range(3)))
    assert done == [0, 0, 0]
    assert hub.asked.count(f"GET /org/name/resolve/{COMMIT}/model.safetensors") == 1


def test_weights_in_parts_are_those_of_the_index(hub, tmp_path):
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    parts = dict.fromkeys(index["weight_map"].values(), b"weights")
    stored = {name: data for name, data in FILES.items() if name != "model.safetensors"}
    indexed = {"model.safetensors.index.json": json.dumps(index).encode()}
    hub.repositories["org/name"] = stored | parts | indexed | LEFT
    assert fetch(hub, tmp_path)[1]["source"]["files"] == sorted(stored | parts | indexed)
    del hub.repositories["org/name"]["model-00002-of-00002.safetensors"]
    done, _ = fetch(hub, tmp_path)
    assert "model m: org/name has no model-00002-of-00002.safetensors; correct its entry" in done.stderr


JOBS = """
import pathlib
from scripts.core.models.entries import read_job_system
from scripts.core.models import loading
from scripts.core.models.entries import ScoredModel, read_source
from scripts.core.coreference_systems import sources
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.scoring import fetch_model, score
made, job = pathlib.Path({folder!r}), {job!r}
system = {{"source": {{"hub": "org/system", "revision": None}}, "architecture": "c2f"}}
system |= {{"precision": "float32", "environment": "main"}}
apart = {{**system, "encoder": {{"hub": "org/encoder", "revision": None}}}}
encoder = {{"hub": "org/encoder", "revision": None}}
if {fetch!r}:
    fetch_model.main(fetched=str(made / "model.json"), name="m", entry=job["entry"])
    fetch_model.main(fetched=str(made / "system.json"), name="s", entry=apart)
    fetch_model.main(fetched=str(made / "encoder.json"), name="s", entry={{"source": encoder}})
else:
    score.main(**job, fetched=str(made / "model.json"))
    found = sources.locate_system("s", read_job_system(apart), fetched=str(made / "system.json"))
    Resolver.load(found.checkpoint)
    assert (found.encoder / "model.safetensors").is_file()
    trained_on = ScoredModel(source=read_source(encoder))
    assert loading.locate_model("s", trained_on, fetched=str(made / "encoder.json")).folder == found.encoder
"""


def members(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_fetched_runs_without_the_network(hub, tmp_path):
    """An adapter, its base, a tokenizer apart, a coreference system and encoders: no job asks the Hub."""
    folders = config.load_yaml(builder.build(tmp_path / "zoo", ("tiny-bert",)))["models"]
    model = members(Path(folders["tiny-bert"]["source"]["path"]))
    tokenizer = {name: data for name, data in model.items() if "token" in name or name == "vocab.txt"}
    hub.repositories |= {
        "org/name": {name: data for name, data in model.items() if name not in tokenizer} | LEFT,
        "org/words": tokenizer | LEFT,
        "org/system": members(Path(builder.build_c2f(tmp_path / "system")["source"]["path"])) | LEFT,
        "org/encoder": model | LEFT,
    }
    base, _ = builder.load("m", folders["tiny-bert"], device="cpu")
    adapter = peft.LoraConfig(target_modules=["query"], init_lora_weights=False)
    peft.get_peft_model(base, adapter).save_pretrained(tmp_path / "adapter")
    hub.repositories["org/adapter"] = members(tmp_path / "adapter") | {"README.md": b"An adapter"}
    table = pd.DataFrame({"instance_id": ["a"], "text": ["The clerk saw ___ ."], "options": [["he", "she"]]})
    files.write_parquet(tmp_path / "instances.parquet", table)
    hubs = {"source": {"hub": "org/name", "revision": None}, "tokenizer": {"hub": "org/words", "revision": None}}
    hubs["adapter"] = {"hub": "org/adapter", "revision": None}
    given = jobs.model_arguments(folders, "tiny-bert", tmp_path)
    job = given | {
        "entry": folders["tiny-bert"] | hubs,
        "instances": str(tmp_path / "instances.parquet"),
        "scores": str(tmp_path / "scores.parquet"),
        "engine": "packed",
    }
    done = run(hub, tmp_path, JOBS.format(folder=str(tmp_path), job=job, fetch=True))
    assert done.returncode == 0, done.stderr
    fetched = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert fetched["tokenizer"]["files"] == sorted(tokenizer), "no weights"
    asked = len(hub.asked)
    for offline in ("1", "0"):
        done = run(hub, tmp_path, JOBS.format(folder=str(tmp_path), job=job, fetch=False), HF_HUB_OFFLINE=offline)
        assert done.returncode == 0, done.stderr
        assert len(files.read_parquet(tmp_path / "scores.parquet")) == 2
        facts = files.parquet_metadata(tmp_path / "scores.parquet")
        assert (facts["source"], facts["adapter"]) == (hubs["source"], hubs["adapter"])
    assert len(hub.asked) == asked
    shutil.rmtree(tmp_path / "home/hub/models--org--words")
    done = run(hub, tmp_path, JOBS.format(folder=str(tmp_path), job=job, fetch=False))
    assert "of org/words was fetched, and is not in this machine's cache" in done.stderr
    assert f"delete {tmp_path}/model.json and run the workflow again" in done.stderr
    assert len(hub.asked) == asked


def without(*names, **more):
    return {name: data for name, data in (FILES | LEFT).items() if name not in names} | more


@pytest.mark.parametrize(
    ("repository", "content", "words"),
    [
        ("org/nome", None, "org/nome is not on the Hub, or not open to you; correct it where"),
        ("org/private", None, "org/private is not on the Hub, or not open to you; .* log in with: hf auth login"),
        (
            "org/closed",
            None,
            "access to org/closed is gated; ask for it at https://huggingface.co/org/closed and log in",
        ),
        ("org/busy", None, r"the Hub takes no more requests for now \(429\)"),
        ("org/down", None, r"the Hub fails \(503\); try again later"),
        ("org/bare", without("model.safetensors", "pytorch_model.bin"), "has neither model.safetensors nor .*bin"),
        ("org/mute", without("tokenizer.json"), "has no tokenizer; add the one that it was trained with"),
    ],
)
def test_what_the_hub_refuses_is_one_line_with_a_remedy(hub, tmp_path, repository, content, words):
    hub.repositories |= {repository: content} if content else {}
    done, fetched = fetch(hub, tmp_path, repository, entry={"gated": False})
    assert done.returncode == 1 and fetched is None
    assert re.fullmatch(f"Error: model m: .*{words}.*\n", done.stderr.splitlines(keepends=True)[-1]), done.stderr


def test_adapter_weights_are_not_the_models(hub, tmp_path):
    hub.repositories["org/name"] = without("model.safetensors", **{"adapter_model.safetensors": b"adapter"})
    assert "pytorch_model.bin" in fetch(hub, tmp_path)[1]["source"]["files"]


def test_a_hub_that_is_not_there(hub, tmp_path):
    assert "log in again with: hf auth login" in fetch(hub, tmp_path, HF_TOKEN="expired")[0].stderr
    (tmp_path / "file").write_text("no folder")
    done, _ = fetch(hub, tmp_path, HF_HUB_CACHE=str(tmp_path / "file/hub"))
    assert "file/hub cannot be written to; let HF_HOME name a folder of yours" in done.stderr
    fetch(hub, tmp_path)
    hub.shutdown()
    hub.server_close()
    # What is in the cache is taken.
    assert fetch(hub, tmp_path)[0].returncode == 0
    shutil.rmtree(tmp_path / "home")
    (tmp_path / "fetched.json").unlink()
    done, fetched = fetch(hub, tmp_path, revision="abc")
    assert done.returncode == 1 and fetched is None
    assert "the Hub cannot be reached and org/name is not in the local cache" in done.stderr
    assert "on a machine with network run: hf download org/name --revision abc" in done.stderr


def test_a_full_disk_says_so():
    error = RuntimeError("download failed")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert re.match("the disk of .* is full; free space", hub_files.explain_failure("org/name", None, error))


DESCRIBE = """
import json
from scripts.core.models.descriptions import describe_repository
print(json.dumps(describe_repository({!r})))
"""


def test_a_model_is_described_from_its_small_files(hub, tmp_path):
    done = run(hub, tmp_path, DESCRIBE.format("org/name"))
    assert done.returncode == 0, done.stderr
    described = json.loads(done.stdout)
    assert described["source"] == {"hub": "org/name", "revision": COMMIT}
    assert (described["classes"], described["context"]) == (["BertForMaskedLM"], 512)
    # Of the configuration, which is that of BERT-base.
    assert [described[key] for key in ("parameters", "licence", "gated")] == [109_514_298, "mit", True]
    assert not any("safetensors" in path for path in hub.asked)
    hub.server_close()
    hub.shutdown()
    # The cache has the files, and does not say that they are gated.
    assert json.loads(run(hub, tmp_path, DESCRIBE.format("org/name")).stdout) == described | {"gated": False}
    done = run(hub, tmp_path, DESCRIBE.format("org/other"))
    assert "Error: the Hub cannot be reached and org/other is not in the local cache" in done.stderr
