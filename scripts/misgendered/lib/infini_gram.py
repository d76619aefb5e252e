"""Counts of tokens in large corpora through infini-gram's public interface (Liu et al. 2024).

These are tokens, not documents: another quantity than the paper's Table 11. Queries are case-sensitive, so a form is
asked for in lower case and with an initial capital, and the two are added. Each answer is kept in a file with its
request before it is used, and never asked for again.

Requests go one after the other at a stated pace. Too many requests (429), server errors (5xx), time-outs, broken
connections, answers that are not JSON and what the service calls an error are tried again after growing pauses.
"""

import datetime
import hashlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.errors import UserError
from scripts.misgendered.lib.corpora import COLUMNS, forms_of

if TYPE_CHECKING:
    import pandas

AGAIN = {408, 425, 429}
LONGEST_PAUSE = 60.0


class Counter:
    """Asks for counts, or reads them from the cache.

    Args:
        index: The corpus, as the service calls it, such as ``v4_piletrain_llama``.
        cache: The folder of answers.
        pace_seconds: Between two requests.
        pause_seconds: Before the second attempt; doubled for each later one.
    """

    def __init__(
        self,
        url: str,
        index: str,
        cache: str | Path,
        pace_seconds: float,
        attempts: int,
        timeout_seconds: float,
        pause_seconds: float = 2.0,
    ):
        self.url, self.index, self.cache = url, index, Path(cache)
        self.pace, self.attempts, self.timeout, self.pause = pace_seconds, attempts, timeout_seconds, pause_seconds
        self._last = None

    def count(self, query: str) -> tuple[int, bool]:
        """Return how many tokens there are of a text, and whether the number is approximate.

        Raises:
            UserError: If the service cannot be reached, refuses the request or answers something else than a count.
        """
        request = {"index": self.index, "query_type": "count", "query": query}
        name = hashlib.sha256(json.dumps([self.url, request], sort_keys=True).encode()).hexdigest()
        path = self.cache / self.index / f"{name}.json"
        kept = self._read(path, request)
        if kept is None:
            answer = self._ask(request)
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            kept = {"url": self.url, "request": request, "answer": answer, "time": now}
            files.write_json(path, kept)
        return kept["answer"]["count"], bool(kept["answer"].get("approx", False))

    def _read(self, path: Path, request: dict[str, str]):
        if not path.exists():
            return None
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["request"] == request and _is_count(kept["answer"]):
                return kept
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise UserError(f"{path}: not an answer to the request that it is named for; delete it to ask again")

    def _ask(self, request: dict[str, str]):
        import requests

        for attempt in range(self.attempts):
            if attempt:
                time.sleep(min(self.pause * 2 ** (attempt - 1), LONGEST_PAUSE))
            self._wait()
            try:
                response = requests.post(self.url, json=request, timeout=self.timeout, allow_redirects=False)
            except requests.RequestException as error:
                reason = type(error).__name__
                continue
            if response.status_code in AGAIN or response.status_code >= 500:
                reason = f"status {response.status_code}"
                continue
            try:
                answer = response.json()
            except ValueError:
                reason = f"no JSON, status {response.status_code}"
                continue
            # The service says so, with status 200, of what may pass as well as of what will not.
            if isinstance(answer, dict) and "error" in answer:
                reason = f"the service says {str(answer['error'])[:200]!r}"
                continue
            if response.status_code != 200 or not _is_count(answer):
                raise UserError(
                    f"{self.url}: answers with status {response.status_code} and no count; correct "
                    "misgendered.corpora.interface"
                )
            return answer
        raise UserError(
            f"{self.url}: no count in {self.index} in {self.attempts} attempts ({reason}); correct the corpus in "
            "misgendered.corpora.interface, or run the workflow again later: what was answered is kept"
        )

    def _wait(self):
        """Keep the pace."""
        if self._last is not None:
            time.sleep(max(0.0, self._last + self.pace - time.monotonic()))
        self._last = time.monotonic()


def _is_count(answer: Any):
    count = answer.get("count") if isinstance(answer, dict) else None
    return isinstance(count, int) and not isinstance(count, bool) and count >= 0


def variants(word: str) -> tuple[str, str]:
    """Return how a word is asked for: in lower case and with an initial capital."""
    return (word, word[:1].upper() + word[1:])


def table(counter: Counter, groups: dict, label: str) -> "pandas.DataFrame":
    """Return token counts of all forms, a row for each, with :data:`scripts.misgendered.lib.corpora.COLUMNS`.

    Args:
        groups: As :func:`scripts.misgendered.lib.study.select_groups` returns them.
        label: Of the corpus.

    Returns:
        ``count`` and ``occurrences`` are the sum over :func:`variants`; ``approximate`` if one of them is.
    """
    import pandas as pd

    counted = {}
    rows = []
    for of in forms_of(groups):
        if of["word"] not in counted:
            counted[of["word"]] = [counter.count(variant) for variant in variants(of["word"])]
        answers = counted[of["word"]]
        total = sum(count for count, _ in answers)
        rows.append(
            {
                "corpus": counter.index, "label": label, "quantity": "tokens", **of, "count": total,
                "occurrences": total, "total": None, "approximate": any(approximate for _, approximate in answers),
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
