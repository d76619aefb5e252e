"""The model registry: reading, selecting, and what a scoring job of a model needs.

Resources are estimates from parameter counts, rounded so that a job asks for too much rather than too little;
Snakemake raises ``attempt`` when a job was killed all the same. Entries with ``available: false`` have no
weights, those with an ``api`` are behind a server, and scores of those with ``outputs`` come from elsewhere: only
:func:`select`, :func:`select_servers`, :func:`describe`, :func:`shard_count`, :func:`prompt_seconds` and
:func:`methods` take them.
"""

import json
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from scripts.core.config import load_yaml, validate
from scripts.core.engines import series
from scripts.core.errors import UserError, did_you_mean
from scripts.core.workflow import runs

# Where a coreference system of each architecture runs: with this project's own packages, or with those of
# envs/coreference.in.
ENVIRONMENTS = {"c2f": "main", "caw": "coreference", "lingmess": "coreference", "f-coref": "coreference"}

# What an entry means that does not say otherwise.
UNSTATED = {"gated": False, "demonstration": False, "studies": {}}
# What a run needs of a model before it runs.
PLANNED_KEYS = ("family", "size", "architecture", "parameters", "precision", "gpus")

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


def load_registry(path: str | Path, schema_path: str | Path) -> dict[str, dict]:
    """Read, check and return the model registry.

    Args:
        path: ``config/models.yaml``.
        schema_path: ``config/schemas/models.schema.yaml``; the studies' own schemas lie in ``studies/`` beside it.

    Returns:
        Name to entry, in file order.

    Raises:
        UserError: If a file cannot be read, a key or value is unknown (naming the entry, the key and the nearest valid
            one), or two entries contradict each other (:func:`check_conflicts`).
    """
    return read_registry(path, schema_path)["models"]


def read_registry(path: str | Path, schema_path: str | Path) -> dict:
    """Read and check a registry with all that is in it, as :func:`load_registry`.

    Returns:
        ``models`` and ``systems`` (:mod:`scripts.core.coreference_systems.sources`): name to entry, in file order.
    """
    data = load_yaml(path)
    validate(data, _with_studies(load_yaml(schema_path), Path(schema_path).parent, data), str(path))
    models = {name: UNSTATED | entry for name, entry in data.get("models", {}).items()}
    systems = {name: UNSTATED | entry for name, entry in data.get("systems", {}).items()}
    models = series.expand_series(models, str(path))
    check_conflicts(models, str(path))
    check_systems(systems, models, str(path))
    return {"models": models, "systems": systems}


def check_entry(name: str, entry: dict[str, Any], models: dict[str, dict], schema_path: str | Path) -> dict[str, Any]:
    """Return an entry that was made by program if a registry with ``models`` could hold it.

    Raises:
        UserError: As :func:`read_registry`.
    """
    schema = _with_studies(load_yaml(schema_path), Path(schema_path).parent, {})
    validate({"models": {name: entry}}, schema, "card")
    check_conflicts(models | {name: entry}, "card")
    return entry


def _with_studies(schema: dict[str, Any], folder: Path, data: dict[str, Any]):
    """Return the schema of a registry with what is known of studies: their names, and what they do with models.

    A study of the workflow says so in its own schema (``$defs.model_uses``), one that is still planned in the registry.
    """
    uses = {}
    planned = data.get("planned_studies")
    for study, listed in planned.items() if isinstance(planned, dict) else ():
        uses[study] = {"enum": listed if isinstance(listed, list) else []}
    for path in sorted(folder.glob("studies/*.schema.yaml")):
        definitions = load_yaml(path).get("$defs", {})
        if "model_uses" in definitions:
            uses[path.name.removesuffix(".schema.yaml")] = definitions["model_uses"]
    entry = schema["$defs"]["entry"]["properties"]
    entry["studies"]["properties"] = schema["$defs"]["system"]["properties"]["studies"]["properties"] = uses
    entry["released_in"] = {"enum": list(uses)}
    return schema


def check_conflicts(registry: dict[str, dict], file: str) -> None:
    """Refuse what the schema cannot see.

    Two entries with the same source, or with the same label in one study; a gated entry whose source is not the
    hub; code of its own in a source that cannot carry any; a demonstration model that a study claims; a prompted model
    without a wrapping of its prompts, or an encoder with one; a base model that is not there.

    Args:
        file: The name that the message starts with.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, entry in registry.items():
        source = entry.get("source", {})
        if source:
            # The same weights may be asked with and without a thought.
            asked = json.dumps([source, entry.get("thinking")], sort_keys=True)
            twin = sources.setdefault(asked, name)
            if twin != name:
                raise UserError(
                    f"{file}: models.{name} has the same source as models.{twin}; keep one and list its studies there"
                )
        for study in entry["studies"]:
            twin = labels.setdefault((study, entry["label"]), name)
            if twin != name:
                raise UserError(
                    f"{file}: models.{name}.label is '{entry['label']}', the label of models.{twin} in {study} too; "
                    "give each its own"
                )
        if entry["gated"] and "hub" not in source:
            raise UserError(f"{file}: models.{name}.gated is true but its source is not the hub; set gated to false")
        if entry.get("remote_code") and "package" in source:
            raise UserError(
                f"{file}: models.{name}.remote_code is true but its source is a package, whose files come without "
                "custom code; remove remote_code"
            )
        if "prompting" in entry["studies"].values() and "prompt_wrapping" not in entry:
            raise UserError(
                f"{file}: models.{name} is prompted but has no prompt_wrapping; set it to none, llama2 or chat_template"
            )
        if "thinking" in entry and (
            entry.get("architecture", "decoder") != "decoder" or entry.get("prompt_wrapping") != "chat_template"
        ):
            raise UserError(
                f"{file}: models.{name}.thinking is for decoders whose prompt_wrapping is chat_template; remove it"
            )
        if entry.get("architecture") == "encoder" and "prompt_wrapping" in entry:
            raise UserError(f"{file}: models.{name} is an encoder and cannot be prompted; remove prompt_wrapping")
        if "package" in source and not set(PLANNED_KEYS) <= entry.keys():
            raise UserError(
                f"{file}: models.{name} comes in a package, of which nothing is read before it runs; "
                f"state {', '.join(PLANNED_KEYS)}"
            )
        if entry.get("base", name) not in registry:
            raise UserError(
                f"{file}: models.{name}.base '{entry['base']}' is not an entry"
                f"{did_you_mean(entry['base'], registry) or '; correct it'}"
            )
        if "outputs" in entry and (
            "api" in entry or entry["architecture"] == "encoder-decoder" or entry["parameters"] is None
        ):
            raise UserError(
                f"{file}: models.{name}.outputs is for encoders and decoders with a number of parameters and without "
                "api; correct the entry or remove outputs"
            )
        if "outputs" in entry and "prompt_wrapping" in entry:
            raise UserError(
                f"{file}: models.{name} has scores from elsewhere and cannot be prompted; remove prompt_wrapping"
            )
        if entry["demonstration"] and entry["studies"]:
            raise UserError(
                f"{file}: models.{name} is a demonstration model and belongs to no study; empty its studies or set "
                "demonstration to false"
            )


def check_systems(systems: dict[str, dict], models: dict[str, dict], file: str) -> None:
    """Refuse what the schema cannot see of coreference systems.

    A name that a model has; two entries with the same source, or with the same label and debiasing in one study or
    among those of none; a gated entry whose source is not the hub; an environment in which the architecture does not
    run; a source or encoder that does not belong to the architecture; a demonstration system that a study claims or
    whose label does not say so.

    Args:
        file: The name that the message starts with.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, entry in systems.items():
        where, source, architecture = f"{file}: systems.{name}", entry["source"], entry["architecture"]
        if name in models:
            raise UserError(f"{where} has the name of a model; give it another one")
        twin = sources.setdefault(tuple(sorted(source.items(), key=str)), name)
        if twin != name:
            raise UserError(f"{where} has the same source as systems.{twin}; keep one")
        called = (entry["label"], entry.get("debiasing", "none"))
        twin = labels.setdefault(called, name)
        if twin != name:
            raise UserError(f"{where} has the label and debiasing of systems.{twin}; give it a different label")
        if entry["gated"] and "hub" not in source:
            raise UserError(f"{where}.gated is true but its source is not the hub; set gated to false")
        if entry["environment"] != ENVIRONMENTS[architecture]:
            raise UserError(
                f"{where}.environment is {entry['environment']}, but {architecture} runs in "
                f"{ENVIRONMENTS[architecture]}; correct it"
            )
        if entry["environment"] != "main" and entry["precision"] != "float32":
            raise UserError(
                f"{where}.precision is {entry['precision']}, but {architecture} computes in float32; say so"
            )
        if ("file" in source) != (architecture == "caw" and "hub" in source):
            remedy = "name the checkpoint's file" if architecture == "caw" else "remove file"
            raise UserError(f"{where}.source is not one of {architecture}: {remedy}")
        if ("encoder" in entry) != (architecture == "caw"):
            remedy = "add the encoder" if architecture == "caw" else "remove encoder"
            raise UserError(f"{where}: only caw takes an encoder in addition to its source, and needs one; {remedy}")
        if {"delta", "trained"} & set(source) and architecture != "c2f":
            kind = "a package with a delta" if "delta" in source else "a system that is trained here"
            raise UserError(f"{where}: {kind} is for c2f; name the hub or a folder")
        if entry["demonstration"] and entry["studies"]:
            raise UserError(
                f"{where} is a demonstration system and belongs to no study; empty its studies or set demonstration to "
                "false"
            )
        if entry["demonstration"] != entry["label"].endswith("(demonstration)"):
            raise UserError(f"{where}.label must end with (demonstration) if, and only if, demonstration is true")


def select_systems(systems: dict[str, dict], names: Collection[str]) -> dict[str, dict]:
    """Return the coreference systems called ``names``, in registry order.

    Raises:
        UserError: If a name is not in the registry; names the nearest.
    """
    for name in names:
        if name not in systems:
            raise UserError(
                f"systems: '{name}' is no coreference system of config/models.yaml"
                f"{did_you_mean(name, systems) or '; add an entry'}"
            )
    return {name: entry for name, entry in systems.items() if name in set(names)}


def describe_system(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what figures and tables say of a system, as :func:`describe`, with its debiasing (none if it has none)."""
    return describe(entry) | {"debiasing": entry.get("debiasing", "none")}


def check_labels(models: dict[str, dict], systems: dict[str, dict]) -> None:
    """Refuse models and systems of this run that tables and figures would not tell apart.

    Raises:
        UserError: Naming the two.
    """
    known = {}
    for name, entry in (models | systems).items():
        label = (entry["label"], entry.get("debiasing", "none"))
        if label in known:
            raise UserError(
                f"config/models.yaml: '{known[label]}' and '{name}' have the same label, {label[0]!r}, so that figures "
                "and tables would not tell them apart; change the label of one"
            )
        known[label] = name


def check_new(registry: dict[str, dict], known: dict[str, dict], file: str) -> None:
    """Refuse entries of another registry that have the name of a different entry here.

    Args:
        registry, known: The project's entries, and those of ``file``.

    Raises:
        UserError
    """
    for name in registry.keys() & known.keys():
        if registry[name] != known[name]:
            raise UserError(f"{file}: '{name}' is another entry in config/models.yaml; give yours a different name")


def select(
    registry: dict[str, dict],
    names: Iterable[str],
    where: str = "models",
    file: str | None = None,
    *,
    servers: bool = False,
) -> dict[str, dict]:
    """Return the entries called ``names``, in registry order.

    Args:
        where: The key of the configuration that names them, for messages.
        file: A registry besides the project's, for messages.
        servers: Whether models behind servers may be among them.

    Raises:
        UserError: If a name is given twice or is not in the registry (naming the nearest), or if nobody can run the
            model.
    """
    chosen = set()
    places = f"config/models.yaml{f' or {file}' if file else ''}"
    for name in names:
        if name not in registry:
            raise UserError(f"{where}: '{name}' is not in {places}{did_you_mean(name, registry) or '; add an entry'}")
        if name in chosen:
            raise UserError(f"{where}: '{name}' is listed twice; remove one")
        _check_available(where, name, registry[name])
        if "api" in registry[name] and not servers:
            remedy = "name it in completions.models instead" if where == "models" else "remove it"
            raise UserError(f"{where}: '{name}' is behind a server; {remedy}")
        if "outputs" in registry[name] and where != "models":
            raise UserError(f"{where}: '{name}' has scores from elsewhere only; remove it")
        chosen.add(name)
    return {name: entry for name, entry in registry.items() if name in chosen}


def select_servers(registry: dict[str, dict], names: Collection[str]) -> dict[str, dict]:
    """Return the entries called ``names``, all of which are behind servers, in registry order; as :func:`select`."""
    where = "completions.models"
    for name in names:
        if name not in registry:
            known = [other for other, entry in registry.items() if "api" in entry]
            raise UserError(
                f"{where}: '{name}' is not in config/models.yaml{did_you_mean(name, known) or '; add an entry'}"
            )
        _check_available(where, name, registry[name])
        if "api" not in registry[name]:
            raise UserError(f"{where}: '{name}' is not behind a server; name it in models instead")
    return {name: entry for name, entry in registry.items() if name in set(names)}


def _check_available(where: str, name: str, entry: dict[str, Any]):
    if entry.get("available", True):
        return
    outputs = ""
    if "released_in" in entry:
        study = entry["released_in"]
        outputs = f": its released outputs are read instead ({study} in config.yaml, results/upstream/{study}/)"
    raise UserError(f"{where}: '{name}' cannot be run ({entry['note']}){outputs}; remove it")


def methods(entry: dict[str, Any], study: str) -> list[str]:
    """Return for which texts a model gives token distributions: those with a ``mask``, those to ``generate`` from.

    What ``study`` did with the model, otherwise what its architecture can do.
    """
    by_use = {"masked": ["mask"], "generation": ["generate"], "masked-and-generation": ["mask", "generate"]}
    by_architecture = {"encoder": ["mask"], "decoder": ["generate"], "encoder-decoder": ["mask", "generate"]}
    return by_use.get(entry["studies"].get(study)) or by_architecture[entry["architecture"]]


def given_scores(model: str, outputs: dict[str, str], key: str, folder: Path, root: Path) -> str:
    """Return the file with a model's scores of one set of instances, as a path of the working directory.

    Args:
        model: Its name in the registry, for messages.
        outputs: ``outputs`` of its entry.
        key: Study and set, such as ``ruff/replica``.
        folder, root: The working directory and the repository.

    Raises:
        UserError: If the entry names no file of the set, or one that is not there.
    """
    where = f"models.{model}.outputs"
    if key not in outputs:
        raise UserError(f"{where} names no scores of {key}, which this run reads; add the file or leave the model out")
    path = runs.resolve_path(outputs[key], folder, root)
    if not (folder / Path(path).expanduser()).is_file():
        raise UserError(f"{where}: {outputs[key]}: no such file; correct the path")
    return str(Path(path).expanduser())


def describe(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what figures and tables say of a model: label, family, size, architecture, parameters, demonstration."""
    facts = ("label", "family", "size", "architecture", "parameters", "demonstration")
    return {key: entry[key] for key in facts}


def uses_hub(entry: dict[str, Any]) -> bool:
    """Return whether an entry takes its weights from the hub."""
    return "hub" in entry.get("source", {})


def weights_bytes(entry: dict[str, Any]) -> int:
    """Return the size of the weights in the entry's precision, in bytes (parameters x bytes per parameter)."""
    return entry["parameters"] * BYTES[entry["precision"]]


def gpus(entry: dict[str, Any]) -> int:
    """Return how many 40 GB GPUs a scoring job asks for; 0 means that it runs on the CPU (RUFF, Appendix E)."""
    return entry["gpus"]


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
    operations = 2 * work_parameters(entry) * read
    if not gpus(entry):
        return operations / CPU_FLOPS
    return operations / GPU_FLOPS[entry["precision"]] + GPU_SECONDS_PER_INSTANCE


def distribution_minutes(entry: dict[str, Any], n_texts: int, tokens: float, new_tokens: int, attempt: int = 1) -> int:
    """Return the time limit of a job of token distributions, in minutes.

    As :func:`runtime_minutes`, with a text of ``tokens`` and those generated instead of an instance's options.
    """
    operations = 2 * work_parameters(entry) * (tokens + new_tokens)
    each = operations / GPU_FLOPS[entry["precision"]] + GPU_SECONDS_PER_INSTANCE
    if not gpus(entry):
        each = operations / CPU_FLOPS
    loading = weights_bytes(entry) / LOAD_BYTES_PER_SECOND
    return math.ceil(STARTUP_MINUTES + (loading + n_texts * each) / 60) * attempt


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
    flops = GPU_FLOPS[entry["precision"]] if gpus(entry) else CPU_FLOPS
    return document_operations(entry, tokens) / flops + SECONDS_PER_DOCUMENT


def document_operations(entry: dict[str, Any], tokens: float) -> float:
    """Return the floating-point operations of a coreference system for ``tokens``, as in :func:`document_seconds`."""
    return 4 * work_parameters(entry) * tokens


def training_operations(entry: dict, trained: int, resolved: int) -> float:
    """Return the floating-point operations of training a coreference system, as in :func:`document_operations`.

    Args:
        trained, resolved: Tokens that it is trained on and that it resolves to be scored, each as often as they are
            read.
    """
    return document_operations(entry, TRAINING_PASSES * trained + resolved)


def document_shards(entry: dict[str, Any], documents: float, tokens: float, minutes_per_job: float) -> int:
    """Return the number of jobs of a coreference system that keeps each within ``minutes_per_job``, at least 1."""
    return jobs_within(documents * document_seconds(entry, tokens), minutes_per_job)


def document_minutes(entry: dict[str, Any], documents: float, tokens: float, attempt: int = 1) -> int:
    """Return the time limit of a job that resolves documents, in minutes, as :func:`runtime_minutes`."""
    return prompt_minutes(entry, documents * document_seconds(entry, tokens), attempt)


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
    flops = GPU_FLOPS[entry["precision"]] if gpus(entry) else CPU_FLOPS
    return generation_seconds(entry, 1, tokens, new_tokens, flops, GPU_MEMORY_GB * gpus(entry))


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
    if not gpus(entry):
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


def prompt_minutes(entry: dict[str, Any], seconds: float, attempt: int = 1) -> int:
    """Return the time limit of a job with prompts of ``seconds`` in all, in minutes, as :func:`runtime_minutes`."""
    loading = weights_bytes(entry) / LOAD_BYTES_PER_SECOND
    return math.ceil(STARTUP_MINUTES + (loading + seconds) / 60) * attempt


def runtime_minutes(entry: dict, n_instances: float, options: int, tokens: float, attempt: int = 1) -> int:
    """Return the time limit of a scoring job, in minutes.

    ``attempt x (10 + weights / 200 MB/s + n_instances x instance_seconds)``.

    Args:
        n_instances: Instances to score.
        options, tokens: As for :func:`instance_seconds`.
        attempt: 1 for the first try; each further one adds the first limit again.
    """
    loading = weights_bytes(entry) / LOAD_BYTES_PER_SECOND
    seconds = n_instances * instance_seconds(entry, options, tokens)
    return math.ceil(STARTUP_MINUTES + (loading + seconds) / 60) * attempt
