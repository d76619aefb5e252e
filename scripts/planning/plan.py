"""Plan a run before it is paid for: tokens, operations, memory, GPUs, jobs and hours of each model."""

import os

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.engines import models, planning, registry
from scripts.core.errors import UserError
from scripts.core.job import log, run

COLUMNS = [
    "instances_of", "rule", "model", "instances", "tokens", "tokens_shared", "operations", "weights_gb", "jobs",
    "device", "gpus", "hours", "speed", "tokenizer",
]  # fmt: skip
"""Columns of the plan."""


def main(
    *,
    instances: list,
    texts: list,
    plan: str,
    studies: list,
    sets: dict,
    entries: dict,
    jobs: dict,
    prompted: dict,
    methods: dict,
    devices: dict,
    speeds: str,
    threads: int = 1,
):
    """Write ``plan`` (CSV) and print it: scoring, prompting and token distributions.

    ``instances`` has one file for each of ``studies`` (study and template set, as ``study/templates``), ``texts`` one
    for each of ``sets`` (``study/set``, to the ``tokens`` of a typical text and the ``new_tokens`` that continue it);
    ``entries`` are the run's models. ``jobs`` are the scored models of each study with their numbers of jobs;
    ``prompted`` has ``prompts``, ``tokens`` (of a typical one), ``generated`` (tokens of all answers) and ``jobs`` for
    each study and template set and each prompted model; ``methods`` says for each study for which texts a model gives
    token distributions. ``devices`` are the GPU types of config.yaml; ``speeds`` is the folder in which scoring jobs
    leave how fast they were.
    """
    measured = planning.measured_speeds(speeds, entries)
    cpu = planning.cpu_speed(threads)
    rows = []
    for study, path in zip(studies, instances, strict=True):
        own = {name: entries[name] for name in jobs[study.split("/")[0]]}
        for row in scoring(study, path, own, jobs[study.split("/")[0]], devices, measured, cpu):
            rows.append({"instances_of": study, **row})
    for study, asked in prompted.items():
        for name, job in asked.items():
            found = planning.plan_generation(
                "prompt", name, entries[name], job["prompts"], job["tokens"], job["generated"], job["jobs"],
                devices, cpu,
            )  # fmt: skip
            rows += [{"instances_of": study, **row} for row in found]
    for (name_of_set, text), path in zip(sets.items(), texts, strict=True):
        method = files.read_parquet(path, columns=["method"]).method
        for name, kinds in methods[name_of_set.split("/")[0]].items():
            generated = int((method == "generate").sum()) * text["new_tokens"] if "generate" in kinds else 0
            found = planning.plan_generation(
                "token_distributions", name, entries[name], int(method.isin(kinds).sum()), text["tokens"],
                generated, 1, devices, cpu,
            )  # fmt: skip
            rows += [{"instances_of": name_of_set, **row} for row in found]
    frame = pd.DataFrame(rows, columns=COLUMNS).fillna({"tokenizer": "none, estimated"})
    files.write_csv(plan, frame)
    print(report(frame) if rows else "No study of this run reads a model: there is nothing to plan.", flush=True)


def scoring(study, path, entries, jobs, devices, measured, cpu):
    """Yield the plan of scoring the instances of one file, a row for each model and device type."""
    table = files.read_parquet(path, columns=["instance_id", "text", "options"])
    count = table.instance_id.nunique()
    stand_in = {}
    for name, entry in entries.items():
        tokenize = own_tokenizer(name, entry)
        if tokenize:
            token_totals = planning.count_tokens(entry["architecture"], table, tokenize)
        else:
            kind = entry["architecture"]
            if kind not in stand_in:
                stand_in[kind] = planning.count_tokens(kind, table, planning.word_tokens)
            token_totals = stand_in[kind]
        for row in planning.plan(name, entry, token_totals, count, jobs[name], devices, measured, cpu):
            yield {**row, "tokenizer": "its own" if tokenize else "words and signs"}
    log.info("%s: %d instances", study, count)


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
        "rule", "instances of", "model", "instances", "tokens", "shared", "operations", "weights", "device", "gpus",
        "jobs", "hours", "speed from", "tokenizer",
    ]  # fmt: skip
    lines = [shown[columns].to_string(index=False)]
    for device, part in frame.groupby("device", sort=False):
        gpu_hours = (part.hours * part.gpus.clip(lower=1)).sum()
        unit = "hours" if device == "cpu" else "GPU hours"
        share = (part.hours * part.gpus.clip(lower=1)).groupby(part.rule, sort=False).sum()
        rules = ", ".join(f"{name} {hours:.2f}" for name, hours in share.items())
        total = f"{gpu_hours:.2f} {unit} in {part.jobs.sum()} jobs ({rules})"
        lines.append(f"{device}: {total}; longest row {part.hours.max():.2f} h")
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
