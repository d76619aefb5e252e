"""Train the head of the demonstration encoder on public-domain books and write its delta.

Not part of a default run: the delta is shipped. About 40 minutes on two CPU cores.
"""

import io
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

from scripts.core import files
from scripts.core.data import archives
from scripts.core.engines import masked_lm_head, models
from scripts.core.workflow.job import log, run

# Books that are never trained on: Katrine (Project Gutenberg 14263) and The Secret Garden (113, in LitBank).
HELD_OUT = ("14263", "113")


def read_books(archive: str | Path, singles: Iterable[str]) -> dict[str, str]:
    """Return ``{Project Gutenberg number: text}`` of LitBank's archive and of single books named by their number."""
    books = {}
    for member, content in archives.tar_members(archive):
        if member.endswith(".txt"):
            number = Path(member).name.partition("_")[0]
            books[number] = io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="replace").read()
    for path in singles:
        number = Path(path).name.partition("-")[0]
        books.setdefault(number, Path(path).read_text(encoding="latin-1"))
    return books


def main(
    *,
    litbank: str,
    books: list,
    delta: str,
    package: str,
    version: str,
    folder: str,
    steps: int,
    seed: int,
    rank: int,
    batch_size: int,
    characters: int,
    threads: int = 1,
) -> None:
    """Write ``delta`` (safetensors, float16); its metadata names the recipe and the figures on held-out books."""
    from safetensors.torch import save_file
    from transformers import AutoTokenizer, BertForMaskedLM

    torch.set_num_threads(threads)
    source = models.package_file("demonstration encoder", {"package": package, "version": version}, folder)
    tokenizer = AutoTokenizer.from_pretrained(source, model_max_length=10**9)
    rows = {
        number: masked_lm_head.rows(masked_lm_head.book_text(text), tokenizer, characters)
        for number, text in sorted(read_books(litbank, books).items())
    }
    held_out = {number: rows.pop(number) for number in HELD_OUT}
    data = torch.cat(list(rows.values()))
    log.info("%d rows of %d tokens from %d books", len(data), masked_lm_head.ROW, len(rows))

    torch.manual_seed(seed)
    model = BertForMaskedLM.from_pretrained(source)
    masked_lm_head.add_head(model, torch.bincount(data[:, 1:-1].reshape(-1).long(), minlength=model.config.vocab_size))
    masked_lm_head.add_low_rank(model, rank)
    started = time.monotonic()

    def figures(evaluate: Callable[..., dict] = masked_lm_head.evaluate) -> dict[str, dict]:
        return {number: evaluate(model, part, 1, tokenizer.mask_token_id) for number, part in held_out.items()}

    def report(step: int, loss: float) -> None:
        if step % 25 == 0:
            left = (time.monotonic() - started) / step * (steps - step) / 60
            log.info("step %d of %d: loss %.3f nats, %.0f minutes left", step, steps, loss, left)
        if step % 150 == 0:
            log.info("held out: %s", json.dumps(figures()))
            model.train()

    masked_lm_head.train(
        model,
        data,
        steps,
        seed,
        batch_size=batch_size,
        learning_rate=5e-4,
        head_learning_rate=2e-3,
        warm_up=60,
        mask_token_id=tokenizer.mask_token_id,
        report=report,
    )
    recipe = {
        "package": package,
        "version": version,
        "steps": steps,
        "seed": seed,
        "rank": rank,
        "batch_size": batch_size,
        "characters": characters,
        "rows": len(data),
        "litbank_sha256": files.sha256(litbank),
        "books_sha256": {Path(path).name: files.sha256(path) for path in books},
        "held_out": figures(),
        "held_out_singly": figures(masked_lm_head.evaluate_singly),
    }
    with files.write_atomically(delta) as temporary:
        save_file(masked_lm_head.delta(model), temporary, metadata={"recipe": json.dumps(recipe, sort_keys=True)})


if __name__ == "__main__":
    run(main)
