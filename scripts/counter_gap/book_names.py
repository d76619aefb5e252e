"""Words and personal names in parsed sentences, and the gender that Section 2.1 gives names."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

_MEN = (
    "mr sir lord master uncle brother father grandfather king prince duke earl count baron marquis marquess viscount "
    "squire monsieur herr signor señor don dr doctor professor prof captain capt colonel col major general gen "
    "lieutenant lt sergeant sgt corporal admiral commodore rev reverend bishop deacon parson rabbi judge"
)
_WOMEN = (
    "mrs miss ms lady madam madame mme mademoiselle mlle aunt auntie aunty sister mother grandmother granny queen "
    "princess duchess countess baroness dame mistress frau fräulein signora signorina señora señorita doña donna"
)
TITLES = {title: gender for titles, gender in ((_MEN, "M"), (_WOMEN, "F")) for title in titles.split()}
"""Titles in lower case, without stops, to the gender that tradition gives their bearers; offices of the books' times
counted as masculine."""
SOCIAL = {"mr", "mrs", "miss", "ms", "messrs", "misses", "mesdames"}
"""Titles that stand for nobody without a name."""
DETECTED_GENDERS = {"male": "M", "mostly_male": "M", "female": "F", "mostly_female": "F"}
"""What gender-guesser says of a first name, to genders; of the others the gender is not known."""
NAME_THRESHOLDS, SHARE, FIRST_NAME_SHARE = 2, 0.5, 0.1
"""A word is a name wherever it stands in a book if the recogniser took it for a person so often, and in such a share of
the places where it took it for anything. Of a first name, which recognisers of newspapers often take for a company or a
town, a smaller share of persons and places is enough, if it is no date or nationality more often."""
PLACE_ENTITIES = ("GPE", "LOC", "FAC")
PARTICLES = ("de", "du", "des", "la", "le", "di", "da", "della", "von", "van", "der", "of")
"""Words of names in lower case."""
NO_NAMES = ("DATE", "TIME", "NORP", "CARDINAL", "LANGUAGE")
"""Kinds of named entities."""
SHORT_FORM = 3
"""Letters at least of a name that is short for another one: Fred, Eliza."""
INDEPENDENT = ("attr", "pobj", "dobj", "nsubj", "nsubjpass", "conj", "acomp", "oprd")
"""Dependencies that a possessive by itself may have."""
MAJORITY = 0.8
"""Share of *Mr* or of *Mrs*, *Miss* and *Ms* before a surname from which its gender without a title follows."""


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


class Lexicon(NamedTuple):
    """The names of a book: words that are names wherever they stand, and the gender of surnames.

    ``surnames`` stand behind *Mr*, *Mrs*, *Miss* or *Ms*, and have the gender of those whom the book calls so.
    """

    words: set[str]
    surnames: dict[str, str | None]


class Mention(NamedTuple):
    """An occurrence of a personal name in a sentence: first and last token (both included), the name, its gender.

    ``gender`` is M, F or None; ``name`` has no stop behind a title.
    """

    first: int
    last: int
    name: str
    gender: str | None


def make_sentence(row: Mapping[str, Any], text: str) -> Sentence:
    """Return the :class:`Sentence` of a row of scripts/core/coreference_systems/sentences.py."""
    columns = zip(*(row[name] for name in ("starts", "ends", "tags", "dependencies", "heads", "entities")), strict=True)
    tokens = (Token(text[start:end], start, end, *rest) for start, end, *rest in columns)
    return Sentence(row["section"], row["start"], row["end"], tuple(tokens))


def is_possessive(token: Token, following: Token | None) -> bool:
    """Tell whether *her* or *his*, which two cases share, stands before what is possessed (not *a friend of his*)."""
    if token.tag != "PRP$" or token.dependency not in INDEPENDENT:
        return token.tag == "PRP$"
    return following is not None and (following.tag[:2] in ("NN", "JJ", "CD") or following.tag == "VBG")


def is_unclear(token: Token, following: Token | None) -> bool:
    """Tell whether *her* may be the accusative or the possessive.

    Its tag and dependency disagree, or a gerund follows, which goes with both: *since her coming away*.
    """
    if token.word.lower() != "her":
        return False
    return (token.tag == "PRP$") != (token.dependency == "poss") or (following is not None and following.tag == "VBG")


def title_of(word: str) -> str | None:
    """Return a word as :data:`TITLES` has it, if it is a title with a capital; else None."""
    plain = word.lower().removesuffix(".")
    return plain if word[:1].isupper() and (plain in TITLES or plain in SOCIAL) else None


def gender_detector() -> Callable[[str], str | None]:
    """Return a function from a first name to M, F or None: the package gender-guesser in its default setting."""
    from gender_guesser.detector import Detector

    detector = Detector()

    def gender(word: str) -> str | None:
        word = word.capitalize() if word.isupper() and len(word) > 1 else word
        said = (DETECTED_GENDERS.get(detector.get_gender(form)) for form in (word, word.partition("-")[0]))
        return next(filter(None, said), None)

    return gender


def _people(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the recogniser's persons as (first, last), without articles, possessive endings and marks around them."""
    people = []
    for place, token in enumerate(tokens):
        if token.entity == "B-PERSON":
            people.append([place])
        elif token.entity == "I-PERSON" and people and people[-1][-1] == place - 1:
            people[-1].append(place)
    named = [[place for place in person if _is_part(tokens[place])] for person in people]
    return [(places[0], places[-1]) for places in named if places]


def _is_part(token: Token) -> bool:
    noun = token.tag.startswith("NN") or (token.tag not in ("POS", "DT", "PRP", "UH") and token.word[:1].isalpha())
    return noun and token.word[:1].isupper()


def collect_names(sentences: Iterable[Sentence], gender: Callable) -> Lexicon:
    """Return the names of a book by :data:`NAME_THRESHOLDS` and :data:`MAJORITY`; titles are none.

    The recogniser often takes the same name for a person in one place and for nothing, or a town, in another.
    """
    counts, titled = defaultdict(Counter), defaultdict(Counter)
    for parsed in sentences:
        before = None
        for place, token in enumerate(parsed.tokens):
            # A sentence's first word has a capital whatever it is.
            if place and token.word[:1].isupper() and token.word.isalpha():
                counts[token.word][_entity(token) if token.tag.startswith("NNP") else "no name"] += 1
                if before in SOCIAL and before in TITLES:
                    titled[token.word][TITLES[before]] += 1
            before = title_of(token.word)
    words = {word for word, kinds in counts.items() if not title_of(word) and _is_person(kinds, gender(word))}
    surnames: dict[str, str | None] = {}
    for word, genders in titled.items():
        ((most, count),) = genders.most_common(1)
        if genders.total() >= NAME_THRESHOLDS:
            surnames[word] = most if count >= MAJORITY * genders.total() else None
    return Lexicon(words, surnames)


def _is_person(kinds: Counter[str], gender: str | None) -> bool:
    persons, others = kinds["PERSON"], sum(kinds[kind] for kind in NO_NAMES)
    if persons < max(NAME_THRESHOLDS, others) or kinds["no name"] > 0.2 * kinds.total():
        return False
    if gender:
        return persons >= FIRST_NAME_SHARE * (persons + sum(kinds[kind] for kind in PLACE_ENTITIES))
    return persons >= SHARE * (kinds.total() - kinds[""] - kinds["no name"])


def _entity(token: Token) -> str:
    return token.entity.partition("-")[2]


def find_mentions(parsed: Sentence, known: Lexicon, gender: Callable) -> list[Mention]:
    """Return the personal names of a sentence in their order, none within another.

    A first name that nobody took for a person has no gender: who it is remains open.
    """
    tokens = parsed.tokens
    spans = _people(tokens)
    inside = {place for first, last in spans for place in range(first, last + 1)}
    for place, token in enumerate(tokens):
        if place in inside:
            continue
        last = _end_of_titled_name(tokens, place, inside) if title_of(token.word) else None
        if last is None and token.word in known.words and token.tag.startswith("NN"):
            last = place
        if last is not None:
            spans.append((place, last))
            inside.update(range(place, last + 1))
    found = []
    for first, last in _joined(sorted(spans), tokens):
        # A title alone is nobody's name.
        if not title_of(tokens[last].word):
            words = [token.word for token in tokens[first : last + 1]]
            found.append(Mention(first, last, _name(tokens[first : last + 1]), _gender(words, known, gender)))
    inside = {place for mention in found for place in range(mention.first, mention.last + 1)}
    for place, token in enumerate(tokens):
        missed = place and place not in inside and _is_name(token) and not title_of(token.word)
        if missed and _entity(token) not in (*PLACE_ENTITIES, *NO_NAMES) and gender(token.word):
            found.append(Mention(place, place, token.word, None))
    return sorted(found)


def _end_of_titled_name(tokens: Sequence[Token], place: int, inside: Collection[int]) -> int | None:
    """Return the last token of a name behind the title at ``place``, which the recogniser missed; None without one."""
    last = None
    for here in range(place + 1, min(place + 4, len(tokens))):
        # A name that the recogniser has is joined with the title later.
        if here in inside:
            break
        if _is_name(tokens[here]):
            last = here
        elif tokens[here].word not in PARTICLES or last is not None:
            break
    return last


def _is_name(token: Token) -> bool:
    return token.tag.startswith("NNP") and token.word[:1].isupper() and token.word[:1].isalpha()


def _joined(spans: Iterable[tuple[int, int]], tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Extend spans over titles and particles before them, and join those that touch: the first may be a title."""
    joined = []
    for first, last in spans:
        end = joined[-1][1] if joined else -1
        back = first
        while back - 1 > end and tokens[back - 1].word in PARTICLES:
            back -= 1
        # Particles belong to a name behind a title.
        first = back if back - 1 > end and title_of(tokens[back - 1].word) else first
        while first - 1 > end and title_of(tokens[first - 1].word):
            first -= 1
        if joined and end >= first - 1 and not title_of(tokens[first].word):
            joined[-1] = (joined[-1][0], last)
        elif first > end:
            joined.append((first, last))
    return joined


def _name(tokens: Sequence[Token]) -> str:
    """Return a name's text; a title loses its stop (footnote 10 of the study)."""
    parts = []
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        parts.append(token.word.removesuffix(".") if title_of(token.word) else token.word)
        if following is not None and following.start > token.end:
            parts.append(" ")
    return "".join(parts)


def _gender(words: Sequence[str], known: Lexicon, gender: Callable[[str], str | None]) -> str | None:
    title = title_of(words[0])
    if title and len(words) > 1:
        return TITLES.get(title)
    if len(words) == 1 and words[0] in known.surnames:
        return known.surnames[words[0]]
    return gender(words[0])


def name_without_titles(name: str) -> list[str]:
    """Return the words of a name without its titles: Lady Catherine de Bourgh is *Catherine*, *de*, *Bourgh*."""
    words = name.replace("-", " ").split()
    while len(words) > 1 and title_of(words[0]):
        words.pop(0)
    return words


def may_be_one_person(name: str, other: str) -> bool:
    """Tell whether two names may stand for one person.

    One has all words of the other, or beginnings of them, and they have not two different titles.
    """
    titles = {title_of(name.split()[0]), title_of(other.split()[0])} - {None}
    one, two = name_without_titles(name), name_without_titles(other)
    return len(titles) < 2 and (_is_within(one, two) or _is_within(two, one))


def _is_within(words: Iterable[str], others: Collection[str]) -> bool:
    return all(
        any(word == other or (len(word) >= SHORT_FORM and other.startswith(word)) for other in others) for word in words
    )
