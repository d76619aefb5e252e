"""From a passage to a quadruple (Xie et al. 2023, Section 2.2): names, gendered words, and their places."""

from typing import NamedTuple

from scripts.core.coreference_systems import augmentation
from scripts.counter_gap.lib.books.names import SOCIAL
from scripts.counter_gap.lib.books.patterns import is_possessive

PLACES = {"original": "abxy", "control": "bayx", "swap-1": "xyab", "swap-2": "yxba"}
"""The names that stand in the places of the candidates a and b and of the others, x and y, in each instance."""
VOWELS = "aeiouAEIOU"


class Passage(NamedTuple):
    """A context in which everything is where it is.

    Attributes
    ----------
    tokens : tuple of Token
        Of all sentences, in order.
    gaps : tuple of str
        What stands before each token.
    spots : dict of int to (int, str)
        Mentions: first token to the last one and which of a, b, x and y is named there.
    names : dict of str to str
        a, b, x and y to names.
    target : int
        The pronoun's token.
    a, b : int
        The first tokens of the candidates' annotated mentions.
    """

    tokens: tuple
    gaps: tuple
    spots: dict
    names: dict
    target: int
    a: int
    b: int


def swapped_word(token, words, following=None):
    """Return the word of the other gender for a token; the word itself if it has none.

    Parameters
    ----------
    token, following : Token
        The word and the next one, if there is any.
    words : dict of str to str
        Gendered words in lower case (:func:`scripts.core.coreference_systems.augmentation.read_words`).

    Returns
    -------
    str
        *her* becomes *his* before what is possessed and *him* elsewhere, *his* becomes *her* or *hers*. Verbs
        (*to miss*, *to master*) are no gendered words. Capitals stay: of the first letter, or of all.
    """
    word = token.word
    plain = word.lower()
    if token.tag.startswith("VB"):
        return word
    possesses = is_possessive(token, following)
    if plain == "his" and not possesses:
        other = "hers"
    else:
        other = augmentation.swapped(plain, "PRP$" if possesses else "PRP", words, {})
    if other == plain:
        return word
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[0].upper() + other[1:] if word[0].isupper() else other


def loose_title(token):
    """Tell whether a token is a title of address; outside a name it cannot change its gender by itself."""
    return token.word.lower().removesuffix(".") in SOCIAL and not token.tag.startswith("VB")


def instance(passage, role, words):
    """Return one instance of a quadruple.

    Parameters
    ----------
    passage : Passage
    role : str
        One of :data:`PLACES`.
    words : dict of str to str
        Gendered words.

    Returns
    -------
    dict
        ``text``, and for ``pronoun``, ``a`` and ``b`` the word or name and its offset in the text, from 0.
    """
    names = {place: passage.names[key] for place, key in zip("abxy", PLACES[role], strict=True)}
    swaps = role.startswith("swap")
    # The candidate of the first place keeps its place, whoever stands there.
    where = {passage.target: "pronoun", passage.a: "a", passage.b: "b"}
    parts, spots, length, at = [], {}, 0, 0
    name = None
    while at < len(passage.tokens):
        token, gap = passage.tokens[at], passage.gaps[at]
        start = at
        if at in passage.spots:
            last, place = passage.spots[at]
            word = name = names[place]
            at = last + 1
        else:
            word = _word(passage, at, words, swaps)
            if name is not None and token.tag == "POS" and not gap:
                word = possessive(token.word, name)
            elif token.word.lower() in ("a", "an"):
                word = _article(token.word, passage, at, names, words, swaps)
            name = None
            at += 1
        length += len(gap)
        if start in where:
            spots[where[start]] = (word, length)
        parts += [gap, word]
        length += len(word)
    return {
        "text": "".join(parts),
        **{key: spots[key][0] for key in ("pronoun", "a", "b")},
        **{f"{key}_offset": spots[key][1] for key in ("pronoun", "a", "b")},
    }


def _word(passage, at, words, swaps):
    """Return what stands for the word at a place that is in no name."""
    if not swaps:
        return passage.tokens[at].word
    return swapped_word(passage.tokens[at], words, passage.tokens[at + 1] if at + 1 < len(passage.tokens) else None)


def possessive(ending, name):
    """Return the possessive ending of a name where another name had ``ending``.

    Examples
    --------
    >>> possessive("'", "Tom"), possessive("’s", "James"), possessive("'", "James")
    ("'s", '’s', "'")
    """
    if ending in ("'", "’") and not name.endswith("s"):
        return f"{ending}s"
    return ending


def _article(article, passage, at, names, words, swaps):
    """Return *a* or *an* as what follows wants it, if that has changed its first letter."""
    following = at + 1
    if following >= len(passage.tokens):
        return article
    old = passage.tokens[following].word
    new = names[passage.spots[following][1]] if following in passage.spots else _word(passage, following, words, swaps)
    if new == old or (new[0] in VOWELS) == (old[0] in VOWELS):
        return article
    other = "an" if new[0] in VOWELS else "a"
    return other.capitalize() if article[0].isupper() else other


def quadruple(passage, words):
    """Return the four instances of a passage by role, in the order of :data:`PLACES`."""
    return {role: instance(passage, role, words) for role in PLACES}
