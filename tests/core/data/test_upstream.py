import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scripts.core.data import upstream
from scripts.core.errors import UserError
from scripts.upstream import fetch_upstream

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


def refusal(call, *arguments, **options):
    with pytest.raises(UserError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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


def test_wrong_content_is_refused_and_leaves_no_file(tmp_path, folder):
    (folder / "study" / "a b.txt").write_bytes(CONTENT.replace(b"c", b"k"))
    target = tmp_path / "out" / "a b.txt"
    message = refusal(upstream.fetch_to, "study/a b.txt", manifest(tmp_path), target, folder)
    assert str(folder / "study" / "a b.txt") in message and "get an unchanged copy" in message
    assert not target.exists()


def test_what_the_mirror_lacks_is_named_with_the_remedy(tmp_path, folder):
    (folder / "study" / "a b.txt").unlink()
    message = refusal(upstream.fetch_to, "study/a b.txt", manifest(tmp_path), tmp_path / "x", folder)
    assert "the mirror has no such file" in message and "PRONOUN_UPSTREAM_MIRROR" in message


def test_an_unknown_file_gets_the_nearest_name(tmp_path, folder):
    message = refusal(upstream.fetch_to, "study/ab.txt", manifest(tmp_path), tmp_path / "x", folder)
    assert "lists no file 'study/ab.txt'; did you mean 'study/a b.txt'?" in message


def test_the_network_gives_the_raw_file_at_the_pinned_commit(tmp_path, server):
    assert upstream.fetch(entry(tmp_path), base=server.address) == CONTENT
    assert server.paths == [f"/someone/something/{COMMIT}/data/a%20b.txt"]
    assert entry(tmp_path).url().startswith("https://raw.githubusercontent.com/someone/something/")


def test_passing_failures_of_the_network_are_tried_again(tmp_path, server):
    server.answers = [(503, b""), (200, CONTENT[:5]), (200, CONTENT)]
    assert upstream.fetch(entry(tmp_path), base=server.address, pause=0) == CONTENT
    assert len(server.paths) == 3


def test_a_missing_file_is_not_tried_again(tmp_path, server):
    server.answers = [(404, b"")]
    message = refusal(upstream.fetch, entry(tmp_path), base=server.address, pause=0)
    assert "404" in message and "set upstream.mirror" in message
    assert len(server.paths) == 1


def test_an_unreachable_network_is_named_with_the_remedy(tmp_path):
    message = refusal(upstream.fetch, entry(tmp_path), base="http://127.0.0.1:9", attempts=2, pause=0)
    assert "cannot be fetched" in message and "PRONOUN_UPSTREAM_MIRROR" in message


def test_a_download_that_is_another_file_is_refused(tmp_path, server):
    server.answers = [(200, CONTENT[::-1])]
    assert "get an unchanged copy" in refusal(upstream.fetch, entry(tmp_path), base=server.address)


def test_packed_folders_come_from_a_mirror_only(tmp_path, folder, server):
    packed = entry(tmp_path, kind="directory")
    message = refusal(upstream.fetch, packed, base=server.address)
    assert "the network does not" in message and server.paths == []
    assert upstream.fetch(packed, folder) == CONTENT


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kind": "link"}, "the kind 'link' is unknown"),
        ({"size": "1k"}, "'1k' is not a number of bytes"),
        ({"path": "../a"}, "must be relative"),
        ({"path": "/a"}, "must be relative"),
    ],
)
def test_broken_manifests(tmp_path, options, expected):
    message = refusal(upstream.read_manifest, manifest(tmp_path, **options))
    assert "upstream.tsv, row 3" in message and expected in message


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
