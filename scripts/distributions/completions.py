"""Ask a server to continue prompts and keep the most probable tokens of each step."""

import importlib.metadata
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scripts.core import files
from scripts.core.data import instances, prompting
from scripts.core.engines import completions, distributions
from scripts.core.errors import UserError, count_noun
from scripts.core.provenance import closure
from scripts.core.workflow.job import log, run

WINDOW = 1024
"""Prompts asked for at once."""


def main(
    *,
    texts: str,
    distributions: str,
    model: str,
    entry: dict,
    top_k: int | str,
    max_new_tokens: int,
    cache: str,
    timeout_seconds: float = 60,
    attempts: int = 6,
    parallel: int = 1,
) -> None:
    """Write ``distributions`` (Parquet) for the prompts in ``texts`` (Parquet), one request for each distinct one.

    Format: :mod:`scripts.core.engines.distributions`; a server tells no mass over the whole vocabulary, so there is no
    file of masses. Every answer lies in ``cache`` before it is used and is never asked for again.

    Raises:
        UserError: As :meth:`scripts.core.engines.completions.Client.complete`, and if the model thinks first.
    """
    api = entry["api"]
    top_k = api["top_logprobs"] if isinstance(top_k, str) else min(top_k, api["top_logprobs"])
    asked = {"max_tokens": max_new_tokens, "temperature": 0}
    client = completions.Client(model, api, cache, asked, top_k=top_k, timeout=timeout_seconds, attempts=attempts)
    metadata = {
        "model": model,
        "source": {key: api[key] for key in ("base_url", "model", "interface")},
        "revision": None,
        "architecture": entry["architecture"],
        "methods": ["generate"],
        "top_k": top_k,
        "max_new_tokens": max_new_tokens,
        "libraries": {"openai": importlib.metadata.version("openai")},
        "code": closure.digests("scripts/distributions/completions.py", str(Path(closure.__file__).parents[3])),
        "texts_sha256": files.sha256(texts),
        "demonstration": entry["demonstration"],
        "texts": count_prompts(texts),
        "prompt_tokens": 0,
        "new_tokens": 0,
    }
    write(client, texts, distributions, metadata, parallel)
    log.info("%s answered", count_noun(metadata["texts"], "prompt"))


def count_prompts(texts: str | Path) -> int:
    """Return how many texts are prompts; in ``main`` a parameter hides the module."""
    return distributions.count(texts, ["generate"])


def write(
    client: completions.Client, texts: str | Path, path: str | Path, metadata: dict[str, Any], parallel: int
) -> None:
    """Ask for all prompts and write what the server says of each step; adds the tokens that it counted."""
    with (
        tqdm(total=metadata["texts"], desc=client.name, unit="prompt", mininterval=0.5) as bar,
        instances.write_batches(path, distributions.schemas()[0], metadata) as write_rows,
    ):
        for window in distributions.windows(texts, ["generate"], WINDOW):
            answers = []
            for answer in client.complete_all(window.text.tolist(), parallel):
                check_thought(client, answer)
                answers.append(answer)
                bar.update()
            metadata["prompt_tokens"] += sum(answer.prompt_tokens for answer in answers)
            metadata["new_tokens"] += sum(answer.tokens for answer in answers)
            write_rows(distributions.step_batch(window.text_id, [answer.steps for answer in answers]))


def check_thought(client: completions.Client, answer: completions.Completion) -> None:
    """Refuse an answer whose first tokens are a thought: they say nothing of the answer's first word."""
    if answer.thought or prompting.split_thought(answer.text)[0] is not None:
        raise UserError(
            f"model {client.name}: {client.url}: the model thinks before it answers; have the server switch that off"
        )


if __name__ == "__main__":
    run(main)
