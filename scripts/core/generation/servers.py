"""Ask models behind servers with OpenAI's interface, through its own package.

An answer is kept on disk by the digest of its request before it is used: what was paid for once is never asked again,
whatever becomes of the job. An answer that lacks something is refused and not kept. The key comes from an environment
variable and is part of no file, message or digest.
"""

import datetime
import hashlib
import importlib.metadata
import json
import math
import os
import urllib.parse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
from tqdm import tqdm

from scripts.core import files
from scripts.core.errors import UserError, describe_error
from scripts.core.provenance import closure

ROOT = Path(__file__).resolve().parents[3]
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
ENDINGS = {"stop": True, "length": False}
"""Why an answer may end, and whether the model ended it by itself."""
MORE = 1e-2
"""By so much the sum of a step's probabilities may exceed 1: servers round."""


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


class Client:
    """One model of one server.

    Args:
        name: The model's name in the registry; used in messages.
        api: The registry entry's ``api``.
        cache: Folder of the answers, shared by all models.
        max_tokens: Tokens of an answer at most.
        top_k: How many of the most probable tokens to ask for; 0 for none.
        timeout: Seconds without a byte from the server.
        attempts: How often a request is sent at most.

    Raises:
        UserError: If the key's variable is not set, or the key would travel unencrypted.
    """

    def __init__(
        self, name: str, api: dict[str, Any], cache: str | Path, max_tokens: int, *, top_k: int = 0,
        timeout: float = 60, attempts: int = 6,
    ):  # fmt: skip
        self.api, self.cache, self.max_tokens, self.top_k = api, Path(cache), max_tokens, top_k
        self.chat = api["interface"] == "chat"
        self.url = f"{api['base_url'].rstrip('/')}/{'chat/completions' if self.chat else 'completions'}"
        self.where = f"model {name}: {self.url}"
        address = urllib.parse.urlsplit(api["base_url"])
        local = address.hostname in LOCAL_HOSTS
        self.key = os.environ.get(api["key"] or "", "").strip()
        if api["key"] and not self.key:
            raise UserError(f"{self.where}: the environment variable {api['key']} is not set; it must hold the key")
        if self.key and not local and address.scheme != "https":
            raise UserError(f"{self.where} would get the key of {api['key']} unencrypted; use https in the registry")
        # What is meant for this machine goes through no proxy.
        http = openai.DefaultHttpxClient(trust_env=not local)
        client = openai.OpenAI(
            base_url=api["base_url"], api_key=self.key or "none", timeout=timeout, max_retries=attempts - 1,
            http_client=http,
        )  # fmt: skip
        self.create = (client.chat.completions if self.chat else client.completions).with_raw_response.create

    def request(self, prompt: str) -> dict[str, Any]:
        """Return what is asked for a continuation of ``prompt``."""
        body = {"model": self.api["model"], "max_tokens": self.max_tokens, "temperature": 0}
        if self.chat:
            body["messages"] = [{"role": "user", "content": prompt}]
            return body | ({"logprobs": True, "top_logprobs": self.top_k} if self.top_k else {})
        return body | {"prompt": prompt} | ({"logprobs": self.top_k} if self.top_k else {})

    def complete(self, prompt: str) -> Completion:
        """Return the answer to one prompt, from disk or from the server.

        Raises:
            UserError: If the server refuses, cannot be reached, or sends what cannot be used; if what is kept cannot.
        """
        asked = {"url": self.url, "body": self.request(prompt)}
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        path = self.cache / digest[:2] / f"{digest}.json"
        known = path.exists()
        try:
            text = path.read_text(encoding="utf-8") if known else self.ask(asked["body"], digest[:12])
            response = json.loads(text)["response"] if known else json.loads(text)
            completion = parse_answer(response, self.chat, self.top_k)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            problem = str(error) if isinstance(error, ValueError) else describe_error(error)
            remedy = f"delete {path} to ask again" if known else "correct the entry's api, or use another server"
            raise UserError(f"{self.where}: unusable answer to request {digest[:12]} ({problem}); {remedy}") from error
        if not known:
            received = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            files.write_json(path, asked | {"received": received, "response": response})
        return completion

    def complete_all(self, prompts: Sequence[str], parallel: int) -> Iterator[Completion]:
        """Yield the answers to ``prompts`` in their order, ``parallel`` requests at a time; the first failure ends it.

        Equal prompts are one request.
        """
        with ThreadPoolExecutor(max_workers=parallel) as pool:
            waiting = {prompt: pool.submit(self.complete, prompt) for prompt in dict.fromkeys(prompts)}
            try:
                for prompt in tqdm(prompts, self.api["model"], unit="prompt"):
                    yield waiting[prompt].result()
            finally:
                pool.shutdown(cancel_futures=True)

    def ask(self, body: dict[str, Any], digest: str) -> str:
        """Return what the server sends as text; servers repeat keys, so that nothing with one is shown or returned."""
        try:
            text = self.create(**body).http_response.text
        except openai.APIError as error:
            status = getattr(error, "status_code", None)
            # The words of a server that refuses a key hold parts of it.
            words = f"{status}, the key" if status in (401, 403) else " ".join(str(error).split())
            words = (words.replace(self.key, "[key]") if self.key else words)[:200]
            remedy = "run again later, the others are kept"
            if status and status < 429:
                remedy = f"correct the entry's api or the key ({self.api['key']})"
            raise UserError(f"{self.where}: request {digest} failed ({words}); {remedy}") from None
        if self.key and self.key in text:
            raise UserError(f"{self.where}: the answer to request {digest} repeats the key; replace key and server")
        return text

    def facts(self, name: str, entry: dict[str, Any], script: str) -> dict[str, Any]:
        """Return what the metadata of a file of answers say of the model and of what asked it."""
        return {
            "model": name,
            "source": {key: self.api[key] for key in ("base_url", "model", "interface")},
            "revision": None,
            "architecture": entry["architecture"],
            "demonstration": entry["demonstration"],
            "libraries": {"openai": importlib.metadata.version("openai")},
            "code": closure.digest_modules(script, str(ROOT)),
        }


def parse_answer(response: Any, chat: bool, top_k: int) -> Completion:
    """Return what a server's decoded answer holds.

    Raises:
        LookupError, TypeError, AttributeError: If it lacks a part.
        ValueError: If it was cut off by the server, or lacks probable tokens that were asked for.
    """
    choice = response["choices"][0]
    text = choice["message"]["content"] if chat else choice["text"]
    thoughts = [choice["message"].get(name) for name in ("reasoning_content", "reasoning")] if chat else []
    counts = [response["usage"][name] for name in ("prompt_tokens", "completion_tokens")]
    if not isinstance(text, str) or not all(isinstance(count, int) for count in counts):
        raise ValueError("its text or usage has another type")
    if choice["finish_reason"] not in ENDINGS:
        raise ValueError(f"it ended because of {choice['finish_reason']}")
    steps: list[Step] = []
    if top_k and chat:
        for item in choice["logprobs"]["content"]:
            top = [(one["token"], one["logprob"]) for one in item["top_logprobs"]]
            steps.append(rank_tokens(item["token"], item["logprob"], top, top_k))
    elif top_k:
        columns = (choice["logprobs"][name] for name in ("tokens", "token_logprobs", "top_logprobs"))
        for token, value, top in zip(*columns, strict=True):
            steps.append(rank_tokens(token, value, list(top.items()), top_k))
    if top_k and text and not steps:
        raise ValueError("it has no log-probabilities")
    thought = next(filter(None, thoughts), None)
    return Completion(text, thought, ENDINGS[choice["finish_reason"]], tuple(steps), *counts)


def rank_tokens(token: str, value: float, top: list[tuple[str, float]], top_k: int) -> Step:
    """Return a step from the written token and the most probable ones, with their log-probabilities."""
    if len(top) < top_k:
        raise ValueError(f"it has {len(top)} of {top_k} probable tokens of a step")
    ranked = sorted(top if token in dict(top) else [*top, (token, value)], key=lambda pair: -pair[1])
    tokens, numbers = zip(*ranked, strict=True)
    probabilities = tuple(map(math.exp, numbers))
    # Not a number is not below anything.
    if not sum(probabilities) <= 1 + MORE:
        raise ValueError("the probabilities of a step sum to more than 1")
    return Step(tokens, probabilities, tokens.index(token))
