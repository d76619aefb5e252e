"""Models behind servers, against a local one."""

import json
import math

import pytest

from scripts.core.errors import UserError
from scripts.core.generation import servers
from tests.core.generation.completion_server import KEY, TOP, answer, serve

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
    for other in (make({"model": "other"}), make(top_k=2), make({"interface": "chat"})):
        other.complete("Fill in:")
    assert list(make().complete_all(["a", "b", "a"], 2)) == [first] * 3
    assert len(server.seen) == len(list(tmp_path.rglob("*.json"))) == 6
    path.write_text(path.read_text()[:40])
    with pytest.raises(UserError, match=r"model mine: .* unusable answer to .*; delete .*json to ask again"):
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


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (lambda body: body.pop("choices"), "KeyError: 'choices'"),
        (choice_of(lambda choice: choice["message"].update(content=None)), "its text or usage has another type"),
        (choice_of(lambda choice: choice.update(finish_reason="content_filter")), "ended because of content_filter"),
        (choice_of(lambda choice: choice.update(logprobs=None)), "TypeError"),
        (choice_of(lambda choice: choice["logprobs"]["content"].clear()), "it has no log-probabilities"),
        (choice_of(lambda c: c["logprobs"]["content"][1]["top_logprobs"].pop()), "it has 2 of 3 probable tokens"),
        (choice_of(lambda c: c["logprobs"]["content"][0].update(token="x", logprob=math.nan)), "sum to more than 1"),
        (choice_of(lambda c: c["logprobs"]["content"][0].update(token="x", logprob=-0.1)), "sum to more than 1"),
        (lambda body: body.pop("usage"), "KeyError: 'usage'"),
        (lambda body: body["usage"].update(completion_tokens="2"), "its text or usage has another type"),
    ],
)
def test_an_answer_that_lacks_something_is_refused_and_not_kept(server, make, tmp_path, change, missing):
    planned = answer({"messages": [], "top_logprobs": 3})
    change(planned)
    server.script = [planned]
    with pytest.raises(UserError, match=r"unusable answer to request \w{12} .*; correct the entry's api, or") as caught:
        make({"interface": "chat"}).complete("Fill in:")
    assert f"model mine: {server.base_url}/chat/completions" in str(caught.value) and missing in str(caught.value)
    assert not list(tmp_path.rglob("*.json"))


def test_failures_that_may_pass_are_tried_again(server, make):
    server.script = [(429, {"Retry-After": "0.01"}, "{}"), (500, {}, "<html>")]
    assert make().complete("a").text == " she."
    server.script = [0.8]
    assert make().complete("b").text == " she."
    assert len(server.seen) == 5
    server.script = [(500, {}, json.dumps({"error": {"message": f"no {KEY}"}}))] * 3
    with pytest.raises(UserError, match=r"request \w{12} failed \(Error code: 500 - .*no \[key\].*\); run again later"):
        make().complete("c")
    assert len(server.seen) == 8
    with pytest.raises(UserError, match=r"request \w{12} failed \(Connection error.\); run again later"):
        make({"base_url": "http://127.0.0.1:9/v1"}).complete("c")


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (
            (401, {}, json.dumps({"error": {"message": f"wrong key {KEY[:9]}"}})),
            r"\(401, the key\); correct .*SERVER_KEY",
        ),
        ((400, {}, json.dumps({"error": {"message": f"no {KEY}"}})), r"no \[key\]\); correct the entry's api"),
        # A key that the message would be cut within.
        ((400, {}, json.dumps({"error": {"message": "x" * 172 + KEY}})), r"x\[key\]\); correct"),
        ((200, {}, json.dumps({"echo": KEY})), r"repeats the key; replace key and server"),
        (
            (200, {"Content-Type": "text/html"}, "<html>"),
            "unusable answer .*Expecting value.*; correct the entry's api",
        ),
    ],
)
def test_failures_that_stay_end_the_job_at_once_and_nothing_shows_the_key(
    server, make, tmp_path, caplog, planned, message
):
    caplog.set_level("DEBUG")
    server.script = [planned]
    with pytest.raises(UserError, match=message) as caught:
        make().complete("Fill in:")
    assert len(server.seen) == 1 and not list(tmp_path.rglob("*.json"))
    make().complete("Fill in:")
    shown = [str(caught.value), caplog.text, *(path.read_text() for path in tmp_path.rglob("*.json"))]
    assert not any(KEY[:9] in text for text in shown)


def test_keys(server, make, monkeypatch):
    make({"key": None}).complete("Fill in:")
    assert KEY not in server.seen[0][1]
    with pytest.raises(UserError, match="would get the key of TEST_SERVER_KEY unencrypted; use https"):
        make({"base_url": "http://192.0.2.1/v1"})
    monkeypatch.setenv("TEST_SERVER_KEY", " ")
    with pytest.raises(UserError, match="the environment variable TEST_SERVER_KEY is not set"):
        make()
