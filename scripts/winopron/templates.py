"""Templates of WinoPron (Gautam et al. 2024) and of Winogender Schemas (Rudinger et al. 2018), read from files.

Every set becomes the same :class:`Templates`: this project's own replica, the authors' official one, and Winogender
Schemas, from which WinoPron was made. What comes after is the same for all of them.

:func:`check` holds a set to what every template must be (section 3 of the paper), as far as a program can see. Whether
a sentence reads well, and whether only one person can be meant, needs a reader.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from scripts.core.data import archives
from scripts.core.data.templates import CASES, parse_tsv, read_occupations, read_tsv
from scripts.core.errors import UserError, count_noun, did_you_mean

ANSWERS = ("occupation", "participant")
"""Whom a pronoun can mean."""
PRONOUN = "{pronoun}"
COLUMNS = ("occupation", "case", "answer", "double", "single", "second_reading")
READINGS = ("kept", "changed")
"""What the second reading of a sentence for ambiguity came to."""

OFFICIAL_COLUMNS = ("occupation(0)", "other-participant(1)", "answer", "pronoun_type", "template", "single_version")
WINOGENDER_COLUMNS = ("occupation(0)", "other-participant(1)", "answer", "sentence")
_PLACEHOLDERS = {"$NOM_PRONOUN": "nominative", "$ACC_PRONOUN": "accusative", "$POSS_PRONOUN": "possessive"}
# The password is printed in the authors' README; it keeps the templates out of corpora that are crawled as text.
_PASSWORD = b"vogelbeobachtung131719"
_MEMBER = "new_templates.tsv"


@dataclass(frozen=True)
class Template:
    """One sentence about two people with the slot ``{pronoun}``, and one about the person meant alone.

    ``answer`` is one of :data:`ANSWERS`; ``single`` is None in Winogender Schemas; ``row`` is its line in the file.
    """

    occupation: str
    participant: str
    case: str
    answer: str
    double: str
    single: str | None
    row: int

    @property
    def person(self) -> str:
        """The word for the person whom the pronoun means."""
        return getattr(self, self.answer)

    @property
    def prefix(self) -> str:
        """What precedes the pronoun in the sentence about two people."""
        return self.double.partition(PRONOUN)[0]


@dataclass(frozen=True)
class Templates:
    """One set, in file order; ``file`` is what messages and records call the file whose lines ``row`` counts.

    ``occupation_rows`` has the line of each occupation where the occupations have a file of their own.
    """

    name: str
    file: str
    rows: tuple
    occupations_file: str | None = None
    occupation_rows: dict = field(default_factory=dict)

    def origins(self) -> dict[str, str]:
        """Return which file each column of instances counts lines of (``scripts/core/provenance/origins.py``)."""
        archive, _, member = self.file.partition(":")
        named = {"template_row": Path(archive).name + (f":{member}" if member else "")}
        if self.occupations_file:
            named["occupation_row"] = Path(self.occupations_file).name
        return named


def read_replica(sentences: str | Path, occupations: str | Path) -> Templates:
    """Read this project's sentences.

    Args:
        sentences: Columns :data:`COLUMNS`; the case is one of ``CASES``, the answer one of :data:`ANSWERS`.
        occupations: Columns occupation, participant.

    Raises:
        UserError: If a file cannot be read, names an unknown word, or has no sentence for an occupation. Everything
            else that can be wrong is left to :func:`check`.
    """
    participants = read_occupations(occupations)
    rows = []
    for row, cells in read_tsv(sentences, COLUMNS):
        where = f"{sentences}, row {row}"
        occupation = _known(cells["occupation"], participants, "occupation", where)
        case = _known(cells["case"], CASES, "case", where)
        answer = _known(cells["answer"], ANSWERS, "answer", where)
        _known(cells["second_reading"], READINGS, "second reading", where)
        rows.append(Template(occupation, participants[occupation], case, answer, cells["double"], cells["single"], row))
    written = {template.occupation for template in rows}
    missing = next((occupation for occupation in participants if occupation not in written), None)
    if missing:
        raise UserError(f"{sentences}: has no sentence for the occupation '{missing}' of {occupations}; add six rows")
    lines = {cells["occupation"]: row for row, cells in read_tsv(occupations, ("occupation", "participant"))}
    return Templates("replica", str(sentences), tuple(rows), str(occupations), lines)


def read_official(archive: str | Path | bytes, password: bytes = _PASSWORD) -> Templates:
    """Read the authors' templates from their password-protected archive, in memory.

    Their sentences are never written in plain text: not to disk, not to logs, not into messages.

    Args:
        archive: ``data.zip`` of the authors' repository.
        password: As printed in the authors' README.

    Raises:
        UserError: If the archive is missing or damaged or has another password, or if a column, a case or an answer is
            unknown.
    """
    name = "data.zip" if isinstance(archive, bytes) else str(archive)
    (content,) = archives.zip_members(archive, [_MEMBER], password, name)
    file = f"{name}:{_MEMBER}"
    # Two columns without a name follow, with the authors' canary: a text of many thousand characters in the first row.
    width = len(OFFICIAL_COLUMNS)
    lines = [line.split("\t") for line in _decoded(content, file).split("\n")]
    text = "\n".join("\t".join(cells[:width] if any(cells) else []).removesuffix("\r") for cells in lines)
    rows = []
    for row, cells in parse_tsv(text, OFFICIAL_COLUMNS, file):
        case = _PLACEHOLDERS[_known(cells["pronoun_type"], _PLACEHOLDERS, "pronoun_type", f"{file}, row {row}")]
        rows.append(_published(cells, "template", case, cells["pronoun_type"], f"{file}, row {row}", row))
    return Templates("official", file, tuple(rows))


def read_winogender(path: str | Path) -> Templates:
    """Read the templates of Winogender Schemas, which have no sentences about one person.

    Args:
        path: ``data/templates.tsv`` of the repository of Winogender Schemas; WinoPron's authors have the same file in
            their archive.

    Raises:
        UserError: If the file cannot be read, or a row has no pronoun slot or an unknown answer.
    """
    rows = []
    for row, cells in read_tsv(path, WINOGENDER_COLUMNS):
        where = f"{path}, row {row}"
        slot = next((name for name in _PLACEHOLDERS if name in cells["sentence"]), None)
        if slot is None:
            raise UserError(f"{where}: has no slot for a pronoun; fetch the file again")
        rows.append(_published(cells, "sentence", _PLACEHOLDERS[slot], slot, where, row))
    return Templates("winogender", str(path), tuple(rows))


def _published(cells: dict, column: str, case: str, slot: str, where: str, row: int):
    occupation, participant = cells["occupation(0)"], cells["other-participant(1)"]
    answer = dict(zip("01", ANSWERS, strict=True))[_known(cells["answer"], ("0", "1"), "answer", where)]
    double: Any
    double, single = (
        text and text.replace("$OCCUPATION", occupation).replace("$PARTICIPANT", participant).replace(slot, PRONOUN)
        for text in (cells[column], cells.get("single_version"))
    )
    return Template(occupation, participant, case, answer, double, single, row)


def _decoded(content: bytes, file: str):
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: damaged, not UTF-8 text; delete it and fetch it again") from error


def _known(value: str, known: Collection[str], what: str, where: str):
    if value in known:
        return value
    hint = did_you_mean(value, known) or f"; expected one of {', '.join(known)}"
    raise UserError(f"{where}: unknown {what} '{value[:100]}'{hint}")


def _words_of(text: str):
    return frozenset(text.split())


OTHER_PRONOUNS = _words_of(
    "i me my mine myself you your yours yourself yourselves we us our ours ourselves themselves thou thee thy"
)
"""Personal pronouns beyond those of templates/pronouns.tsv. *It* means no person and may stay."""
AGREEING = _words_of("am is are was were has have does do isn't aren't wasn't weren't hasn't haven't doesn't don't")
"""Verb forms that differ between *he* and *they*."""
MODALS = _words_of("can could may might must shall should will would")
# Verbs whose simple past has no -ed, as far as templates use them; another one is added here.
_PAST = _words_of(
    "had did felt made got knew kept broke gave went ran found came saw took told thought left lost brought bought "
    "wore held said set put cut let spent taught caught heard met paid read sold sent slept stood won wrote"
)
_ADVERBS = _words_of("always already also just never often only once seldom still")
# What follows "her" so that nobody takes it for a possessive.
_AFTER_ACCUSATIVE = _words_of(
    "a an the another one two half enough more less no nothing what how to with without from for of in on at by into "
    "up down out off away against after before as about only almost hardly too not and"
)


def check(templates: Templates, pronouns: Mapping[str, dict], own: bool = True) -> None:
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
            "known here; write one, or add it to scripts/winopron/templates.py"
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
