"""Ask models behind servers with OpenAI's interface, through its own package.

An answer is kept on disk by the digest of its request before it is used: what was paid for once is never asked again,
whatever becomes of the job. An answer that lacks something is refused and not kept. The key comes from an environment
variable and is part of no file, message or digest.
"""

import datetime
import hashlib
import json
import logging
import math
import os
import urllib.parse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from scripts.core import files
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

ENDPOINTS = {"completions": "completions", "chat": "chat/completions"}
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
ENDINGS = {"stop": True, "length": False}
"""Why an answer may end, and whether the model ended it by itself."""
THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers put what a model thought before its answer."""
ROUNDING, MORE = 1e-6, 1e-2
"""By so much a log-probability may exceed 0, and the sum of a step's probabilities 1."""


@dataclass(frozen=True)
class Step:
    """The most probable tokens of a step, best first, and the written one where it is not among them; which that is."""

    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]
    chosen: int


@dataclass(frozen=True)
class Completion:
    """A server's answer to a prompt: text, thought before it (or None), whether it ended by itself, steps, tokens."""

    text: str
    thought: str | None
    finished: bool
    steps: tuple[Step, ...]
    prompt_tokens: int
    tokens: int


class AnswerError(Exception):
    """What is wrong with an answer."""


class Client:
    """One model of one server.

    Args:
        name: The model's name in the registry; used in messages.
        api: The registry entry's ``api``.
        cache: Folder of the answers, shared by all models.
        asked: What requests say besides model and prompt, such as ``max_tokens`` and ``temperature``.
        top_k: How many of the most probable tokens to ask for; 0 for none.
        timeout: Seconds without a byte from the server.
        attempts: How often a request is sent at most.

    Raises:
        UserError: If the key's variable is not set, or the key would travel unencrypted.
    """

    def __init__(
        self, name: str, api: dict[str, Any], cache: str | Path, asked: dict[str, Any], *, top_k: int = 0,
        timeout: float = 60, attempts: int = 6,
    ):  # fmt: skip
        self.name, self.api, self.cache, self.asked, self.top_k = name, api, Path(cache), asked, top_k
        self.chat = api["interface"] == "chat"
        self.url = f"{api['base_url'].rstrip('/')}/{ENDPOINTS[api['interface']]}"
        self.attempts = attempts
        address = urllib.parse.urlsplit(self.url)
        local = address.hostname in LOCAL_HOSTS
        self._key = self._read_key(local or address.scheme == "https")
        # What is meant for this machine goes through no proxy.
        http = openai.DefaultHttpxClient(trust_env=not local)
        client = openai.OpenAI(
            base_url=api["base_url"], api_key=self._key or "none", timeout=timeout, max_retries=attempts - 1,
            http_client=http,
        )  # fmt: skip
        self._create = (client.chat.completions if self.chat else client.completions).with_raw_response.create

    def _read_key(self, safe: bool) -> str | None:
        variable, where = self.api["key"], self.api["base_url"]
        if variable is None:
            return None
        key = os.environ.get(variable, "").strip()
        if not key:
            raise UserError(
                f"model {self.name}: the environment variable {variable} is not set; it must hold the key of {where}"
            )
        if not safe:
            raise UserError(
                f"model {self.name}: {where} would get the key of {variable} unencrypted; use https in the registry"
            )
        return key

    def request(self, prompt: str) -> dict[str, Any]:
        """Return the body of the request that asks for a continuation of ``prompt``."""
        body = {"model": self.api["model"], **self.asked}
        if self.chat:
            body["messages"] = [{"role": "user", "content": prompt}]
            return body | ({"logprobs": True, "top_logprobs": self.top_k} if self.top_k else {})
        return body | {"prompt": prompt} | ({"logprobs": self.top_k} if self.top_k else {})

    def path(self, prompt: str) -> Path:
        """Return where the answer to ``prompt`` is kept: its name is the digest of address and request."""
        asked = json.dumps({"url": self.url, "body": self.request(prompt)}, sort_keys=True)
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return self.cache / digest[:2] / f"{digest}.json"

    def complete(self, prompt: str) -> Completion:
        """Return the answer to one prompt, from disk or from the server.

        Raises:
            UserError: If the server refuses, cannot be reached, or sends what cannot be used; if what is kept cannot.
        """
        path = self.path(prompt)
        if path.exists():
            try:
                return parse(json.loads(path.read_text(encoding="utf-8"))["response"], self.chat, self.top_k)
            except (ValueError, KeyError, TypeError, AnswerError) as error:
                raise UserError(
                    f"model {self.name}: {path}: not a complete answer ({error}); delete the file to ask again"
                ) from error
        response = self._ask(prompt, path.stem[:12])
        try:
            completion = parse(response, self.chat, self.top_k)
        except AnswerError as error:
            raise UserError(
                f"model {self.name}: the answer of {self.url} to request {path.stem[:12]} {error}; it is not kept: "
                "correct the entry's api, or use another server"
            ) from error
        received = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        kept = {"url": self.url, "body": self.request(prompt), "received": received, "response": response}
        files.write_json(path, kept)
        return completion

    def complete_all(self, prompts: Sequence[str], parallel: int) -> Iterator[Completion]:
        """Yield the answers to ``prompts`` in their order, ``parallel`` requests at a time; the first failure ends it.

        Equal prompts are one request.
        """
        with ThreadPoolExecutor(max_workers=parallel) as pool:
            waiting = {prompt: pool.submit(self.complete, prompt) for prompt in dict.fromkeys(prompts)}
            try:
                for prompt in prompts:
                    yield waiting[prompt].result()
            finally:
                for future in waiting.values():
                    future.cancel()

    def _ask(self, prompt: str, digest: str) -> Any:
        where = f"model {self.name}: {self.url}"
        try:
            text = self._create(**self.request(prompt)).http_response.text
        # Servers repeat parts of a wrong key, so their words are left out.
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            source = f"the key in {self.api['key']}" if self._key else "a request without a key"
            raise UserError(f"{where} refuses {source} ({error.status_code}); correct the key or the entry") from None
        except openai.APIStatusError as error:
            remedy = "correct the entry's api" if error.status_code < 429 else "run again later, the others are kept"
            raise UserError(
                f"{where} refuses request {digest} ({error.status_code}: {self._hidden(error.message)}); {remedy}"
            ) from None
        except openai.APIConnectionError as error:
            raise UserError(
                f"{where}: no answer to request {digest} after {self.attempts} attempts ({self._hidden(error)}); "
                "run again later, the others are kept"
            ) from None
        if self._key and self._key in text:
            raise UserError(f"{where}: the answer to request {digest} repeats the key; replace the key and the server")
        try:
            return json.loads(text)
        except ValueError:
            raise UserError(f"{where}: the answer to request {digest} is not JSON; correct api.base_url") from None

    def _hidden(self, words: object) -> str:
        line = " ".join(str(words).split())
        return (line.replace(self._key, "[key]") if self._key else line)[:200]


def part(value: Any, *keys: str | int) -> Any:
    """Return what stands at a path in a decoded answer.

    Raises:
        AnswerError: If there is nothing.
    """
    for depth, key in enumerate(keys, 1):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = None
        if value is None:
            raise AnswerError(f"lacks {'.'.join(map(str, keys[:depth]))}")
    return value


def parse(response: Any, chat: bool, top_k: int) -> Completion:
    """Return what a server's decoded answer holds.

    Raises:
        AnswerError: If it lacks a part, was cut off by the server, or holds fewer probable tokens than were asked for.
    """
    choice = part(response, "choices", 0)
    text = part(choice, "message", "content") if chat else part(choice, "text")
    thought = next(filter(None, map(choice["message"].get, THOUGHTS)), None) if chat else None
    ending = part(choice, "finish_reason")
    if ending not in ENDINGS:
        raise AnswerError(f"ended because of {ending}")
    steps = tuple(_chat_steps(choice, top_k) if chat else _steps(choice, top_k)) if top_k else ()
    if top_k and text and not steps:
        raise AnswerError("lacks log-probabilities")
    counted = [part(response, "usage", key) for key in ("prompt_tokens", "completion_tokens")]
    if not isinstance(text, str) or not all(isinstance(count, int) for count in counted):
        raise AnswerError("has another type in its text or its usage")
    return Completion(text, thought, ENDINGS[ending], steps, *counted)


def _chat_steps(choice: dict, top_k: int) -> Iterator[Step]:
    for item in part(choice, "logprobs", "content"):
        top = [(part(one, "token"), part(one, "logprob")) for one in part(item, "top_logprobs")]
        yield _step(part(item, "token"), part(item, "logprob"), top, top_k)


def _steps(choice: dict, top_k: int) -> Iterator[Step]:
    lists = [part(choice, "logprobs", key) for key in ("tokens", "token_logprobs", "top_logprobs")]
    if len(set(map(len, lists))) > 1:
        raise AnswerError("has log-probabilities of some tokens only")
    for token, value, top in zip(*lists, strict=True):
        yield _step(token, value, list((top or {}).items()), top_k)


def _step(token: str, value: float, top: list[tuple[str, float]], top_k: int) -> Step:
    if len(top) < top_k:
        raise AnswerError(f"has {len(top)} of {top_k} probable tokens of a step")
    if token not in [name for name, _ in top]:
        top = [*top, (token, value)]
    if not all(isinstance(number, int | float) and number <= ROUNDING for _, number in top):
        raise AnswerError("has a log-probability that is no number up to 0")
    names, numbers = zip(*sorted(top, key=lambda pair: -pair[1]), strict=True)
    probabilities = tuple(map(math.exp, numbers))
    if sum(probabilities) > 1 + MORE:
        raise AnswerError("has probabilities that sum to more than 1")
    return Step(names, probabilities, names.index(token))
