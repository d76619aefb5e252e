"""Log-likelihoods of given texts through servers that return the log-probabilities of a prompt.

A score is what the engines here compute for a decoder (:mod:`scripts.core.engines.scoring`): the sum of the
log-probabilities of the tokens that the model's own tokenizer makes of the text, but the first. Servers tell them in
one of three ways (``api.scoring.answers`` of the registry):

* ``prompt_logprobs``, a field of vLLM's: one entry for each token, by its id.
* ``echo``, OpenAI's way: ``echo`` and ``logprobs`` together; the first token has none.
* ``llama_cpp``: the same in the server of llama-cpp-python, which differs in three points (version 0.3.36 was read). It
  takes no token ids, so it is sent text, with the token that begins every text in front, and must not add that token
  itself. It leaves that token out of its list and has no number for the one behind it, which a second request asks for
  (that token is forced by a bias, and the number given is the one without the bias). And its list is one place off
  where texts begin with no such token: those models are refused.

The first two are sent the ids of the tokens. What comes back must be the same tokens, or the job ends: a server that
reads a text otherwise scores another text.
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core import files
from scripts.core.engines import completions
from scripts.core.engines.batches import TextReader
from scripts.core.engines.completions import UnparsableError
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = ("prompt_logprobs", "echo", "llama_cpp")

# The first call is 0, and 1 is its repetition for the gate.
FIRST_WATCH_CALL = 2

# Requests between two checks of a server: what is lost at most when a check fails, or a job is killed.
BETWEEN_CHECKS = 100

# Far above what a token's logit can be below the best one's, and the most that OpenAI's interface takes.
BIAS = 100


@dataclass(frozen=True)
class EchoRequest:
    """One request.

    Attributes:
        ids: The tokens of the text, special ones included.
        call: 0; other numbers ask for the same again, and their answers are kept apart.
        opening: Whether the token behind the first is asked for alone (``llama_cpp``).
    """

    text: str
    ids: tuple
    call: int = 0
    opening: bool = False


@dataclass(frozen=True)
class EchoedText:
    """Log-probabilities (nats) of the tokens of a text, and the tokens that the server billed."""

    values: tuple
    prompt_tokens: int
    completion_tokens: int


class LikelihoodClient(completions.Client):
    """One model of one server, asked for the log-probabilities of given texts; see :class:`completions.Client`.

    Args:
        name, api, cache, options: As for :class:`completions.Client`; ``api`` has ``scoring``, whose ``answers`` is one
            of :data:`ANSWERS`.
        tokenizer: The served model's, a ``transformers.PreTrainedTokenizerBase``.

    Raises:
        UserError: As :class:`completions.Client`; or if the server's way is not for this tokenizer.

    Attributes:
        unchecked (dict or None): Answers (by their path on disk) that wait for a check of the server
            (:mod:`scripts.core.engines.server_gate`): they are written by :meth:`accept` alone. None: every answer is
            written at once.
    """

    KEPT = "what was answered up to the last check of the server is kept"

    def __init__(self, name: str, api: dict[str, Any], cache: str | Path, tokenizer: Any, **options: Any):
        super().__init__(name, api, cache, max_tokens=1, top_k=1, **options)
        self.tokenizer = tokenizer
        self.unchecked: dict | None = None
        self.answers = api["scoring"]["answers"]
        special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
        first = (tokenizer("a")["input_ids"] or [None])[0]
        self.beginning: Any = tokenizer.convert_ids_to_tokens(first) if first in special else None
        if self.answers == "llama_cpp" and self.beginning is None:
            raise UserError(
                f"model {name}: its tokenizer begins texts with no special token, and llama-cpp-python's numbers are "
                "one place off for such models; serve it with vLLM and set api.scoring.answers to prompt_logprobs"
            )

    def asked(self, text: str, call: int = 0) -> EchoRequest:
        """Return the request for a text."""
        return EchoRequest(text, tuple(self.tokenizer(text)["input_ids"]), call)

    def request(self, asked: EchoRequest) -> dict[str, Any]:
        """Return the body of a request."""
        body = {"model": self.api["model"], "max_tokens": 1, "temperature": 0}
        if self.answers == "prompt_logprobs":
            return body | {"prompt": list(asked.ids), "prompt_logprobs": 0}
        if self.answers == "echo":
            return body | {"prompt": list(asked.ids), "echo": True, "logprobs": 1}
        if asked.opening:
            bias = {str(asked.ids[1]): BIAS}
            return body | {"prompt": self.beginning, "logprobs": 1, "logit_bias": bias}
        return body | {"prompt": self.beginning + asked.text, "echo": True, "logprobs": 1}

    def path(self, asked: EchoRequest) -> Path:
        """Return where an answer is kept; a repeated call has a place of its own."""
        known = super().path(asked)
        if not asked.call:
            return known
        digest = hashlib.sha256(json.dumps([known.stem, asked.call]).encode()).hexdigest()
        return self.cache / digest[:2] / f"{digest}.json"

    def kept(self, asked: EchoRequest) -> EchoedText | None:
        """Return the answer that is on disk or waits for a check, or None."""
        waiting = (self.unchecked or {}).get(self.path(asked))
        return super().kept(asked) if waiting is None else self.parse(waiting["response"], asked)

    def keep(self, asked: EchoRequest, answer: dict[str, Any]) -> None:
        """Write an answer to disk, or hold it until the server was checked."""
        if self.unchecked is None:
            super().keep(asked, answer)
        else:
            self.unchecked[self.path(asked)] = answer

    def accept(self) -> None:
        """Write what waited for a check that held."""
        for path, answer in (self.unchecked or {}).items():
            files.write_json(path, answer)
        self.unchecked = {}

    def tokens_of(self, asked: EchoRequest) -> int:
        """Return how many tokens a request has."""
        return 1 if asked.opening else len(asked.ids)

    def parse(self, response: dict[str, Any], asked: EchoRequest) -> EchoedText:
        """Return the log-probabilities in a decoded answer.

        Raises:
            UnparsableError: If they are not there, or not of the tokens of the text.
        """
        try:
            choice = response["choices"][0]
            if self.answers == "prompt_logprobs":
                values = _by_id(choice["prompt_logprobs"], asked.ids)
            elif asked.opening:
                values = [choice["logprobs"]["token_logprobs"][0]]
                self._check_tokens(choice["logprobs"]["tokens"][:1], asked.ids[1:2])
            else:
                values = self._echoed(choice["logprobs"], response.get("usage") or {}, asked)
            usage = response.get("usage") or {}
            counts = [int(usage.get(key) or 0) for key in ("prompt_tokens", "completion_tokens")]
            numbers = tuple(map(float, values))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnparsableError("the answer holds no log-probabilities of the prompt") from error
        if not all(math.isfinite(number) for number in numbers):
            raise UnparsableError("a log-probability in the answer is not finite")
        return EchoedText(numbers, *counts)

    def _echoed(self, listed: dict[str, Any], usage: dict[str, Any], asked: EchoRequest):
        """Return the numbers of an echoed prompt: all but the first token's, which has none."""
        ids = asked.ids[1:] if self.answers == "llama_cpp" else asked.ids
        tokens, values = listed["tokens"], listed["token_logprobs"]
        generated = int(usage.get("completion_tokens", len(tokens) - len(ids)))
        if len(tokens) != len(values) or len(tokens) != len(ids) + generated:
            raise UnparsableError(
                f"the text has {len(ids)} tokens, and the answer lists {len(tokens) - generated}; the server reads it "
                "otherwise"
            )
        self._check_tokens(tokens[: len(ids)], ids)
        if values[0] is not None:
            raise UnparsableError("the answer has a number for the first token, so its numbers belong to other places")
        return values[1 : len(ids)]

    def _check_tokens(self, tokens: Sequence[Any], ids: Sequence[int]):
        """Refuse tokens that are not those of the text; pieces of characters have no text to compare."""
        for place, (token, number) in enumerate(zip(tokens, ids, strict=True)):
            piece = _plain(self.tokenizer.decode([number], clean_up_tokenization_spaces=False))
            # vLLM may write token_id:N.
            if "\ufffd" in piece or token == f"token_id:{number}" or not isinstance(token, str):
                continue
            known = (piece, _plain(self.tokenizer.convert_ids_to_tokens(number)))
            if _plain(token) not in known and "\ufffd" not in token:
                raise UnparsableError(
                    f"token {place + 1} is {token!r} there and {piece!r} here; the server reads the text otherwise"
                )

    def score(self, text: str, call: int = 0) -> EchoedText:
        """Return the log-probabilities of the tokens of a text but the first, as :class:`EchoedText`.

        Raises:
            UserError: As :meth:`completions.Client.complete`.
        """
        asked = self.asked(text, call)
        if len(asked.ids) < 2:
            return EchoedText((), 0, 0)
        scored: Any = self.complete(asked)
        if self.answers != "llama_cpp":
            return scored
        opening: Any = self.complete(EchoRequest("", asked.ids[:2], call, opening=True))
        return EchoedText(
            opening.values + scored.values,
            opening.prompt_tokens + scored.prompt_tokens,
            opening.completion_tokens + scored.completion_tokens,
        )

    def score_anew(self, text: str) -> EchoedText:
        """Return what :meth:`score` does, asked now; the answers replace those of the last such call."""
        for asked in self.requests(text, call=FIRST_WATCH_CALL):
            self.ask(asked)
        return self.score(text, call=FIRST_WATCH_CALL)

    def requests(self, text: str, call: int = 0) -> list[EchoRequest]:
        """Return the requests that :meth:`score` makes for a text."""
        asked = self.asked(text, call)
        if len(asked.ids) < 2:
            return []
        opening = [EchoRequest("", asked.ids[:2], call, opening=True)] if self.answers == "llama_cpp" else []
        return [asked, *opening]


class ServedTexts(TextReader):
    """What a served decoder reads, and its scores; stands where an engine does.

    Args:
        parallel: Requests under way at the same time.

    Attributes:
        check (callable or None): Called before anything is sent and whenever :data:`BETWEEN_CHECKS` requests were
            answered.
    """

    def __init__(self, client: LikelihoodClient, parallel: int = 1):
        super().__init__(client.tokenizer, "decoder")
        self.client = client
        self.parallel = parallel
        self.check: Callable[[], None] | None = None

    def values(self, rows: "pd.DataFrame", call: int = 0) -> list[np.ndarray]:
        """Return the token log-probabilities of rows of :func:`scripts.core.data.options.option_texts`.

        Every answer is on disk when it returns.
        """
        requests = [asked for text in dict.fromkeys(rows.text) for asked in self.client.requests(text, call)]
        new = [asked for asked in dict.fromkeys(requests) if self.client.kept(asked) is None]
        between = BETWEEN_CHECKS if self.check else max(len(new), 1)
        for start in range(0, len(new), between):
            # What was answered before may be another model's, and so may what comes now.
            if self.check and start == 0:
                self.check()
            for _ in self.client.complete_all(new[start : start + between], self.parallel):
                pass
            if self.check:
                self.check()
        return [np.array(self.client.score(text, call).values) for text in rows.text]


def _by_id(listed: Sequence[Any], ids: Sequence[int]):
    """Return the numbers of vLLM's ``prompt_logprobs``, one for each token but the first."""
    if len(listed) != len(ids):
        raise UnparsableError(
            f"the text has {len(ids)} tokens, and the answer lists {len(listed)}; the server reads it otherwise"
        )
    return [entry[str(number)]["logprob"] for entry, number in zip(listed[1:], ids[1:], strict=True)]


def _plain(token: str):
    """Return a token without what vocabularies write for the space before it."""
    return token.replace("\u0120", " ").replace("\u2581", " ").strip(" ")
