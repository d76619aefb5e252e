"""The client of OpenAI-compatible servers, against a local one."""

import base64
import datetime
import email.utils
import html
import json
import re
import time
import urllib.parse

import pytest

from scripts.core.engines import completions
from scripts.core.errors import UserError
from tests.core.engines.completion_server import KEY, TOP, Server, answer

API = {
    "model": "test-model",
    "interface": "completions",
    "key": "TEST_SERVER_KEY",
    "top_logprobs": 5,
    "requests_per_minute": 60000,
    "usd_per_million_tokens": {"prompt": 1.5, "completion": 2.0},
}


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    # What is meant for this machine goes through no proxy; there is none at this address.
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


@pytest.fixture
def make(server, tmp_path):
    """Return clients of the server whose pauses are recorded instead of waited for."""

    def client(pauses=None, api=None, **changed):
        options = {"max_tokens": 10, "top_k": 5, "timeout": 0.5, "attempts": 4, **changed}
        options["sleep"] = (pauses if pauses is not None else []).append
        return completions.Client("mine", {**API, "base_url": server.base_url, **(api or {})}, tmp_path, **options)

    return client


def kept_files(folder):
    return sorted(folder.rglob("*.json"))


@pytest.mark.parametrize("interface", ["completions", "chat"])
def test_success(server, make, tmp_path, interface):
    client = make(api={"interface": interface})
    found = client.complete("Fill in:")
    assert found.text == " she."
    assert found.finish_reason == "stop"
    assert (found.prompt_tokens, found.completion_tokens) == (7, 2)
    first, second = found.steps
    assert first.tokens == tuple(TOP)
    assert first.probabilities == pytest.approx(tuple(TOP.values()))
    assert first.chosen == 0
    assert second.tokens == (".", "!")
    (path, headers, body, _) = server.seen[0]
    assert path == ("/v1/chat/completions" if interface == "chat" else "/v1/completions")
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("test-model", 10, 0)
    if interface == "chat":
        assert body["messages"] == [{"role": "user", "content": "Fill in:"}]
        assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    else:
        assert (body["prompt"], body["logprobs"]) == ("Fill in:", 5)


def test_a_chosen_token_outside_the_top_is_kept(make, server):
    response = answer({"logprobs": 2})
    response["choices"][0]["logprobs"]["tokens"][0] = " xe"
    response["choices"][0]["logprobs"]["token_logprobs"][0] = -3.0
    server.script = [response]
    step = make().complete("Fill in:").steps[0]
    assert step.tokens == (" she", " he", " xe")
    assert step.chosen == 2
    assert step.probabilities[2] == pytest.approx(0.049787, rel=1e-4)


def test_restart_asks_nothing_twice(make, server, tmp_path):
    first = make().complete("Fill in:")
    (path,) = kept_files(tmp_path)
    again = make()
    assert again.complete("Fill in:") == first
    assert len(server.seen) == 1
    assert again.sent == 0
    kept = json.loads(path.read_text())
    assert kept["body"] == again.request("Fill in:")
    assert kept["url"] == f"{server.base_url}/completions"
    assert kept["response"]["choices"][0]["text"] == " she."
    # Anything else about the request is another request.
    again.complete("Fill in: ")
    make(max_tokens=11).complete("Fill in:")
    make(api={"model": "other"}).complete("Fill in:")
    assert len(server.seen) == len(kept_files(tmp_path)) == 4


def test_a_damaged_answer_on_disk_is_asked_for_again(make, server, tmp_path):
    make().complete("Fill in:")
    (path,) = kept_files(tmp_path)
    path.write_text(path.read_text()[:40])
    assert make().complete("Fill in:").text == " she."
    assert len(server.seen) == 2
    assert json.loads(path.read_text())["response"]


def test_the_key_is_written_nowhere(make, server, tmp_path, caplog):
    caplog.set_level("DEBUG")
    server.script = [(500, {}, json.dumps({"error": {"message": f"broken with {KEY}"}})), None]
    make().complete("Fill in:")
    server.script = [(400, {}, json.dumps({"error": {"message": f"refused for {KEY}"}}))]
    with pytest.raises(UserError) as caught:
        make().complete("Another")
    assert KEY not in str(caught.value) and "[key]" in str(caught.value)
    assert all(KEY.encode() not in path.read_bytes() for path in kept_files(tmp_path))
    assert KEY not in caplog.text
    # Another key finds the same answers.
    assert make().kept("Fill in:") is not None


def encodings(secret):
    """Return forms in which a server may repeat a key."""
    raw = secret.encode()
    return {
        "plain": secret,
        "header": f"Bearer {secret}",
        "base64": base64.b64encode(raw).decode(),
        "base64 of the header": base64.b64encode(f"Bearer {secret}".encode()).decode(),
        "base64 of a user's name and the key": base64.b64encode(f"me:{secret}".encode()).decode(),
        "URL-safe base64": base64.urlsafe_b64encode(raw).decode(),
        "percent": urllib.parse.quote(secret, safe=""),
        "percent throughout": "".join(f"%{byte:02X}" for byte in raw),
        "JSON": json.dumps(secret)[1:-1],
        "JSON throughout": "".join(f"\\u{ord(c):04x}" for c in secret),
        "HTML": html.escape(secret),
        "hexadecimal": raw.hex(),
        "first half": f"{secret[: len(secret) // 2]}...",
        "ends": f"{secret[:5]}********{secret[-4:]}",
    }


# A key of which every encoding is another one.
ODD_KEY = 'sk-Q7"x/9+Zk<?>éTw&4m'
FORMS = sorted(encodings(ODD_KEY))


def pieces(secret, text, length=6):
    """Return the parts of a key, in any of its forms, that a text holds; the ends count from four characters."""
    forms = encodings(secret)
    whole = [forms[name] for name in forms if name not in ("header", "first half", "ends") and "of" not in name]
    found = [form[n : n + length] for form in whole for n in range(len(form) - length + 1)]
    return [part for part in [*found, secret[:5], secret[-4:]] if part in text]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", ["unknown field", "known field", "nested in a known field"])
def test_what_a_server_repeats_of_the_key_is_not_stored(make, server, tmp_path, monkeypatch, form, place):
    monkeypatch.setenv("TEST_SERVER_KEY", ODD_KEY)
    repeated = encodings(ODD_KEY)[form]
    response = answer({"logprobs": 5})
    match place:
        case "unknown field":
            response["echo"] = response["choices"][0]["headers"] = {"Authorization": [repeated], repeated: 1}
        case "known field":
            response["id"] = response["usage"]["total_tokens"] = f"request of {repeated}"
            response["choices"][0]["finish_reason"] = response["choices"][0]["index"] = repeated
        case "nested in a known field":
            response["id"] = response["usage"]["total_tokens"] = {"headers": repeated}
    server.script = [response]
    assert make().complete("Fill in:").text == " she."
    (path,) = kept_files(tmp_path)
    stored = path.read_text(encoding="utf-8")
    assert not pieces(ODD_KEY, stored), stored
    assert not pieces(ODD_KEY, json.loads(stored)["response"].get("id") or "")
    assert repeated not in stored
    # What is kept serves the next run.
    assert make().kept("Fill in:").text == " she."
    assert len(server.seen) == 1


@pytest.mark.parametrize("interface", ["completions", "chat"])
def test_an_answer_is_kept_as_it_was_in_all_that_the_interface_defines(make, server, tmp_path, interface):
    response = answer({"messages": [], "top_logprobs": 5} if interface == "chat" else {"logprobs": 5})
    response |= {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "system_fingerprint": "fp"}
    response["choices"][0]["index"] = 0
    server.script = [response]
    make(api={"interface": interface}).complete("Fill in:")
    (path,) = kept_files(tmp_path)
    assert json.loads(path.read_text())["response"] == response


@pytest.mark.parametrize("place", ["text", "tokens", "alternatives"])
def test_a_generated_text_with_the_key_is_refused_and_not_stored(make, server, tmp_path, place):
    response = answer({"logprobs": 5})
    choice = response["choices"][0]
    match place:
        case "text":
            choice["text"] = f" she {base64.b64encode(KEY.encode()).decode()}"
        case "tokens":
            choice["logprobs"]["tokens"] = [KEY[:9], KEY[9:]]
        case "alternatives":
            choice["logprobs"]["top_logprobs"][0] = {f" {KEY}": -0.1}
    server.script = [response]
    with pytest.raises(
        UserError, match="the generated text repeats the key in TEST_SERVER_KEY; the answer is not kept"
    ):
        make().complete("Fill in:")
    assert not kept_files(tmp_path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_messages_show_no_part_of_the_key(make, server, tmp_path, monkeypatch, caplog, form, status):
    caplog.set_level("DEBUG")
    monkeypatch.setenv("TEST_SERVER_KEY", ODD_KEY)
    repeated = encodings(ODD_KEY)[form]
    server.script = [(status, {}, json.dumps({"error": {"message": f"broken, you sent {repeated} today"}}))] * 4
    with pytest.raises(UserError) as caught:
        make().complete("Fill in:")
    for text in (str(caught.value), caplog.text):
        assert not pieces(ODD_KEY, text), text
        assert repeated not in text
    assert "broken, you sent" in str(caught.value)
    assert "[key]" in str(caught.value)


def test_a_placeholder_for_a_key_hides_and_refuses_nothing_else(make, server, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_SERVER_KEY", "she")
    server.script = [answer({"logprobs": 5})]
    assert make().complete("Fill in:").text == " she."
    assert len(kept_files(tmp_path)) == 1
    assert completions.KeyMask(None).hide("no key") == "no key"


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_too_many_requests_waits_as_long_as_the_server_says(make, server, form):
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=17)
    value = "17" if form == "seconds" else email.utils.format_datetime(moment, usegmt=True)
    server.script = [(429, {"Retry-After": value}, "{}"), None]
    pauses = []
    assert make(pauses).complete("Fill in:").text == " she."
    assert len(server.seen) == 2
    assert [p for p in pauses if p > 1] == [pytest.approx(17, abs=2)]


def test_a_long_wait_ends_the_job(make, server, tmp_path):
    server.script = [(429, {"Retry-After": "86400"}, "{}")]
    with pytest.raises(UserError, match=r"asks to wait 86400 s \(429\); run again later, what was answered is kept"):
        make().complete("Fill in:")
    assert len(server.seen) == 1


def test_a_used_up_quota_is_not_waited_for(make, server):
    error = {"error": {"message": "You exceeded it", "code": "insufficient_quota"}}
    server.script = [(429, {}, json.dumps(error))]
    with pytest.raises(UserError, match="the account's quota is used up"):
        make().complete("Fill in:")
    assert len(server.seen) == 1


def test_server_errors_are_tried_again_with_growing_pauses(make, server):
    server.script = [(500, {}, "oops"), (503, {}, ""), (502, {}, "{}"), None]
    pauses = []
    assert make(pauses).complete("Fill in:").text == " she."
    waits = [p for p in pauses if p >= 1]
    assert len(waits) == 3
    assert all(low <= wait <= low + 1 for low, wait in zip((1, 2, 4), waits, strict=True))


def test_server_errors_end_the_job_at_last(make, server, tmp_path):
    server.script = [(500, {}, "oops")] * 9
    with pytest.raises(UserError, match=r"no answer after 4 attempts \(status 500 \(oops\)\); run again later"):
        make().complete("Fill in:")
    assert len(server.seen) == 4
    assert not kept_files(tmp_path)


def test_time_out(make, server):
    server.script = [2.0, None]
    started = time.monotonic()
    assert make(timeout=0.2).complete("Fill in:").text == " she."
    assert time.monotonic() - started < 1.5
    server.script = [2.0] * 4
    with pytest.raises(UserError, match=r"no answer after 4 attempts \(no answer within 0.2 s\)"):
        make(timeout=0.2).complete("Another")


def test_nobody_there(make, server):
    client = make(api={"base_url": "http://127.0.0.1:9/v1"})
    with pytest.raises(UserError, match=r"no answer after 4 attempts \(connection failed"):
        client.complete("Fill in:")


def test_bad_key(make, server, monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_SERVER_KEY", "sk-wrong")
    with pytest.raises(UserError) as caught:
        make().complete("Fill in:")
    assert re.search(r"refuses the key in TEST_SERVER_KEY \(401\); correct the key", str(caught.value))
    assert "sk-" not in str(caught.value)
    assert len(server.seen) == 1
    assert not kept_files(tmp_path)


def test_missing_key(make, monkeypatch):
    monkeypatch.delenv("TEST_SERVER_KEY")
    with pytest.raises(UserError, match="model mine: the environment variable TEST_SERVER_KEY is not set"):
        make()


def test_a_key_does_not_travel_unencrypted(make):
    with pytest.raises(UserError, match="would get the key of TEST_SERVER_KEY unencrypted"):
        make(api={"base_url": "http://example.org/v1"})


def test_a_server_without_key(make, server, monkeypatch):
    monkeypatch.delenv("TEST_SERVER_KEY")
    server.script = [0.0]
    assert make(api={"key": None}).complete("Fill in:").text == " she."
    assert "Authorization" not in server.seen[0][1]


def test_redirects_are_not_followed(make, server):
    server.script = [(302, {"Location": "https://example.org/"}, "")]
    with pytest.raises(UserError, match=r"refuses the request \(302"):
        make().complete("Fill in:")
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "message"), [(404, "not found .no such model.; correct api.base_url"), (400, "refuses the request .400")]
)
def test_refusals_are_not_tried_again(make, server, status, message):
    server.script = [(status, {}, json.dumps({"error": {"message": "no such model"}}))]
    with pytest.raises(UserError, match=message):
        make().complete("Fill in:")
    assert len(server.seen) == 1


def test_malformed_json_is_tried_again(make, server, tmp_path):
    server.script = [(200, {}, '{"choices": [{"te'), None]
    assert make().complete("Fill in:").text == " she."
    assert len(server.seen) == 2
    server.script = [(200, {}, "<html>")] * 4
    with pytest.raises(UserError, match=r"no answer after 4 attempts \(the answer is not JSON\)"):
        make().complete("Another")
    assert len(kept_files(tmp_path)) == 1


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (lambda r: r["choices"][0].update(logprobs=None), "the answer holds no log-probabilities"),
        (lambda r: r["choices"][0].pop("logprobs"), "the answer holds no log-probabilities"),
        (lambda r: r["choices"][0]["logprobs"].pop("tokens"), "the answer lacks 'tokens'"),
        (lambda r: r.pop("choices"), "the answer lacks 'choices'"),
        (lambda r: r["choices"].clear(), "the answer lacks a part"),
        (lambda r: r["choices"][0]["logprobs"]["tokens"].pop(), "the answer lacks a part"),
    ],
)
def test_answers_without_what_is_needed_are_refused_and_not_kept(make, server, tmp_path, change, missing):
    response = answer({"logprobs": 5})
    change(response)
    server.script = [response]
    with pytest.raises(UserError, match=missing):
        make().complete("Fill in:")
    assert not kept_files(tmp_path)


def test_requests_keep_the_pace(make, server):
    pauses = []
    client = make(pauses, api={"requests_per_minute": 120})
    for i in range(4):
        client.complete(f"Prompt {i}")
    # Nobody waited in the end, so every request is another half second early.
    assert pauses == [pytest.approx(0.5 * i, abs=0.3) for i in (1, 2, 3)]


def test_parallel_requests_come_back_in_order(make, server):
    server.script = [0.3, 0.0, 0.0, 0.0]
    prompts = [f"Prompt {i}" for i in range(8)]
    client = make(timeout=5)
    found = list(client.complete_all(prompts, parallel=4))
    assert [c.text for c in found] == [" she."] * 8
    assert sorted(body["prompt"] for _, _, body, _ in server.seen) == prompts
    assert all(client.kept(prompt) for prompt in prompts)


def test_a_failure_keeps_what_was_answered(make, server, tmp_path):
    server.script = [None, None, (400, {}, "no")]
    with pytest.raises(UserError, match="refuses the request"):
        list(make().complete_all(["one", "two", "three", "four"]))
    assert len(kept_files(tmp_path)) >= 2
    assert len(list(make().complete_all(["one", "two"]))) == 2
    assert [body["prompt"] for _, _, body, _ in server.seen].count("one") == 1


def test_cost_is_estimated_and_refused(make, server):
    client = make()
    prompts = ["x" * 300, "x" * 300, "y" * 301]
    found = client.estimate(prompts)
    # Equal prompts are one request; 100 + 101 tokens at 1.5 dollars and 2 x 10 at 2 dollars a million.
    assert found == {
        "requests": 2,
        "prompt_tokens": 201,
        "completion_tokens": 20,
        "usd": pytest.approx((201 * 1.5 + 20 * 2.0) / 1e6),
    }
    with pytest.raises(UserError, match=r"2 requests may cost about USD 0.0003, more than .*\(0.0001\); raise"):
        client.check_cost(prompts, 0.0001)
    assert not server.seen
    assert client.check_cost(prompts, 0.001)["requests"] == 2
    # What is on disk costs nothing.
    client.complete(prompts[0])
    client.complete(prompts[2])
    assert client.check_cost(prompts, 0.0)["usd"] == 0


def test_the_limit_bounds_what_is_sent_and_attempts_count(make, server):
    """Two requests of 100 + 10 tokens; the first is sent three times before it is answered."""
    client = make()
    prompts = ["x" * 300, "y" * 300]
    price = (100 * 1.5 + 10 * 2.0) / 1e6
    server.script = [(500, {}, "oops"), (500, {}, "oops"), None]
    client.check_cost(prompts, 3.5 * price)
    assert client.complete(prompts[0]).text
    sent = len(server.seen)
    # What was billed for the answer replaces what was expected; the failures may have been billed in full.
    billed = client.complete(prompts[0])
    assert client.spent == pytest.approx(2 * price + client.cost(billed.prompt_tokens, billed.completion_tokens))
    client.limit = client.spent + 0.9 * price
    with pytest.raises(UserError, match=r"3 requests, repeated attempts included, may have cost USD .*cost_limit_usd"):
        client.complete(prompts[1])
    assert len(server.seen) == sent


def test_a_damaged_answer_counts_as_one_to_pay(make, server, tmp_path):
    make().complete("Fill in:")
    (kept,) = kept_files(tmp_path)
    kept.write_text("{")
    assert make().estimate(["Fill in:"])["requests"] == 1


def test_no_more_is_asked_for_than_the_server_gives(make, server):
    client = make(top_k=50, api={"top_logprobs": 2})
    assert client.top_k == 2
    assert client.complete("Fill in:").steps[0].tokens == (" she", " he")
