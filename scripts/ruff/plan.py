"""What a run of RUFF scores and prompts, checked before any template is read.

That is how many instances of each sample models score, and which models are prompted, by which methods and how often.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

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
PROMPTING, CHAINS = "ruff.prompting", "ruff.prompting.chain_of_thought"
"""Keys of the configuration, for messages."""


def full_sample(n_sets: int) -> int:
    """Return the rows of a full sample of one seed and number of distractors: 2,160 with four pronoun sets.

    Each task sentence comes with every ordered pair of gold and distractor (section 3.2), or, without distractors, as
    often.
    """
    return TASKS * n_sets * (n_sets - 1)


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study.

    Attributes:
        known: The registry.
        run: The run's models and what figures say of them.
        pronouns: As read by :func:`scripts.core.data.templates.read_pronouns`.
        names: Pronoun sets of the run.
        prompt_templates: The file of prompts.

    Raises:
        UserError: For pronoun sets, sizes, prompts or models that a run cannot have.
    """

    known: dict[str, Model]
    run: dict[str, dict]
    pronouns: dict
    names: list[str]
    prompt_templates: str | Path

    def __post_init__(self):
        study.select_pronoun_sets(self.pronouns, self.names)
        read_prompts(self.prompt_templates)
        self._check_sizes()
        self._check_prompting()
        if not self.run:
            raise UserError(
                "models: RUFF reads what models score, and none is named; name one, or leave ruff out of studies"
            )
        if not self.sizes:
            raise UserError(
                f"ruff.sample_size leaves out every model of the run ({', '.join(self.run)}); give one a sample, or "
                "name studies without ruff"
            )

    def _check_sizes(self) -> None:
        """Refuse sizes above the full sample, and those in which one pronoun set would be right more often."""
        n_sets, size = len(self.names), self["sample_size"]
        most = full_sample(n_sets)
        for model in size if isinstance(size, dict) else ():
            if model != "default" and model not in self.known:
                hint = did_you_mean(model, self.known) or "; remove it"
                raise UserError(f"ruff.sample_size: '{model}' is not in config/models.yaml{hint}")
        sizes = {f"ruff.sample_size.{model}": n for model, n in size.items()} if isinstance(size, dict) else {}
        sizes = sizes or {"ruff.sample_size": size}
        # What nobody is asked may have any size.
        for where, asked in ((PROMPTING, self.prompting), (CHAINS, self.chains)):
            if asked["models"]:
                sizes[f"{where}.sample_size"] = asked["sample_size"]
        for key, number in sizes.items():
            if number > most:
                raise UserError(
                    f"{key} is {number}, but with {n_sets} pronoun sets a full sample has {most} instances; "
                    f"use at most {most}"
                )
            if number % n_sets:
                raise UserError(
                    f"{key} is {number}, which {n_sets} pronoun sets do not divide, so that one would be right more "
                    f"often than another; use a multiple of {n_sets}"
                )

    def _check_prompting(self) -> None:
        """Refuse models that cannot be prompted, and samples or chains of thought beyond those that there are."""
        asked, chains = self.prompting, self.chains
        for name in self.asked:
            if self.known[name].api and name in chains["models"]:
                raise UserError(
                    f"{CHAINS}.models: '{name}' is behind a server, which answers no chains of thought; remove it"
                )
        within = [(f"{CHAINS}.models", chains["models"], f"{PROMPTING}.models", asked["models"])]
        if self.asked:
            within += [(f"{PROMPTING}.{key}", asked[key], f"ruff.{key}", self[key]) for key in ("seeds", "distractors")]
        if chains["models"]:
            within.append(
                (f"{CHAINS}.distractors", chains["distractors"], f"{PROMPTING}.distractors", asked["distractors"])
            )
        for key, parts, of, whole in within:
            beyond = [part for part in parts if part not in whole]
            if beyond:
                raise UserError(f"{key}: {beyond[0]!r} is not in {of}; add it there or remove it here")
        if chains["models"] and chains["sample_size"] > asked["sample_size"]:
            raise UserError(
                f"{CHAINS}.sample_size is {chains['sample_size']}, more than {PROMPTING}.sample_size; lower it"
            )

    @cached_property
    def chance(self) -> float:
        """The accuracy of a random choice."""
        return options.chance_of_sets(study.select_pronoun_sets(self.pronouns, self.names), CASES)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Models that score instances, to how many of each sample: their own size or the default; 0 leaves one out."""
        size = self["sample_size"]
        own = size if isinstance(size, dict) else {"default": size}
        sizes = {model: own.get(model, own["default"]) for model in self.run}
        return {model: number for model, number in sizes.items() if number}

    @property
    def uneven(self) -> list[str]:
        """Those whose samples have one case more often than another: three cases do not divide their size."""
        return [model for model, size in self.sizes.items() if size % len(CASES)]

    @cached_property
    def models(self) -> dict[str, dict]:
        """Models that score instances and what figures say of them."""
        return {name: self.run[name] for name in self.sizes}

    @cached_property
    def scored(self) -> ScoredInstances:
        """What models score; all take the first instances of the same samples."""
        largest = max(self.sizes.values())
        scored = {size: self._scored_by(size) for size in self.sizes.values()}
        return ScoredInstances(
            sets=self.templates,
            instances=scored[largest]["instances"],
            options=len(self.names),
            # The longest set has 69 tokens a text under BERT's tokenizer; the root mean square over its six sets is 52.
            tokens=56,
            lengths=scored[largest]["lengths"],
            fewer={model: scored[size] for model, size in self.sizes.items() if size < largest},
        )

    def _scored_by(self, size: int):
        """Return what a model scores that takes ``size`` instances of each sample."""
        samples = [(len(self["seeds"]) * size, TOKENS[n]) for n in self["distractors"]]
        lengths = [(TASKS, TASK_TOKENS), *samples]
        return {"priority": size, "instances": sum(count for count, _ in lengths), "lengths": lengths}

    @property
    def prompting(self) -> dict[str, Any]:
        """``ruff.prompting`` of the configuration."""
        return self["prompting"]

    @property
    def chains(self) -> dict[str, Any]:
        """``ruff.prompting.chain_of_thought`` of the configuration."""
        return self.prompting["chain_of_thought"]

    @cached_property
    def asked(self) -> dict[str, dict]:
        """Models that are prompted, in registry order, and what figures say of them."""
        chosen = registry.select_prompted(self.known, self.prompting["models"], f"{PROMPTING}.models")
        return {name: model.facts for name, model in chosen.items()}

    @property
    def chained(self) -> list[str]:
        """Those that are asked for chains of thought."""
        return self.chains["models"] if self.asked else []

    @property
    def methods(self) -> list[str]:
        """Ways of asking, the one without a chain of thought first."""
        return [VANILLA, *self.chains["methods"]]

    @cached_property
    def prompted(self) -> dict[str, Prompting]:
        """The same models to what they are asked."""
        given, chains = self.prompting, self.chains
        kinds = [prompt["kind"] for prompt in read_prompts(self.prompt_templates).values()]
        prompts = sum(kinds.count(kind) for kind in given["kinds"])
        samples = len(given["seeds"]) * len(given["distractors"])
        chain_samples = len(given["seeds"]) * len(chains["distractors"])
        jobs = {}
        for name, facts in self.asked.items():
            methods = self.methods if name in self.chained else [VANILLA]
            new = given["new_tokens"]
            tokens = {"answer": new[facts["architecture"]], "chain": new["chain"], "final": new["final"]}
            plain = prompts * given["sample_size"] * samples
            chained = prompts * chains["sample_size"] * chain_samples * (len(methods) - 1)
            answers = [(plain, tokens["answer"]), (chained, tokens["chain"]), (chained, tokens["final"])]
            jobs[name] = Prompting(methods, tokens, answers)
        return jobs

    @property
    def prompts(self) -> PromptSet:
        """What prompted models are asked about each template set."""
        return PromptSet(self.templates, self.prompted, PROMPT_TOKENS)

    @property
    def pairs(self) -> list[dict]:
        """Prompted models, each with itself and its base model where these score."""
        return [
            {"prompted": name, "scored": model}
            for name in self.asked
            for model in dict.fromkeys([name, self.known[name].base or name])
            if model in self.models
        ]

    @property
    def outputs_mb(self) -> int:
        """Memory of jobs that read what models answered."""
        return 32000 if self.prompting["sample_size"] > 200 else 4000

    def prompting_figures(self, fewest: int) -> list[str]:
        """Return the figures of prompted models that the run has: shares of at least ``fewest`` answers to a prompt."""
        seeds = len(self.prompting["seeds"])
        asked, chains = (given["sample_size"] * seeds >= fewest for given in (self.prompting, self.chains))
        drawn = {
            "prompting_vanilla": self.asked and asked,
            "prompting_final": self.chained and chains,
            "prompting_chain": self.chained and chains,
        }
        return [name for name, is_drawn in drawn.items() if is_drawn]

    @property
    def section_settings(self) -> dict:
        """Settings that the paper's section prints."""
        settings = {"seeds": len(self["seeds"]), "chance": self.chance, "alpha": self["alpha"]}
        return settings | {"bootstrap_draws": self.bootstrap["draws"]}

    @property
    def compared_settings(self) -> dict:
        """Settings that the study prints, too."""
        return self.section_settings | {"pronoun_sets": len(self.names), "cases": len(CASES)}

    @property
    def prompting_section(self) -> dict:
        """What the paper's section says of prompting, with its settings as numbers."""
        given = self.prompting
        new_tokens = {f"new_tokens.{step}": most for step, most in given["new_tokens"].items()}
        return {
            "models": self.asked,
            "distractors": given["distractors"],
            "chain_distractors": self.chains["distractors"] if self.chained else [],
            "chain_models": self.chains["models"],
            "methods": self.chains["methods"],
            "kinds": given["kinds"],
            "blank": BLANKS[given["blank"]],
            "pairs": self.pairs,
            "thinking": any(self.known[name].thinking is not None for name in self.asked),
            "settings": {"sample_size": given["sample_size"], "seeds": len(given["seeds"])} | new_tokens,
        }
