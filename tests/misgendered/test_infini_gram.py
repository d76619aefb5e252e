"""The interface of token counts, against a server of this machine that answers and fails as a test says."""

import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.misgendered.lib import corpora, infini_gram, study
from tests.misgendered import make

GROUPS = study.select_groups(read_pronouns(make.PRONOUNS), study.PRONOUN_GROUPS)


class Server:
    """Counts a text's letters. ``script`` holds (status, text) for the next requests, or seconds to wait; ``seen`` has
    the requests and their times."""

    def __init__(self):
        self.script, self.seen = [], []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.seen.append((body, time.monotonic()))
                planned = owner.script.pop(0) if owner.script else None
                answer = {"count": len(body["query"]), "approx": False, "latency": 1.5, "token_ids": [1]}
                status, text = 200, json.dumps(answer)
                if isinstance(planned, tuple):
                    status, text = planned
                elif planned is not None:
                    time.sleep(planned)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *raised):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    with Server() as running:
        yield running


def counter(server, folder, **changed):
    options = {"pace_seconds": 0, "attempts": 3, "timeout_seconds": 5, "pause_seconds": 0.01} | changed
    return infini_gram.Counter(server.url, "v4_some_corpus", folder, **options)


def refused(function, *arguments):
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_answer_is_kept_with_its_request_and_never_asked_for_again(server, tmp_path):
    assert counter(server, tmp_path).count("xe") == (2, False)
    assert counter(server, tmp_path).count("xe") == (2, False)
    (request,) = [body for body, _ in server.seen]
    assert request == {"index": "v4_some_corpus", "query_type": "count", "query": "xe"}
    (kept,) = tmp_path.rglob("*.json")
    stored = json.loads(kept.read_text(encoding="utf-8"))
    assert stored["request"] == request
    assert stored["answer"] == {"count": 2, "approx": False, "latency": 1.5, "token_ids": [1]}
    assert stored["url"] == server.url and stored["time"]
    # Another index is another question.
    infini_gram.Counter(server.url, "v4_other", tmp_path, 0, 1, 5).count("xe")
    assert len(server.seen) == 2


def test_failures_that_may_pass_are_tried_again(server, tmp_path):
    server.script = [(503, "busy"), (429, "slow down"), (200, '{"error": "overloaded"}')]
    assert counter(server, tmp_path, attempts=4).count("them") == (4, False)
    assert len(server.seen) == 4
    server.script = [(200, "<html>"), 1.0]
    assert counter(server, tmp_path, timeout_seconds=0.3).count("theirs") == (6, False)
    assert len(server.seen) == 7


@pytest.mark.parametrize(
    ("script", "expected", "requests"),
    [
        ([(500, "")] * 3, "no count in v4_some_corpus in 3 attempts (status 500); correct the corpus", 3),
        ([(200, '{"error": "no such index"}')] * 3, "(the service says 'no such index')", 3),
        ([(200, '{"count": "many"}')], "status 200 and no count", 1),
        ([(200, '{"count": -1}')], "status 200 and no count", 1),
        ([(200, "[]")], "status 200 and no count", 1),
        ([(404, "{}")], "status 404 and no count", 1),
    ],
)  # fmt: skip
def test_what_is_no_count_is_refused_and_not_kept(server, tmp_path, script, expected, requests):
    server.script = list(script)
    assert expected in refused(counter(server, tmp_path).count, "xe")
    assert len(server.seen) == requests
    assert not list(tmp_path.rglob("*.json"))


def test_a_server_that_is_not_there_is_refused(tmp_path):
    away = infini_gram.Counter("http://127.0.0.1:9/", "v4", tmp_path, 0, 2, 1, pause_seconds=0.01)
    assert "no count in v4 in 2 attempts (ConnectionError)" in refused(away.count, "xe")


def test_a_damaged_answer_in_the_cache_is_refused(server, tmp_path):
    counter(server, tmp_path).count("xe")
    (kept,) = tmp_path.rglob("*.json")
    for damaged in ("{", "{}", kept.read_text().replace('"xe"', '"she"'), kept.read_text().replace(": 2,", ": null,")):
        kept.write_text(damaged)
        assert f"{kept}: not an answer" in refused(counter(server, tmp_path).count, "xe")


def test_the_pace_is_kept(server, tmp_path):
    slow = counter(server, tmp_path, pace_seconds=0.15)
    for query in ("xe", "Xe", "xem", "xe"):
        slow.count(query)
    times = [at for _, at in server.seen]
    assert len(times) == 3
    assert all(later - earlier > 0.14 for earlier, later in itertools.pairwise(times))


def test_the_table_adds_both_cases_and_says_that_it_counts_tokens(server, tmp_path):
    server.script = [(200, '{"count": 10, "approx": true}')]
    table = infini_gram.table(counter(server, tmp_path), GROUPS, "Some corpus")
    assert list(table.columns) == list(corpora.COLUMNS) and len(table) == 55
    assert set(table.quantity) == {"tokens"} and table.total.isna().all()
    he = table[table.word == "he"].iloc[0]
    assert (he["count"], he.approximate) == (12, True)
    her = table[table.word == "her"]
    assert her["form"].tolist() == ["acc", "pos_dep"] and her["count"].tolist() == [6, 6]
    asked = [body["query"] for body, _ in server.seen]
    assert len(asked) == len(set(asked)) == 2 * len(corpora.distinct_forms(GROUPS))
