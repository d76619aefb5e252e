"""What a run of Counter-GAP resolves, scores and annotates, checked before any job."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from scripts.core.workflow.plans import StudyPlan
from scripts.core.workflow.studies import Coreference, Documents
from scripts.counter_gap.lib import study
from scripts.counter_gap.lib.book_texts import books_of

SETS = ("replica", "books", "released", "official")
"""Sets of quadruples that results are divided by."""
DATA = ("replica", "released", "official", "books", "candidates", *study.DATA)
"""All data sets: ``books`` are quadruples from books, ``candidates`` the same before annotators gave them labels."""
ANNOTATED = {"replica": "replica", "official": "official", "books": "candidates"}
"""Sets that annotators are asked about, to the data set with their questions."""


@dataclass(frozen=True)
class Plan(StudyPlan):
    """A run of the study.

    Attributes:
        systems: The run's coreference systems and what figures say of them.
        clusters: Every data set to whose clusters are scored on it (:func:`scripts.counter_gap.lib.study.clusters`).
        books: Books' names to their files.
    """

    systems: dict[str, dict]
    clusters: dict[str, list[dict]]
    books: dict[str, str]

    @classmethod
    def of(cls, settings: dict, systems: dict, fetched: dict[str, str], place: Callable) -> "Plan":
        """Return the plan of a configuration, of which ``settings`` are the block ``counter_gap``.

        Args:
            systems: The run's coreference systems and what figures say of them.
            fetched: Files that the workflow fetches, by their names in ``config/upstream.tsv``.
            place: Another path of the configuration to the path that the workflow uses.

        Raises:
            UserError: For two systems with the same label, and for books that are missing or have the same name.
        """
        given = settings["baselines"], systems, settings["clusters"]
        clusters = {data: study.clusters(data, *given) for data in DATA}
        return cls(settings, systems, clusters, books_of(settings["books"]["sources"], fetched, place))

    @property
    def data(self) -> list[str]:
        """The data sets of the run."""
        return [*self.templates, *(f"gap_{part}" for part in self["gap"])]

    @property
    def compared_sets(self) -> list[str]:
        """Sets that are compared with the study's; quadruples from books only where the run has them."""
        return [name for name in SETS if name != "books" or name in self.templates]

    @property
    def example_sets(self) -> list[str]:
        """Template sets of the run with texts, which examples show."""
        return [templates for templates in self.templates if templates in study.PASSAGES]

    @cached_property
    def documents(self) -> Coreference:
        """What rules and coreference systems resolve: passages with texts."""
        return Coreference(
            sets=[data for data in self.data if data in study.PASSAGES],
            documents={
                data: Documents(f"results/counter_gap/instances/{data}.parquet", "id", *size)
                for data, size in study.PASSAGES.items()
            },
        )

    @cached_property
    def corpus_scores(self) -> dict[str, dict]:
        """Files with the scores of the run's c2f systems on an annotated corpus, to label and debiasing."""
        return {
            f"results/coreference/f1/{self['corpus']}/{name}.csv": {
                key: facts[field] for key, field in (("system", "label"), ("debiasing", "debiasing"))
            }
            for name, facts in self.systems.items()
            if self["corpus"] and facts["architecture"] == "c2f"
        }
