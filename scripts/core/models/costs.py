"""What the jobs of a model need: memory, time, and how many jobs its work makes.

Estimates from parameter counts, rounded so that a job asks for too much rather than too little; Snakemake raises
``attempt`` when a job was killed all the same. ``entry`` is an entry of the registry.
"""

import math
from typing import Any

from scripts.core.errors import UserError

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
# The share of a GPU's memory that can be used, bytes of logits and of a token's activations, and the most prompts in a
# batch.
USABLE_MEMORY = 0.92
LOGITS_BYTES = 2 * 4 * (1 << 28)
ACTIVATION_BYTES = 64 * 1024
MOST_PROMPTS = 512
STARTUP_MINUTES = 10
LOAD_BYTES_PER_SECOND = 2e8
HOST_OVERHEAD_MB = 4096
# A scheduler takes about a thousand jobs of a kind (Slurm's MaxArraySize), and Snakemake plans them in seconds.
MOST_JOBS = 1000


def weights_bytes(entry: dict[str, Any]) -> int:
    """Return the size of the weights in the entry's precision, in bytes (parameters x bytes per parameter)."""
    return entry["parameters"] * BYTES[entry["precision"]]


def memory_mb(entry: dict, attempt: int = 1) -> int:
    """Return the host memory of a scoring job, in MiB.

    ``(4096 + 1.5 x weights) x 2^(attempt - 1)``: 4 GiB for the interpreter, PyTorch, the CUDA context and a batch;
    the weights once, plus half of them again for the shard that is being read and converted. SmolLM2-135M in float32
    (0.5 GiB of weights), unpacked from its GGUF file, was seen to need 1.2 GiB; the estimate is 4.8.

    Args:
        attempt: 1 for the first try; each further one doubles the request.
    """
    return math.ceil(HOST_OVERHEAD_MB + 1.5 * weights_bytes(entry) / 2**20) * 2 ** (attempt - 1)


def work_factors(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what operations and memory follow from: parameters, repeats, kind of labels, recurrence, where given."""
    keys = ("parameters", "embedding_parameters", "layer_repeats", "labels", "cached_values", "recurrent")
    return {key: entry[key] for key in keys if key in entry}


def work_parameters(entry: dict[str, Any]) -> int:
    """Return how many parameters take part in arithmetic for each token, repeated layers as often as they are used."""
    return (entry["parameters"] - entry.get("embedding_parameters", 0)) * entry.get("layer_repeats", 1)


def instance_seconds(entry: dict, options: int, tokens: float) -> float:
    """Return how long one instance takes at most, in seconds.

    An instance costs ``2 x parameters x layer_repeats x tokens`` floating-point operations at 12 (float32) or 100
    (half precision) TFLOP/s on an A100, plus 0.1 s for launching kernels, or at 80 GFLOP/s on one CPU core;
    ``embedding_parameters`` do not count. A decoder, or an encoder-decoder, reads each option once, an encoder once per
    token because pseudo-log-likelihoods mask one position at a time: of four options of 56 tokens that makes 224 and
    12,544 tokens. No work shared between options is taken off, so it holds for the reference engine too.

    Args:
        options: Options of an instance.
        tokens: Tokens of a typical text.
    """
    read = options * tokens * (tokens if entry["architecture"] == "encoder" else 1)
    return reading_seconds(entry, read)


def reading_seconds(entry: dict, tokens: float) -> float:
    """Return how long passes over ``tokens`` take, in seconds, at the speeds of :func:`instance_seconds`."""
    operations = 2 * work_parameters(entry) * tokens
    if not entry["gpus"]:
        return operations / CPU_FLOPS
    return operations / GPU_FLOPS[entry["precision"]] + GPU_SECONDS_PER_INSTANCE


def shard_count(entry: dict[str, Any], n_instances: float, options: int, tokens: float, minutes_per_job: float) -> int:
    """Return the number of jobs that keeps each within ``minutes_per_job`` (:func:`instance_seconds`), at least 1.

    A model without weights here has one job.
    """
    if "source" not in entry:
        return 1
    return jobs_within(n_instances * instance_seconds(entry, options, tokens), minutes_per_job)


def document_seconds(entry: dict, tokens: float) -> float:
    """Return how long a coreference system takes for one document at most, in seconds.

    Every token is read once by the encoder; what the system puts on it (mentions, pairs, spans) is taken to cost as
    much again. That is ``4 x parameters x tokens`` floating-point operations at the speeds of :func:`instance_seconds`,
    and 0.1 s for each document, which is resolved by itself.

    Args:
        tokens: Tokens of a typical document.
    """
    flops = GPU_FLOPS[entry["precision"]] if entry["gpus"] else CPU_FLOPS
    return document_operations(entry, tokens) / flops + SECONDS_PER_DOCUMENT


def document_operations(entry: dict[str, Any], tokens: float) -> float:
    """Return the floating-point operations of a coreference system for ``tokens``, as in :func:`document_seconds`."""
    return 4 * work_parameters(entry) * tokens


def thought_tokens(entry: dict[str, Any]) -> int:
    """Return how many tokens a model may think before each answer."""
    return entry.get("thinking", {}).get("tokens", 0)


def prompt_seconds(entry: dict, tokens: int, new_tokens: int) -> float:
    """Return how long one prompt takes at most, in seconds (:func:`generation_seconds`).

    Args:
        tokens: Tokens of a typical prompt.
        new_tokens: Tokens of an answer at most; those of a thought before it (``thinking`` of the entry) are added.

    Returns:
        0 for a model behind a server.
    """
    if "source" not in entry:
        return 0
    new_tokens += thought_tokens(entry)
    flops = GPU_FLOPS[entry["precision"]] if entry["gpus"] else CPU_FLOPS
    return generation_seconds(entry, 1, tokens, new_tokens, flops, GPU_MEMORY_GB * entry["gpus"])


def generation_seconds(entry: dict, texts: int, read: int, generated: int, flops: float, memory_gb: float) -> float:
    """Return how long reading prompts and continuing them takes at most, in seconds.

    A token that is read costs as much as in :func:`instance_seconds`; what prompts share, and that half of an
    encoder-decoder reads them, is not taken off. On a GPU a step, which writes one token of every prompt of a batch,
    reads the weights (of an encoder-decoder half of them) and the batch's keys and values at 1 TB/s and takes 1 ms for
    launching the kernels of each layer; that is planned twice (:data:`GENERATION_SAFETY`). A batch has as many prompts
    as memory holds (:func:`prompts_per_batch`). On a CPU a new token costs twice the operations of one that is read.

    Args:
        texts: Prompts.
        read, generated: Tokens of all of them.
        flops: Floating-point operations per second of the device.
        memory_gb: Memory of all GPUs of the model together.
    """
    operations = 2 * entry["parameters"] * entry.get("layer_repeats", 1)
    if not entry["gpus"]:
        return operations * (read + 2 * generated) / flops
    if not generated:
        return operations * read / flops
    tokens = (read + generated) / texts
    return operations * read / flops + GENERATION_SAFETY * generated * token_seconds(entry, tokens, memory_gb)


def token_seconds(entry: dict[str, Any], tokens: float, memory_gb: float) -> float:
    """Return the arithmetic of a new token of a prompt on a GPU, in seconds (:func:`generation_seconds`)."""
    rows = prompts_per_batch(entry, tokens, memory_gb)
    layers, cached = decoder_shape(entry)
    weights = weights_bytes(entry) * (0.5 if entry["architecture"] == "encoder-decoder" else 1)
    step = (weights + rows * tokens * cached) / GPU_BYTES_PER_SECOND + LAUNCH_SECONDS_PER_LAYER * layers
    return step / rows


def decoder_shape(entry: dict[str, Any]) -> tuple[float, float]:
    """Return about how many layers a decoder has, and the bytes of the keys and values of one token.

    Models have about ``12 x layers x width^2`` parameters and a width of 128 for each layer: Llama-2-7B comes to 33
    layers and 550 KB (in truth 32 and 524 KB), FLAN-T5-XXL's decoder to 30 and 470 KB (24 and 393 KB). Where heads
    share keys and values, the registry says how many there are (``cached_values``).
    """
    parameters = entry["parameters"] * (0.5 if entry["architecture"] == "encoder-decoder" else 1)
    width = (parameters * 128 / 12) ** (1 / 3)
    layers = width / 128
    return layers, entry.get("cached_values", 2 * layers * width) * BYTES[entry["precision"]]


def prompts_per_batch(entry: dict[str, Any], tokens: float, memory_gb: float) -> int:
    """Return how many prompts of ``tokens`` (new ones included) GPUs hold beside weights and logits: 1 to 512."""
    each = tokens * (decoder_shape(entry)[1] + ACTIVATION_BYTES)
    return int(min(max(room_for_batches(entry, memory_gb) // each, 1), MOST_PROMPTS))


def room_for_batches(entry: dict[str, Any], memory_gb: float) -> float:
    """Return the bytes that GPUs have for keys, values and activations beside a model's weights and logits."""
    return USABLE_MEMORY * memory_gb * 2**30 - 1.1 * weights_bytes(entry) - LOGITS_BYTES


def jobs_within(seconds: float, minutes_per_job: float) -> int:
    """Return the number of jobs that keeps work of ``seconds`` in all within ``minutes_per_job`` each, at least 1."""
    return max(1, math.ceil(seconds / 60 / minutes_per_job))


def check_jobs(jobs: dict[str, int], purpose: str, minutes_per_job: float) -> None:
    """Refuse to divide the work of a model into more than :data:`MOST_JOBS` jobs.

    Args:
        jobs: Model to the number of its jobs, as :func:`jobs_within` returns it.
        purpose: What the jobs do with the model, for the message: ``score ruff``.

    Raises:
        UserError: Naming the first such model, and a time that is long enough.
    """
    for name, count in jobs.items():
        if count > MOST_JOBS:
            # Two digits, a little more than needed.
            enough = float(f"{1.05 * count / MOST_JOBS * minutes_per_job:.2g}")
            raise UserError(
                f"scoring.minutes_per_job is {minutes_per_job:g}: that makes {count} jobs to {purpose} with model "
                f"{name}, more than {MOST_JOBS}; set it to at least {enough:g}"
            )


def job_minutes(entry: dict, seconds: float, attempt: int = 1) -> int:
    """Return the time limit of a job with work of ``seconds``, in minutes: starting, loading the weights, and the work.

    Args:
        attempt: 1 for the first try; each further one adds the first limit again.
    """
    loading = weights_bytes(entry) / LOAD_BYTES_PER_SECOND
    return math.ceil(STARTUP_MINUTES + (loading + seconds) / 60) * attempt
