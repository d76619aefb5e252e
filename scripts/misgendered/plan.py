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
    """A run of the study.

    Attributes:
        groups: The pronoun groups with their forms.
        combinations: Every combination of declared forms, by number.
        declarations: The names of the run's declarations.
        known: The run's models and what figures say of them, with those that have no loss on labels.
        few_shot_models: Those that read examples.
        corpora: Corpora of this machine, by name.
    """

    groups: dict[str, PronounSet]
    combinations: dict[int, tuple[tuple[str, ...], int]]
    declarations: list[str]
    known: dict[str, dict]
    few_shot_models: list[str]
    corpora: dict[str, dict]

    @classmethod
    def of(
        cls,
        settings: dict,
        models: dict[str, Model],
        run: dict[str, Model],
        pronouns: dict,
        combinations: str | Path,
        place: Callable,
    ) -> "Plan":
        """Return the plan of a configuration, of which ``settings`` are the block ``misgendered``.

        Args:
            models, run: The registry, and the models that the run names for all studies.
            pronouns: As read by :func:`scripts.core.data.templates.read_pronouns`.
            combinations: The file with the combinations of declared forms.
            place: A path of the configuration to the path that the workflow uses.

        Raises:
            UserError: For pronoun groups, declarations, models, examples or corpora that a run cannot have.
        """
        groups = study.select_groups(pronouns, settings["pronoun_sets"])
        combined = declarations.read(combinations)
        given = settings["declarations"]
        declared = declarations.select(combined, given["types"], given["numbers"], combinations)
        if settings["models"] != "all":
            run = registry.select(models, settings["models"], "misgendered.models")
        if not run:
            raise UserError(
                "models: MISGENDERED reads what models score, and none is named; name one, or leave misgendered out of "
                "studies"
            )
        shots = settings["few_shot"]["shots"]
        if shots:
            few_shot.declaration(combined, combinations)
        readers = few_shot.select_models(settings["few_shot"]["models"], list(run))
        known = {name: model.facts for name, model in run.items()}
        few_shot.check_contexts(shots, {name: models[name].context for name in readers if _has_loss(known[name])})
        return cls(
            settings=settings,
            groups=groups,
            combinations=combined,
            declarations=[declaration.name for declaration in declared],
            known=known,
            few_shot_models=readers,
            corpora=corpora.configured_corpora(settings["corpora"]["local"], place),
        )

    @property
    def shots(self) -> list[int]:
        """Numbers of examples in a prompt, besides none; empty where no model of the run reads any."""
        return self["few_shot"]["shots"] if self.readers else []

    @cached_property
    def readers(self) -> list[str]:
        """The models that read examples."""
        return [name for name in self.few_shot_models if name in self.models]

    @property
    def wording(self) -> str:
        """How declarations are worded."""
        return self["declarations"]["wording"]

    @cached_property
    def models(self) -> dict[str, dict]:
        """The models that score: masked language models have no loss on labels, which is what the study compares."""
        return {name: facts for name, facts in self.known.items() if _has_loss(facts)}

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
            benchmark=["results/misgendered/instances/replica/selected.parquet"],
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


def _has_loss(facts: dict):
    return facts["architecture"] != "encoder"
