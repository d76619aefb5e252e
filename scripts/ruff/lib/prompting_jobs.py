"""What a run prompts: which models, by which methods, with how many prompts; checked before anything runs."""

from scripts.core.engines import registry
from scripts.core.errors import UserError
from scripts.ruff.lib.prompts import VANILLA

PROMPT_TOKENS = 200
"""Tokens of a typical prompt with its instance."""


def jobs(settings, entries, seeds, distractors, prompt_kinds):
    """Return what each prompted model is asked.

    Parameters
    ----------
    settings : dict
        ``ruff.prompting`` of the configuration.
    entries : dict of str to dict
        The registry.
    seeds, distractors : list of int
        Of the run's samples.
    prompt_kinds : list of str
        The kind of each prompt template (:func:`scripts.ruff.lib.prompts.read_prompts`).

    Returns
    -------
    dict of str to dict
        Model, in registry order, to ``methods``, ``new_tokens`` (step to the most tokens), ``prompts`` (second steps
        and sampled answers included), ``generated`` (tokens of all answers at most), ``seconds``, how long all but
        sampled answers take at most, and ``sampled``: of models whose answers are also sampled ``methods``,
        ``temperature`` and ``seeds``.

    Raises
    ------
    UserError
        For a model that is unknown or cannot be prompted, and for samples or chains of thought beyond those of the run
        and of the prompts.
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
