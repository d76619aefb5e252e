"""Reading a pronoun out of what a prompted model wrote.

The study gives "unique pronouns, if any" and no code. Here:

1. The text is brought to one form of each letter (Unicode's NFKC: full-width letters become plain ones), lower-cased
   and cut into words, which are runs of letters: quotes, stops, dashes, underscores, slashes and apostrophes end a
   word, so *her.*, *"Her"*, *__her__* and *he's* hold *her* and *he*. *i.e.*, *e.g.* and the letter of *e-mail* are no
   words.
2. Words that are a form of the instance's case count. The answer is that form if no other form of the case is there,
   however often it comes. A form that several pronoun sets share answers for all of them.
3. Two different forms of the case are no answer (``several``): also where a model lists the options, or reasons about
   all of them and then decides.
4. *s/he*, *s-he* and *(s)he* stand for *she* and *he*. Words that a slash or such brackets join are alternatives: if
   they are forms of different sets and one of them is of the case, or no form of the case is there besides, they are
   no answer either (``several``), as in *his/hers* where *his* alone would fit. *she/her* names one set.
5. *It* and *one* stand for no person in *It is unclear* or *one of them*: forms of such a set (:data:`IMPERSONAL`)
   count only where the model wrote nothing else.
6. Otherwise, without any form of the case, a form of some set in another case is an answer in the wrong case
   (``wrong_case``). Forms that two cases share (*her*, *his*) belong to the instance's case where that is one of them.
7. Everything else is no answer (``none``).

Only ``right`` is right: accuracy is its share among all outputs, as in the study.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from scripts.core.data.options import candidate_forms

OUTCOME_LABELS = {
    "right": "right",
    "wrong": "wrong",
    "wrong_case": "wrong case",
    "several": "several pronouns",
    "none": "no pronoun",
}
"""What an output comes to, in the order of tables and figures, and how these call it."""
OUTCOMES = tuple(OUTCOME_LABELS)
BOTH = " or "
"""Between the names of sets that share a form."""

IMPERSONAL = frozenset({"it", "its", "itself", "one", "ones", "oneself"})
"""Forms of sets that English also uses without a person in mind."""

_LETTER = r"[^\W\d_]"
_ABBREVIATION = re.compile(rf"(?<!{_LETTER})(?:i\.e|e\.g|i\. e(?=\.)|e\. g(?=\.))(?!{_LETTER})")
_HYPHENED = re.compile(rf"(?<!{_LETTER})({_LETTER})[-‐]({_LETTER}{{2,}})")
_BRACKETED = re.compile(rf"({_LETTER}*)\(({_LETTER}+)\)({_LETTER}*)")
_SLASH = re.compile(r"[ \t]*[/\\⁄∕][ \t]*")
_ALTERNATIVES = re.compile(rf"{_LETTER}+(?:{_SLASH.pattern}{_LETTER}+)*")


def alternatives(text: str, known: Collection[str]) -> list[list[str]]:
    """Return the words of a text in groups of alternatives; a word that stands alone is a group of its own.

    Args:
        known: All forms of all sets, which tell *s-he* from *e-mail*.

    Returns:
        Normalised and lower-cased. A group also holds what its words give when they are read without the slash or the
        brackets between them: *s/he* gives *s*, *he* and *she*.
    """
    text = _ABBREVIATION.sub(" ", unicodedata.normalize("NFKC", text).lower())
    text = _HYPHENED.sub(lambda match: _unhyphened(match[1], match[2], known), text)
    text = _BRACKETED.sub(lambda match: _unbracketed(*match.groups()), text)
    groups = []
    for group in _ALTERNATIVES.findall(text):
        words = _SLASH.split(group)
        groups.append(words + [a + b for a, b in pairwise(words) if a + b in known])
    return groups


def _unhyphened(letter: str, word: str, known: Collection[str]):
    """Return a word behind a letter and a hyphen with a slash (s-he), as two words (e-she) or alone (e-mail)."""
    if word in known:
        return f"{letter}/{word}" if letter + word in known else f"{letter} {word}"
    return word


def _unbracketed(before: str, inside: str, after: str):
    """Return the readings of a word with a part in brackets, joined by slashes; brackets around a word are left."""
    if not before + after:
        return f"({inside})"
    return "/".join([before + inside + after, before + after, inside])


def find_answer(text: str, case: str, pronouns: Mapping[str, dict]) -> tuple[str, tuple[str, ...]]:
    """Return what a text says, to a slot of a grammatical case, about the pronoun sets of a run.

    Returns:
        ``one`` with the pronoun sets whose form it is; ``wrong_case`` with those that all forms in the text belong to;
        ``several`` or ``none`` with no set.
    """
    of_case = candidate_forms(pronouns, case)
    owners = {}
    for name, table in pronouns.items():
        for form in table.values():
            owners.setdefault(form, set()).add(name)
    groups = alternatives(text, owners)
    words = {word for group in groups for word in group}
    if words - IMPERSONAL:
        # Beside other words these need not stand for the person.
        owners = {form: names for form, names in owners.items() if form not in IMPERSONAL}
    forms = words & set(owners)
    answers = forms & set(of_case)
    ambiguous = [group for group in groups if len(owned := _owned(group, owners)) and not set.intersection(*owned)]
    if len(answers) > 1 or any(not answers or answers & set(group) for group in ambiguous):
        return "several", ()
    if answers:
        return "one", of_case[answers.pop()]
    if forms:
        common = set.intersection(*(owners[word] for word in forms))
        return "wrong_case", tuple(name for name in pronouns if name in common)
    return "none", ()


def _owned(group: Iterable[str], owners: Mapping[str, set[str]]):
    return [owners[word] for word in group if word in owners]


def judge_answer(text: str, case: str, gold: str, pronouns: Mapping[str, dict]) -> tuple[str, str | None]:
    """Return the outcome of a text, one of :data:`OUTCOMES`, and the pronoun set that it names, or None.

    A form that several sets share is right for each of them. The set that is named is then the right one if it is
    among them; otherwise all are, joined by *or*. In the wrong case a set is named if no other has these forms.
    """
    kind, names = find_answer(text, case, pronouns)
    if kind == "one":
        return ("right", gold) if gold in names else ("wrong", BOTH.join(names))
    return kind, names[0] if len(names) == 1 else None
