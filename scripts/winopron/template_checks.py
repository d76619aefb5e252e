"""What every template of WinoPron must be (section 3 of the paper), as far as a program can see.

Whether a sentence reads well, and whether only one person can be meant, needs a reader.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from scripts.core.data.templates import CASES, word_set
from scripts.core.errors import UserError, count_noun
from scripts.winopron.templates import ANSWERS, PRONOUN, Template, Templates

OTHER_PRONOUNS = word_set(
    "i me my mine myself you your yours yourself yourselves we us our ours ourselves themselves thou thee thy"
)
"""Personal pronouns beyond those of templates/pronouns.tsv. *It* means no person and may stay."""
AGREEING = word_set("am is are was were has have does do isn't aren't wasn't weren't hasn't haven't doesn't don't")
"""Verb forms that differ between *he* and *they*."""
MODALS = word_set("can could may might must shall should will would")
# Verbs whose simple past has no -ed, as far as templates use them; another one is added here.
_PAST = word_set(
    "had did felt made got knew kept broke gave went ran found came saw took told thought left lost brought bought "
    "wore held said set put cut let spent taught caught heard met paid read sold sent slept stood won wrote"
)
_ADVERBS = word_set("always already also just never often only once seldom still")
# What follows "her" so that nobody takes it for a possessive.
_AFTER_ACCUSATIVE = word_set(
    "a an the another one two half enough more less no nothing what how to with without from for of in on at by into "
    "up down out off away against after before as about only almost hardly too not and"
)


def check_templates(templates: Templates, pronouns: Mapping[str, dict], own: bool = True) -> None:
    """Refuse a set of templates that breaks a rule.

    Args:
        pronouns: All pronoun sets of templates/pronouns.tsv; none of their forms may stand outside the slot.
        own: Whether to hold them to what this project asks of its own sentences besides (:func:`house_problems`).

    Raises:
        UserError: Naming the file and every row, what is wrong and what to do.
    """
    problems = [*structure_problems(templates.rows), *repeated_templates(templates.rows)]
    forms = {form for forms in pronouns.values() for form in forms.values()} | OTHER_PRONOUNS
    for template in templates.rows:
        found = [*template_problems(template, forms), *(house_problems(template) if own else ())]
        problems += [(template.row, problem) for problem in found]
    if problems:
        # Not sorted by text: what is found first in a row often explains the rest.
        listed = "; ".join(f"row {row}: {problem}" for row, problem in sorted(problems, key=lambda item: item[0]))
        raise UserError(f"{templates.file}: {count_noun(len(problems), 'problem')}: {listed}")


def structure_problems(rows: Sequence[Template]) -> list[tuple[int, str]]:
    """Return what is wrong with the order of a set: (row, problem) pairs.

    Six templates of each pair of people follow each other, two of each case in the order of ``CASES``; the two of a
    case are identical up to the pronoun, and it means another person in each.
    """
    problems, twos, i = [], [], 0
    while i < len(rows):
        first, second = rows[i], rows[i + 1] if i + 1 < len(rows) else None
        if second is None or (second.occupation, second.case) != (first.occupation, first.case):
            what = f"the {first.case} sentence about '{first.occupation}' is without its partner"
            problems.append((first.row, f"{what}; put the one with the other answer behind it"))
            i += 1
            continue
        twos.append(first)
        problems += _two_problems(first, second)
        i += 2
    # Where a partner is missing, its case is there all the same.
    started = {}
    for before, now in zip([None, *rows], rows, strict=False):
        if before is None or now.occupation != before.occupation:
            if now.occupation in started:
                what = f"'{now.occupation}' has sentences from row {started[now.occupation]} on already"
                problems.append((now.row, f"{what}; put all six together"))
            started.setdefault(now.occupation, now.row)
            if now.case != CASES[0]:
                what = f"the sentences about '{now.occupation}' begin with the {now.case}"
                problems.append((now.row, f"{what}; begin with two in the {CASES[0]}"))
        elif now.participant != before.participant:
            what = f"'{now.occupation}' comes with '{now.participant}' after '{before.participant}'"
            problems.append((now.row, f"{what}; name one of them"))
    for first, then in pairwise(twos):
        if then.occupation == first.occupation and CASES.index(then.case) != CASES.index(first.case) + 1:
            what = f"the {then.case} follows the {first.case}"
            problems.append((then.row, f"{what}; the order is two sentences each in the {', '.join(CASES)}"))
    counts = Counter(row.occupation for row in rows)
    for occupation, number in counts.items():
        if number != 2 * len(CASES):
            what = f"{count_noun(number, 'sentence')} about '{occupation}' where {2 * len(CASES)} are needed"
            problems.append((started[occupation], f"{what}; write two for each case"))
    return problems


def _two_problems(first: Template, second: Template):
    problems = []
    if first.answer == second.answer:
        what = f"the pronoun means the {second.answer} as in row {first.row}"
        other = next(answer for answer in ANSWERS if answer != second.answer)
        problems.append((second.row, f"{what}; write an ending about the {other}"))
    if first.prefix != second.prefix:
        what = f"differs from row {first.row} before the pronoun"
        problems.append((second.row, f"{what}; begin both sentences with the same words"))
    return problems


def repeated_templates(rows: Sequence[Template]) -> list[tuple[int, str]]:
    """Return the templates that occur twice, with or without another pronoun slot: (row, problem) pairs."""
    problems = []
    for entities in ("double", "single"):
        first = {}
        for row in rows:
            text = getattr(row, entities)
            if text and first.setdefault(text, row.row) != row.row:
                problems.append((row.row, f"the {entities} sentence is that of row {first[text]}; write another"))
    return problems


def template_problems(template: Template, forms: Collection[str]) -> list[str]:
    """Return what is wrong with one template, whoever wrote it; ``forms`` are the pronouns that may not occur."""
    problems = []
    for entities in ("double", "single"):
        text = getattr(template, entities)
        if not text:
            problems.append(f"there is no {entities} sentence; write it")
            continue
        if text.count(PRONOUN) != 1:
            number = count_noun(text.count(PRONOUN), "slot")
            problems.append(f"the {entities} sentence has {number} for a pronoun; write {PRONOUN} once")
            continue
        outside = text.replace(PRONOUN, "")
        if set("{}$_") & set(outside):
            problems.append(f"the {entities} sentence has a slot of another kind; only {PRONOUN} is filled")
        found = sorted({word for word in _words(outside) if word in forms})
        problems += [f"the {entities} sentence has another pronoun, '{word}'; name the person" for word in found]
        problems += _people_problems(template, entities, text)
        if template.case == "nominative":
            problems += _verb_problems(entities, text)
    return problems


def _people_problems(template: Template, entities: str, text: str):
    before, _, after = text.partition(PRONOUN)
    named = ANSWERS if entities == "double" else (template.answer,)
    for answer in ANSWERS:
        person = getattr(template, answer)
        times = [_words(part).count(person) for part in (before, after)]
        if answer in named and times != [1, 0]:
            yield (
                f"the {entities} sentence names '{person}' {_times(times[0])} before the pronoun and "
                f"{_times(times[1])} after it; name each person once, before"
            )
        elif answer not in named and sum(times):
            yield f"the {entities} sentence names '{person}', who is not meant; leave that person out"


def _times(number: int):
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _verb_problems(entities: str, text: str):
    """Refuse a verb that agrees with the pronoun in number: *they* could not stand there."""
    words = _words(text.partition(PRONOUN)[2])
    while words and (words[0] in _ADVERBS or words[0].endswith("ly")):
        words = words[1:]
    verb = words[0] if words else ""
    if verb in AGREEING:
        return [
            f"the {entities} sentence has '{verb}' after the pronoun, which 'they' takes in another form; "
            "write a simple past or a modal verb"
        ]
    plain = verb.removesuffix("n't")
    if not (plain in MODALS or plain in _PAST or verb.endswith("ed")):
        return [
            f"the {entities} sentence has '{verb}' after the pronoun, which is no simple past or modal verb that is "
            "known here; write one, or add it to scripts/winopron/template_checks.py"
        ]
    return []


def house_problems(template: Template) -> list[str]:
    """Return what is wrong with one of this project's own templates besides."""
    problems = []
    for entities in ("double", "single"):
        text = getattr(template, entities) or ""
        if not re.fullmatch(r"[A-Z][^\s]*(?: [^\s]+)+\.", text):
            problems.append(
                f"the {entities} sentence must begin with a capital, end with a full stop and have single blanks; "
                "correct it"
            )
        after = _words(text.partition(PRONOUN)[2])
        following = after[0] if after else ""
        if template.case == "nominative":
            for joined, verb in pairwise(after):
                if joined in ("and", "or", "but") and verb in AGREEING:
                    problems.append(
                        f"the {entities} sentence has '{joined} {verb}' after the pronoun, which 'they' takes in "
                        "another form; write a simple past or a modal verb"
                    )
        elif template.case == "accusative" and following and following not in _AFTER_ACCUSATIVE:
            problems.append(
                f"the {entities} sentence has '{following}' after the accusative, so that 'her' may look possessive; "
                "put an article or a preposition there"
            )
        elif template.case == "possessive" and (
            not following or following in _AFTER_ACCUSATIVE - {"one", "only", "two"}
        ):
            problems.append(
                f"the {entities} sentence has no noun after the possessive ('{following}'); say what belongs to the "
                "person"
            )
    return problems


def _words(text: str):
    return re.findall(r"[\w']+", text.lower())
