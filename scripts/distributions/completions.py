"""Ask a server to continue prompts and keep the most probable tokens of each step."""

from scripts.core import files
from scripts.core.data import prompting
from scripts.core.errors import UserError, count_noun
from scripts.core.generation import servers
from scripts.core.generation.distributions import read_texts, tabulate_steps
from scripts.core.workflow.job import log, run


def main(
    *, texts: str, distributions: str, model: str, entry: dict, top_k: int | str, max_new_tokens: int, cache: str,
    timeout_seconds: float = 60, attempts: int = 6, parallel: int = 1,
) -> None:  # fmt: skip
    """Write ``distributions`` (Parquet) for the prompts in ``texts`` (Parquet), one request for each distinct one.

    Format: :mod:`scripts.core.generation.distributions`; a server tells no mass over the whole vocabulary, so there is
    no file of masses.

    Raises:
        UserError: As :meth:`scripts.core.generation.servers.Client.complete`, and if the model thinks first.
    """
    most = entry["api"]["top_logprobs"]
    top_k = most if isinstance(top_k, str) else min(top_k, most)
    client = servers.Client(
        model, entry["api"], cache, max_new_tokens, top_k=top_k, timeout=timeout_seconds, attempts=attempts
    )
    prompts = read_texts(texts, ["generate"])
    answers = []
    for answer in client.complete_all(prompts.text.tolist(), parallel):
        # The first tokens of a thought say nothing of the answer's first word.
        if answer.thought or prompting.split_thought(answer.text)[0] is not None:
            raise UserError(f"{client.where}: the model thinks before it answers; have the server switch that off")
        answers.append(answer)
    metadata = client.facts(model, entry, "scripts/distributions/completions.py") | {
        "methods": ["generate"],
        "top_k": top_k,
        "max_new_tokens": max_new_tokens,
        "texts_sha256": files.sha256(texts),
        "texts": len(prompts),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "new_tokens": sum(answer.tokens for answer in answers),
    }
    table = tabulate_steps(prompts.text_id.tolist(), [answer.steps for answer in answers])
    files.write_parquet(distributions, table, metadata)
    log.info("%s answered", count_noun(len(prompts), "prompt"))


if __name__ == "__main__":
    run(main)
