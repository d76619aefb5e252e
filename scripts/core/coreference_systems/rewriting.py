"""Training documents rewritten: other names, more names, people of one gender, singular they.

LitBank names few people, and most of its pronouns follow one person. A system that is to tell two people of one gender
apart by what a sentence says needs more of them, and needs singular they, of which the corpus has next to none. The
annotation stays right: every change is made to the mentions of an entity alike.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from scripts.core.coreference_systems.c2f.features import PRONOUNS
from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

KINDS = ("female", "male", "surname")
FORMS = {
    "he": ("he", "him", "his", "his", "himself"),
    "she": ("she", "her", "her", "hers", "herself"),
    "they": ("they", "them", "their", "theirs", "themselves"),
}
NOMINATIVE, ACCUSATIVE, POSSESSIVE, INDEPENDENT, REFLEXIVE = range(5)
SETS = {form: name for name in ("he", "she") for form in FORMS[name]}
GENDERS = {"he": "male", "she": "female"}

_TITLES = {
    "he": ("Mr.", "Mr", "Sir", "Lord", "Master", "Uncle", "Monsieur", "Captain", "Dr.", "Colonel"),
    "she": ("Mrs.", "Mrs", "Miss", "Lady", "Madame", "Aunt", "Mademoiselle", "Ms."),
}
_TITLE_SET = {title: name for name, titles in _TITLES.items() for title in titles}
_TITLE_FOR = {
    "he": {"Mrs.": "Mr.", "Mrs": "Mr", "Miss": "Mr.", "Lady": "Sir", "Madame": "Monsieur", "Aunt": "Uncle"}
    | {"Mademoiselle": "Monsieur", "Ms.": "Mr."},
    "she": {"Mr.": "Mrs.", "Mr": "Mrs", "Sir": "Lady", "Lord": "Lady", "Master": "Miss", "Uncle": "Aunt"}
    | {"Monsieur": "Madame"},
}
_NOUNS = (
    ("man", "woman"), ("boy", "girl"), ("father", "mother"), ("brother", "sister"), ("son", "daughter"),
    ("husband", "wife"), ("uncle", "aunt"), ("nephew", "niece"), ("king", "queen"), ("prince", "princess"),
    ("gentleman", "lady"), ("fellow", "girl"), ("papa", "mamma"), ("grandfather", "grandmother"),
    ("widower", "widow"), ("sir", "madam"), ("lad", "lass"), ("duke", "duchess"), ("master", "mistress"),
)  # fmt: skip
_NOUN_FOR = {"he": {woman: man for man, woman in reversed(_NOUNS)}, "she": dict(reversed(_NOUNS))}
# Words before which "her" and "his" stand alone.
_NO_NOUN = frozenset(
    {
        "in", "on", "at", "to", "for", "with", "from", "by", "of", "and", "or", "but", "as", "if", "that", "when",
        "while", "who", "which", "what", "into", "upon", "over", "the", "a", "an", "this", "these", "was", "were",
        "is", "are", "had", "has", "would", "could", "should", "did", "do", "not", "out", "up", "down", "away",
        "so", "than", "then", "i", "he", "she", "it", "we", "they", "you", "because", "before", "after", "again",
        "back", "off", "too", "there", "here", "very", "about", "through", "till", "until", "only", "never", "ever",
        "once", "all", "himself", "herself",
    }
)  # fmt: skip
_AGREEMENT = {"was": "were", "is": "are", "has": "have", "'s": "'re", "\u2019s": "\u2019re"}
_ARTICLES = frozenset(["the", "a", "an", "this", "that"])
# Words that are no names though they may begin with a capital.
_NO_NAMES = PRONOUNS | {"that", "this", "one", "the"}
# Longest mention, in words, that a name takes the place of.
_LONGEST = 4


@dataclass(frozen=True)
class Names:
    """First names by gender, and surnames."""

    female: tuple
    male: tuple
    surname: tuple


@dataclass(frozen=True)
class Shares:
    """How often a window is rewritten in each way, from 0 to 1.

    Attributes:
        replaced: Of the windows in which every person with a known gender gets other names.
        one_gender: Of the windows in which all people get one gender.
        inserted: Of the windows in which names stand in for some pronouns and nouns.
        they: Of the windows in which every second person with a known gender takes they.
    """

    replaced: float = 0.0
    one_gender: float = 0.0
    inserted: float = 0.0
    they: float = 0.0


def read_names(path: str | Path) -> Names:
    """Read a list of names: columns ``name`` and ``kind`` (female, male, surname).

    Raises:
        UserError: For another kind, a name of several words or given twice, or a kind with fewer than two names.
    """
    names, seen = {kind: [] for kind in KINDS}, {}
    for row, cells in read_tsv(path, ("name", "kind")):
        if cells["kind"] not in KINDS:
            raise UserError(f"{path}, row {row}: the kind '{cells['kind']}' is none of {', '.join(KINDS)}; correct it")
        if " " in cells["name"]:
            raise UserError(f"{path}, row {row}: '{cells['name']}' is more than one word; give names of one word")
        if seen.setdefault(cells["name"], row) != row:
            raise UserError(f"{path}, row {row}: '{cells['name']}' is in row {seen[cells['name']]} too; remove one")
        names[cells["kind"]].append(cells["name"])
    for kind, listed in names.items():
        if len(listed) < 2:
            raise UserError(f"{path}: has {len(listed)} names of the kind {kind}; list two or more")
    return Names(**{kind: tuple(listed) for kind, listed in names.items()})


def rewrite_document(
    document: "AnnotatedDocument", names: Names, shares: Shares, random: Random
) -> "AnnotatedDocument":
    """Return a document rewritten at random; its clusters stay but for mentions that lie within a replaced one."""
    # Every draw is made, so that one share does not change what follows from another.
    chosen = {name: random.random() < share for name, share in vars(shares).items()}
    if chosen["one_gender"]:
        document = with_one_gender(document, random.choice(("he", "she")), names, random)
    elif chosen["replaced"]:
        document = with_other_names(document, names, random)
    if chosen["inserted"]:
        document = with_more_names(document, names, random)
    if chosen["they"]:
        document = with_they(document, random)
    return document


def gender_of(document: "AnnotatedDocument", cluster: Iterable[tuple[int, int]]) -> str | None:
    """Return the pronoun set, ``he`` or ``she``, of a cluster; None without a pronoun or title, or with both."""
    sets = set()
    for first, last in cluster:
        word = document.words[first]
        if first == last and word.lower() in SETS:
            sets.add(SETS[word.lower()])
        elif word in _TITLE_SET and word not in ("Dr.", "Captain", "Colonel"):
            sets.add(_TITLE_SET[word])
    return sets.pop() if len(sets) == 1 else None


def form_of(words: Sequence[str], index: int) -> int:
    """Return which form a pronoun of ``he`` or ``she`` is; of two that look alike, by the word after it."""
    word = words[index].lower()
    after = words[index + 1] if index + 1 < len(words) else "."
    alone = not after[:1].isalpha() or after.lower() in _NO_NOUN
    if word == "her":
        return ACCUSATIVE if alone else POSSESSIVE
    if word == "his":
        return INDEPENDENT if not after[:1].isalpha() else POSSESSIVE
    return FORMS[SETS[word]].index(word)


def with_they(document: "AnnotatedDocument", random: Random) -> "AnnotatedDocument":
    """Return a document in which about every second person of a known gender takes singular they.

    Verbs in the present and forms of *to be* right after a subject agree in the plural.
    """
    edits = {}
    for cluster in document.clusters:
        if gender_of(document, cluster) is None or random.random() < 0.5:
            continue
        for first, last in cluster:
            if first == last and document.words[first].lower() in SETS:
                form = form_of(document.words, first)
                edits[first] = _like(FORMS["they"][form], document.words[first])
                after = document.words[first + 1] if first + 1 < len(document.words) else ""
                if form == NOMINATIVE and after in _AGREEMENT:
                    edits[first + 1] = _AGREEMENT[after]
    return _with_words(document, edits)


def with_other_names(document: "AnnotatedDocument", names: Names, random: Random) -> "AnnotatedDocument":
    """Return a document in which the people with a known gender have other names, each the same throughout."""
    mapping, used = {}, set(document.words)
    for _, gender, mentions in _named(document):
        for first, last in mentions:
            words = document.words[first : last + 1]
            titled = sum(word in _TITLE_SET for word in words)
            bare = len(words) - titled
            for position in range(first, last + 1):
                word = document.words[position]
                if word in _TITLE_SET:
                    continue
                is_surname = (bare > 1 and position == last) or (
                    bare == 1 and titled and words[0] not in ("Aunt", "Uncle")
                )
                if word not in mapping:
                    kind = "surname" if is_surname else GENDERS[gender]
                    mapping[word] = _fresh(getattr(names, kind), used, random)
    within = {place for first, last in document.mentions for place in range(first, last + 1)}
    words = document.words
    return _with_words(document, {place: mapping[words[place]] for place in within if words[place] in mapping})


def with_one_gender(document: "AnnotatedDocument", target: str, names: Names, random: Random) -> "AnnotatedDocument":
    """Return a document in which the people with a known gender have one, ``he`` or ``she``, and other names."""
    edits = {}
    for cluster in document.clusters:
        gender = gender_of(document, cluster)
        if gender is None or gender == target:
            continue
        for first, last in cluster:
            word = document.words[first]
            if first == last and word.lower() in SETS:
                edits[first] = _like(FORMS[target][form_of(document.words, first)], word)
                continue
            if word in _TITLE_FOR[target]:
                edits[first] = _TITLE_FOR[target][word]
            head = document.words[last]
            if head.lower() in _NOUN_FOR[target]:
                edits[last] = _like(_NOUN_FOR[target][head.lower()], head)
    return with_other_names(_with_words(document, edits), names, random)


def with_more_names(document: "AnnotatedDocument", names: Names, random: Random) -> "AnnotatedDocument":
    """Return a document in which names stand in for some of the pronouns and nouns of people with a known gender.

    A person without a name gets one. About one pronoun in six becomes a name, and, of people who had none, about half
    of the short noun phrases; the first mention that does often has a surname too.
    """
    used = set(document.words)
    named = {cluster: mentions for cluster, _, mentions in _named(document)}
    edits = []
    for cluster in document.clusters:
        gender = gender_of(document, cluster)
        if gender is None or random.random() < 0.25:
            continue
        if cluster in named:
            counts = Counter(document.words[first : last + 1] for first, last in named[cluster])
            whole = short = counts.most_common(1)[0][0]
        else:
            short = (_fresh(getattr(names, GENDERS[gender]), used, random),)
            whole = short + ((_fresh(names.surname, used, random),) if random.random() < 0.5 else ())
        for first, last in cluster:
            word = document.words[first].lower()
            if first == last and word in SETS:
                if random.random() >= 1 / 6:
                    continue
                form = form_of(document.words, first)
                if form in (INDEPENDENT, REFLEXIVE):
                    continue
                edits.append((first, last, whole + (("'s",) if form == POSSESSIVE else ()), len(whole)))
            elif cluster not in named and word in _ARTICLES and last - first < _LONGEST and random.random() < 0.5:
                edits.append((first, last, whole, len(whole)))
            else:
                continue
            whole = short
    return replace_words(document, edits)


def replace_words(
    document: "AnnotatedDocument", edits: Iterable[tuple[int, int, tuple[str, ...], int]]
) -> "AnnotatedDocument":
    """Return a document in which runs of words are replaced by others.

    Args:
        edits: First and last word of a run, the new words, and how many of these a mention of exactly the run has. Of
            two runs that overlap the first given counts.

    Returns:
        Mentions within a run, and those that cross its border, are left out, and so are clusters without mentions.
        Speakers are those of the run's first word; there are no tags.
    """
    taken, kept = set(), {}
    for first, last, words, covered in edits:
        if taken.isdisjoint(range(first, last + 1)):
            taken.update(range(first, last + 1))
            kept[first] = (last, words, covered)
    if not kept:
        return document
    words, speakers, place, after = [], [], [], []
    position = 0
    run_of = {}
    while position < len(document.words):
        last, new, covered = kept.get(position, (position, (document.words[position],), 1))
        for old in range(position, last + 1):
            place.append(len(words))
            after.append(len(words) + len(new))
            if position in kept:
                run_of[old] = (position, last)
        words += new
        speakers += [document.speakers[position] if document.speakers else None] * len(new)
        position = last + 1
    clusters = []
    for cluster in document.clusters:
        mentions = []
        for first, last in cluster:
            run = run_of.get(first)
            if run == (first, last):
                mentions.append((place[first], place[first] + kept[first][2] - 1))
            elif (run and (run == run_of.get(last) or run[0] != first)) or (last in run_of and run_of[last][1] != last):
                continue
            else:
                mentions.append((place[first], after[last] - 1))
        if mentions:
            clusters.append(tuple(sorted(set(mentions))))
    starts = [place[start] for start, _ in document.sentences]
    return replace(
        document,
        words=tuple(words),
        sentences=tuple(zip(starts, [*starts[1:], len(words)], strict=True)),
        clusters=tuple(sorted(clusters)),
        speakers=tuple(speakers) if document.speakers else None,
        tags=None,
    )


def _named(document: "AnnotatedDocument"):
    """Return the clusters with a known gender that have names, with their gender and the mentions that are names."""
    found = []
    for cluster in document.clusters:
        gender = gender_of(document, cluster)
        mentions = [mention for mention in cluster if _is_name(document, mention)] if gender else []
        if mentions:
            found.append((cluster, gender, mentions))
    return found


def _is_name(document: "AnnotatedDocument", mention: tuple[int, int]) -> bool:
    first, last = mention
    words = document.words[first : last + 1]
    if last - first >= _LONGEST or words[-1] in _TITLE_SET:
        return False
    if words[-1].lower() in _NOUN_FOR["he"] or words[-1].lower() in _NOUN_FOR["she"]:
        return False
    return all(
        word in _TITLE_SET or (word[0].isupper() and word[1:].islower() and word.lower() not in _NO_NAMES)
        for word in words
    )


def _fresh(listed: Sequence[str], used: set[str], random: Random) -> str:
    """Return a name that the document does not have yet, and note it; any name once all are used."""
    name = random.choice([name for name in listed if name not in used] or listed)
    used.add(name)
    return name


def _like(word: str, model: str) -> str:
    return word.capitalize() if model[:1].isupper() else word


def _with_words(document: "AnnotatedDocument", edits: Mapping[int, str]) -> "AnnotatedDocument":
    words = tuple(edits.get(index, word) for index, word in enumerate(document.words))
    return replace(document, words=words)
