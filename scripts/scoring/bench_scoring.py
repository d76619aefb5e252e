"""Measure how fast texts are scored: a loop over sentences, minicons, the packed engine, and bare forward passes.

All of them see the same instances on the same machine in turns; the fastest of the rounds counts.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from scripts.core import files
from scripts.core.models import loading
from scripts.core.models.contexts import context_length
from scripts.core.models.entries import read_job_entry
from scripts.core.scoring.check import Scorer, choose_way, make_scorer
from scripts.core.scoring.criteria import fill_options
from scripts.core.scoring.masked import masked_copies
from scripts.core.scoring.minicons import METRIC, with_batch_encoding
from scripts.core.scoring.reader import Reader, Text
from scripts.core.workflow.job import log, run
from scripts.scoring.score import options_of_longest

if TYPE_CHECKING:
    import transformers

COLUMNS = [
    "study", "device", "threads", "model", "kind", "precision", "n_distractors", "instances", "engine",
    "sequences_per_second", "ratio_to_minicons", "ratio_to_loop", "token_ratio", "share_of_bare_forward",
    "max_abs_difference",
]  # fmt: skip

# Shapes of randomly initialised models; speed does not depend on what weights say.
SHAPES = {
    "bert-base-shaped": ("encoder", "float32", {"hidden_size": 768, "num_hidden_layers": 12}),
    "bert-large-shaped": ("encoder", "float32", {"hidden_size": 1024, "num_hidden_layers": 24}),
    "llama-2-7b-shaped": ("decoder", "bfloat16", {"hidden_size": 4096, "num_hidden_layers": 32}),
}


def main(
    *,
    samples: list,
    studies: list,
    prepared: list,
    table: str,
    entries: dict,
    cases: list,
    threads: int = 1,
) -> None:
    """Write ``table`` (CSV): a row for each case and engine.

    Args:
        samples: Files of instances.
        studies: The study of each of them.
        prepared: Folders of weights that the workflow prepared, named like their models.
        entries: Registry entries of the models that are measured as they are.
        cases: ``study``, ``model`` (a name of ``entries`` or of :data:`SHAPES`), ``tokenizer`` (whose texts a shaped
            model reads), ``instances``, ``rounds``, ``n_distractors`` for some of a study's samples and, if the case
            needs one and is left out without, ``gpu``.
    """
    torch.set_num_threads(threads)
    instances = {
        study: pd.concat(
            files.read_parquet(path) for path, of in zip(samples, studies, strict=True) if of == study
        ).drop_duplicates("instance_id")
        for study in dict.fromkeys(studies)
    }
    device = loading.pick_device("auto")
    loaded, rows = {}, []
    for case in cases:
        if case.get("gpu") and device == "cpu":
            log.info("%s: left out, no GPU", case["model"])
            continue
        for name in {case["tokenizer"], case["model"]} & set(entries):
            if name not in loaded:
                folder = next((path for path in prepared if Path(path).name == name), None)
                wanted = read_job_entry(entries[name])
                loaded[name] = loading.load_model(name, wanted, loading.locate_model(name, wanted, folder), device)
        tokenizer = loaded[case["tokenizer"]][1]
        if case["model"] in entries:
            kind, precision = (entries[case["model"]][key] for key in ("architecture", "precision"))
            network = loaded[case["model"]][0]
        else:
            kind, precision, shape = SHAPES[case["model"]]
            network = random_model(kind, shape, tokenizer, precision, device)
        distractors = case.get("n_distractors", "all")
        part = neighbours(instances[case["study"]], distractors, case["instances"])
        facts = {"n_distractors": distractors, "kind": kind, "precision": precision}
        facts |= {"threads": threads if device == "cpu" else 0, "device": loading.device_name(device)}
        for row in measure(network, tokenizer, kind, device, part, case["rounds"]):
            rows.append(case | facts | row)
            log.info("%s: %s, %s distractors, %s: %.2f sequences a second", case["study"], case["model"], distractors,
                     row["engine"], row["sequences_per_second"])  # fmt: skip
        del network
    files.write_csv(table, pd.DataFrame(rows)[COLUMNS])


def random_model(
    kind: str, shape: dict[str, Any], tokenizer: "transformers.PreTrainedTokenizerBase", precision: str, device: str
) -> "transformers.PreTrainedModel":
    """Return a model of a shape with random weights and the usual widths of heads and between layers."""
    import transformers

    width = shape["hidden_size"]
    if kind == "encoder":
        config = transformers.BertConfig(
            **shape, vocab_size=len(tokenizer), num_attention_heads=width // 64, intermediate_size=4 * width
        )
        build = transformers.BertForMaskedLM
    else:
        config = transformers.LlamaConfig(
            **shape, vocab_size=max(32000, len(tokenizer)), num_attention_heads=width // 128, intermediate_size=11008
        )
        build = transformers.LlamaForCausalLM
    torch.manual_seed(20240601)
    default = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, precision))
    try:
        with torch.device(device):
            return build(config).eval()  # pyright: ignore[reportArgumentType]: of the same kind
    finally:
        torch.set_default_dtype(default)


def neighbours(instances: pd.DataFrame, n_distractors: int | str, count: int) -> pd.DataFrame:
    """Return ``count`` neighbouring instances with ``n_distractors`` (or ``"all"``), as a full run scores them.

    A full run scores all samples sorted by text; the neighbours are those in the middle.
    """
    chosen = instances if n_distractors == "all" else instances[instances.n_distractors == n_distractors]
    start = (len(chosen) - count) // 2
    return chosen.sort_values("text", kind="stable").iloc[start : start + count]


def measure(
    network: "transformers.PreTrainedModel",
    tokenizer: "transformers.PreTrainedTokenizerBase",
    kind: str,
    device: str,
    instances: pd.DataFrame,
    rounds: int,
) -> list[dict]:
    """Return one row for each engine: speeds, ratios and the largest difference to the loop.

    Args:
        network, tokenizer: The model.
        kind: One of "encoder", "decoder".
    """
    rows = fill_options(instances, kind, "log_likelihood")
    groups = [part.text.tolist() for _, part in rows.groupby("instance_id", sort=False)]
    reader = Reader(tokenizer, kind)
    texts = reader.read(rows)
    packed: Any = make_scorer("packed", network, tokenizer, kind, "auto", context_length(network))
    choose_way(packed, options_of_longest(rows, texts) + texts[:1])
    by_one = reference(network, tokenizer, kind, device)
    tokens = sum(batch.tokens for batch in packed.plan(texts))
    lengths = np.array([len(text) for text in texts])
    read = int((lengths**2).sum() if kind == "encoder" else lengths.sum())
    length = int(lengths.mean())
    shape = max(1, packed.pass_tokens // length), length
    ways = {
        "loop": lambda: score_one_by_one(network, tokenizer, kind, device, texts),
        "minicons": lambda: [score for group in groups for score in by_one(group)],
        "packed": lambda: run_packed(packed, texts),
        "bare": lambda: run_forward(network, device, shape, tokens),
    }
    seconds, scores = {}, {}
    for _ in range(rounds):
        for name, way in ways.items():
            _synchronise(device)
            started = time.perf_counter()
            scores[name] = way()
            _synchronise(device)
            seconds[name] = min(seconds.get(name, np.inf), time.perf_counter() - started)
    return [
        {
            "engine": name,
            "sequences_per_second": len(rows) / seconds[name],
            "ratio_to_minicons": seconds["minicons"] / seconds[name],
            "ratio_to_loop": seconds["loop"] / seconds[name],
            # What sharing allows at most, were all tokens as fast.
            "token_ratio": read / tokens if name == "packed" else 1,
            "share_of_bare_forward": seconds["bare"] / seconds[name] if name == "packed" else np.nan,
            "max_abs_difference": np.abs(np.array(scores[name]) - scores["loop"]).max(),
        }
        for name in ("loop", "minicons", "packed")
    ]


def run_packed(scorer: Scorer, texts: list[Text]) -> np.ndarray:
    """Return the scores of texts, in nats."""
    totals = np.zeros(len(texts))
    for batch in scorer.plan(texts):
        for number, values in zip(batch.members, scorer.run(batch), strict=True):
            totals[number] = values.sum()
    return totals


def reference(
    network: "transformers.PreTrainedModel", tokenizer: "transformers.PreTrainedTokenizerBase", kind: str, device: str
) -> Callable[[list[str]], list[float]]:
    """Return minicons' own scoring of a list of texts, all options of an instance in one call."""
    from minicons import scorer

    tokenizer = with_batch_encoding(tokenizer)
    if kind == "encoder":
        by_one = scorer.MaskedLMScorer(network, device, tokenizer=tokenizer)
        return lambda texts: by_one.sequence_score(texts, reduction=lambda x: x.sum().item(), PLL_metric=METRIC)
    by_one = scorer.IncrementalLMScorer(network, device, tokenizer=tokenizer)
    return lambda texts: by_one.sequence_score(texts, reduction=lambda x: x.sum().item())


@torch.inference_mode()
def score_one_by_one(
    network: "transformers.PreTrainedModel",
    tokenizer: "transformers.PreTrainedTokenizerBase",
    kind: str,
    device: str,
    texts: Iterable[Text],
) -> np.ndarray:
    """Score one sentence per forward pass (an encoder: all masked copies of one), as the studies' own code does."""
    totals = []
    for text in texts:
        ids = torch.tensor(tokenizer(text.text)["input_ids"], device=device)
        if kind == "decoder":
            logits, targets = network(input_ids=ids[None]).logits[0, :-1].float(), ids[1:]
        else:
            mask: Any = tokenizer.mask_token_id
            copies, places = zip(*masked_copies(text, mask), strict=True)
            at = torch.tensor(places, device=device)
            read = torch.tensor(np.stack(copies), device=device)
            logits, targets = network(input_ids=read).logits[torch.arange(len(at)), at].float(), ids[at]
        values = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)
        totals.append(values.double().sum().item())
    return np.array(totals)


@torch.inference_mode()
def run_forward(network: Any, device: str, shape: tuple[int, int], tokens: int) -> np.ndarray:
    """Run forward passes of ``shape`` until ``tokens`` are through, logits of all positions included."""
    most = min(10000, network.get_input_embeddings().num_embeddings)
    ids = torch.randint(5, most, shape, device=device)
    left = tokens
    while left > 0:
        height = min(shape[0], -(-left // shape[1]))
        network(input_ids=ids[:height])
        left -= height * shape[1]
    return np.zeros(1)


def _synchronise(device: str):
    if device != "cpu":
        torch.cuda.synchronize()


if __name__ == "__main__":
    run(main)
