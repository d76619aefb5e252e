"""Models behind servers, against a local one."""

import json
import math

import pytest

from scripts.core.generation import servers
from tests.core.generation.completion_server import KEY, TOP, answer, serve
from tests.refusals import refused

API = {"model": "test-model", "interface": "completions", "key": "TEST_SERVER_KEY", "top_logprobs": 3}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    # What is meant for this machine goes through no proxy; there is none at this address.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    with serve() as running:
        yield running


@pytest.fixture
def make(server, tmp_path):
    def client(api=None, top_k=3, **changed):
        options = {"timeout": 0.5, "attempts": 3} | changed
        return servers.Client(
            "mine", API | {"base_url": server.base_url} | (api or {}), tmp_path, 10, top_k=top_k, **options
        )

    return client


@pytest.mark.parametrize("interface", ["completions", "chat"])
def test_what_is_asked_and_what_is_read(server, make, tmp_path, interface):
    found = make({"interface": interface}).complete("Fill in:")
    assert (found.text, found.thought, found.finished) == (" she.", None, True)
    assert (found.prompt_tokens, found.tokens) == (7, 2)
    first, second = found.steps
    assert first.tokens == tuple(TOP) and first.chosen == 0 and second.tokens[0] == "."
    assert first.probabilities == pytest.approx(tuple(TOP.values()))
    ((path, authorisation, body),) = server.seen
    assert authorisation == f"Bearer {KEY}"
    asked = {"model": "test-model", "max_tokens": 10, "temperature": 0}
    if interface == "chat":
        messages = [{"role": "user", "content": "Fill in:"}]
        assert (path, body) == (
            "/v1/chat/completions", asked | {"messages": messages, "logprobs": True, "top_logprobs": 3}
        )  # fmt: skip
    else:
        assert (path, body) == ("/v1/completions", asked | {"prompt": "Fill in:", "logprobs": 3})
    # A prompt needs no log-probabilities.
    assert make({"interface": interface}, top_k=0).complete("Fill in:").steps == ()
    assert server.seen[1][2].keys() & {"logprobs", "top_logprobs"} == set()


def test_nothing_is_asked_twice(server, make, tmp_path):
    first = make().complete("Fill in:")
    assert list(make().complete_all(["Fill in:", "Fill in:"], 2)) == [first, first]
    assert len(server.seen) == 1
    (path,) = tmp_path.rglob("*.json")
    assert json.loads(path.read_text())["body"] == server.seen[0][2]
    # Anything else about the request is another request.
    elsewhere = {"base_url": server.base_url.replace("127.0.0.1", "localhost")}
    for other in (make({"model": "other"}), make(top_k=2), make({"interface": "chat"}), make(elsewhere)):
        other.complete("Fill in:")
    assert list(make().complete_all(["a", "b", "a"], 2)) == [first] * 3
    assert len(server.seen) == len(list(tmp_path.rglob("*.json"))) == 7
    path.write_text(path.read_text()[:40])
    with refused("model mine", "unusable answer", f"delete {path} to ask again"):
        make().complete("Fill in:")


def test_a_written_token_outside_the_most_probable_is_kept(server, make):
    planned = answer({"logprobs": 3})
    planned["choices"][0]["logprobs"]["tokens"][0] = " xe"
    planned["choices"][0]["logprobs"]["token_logprobs"][0] = math.log(0.05)
    server.script = [planned]
    (step, _) = make().complete("Fill in:").steps
    assert step.tokens == (*TOP, " xe") and step.chosen == 3 and step.probabilities[3] == pytest.approx(0.05)


def choice_of(change):
    return lambda body: change(body["choices"][0])


LACKING = {
    "choices": (lambda body: body.pop("choices"), "KeyError: 'choices'"),
    "text": (choice_of(lambda one: one["message"].update(content=None)), "its text or usage has another type"),
    "filtered": (choice_of(lambda one: one.update(finish_reason="content_filter")), "ended because of content_filter"),
    "logprobs": (choice_of(lambda one: one.update(logprobs=None)), "TypeError"),
    "steps": (choice_of(lambda one: one["logprobs"]["content"].clear()), "it has no log-probabilities"),
    "tops": (choice_of(lambda one: one["logprobs"]["content"][1]["top_logprobs"].pop()), "2 of 3 probable tokens"),
    "nan": (choice_of(lambda one: one["logprobs"]["content"][0].update(token="x", logprob=math.nan)), "more than 1"),
    "sum": (choice_of(lambda one: one["logprobs"]["content"][0].update(token="x", logprob=-0.1)), "more than 1"),
    "usage": (lambda body: body.pop("usage"), "KeyError: 'usage'"),
    "counts": (lambda body: body["usage"].update(completion_tokens="2"), "its text or usage has another type"),
}


@pytest.mark.parametrize(("change", "missing"), LACKING.values(), ids=LACKING)
def test_an_answer_that_lacks_something_is_refused_and_not_kept(server, make, tmp_path, change, missing):
    planned = answer({"messages": [], "top_logprobs": 3})
    change(planned)
    server.script = [planned]
    with refused(f"model mine: {server.base_url}/chat/completions", "unusable answer", missing, "entry's api"):
        make({"interface": "chat"}).complete("Fill in:")
    assert not list(tmp_path.rglob("*.json"))


def test_failures_that_may_pass_are_tried_again(server, make):
    server.script = [(429, {"Retry-After": "0.01"}, "{}"), (500, {}, "<html>")]
    assert make().complete("a").text == " she."
    server.script = [0.8]
    assert make().complete("b").text == " she."
    assert len(server.seen) == 5
    server.script = [(500, {}, json.dumps({"error": {"message": f"no {KEY}"}}))] * 3
    with refused("failed (Error code: 500", "no [key]", "run again later"):
        make().complete("c")
    assert len(server.seen) == 8
    with refused("failed (Connection error.)", "run again later"):
        make({"base_url": "http://127.0.0.1:9/v1"}).complete("c")


def said(text):
    return json.dumps({"error": {"message": text}})


LASTING = {
    "a part of the key": ((401, {}, said(f"wrong key {KEY[:9]}")), ["(401, the key)", "SERVER_KEY"]),
    "the key": ((400, {}, said(f"no {KEY}")), ["no [key]", "entry's api"]),
    "a key that the message would be cut within": ((400, {}, said("x" * 172 + KEY)), ["x[key])"]),
    "an echo": ((200, {}, json.dumps({"echo": KEY})), ["repeats the key", "replace key and server"]),
    "a page": ((200, {"Content-Type": "text/html"}, "<html>"), ["unusable answer", "Expecting value", "entry's api"]),
}


@pytest.mark.parametrize(("planned", "named"), LASTING.values(), ids=LASTING)
def test_failures_that_stay_end_the_job_at_once_and_nothing_shows_the_key(
    server, make, tmp_path, caplog, planned, named
):
    caplog.set_level("DEBUG")
    server.script = [planned]
    with refused(*named) as caught:
        make().complete("Fill in:")
    assert len(server.seen) == 1 and not list(tmp_path.rglob("*.json"))
    make().complete("Fill in:")
    shown = [str(caught.value), caplog.text, *(path.read_text() for path in tmp_path.rglob("*.json"))]
    assert not any(KEY[:9] in text for text in shown)


def test_keys(server, make, monkeypatch):
    make({"key": None}).complete("Fill in:")
    assert KEY not in server.seen[0][1]
    with refused("key of TEST_SERVER_KEY unencrypted", "use https"):
        make({"base_url": "http://192.0.2.1/v1"})
    monkeypatch.setenv("TEST_SERVER_KEY", " ")
    with refused("environment variable TEST_SERVER_KEY is not set"):
        make()
