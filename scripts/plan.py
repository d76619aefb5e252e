"""Plan a run before it is paid for: tokens, operations, memory, GPUs, jobs and hours of each model."""

import os

import numpy as np
import pandas as pd

from scripts.core import files, models, planning, registry
from scripts.core.errors import UserError
from scripts.core.job import log, run


def main(
    *,
    instances: list,
    plan: str,
    studies: list,
    entries: dict,
    jobs: dict,
    devices: dict,
    speeds: str,
    threads: int = 1,
):
    """Write ``plan`` (CSV) and print it.

    ``instances`` has one file for each of ``studies`` (study and template set, as ``study/templates``); ``entries`` are
    the run's models, ``jobs`` their numbers of scoring jobs for each study; ``devices`` are the GPU types of
    config.yaml; ``speeds`` is the folder in which scoring jobs leave how fast they were.
    """
    measured = planning.measured_speeds(speeds, entries)
    cpu = planning.cpu_speed(threads)
    stand_in, rows = {}, []
    for study, path in zip(studies, instances, strict=True):
        table = files.read_parquet(path, columns=["instance_id", "text", "options"])
        count = table.instance_id.nunique()
        for name, entry in entries.items():
            tokenize = own_tokenizer(name, entry)
            key = (path, entry["architecture"])
            if tokenize:
                counts = planning.count_tokens(entry["architecture"], table, tokenize)
            else:
                if key not in stand_in:
                    stand_in[key] = planning.count_tokens(entry["architecture"], table, planning.word_tokens)
                counts = stand_in[key]
            number = jobs[study.split("/")[0]][name]
            for row in planning.plan(name, entry, counts, count, number, devices, measured, cpu):
                rows.append({"instances_of": study, **row, "tokenizer": "its own" if tokenize else "words and signs"})
        log.info("%s: %d instances", study, count)
    frame = pd.DataFrame(rows)
    files.write_csv(plan, frame)
    print(report(frame), flush=True)


def own_tokenizer(name, entry):
    """Return a model's tokenizer as a function, or None where it is not on this machine."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    transformers.utils.logging.set_verbosity_error()
    try:
        if registry.uses_hub(entry):
            source = entry.get("tokenizer", entry["source"])
            folder, options = source["hub"], {"revision": source.get("revision"), "local_files_only": True}
        elif "delta" in entry["source"]:
            folder, options = models.package_file(name, entry["source"], entry["source"]["folder"]), {}
        else:
            location = models.locate(name, entry)
            folder, options = location.folder, {"gguf_file": location.gguf} if location.gguf else {}
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=entry.get("remote_code", False), **options
        )
    except (OSError, ValueError, UserError):
        return None
    return lambda texts: [np.array(ids) for ids in tokenizer(texts)["input_ids"]]


def report(frame):
    """Return the plan as a table for people, with one total for each device."""
    shown = frame.assign(
        **{
            "instances of": frame.instances_of,
            "tokens": [f"{v:,}" for v in frame.tokens],
            "shared": [f"{v:,}" for v in frame.tokens_shared],
            "operations": [f"{v:.1e}" for v in frame.operations],
            "weights": [f"{v:.1f} GB" for v in frame.weights_gb],
            "hours": [f"{v:.2f}" for v in frame.hours],
            "speed from": frame.speed,
        }
    )
    columns = [
        "instances of", "model", "instances", "tokens", "shared", "operations", "weights", "device", "gpus", "jobs",
        "hours", "speed from", "tokenizer",
    ]  # fmt: skip
    lines = [shown[columns].to_string(index=False)]
    for device, part in frame.groupby("device", sort=False):
        gpu_hours = (part.hours * part.gpus.clip(lower=1)).sum()
        unit = "hours" if device == "cpu" else "GPU hours"
        lines.append(
            f"{device}: {gpu_hours:.2f} {unit} in {part.jobs.sum()} jobs; longest model {part.hours.max():.2f} h"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
