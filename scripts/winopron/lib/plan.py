"""What a run of WinoPron asks, scores and reads, checked before any job."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.core.models.entries import Model
from scripts.core.workflow.plans import StudyPlan
from scripts.core.workflow.studies import Coreference, Documents, Prompting, PromptSet, ScoredInstances
from scripts.winopron.lib import prompts, study

PAIRS = 60
"""Pairs of people in a template set."""


def entities_of(templates: str) -> list[str]:
    """Return the kinds of sentences of a template set; Winogender Schemas have none about one person."""
    return ["double"] if templates == study.WINOGENDER else list(study.ENTITIES)


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study.

    Attributes:
        n_pronouns: Pronoun sets of the run.
        systems: The run's coreference systems and what figures say of them.
        prompted: Models to what they are asked.
        asked: These models and what figures say of them.
        scoring: The same of models that resolve by likelihood.
    """

    n_pronouns: int
    systems: dict[str, dict]
    prompted: dict[str, Prompting]
    asked: dict[str, dict]
    scoring: dict[str, dict]

    @classmethod
    def of(
        cls,
        settings: dict,
        models: dict[str, Model],
        run: dict,
        systems: dict,
        n_pronouns: int,
        prompt_templates: str | Path,
    ) -> "Plan":
        """Return the plan of a configuration, of which ``settings`` are the block ``winopron``.

        Args:
            models: The registry.
            run, systems: Models and coreference systems of the run and what figures say of them.
            n_pronouns: Pronoun sets of the run.
            prompt_templates: The file of prompts.

        Raises:
            UserError: For models and prompts that a run cannot have, and for two systems with the same label.
        """
        asking = settings["prompting"]
        prompted = prompts.jobs(
            asking, models, len(prompts.read(prompt_templates, asking["wording"], asking["prompts"])), n_pronouns
        )
        plan = cls(
            settings=settings,
            n_pronouns=n_pronouns,
            systems=systems,
            prompted=prompted,
            asked={name: models[name].facts for name in prompted},
            # An encoder-decoder does not score what follows the slot.
            scoring={
                name: facts
                for name, facts in run.items()
                if settings["resolution"]["pairs"] and facts["architecture"] != "encoder-decoder"
            },
        )
        for names in plan.sets:
            study.check_systems(names, plan.systems_of(**names))
        return plan

    @property
    def parts(self) -> list[str]:
        """Those that results are divided by: Winogender Schemas are for comparison alone."""
        return [name for name in self.templates if name != study.WINOGENDER]

    @cached_property
    def sets(self) -> list[dict]:
        """The sets of instances of the run."""
        return [{"templates": name, "entities": kind} for name in self.templates for kind in entities_of(name)]

    def files(self, kind: str, entities: str | None = None) -> list[str]:
        """Return the ``instances`` or ``predictions`` of these sets, or of those with one kind of sentences."""
        return [
            f"results/winopron/{kind}/{{templates}}/{{entities}}.parquet".format(**names)
            for names in self.sets
            if entities in (None, names["entities"])
        ]

    def systems_of(self, templates: str, entities: str) -> list[dict]:
        """Return every system with clusters of a set of instances, and how they are read."""
        return study.systems(
            f"results/winopron/clusters/{templates}/{entities}",
            {rule: study.RULES[rule] for rule in self["baselines"]},
            self.systems,
            self._given("clusters", templates, entities),
        )

    def is_asked(self, templates: str, entities: str) -> bool:
        """Return whether prompted models are asked about a set of instances."""
        return templates == study.WINOGENDER or entities in self["prompting"]["entities"]

    def read_of(self, templates: str, entities: str) -> dict:
        """Return what is read of a set of instances: systems with clusters or answers, prompted and scored models."""
        scored = templates != study.WINOGENDER and entities == "double"
        return {
            "systems": self.systems_of(templates, entities),
            "answering": self._given("answers", templates, entities),
            "models": self.asked if self.is_asked(templates, entities) else {},
            "scored": self.scoring if scored else {},
        }

    def inputs_of(self, templates: str, entities: str) -> dict:
        """Return the files of the same, with the instances and what the models were asked and scored."""
        read, folder = self.read_of(templates, entities), "results/winopron"
        return {
            "instances": f"{folder}/instances/{templates}/{entities}.parquet",
            "clusters": [entry["file"] for entry in read["systems"]],
            "answer_files": [entry["file"] for entry in read["answering"]],
            "prompts": [f"{folder}/prompts/{templates}.parquet"] if read["models"] else [],
            "answers": [f"{folder}/answers/{templates}/{model}.parquet" for model in read["models"]],
            "selected": [f"{folder}/instances/{templates}/selected.parquet"] if read["scored"] else [],
            "scores": [f"{folder}/scores/{templates}/{model}.parquet" for model in read["scored"]],
        }

    def _given(self, outputs: str, templates: str, entities: str):
        """Return the clusters or answers of a set of instances that the configuration names."""
        names = (templates, entities)
        return [entry for entry in self[outputs] if (entry["templates"], entry["entities"]) == names]

    @cached_property
    def scored(self) -> ScoredInstances | None:
        """What models score, if any do."""
        if not self.scoring:
            return None
        pairs = self["resolution"]["pairs"]
        return ScoredInstances(
            sets=self.parts,
            instances=6 * (PAIRS if pairs == "all" else pairs),
            options=2,
            score="continuation",
            set_models={name: list(self.scoring) for name in self.parts},
            tokens=25,
            # Both options share what precedes the slot.
            shared=1.6,
        )

    @cached_property
    def prompts(self) -> PromptSet | None:
        """What prompted models are asked, if there are any."""
        return PromptSet(self.templates, self.prompted, prompts.PROMPT_TOKENS) if self.prompted else None

    @cached_property
    def documents(self) -> Coreference:
        """What coreference systems resolve: sentences of a set, each with every pronoun set."""
        return Coreference(
            sets=["{templates}/{entities}".format(**names) for names in self.sets],
            documents={
                f"{name}/{kind}": Documents(
                    f"results/winopron/instances/{name}/{kind}.parquet",
                    "instance_id",
                    count * self.n_pronouns,
                    study.WORDS,
                )
                for name, count in study.TEMPLATES.items()
                for kind in entities_of(name)
            },
        )
