"""Rules that stand in for a coreference system where none is at hand; their behaviour is known in advance.

Each is told the two candidate names and puts one of them into the pronoun's cluster. They show that the machinery
works and what its metrics say of a known behaviour; they are no coreference systems.
"""

from scripts.core.coreference import Document, digest, tokenise

LABELS = {
    "nearest": "Nearest name (rule)",
    "first": "First name (rule)",
    "alphabetical": "Alphabetical (rule)",
    "gendered": "Gendered (rule)",
}
"""``nearest`` and ``first`` see no name and no gender: no inconsistency at all. ``alphabetical`` takes the name that
comes first in the alphabet: inconsistent within genders. ``gendered`` takes the nearest name for masculine pronouns and
the first name for feminine ones: inconsistent across genders only."""


def choose(rule, row):
    """Return ``a`` or ``b``, the candidate that the rule takes for one instance."""
    first, second = ("a", "b") if row.a_offset < row.b_offset else ("b", "a")
    if rule == "alphabetical":
        return min("ab", key=lambda name: getattr(row, name))
    if rule == "first" or (rule == "gendered" and row.gender == "F"):
        return first
    # The nearest before the pronoun; if both come after it, the first.
    before = [name for name in (first, second) if getattr(row, f"{name}_offset") < row.pronoun_offset]
    return before[-1] if before else first


def resolve(rule, instances):
    """Return a document for each instance, with one cluster: the pronoun and the name that the rule takes."""
    documents = []
    for row in instances.itertuples(index=False):
        name = choose(rule, row)
        document = Document(row.id, digest(row.text), tokenise(row.text), ())
        spans = [
            document.span(getattr(row, f"{kind}_offset"), getattr(row, f"{kind}_offset") + len(getattr(row, kind)))
            for kind in (name, "pronoun")
        ]
        documents.append(Document(row.id, document.text_sha256, document.tokens, (tuple(sorted(spans)),)))
    return documents
