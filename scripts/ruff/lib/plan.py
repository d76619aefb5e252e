"""What a run of RUFF scores and prompts, checked before any template is read.

That is how many instances of each sample models score, and which models are prompted, by which methods and how often.
"""

from collections.abc import Collection, Iterable

from scripts.core.engines import registry
from scripts.core.errors import UserError, did_you_mean
from scripts.core.templates import CASES
from scripts.ruff.lib.prompts import VANILLA

# Sixty occupations in three cases (section 3.1 of the paper).
TASKS = 180
TASK_TOKENS = 19
TOKENS = (34.5, 49, 58.5, 68, 77, 86)
"""Tokens of a text by its number of distractors, on average; they fit the tokenizers of BERT and SmolLM2 alike."""
PROMPT_TOKENS = 200
"""Tokens of a typical prompt with its instance."""


def full_sample(n_sets: int):
    """Return the rows of a full sample of one seed and number of distractors: 2,160 with four pronoun sets.

    Each task sentence comes with every ordered pair of gold and distractor (section 3.2), or, without distractors, as
    often.

    Args:
        n_sets: Pronoun sets of the run.
    """
    return TASKS * n_sets * (n_sets - 1)


def sample_sizes(size: int | dict[str, int], models: Iterable[str]) -> dict[str, int]:
    """Return how many instances of each sample every model scores.

    Args:
        size: ``ruff.sample_size``: for all models, or for each model that has its own, and for the others as
            ``default``; 0 leaves a model out.
        models: The models of the run.

    Returns:
        Without the models that are left out.

    Raises:
        UserError: If all are.
    """
    own = size if isinstance(size, dict) else {"default": size}
    sizes = {model: own.get(model, own["default"]) for model in models}
    if sizes and not any(sizes.values()):
        raise UserError(
            f"ruff.sample_size leaves out every model of the run ({', '.join(sizes)}); give one a sample, or name "
            "studies without ruff"
        )
    return {model: number for model, number in sizes.items() if number}


def uneven_models(sizes: dict[str, int]):
    """Return the models whose samples have one case more often than another, as three cases do not divide their size.

    Args:
        sizes: From :func:`sample_sizes`.
    """
    return [model for model, size in sizes.items() if size % len(CASES)]


def scoring(size: int, distractors: list[int], seeds: list[int]) -> dict:
    """Return a model's :class:`scripts.core.studies.ScoredInstances` entry for ``size`` instances of each sample."""
    lengths = [(TASKS, TASK_TOKENS), *((len(seeds) * size, TOKENS[n]) for n in distractors)]
    return {"priority": size, "instances": sum(count for count, _ in lengths), "lengths": lengths}


def check_sizes(settings: dict, n_sets: int, known: Collection[str]):
    """Refuse sizes above the full sample, and those in which one pronoun set would be right more often than another.

    Args:
        settings: ``ruff`` of the configuration.
        known: Every model of the registry.

    Raises:
        UserError: Naming the key, and the full sample or the sizes that are possible; for a size of a model that is not
            in the registry, the nearest that is.
    """
    most, size = full_sample(n_sets), settings["sample_size"]
    sizes = {"ruff.sample_size": size}
    if isinstance(size, dict):
        for model in size:
            if model != "default" and model not in known:
                raise UserError(
                    f"ruff.sample_size: '{model}' is not in config/models.yaml"
                    f"{did_you_mean(model, known) or '; remove it'}"
                )
        sizes = {f"ruff.sample_size.{model}": number for model, number in size.items()}
    prompting = settings["prompting"]
    if prompting["models"]:
        sizes["ruff.prompting.sample_size"] = prompting["sample_size"]
    if prompting["chain_of_thought"]["models"]:
        sizes["ruff.prompting.chain_of_thought.sample_size"] = prompting["chain_of_thought"]["sample_size"]
    for key, number in sizes.items():
        if number > most:
            raise UserError(
                f"{key} is {number}, but with {n_sets} pronoun sets a full sample has {most} instances; "
                f"use at most {most}"
            )
        if number % n_sets:
            raise UserError(
                f"{key} is {number}, which {n_sets} pronoun sets do not divide, so that one would be right more often "
                f"than another; use a multiple of {n_sets}"
            )


def prompted_jobs(
    settings: dict, entries: dict[str, dict], seeds: list[int], distractors: list[int], prompt_kinds: list[str]
) -> dict[str, dict]:
    """Return what each prompted model is asked.

    Args:
        settings: ``ruff.prompting`` of the configuration.
        entries: The registry.
        seeds, distractors: Of the run's samples.
        prompt_kinds: The kind of each prompt template (:func:`scripts.ruff.lib.prompts.read_prompts`).

    Returns:
        Model, in registry order, to ``methods``, ``new_tokens`` (step to the most tokens), ``prompts`` (second steps
        and sampled answers included), ``generated`` (tokens of all answers at most), ``seconds``, how long all but
        sampled answers take at most, and ``sampled``: of models whose answers are also sampled ``methods``,
        ``temperature`` and ``seeds``.

    Raises:
        UserError: For a model that is unknown or cannot be prompted, and for samples or chains of thought beyond those
            of the run and of the prompts.
    """
    chosen = registry.select(entries, settings["models"])
    chains = settings["chain_of_thought"]
    sampling = settings["sampling"]
    where = "ruff.prompting"
    for name, entry in chosen.items():
        if "prompt_wrapping" not in entry:
            raise UserError(
                f"{where}.models: '{name}' has no prompt_wrapping in the registry; add one if it follows instructions"
            )
    # What nobody is asked needs to fit nothing.
    asked = (
        ("seeds", settings["seeds"], seeds, "ruff.seeds"),
        ("distractors", settings["distractors"], distractors, "ruff.distractors"),
    )
    chained = (
        ("chain_of_thought.distractors", chains["distractors"], settings["distractors"], f"{where}.distractors"),
    )
    for key, parts, whole, of in (
        *(asked if chosen else ()),
        ("chain_of_thought.models", chains["models"], settings["models"], f"{where}.models"),
        ("sampling.models", sampling["models"], settings["models"], f"{where}.models"),
        *(chained if chains["models"] else ()),
    ):
        beyond = [part for part in parts if part not in whole]
        if beyond:
            raise UserError(f"{where}.{key}: {beyond[0]!r} is not in {of}; add it there or remove it here")
    if chains["models"] and chains["sample_size"] > settings["sample_size"]:
        raise UserError(
            f"{where}.chain_of_thought.sample_size is {chains['sample_size']}, more than {where}.sample_size; lower it"
        )
    of_kind = {"open": 1, "options": len(settings["option_orders"])}
    prompts = sum(prompt_kinds.count(kind) * of_kind[kind] for kind in settings["kinds"])
    samples = len(settings["seeds"]) * len(settings["distractors"])
    chain_samples = len(settings["seeds"]) * len(chains["distractors"])
    new = settings["new_tokens"]
    of_models = {}
    for name, entry in chosen.items():
        methods = [VANILLA, *(chains["methods"] if name in chains["models"] else [])]
        tokens = {"answer": new[entry["architecture"]], "chain": new["chain"], "final": new["final"]}
        thought = registry.thought_tokens(entry)
        plain = prompts * settings["sample_size"] * samples
        chained = prompts * chains["sample_size"] * chain_samples * (len(methods) - 1)
        seconds = plain * registry.prompt_seconds(entry, PROMPT_TOKENS, tokens["answer"])
        seconds += chained * sum(
            registry.prompt_seconds(entry, PROMPT_TOKENS, tokens[step]) for step in ("chain", "final")
        )
        draws = len(sampling["seeds"]) if name in sampling["models"] else 0
        drawn = {"methods": [VANILLA], "temperature": sampling["temperature"], "seeds": sampling["seeds"]}
        of_models[name] = {
            "methods": methods,
            "new_tokens": tokens,
            "sampled": drawn if draws else None,
            "prompts": plain * (1 + draws) + 2 * chained,
            "generated": plain * (1 + draws) * (tokens["answer"] + thought)
            + chained * (tokens["chain"] + tokens["final"] + 2 * thought),
            "seconds": seconds,
        }
    return of_models


def compared_pairs(jobs: dict[str, dict], entries: dict[str, dict], scored: dict[str, dict]) -> list[dict]:
    """Return prompted models, each beside itself and its base model where these are among the ``scored`` ones.

    Args:
        jobs: From :func:`prompted_jobs`.
        entries: The registry.
        scored: Models that score instances.
    """
    return [
        {"prompted": name, "scored": model}
        for name in jobs
        for model in dict.fromkeys([name, entries[name].get("base", name)])
        if model in scored
    ]


def sampled_draws(jobs: dict[str, dict]) -> list[dict]:
    """Return every draw of a model's answers (:func:`prompted_jobs`): ``model`` and ``seed``."""
    return [
        {"model": name, "seed": seed}
        for name, job in jobs.items()
        if job["sampled"]
        for seed in job["sampled"]["seeds"]
    ]
