"""Ask servers with OpenAI's interface for completions with log-probabilities.

Both interfaces are spoken: completions (the model continues a prompt) and chat (the prompt is the user's message).
Every answer is kept on disk with its request before it is used, so that what was paid for once is never asked again,
whatever becomes of the job. The key comes from an environment variable; it is part of no file, message or digest: of an
answer only the fields that the interface defines are kept, and what servers repeat of a key is masked
(:class:`KeyMask`).

Special cases, decided once:

* Temperature 0 is asked for. A server's greedy choice may still vary between calls; what came first is kept.
* Too many requests (429), time-outs, broken connections, server errors (5xx) and answers that are not JSON are tried
  again, after what the server says in ``Retry-After``, otherwise after exponentially growing pauses. A quota that is
  used up is not: waiting does not help.
* An answer without log-probabilities is an error and is not kept; nor is one whose text repeats the key.
* Redirects are not followed, and a key is not sent without encryption but to this machine itself.
"""

import base64
import datetime
import email.utils
import hashlib
import html
import itertools
import json
import logging
import math
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import tenacity

from scripts.core import files
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

ENDPOINTS = {"completions": "completions", "chat": "chat/completions"}

# English has about four characters a token; a third of them is an estimate that errs on the dear side.
CHARACTERS_PER_TOKEN = 3
# What a chat wraps around a message.
CHAT_TOKENS = 16

RETRY_STATUSES = {408, 409, 425, 429}
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
LONGEST_PAUSE = 60.0

# What is kept of an answer: the fields that OpenAI's interface defines. "any" is a value of its own shape.
_TOKEN = {"token": "plain", "logprob": "plain", "bytes": "any"}
KEPT_FIELDS = {
    "id": "plain", "object": "plain", "created": "plain", "model": "plain", "system_fingerprint": "plain",
    "choices": [
        {
            "index": "plain", "text": "plain", "finish_reason": "plain",
            "message": {"role": "plain", "content": "plain"},
            "prompt_logprobs": "any",
            "logprobs": {
                "tokens": "any", "token_logprobs": "any", "top_logprobs": "any", "text_offset": "any",
                "content": [{**_TOKEN, "top_logprobs": [_TOKEN]}],
            },
        }
    ],
    "usage": {"prompt_tokens": "plain", "completion_tokens": "plain", "total_tokens": "plain"},
}  # fmt: skip
GENERATED = {"text", "content", "tokens", "top_logprobs", "prompt_logprobs"}

# So many characters of a key in a row are masked in messages; of its beginning or end fewer, which servers show.
KEY_PART, KEY_END = 6, 4
# A text that holds so many of them repeats the key; shorter keys are placeholders of servers that ask for none.
KEY_REPEATED, KEY_SHORTEST = 12, 8


@dataclass(frozen=True)
class Step:
    """What a server says of one generated token.

    Attributes:
        tokens: The most probable tokens, best first, and the chosen one where it is not among them.
        chosen: Which of them was generated.
    """

    tokens: tuple
    probabilities: tuple
    chosen: int


@dataclass(frozen=True)
class Completion:
    """A server's continuation of one prompt: text, why it ended, one :class:`Step` for each token, tokens billed."""

    text: str
    finish_reason: str
    steps: tuple
    prompt_tokens: int
    completion_tokens: int


class _TryAgain(Exception):
    """A failure that may pass; ``pause`` is how long the server asks to wait, in seconds, or None."""

    def __init__(self, reason: str, pause: float | None = None):
        super().__init__(reason)
        self.pause = pause


class KeyMask:
    """Finds a key, or a part of it, in text: as it is, or in base64, percent, JSON, HTML or hexadecimal encoding."""

    def __init__(self, key: str | None):
        self.key = key or ""
        self.forms = sorted(set(_encodings(self.key))) if key else []
        self._parts = {
            length: {form[n : n + length] for form in self.forms for n in range(len(form) - length + 1)}
            for length in {min(KEY_PART, len(self.key)), min(KEY_REPEATED, len(self.key))}
        }

    def hide(self, text: str) -> str:
        """Return ``text`` with ``[key]`` in place of the key and its parts."""
        if not self.key:
            return text
        hidden = self._covered(text, min(KEY_PART, len(self.key)))
        ends = {end for form in self.forms for end in (form[:KEY_END], form[-KEY_END:]) if len(form) >= KEY_END}
        for end in ends:
            for match in re.finditer(re.escape(end), text):
                hidden |= set(range(*match.span()))
        return "".join(
            "[key]" if masked else "".join(text[place] for place in places)
            for masked, places in itertools.groupby(range(len(text)), key=hidden.__contains__)
        )

    def repeats_key(self, text: str) -> bool:
        """Return whether ``text`` repeats the key, or so much of it that this cannot be an accident."""
        return len(self.key) >= KEY_SHORTEST and bool(self._covered(text, min(KEY_REPEATED, len(self.key))))

    def _covered(self, text: str, length: int):
        """Return the places of ``text`` that lie in ``length`` characters which a form of the key holds too."""
        parts = self._parts[length]
        starts = [n for n in range(len(text) - length + 1) if text[n : n + length] in parts]
        return {place for start in starts for place in range(start, start + length)}


def _encodings(key: str):
    """Yield the forms in which text may hold a key."""
    raw = key.encode()
    yield key
    yield json.dumps(key)[1:-1]
    yield json.dumps(key, ensure_ascii=False)[1:-1]
    yield html.escape(key)
    for escaped in (raw.hex(), "".join(f"%{byte:02x}" for byte in raw), "".join(f"\\u{ord(c):04x}" for c in key)):
        yield escaped
        yield escaped.upper().replace("\\U", "\\u")
    for safe in ("", "/"):
        yield urllib.parse.quote(key, safe=safe)
    yield urllib.parse.quote_plus(key)
    # In base64 three bytes are four characters; what stands before the key ("Bearer ", a user's name) shifts it.
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw).decode().rstrip("=")
            # The first and last characters hold bits of the neighbours too.
            yield encoded[math.ceil(before * 8 / 6) : len(encoded) - bool((before + len(raw)) % 3)]


def keep_fields(value: Any, shape: Any = KEPT_FIELDS) -> Any:
    """Return what is kept of an answer: the fields that ``shape`` names, in the shape that it gives them."""
    if shape == "any":
        return value
    if isinstance(shape, dict):
        known = shape.keys() & value.keys() if isinstance(value, dict) else ()
        return {name: keep_fields(value[name], shape[name]) for name in sorted(known)} if known else None
    if isinstance(shape, list):
        return [keep_fields(member, shape[0]) for member in value] if isinstance(value, list) else None
    return None if isinstance(value, (dict, list)) else value


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a decoded answer, and the texts of each list of tokens as one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from texts_of(member)
    elif isinstance(value, list):
        tokens = [member.get("token") if isinstance(member, dict) else member for member in value]
        yield "".join(token for token in tokens if isinstance(token, str))
        for member in value:
            yield from texts_of(member)


class Client:
    """One model of one server.

    A prompt is a text; a subclass may ask for something else, of which its methods make requests and answers.

    Args:
        name: The model's name in the registry; used in messages.
        api: The registry entry's ``api``: ``base_url``, ``model``, ``interface`` (``completions`` or ``chat``), ``key``
            (an environment variable, or None), ``top_logprobs`` (how many the server gives at most),
            ``requests_per_minute``, ``usd_per_million_tokens`` (``prompt``, ``completion``).
        cache: Folder of the answers, shared by all models.
        max_tokens: Tokens to generate at most.
        top_k: How many of the most probable tokens to ask for.
        timeout: Seconds without a byte from the server.
        attempts: How often a request is sent at most.
        longest_wait: The longest ``Retry-After`` that is waited for, in seconds.
        sleep: Called with seconds.

    Raises:
        UserError: If the key's variable is not set, or the key would travel unencrypted.
    """

    KEPT = "what was answered is kept"

    def __init__(
        self,
        name: str,
        api: dict,
        cache: str | Path,
        *,
        max_tokens: int,
        top_k: int,
        timeout: float = 60.0,
        attempts: int = 6,
        longest_wait: float = 600.0,
        sleep: Callable = time.sleep,
    ):
        self.name = name
        self.api = api
        self.cache = Path(cache)
        self.max_tokens = max_tokens
        self.top_k = min(top_k, api["top_logprobs"])
        self.timeout = timeout
        self.attempts = attempts
        self.longest_wait = longest_wait
        self.sleep = sleep
        self.url = f"{api['base_url'].rstrip('/')}/{ENDPOINTS[api['interface']]}"
        self.sent = 0
        self.limit = math.inf
        self.spent = 0.0
        self._counting = threading.Lock()
        self._local = urllib.parse.urlsplit(self.url).hostname in LOCAL_HOSTS
        self._sessions = threading.local()
        self._pace = _Pace(api["requests_per_minute"], sleep)
        self._key = self._read_key()
        self._mask = KeyMask(self._key)

    def _read_key(self):
        variable = self.api["key"]
        if variable is None:
            return None
        key = os.environ.get(variable, "").strip()
        if not key:
            raise UserError(
                f"model {self.name}: the environment variable {variable} is not set; it must hold the key of "
                f"{self.api['base_url']}"
            )
        if not self.url.startswith("https:") and not self._local:
            raise UserError(
                f"model {self.name}: {self.api['base_url']} would get the key of {variable} unencrypted; "
                "use https in config/models.yaml"
            )
        return key

    def request(self, prompt: str) -> dict[str, Any]:
        """Return the body of the request that asks for a continuation of ``prompt``."""
        body = {"model": self.api["model"], "max_tokens": self.max_tokens, "temperature": 0}
        if self.api["interface"] == "chat":
            messages = [{"role": "user", "content": prompt}]
            return {**body, "messages": messages, "logprobs": True, "top_logprobs": self.top_k}
        return {**body, "prompt": prompt, "logprobs": self.top_k}

    def path(self, prompt: Any) -> Path:
        """Return where the answer to ``prompt`` is kept: its name is the digest of address and request."""
        asked = json.dumps({"url": self.url, "body": self.request(prompt)}, sort_keys=True)
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return self.cache / digest[:2] / f"{digest}.json"

    def kept(self, prompt: Any) -> Any:
        """Return the answer to ``prompt`` that is on disk, or None."""
        path = self.path(prompt)
        try:
            return self.parse(json.loads(path.read_text(encoding="utf-8"))["response"], prompt)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, UnparsableError) as error:
            log.warning("%s: damaged (%s); it is removed, and the server is asked again", path, error)
            path.unlink(missing_ok=True)
            return None

    def estimate(self, prompts: Iterable[Any]) -> dict:
        """Return what the prompts without a kept answer will cost at most.

        Returns:
            ``requests`` to send, their ``prompt_tokens`` (a third of their characters), ``completion_tokens`` (as many
            as may be generated), ``usd`` at the registry's prices.
        """
        new = [prompt for prompt in dict.fromkeys(prompts) if self.kept(prompt) is None]
        prompt_tokens = sum(map(self.tokens_of, new))
        completion_tokens = len(new) * self.max_tokens
        return {
            "requests": len(new),
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "usd": self.cost(prompt_tokens, completion_tokens),
        }

    def tokens_of(self, prompt: str) -> int:
        """Return about how many tokens a prompt has: a third of its characters, and a chat's own."""
        extra = CHAT_TOKENS if self.api["interface"] == "chat" else 0
        return math.ceil(len(prompt) / CHARACTERS_PER_TOKEN) + extra

    def parse(self, response: dict[str, Any], _prompt: Any) -> Completion:
        """Return what a decoded answer to a prompt holds; :func:`parse`."""
        return parse(response, self.api["interface"])

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of so many tokens in US dollars, by the registry."""
        prices = self.api["usd_per_million_tokens"]
        return (prompt_tokens * prices["prompt"] + completion_tokens * prices["completion"]) / 1e6

    def check_cost(self, prompts: Iterable[Any], limit: float, further: float = 0.0) -> dict[str, Any]:
        """Refuse to start what may cost more than ``limit`` US dollars; return the estimate otherwise.

        From then on the limit also bounds what is sent, repeated attempts included. ``further`` is the price of what is
        asked besides the prompts.

        Raises:
            UserError
        """
        estimate = self.estimate(prompts)
        estimate["usd"] += further
        log.info(
            "model %s: %d requests to send, about %d and at most %d tokens: at most about USD %.4f (limit %.4f)",
            self.name, estimate["requests"], estimate["prompt_tokens"], estimate["completion_tokens"], estimate["usd"],
            limit,
        )  # fmt: skip
        if estimate["usd"] > limit:
            raise UserError(
                f"model {self.name}: {estimate['requests']} requests may cost about USD {estimate['usd']:.4f}, more "
                f"than completions.cost_limit_usd ({limit:g}); raise the limit in config.yaml or ask for fewer texts"
            )
        self.limit = limit
        return estimate

    def complete(self, prompt: Any) -> Any:
        """Return the continuation of one prompt, from disk or from the server.

        Raises:
            UserError: If the server refuses, cannot be reached, or sends what cannot be used.
        """
        kept = self.kept(prompt)
        if kept is not None:
            return kept
        return self.ask(prompt)

    def ask(self, prompt: Any) -> Any:
        """Return what the server answers to one prompt now, whatever is on disk, and keep it."""
        body = self.request(prompt)
        response = self._ask(body, self.cost(self.tokens_of(prompt), self.max_tokens))
        try:
            completion = self.parse(response, prompt)
        except UnparsableError as error:
            raise UserError(f"model {self.name}: {self.url}: {error}; use another server or interface") from error
        received = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        kept = {"url": self.url, "body": body, "received": received, "response": self._redacted(response)}
        self.keep(prompt, kept)
        return completion

    def keep(self, prompt: Any, answer: dict[str, Any]) -> None:
        """Write an answer to disk, before it is used."""
        files.write_json(self.path(prompt), answer)

    def _redacted(self, response: dict[str, Any]):
        """Return an answer as it is kept.

        Raises:
            UserError: If the generated text repeats the key: it cannot be masked there without changing what was
                generated.
        """
        kept = self._hidden(keep_fields(response))
        if any(map(self._mask.repeats_key, texts_of(kept["choices"]))):
            raise UserError(
                f"model {self.name}: {self.url}: the generated text repeats the key in {self.api['key']}; the answer "
                "is not kept: replace the key, and use another server"
            )
        return kept

    def _hidden(self, value: Any) -> Any:
        """Mask the key in all texts of an answer but those that were generated."""
        if isinstance(value, dict):
            return {name: member if name in GENERATED else self._hidden(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._hidden(member) for member in value]
        return self._mask.hide(value) if isinstance(value, str) else value

    def complete_all(self, prompts: Iterable[Any], parallel: int = 1) -> Iterator[Any]:
        """Yield the continuations of ``prompts`` in their order, ``parallel`` requests at a time.

        The first failure ends it; what was answered until then is on disk.
        """
        with ThreadPoolExecutor(max_workers=parallel) as pool:
            waiting = [pool.submit(self.complete, prompt) for prompt in prompts]
            try:
                for future in waiting:
                    yield future.result()
            finally:
                for future in waiting:
                    future.cancel()

    def _ask(self, body: dict[str, Any], price: float):
        """Send a request until it is answered and return the answer, decoded; ``price`` is of one attempt, at most."""
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            retry=tenacity.retry_if_exception_type(_TryAgain),
            wait=self._pause,
            sleep=self.sleep,
            before_sleep=self._log_pause,
            reraise=True,
        )
        try:
            return retrying(self._send, body, price)
        except _TryAgain as error:
            raise UserError(
                f"model {self.name}: {self.url}: no answer after {self.attempts} attempts ({error}); "
                f"run again later, {self.KEPT}"
            ) from error

    def _pause(self, state: Any):
        """Return how long to wait before the next attempt, in seconds."""
        asked = state.outcome.exception().pause
        growing = tenacity.wait_exponential_jitter(initial=1, max=LONGEST_PAUSE, jitter=1)(state)
        return growing if asked is None else asked

    def _log_pause(self, state: Any):
        log.info("model %s: %s; waiting %.1f s", self.name, state.outcome.exception(), state.next_action.sleep)

    def _spend(self, price: float):
        """Count one attempt, which may be billed whatever becomes of it.

        Raises:
            UserError: If it may cost more than is left of the limit.
        """
        with self._counting:
            # Sums of prices are not exact in their last digits.
            if self.spent + price > self.limit * (1 + 1e-9):
                raise UserError(
                    f"model {self.name}: {self.url}: {self.sent} requests, repeated attempts included, may have cost "
                    f"USD {self.spent:.4f}, and another would pass completions.cost_limit_usd ({self.limit:g}); raise "
                    f"the limit in config.yaml or run again later, {self.KEPT}"
                )
            self.spent += price
            self.sent += 1

    def _settle(self, decoded: Any, price: float):
        """Put what the server billed for an answer in the place of what was expected at most."""
        usage: Any = decoded.get("usage") if isinstance(decoded, dict) else None
        try:
            billed = self.cost(int(usage["prompt_tokens"]), int(usage["completion_tokens"]))
        except (KeyError, TypeError, ValueError):
            return
        with self._counting:
            self.spent += billed - price

    def _send(self, body: dict[str, Any], price: float):
        self._spend(price)
        self._pace.wait()
        try:
            answer = self._session().post(
                self.url, json=body, auth=self._authorise, timeout=self.timeout, allow_redirects=False
            )
        except requests.Timeout as error:
            raise _TryAgain(f"no answer within {self.timeout:g} s") from error
        except requests.RequestException as error:
            raise _TryAgain(f"connection failed ({type(error).__name__})") from error
        self._check(answer)
        try:
            decoded = answer.json()
        except ValueError as error:
            raise _TryAgain("the answer is not JSON") from error
        self._settle(decoded, price)
        return decoded

    def _session(self):
        """Return this thread's session."""
        if not hasattr(self._sessions, "session"):
            self._sessions.session = requests.Session()
            # What is meant for this machine goes through no proxy.
            self._sessions.session.trust_env = not self._local
        return self._sessions.session

    def _authorise(self, request: requests.PreparedRequest):
        """Add the key; as a function of ours, so that no password file of the user's is read for the server."""
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _check(self, answer: requests.Response):
        """Turn the status of an answer into what is to be done about it."""
        status, where = answer.status_code, f"model {self.name}: {self.url}"
        if status == 200:
            return
        # Some servers repeat parts of a wrong key, so their words are left out here.
        if status in (401, 403):
            source = f"the key in {self.api['key']}" if self._key else "a request without a key"
            raise UserError(f"{where} refuses {source} ({status}); correct the key or the registry entry")
        reason = self._reason(answer)
        if status == 404:
            raise UserError(f"{where}: not found ({reason}); correct api.base_url or api.model in config/models.yaml")
        if status == 429 and "insufficient_quota" in answer.text:
            raise UserError(f"{where}: the account's quota is used up ({reason}); raise it and run again")
        if status in RETRY_STATUSES or status >= 500:
            pause = _retry_after(answer.headers.get("Retry-After"))
            if pause is not None and pause > self.longest_wait:
                raise UserError(f"{where} asks to wait {pause:.0f} s ({status}); run again later, {self.KEPT}")
            raise _TryAgain(f"status {status} ({reason})", pause)
        raise UserError(f"{where} refuses the request ({status}: {reason}); correct the registry entry")

    def _reason(self, answer: requests.Response):
        """Return the server's own words in one short line, without the key."""
        try:
            error = answer.json()["error"]
            words = error["message"] if isinstance(error, dict) else error
        except (ValueError, KeyError, TypeError):
            words = answer.text or answer.reason or "no message"
        line = " ".join(str(words).split())
        return self._mask.hide(line)[:200]


class UnparsableError(Exception):
    """An answer that does not hold what it should; the message says what is missing."""


def parse(response: dict, interface: str) -> Completion:
    """Return the :class:`Completion` in a server's decoded answer.

    Args:
        interface: One of "completions", "chat".

    Raises:
        UnparsableError: If there is no text or there are no log-probabilities in it.
    """
    try:
        choice = response["choices"][0]
        stated = choice.get("logprobs")
        if not stated:
            raise UnparsableError("the answer holds no log-probabilities")
        if interface == "chat":
            text = choice["message"]["content"] or ""
            steps = tuple(
                _step(item["token"], item["logprob"], [(t["token"], t["logprob"]) for t in item["top_logprobs"]])
                for item in stated["content"] or ()
            )
        else:
            text = choice["text"]
            listed = stated["top_logprobs"] or [{} for _ in stated["tokens"]]
            steps = tuple(
                _step(token, value, list((top or {}).items()))
                for token, value, top in zip(stated["tokens"], stated["token_logprobs"], listed, strict=True)
            )
        if text and not steps:
            raise UnparsableError("the answer holds no log-probabilities")
        usage = response.get("usage") or {}
        return Completion(
            text,
            choice.get("finish_reason") or "",
            steps,
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UnparsableError(f"the answer lacks {error if isinstance(error, KeyError) else 'a part'}") from error


def _step(token: str, value: float, top: Iterable[tuple[str, float]]):
    """Return one step from the chosen token, its log-probability and the pairs of the most probable ones."""
    ranked = sorted(top, key=lambda pair: -pair[1])
    if token not in [name for name, _ in ranked]:
        ranked.append((token, value))
    names = tuple(name for name, _ in ranked)
    return Step(names, tuple(math.exp(number) for _, number in ranked), names.index(token))


def _retry_after(value: str | None):
    """Return the seconds that a ``Retry-After`` header asks for (a number or a date), or None."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.datetime.now(moment.tzinfo)).total_seconds())


class _Pace:
    """Lets through so many requests a minute, evenly spaced, whichever thread they come from."""

    def __init__(self, per_minute: float, sleep: Callable[[float], None]):
        self.interval = 60.0 / per_minute
        self.sleep = sleep
        self.next = 0.0
        self.lock = threading.Lock()

    def wait(self) -> None:
        with self.lock:
            now = time.monotonic()
            turn = max(now, self.next)
            self.next = turn + self.interval
        if turn > now:
            self.sleep(turn - now)
