"""Score all options of a study's instances with one model."""

import importlib.metadata

import torch

from scripts.core import files, models, scoring
from scripts.core.errors import UserError
from scripts.core.job import log, run


def main(
    *,
    instances: str,
    scores: str,
    model: str,
    entry: dict,
    engine: str,
    device: str,
    tokens_per_batch: int,
    weights: str | None = None,
    threads: int = 1,
):
    """Write ``scores`` (Parquet) for ``instances`` (Parquet); its metadata names model, weights, engine and libraries.

    ``weights`` is a folder that the workflow prepared from the model's source, where it needs preparing.
    """
    torch.set_num_threads(threads)
    table = files.read_parquet(instances, columns=["instance_id", "text", "options"])
    if table.empty:
        raise UserError(f"{instances}: no instances; delete the file and run the workflow again")
    location = models.locate(model, entry, weights)
    device = "auto" if device == "auto" and entry["gpus"] > 1 else scoring.pick_device(device)
    log.info(
        "model %s from %s (revision %s), %s on %s",
        model,
        location.folder,
        location.revision,
        entry["precision"],
        device,
    )
    network, tokenizer = models.load(model, entry, location, device)
    scorer = scoring.ENGINES[engine](network, tokenizer, entry["architecture"], device, tokens_per_batch)
    result = scoring.score_instances(scorer, table, progress=model)
    files.write_parquet(
        scores,
        result,
        metadata={
            "model": model,
            "source": entry["source"],
            "revision": location.revision,
            "weights_sha256": models.weights_digest(location),
            "architecture": entry["architecture"],
            "precision": entry["precision"],
            "device": torch.cuda.get_device_name() if device != "cpu" else "cpu",
            "engine": engine,
            "metric": scoring.PLL_METRIC if entry["architecture"] == "encoder" else "log_likelihood",
            "libraries": {
                n: importlib.metadata.version(n) for n in ("torch", "transformers", "tokenizers", "minicons")
            },
            "instances_sha256": files.sha256(instances),
            "demonstration": entry["demonstration"],
        },
    )
    log.info("%d option scores of %d instances", len(result), result.instance_id.nunique())


if __name__ == "__main__":
    run(main)
