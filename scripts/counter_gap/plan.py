"""What a run of Counter-GAP resolves, scores and annotates, checked before any job."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from scripts.core.data.estimate_rows import CLUSTERS, HEURISTIC, RELEASED_OUTPUTS, SYSTEM
from scripts.core.errors import UserError
from scripts.core.workflow.model_work import Coreference, Documents
from scripts.core.workflow.plans import StudyPlan
from scripts.counter_gap import study
from scripts.counter_gap.book_texts import find_books

DATA = (*study.SETS, "candidates", *study.GAP)
"""All data sets: ``books`` are quadruples from books, ``candidates`` the same before annotators gave them labels."""
ANNOTATED = {"replica": "replica", "official": "official", "books": "candidates"}
"""Sets that annotators are asked about, to the data set with their questions."""
PASSAGES = {
    "replica": (96, 28),
    "official": (4008, 112),
    # As many as the study's own, since the books of a run are not known beforehand.
    "books": (4008, 112),
    "gap_test": (2000, 92),
    "gap_validation": (454, 90),
    "gap_development": (2000, 91),
}
"""Data sets with texts to the number of their passages, and of the words and marks of a typical one (the root mean
square), from which plans follow."""
FOLDER = "results/counter_gap"


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study.

    Attributes:
        systems: The run's coreference systems and what figures say of them.
        compact: The file with the released flags that the project ships.
        fetched: Files of ``config/upstream.tsv`` to where the workflow keeps them.
        config_path: Another path of the configuration to the path that the workflow uses.

    Raises:
        UserError: For two systems with the same label, and for books that are missing or have the same name.
    """

    systems: dict[str, dict]
    compact: str
    fetched: dict[str, str]
    config_path: Callable[[str], str]

    def __post_init__(self):
        # Looks whether they are there.
        _ = self.books
        for data in DATA:
            self._check_labels(data)

    @cached_property
    def books(self) -> dict[str, str]:
        """Books' names to their files."""
        return find_books(self["books"]["sources"], self.fetched, self.config_path)

    @property
    def data(self) -> list[str]:
        """The data sets of the run."""
        return [*self.templates, *(f"gap_{part}" for part in self["gap"])]

    def files(self, kind: str) -> list[str]:
        """Return the ``instances`` or ``predictions`` of these."""
        return [f"{FOLDER}/{kind}/{data}.parquet" for data in self.data]

    @property
    def compared_sets(self) -> list[str]:
        """Sets that are compared with the study's; quadruples from books only where the run has them."""
        return [name for name in study.SETS if name != "books" or name in self.templates]

    @property
    def example_sets(self) -> list[str]:
        """Template sets of the run with texts, which examples show."""
        return [templates for templates in self.templates if templates in PASSAGES]

    @cached_property
    def released(self) -> list[dict[str, str]]:
        """Every system whose flags were released, with their file."""
        return [
            {"model": label, "debiasing": debiasing, "file": self.fetched[path.format(name=name)]}
            for debiasing, path in study.RELEASED.items()
            for name, label in study.SYSTEMS.items()
        ]

    def readers(self, data: str) -> list[dict]:
        """Return everything whose outputs on a data set are read; rules and systems resolve nothing without texts.

        Returns:
            ``model``, ``kind``, ``scoring`` and ``debiasing`` as in estimates, the ``file`` and what ``outputs`` it
            has: ``flags`` of a system, a ``table`` of the flags of all systems, or ``clusters``.
        """
        readers = []
        if data in ("official", "released"):
            outputs = "flags" if data == "official" else "table"
            for flags in self.released:
                file = flags["file"] if data == "official" else self.compact
                readers.append((flags["model"], RELEASED_OUTPUTS, "", flags["debiasing"], file, outputs))
        resolving = [(name, HEURISTIC, "none") for name in self["baselines"]]
        resolving += [(name, SYSTEM, facts["debiasing"]) for name, facts in self.systems.items()]
        clusters = [
            (name, kind, debiasing, f"{FOLDER}/clusters/{data}/{name}.jsonl")
            for name, kind, debiasing in (resolving if data in PASSAGES else ())
        ]
        given = [entry for entry in self["clusters"] if entry["data"] == data]
        clusters += [(entry["system"], SYSTEM, entry["debiasing"], entry["file"]) for entry in given]
        readers += [(name, kind, CLUSTERS, debiasing, file, "clusters") for name, kind, debiasing, file in clusters]
        columns = ("model", "kind", "scoring", "debiasing", "file", "outputs")
        return [dict(zip(columns, row, strict=True)) for row in readers]

    def _check_labels(self, data: str) -> None:
        """Refuse two systems with clusters of a data set that tables could not tell apart."""
        seen = {}
        for reader in self.readers(data):
            key = self.labels[reader["model"]], reader["debiasing"], reader["scoring"]
            first = seen.setdefault(key, reader["file"])
            if first != reader["file"]:
                raise UserError(
                    f"counter_gap.clusters: {reader['file']} is of {key[0]}, debiasing {key[1]}, on {data}, as {first} "
                    "is; give it another name"
                )

    @cached_property
    def labels(self) -> dict[str, str]:
        """Everything whose outputs are read, by model, to what tables call it."""
        run = {name: facts["label"] for name, facts in self.systems.items()}
        named = [*study.SYSTEMS.values(), *(entry["system"] for entry in self["clusters"])]
        return study.RULES | run | dict(zip(named, named, strict=True))

    @cached_property
    def explorer_words(self) -> dict[str, str]:
        """What the explorer calls models and ways of reading; empty: it goes without saying."""
        unsaid = (CLUSTERS, HEURISTIC, RELEASED_OUTPUTS, SYSTEM, study.CORRECTED)
        shown = {study.PUBLISHED: study.READINGS[study.PUBLISHED], "a": "first", "b": "second"}
        return self.labels | shown | dict.fromkeys(unsaid, "")

    @property
    def explored_clusters(self) -> list[dict[str, str]]:
        """Clusters of this project's quadruples, which the explorer may show."""
        return [
            {"system": reader["model"], "debiasing": reader["debiasing"], "file": reader["file"]}
            for reader in (self.readers("replica") if "replica" in self.data else ())
            if reader["outputs"] == "clusters"
        ]

    @cached_property
    def documents(self) -> Coreference:
        """What rules and coreference systems resolve: passages with texts."""
        return Coreference(
            sets=[data for data in self.data if data in PASSAGES],
            documents={
                data: Documents(f"{FOLDER}/instances/{data}.parquet", "id", *size) for data, size in PASSAGES.items()
            },
        )

    @cached_property
    def corpus_scores(self) -> dict[str, dict[str, str]]:
        """Files with the scores of the run's c2f systems on an annotated corpus, to model and debiasing."""
        return {
            f"results/coreference/f1/{self['corpus']}/{name}.csv": {"model": name, "debiasing": facts["debiasing"]}
            for name, facts in self.systems.items()
            if self["corpus"] and facts["architecture"] == "c2f"
        }
