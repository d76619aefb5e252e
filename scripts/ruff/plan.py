"""What a run of RUFF scores and prompts, checked before any template is read.

That is how many instances of each sample models score, and which models are prompted, by which methods and how often.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.core.data import options
from scripts.core.data.templates import CASES
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models import registry
from scripts.core.models.entries import Model
from scripts.core.workflow.model_work import Prompting, PromptSet, ScoredInstances
from scripts.core.workflow.plans import StudyPlan
from scripts.ruff import study
from scripts.ruff.prompts import BLANKS, read_prompts
from scripts.ruff.study import VANILLA

# Sixty occupations in three cases (section 3.1 of the paper).
TASKS = 180
TASK_TOKENS = 19
TOKENS = (34.5, 49, 58.5, 68, 77, 86)
"""Tokens of a text by its number of distractors, on average; they fit the tokenizers of BERT and SmolLM2 alike."""
PROMPT_TOKENS = 200
"""Tokens of a typical prompt with its instance."""


def full_sample(n_sets: int) -> int:
    """Return the rows of a full sample of one seed and number of distractors: 2,160 with four pronoun sets.

    Each task sentence comes with every ordered pair of gold and distractor (section 3.2), or, without distractors, as
    often.
    """
    return TASKS * n_sets * (n_sets - 1)


def sample_sizes(size: int | dict[str, int], models: Iterable[str]) -> dict[str, int]:
    """Return how many instances of each sample every model scores.

    Args:
        size: ``ruff.sample_size``: for all models, or for each model that has its own, and for the others as
            ``default``; 0 leaves a model out.
        models: The models of the run.

    Raises:
        UserError: If all models are left out.
    """
    own = size if isinstance(size, dict) else {"default": size}
    sizes = {model: own.get(model, own["default"]) for model in models}
    if sizes and not any(sizes.values()):
        raise UserError(
            f"ruff.sample_size leaves out every model of the run ({', '.join(sizes)}); give one a sample, or name "
            "studies without ruff"
        )
    return {model: number for model, number in sizes.items() if number}


def uneven_models(sizes: dict[str, int]) -> list[str]:
    """Return the models whose samples have one case more often than another: three cases do not divide their size."""
    return [model for model, size in sizes.items() if size % len(CASES)]


def check_sizes(settings: dict, n_sets: int, known: Collection[str]) -> None:
    """Refuse sizes above the full sample, and those in which one pronoun set would be right more often than another.

    Args:
        settings: ``ruff`` of the configuration.
        known: Every model of the registry.

    Raises:
        UserError: For these, and for a size of a model that is not in the registry.
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
    settings: dict, models: dict[str, Model], seeds: list[int], distractors: list[int], prompt_kinds: list[str]
) -> dict[str, Prompting]:
    """Return what each prompted model is asked.

    Args:
        settings: ``ruff.prompting`` of the configuration.
        models: The registry.
        seeds, distractors: Of the run's samples.
        prompt_kinds: The kind of each prompt template (:func:`scripts.ruff.prompts.read_prompts`).

    Returns:
        By name, in registry order.

    Raises:
        UserError: For a model that is unknown or cannot be prompted, and for samples or chains of thought beyond those
            of the run and of the prompts.
    """
    where = "ruff.prompting"
    chosen = registry.select_prompted(models, settings["models"], f"{where}.models")
    chains = settings["chain_of_thought"]
    for name, model in chosen.items():
        if model.api and name in chains["models"]:
            raise UserError(
                f"{where}.chain_of_thought.models: '{name}' is behind a server, which answers no chains of thought; "
                "remove it"
            )
    # What nobody is asked needs to fit nothing.
    limits = [("chain_of_thought.models", chains["models"], settings["models"], f"{where}.models")]
    if chosen:
        limits.append(("seeds", settings["seeds"], seeds, "ruff.seeds"))
        limits.append(("distractors", settings["distractors"], distractors, "ruff.distractors"))
    if chains["models"]:
        of = f"{where}.distractors"
        limits.append(("chain_of_thought.distractors", chains["distractors"], settings["distractors"], of))
    for key, parts, whole, of in limits:
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
    for name, model in chosen.items():
        methods = [VANILLA, *(chains["methods"] if name in chains["models"] else [])]
        tokens = {"answer": new[model.architecture], "chain": new["chain"], "final": new["final"]}
        plain = prompts * settings["sample_size"] * samples
        chained = prompts * chains["sample_size"] * chain_samples * (len(methods) - 1)
        answers = [(plain, tokens["answer"]), (chained, tokens["chain"]), (chained, tokens["final"])]
        of_models[name] = Prompting(methods, tokens, answers)
    return of_models


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study.

    Attributes:
        chance: The accuracy of a random choice.
        n_sets: Pronoun sets of the run.
        sizes: Models that score instances, to how many of each sample (:func:`sample_sizes`).
        models: These models and what figures say of them.
        prompted: Models to what they are asked (:func:`prompted_jobs`).
        asked: These models and what figures say of them.
        pairs: Prompted models, each with itself and its base model where these score.
        has_thinkers: Whether a prompted model thinks before it answers.
    """

    chance: float
    n_sets: int
    sizes: dict[str, int]
    models: dict[str, dict]
    prompted: dict[str, Prompting]
    asked: dict[str, dict]
    pairs: list[dict]
    has_thinkers: bool

    @classmethod
    def of(
        cls,
        settings: dict,
        known: dict[str, Model],
        run: dict,
        pronouns: dict,
        names: list[str],
        prompt_templates: str | Path,
    ) -> "Plan":
        """Return the plan of a configuration, of which ``settings`` are the block ``ruff``.

        Args:
            known: The registry.
            run: The run's models and what figures say of them.
            pronouns: As read by :func:`scripts.core.data.templates.read_pronouns`.
            names: Pronoun sets of the run.
            prompt_templates: The file of prompts.

        Raises:
            UserError: For pronoun sets, sizes, prompts or models that a run cannot have.
        """
        chance = options.chance_of_sets(study.select_pronoun_sets(pronouns, names), CASES)
        check_sizes(settings, len(names), known)
        kinds = [prompt["kind"] for prompt in read_prompts(prompt_templates).values()]
        prompted = prompted_jobs(settings["prompting"], known, settings["seeds"], settings["distractors"], kinds)
        sizes = sample_sizes(settings["sample_size"], run)
        if not sizes:
            raise UserError(
                "models: RUFF reads what models score, and none is named; name one, or leave ruff out of studies"
            )
        models = {name: run[name] for name in sizes}
        return cls(
            settings=settings,
            chance=chance,
            n_sets=len(names),
            sizes=sizes,
            models=models,
            prompted=prompted,
            asked={name: known[name].facts for name in prompted},
            pairs=[
                {"prompted": name, "scored": model}
                for name in prompted
                for model in dict.fromkeys([name, known[name].base or name])
                if model in models
            ],
            has_thinkers=any(known[name].thinking is not None for name in prompted),
        )

    @property
    def largest(self) -> int:
        """The most instances of each sample that a model scores; all models take the first of the same."""
        return max(self.sizes.values())

    @property
    def prompting(self) -> dict:
        """``ruff.prompting`` of the configuration."""
        return self["prompting"]

    @property
    def chained(self) -> list[str]:
        """Models that are asked for chains of thought."""
        return self.prompting["chain_of_thought"]["models"] if self.asked else []

    @cached_property
    def scored(self) -> ScoredInstances:
        """What models score."""
        scored = {size: self._scored_by(size) for size in self.sizes.values()}
        return ScoredInstances(
            sets=self.templates,
            instances=scored[self.largest]["instances"],
            options=self.n_sets,
            # The longest set has 69 tokens a text under BERT's tokenizer; the root mean square over its six sets is 52.
            tokens=56,
            lengths=scored[self.largest]["lengths"],
            fewer={model: scored[size] for model, size in self.sizes.items() if size < self.largest},
            benchmark=[
                f"results/ruff/instances/replica/sample_seed{seed}_distractors{n}.parquet"
                for seed in (13, 17, 19)
                for n in range(6)
            ],
        )

    def _scored_by(self, size: int):
        """Return what a model scores that takes ``size`` instances of each sample."""
        samples = [(len(self["seeds"]) * size, TOKENS[n]) for n in self["distractors"]]
        lengths = [(TASKS, TASK_TOKENS), *samples]
        return {"priority": size, "instances": sum(count for count, _ in lengths), "lengths": lengths}

    @cached_property
    def prompts(self) -> PromptSet:
        """What prompted models are asked."""
        return PromptSet(self.templates, self.prompted, PROMPT_TOKENS)

    @property
    def methods(self) -> list[str]:
        """Ways of asking, the one without a chain of thought first."""
        return [VANILLA, *self.prompting["chain_of_thought"]["methods"]]

    @property
    def outputs_mb(self) -> int:
        """Memory of jobs that read what models answered."""
        return 32000 if self.prompting["sample_size"] > 200 else 4000

    def prompting_figures(self, fewest: int) -> list[str]:
        """Return the figures of prompted models that the run has: shares of at least ``fewest`` answers to a prompt."""
        asked = self.prompting["sample_size"] * len(self.prompting["seeds"]) >= fewest
        chains = self.prompting["chain_of_thought"]["sample_size"] * len(self.prompting["seeds"]) >= fewest
        drawn = {
            "prompting_vanilla": self.asked and asked,
            "prompting_final": self.chained and chains,
            "prompting_chain": self.chained and chains,
            "prompting_against_scored": self.pairs and asked,
        }
        return [name for name, is_drawn in drawn.items() if is_drawn]

    @property
    def section_settings(self) -> dict:
        """Settings that the paper's section prints."""
        return {
            "seeds": len(self["seeds"]),
            "chance": self.chance,
            "alpha": self["alpha"],
            "bootstrap_draws": self.bootstrap["draws"],
        }

    @property
    def compared_settings(self) -> dict:
        """Settings that the study prints, too."""
        return self.section_settings | {"pronoun_sets": self.n_sets, "cases": len(CASES)}

    @property
    def prompting_numbers(self) -> dict:
        """Settings of prompting that the paper's numbers have."""
        given = self.prompting
        return {
            "sample_size": given["sample_size"],
            "seeds": len(given["seeds"]),
            **{f"new_tokens.{step}": most for step, most in given["new_tokens"].items()},
        }

    @property
    def prompting_section(self) -> dict:
        """What the paper's section says of prompting."""
        given, chains = self.prompting, self.prompting["chain_of_thought"]
        return {
            "models": self.asked,
            "distractors": given["distractors"],
            "chain_distractors": chains["distractors"] if self.chained else [],
            "chain_models": chains["models"],
            "methods": chains["methods"],
            "kinds": given["kinds"],
            "orders": given["option_orders"],
            "blank": BLANKS[given["blank"]],
            "pairs": self.pairs,
            "thinking": self.has_thinkers,
        }
