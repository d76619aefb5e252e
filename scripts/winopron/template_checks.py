"""What every template of WinoPron must be (section 3 of the paper), as far as a program can see.

Whether a sentence reads well, and whether only one person can be meant, needs a reader.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from scripts.core.data.templates import CASES, word_set
from scripts.core.errors import UserError, count_noun
from scripts.winopron.templates import ANSWERS, PRONOUN, Template, Templates

OTHER_PRONOUNS = word_set(
    "i me my mine myself you your yours yourself yourselves we us our ours ourselves themselves thou thee thy"
)
"""Personal pronouns beyond those of templates/pronouns.tsv. *It* means no person and may stay."""
AGREEING = word_set("am is are was were has have does do isn't aren't wasn't weren't hasn't haven't doesn't don't")
"""Verb forms that differ between *he* and *they*; so do all that end in s."""
_ADVERBS = word_set("always already also just never often only once seldom still")
SIX = f"six sentences about a pair of people follow each other, two each in the {', '.join(CASES)}"


def check_templates(templates: Templates, pronouns: Mapping[str, dict]) -> None:
    """Refuse a set of templates that breaks a rule; no form of ``pronouns`` may stand outside the slot.

    Raises:
        UserError: Naming the file and every row, what is wrong and what to do.
    """
    problems = [*structure_problems(templates.rows), *repeated_templates(templates.rows)]
    forms = {form for forms in pronouns.values() for form in forms.values()} | OTHER_PRONOUNS
    problems += [(template.row, text) for template in templates.rows for text in template_problems(template, forms)]
    if problems:
        # Not sorted by text: what is found first in a row often explains the rest.
        listed = "; ".join(f"row {row}: {problem}" for row, problem in sorted(problems, key=lambda item: item[0]))
        raise UserError(f"{templates.file}: {count_noun(len(problems), 'problem')}: {listed}")


def structure_problems(rows: Sequence[Template]) -> list[tuple[int, str]]:
    """Return what is wrong with the order of a set: (row, problem) pairs.

    Six templates of each pair of people follow each other, two of each case in the order of ``CASES``.
    """
    six = 2 * len(CASES)
    for number, row in enumerate(rows):
        first, case = rows[number - number % six], CASES[number % six // 2]
        if (row.occupation, row.participant, row.case) != (first.occupation, first.participant, case):
            expected = f"'{first.occupation}' and '{first.participant}' in the {case}"
            # All that follows is out of place as well.
            return [(row.row, f"a sentence about {expected} is expected here; {SIX}")]
    if len(rows) % six:
        return [(rows[-1].row, f"a sentence about '{rows[-1].occupation}' is missing after this one; {SIX}")]
    problems = [problem for pair in zip(rows[::2], rows[1::2], strict=True) for problem in pair_problems(*pair)]
    started = {}
    for row in rows[::six]:
        if (first := started.setdefault(row.occupation, row.row)) != row.row:
            problems.append((row.row, f"'{row.occupation}' has sentences from row {first} on already; {SIX}"))
    return problems


def pair_problems(first: Template, second: Template) -> Iterator[tuple[int, str]]:
    """Say what is wrong with two templates that should differ only after the pronoun, which means another person."""
    if first.answer == second.answer:
        what = f"the pronoun means the {second.answer} as in row {first.row}"
        other = next(answer for answer in ANSWERS if answer != second.answer)
        yield second.row, f"{what}; write an ending about the {other}"
    if first.prefix != second.prefix:
        yield (
            second.row,
            f"differs from row {first.row} before the pronoun; begin both sentences with the same words",
        )


def repeated_templates(rows: Sequence[Template]) -> Iterator[tuple[int, str]]:
    """Name the templates that occur twice: (row, problem) pairs."""
    for entities in ("double", "single"):
        first = {}
        for row in rows:
            text = getattr(row, entities)
            if text and first.setdefault(text, row.row) != row.row:
                yield row.row, f"the {entities} sentence is that of row {first[text]}; write another"


def template_problems(template: Template, forms: Collection[str]) -> Iterator[str]:
    """Say what is wrong with one template; ``forms`` are the pronouns that may not occur."""
    for entities in ("double", "single"):
        text = getattr(template, entities)
        if not text:
            yield f"there is no {entities} sentence; write it"
        elif text.count(PRONOUN) != 1:
            number = count_noun(text.count(PRONOUN), "slot")
            yield f"the {entities} sentence has {number} for a pronoun; write {PRONOUN} once"
        else:
            yield from (f"the {entities} sentence {wrong}" for wrong in sentence_problems(template, entities, forms))


def sentence_problems(template: Template, entities: str, forms: Collection[str]) -> Iterator[str]:
    """Say what is wrong with one sentence that has its slot."""
    before, _, after = getattr(template, entities).partition(PRONOUN)
    if set("{}$_") & set(before + after):
        yield f"has a slot of another kind; only {PRONOUN} is filled"
    words = [_words(before), _words(after)]
    for word in sorted({*words[0], *words[1]} & set(forms)):
        yield f"has another pronoun, '{word}'; name the person"
    for answer in ANSWERS:
        person = getattr(template, answer)
        times = [part.count(person) for part in words]
        if entities == "double" or answer == template.answer:
            if times != [1, 0]:
                counted = [count_noun(number, "time") for number in times]
                yield (
                    f"names '{person}' {counted[0]} before the pronoun and {counted[1]} after it; "
                    "name each person once, before"
                )
        elif sum(times):
            yield f"names '{person}', who is not meant; leave that person out"
    verb = next((word for word in words[1] if not (word in _ADVERBS or word.endswith("ly"))), "")
    if template.case == "nominative" and (verb in AGREEING or re.fullmatch(r"[a-z]+[^s']s", verb)):
        yield (
            f"has '{verb}' after the pronoun, which 'they' takes in another form; write a simple past or a modal verb"
        )


def _words(text: str):
    return re.findall(r"[\w']+", text.lower())
