"""What a run of MISGENDERED declares, scores and counts, checked before any job."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.core.data import options
from scripts.core.data.templates import PronounSet
from scripts.core.errors import UserError
from scripts.core.models import registry
from scripts.core.models.entries import Model
from scripts.core.workflow.model_work import ScoredInstances
from scripts.core.workflow.plans import StudyPlan
from scripts.misgendered import corpora, declarations, few_shot, study

TOKENS, EXAMPLE_TOKENS = 33, 39
"""Tokens of a text with its declaration, on average: of all declarations, and of all five forms as in examples."""


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study; a UserError for groups, declarations, models, examples or corpora that it cannot have.

    Attributes:
        registered: The registry.
        run: The models that the run names for all studies.
        place: A path of the configuration to the path that the workflow uses.
    """

    registered: dict[str, Model]
    run: dict[str, Model]
    pronouns: dict
    combinations: str | Path
    place: Callable

    def __post_init__(self):
        _ = self.groups, self.declarations, self.corpora
        if not self.known:
            raise UserError(
                "models: MISGENDERED reads what models score, and none is named; name one, or leave misgendered out of "
                "studies"
            )
        if self.shots:
            few_shot.find_declaration(declarations.read_combinations(self.combinations), self.combinations)
        few_shot.check_contexts(self.shots, {name: self.registered[name].context for name in self.readers})

    @cached_property
    def groups(self) -> dict[str, PronounSet]:
        """The pronoun groups with their forms."""
        return study.select_groups(self.pronouns, self["pronoun_sets"])

    @cached_property
    def declarations(self) -> list[str]:
        """The names of the run's declarations."""
        given, known = self["declarations"], declarations.read_combinations(self.combinations)
        chosen = declarations.select_declarations(known, given["types"], given["numbers"], self.combinations)
        return [declaration.name for declaration in chosen]

    @cached_property
    def corpora(self) -> dict[str, dict]:
        """Corpora of this machine, by name."""
        return corpora.configured_corpora(self["corpora"]["local"], self.place)

    @cached_property
    def known(self) -> dict[str, dict]:
        """The run's models and what figures say of them, with those that have no loss on labels."""
        names = self["models"]
        run = self.run if names == "all" else registry.select_models(self.registered, names, "misgendered.models")
        return {name: model.facts for name, model in run.items()}

    @cached_property
    def readers(self) -> list[str]:
        """The models that read examples."""
        named = few_shot.select_models(self["few_shot"]["models"], list(self.known))
        return [name for name in named if name in self.models]

    @property
    def shots(self) -> list[int]:
        """Numbers of examples in a prompt, besides none; empty where no model of the run reads any."""
        return self["few_shot"]["shots"] if self.readers else []

    @property
    def wording(self) -> str:
        """How declarations are worded."""
        return self["declarations"]["wording"]

    @cached_property
    def models(self) -> dict[str, dict]:
        """The models that score: masked language models have no loss on labels, which is what the study compares."""
        return {name: facts for name, facts in self.known.items() if facts["architecture"] != "encoder"}

    @cached_property
    def chance(self) -> float:
        """The accuracy of a random pick."""
        return options.chance_of_sets({**self.groups}, study.FORMS)

    @cached_property
    def few_shot_sets(self) -> dict[str, int]:
        """Sets with examples in the prompt to how many."""
        return {f"{templates}_few_{shots}": shots for templates in self.templates for shots in self.shots}

    @cached_property
    def sets(self) -> dict[str, list[str]]:
        """Template sets to the scored sets that are made from them: without examples first."""
        return {
            templates: [templates, *(name for name in self.few_shot_sets if name.startswith(f"{templates}_few_"))]
            for templates in self.templates
        }

    @cached_property
    def scored(self) -> ScoredInstances:
        """What models score: samples without examples by the name of their templates, and those with examples."""
        sample, few = self["sample"], self["few_shot"]
        rows = few["instances"] * few["draws"]
        return ScoredInstances(
            sets=[*self.templates, *self.few_shot_sets],
            instances=sample["instances"] + min(sample["instances"], sample["reworded"]),
            options=len(self.groups),
            criterion="label_loss",
            # Measured on 550 instances under SmolLM2's tokenizer.
            shared=2.5,
            tokens=TOKENS,
            set_lengths={name: [(rows, (shots + 1) * EXAMPLE_TOKENS)] for name, shots in self.few_shot_sets.items()},
            set_models={name: list(self.models) for name in self.templates}
            | dict.fromkeys(self.few_shot_sets, self.readers),
        )

    def readers_of(self, templates: str) -> dict[str, list[str]]:
        """Return every scored set of a template set with the models that score it."""
        return {name: self.scored.models_of(name, list(self.models)) for name in self.sets[templates]}

    def score_files(self, templates: str) -> list[str]:
        """Return the files of these scores."""
        return [
            f"results/misgendered/scores/{name}/{model}.parquet"
            for name, models in self.readers_of(templates).items()
            for model in models
        ]
