"""Which of C-GAP's passages the rules find again in the same books, and where the others fall away."""

import pandas as pd

CAUSES = {
    "same": "the same passage, pronoun and names",
    "other names": "the same pronoun, other candidate names or mentions",
    "other context": "the same pronoun and names, another context",
    "other edition": "the passage is not in this edition of the book",
    "no pronoun": "the parser has no gendered pronoun in this place",
}
"""What can become of a passage of C-GAP, besides the steps at which its pronoun falls away."""


def letters(text):
    """Return the letters and digits of a text in lower case, and the place of each in the text.

    Editions differ in quotation marks, dashes, stops and line ends.

    Examples
    --------
    >>> letters("Mr. B—")
    ('mrb', [0, 1, 4])
    """
    # One sign for each place: the lower case of a few letters has two.
    kept = [(character.lower()[0], place) for place, character in enumerate(text) if character.isalnum()]
    return "".join(character for character, _ in kept), [place for _, place in kept]


def compare(official, candidates, outcomes, text):
    """Return what became of each original passage of C-GAP from one book.

    Parameters
    ----------
    official : DataFrame
        Original instances from the book, as ``read_c_gap`` gives them.
    candidates : DataFrame
        Original instances that were taken from it, likewise.
    outcomes : DataFrame
        What became of its pronouns: ``start``, ``dropped``, ``id``.
    text : str
        The book.

    Returns
    -------
    DataFrame
        ``id`` of C-GAP and ``cause``: one of :data:`CAUSES` or the step at which the pronoun fell away.
    """
    book, places = letters(text)
    at, known = outcomes.set_index("start"), candidates.set_index("id")
    causes = []
    for row in official.itertuples(index=False):
        passage, within = letters(row.text)
        begin = book.find(passage)
        if begin < 0:
            causes.append("other edition")
            continue
        start = places[begin + sum(place < row.pronoun_offset for place in within)]
        if start not in at.index:
            causes.append("no pronoun")
            continue
        outcome = at.loc[start]
        if isinstance(outcome.dropped, str):
            causes.append(outcome.dropped)
            continue
        found = known.loc[outcome.id]
        causes.append(_difference(row, found))
    return pd.DataFrame({"id": official.id.array, "cause": causes})


def _difference(row, found):
    if [letters(name)[0] for name in (row.a, row.b)] != [letters(name)[0] for name in (found.a, found.b)]:
        return "other names"
    passages = [letters(entry.text)[0] for entry in (row, found)]
    if passages[0] != passages[1]:
        return "other context"
    return "same" if _before(row) == _before(found) else "other names"


def _before(entry):
    """Return how many letters stand before each annotated name."""
    places = letters(entry.text)[1]
    return [sum(place < offset for place in places) for offset in (entry.a_offset, entry.b_offset)]
