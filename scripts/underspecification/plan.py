"""What a run of Underspecification reads and asks, checked before any job."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.core.errors import UserError
from scripts.core.models.entries import Model
from scripts.core.workflow.model_work import Probes
from scripts.core.workflow.plans import StudyPlan
from scripts.underspecification.study import FIGURE_GROUPS, RUN
from scripts.underspecification.templates import read_words
from scripts.underspecification.texts import count_texts

KINDS = ("winogender", "simplified")
"""Evaluation sets that come from this project's templates and from the authors."""
SETS = ("mgc", "winogender_replica", "simplified_replica", "winogender_official", "simplified_official")
HEADLINE = [f"correlations_{variable}_{choice}" for choice in ("all", "main") for variable in ("date", "place")]
"""The figures of dates and places: of all models and, of a release, of those in the study's main text."""
TOKENS = 64
"""Tokens of a typical text: prompt A around a Winogender sentence has about 60."""


def kind_of(name: str) -> str:
    """Return the evaluation set of one of :data:`SETS`, whoever its sentences are from."""
    return name.partition("_")[0]


def method_of(name: str) -> str:
    """Return the method that one of :data:`SETS` is for, which decides dates, prompts and lengths of continuations."""
    return "mgc" if name == "mgc" else "winogender"


def title_of(path: str) -> str:
    """Return what a report calls a figure or table: its part, and the name of its file in words."""
    return ": ".join(name for name in Path(path).parts[-2:] if name != "figures").replace("_", " ").capitalize()


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study: its models, here and at servers, and what figures say of them; gendered words by group."""

    models: dict[str, dict]
    word_groups: dict[str, list[str]]

    @classmethod
    def of(cls, settings: dict, run: dict[str, Model], words: str | Path) -> "Plan":
        """Return the plan of a block of the configuration; ``words`` is the file of gendered words.

        Raises:
            UserError: If there is nothing to read, or for words that cannot be read.
        """
        if not run and not settings["released"]:
            raise UserError(
                "underspecification.released: without a model in models or completions.models there is nothing to "
                "read; name released outputs or a model, or leave underspecification out of studies"
            )
        return cls(settings, {name: model.facts for name, model in run.items()}, read_words(words))

    @property
    def parts(self) -> list[str]:
        """Releases that are read, and the run if it has models."""
        return [*self["released"], *([RUN] if self.models else [])]

    @property
    def drawn(self) -> list[str]:
        """The figures of all parts, below the folder of figures: a part and a name."""
        names = dict.fromkeys(self.parts, HEADLINE[:2])
        for part in self["released"]:
            groups = [f"occupations_{kind}_{group}" for kind in KINDS for group in FIGURE_GROUPS]
            names[part] = [*HEADLINE, *groups, "occupations_example"]
        if self.models:
            names[RUN] = [*names[RUN], *(f"occupations_{kind}_{RUN}" for kind in KINDS)]
        return [f"{part}/{name}" for part, of_part in names.items() for name in (*of_part, "example")]

    @cached_property
    def sets(self) -> list[str]:
        """The evaluation sets of the run."""
        return ["mgc", *(f"{kind}_{templates}" for kind in KINDS for templates in self.templates)]

    @property
    def has_shares(self) -> bool:
        """Whether the share of women by occupation, which comes with the authors' files, is there."""
        return bool(self["released"]) or "official" in self.templates

    def files(self, kind: str, model: str = "") -> list[str]:
        """Return the files of a kind, such as ``texts``, of all sets, or those of one ``model``."""
        return [
            "/".join(filter(None, ("results/underspecification", kind, name, model))) + ".parquet" for name in self.sets
        ]

    def probabilities_of(self, part: str) -> list[str]:
        """Return the files with a part's probabilities of gendered words."""
        folder = "results/underspecification/word_group_probabilities"
        if part == RUN:
            return [f"{folder}/run/{model}.parquet" for model in self.models]
        return [f"{folder}/released/{part}.parquet"]

    @cached_property
    def texts(self) -> Probes:
        """What models fill and continue."""
        sample, dates, prompts = self["sample"], self["outer_dates"], self["prompts"]
        return Probes(
            sets=self.sets,
            new_tokens={name: self["max_new_tokens"][method_of(name)] for name in SETS},
            tokens=TOKENS,
            counts={name: count_texts(kind_of(name), sample, dates, prompts[method_of(name)]) for name in self.sets},
            word_groups=self.word_groups,
        )
