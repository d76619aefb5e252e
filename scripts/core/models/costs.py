"""What the jobs of a model need: memory, time, how many jobs its work makes, and what a whole run comes to.

Estimates from parameter counts, rounded so that a job asks for too much rather than too little; Snakemake raises
``attempt`` when a job was killed all the same. Plans are made of the same seconds as time limits, for other GPUs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.core.errors import UserError
from scripts.core.models.entries import Hub, Model, System

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}

# Sustained floating-point operations per second: about 60 % of an A100's float32 peak of 19.5e12 and a third of
# its half-precision peak of 312e12 (models spread over several GPUs work in turn, so more GPUs add no speed), and
# a server core with AVX2.
GPU_FLOPS = {"float32": 12e12, "float16": 1e14, "bfloat16": 1e14}
CPU_FLOPS = 8e10
# Kernel launches bound small models on a GPU.
GPU_SECONDS_PER_INSTANCE = 0.1
# What a coreference system does for each document besides: words, spans, clusters, in Python.
SECONDS_PER_DOCUMENT = 0.1
# A step of training reads a document forward and twice as long backward.
TRAINING_PASSES = 3
# An A100 reads weights, keys and values at about this speed for every new token (its peak is 1.56e12), and launching
# the kernels of a layer from Python takes about so long.
GPU_BYTES_PER_SECOND = 1e12
LAUNCH_SECONDS_PER_LAYER = 1e-3
# What is planned for new tokens over that arithmetic: answers of a batch end at different times.
GENERATION_SAFETY = 2
GPU_MEMORY_GB = 40
LOGITS_BYTES = 1 << 30
"""The logits of a pass, which a library's model makes all at once: with a large vocabulary a pass has fewer tokens.
Four GiB took a float32 model of 1.3 billion parameters from 8 to 13 GB of a GPU. A copy in float32 comes on top."""
# The share of a GPU's memory that can be used, bytes of a token's activations, and tokens on a GPU of a forward pass
# and of a batch of prompts (``scoring.tokens_per_batch: auto``).
USABLE_MEMORY = 0.92
ACTIVATION_BYTES = 64 * 1024
BATCH_TOKENS, PROMPT_TOKENS = 32768, 65536
# Labels of a span: two sentinels, the end of the sequence, and an option of two tokens.
SPAN_TOKENS = 5
STARTUP_MINUTES = 10
LOAD_BYTES_PER_SECOND = 2e8
HOST_OVERHEAD_MB = 4096
# A scheduler takes about a thousand jobs of a kind (Slurm's MaxArraySize), and Snakemake plans them in seconds.
MOST_JOBS = 1000

Runnable = Model | System


def weights_bytes(model: Runnable) -> int:
    """Return the size of the weights in the model's precision, in bytes (parameters x bytes per parameter)."""
    return _parameters(model) * BYTES[model.precision]


def _parameters(model: Runnable) -> int:
    assert model.parameters is not None, "they are read from the checkpoint of a model that runs"
    return model.parameters


def memory_mb(model: Runnable, attempt: int = 1) -> int:
    """Return the host memory of a job that runs a model, in MiB.

    ``(4096 + 1.5 x weights) x 2^(attempt - 1)``: 4 GiB for the interpreter, PyTorch, the CUDA context and a batch;
    the weights once, plus half of them again for the shard that is being read and converted. SmolLM2-135M in float32
    (0.5 GiB of weights), unpacked from its GGUF file, was seen to need 1.2 GiB; the estimate is 4.8.

    Args:
        attempt: 1 for the first try; each further one doubles the request.
    """
    return math.ceil(HOST_OVERHEAD_MB + 1.5 * weights_bytes(model) / 2**20) * 2 ** (attempt - 1)


def job_minutes(model: Runnable, seconds: float, attempt: int = 1) -> int:
    """Return the time limit of a job with work of ``seconds``, in minutes: starting, loading the weights, and the work.

    Args:
        attempt: 1 for the first try; each further one adds the first limit again.
    """
    loading = weights_bytes(model) / LOAD_BYTES_PER_SECOND
    return math.ceil(STARTUP_MINUTES + (loading + seconds) / 60) * attempt


def jobs_within(seconds: float, minutes_per_job: float) -> int:
    """Return the number of jobs that keeps work of ``seconds`` in all within ``minutes_per_job`` each, at least 1."""
    return max(1, math.ceil(seconds / 60 / minutes_per_job))


def check_jobs(jobs: dict[str, int], purpose: str, minutes_per_job: float) -> None:
    """Refuse to divide the work of a model into more than :data:`MOST_JOBS` jobs, naming a time that is long enough.

    Args:
        jobs: Model to the number of its jobs, as :func:`jobs_within` returns it.
        purpose: What the jobs do with the model, for the message: ``score ruff``.
    """
    for name, count in jobs.items():
        if count > MOST_JOBS:
            # Two digits, a little more than needed.
            enough = float(f"{1.05 * count / MOST_JOBS * minutes_per_job:.2g}")
            raise UserError(
                f"scoring.minutes_per_job is {minutes_per_job:g}: that makes {count} jobs to {purpose} with model "
                f"{name}, more than {MOST_JOBS}; set it to at least {enough:g}"
            )


def work_parameters(model: Runnable) -> int:
    """Return how many parameters take part in arithmetic for each token, repeated layers as often as they are used."""
    return (_parameters(model) - model.embedding_parameters) * getattr(model, "layer_repeats", 1)


def operations_per_second(model: Runnable) -> float:
    """Return the floating-point operations per second of where a model runs: an A100, or a core of the CPU."""
    return GPU_FLOPS[model.precision] if model.gpus else CPU_FLOPS


def scoring_seconds(model: Model, instances: float, options: int, tokens: float) -> float:
    """Return how long scoring takes at most, in seconds; 0 for a model without weights here.

    An instance costs ``2 x parameters x layer_repeats x tokens`` floating-point operations at 12 (float32) or 100
    (half precision) TFLOP/s on an A100, plus 0.1 s for launching kernels, or at 80 GFLOP/s on one CPU core;
    ``embedding_parameters`` do not count. A decoder, or an encoder-decoder, reads each option once, an encoder once per
    token because pseudo-log-likelihoods mask one position at a time: of four options of 56 tokens that makes 224 and
    12,544 tokens. No work shared between options is taken off, so it holds for the reference engine too.

    Args:
        options: Options of an instance.
        tokens: Tokens of a typical text.
    """
    if model.source is None:
        return 0
    read = options * tokens * (tokens if model.architecture == "encoder" else 1)
    return instances * reading_seconds(model, read)


def reading_seconds(model: Model, tokens: float) -> float:
    """Return how long the passes of one text over ``tokens`` take, in seconds, at those speeds."""
    launching = GPU_SECONDS_PER_INSTANCE if model.gpus else 0
    return 2 * work_parameters(model) * tokens / operations_per_second(model) + launching


def resolving_seconds(system: System, documents: float, tokens: float, speed: float | None = None) -> float:
    """Return how long a coreference system takes at most, in seconds.

    Every token is read once by the encoder; what the system puts on it (mentions, pairs, spans) is taken to cost as
    much again. That is ``4 x parameters x tokens`` floating-point operations at the speeds of :func:`scoring_seconds`,
    and 0.1 s for each document, which is resolved by itself.

    Args:
        tokens: Tokens of all documents.
        speed: Floating-point operations per second of another device than that of time limits.
    """
    return (
        4 * work_parameters(system) * tokens / (speed or operations_per_second(system))
        + documents * SECONDS_PER_DOCUMENT
    )


def prompting_seconds(model: Model, tokens: int, answers: Iterable[tuple[int, int]]) -> float:
    """Return how long prompts take at most, in seconds; 0 for a model behind a server.

    Args:
        tokens: Tokens of a typical prompt.
        answers: How many prompts have answers of at most how many tokens; those of a thought before are added.
    """
    if model.source is None:
        return 0
    memory_gb = GPU_MEMORY_GB * (model.gpus or 0)
    return sum(
        count
        * generation_seconds(model, 1, tokens, new + model.thought_tokens, operations_per_second(model), memory_gb)
        for count, new in answers
    )


def generation_seconds(model: Model, texts: int, read: int, generated: int, speed: float, memory_gb: float) -> float:
    """Return how long reading prompts and continuing them takes at most, in seconds.

    A token that is read costs as much as in :func:`scoring_seconds`; what prompts share, and that half of an
    encoder-decoder reads them, is not taken off. On a GPU a step, which writes one token of every prompt of a batch,
    reads the weights (of an encoder-decoder half of them) and the batch's keys and values at 1 TB/s and takes 1 ms for
    launching the kernels of each layer; that is planned twice (:data:`GENERATION_SAFETY`). A batch has as many prompts
    as memory holds (:func:`prompts_per_batch`). On a CPU a new token costs twice the operations of one that is read.

    Args:
        texts: Prompts.
        read, generated: Tokens of all of them.
        speed: Floating-point operations per second of the device.
        memory_gb: Memory of all GPUs of the model together.
    """
    operations = 2 * _parameters(model) * model.layer_repeats
    if not model.gpus:
        return operations * (read + 2 * generated) / speed
    if not generated:
        return operations * read / speed
    tokens = (read + generated) / texts
    return operations * read / speed + GENERATION_SAFETY * generated * token_seconds(model, tokens, memory_gb)


def token_seconds(model: Model, tokens: float, memory_gb: float) -> float:
    """Return the arithmetic of a new token of a prompt on a GPU, in seconds (:func:`generation_seconds`)."""
    rows = prompts_per_batch(model, tokens, memory_gb)
    layers, cached = decoder_shape(model)
    weights = weights_bytes(model) * (0.5 if model.architecture == "encoder-decoder" else 1)
    step = (weights + rows * tokens * cached) / GPU_BYTES_PER_SECOND + LAUNCH_SECONDS_PER_LAYER * layers
    return step / rows


def decoder_shape(model: Model) -> tuple[float, float]:
    """Return about how many layers a decoder has, and the bytes of the keys and values of one token.

    Models have about ``12 x layers x width^2`` parameters and a width of 128 for each layer: Llama-2-7B comes to 33
    layers and 550 KB (in truth 32 and 524 KB), FLAN-T5-XXL's decoder to 30 and 470 KB (24 and 393 KB). Where heads
    share keys and values, the registry says how many there are (``cached_values``).
    """
    parameters = _parameters(model) * (0.5 if model.architecture == "encoder-decoder" else 1)
    width = (parameters * 128 / 12) ** (1 / 3)
    layers = width / 128
    return layers, (model.cached_values or 2 * layers * width) * BYTES[model.precision]


def prompts_per_batch(model: Model, tokens: float, memory_gb: float) -> int:
    """Return how many prompts of ``tokens`` (new ones included) a batch has: those that GPUs hold, at most."""
    room = USABLE_MEMORY * memory_gb * 2**30 - 1.1 * weights_bytes(model) - 2 * LOGITS_BYTES
    each = tokens * (decoder_shape(model)[1] + ACTIVATION_BYTES)
    return int(max(min(room // each, PROMPT_TOKENS // tokens), 1))


def gpus_needed(model: Runnable, memory_gb: float) -> int:
    """Return how many GPUs of ``memory_gb`` hold the weights, a tenth more for activations, and the logits."""
    needed = 1.1 * weights_bytes(model) + 2 * LOGITS_BYTES + BATCH_TOKENS * ACTIVATION_BYTES
    return math.ceil(needed / (USABLE_MEMORY * memory_gb * 2**30))


def scored_tokens(model: Model, options: int, lengths: Sequence[tuple[int, float]], shared: float) -> int:
    """Return the tokens of the forward passes that score instances.

    An encoder masks every token of every option in turn. A decoder reads what options and neighbours share once, unless
    its layers carry a state. An encoder-decoder reads an instance once, and the label of each option.

    Args:
        options: Options of an instance.
        lengths: How many instances have texts of how many tokens.
        shared: Texts' worth of tokens that a decoder reads for all options of an instance together.
    """
    read = sum(count * tokens for count, tokens in lengths)
    if model.architecture == "encoder":
        return round(sum(count * options * tokens**2 for count, tokens in lengths))
    if model.architecture == "decoder":
        return round(read * (options if model.recurrent else min(shared, options)))
    labels = SPAN_TOKENS * sum(count for count, _ in lengths) if model.labels == "span" else read
    return round(read + options * labels)


@dataclass(frozen=True)
class Work:
    """What a model does for a set of a study, all jobs together.

    Attributes:
        rule: That runs the model.
        items: Instances, prompts, texts or documents.
        read, generated: Tokens of all of them; prompts and distributions at their longest, as time limits have them.
    """

    rule: str
    study: str
    set: str
    model: Runnable
    items: int
    read: int
    generated: int
    jobs: int


PLAN_COLUMNS = [
    "model", "study", "set", "rule", "items", "tokens", "jobs", "memory_gb", "weights_gb", "download", "device", "gpus",
    "hours",
]  # fmt: skip
"""Columns of a plan; ``download``: the repository on the Hub, with its revision."""


def plan_costs(work: Iterable[Work], devices: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each piece of work and GPU type, with the keys of :data:`PLAN_COLUMNS`.

    Args:
        devices: GPU types of the configuration: ``memory_gb``, and ``tflops`` by precision. A model that needs no GPU
            has one row, for a core of the CPU.
    """
    rows = []
    for part in work:
        model, source = part.model, part.model.source
        fetched = f"{source.hub}@{source.revision or 'newest'}" if isinstance(source, Hub) else ""
        for device, facts in devices.items() if model.gpus else [("cpu", None)]:
            gpus = gpus_needed(model, facts["memory_gb"]) if facts else 0
            speed = facts["tflops"][model.precision] * 1e12 if facts else CPU_FLOPS
            rows.append(
                {"model": model.name}
                | {key: getattr(part, key) for key in ("study", "set", "rule", "items", "jobs")}
                | {
                    "tokens": part.read + part.generated,
                    "memory_gb": memory_mb(model) / 1024,
                    "weights_gb": weights_bytes(model) / 1e9,
                    "download": fetched,
                    "device": device,
                    "gpus": gpus,
                    "hours": work_hours(part, speed, gpus * facts["memory_gb"] if facts else 0),
                }
            )
    return rows


def work_hours(part: Work, speed: float, memory_gb: float) -> float:
    """Return how long all jobs of a piece of work take, one after the other, loading the model included."""
    model = part.model
    if part.rule == "score":
        # A token of an encoder-decoder is read by about half of its parameters.
        share = 0.5 if model.architecture == "encoder-decoder" else 1
        seconds = 2 * share * work_parameters(model) * part.read / speed
    elif isinstance(model, Model):
        seconds = generation_seconds(model, part.items, part.read, part.generated, speed, memory_gb)
    else:
        seconds = resolving_seconds(model, part.items, part.read, speed)
    loading = 20 + weights_bytes(model) / LOAD_BYTES_PER_SECOND
    return (seconds + part.jobs * loading) / 3600
