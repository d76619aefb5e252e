"""Score all options of a study's instances with a model behind a server, once the server has been checked."""

import importlib.metadata
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tqdm import tqdm

from scripts.core import files
from scripts.core.data import instances, losses
from scripts.core.data.options import option_texts
from scripts.core.engines import continuation, label_loss, models, scoring, server_gate
from scripts.core.engines.batches import METRICS
from scripts.core.engines.reading import Reading
from scripts.core.engines.served_scores import LikelihoodClient, ServedTexts
from scripts.core.errors import UserError, count_noun
from scripts.core.provenance import closure
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import numpy as np
    import transformers

# Instances held at once.
WINDOW = 256

LIBRARIES = ("requests", "tenacity", "transformers", "tokenizers")

# How options are compared: what is computed of a window's texts, and the columns besides those of every score file. A
# decoder scores the same texts whichever it is.
TABLES = {
    "log_likelihood": (lambda rows, values, _texts: scoring.result_table(rows, values), {}),
    "continuation": (continuation.continuation_table, continuation.COLUMNS),
    "label_loss": (
        lambda rows, values, texts: label_loss.label_table(rows.assign(capitals=True), values, texts),
        losses.COLUMNS,
    ),
}


def main(
    *,
    instances: str,
    scores: str,
    usage: str,
    model: str,
    entry: dict,
    cache: str,
    cost_limit_usd: float,
    reference_entry: dict | None = None,
    reference: str | None = None,
    score: str = "log_likelihood",
    token_values: bool = False,
    priority: int | None = None,
    timeout_seconds: float = 60,
    attempts: int = 6,
    parallel: int = 1,
    weights: str | None = None,
    fetched: str | None = None,
) -> None:
    """Write ``scores`` of all ``instances``, as the scoring of local models does.

    Every answer that a check of the server has followed lies in ``cache`` and is never asked for again, so that a
    killed job goes on where it was. Nothing is sent if all texts may cost more than ``cost_limit_usd``.

    Args:
        instances: Parquet file of instances, one row each (scripts/core/data/instances.py has the columns).
        scores: Parquet file to write: one row for each instance and option, with its log-probability in nats.
        usage: JSON file to write: what the server counted.
        model: The model's name, for messages and metadata.
        entry: Of its entry in the registry: ``api``, ``architecture``, ``demonstration``.
        cache: Folder of the server's answers.
        cost_limit_usd: What the job may cost at most.
        reference_entry: The entry of the same model with weights, whose tokenizer is taken; None: there are none.
        reference: Parquet file with scores of a few instances by these weights, which the server is checked with.
        score: What options are compared by: log_likelihood, continuation or label_loss.
        token_values: Whether each token's log-probability is kept as well.
        priority: Instances whose ``priority`` is not below this are left out; None scores all.
        timeout_seconds: Seconds without a byte from the server.
        attempts: How often a request is sent at most.
        parallel: Requests under way at the same time.
        weights: Folder that the workflow prepared from the reference's source, where it needs preparing.
        fetched: JSON file that says which revision of the reference was fetched from the hub.

    Raises:
        UserError: If the server cannot be used, costs too much, or differs too much from the reference.
    """
    api = entry["api"]
    tokenizer = open_tokenizer(model, api, reference_entry, weights, fetched)
    options = {"timeout": timeout_seconds, "attempts": attempts}
    texts = ServedTexts(LikelihoodClient(model, api, cache, tokenizer, **options), parallel)
    chosen = scored_rows(instances, priority)
    estimate = check_cost(texts.client, instances, chosen, priority, cost_limit_usd, repeated=reference is not None)
    metadata = {
        "model": model,
        "source": {key: api[key] for key in ("base_url", "model")} | {"answers": api["scoring"]["answers"]},
        "revision": None,
        "architecture": entry["architecture"],
        "precision": "as served",
        "device": "server",
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "code": closure.digests("scripts/servers/score_at_server.py", str(Path(closure.__file__).parents[3])),
        "demonstration": entry["demonstration"],
        "engine": "server",
        "metric": label_loss.METRIC if score == "label_loss" else METRICS["decoder"],
        "instances_sha256": files.sha256(instances),
        "gate": check_server(texts, instances, reference, priority),
        "shard": 1,
        "shards": 1,
    }
    counts = write(texts, instances, chosen, scores, score, token_values, metadata)
    usd = texts.client.cost(counts["prompt_tokens"], counts["completion_tokens"])
    facts = {**counts, "sent_now": texts.client.sent, "usd_at_registry_prices": usd, "estimated_now": estimate}
    files.write_text(usage, json.dumps(facts, indent=1) + "\n")
    log.info(
        "%s, %d requests sent now; all texts: %d + %d tokens, USD %.4f at the registry's prices",
        count_noun(metadata["instances"], "instance"), texts.client.sent, counts["prompt_tokens"],
        counts["completion_tokens"], usd,
    )  # fmt: skip


def open_tokenizer(
    model: str, api: dict[str, Any], reference_entry: dict | None, weights: str | None, fetched: str | None
) -> "transformers.PreTrainedTokenizerBase":
    """Return the tokenizer of the reference, or the one that the registry names where there is none."""
    if reference_entry is None:
        return models.load_tokenizer(model, {"tokenizer": api["scoring"]["tokenizer"]})
    name = api["scoring"]["reference"]
    return models.load_tokenizer(name, reference_entry, models.locate(name, reference_entry, weights, fetched))


def scored_rows(path: str | Path, priority: int | None) -> "np.ndarray":
    """Return which rows are scored; in ``main`` a parameter hides the module."""
    chosen = instances.shard_rows(path, 1, 1, 1, priority)
    if not chosen.any():
        raise UserError(f"{path}: no instances; delete the file and run the workflow again")
    return chosen


def check_cost(
    client: LikelihoodClient, path: str | Path, chosen: "np.ndarray", priority: int | None, limit: float, repeated: bool
) -> dict[str, Any]:
    """Refuse what may cost too much before anything is sent; return the estimate."""
    texts = [text for window in instances.read_batches(path, chosen, WINDOW) for text in option_texts(window).text]
    requests = [asked for text in texts for asked in client.requests(text)]
    if not repeated:
        return client.check_cost(requests, limit)
    watched = list(option_texts(server_gate.draw_instances(path, priority)).text)
    requests += [asked for text in watched for asked in client.requests(text, call=1)]
    new = client.estimate(requests)["requests"]
    windows = math.ceil(chosen.sum() / WINDOW)
    return client.check_cost(requests, limit, server_gate.watching_usd(client, watched, new, windows))


def check_server(texts: Any, path: str | Path, reference: str | None, priority: int | None) -> dict[str, Any]:
    """Check the server and return what the score file says of it.

    Raises:
        UserError: If it differs from the reference by more than the bound.
    """
    client = texts.client
    if reference is None:
        log.info("model %s: not checked, as the registry says; there are no weights of it here", client.name)
        return {"checked": False}
    bound = client.api["scoring"].get("bound_nats", server_gate.BOUND_NATS)
    here = files.read_parquet(reference)
    rows = option_texts(server_gate.draw_instances(path, priority))
    client.unchecked = {}
    there, again = (scoring.result_table(rows, texts.values(rows, call)) for call in (0, 1))
    server_gate.check_same_texts(here, there, reference)
    compared = server_gate.compare(here, there, again)
    log.info("model %s: the server beside this machine: %s", client.name, json.dumps(compared))
    server_gate.check(client.name, client.url, compared, bound)
    client.accept()
    drift = server_gate.BOUND_NATS + 2 * compared["largest_repeat_difference_nats"]
    known, now = (list(table.log_probability) for table in (here, there))
    texts.check = server_gate.Watch(client, list(rows.text), known, now, bound, drift)
    facts = files.parquet_metadata(reference)
    weights = {key: facts[key] for key in ("model", "revision", "weights_sha256", "device")}
    return {"checked": True, **compared, "bound_nats": bound, "reference": weights}


def write(
    texts: ServedTexts,
    path: str | Path,
    chosen: "np.ndarray",
    scores: str | Path,
    score: str,
    token_values: bool,
    metadata: dict[str, Any],
) -> dict[str, int]:
    """Score the chosen instances and write ``scores``; return the tokens that the server counted."""
    table_of, columns = TABLES[score]
    fields = [
        ("instance_id", pa.string()),
        ("option", pa.string()),
        ("option_index", pa.int8()),
        ("log_probability", pa.float64()),
        ("mean_log_probability", pa.float64()),
        ("scored_tokens", pa.int32()),
        *((name, getattr(pa, kind)()) for name, kind in columns.items()),
    ]
    if token_values:
        fields.append(("token_log_probabilities", pa.list_(pa.float32())))
    schema = pa.schema(fields)
    counts = {"texts": 0, "prompt_tokens": 0, "completion_tokens": 0}
    metadata.update(instances=int(chosen.sum()))
    reading = Reading(metadata["model"], texts, metadata["instances"])

    def batches():
        with tqdm(total=metadata["instances"], desc=texts.client.name, unit="instance", mininterval=0.5) as bar:
            for window in instances.read_batches(path, chosen, WINDOW):
                rows = option_texts(window)
                reading.read(rows)
                values = texts.values(rows)
                for text in rows.text:
                    answer = texts.client.score(text)
                    counts["prompt_tokens"] += answer.prompt_tokens
                    counts["completion_tokens"] += answer.completion_tokens
                counts["texts"] += len(rows)
                bar.update(len(window))
                table = table_of(rows, values, texts)
                reading.decide(table)
                yield pa.RecordBatch.from_pandas(table[schema.names], schema=schema, preserve_index=False)
        metadata.update(reading.facts())

    instances.write_stream(scores, schema, batches(), metadata)
    return counts


if __name__ == "__main__":
    run(main)
