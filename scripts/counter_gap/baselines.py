"""Rules that stand in for a coreference system where none is at hand; their behaviour is known in advance.

Each is told the two candidate names and puts one of them into the pronoun's cluster. They show that the machinery works
and what its metrics say of a known behaviour; they are no coreference systems. ``nearest`` and ``first`` see no name
and no gender: no inconsistency at all. ``alphabetical`` takes the name that comes first in the alphabet: inconsistent
within genders. ``gendered`` takes the nearest name for masculine pronouns and the first name for feminine ones:
inconsistent across genders only.
"""

from dataclasses import replace
from typing import Any

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.workflow.job import run_named


def clusters(*, instances: str, clusters: str, rule: str) -> None:
    """Write what a rule (one of ``study.RULES``) makes of a data set, in the format of a coreference system."""
    coreference.write_clusters(
        clusters, (resolve(rule, row) for row in files.iterate_rows(files.read_parquet(instances)))
    )


def resolve(rule: str, row: Any) -> coreference.Document:
    """Return what a rule makes of an instance: a cluster of the pronoun and the name that it takes."""
    document = coreference.Document(row.id, coreference.digest_text(row.text), coreference.split_words(row.text), ())
    spans: list[Any] = [
        document.span(getattr(row, f"{kind}_offset"), getattr(row, f"{kind}_offset") + len(getattr(row, kind)))
        for kind in (choose(rule, row), "pronoun")
    ]
    return replace(document, clusters=(tuple(sorted(spans)),))


def choose(rule: str, row: Any) -> str:
    """Return ``a`` or ``b``, the candidate that the rule takes for one instance."""
    first, second = ("a", "b") if row.a_offset < row.b_offset else ("b", "a")
    if rule == "alphabetical":
        return min("ab", key=lambda name: getattr(row, name))
    if rule == "first" or (rule == "gendered" and row.gender == "F"):
        return first
    # The nearest before the pronoun; if both come after it, the first.
    before = [name for name in (first, second) if getattr(row, f"{name}_offset") < row.pronoun_offset]
    return before[-1] if before else first


if __name__ == "__main__":
    run_named()
