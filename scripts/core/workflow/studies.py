"""What a study declares about itself at the end of its rules file.

Everything that all studies share loops over these declarations: scoring, prompting and token distributions, the plan,
the paper, the groups on a cluster and the targets.
"""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scripts.core.errors import UserError, did_you_mean
from scripts.core.workflow.model_work import Coreference, Probes, PromptSet, ScoredInstances

JUDGED = ("published_vs_ours", "findings")
"""Tables of a study that are over all its parts, with counts of verdicts next to them."""


class ModelOutput(NamedTuple):
    """A file that a model leaves for a study: ``scores``, ``distributions`` or ``answers`` of a set."""

    study: str
    kind: str
    set: str
    model: str

    @property
    def file(self) -> str:
        return f"results/{self.study}/{self.kind}/{self.set}/{self.model}.parquet"

    @property
    def asked(self) -> str:
        """The file that the model read for it."""
        asked = {"scores": f"instances/{self.set}/selected", "distributions": f"texts/{self.set}"}
        return f"results/{self.study}/{asked.get(self.kind, f'prompts/{self.set}')}.parquet"


class Point(NamedTuple):
    """One place on the axis of a card's figure: its label, and which rows of the study's summary stand there.

    ``factors`` are their levels; a factor that is not named is pooled or, like a prompt, that of a row for itself.
    ``printed`` says where a published table has the same: ``item``, ``row``, ``column``, of which ``row`` or
    ``column`` may hold ``{model}`` for a model's name in the study, and ``scale``, the factor to a share.
    """

    label: str
    metric: str
    factors: dict
    printed: tuple = ()


@dataclass(frozen=True)
class Card:
    """What a model's card shows of a study: one figure of rows of its summary, and its findings for one model.

    Attributes:
        value: What the figure's values are.
        points: Places on its axis.
        parts: Parts of the study of which the figure shows the first that the model has; none: whatever it has.
        chance: What a random pick comes to.
        printed: ``paper/published/<name>.csv``, if some points have published values.
        axis: What the points are; empty if they say it themselves.
    """

    value: str
    points: list
    parts: list = field(default_factory=list)
    chance: float | None = None
    printed: str | None = None
    axis: str = ""


@dataclass(frozen=True)
class ExplorerView:
    """What the explorer shows of a study (:mod:`scripts.explorer.page_data`). Columns are those of its instances.

    Attributes:
        sets: Labels of sets to the paths of their instances and of tables of predictions about them.
        gold: The column with what predictions begin from, such as the pronoun that was introduced; or columns that are
            true, to its name.
        words: What becomes of what, for headings: ``("introduced", "preferred")``.
        levels: What can be predicted, in the order of scores, to the pronoun set whose colour it has; empty for none.
        unit: The column of what instances share that are alike, by which intervals are clustered, and its plural.
        factors: Columns to filter by.
        own: Words in the names of sets whose texts may be shown, since they are made from this project's own templates.
        called: Words of these columns and tables, to what the page calls them; empty: they go without saying.
        where: Columns of the tables to the values of the rows that are meant.
        predicted: Columns that are true, to what was predicted; none: the usual column.
        clusters: Files of clusters, with ``system`` and ``debiasing`` as in the tables.
        scorings: Ways of scoring to the column that options are compared by, where that is not ``log_probability``.
        weights: Where nothing is right or wrong: levels to the weights of their probabilities in what is averaged.
        quantity: What is averaged.
    """

    sets: dict
    gold: str | dict
    words: tuple
    levels: dict
    unit: tuple
    factors: list
    own: list = field(default_factory=lambda: ["replica"])
    called: dict = field(default_factory=dict)
    where: dict = field(default_factory=dict)
    predicted: dict = field(default_factory=dict)
    clusters: list = field(default_factory=list)
    scorings: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)
    quantity: str = "Accuracy"

    @property
    def files(self) -> list[str]:
        """Instances and predictions."""
        return list(dict.fromkeys(path for paths in self.sets.values() for path in paths))

    def shows(self, name: str) -> bool:
        """Tell whether the texts of a set may be shown, by its name or by the path of its instances."""
        return not set(self.own).isdisjoint(re.split("[/_.]", name))


@dataclass(frozen=True)
class PairedOutcomes:
    """How a headline's value follows from the first of the study's outcomes, so that two runs can be compared on them.

    Attributes:
        cluster: Columns of the outcomes, or of their instances: units that differ in them are independent of each
            other.
        value: The column that the estimate is made of.
        unit: Columns of the outcomes, or of their instances, that identify what the estimate is a mean over.
        where: Column to texts in which columns of the summary may stand in braces; the first that occurs chooses the
            rows.
        prediction: The columns with what was predicted; none: outcomes are compared.
        statistic: How a unit's rows make its value: ``mean``, ``disagreement``, ``slope``, ``area``
            (:mod:`scripts.core.statistics.outcomes`).
        by: The column that such a statistic other than the mean is over: groups, or positions.
        signs: Column to levels whose values count with a sign (for ``area`` the two classes, the detected one being 1);
            rows with other levels are left out.
    """

    cluster: list
    value: str = "correct"
    unit: list = field(default_factory=lambda: ["instance_id"])
    where: dict = field(default_factory=dict)
    prediction: list = field(default_factory=list)
    statistic: str = "mean"
    by: str = ""
    signs: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """What a study declares.

    Attributes:
        name: As in ``rules/``, ``scripts/``, ``templates/``, ``paper/sections/`` and ``results/``.
        title: As in the paper's abstract: its short name and, in brackets, what it is about.
        question: What it asks, in one sentence for cards, the explorer and, without a template, the table of protocols.
        parts: What its results are divided by, in this run: sets of templates, or sources.
        figures, tables: Their files below ``results/<name>/figures/`` and ``tables/``, without suffixes. The tables
            ``published_vs_ours`` and ``findings`` also count verdicts (JSON).
        analyses: Tidy tables that belong to the results, as figures and tables do.
        models: The models that score its instances and read its texts; those of the run unless a study has a list of
            its own.
        systems: The coreference systems that resolve its documents, likewise.
        scored, prompted, texts, resolved: What models and coreference systems do for it.
        pronoun_sets: Whether it takes the pronoun sets of the run (``pronoun_sets`` in config.yaml), and not sets of
            its own or none.
        chances: Metrics of headlines to what a random pick comes to; 0 for differences.
        outcomes: Tables that say what became of each instance, the nearest first, by the way of scoring; under an empty
            name those of all others. Columns of the summary may stand in braces.
        paired: The metrics of its headlines to how their values follow from the outcomes.
        card: What a model's card shows of the study.
        explorer: What the explorer shows of the study.
    """

    name: str
    title: str
    question: str
    parts: list
    figures: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    analyses: list = field(default_factory=list)
    models: list = field(default_factory=list)
    systems: list = field(default_factory=list)
    scored: ScoredInstances | None = None
    prompted: PromptSet | None = None
    texts: Probes | None = None
    resolved: Coreference | None = None
    pronoun_sets: bool = True
    chances: dict = field(default_factory=dict)
    outcomes: dict = field(default_factory=dict)
    paired: dict = field(default_factory=dict)
    card: Card | None = None
    explorer: ExplorerView | None = None

    @property
    def label(self) -> str:
        """The study's short name."""
        return self.title.partition(" (")[0]

    @property
    def figure_files(self) -> list[str]:
        """The run's figures as PDF, PNG and CSV."""
        return [f"{stem}{suffix}" for stem in self.figures for suffix in (".pdf", ".png", ".csv")]

    @property
    def table_files(self) -> list[str]:
        """The run's tables as LaTeX and CSV, and the counts of verdicts."""
        return [f"{stem}{suffix}" for stem in self.tables for suffix in (".tex", ".csv")] + self.verdict_files

    @property
    def verdict_files(self) -> list[str]:
        """The counts of verdicts (JSON) on published numbers and findings."""
        return [f"{stem}.json" for stem in self.tables if stem.rpartition("/")[2] in JUDGED]

    @property
    def number_files(self) -> list[str]:
        """The numbers of the paper's text, one file for each part."""
        return [f"results/{self.name}/analysis/{part}/paper_numbers.json" for part in self.parts]

    @property
    def summary_file(self) -> str:
        """The study's rows of the summary over all studies (``scripts/core/data/estimate_rows.py``)."""
        return f"results/{self.name}/analysis/summary.csv"

    def findings_file(self, model: str) -> str:
        """Return the verdicts on the study's findings for one model, for its card."""
        return f"results/{self.name}/analysis/findings_of_model/{model}.csv"

    @property
    def outputs(self) -> list[ModelOutput]:
        """What the study's models leave in this run."""
        found = []
        if self.scored:
            for name in self.scored.sets:
                found += [("scores", name, model) for model in self.scored.models_of(name, self.models)]
        if self.texts:
            found += [("distributions", name, model) for name in self.texts.sets for model in self.models]
        if self.prompted:
            found += [("answers", name, model) for name in self.prompted.sets for model in self.prompted.models]
        return [ModelOutput(self.name, *facts) for facts in found]

    def outputs_of(self, *models: str) -> list[ModelOutput]:
        """Return what some models leave for the study."""
        return [output for output in self.outputs if output.model in models]

    def is_read_by(self, model: str) -> bool:
        """Tell whether a model scores any of the study's sets or reads its texts."""
        return any(output.kind != "answers" for output in self.outputs_of(model))

    def explored_outputs(self) -> list[ModelOutput]:
        """Return what models left about the texts that the explorer shows, model by model."""
        order = list(dict.fromkeys([*self.models, *(self.prompted.models if self.prompted else [])]))
        shown = [output for output in self.outputs if self.explorer and self.explorer.shows(output.set)]
        return sorted(shown, key=lambda output: order.index(output.model))

    @property
    def read_files(self) -> list[str]:
        """What the study's models and coreference systems read."""
        documents = [self.resolved.documents[name].table for name in self.resolved.sets] if self.resolved else []
        return [*dict.fromkeys(output.asked for output in self.outputs), *documents]

    @property
    def cluster_files(self) -> list[str]:
        """The clusters of the study's coreference systems."""
        sets = self.resolved.sets if self.resolved else {}
        return [f"results/{self.name}/clusters/{name}/{system}.jsonl" for name in sets for system in self.systems]


def declare_study(**declaration: Any) -> Study:
    """Return the study of a declaration.

    Raises:
        UserError: If it has a field that studies do not have, or lacks one that they need.
    """
    named = f"rules/{declaration.get('name', 'of a study')}.smk: declare"
    fields = {field.name: field for field in dataclasses.fields(Study)}
    for name in declaration.keys() - fields.keys():
        raise UserError(f"{named}: studies have no field '{name}'{did_you_mean(name, fields)}")
    for name in fields.keys() - declaration.keys():
        if fields[name].default is fields[name].default_factory is dataclasses.MISSING:
            raise UserError(f"{named} lacks '{name}', which every study needs; add it")
    return Study(**declaration)


def select_studies(configured: str | list[str], known: Sequence[str]) -> list[str]:
    """Return the studies of a run, in the order of ``known``.

    Args:
        configured: ``studies`` of the configuration: ``all``, or some names.
        known: All studies.

    Raises:
        UserError: For a name that is not a study's.
    """
    if configured == "all":
        return list(known)
    for name in configured:
        if name not in known:
            hint = did_you_mean(name, known) or f"; the studies are {', '.join(known)}"
            raise UserError(f"studies: '{name}' is not a study{hint}")
    return [name for name in known if name in configured]
