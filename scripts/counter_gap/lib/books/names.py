"""Personal names in parsed sentences, and the gender that Section 2.1 gives them."""

from collections import Counter
from typing import NamedTuple

TITLES = {
    **dict.fromkeys(
        (
            "mr", "sir", "lord", "master", "uncle", "brother", "father", "grandfather", "king", "prince", "duke", "earl",
            "count", "baron", "marquis", "marquess", "viscount", "squire", "monsieur", "herr", "signor", "señor", "don",
            "dr", "doctor", "professor", "prof", "captain", "capt", "colonel", "col", "major", "general", "gen",
            "lieutenant", "lt", "sergeant", "sgt", "corporal", "admiral", "commodore", "rev", "reverend", "bishop",
            "deacon", "parson", "rabbi", "judge", "esquire",
        ),
        "M",
    ),
    **dict.fromkeys(
        (
            "mrs", "miss", "ms", "lady", "madam", "madame", "mme", "mademoiselle", "mlle", "aunt", "auntie", "aunty",
            "sister", "mother", "grandmother", "granny", "queen", "princess", "duchess", "countess", "baroness", "dame",
            "mistress", "frau", "fräulein", "signora", "signorina", "señora", "señorita", "doña", "donna",
        ),
        "F",
    ),
}  # fmt: skip
"""Titles in lower case, without stops, to the gender that tradition gives their bearers; offices of the books' times
counted as masculine."""
SOCIAL = {"mr", "mrs", "miss", "ms", "messrs", "misses", "mesdames"}
"""Titles that stand for nobody without a name."""
GUESSED = {"male": "M", "mostly_male": "M", "female": "F", "mostly_female": "F"}
"""What gender-guesser says of a first name, to genders; of the others the gender is not known."""
LEAST, SHARE, FIRST_NAME_SHARE = 2, 0.5, 0.1
"""A word is a name wherever it stands in a book if the recogniser took it for a person so often, and in such a share of
the places where it took it for anything. Of a first name, which recognisers of newspapers often take for a company or a
town, a smaller share of persons and places is enough, if it is no date or nationality more often."""
PLACES = ("GPE", "LOC", "FAC")
NO_NAMES = ("DATE", "TIME", "NORP", "CARDINAL", "LANGUAGE")
"""Kinds of named entities."""


class Token(NamedTuple):
    """A word or a mark: its text, half-open place in the book, tag, dependency, place of its head, named entity."""

    word: str
    start: int
    end: int
    tag: str
    dependency: str
    head: int
    entity: str


class Sentence(NamedTuple):
    """A sentence: its section, its half-open place in the book and its tokens."""

    section: int
    start: int
    end: int
    tokens: tuple


class Mention(NamedTuple):
    """An occurrence of a personal name in a sentence: first and last token (both included), the name, its gender.

    ``gender`` is M, F or None; ``name`` has no stop behind a title.
    """

    first: int
    last: int
    name: str
    gender: str | None


def sentence(row, text):
    """Return the :class:`Sentence` of a row of scripts/core/coreference_systems/sentences.py."""
    columns = zip(
        row["starts"], row["ends"], row["tags"], row["dependencies"], row["heads"], row["entities"], strict=True
    )
    tokens = (Token(text[start:end], start, end, *rest) for start, end, *rest in columns)
    return Sentence(row["section"], row["start"], row["end"], tuple(tokens))


def title_of(word):
    """Return a word as :data:`TITLES` has it, if it is a title with a capital; else None."""
    plain = word.lower().removesuffix(".")
    return plain if word[:1].isupper() and (plain in TITLES or plain in SOCIAL) else None


def guesser():
    """Return a function from a first name to M, F or None: the package gender-guesser in its default setting."""
    from gender_guesser.detector import Detector

    detector = Detector()

    def gender(word):
        word = word if not word.isupper() or len(word) < 2 else word.capitalize()
        for form in (word, word.partition("-")[0]):
            if (said := GUESSED.get(detector.get_gender(form))) is not None:
                return said
        return None

    return gender


def _people(tokens):
    """Yield the recogniser's persons as (first, last), without articles, possessive endings and marks around them."""
    start = None
    for place in range(len(tokens) + 1):
        entity = tokens[place].entity if place < len(tokens) else ""
        if start is not None and entity != "I-PERSON":
            first, last = start, place - 1
            while first <= last and not (tokens[first].word[:1].isupper() and _is_part(tokens[first])):
                first += 1
            while last >= first and not (tokens[last].word[:1].isupper() and _is_part(tokens[last])):
                last -= 1
            if first <= last:
                yield first, last
            start = None
        if entity == "B-PERSON":
            start = place


def _is_part(token):
    return token.tag.startswith("NN") or (token.tag not in ("POS", "DT", "PRP", "UH") and token.word[:1].isalpha())


def lexicon(sentences, gender):
    """Return the words that are names wherever they stand in a book.

    The recogniser often takes the same name for a person in one place and for nothing, or a town, in another.

    Parameters
    ----------
    sentences : iterable of Sentence
    gender : callable
        Of :func:`guesser`.

    Returns
    -------
    set of str
        Single words that are not titles: see :data:`LEAST`.
    """
    counts = {}
    for parsed in sentences:
        for place, token in enumerate(parsed.tokens):
            # A sentence's first word has a capital whatever it is.
            if place and token.word[:1].isupper() and token.word.isalpha():
                kind = token.entity.partition("-")[2] if token.tag.startswith("NNP") else "no name"
                counts.setdefault(token.word, Counter())[kind] += 1
    return {word for word, kinds in counts.items() if not title_of(word) and _is_person(kinds, gender(word))}


def _is_person(kinds, gender):
    persons = kinds["PERSON"]
    if persons < LEAST or kinds["no name"] > 0.2 * kinds.total() or sum(kinds[kind] for kind in NO_NAMES) > persons:
        return False
    if gender:
        return persons >= FIRST_NAME_SHARE * (persons + sum(kinds[kind] for kind in PLACES))
    return persons >= SHARE * (kinds.total() - kinds[""] - kinds["no name"])


def mentions(parsed, known, gender):
    """Return the personal names of a sentence.

    Parameters
    ----------
    parsed : Sentence
    known : set of str
        Of :func:`lexicon`.
    gender : callable
        Of :func:`guesser`.

    Returns
    -------
    list of Mention
        In their order, none within another.
    """
    tokens = parsed.tokens
    spans = list(_people(tokens))
    taken = {place for first, last in spans for place in range(first, last + 1)}
    place = 0
    while place < len(tokens):
        if place not in taken and title_of(tokens[place].word):
            last = place
            while last + 1 < len(tokens) and last + 1 not in taken and _is_name(tokens[last + 1]) and last - place < 3:
                last += 1
            # A title before a name is one with it; behind it comes a surname that the recogniser missed.
            if last > place:
                spans.append((place, last))
                taken.update(range(place, last + 1))
            place = last + 1
        elif place not in taken and tokens[place].word in known and tokens[place].tag.startswith("NN"):
            spans.append((place, place))
            taken.add(place)
            place += 1
        else:
            place += 1
    found = []
    for first, last in _joined(sorted(spans), tokens):
        words = [token.word for token in tokens[first : last + 1]]
        if title_of(words[-1]):
            # A title alone is nobody's name.
            continue
        found.append(Mention(first, last, _name(tokens[first : last + 1]), _gender(words, gender)))
    return found


def _is_name(token):
    return token.tag.startswith("NNP") and token.word[:1].isupper() and token.word[:1].isalpha()


def _joined(spans, tokens):
    """Extend spans over titles before them; two that then touch without a mark between them are one."""
    joined = []
    for first, last in spans:
        while first > 0 and title_of(tokens[first - 1].word) and (not joined or joined[-1][1] < first - 1):
            first -= 1
        if joined and joined[-1][1] >= first - 1 and title_of(tokens[joined[-1][0]].word) and not title_of(
            tokens[first].word
        ):  # fmt: skip
            joined[-1] = (joined[-1][0], last)
        elif not joined or first > joined[-1][1]:
            joined.append((first, last))
    return joined


def _name(tokens):
    """Return a name's text; a title loses its stop (footnote 10 of the study)."""
    parts = []
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        parts.append(token.word.removesuffix(".") if title_of(token.word) else token.word)
        if following is not None and following.start > token.end:
            parts.append(" ")
    return "".join(parts)


def _gender(words, gender):
    title = title_of(words[0])
    if title and len(words) > 1:
        return TITLES.get(title)
    return gender(words[0])


def core(name):
    """Return the words of a name without its titles.

    Examples
    --------
    >>> core("Lady Catherine de Bourgh")
    ('Catherine', 'de', 'Bourgh')
    """
    words = name.replace("-", " ").split()
    while len(words) > 1 and title_of(words[0]):
        words.pop(0)
    return tuple(words)


def may_be_one_person(name, other):
    """Tell whether two names of a gender may stand for one person.

    One has all words of the other, and they have not two different titles.

    Examples
    --------
    >>> may_be_one_person("Mr Darcy", "Darcy"), may_be_one_person("Mrs Bennet", "Miss Bennet")
    (True, False)
    """
    titles = [title_of(name.split()[0]), title_of(other.split()[0])]
    if all(titles) and titles[0] != titles[1]:
        return False
    words = [set(core(name)), set(core(other))]
    return words[0] <= words[1] or words[1] <= words[0]
