"""Ask a server to continue prompts and keep the most probable tokens of each step."""

import hashlib
import importlib.metadata
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scripts.core import files
from scripts.core.data import instances
from scripts.core.engines import completions, distributions
from scripts.core.provenance import closure
from scripts.core.workflow.job import log, run

# Prompts asked for at once.
WINDOW = 1024

LIBRARIES = ("requests", "tenacity")


def main(
    *,
    texts: str,
    distributions: str,
    usage: str,
    model: str,
    entry: dict,
    top_k: int | str,
    max_new_tokens: int,
    cache: str,
    cost_limit_usd: float,
    timeout_seconds: float = 60,
    attempts: int = 6,
    parallel: int = 1,
) -> None:
    """Write ``distributions`` (Parquet) for the prompts in ``texts`` (Parquet), one request for each distinct one.

    Format: :mod:`scripts.core.engines.distributions`; a server tells no mass over the whole vocabulary, so there is no
    file of masses. Every answer lies in ``cache`` before it is used and is never asked for again. Nothing is sent if
    what is not there yet may cost more than ``cost_limit_usd``. ``usage`` (JSON) says what the server counted.
    """
    api = entry["api"]
    client = completions.Client(
        model,
        api,
        cache,
        max_tokens=max_new_tokens,
        top_k=api["top_logprobs"] if isinstance(top_k, str) else top_k,
        timeout=timeout_seconds,
        attempts=attempts,
    )
    total, prompts = read_prompts(texts)
    estimate = client.check_cost(prompts, cost_limit_usd)
    if client.top_k != top_k:
        log.info("the server gives the %d most probable tokens at most", client.top_k)
    metadata = {
        "model": model,
        "source": {key: api[key] for key in ("base_url", "model", "interface")},
        "revision": None,
        "architecture": entry["architecture"],
        "methods": ["generate"],
        "top_k": client.top_k,
        "max_new_tokens": max_new_tokens,
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "code": closure.digests("scripts/distributions/completions.py", str(Path(closure.__file__).parents[3])),
        "texts_sha256": files.sha256(texts),
        "demonstration": entry["demonstration"],
        "texts": total,
    }
    counted = request_answers(client, prompts, parallel)
    write(client, texts, distributions, metadata)
    facts = {
        **{key: counted[key] for key in ("prompt_tokens", "completion_tokens")},
        "texts": total,
        "distinct_prompts": len(prompts),
        "sent_now": client.sent,
        "usd_at_registry_prices": client.cost(counted["prompt_tokens"], counted["completion_tokens"]),
        "estimated_now": estimate,
    }
    files.write_text(usage, json.dumps(facts, indent=1) + "\n")
    log.info(
        "%d prompts, %d requests sent now; all of them: %d + %d tokens, USD %.4f at the registry's prices",
        len(prompts), client.sent, counted["prompt_tokens"], counted["completion_tokens"],
        facts["usd_at_registry_prices"],
    )  # fmt: skip


def read_prompts(texts: str | Path) -> tuple[int, list[str]]:
    """Return how many texts are prompts, and the distinct ones; in ``main`` a parameter hides the module."""
    total = distributions.count(texts, ["generate"])
    windows = distributions.windows(texts, ["generate"], WINDOW)
    return total, list(dict.fromkeys(text for window in windows for text in window.text))


def request_answers(client: completions.Client, prompts: Sequence[str], parallel: int) -> dict[str, int]:
    """Make sure that every prompt's answer is on disk; return the tokens that the server counted for them."""
    counted = {"prompt_tokens": 0, "completion_tokens": 0}
    with tqdm(total=len(prompts), desc=client.name, unit="prompt", mininterval=0.5) as bar:
        for start in range(0, len(prompts), WINDOW):
            for completion in client.complete_all(prompts[start : start + WINDOW], parallel):
                counted["prompt_tokens"] += completion.prompt_tokens
                counted["completion_tokens"] += completion.completion_tokens
                bar.update()
    return counted


def write(client: completions.Client, texts: str | Path, path: str | Path, metadata: dict[str, Any]) -> None:
    """Write the distributions from the answers on disk; their digest goes into the metadata."""
    digest = hashlib.sha256()
    with instances.write_batches(path, distributions.schemas()[0], metadata) as write_rows:
        for window in distributions.windows(texts, ["generate"], WINDOW):
            answers = [client.complete(text) for text in window.text]
            for text, completion in zip(window.text, answers, strict=True):
                digest.update(f"{client.path(text).name}\0{completion!r}\n".encode())
            write_rows(distributions.step_batch(window.text_id, [completion.steps for completion in answers]))
        metadata["answers_sha256"] = digest.hexdigest()


if __name__ == "__main__":
    run(main)
