"""What a study asks of models and coreference systems: the shared rules make the files, and plans count them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ScoredInstances:
    """Instances that a study's models score: ``results/<study>/instances/<set>/selected.parquet``.

    Attributes:
        sets: The sets of this run.
        instances: How many a set has at most, if it is not in ``set_lengths``.
        options: How many options an instance has.
        tokens: Tokens of a typical text (for a set of several lengths, the root mean square).
        shared: Tokens that a decoder reads of all options of an instance together, in texts.
        lengths: Where texts differ much in length: how many instances have texts of how many tokens on average. Plans
            use them; if there are none, all texts are typical.
        fewer: Models that score only some: to ``priority`` (those rows whose column ``priority`` is below it or
            missing), ``instances`` and ``lengths``.
        set_lengths: The same for sets that differ from the others.
        set_models: Sets that only some of the study's models score, and which.
        criterion: What options are compared by (``scripts/core/scoring/criteria.py``): ``log_likelihood``,
            ``continuation`` (the same, and what follows the slot by itself) or ``label_loss``.
    """

    sets: list
    instances: int
    options: int
    tokens: float
    shared: float = 1.1
    lengths: list = field(default_factory=list)
    fewer: dict = field(default_factory=dict)
    set_lengths: dict = field(default_factory=dict)
    set_models: dict = field(default_factory=dict)
    criterion: str = "log_likelihood"

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
