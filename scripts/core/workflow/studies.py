"""What a study declares about itself, and the rules and files that follow from it.

A study's rules file ends with one declaration (:class:`Study`). Everything that all studies share loops over these
declarations: the rules of figures, tables, numbers and sections (``rules/studies.smk``), scoring, prompting and token
distributions, the plan, the paper, the groups on a cluster and the targets.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scripts.core.errors import UserError, did_you_mean


class _Kind(NamedTuple):
    folder: str
    outputs: dict
    reported: str


KINDS = {
    "figure": _Kind("figures", {"pdf": ".pdf", "png": ".png", "csv": ".csv"}, "png"),
    "table": _Kind("tables", {"tex": ".tex", "csv": ".csv"}, "csv"),
    # Beside the study: what it publishes against what the run has, over all its parts at once.
    "comparison": _Kind("tables", {"csv": ".csv", "tex": ".tex", "numbers": ".json"}, "csv"),
}
"""Kinds of results: folder below ``results/<study>/``, named outputs, and the one that the HTML report shows."""
MODULES = {
    "figure": "figures", "table": "tables", "published_vs_ours": "tables", "numbers": "paper",
    "summary": "paper", "section": "paper", "findings": "findings", "analysis": "analyses",
}  # fmt: skip
"""Kinds of results, and names of comparisons, to the module of ``scripts/<study>/`` with their rules' functions."""
TITLES = {"findings": "Findings of the study", "published_vs_ours": "Published numbers beside ours"}
"""Titles of what every study may have beside it."""


@dataclass(frozen=True)
class Result:
    """A figure, a table or another output of a study whose rule has the usual shape (:func:`result`).

    Attributes:
        tables: Tidy tables that it is made from, by their names in the study's folder of analyses; each is an input.
        inputs: Other inputs by name: paths, lists of paths or functions of wildcards.
        params: Params by name: values or functions of wildcards.
        path: Where it is, below the folder of its kind and without suffix, with wildcards; None: ``{<part>}/<name>``.
            Of an analysis: the folder below that of the study's analyses; None: the part's, empty: none.
        targets: Values of the wildcards for which this run makes it; None: every part of the run.
        constraints: Regular expressions of its wildcards.
        script: The module with the rule's function, if it is not that of its kind (:data:`MODULES`).
        mem_mb, runtime: Memory, and the time limit in minutes; None: the default.
        title: What the HTML report and the list of results call it; None: its name, with spaces.
        outputs: Of an analysis: names of its outputs to files below the folder of the study's analyses for a part, or
            below ``path``; a file without a suffix is CSV. Empty: one of the analysis' own name.
    """

    tables: tuple
    inputs: dict
    params: dict
    path: str | None
    targets: list | None
    constraints: dict
    script: str | None
    mem_mb: int | None
    title: str | None = None
    outputs: dict = field(default_factory=dict)
    runtime: int | None = None


def result(
    *tables: str,
    params: dict[str, Any] | None = None,
    path: str | None = None,
    targets: list[dict[str, str]] | None = None,
    constraints: dict[str, str] | None = None,
    script: str | None = None,
    mem_mb: int | None = None,
    title: str | None = None,
    outputs: Sequence[str] | dict[str, str] = (),
    runtime: int | None = None,
    **inputs: Any,
) -> Result:
    """Return a :class:`Result` made from tidy ``tables`` and named ``inputs``; ``outputs`` may be names alone."""
    outputs = outputs if isinstance(outputs, dict) else {name.partition(".")[0]: name for name in outputs}
    return Result(
        tables, inputs, params or {}, path, targets, constraints or {}, script, mem_mb, title, outputs, runtime
    )


def combine(**values: Iterable[str]) -> list[dict[str, str]]:
    """Return all combinations of the values of wildcards, the first varying slowest.

    Examples:
        >>> combine(source=["run"], variable=["date", "place"])
        [{'source': 'run', 'variable': 'date'}, {'source': 'run', 'variable': 'place'}]
    """
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


@dataclass(frozen=True)
class ScoredInstances:
    """Instances that a study's models score: ``results/<study>/instances/<set>/selected.parquet``.

    Attributes:
        sets: The sets of this run.
        instances: How many a set has at most, if it is not in ``set_lengths``.
        options: How many options an instance has.
        tokens: Tokens of a typical text (for a set of several lengths, the root mean square).
        shared: Tokens that a decoder reads of all options of an instance together, in texts.
        benchmark: Files of instances that ``make bench`` measures the engines on.
        lengths: Where texts differ much in length: how many instances have texts of how many tokens on average. Plans
            use them; if there are none, all texts are typical.
        fewer: Models that score only some: to ``priority`` (those rows whose column ``priority`` is below it or
            missing), ``instances`` and ``lengths``.
        set_lengths: The same for sets that differ from the others.
        set_models: Sets that only some of the study's models score, and which.
        score: What options are compared by: ``log_likelihood``, ``continuation`` (the same, and what follows the slot
            by itself: ``scripts/core/scoring/criteria.py``) or ``label_loss``
            (in the same file).
    """

    sets: list
    instances: int
    options: int
    tokens: float
    shared: float = 1.1
    benchmark: list = field(default_factory=list)
    lengths: list = field(default_factory=list)
    fewer: dict = field(default_factory=dict)
    set_lengths: dict = field(default_factory=dict)
    set_models: dict = field(default_factory=dict)
    score: str = "log_likelihood"

    def of(self, model: str | None) -> dict[str, Any]:
        """Return ``priority`` (None: all rows), ``instances`` and ``lengths`` of what a model scores."""
        lengths = self.lengths or [(self.instances, self.tokens)]
        return self.fewer.get(model) or {"priority": None, "instances": self.instances, "lengths": lengths}

    def models_of(self, name: str, models: Iterable[str]) -> list[str]:
        """Return those of ``models`` that score the set ``name``."""
        return [model for model in models if model in self.set_models.get(name, models)]

    def lengths_of(self, name: str, model: str | None = None) -> list[tuple[int, float]]:
        """Return how many instances of the set ``name`` that a model scores have texts of how many tokens.

        Without a model: what those score that score all of it.
        """
        return self.set_lengths.get(name) or self.of(model)["lengths"]

    def size_of(self, name: str, model: str) -> tuple[int, float]:
        """Return how many instances of the set ``name`` a model scores, and the tokens of a typical text of them."""
        lengths = self.set_lengths.get(name)
        if lengths is None:
            return self.of(model)["instances"], self.tokens
        count = sum(instances for instances, _ in lengths)
        return count, (sum(instances * tokens**2 for instances, tokens in lengths) / max(count, 1)) ** 0.5


@dataclass(frozen=True)
class Prompting:
    """What a model is asked about a set.

    Attributes:
        methods: Ways of asking.
        new_tokens: Step to the most tokens of its answer.
        answers: How many prompts, those of second steps included, have answers of at most how many tokens.
    """

    methods: list[str]
    new_tokens: dict[str, int]
    answers: list[tuple[int, int]]

    @property
    def prompts(self) -> int:
        """All prompts."""
        return sum(count for count, _ in self.answers)

    def generated(self, thought: int = 0) -> int:
        """Return the tokens of all answers at most, each with a thought of so many tokens before it."""
        return sum(count * (tokens + thought) for count, tokens in self.answers)


@dataclass(frozen=True)
class PromptSet:
    """Prompts that models answer: ``results/<study>/prompts/<set>.parquet``.

    Attributes:
        sets: The sets of this run.
        models: Model to what it is asked about each set.
        tokens: Tokens of a typical prompt.
    """

    sets: list
    models: dict[str, Prompting]
    tokens: int


@dataclass(frozen=True)
class Probes:
    """Texts that models fill or continue: ``results/<study>/texts/<set>.parquet``.

    Attributes:
        sets: The sets of this run.
        new_tokens: Every set that there can be, to the tokens that continue one of its texts.
        tokens: Tokens of a typical text.
        counts: Every set of this run to how many texts it has at most of each method, ``mask`` and ``generate``.
        word_groups: Groups of words whose probability over the whole vocabulary is wanted.
    """

    sets: list
    new_tokens: dict
    tokens: int
    counts: dict
    word_groups: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Documents:
    """A set of documents that coreference systems resolve.

    Attributes:
        table: Parquet file with a row for each document, and its text in the column ``text``.
        identifier: The column with the documents' names.
        count: How many there are at most.
        tokens: Tokens of a typical one.
    """

    table: str
    identifier: str
    count: int
    tokens: float


@dataclass(frozen=True)
class Coreference:
    """Documents whose clusters a study reads: ``results/<study>/clusters/<set>/<system>.jsonl``.

    Attributes:
        sets: The sets of this run.
        documents: Every set that there can be; a name may have folders (``replica/double``).
    """

    sets: list
    documents: dict


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
        findings: The rule ``<study>_findings_of_model`` that tests the findings on a model, by the wildcard ``model``
            (``scripts/<study>/findings.py``; :func:`scripts.core.paper.finding_verdicts.single_model_verdicts`);
            None where the rules are the study's own.
        parts: Parts of the study of which the figure shows the first that the model has; none: whatever it has.
        chance: What a random pick comes to.
        printed: ``paper/published/<name>.csv``, if some points have published values.
        axis: What the points are; empty if they say it themselves.
    """

    value: str
    points: list
    findings: "Result | None" = None
    parts: list = field(default_factory=list)
    chance: float | None = None
    printed: str | None = None
    axis: str = ""


@dataclass(frozen=True)
class ExplorerView:
    """What the explorer shows of a study (:mod:`scripts.core.paper.explorer`). Columns are those of its instances.

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
class Rule:
    """One rule that follows from a declaration; ``reported`` names the output that the HTML report shows, if any.

    ``title`` is what the report calls it.
    """

    name: str
    kind: str
    script: str
    inputs: dict
    outputs: dict
    params: dict
    log: str
    environment: str
    constraints: dict
    resources: dict
    reported: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Study:
    """What a study declares.

    Attributes:
        name: As in ``rules/``, ``scripts/``, ``templates/``, ``paper/sections/`` and ``results/``.
        label: As in the HTML report.
        title: As in the paper's abstract.
        parts: What its results are divided by, in this run: sets of templates, or sources.
        numbers: The rule that writes the numbers of the paper's text, one file for each part.
        section: The rule that renders its section of the paper. Template, numbers, figures and tables are inputs by
            themselves.
        part: The wildcard of the parts.
        every_part: All parts that there can be.
        models: The models that score its instances and read its texts; those of the run unless a study has a list of
            its own.
        figures, tables, comparisons: By name. Comparisons stand beside the study and have no parts.
        made: The same of a study whose rules are all in its own file: kind (:data:`KINDS`) to files without suffixes.
            Numbers, section and summary are made there too.
        instances: The instance files of this run.
        analyses: Tidy tables that belong to the results, as figures and tables do.
        analysis_rules: Analyses that read what the study's own steps left and write tidy tables, by name; the rule has
            that name too.
        scored, prompted, texts: What models do for it.
        systems: The coreference systems that resolve its documents; those of the run unless a study has a list of its
            own.
        resolved: What coreference systems do for it.
        outcomes: Tables that say what became of each instance, the nearest first, by the way of scoring; under an empty
            name those of all others. Columns of the summary may stand in braces.
        paired: The metrics of its headlines to how their values follow from the outcomes.
        abstract: Whether ``paper/sections/<name>_abstract.tex.j2`` adds something to the paper's first page, such as a
            figure.
        appendix: Whether ``paper/sections/<name>_appendix.tex.j2`` is a section of the paper's appendix.
        pronoun_sets: Whether it takes the pronoun sets of the run (``pronoun_sets`` in config.yaml), and not sets of
            its own or none.
        question: What the study asks, in one sentence for the card, and for the first page if it has no template for
            that.
        summary: The rule that writes the study's rows of the summary over all studies
            (``scripts/core/data/estimate_rows.py``).
        chances: Metrics of headlines to what a random pick comes to; 0 for differences.
        headline: The figures that the HTML report opens with, by name.
        card: What a model's card shows of the study.
        explorer: What the explorer shows of the study.
    """

    name: str
    label: str
    title: str
    parts: list
    numbers: Result | None = None
    section: Result | None = None
    part: str = "templates"
    every_part: list = field(default_factory=lambda: ["replica", "official"])
    models: list = field(default_factory=list)
    figures: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    comparisons: dict = field(default_factory=dict)
    made: dict = field(default_factory=dict)
    instances: list = field(default_factory=list)
    analyses: list = field(default_factory=list)
    analysis_rules: dict = field(default_factory=dict)
    scored: ScoredInstances | None = None
    prompted: PromptSet | None = None
    texts: Probes | None = None
    systems: list = field(default_factory=list)
    resolved: Coreference | None = None
    outcomes: dict = field(default_factory=dict)
    paired: dict = field(default_factory=dict)
    abstract: bool = False
    appendix: bool = False
    pronoun_sets: bool = True
    question: str = ""
    summary: Result | None = None
    chances: dict = field(default_factory=dict)
    headline: list = field(default_factory=list)
    card: Card | None = None
    explorer: ExplorerView | None = None

    def _results(self) -> Iterator[tuple[str, str, Result, str]]:
        for kind, results in (("figure", self.figures), ("table", self.tables), ("comparison", self.comparisons)):
            for name, declared in results.items():
                yield kind, name, declared, self._stem(kind, name, declared)

    def _stem(self, kind: str, name: str, declared: Result) -> str:
        inside = declared.path or (name if kind == "comparison" else f"{{{self.part}}}/{name}")
        return f"results/{self.name}/{KINDS[kind].folder}/{inside}"

    def files(self, *kinds: str, suffixes: tuple[str, ...] | None = None) -> list[str]:
        """Return the files of the run's figures, tables and comparisons.

        Args:
            *kinds: Of :data:`KINDS`; all if none is given.
            suffixes: Only files that end so.
        """
        declared = [
            (kind, [stem.format(**values) for values in self._made(result, stem)])
            for kind, _, result, stem in self._results()
        ]
        return [
            f"{stem}{suffix}"
            for kind, stems in [*declared, *self.made.items()]
            if not kinds or kind in kinds
            for suffix in KINDS[kind].outputs.values()
            if suffixes is None or suffix in suffixes
            for stem in stems
        ]

    def _made(self, declared: Result, stem: str) -> list[dict[str, str]]:
        if declared.targets is not None:
            return declared.targets
        return [{self.part: part} for part in self.parts] if f"{{{self.part}}}" in stem else [{}]

    @property
    def number_files(self) -> list[str]:
        """The numbers of the paper's text, one file for each part."""
        return [self._numbers.format(**{self.part: part}) for part in self.parts]

    @property
    def _numbers(self) -> str:
        return f"results/{self.name}/analysis/{{{self.part}}}/paper_numbers.json"

    @property
    def section_files(self) -> list[str]:
        """The rendered files that the paper's main file takes: section, sentences for the abstract, appendix."""
        return [f"results/paper/sections/{name}.tex" for name in self._templates.values()]

    @property
    def _templates(self) -> dict[str, str]:
        """What the templates render: the name that a script has for it, to the file's."""
        named = {"section": self.name}
        if self.abstract:
            named["abstract"] = f"{self.name}_abstract"
        if self.appendix:
            named["appendix"] = f"{self.name}_appendix"
        return named

    @property
    def summary_files(self) -> list[str]:
        """The study's rows of the summary over all studies."""
        return [self._summary] if self.summary or self.made else []

    @property
    def headline_files(self) -> dict[str, str]:
        """The pictures (PNG) that the HTML report opens with, each with its title; several of a figure say which."""
        drawn = {}
        own = [stem for stem in self.made.get("figure", []) if stem.rpartition("/")[2] in self.headline]
        for stem in own:
            *_, part, name = stem.split("/")
            drawn[f"{stem}.png"] = f"{self.label}: {name.capitalize()}" + (f" ({part})" if len(self.parts) > 1 else "")
        for name in self.headline if not own else []:
            declared = self.figures[name]
            stem = self._stem("figure", name, declared)
            made = self._made(declared, stem)
            for values in made:
                which = f" ({', '.join(values.values())})" if len(made) > 1 else ""
                drawn[f"{stem.format(**values)}.png"] = f"{self.label}: {_title(name, declared)}{which}"
        return drawn

    @property
    def _summary(self) -> str:
        return f"results/{self.name}/analysis/summary.csv"

    def reads(self, model: str) -> bool:
        """Tell whether a model scores any of the study's sets or reads its texts."""
        scored = self.scored and any(self.scored.models_of(name, [model]) for name in self.scored.sets)
        return model in self.models and bool(scored or self.texts)

    def takes(self, model: str) -> bool:
        """Tell whether a model does anything for the study: scores, reads texts or answers prompts."""
        return self.reads(model) or bool(self.prompted and model in self.prompted.models)

    def files_of(self, model: str) -> list[str]:
        """Return what a model leaves for the study: scores, token distributions and answers."""
        rooms = {
            "scores": self.scored.sets if self.scored and model in self.models else [],
            "distributions": self.texts.sets if self.texts and model in self.models else [],
            "answers": self.prompted.sets if self.prompted and model in self.prompted.models else [],
        }
        return [
            f"results/{self.name}/{room}/{name}/{model}.parquet"
            for room, sets in rooms.items()
            for name in sets
            if room != "scores" or (self.scored and self.scored.models_of(name, [model]))
        ]

    def explored_outputs(self) -> list[dict[str, str]]:
        """Return what models left about the texts that the explorer shows, and where it is what they were asked."""
        asked = {"scores": "instances/{}/selected", "distributions": "texts/{}", "answers": "prompts/{}"}
        found = []
        for model in dict.fromkeys([*self.models, *(self.prompted.models if self.prompted else [])]):
            for path in self.files_of(str(model)):
                *_, room, name, _ = path.split("/")
                if self.explorer and self.explorer.shows(name):
                    where = f"results/{self.name}/{asked[room].format(name)}.parquet"
                    found.append({"room": room, "model": model, "file": path, "asked": where})
        return found

    def findings_file(self, model: str) -> str:
        """Return the verdicts on the study's findings for one model."""
        return self._findings.format(model=model)

    @property
    def _findings(self) -> str:
        return f"results/{self.name}/analysis/findings_of_model/{{model}}.csv"

    @property
    def summary_file(self) -> str:
        """The study's rows of the summary."""
        return self._summary

    @property
    def score_files(self) -> list[str]:
        """The score files of the study's models."""
        if not self.scored:
            return []
        return [
            f"results/{self.name}/scores/{name}/{model}.parquet"
            for name in self.scored.sets
            for model in self.scored.models_of(name, self.models)
        ]

    @property
    def distribution_files(self) -> list[str]:
        """The files with the token distributions of the study's models."""
        sets = self.texts.sets if self.texts else []
        return [f"results/{self.name}/distributions/{name}/{model}.parquet" for name in sets for model in self.models]

    @property
    def cluster_files(self) -> list[str]:
        """The clusters of the study's coreference systems."""
        sets = self.resolved.sets if self.resolved else {}
        return [f"results/{self.name}/clusters/{name}/{system}.jsonl" for name in sets for system in self.systems]

    def rules(self, root: Callable) -> Iterator[Rule]:
        """Yield the rules (:class:`Rule`) of figures, tables, comparisons, numbers and the section.

        Args:
            root: A file of the repository to the path of a rule's input.
        """
        for kind, name, declared, stem in self._results():
            yield self._rule(
                kind,
                name if kind == "comparison" else f"{kind}_{name}",
                declared,
                {output: stem + suffix for output, suffix in KINDS[kind].outputs.items()},
                reported=KINDS[kind].reported,
                title=_title(name, declared),
            )
        if self.made:
            return
        assert self.numbers and self.section, "a study without rules of its own declares all of them"
        numbers = {"paper_numbers": self._numbers}
        yield self._rule("numbers", "paper_numbers", self.numbers, numbers)
        if self.summary:
            yield self._rule("summary", "summary", self.summary, {"summary": self._summary})
        if self.card:
            assert self.card.findings
            found = {"findings_csv": self._findings}
            yield self._rule("findings", "findings_of_model", self.card.findings, found)
        given = {
            **{f"{kind}_template": root(f"paper/sections/{name}.tex.j2") for kind, name in self._templates.items()},
            "numbers": self.number_files,
            "figures": self.files("figure", suffixes=(".pdf",)),
            "tables": self.files(suffixes=(".tex",)),
            "comparison_numbers": self.files(suffixes=(".json",)),
        }
        outputs = dict(zip([f"{kind}_tex" for kind in self._templates], self.section_files, strict=True))
        yield self._rule("section", "section", self.section, outputs, given, environment="paper")
        for name, declared in self.analysis_rules.items():
            place = f"{{{self.part}}}" if declared.path is None else declared.path
            folder = "/".join(filter(None, [f"results/{self.name}/analysis", place]))
            outputs = {
                output: f"{folder}/{file if '.' in file else f'{file}.csv'}"
                for output, file in (declared.outputs or {name: name}).items()
            }
            yield self._rule("analysis", name, declared, outputs)

    def _rule(
        self,
        kind: str,
        name: str,
        declared: Result,
        outputs: dict[str, str],
        given: dict[str, Any] | None = None,
        environment: str = "analysis",
        reported: str | None = None,
        title: str = "",
    ) -> Rule:
        folder = f"results/{self.name}/analysis/{{{self.part}}}"
        inputs = {table: f"{folder}/{table}.csv" for table in declared.tables}
        wildcards = list(dict.fromkeys(re.findall(r"\{(\w+)\}", next(iter(outputs.values())))))
        constraints = {self.part: "|".join(map(re.escape, self.every_part))} | declared.constraints
        full = f"{self.name}_{name}"
        script = declared.script or MODULES.get(kind) or MODULES.get(name, "tables")
        resources = {"mem_mb": declared.mem_mb, "runtime": declared.runtime}
        return Rule(
            name=full,
            kind=kind,
            script=f"{self.name}/{script}",
            inputs=inputs | (given or {}) | declared.inputs,
            outputs=outputs,
            params=declared.params,
            log=f"results/logs/{full}/{'_'.join(f'{{{w}}}' for w in wildcards) or 'all'}.log",
            environment=environment,
            constraints={name: constraints[name] for name in wildcards if name in constraints},
            resources={name: value for name, value in resources.items() if value is not None},
            reported=reported,
            title=title,
        )


def _title(name: str, declared: Result) -> str:
    return declared.title or TITLES.get(name) or name.replace("_", " ").capitalize()


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
