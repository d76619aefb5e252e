"""What a run of WinoPron asks, scores and reads, checked before any job."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.core.data.estimate_rows import CLUSTERS, HEURISTIC, MODEL, PROMPTED, SYSTEM
from scripts.core.errors import UserError
from scripts.core.models.entries import Model
from scripts.core.workflow.model_work import Coreference, Documents, Prompting, PromptSet, ScoredInstances
from scripts.core.workflow.plans import StudyPlan
from scripts.winopron import prompts, study

WORDS = 20
"""Words and marks of a typical sentence."""
SENTENCES = dict.fromkeys(("replica", "official"), study.count_sentences("all")) | {study.WINOGENDER: 120}
"""Template sets to the number of their sentences about two people, each with every pronoun set."""
PUBLISHED = {"c2f": "carried_over", "caw": "other_mention", "lingmess": "other_mention"}
"""Architectures of coreference systems to how the study's authors read their clusters; they had no other."""
FOLDER = "results/winopron"


def entities_of(templates: str) -> list[str]:
    """Return the kinds of sentences of a template set; Winogender Schemas have none about one person."""
    return ["double"] if templates == study.WINOGENDER else list(study.ENTITIES)


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study: ``models`` are the registry, ``run`` and ``systems`` what figures say of those of the run."""

    models: dict[str, Model]
    run: dict[str, dict]
    systems: dict[str, dict]
    n_pronouns: int
    prompt_templates: str | Path

    def __post_init__(self):
        for templates, entities in self.sets:
            self._check_labels(templates, entities)

    @cached_property
    def prompted(self) -> dict[str, Prompting]:
        """Models to what they are asked."""
        asking = self["prompting"]
        number = len(prompts.read_prompts(self.prompt_templates, asking["wording"], asking["prompts"]))
        return prompts.plan_prompting(asking, self.models, number, self.n_pronouns)

    @cached_property
    def asked(self) -> dict[str, dict]:
        """These models and what figures say of them."""
        return {name: self.models[name].facts for name in self.prompted}

    @cached_property
    def scoring(self) -> dict[str, dict]:
        """The same of models that resolve by likelihood; an encoder-decoder does not score what follows the slot."""
        scoring = {name: facts for name, facts in self.run.items() if facts["architecture"] != "encoder-decoder"}
        return scoring if self["resolution"]["pairs"] else {}

    def _check_labels(self, templates: str, entities: str):
        """Refuse two systems with clusters of a set of instances that tables could not tell apart."""
        seen, labels = {}, self.labels
        for reader in self.readers(templates, entities):
            label = labels[reader["model"]]
            if reader["outputs"] == "clusters" and (first := seen.setdefault(label, reader["file"])) != reader["file"]:
                raise UserError(
                    f"winopron.clusters: {reader['file']} is of {label} on {templates}, {entities}, as {first} is; "
                    "give it another name"
                )

    @property
    def parts(self) -> list[str]:
        """Those that results are divided by: Winogender Schemas are for comparison alone."""
        return [name for name in self.templates if name != study.WINOGENDER]

    @cached_property
    def sets(self) -> list[tuple[str, str]]:
        """The sets of instances of the run: templates and entities."""
        return [(name, kind) for name in self.templates for kind in entities_of(name)]

    def files(self, kind: str) -> list[str]:
        """Return the ``instances`` or ``predictions`` of these sets."""
        return [f"{FOLDER}/{kind}/{templates}/{entities}.parquet" for templates, entities in self.sets]

    def asked_about(self, templates: str) -> list[str]:
        """Return the files of the instances of a template set that prompted models are asked about."""
        kinds = [kind for kind in entities_of(templates) if self.is_asked(templates, kind)]
        return [f"{FOLDER}/instances/{templates}/{kind}.parquet" for kind in kinds]

    @cached_property
    def labels(self) -> dict[str, str]:
        """Everything whose outputs are read, by model, to what tables call it."""
        run = {name: facts["label"] for name, facts in (self.asked | self.scoring).items()}
        run |= {name: study.system_label(facts) for name, facts in self.systems.items()}
        given = [entry["system"] for entry in [*self["clusters"], *self["answers"]]]
        return study.RULES | run | dict(zip(given, given, strict=True))

    @property
    def demonstrations(self) -> list[str]:
        """Models and systems that say nothing of others."""
        return [name for name, facts in (self.run | self.asked | self.systems).items() if facts["demonstration"]]

    def is_asked(self, templates: str, entities: str) -> bool:
        """Return whether prompted models are asked about a set of instances."""
        return templates == study.WINOGENDER or entities in self["prompting"]["entities"]

    def readers(self, templates: str, entities: str) -> list[dict]:
        """Return everything whose outputs on a set of instances are read.

        ``outputs`` are ``clusters`` (how the authors read them is ``published``), a ``sheet`` of answers, ``answers``
        or ``scores``. A file that the configuration names has no way of scoring.
        """
        clusters = f"{FOLDER}/clusters/{templates}/{entities}"
        answers, scores = (f"{FOLDER}/{kind}/{templates}" for kind in ("answers", "scores"))
        found = [
            (rule, HEURISTIC, CLUSTERS, f"{clusters}/{rule}.jsonl", "clusters", None) for rule in self["baselines"]
        ]
        found += [
            (name, SYSTEM, CLUSTERS, f"{clusters}/{name}.jsonl", "clusters", PUBLISHED.get(facts["architecture"]))
            for name, facts in self.systems.items()
        ]
        for key, outputs in (("clusters", "clusters"), ("answers", "sheet")):
            found += [
                (entry["system"], SYSTEM, "", entry["file"], outputs, entry.get("conversion"))
                for entry in self[key]
                if (entry["templates"], entry["entities"]) == (templates, entities)
            ]
        if self.is_asked(templates, entities):
            found += [(name, MODEL, PROMPTED, f"{answers}/{name}.parquet", "answers", None) for name in self.asked]
        if templates != study.WINOGENDER and entities == "double":
            found += [(name, MODEL, "likelihood", f"{scores}/{name}.parquet", "scores", None) for name in self.scoring]
        columns = ("model", "kind", "scoring", "file", "outputs", "published")
        return [dict(zip(columns, row, strict=True)) for row in found]

    def inputs(self, templates: str, entities: str) -> dict[str, list[str]]:
        """Return the files of the same, and of what the models were asked and scored."""
        readers = self.readers(templates, entities)
        kinds = {reader["outputs"] for reader in readers}
        return {
            "outputs": [reader["file"] for reader in readers],
            "prompts": [f"{FOLDER}/prompts/{templates}.parquet"] if "answers" in kinds else [],
            "selected": [f"{FOLDER}/instances/{templates}/selected.parquet"] if "scores" in kinds else [],
        }

    @cached_property
    def called(self) -> dict[str, str]:
        """What the explorer calls models, ways of scoring and of reading, and kinds; empty: it goes without saying."""
        unsaid = (CLUSTERS, PROMPTED, MODEL, SYSTEM, HEURISTIC, study.CORRECTED)
        return self.labels | study.READINGS | dict.fromkeys(unsaid, "")

    @cached_property
    def scored(self) -> ScoredInstances | None:
        """What models score, if any do."""
        if not self.scoring:
            return None
        return ScoredInstances(
            sets=self.parts,
            instances=study.count_sentences(self["resolution"]["pairs"]),
            options=2,
            criterion="continuation",
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
            sets=[f"{templates}/{entities}" for templates, entities in self.sets],
            documents={
                f"{name}/{kind}": Documents(
                    f"{FOLDER}/instances/{name}/{kind}.parquet", "instance_id", count * self.n_pronouns, WORDS
                )
                for name, count in SENTENCES.items()
                for kind in entities_of(name)
            },
        )
