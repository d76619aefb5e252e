import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scripts.core.data import upstream
from scripts.upstream import fetch_upstream
from tests.refusals import refused

CONTENT = b"content of the file\n"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def manifest(tmp_path, content=CONTENT, kind="file", path="study/a b.txt", size=None):
    cells = [
        path,
        kind,
        "https://github.com/someone/something",
        COMMIT,
        "data/a b.txt",
        str(len(content) if size is None else size),
        hashlib.sha256(content).hexdigest(),
        "MIT",
    ]
    target = tmp_path / "upstream.tsv"
    target.write_text("# comment\n" + "\t".join(upstream.COLUMNS) + "\n" + "\t".join(cells) + "\n")
    return target


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mirror" / "study").mkdir(parents=True)
    (tmp_path / "mirror" / "study" / "a b.txt").write_bytes(CONTENT)
    return tmp_path / "mirror"


@pytest.fixture
def server():
    """A local web server: ``server.answers`` holds the (status, body) of each request to come, the last one stays."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.paths.append(self.path)
            status, body = self.server.answers[0]
            if len(self.server.answers) > 1:
                self.server.answers.pop(0)
            self.send_response(status)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        web.paths, web.answers = [], [(200, CONTENT)]
        web.address = f"http://127.0.0.1:{web.server_port}"
        threading.Thread(target=web.serve_forever, args=(0.01,), daemon=True).start()
        yield web
        web.shutdown()


def entry(tmp_path, **options):
    (found,) = upstream.read_manifest(manifest(tmp_path, **options)).values()
    return found


def test_a_mirror_is_used_and_verified_and_logs_do_not_name_it(tmp_path, folder, caplog):
    target = tmp_path / "results" / "upstream" / "study" / "a b.txt"
    with caplog.at_level("INFO"):
        fetch_upstream.main(
            manifest=str(manifest(tmp_path)),
            path="study/a b.txt",
            file=str(target),
            mirror=f"{folder}/../{folder.name}",
        )
    assert target.read_bytes() == CONTENT
    assert "from the mirror" in caplog.text and str(folder) not in caplog.text


def test_what_a_mirror_has_not_or_otherwise_is_refused_and_leaves_no_file(tmp_path, folder):
    listed, target, file = manifest(tmp_path), tmp_path / "out/a b.txt", folder / "study/a b.txt"
    with refused(listed, "no file 'study/ab.txt'", "did you mean 'study/a b.txt'"):
        upstream.fetch_to("study/ab.txt", listed, target, folder)
    file.write_bytes(CONTENT.replace(b"c", b"k"))
    with refused(file, "sha256", "config/upstream.tsv", "get an unchanged copy"):
        upstream.fetch_to("study/a b.txt", listed, target, folder)
    file.unlink()
    with refused("the mirror has no such file", "PRONOUN_UPSTREAM_MIRROR"):
        upstream.fetch_to("study/a b.txt", listed, target, folder)
    assert not target.exists()


def test_the_network_gives_the_raw_file_at_the_pinned_commit(tmp_path, server):
    assert upstream.fetch(entry(tmp_path), base=server.address) == CONTENT
    assert server.paths == [f"/someone/something/{COMMIT}/data/a%20b.txt"]
    assert entry(tmp_path).url().startswith("https://raw.githubusercontent.com/someone/something/")


def test_passing_failures_of_the_network_are_tried_again(tmp_path, server):
    server.answers = [(503, b""), (200, CONTENT[:5]), (200, CONTENT)]
    assert upstream.fetch(entry(tmp_path), base=server.address, pause=0) == CONTENT
    assert len(server.paths) == 3


def test_what_the_network_has_not_or_otherwise_is_refused(tmp_path, server):
    server.answers = [(404, b"")]
    with refused("404", "set upstream.mirror"):
        upstream.fetch(entry(tmp_path), base=server.address, pause=0)
    # Nothing is gained by asking again.
    assert len(server.paths) == 1
    server.answers = [(200, CONTENT[::-1])]
    with refused(server.address, "get an unchanged copy"):
        upstream.fetch(entry(tmp_path), base=server.address)
    with refused("cannot be fetched", "PRONOUN_UPSTREAM_MIRROR"):
        upstream.fetch(entry(tmp_path), base="http://127.0.0.1:9", attempts=2, pause=0)


def test_packed_folders_come_from_a_mirror_only(tmp_path, folder, server):
    packed = entry(tmp_path, kind="directory")
    with refused("the network does not"):
        upstream.fetch(packed, base=server.address)
    assert server.paths == []
    assert upstream.fetch(packed, folder) == CONTENT


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "link"}, "kind 'link'"),
        ({"size": "1k"}, "'1k'"),
        ({"path": "../a"}, "'../a'"),
        ({"path": "/a"}, "'/a'"),
    ],
)
def test_broken_manifests_are_named(tmp_path, options, named):
    with refused("upstream.tsv, row 3", named):
        upstream.read_manifest(manifest(tmp_path, **options))


def test_the_projects_manifest_pins_commits_and_digests(root):
    entries = upstream.read_manifest(root / "config" / "upstream.tsv")
    assert "ruff/data.zip" in entries and "litbank/coref/conll.tar.xz" in entries
    for found in entries.values():
        assert len(found.commit) == 40 and len(found.sha256) == 64 and found.size and found.licence
        assert found.repository.startswith("https://github.com/")


@pytest.mark.upstream
def test_the_mirror_holds_what_the_manifest_lists(root, mirror):
    for found in upstream.read_manifest(root / "config" / "upstream.tsv").values():
        assert len(upstream.fetch(found, mirror)) == found.size
