"""RUFF's narratives: templates, their constraints, and assembly of instances (Gautam et al. 2024).

Pure functions of the wing. Both template sets, the project's own replica and the authors' official one, become the
same :class:`Templates`, and everything after that is the same for both.

Assembly (section 3.2 and Appendix B; where the paper is silent, the order is that of the authors' generator, because
it decides what a seed draws):

- An instance is an introduction, ``n`` distractor sentences and a task sentence, all in the task's case, joined by one
  blank. The introduction is an explicit context template about the occupation, with the gold pronoun.
- The first distractor is an explicit template about the participant, with another pronoun, of the polarity opposite
  to the introduction's and with another theme. Later distractors are implicit templates with the pronoun and the
  polarity of the first one; its theme is out, the introduction's is in again; they are drawn without replacement, in
  every order.
- Context sentences get an initial capital; the task sentence stays as it is, with its slot ``___``. Blanks at the end
  of an official template stay, because they are part of the texts that were scored.
- Order of rows: task sentences in file order; introductions in file order; gold pronouns as configured; first
  distractors in file order; distractor pronouns as configured; permutations of the later distractors in lexicographic
  order of their positions. Every later item varies faster.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path

import numpy as np

from scripts.core import archives, instances
from scripts.core.errors import UserError, nearest
from scripts.core.options import SLOT
from scripts.core.templates import (
    CASES,
    FORMS,
    parse_tsv,
    read_occupations,
    read_pronouns,
    read_tsv,
    select_pronoun_sets,
)

STUDY = "ruff"
POLARITIES = ("negative", "positive")
THEMES = 5
"""Themes for each case; each has a negative and a positive template (section 3.1)."""
INTRODUCTIONS = THEMES * len(POLARITIES)
MAX_DISTRACTORS = THEMES
ORIGINS = ("task_row", "context_rows", "occupation_row", "pronoun_rows")
"""Columns of instances that say which lines of template files they were made from, as messages and editors count.

``context_rows`` are the introduction's and the distractors'; ``pronoun_rows`` those of all options."""
PRONOUN, PERSON = "{pronoun}", "{person}"

PLACEHOLDERS = {"nominative": "$NOM_PRONOUN", "accusative": "$ACC_PRONOUN", "possessive": "$POSS_PRONOUN"}
"""How the authors' files name the cases; samples sort by these names, for both template sets."""
_PERSON_PLACEHOLDER = "$OCCUPATION/PARTICIPANT"
# The password is printed in the authors' README; it keeps the templates out of corpora that are crawled as text.
_PASSWORD = b"vogelbeobachtung131719"
_CONTEXT_MEMBER, _TASK_MEMBER = "data/context.tsv", "data/task.tsv"


@dataclass(frozen=True)
class Task:
    """A task sentence with the slot ``{pronoun}``; ``where`` names file and row, ``row`` is its line there."""

    occupation: str
    participant: str
    case: str
    sentence: str
    where: str
    row: int


@dataclass(frozen=True)
class Context:
    """A context template in its explicit form (``{person}``, ``{pronoun}``) and its implicit one (``{pronoun}``)."""

    case: str
    theme: str
    polarity: str
    explicit: str
    implicit: str
    where: str
    row: int


@dataclass(frozen=True)
class Templates:
    """One template set: ``tasks`` in file order and ``contexts`` (case to templates, in file order).

    ``occupation_rows`` and ``pronoun_rows`` have the line of each occupation and pronoun set in their files; the
    official set has no file of occupations.
    """

    name: str
    tasks: tuple
    contexts: dict
    task_file: str
    context_file: str
    occupations_file: str | None = None
    occupation_rows: dict = field(default_factory=dict)
    pronouns_file: str | None = None
    pronoun_rows: dict = field(default_factory=dict)

    def origins(self):
        """Return which file each of :data:`ORIGINS` counts lines of (:func:`scripts.core.provenance.origins.read`).

        Returns
        -------
        dict of str to str
            Column to the file's name; one in an archive is named behind its archive and a colon.
        """
        paths = (self.task_file, self.context_file, self.occupations_file, self.pronouns_file)
        return {
            column: ":".join([Path(path.partition(":")[0]).name, *path.split(":")[1:]])
            for column, path in zip(ORIGINS, paths, strict=True)
            if path
        }


# Reading ----------------------------------------------------------------------------------------------------------


def load(pronouns, pronoun_sets, *, task=None, context=None, occupations=None, archive=None):
    """Read, check and return the template set and the configured pronoun sets of a job.

    Parameters
    ----------
    pronouns : str
        Path of pronouns.tsv.
    pronoun_sets : sequence of str
    task, context, occupations : str, optional
        Paths of the replica's files.
    archive : str, optional
        Path of the authors' archive; given alone it selects the official set.

    Returns
    -------
    (Templates, dict)

    Raises
    ------
    UserError
        For the first problem of the template set (:func:`check`; the official set has only to be usable).
    """
    sets = select_pronoun_sets(read_pronouns(pronouns), pronoun_sets)
    if archive is not None:
        templates = read_official(archive)
        problems = unusable(templates)
    elif None in (task, context, occupations):
        raise UserError("no templates are given; give either archive, or task, context and occupations")
    else:
        templates = read_replica(task, context, occupations)
        problems = check(templates, sets)
    if problems:
        more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
        raise UserError(f"{problems[0]}{more}")
    rows = {cells["set"]: row for row, cells in read_tsv(pronouns, ("set", *FORMS))}
    return replace(templates, pronouns_file=str(pronouns), pronoun_rows=rows), sets


def read_replica(task_path, context_path, occupations_path):
    """Read this project's template files.

    Parameters
    ----------
    task_path : str or Path
        Columns occupation, case, sentence.
    context_path : str or Path
        Columns case, theme, polarity, explicit, implicit.
    occupations_path : str or Path
        Columns occupation, participant.

    Returns
    -------
    Templates

    Raises
    ------
    UserError
        If a file cannot be read or names an unknown case, polarity or occupation. Everything else that can be wrong
        is found by :func:`check`.
    """
    participants = read_occupations(occupations_path)
    tasks = []
    for row, cells in read_tsv(task_path, ("occupation", "case", "sentence")):
        where = f"{task_path}, row {row}"
        occupation = _known(cells["occupation"], participants, "occupation", where)
        case = _known(cells["case"], CASES, "case", where)
        tasks.append(Task(occupation, participants[occupation], case, cells["sentence"], where, row))
    missing = sorted(set(participants) - {t.occupation for t in tasks})
    if missing:
        raise UserError(f"{task_path}: has no sentence for the occupation '{missing[0]}' of {occupations_path}; add it")
    contexts = {case: [] for case in CASES}
    for row, cells in read_tsv(context_path, ("case", "theme", "polarity", "explicit", "implicit")):
        where = f"{context_path}, row {row}"
        case = _known(cells["case"], CASES, "case", where)
        polarity = _known(cells["polarity"], POLARITIES, "polarity", where)
        contexts[case].append(Context(case, cells["theme"], polarity, cells["explicit"], cells["implicit"], where, row))
    contexts = {case: tuple(rows) for case, rows in contexts.items()}
    rows = {cells["occupation"]: row for row, cells in read_tsv(occupations_path, ("occupation", "participant"))}
    files = (str(task_path), str(context_path), str(occupations_path))
    return Templates("replica", tuple(tasks), contexts, *files, rows)


def _known(value, known, what, where):
    if value in known:
        return value
    hint = nearest(value, known) or f"; expected one of {', '.join(known)}"
    raise UserError(f"{where}: unknown {what} '{value}'{hint}")


def read_official(archive):
    """Read the authors' templates from their password-protected archive, in memory.

    Their sentences are never written in plain text: not to disk, not to logs, not into messages.

    Parameters
    ----------
    archive : str, Path or bytes
        ``data.zip`` of the authors' repository.

    Returns
    -------
    Templates
        Themes are numbered 1-5 within case and polarity, as in Appendix B.

    Raises
    ------
    UserError
        If the archive is missing or damaged, has another password, or lacks a file or a column.
    """
    name = "data.zip" if isinstance(archive, bytes) else str(archive)
    context_text, task_text = _members(archive, name)
    contexts = {case: [] for case in CASES}
    by_placeholder = {placeholder: case for case, placeholder in PLACEHOLDERS.items()}
    columns = ("pronoun_type", "polarity", "explicit_template", "implicit_template")
    for row, cells in parse_tsv(context_text, columns, f"{name}:{_CONTEXT_MEMBER}", exact=False):
        where = f"{name}:{_CONTEXT_MEMBER}, row {row}"
        placeholder = _known(cells["pronoun_type"], by_placeholder, "pronoun_type", where)
        case = by_placeholder[placeholder]
        polarity = _known(cells["polarity"], POLARITIES, "polarity", where)
        theme = str(sum(c.polarity == polarity for c in contexts[case]) + 1)
        explicit, implicit = (
            cells[f"{form}_template"].replace(placeholder, PRONOUN).replace(_PERSON_PLACEHOLDER, PERSON)
            for form in ("explicit", "implicit")
        )
        contexts[case].append(Context(case, theme, polarity, explicit, implicit, where, row))
    tasks = []
    columns = ("occupation", "participant", "sentence", "pronoun_type")
    for row, cells in parse_tsv(task_text, columns, f"{name}:{_TASK_MEMBER}", exact=False):
        where = f"{name}:{_TASK_MEMBER}, row {row}"
        placeholder = _known(cells["pronoun_type"], by_placeholder, "pronoun_type", where)
        sentence = cells["sentence"].replace(placeholder, PRONOUN)
        case = by_placeholder[placeholder]
        tasks.append(Task(cells["occupation"], cells["participant"], case, sentence, where, row))
    contexts = {case: tuple(rows) for case, rows in contexts.items()}
    return Templates("official", tuple(tasks), contexts, f"{name}:{_TASK_MEMBER}", f"{name}:{_CONTEXT_MEMBER}")


def _members(archive, name):
    found = archives.zip_members(archive, (_CONTEXT_MEMBER, _TASK_MEMBER), _PASSWORD, name)
    try:
        return [content.decode("utf-8") for content in found]
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: damaged, a member is not UTF-8 text; delete it and fetch it again") from error


# Checking ---------------------------------------------------------------------------------------------------------


def _words(*lines):
    return frozenset(" ".join(lines).split())


GENDERED = _words(
    "man woman men women boy girl boys girls gentleman lady gentlemen ladies guy guys lad lass mister sir madam",
    "father mother fathers mothers dad mom mum son daughter sons daughters brother sister brothers sisters",
    "husband wife husbands wives uncle aunt nephew niece grandfather grandmother king queen male female",
    "waiter waitress actor actress mr mrs ms",
)
THIRD_PERSON = _words(
    "he him his himself she her hers herself they them their theirs themself themselves xe xem xyr xyrs xemself",
    "ze zir zirs zirself hir hirs hirself",
)
AGREEMENT_TRAPS = _words(
    "is was are were am has have does do isn't wasn't aren't weren't hasn't haven't doesn't don't",
    "need want say know think go make take work get give find keep feel look use see come like love live ve re",
)
"""Words that agree with *he* and not with *they*, or the other way round (``ve``: as in ``{pronoun}'ve``)."""
_ADVERBS = _words(
    "always sometimes perhaps afterwards besides nowadays often never ever also still just soon already now then",
    "once again almost",
)
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")


def check(templates, pronouns=None):
    """Check every structural constraint of sections 3.1-3.2 and Appendix B that a program can see.

    Grammaticality, coherence and an unambiguous antecedent need a reader; this finds what does not. Agreement is
    checked at the first word after a nominative slot that is not an adverb: forms of to be, to have and to do, common
    verbs in the bare present, and every other word in -s.

    Parameters
    ----------
    templates : Templates
    pronouns : dict, optional
        Pronoun sets (:func:`scripts.core.templates.read_pronouns`), whose forms must not stand in a template.

    Returns
    -------
    list of str
        One line for each problem: file, row, and the rule that is broken. No line quotes a sentence.
    """
    forms = THIRD_PERSON | {form for forms in (pronouns or {}).values() for form in forms.values()}
    problems = unusable(templates)
    for task in templates.tasks:
        problems += [f"{task.where}: {problem}" for problem in _task_problems(task, forms)]
    problems += _missing_cases(templates)
    for contexts in templates.contexts.values():
        for context in contexts:
            for form in ("explicit", "implicit"):
                sentence = getattr(context, form)
                found = _sentence_problems(sentence, context.case, forms)
                if form == "explicit" and not sentence.startswith(f"The {PERSON}"):
                    found.append(f"must begin with 'The {PERSON}'")
                problems += [f"{context.where}: the {form} sentence {problem}" for problem in found]
    sentences = [(t.sentence, t.where) for t in templates.tasks]
    sentences += [(s, c.where) for rows in templates.contexts.values() for c in rows for s in (c.explicit, c.implicit)]
    first = {}
    for sentence, where in sentences:
        if sentence in first:
            problems.append(f"{where}: repeats the sentence of {first[sentence]}; write another one")
        first.setdefault(sentence, where)
    return problems


def unusable(templates):
    """Return only the problems that keep instances from being made, in the form of :func:`check`."""
    problems = []
    seen = {}
    for task in templates.tasks:
        problems += [f"{task.where}: the sentence {p}" for p in _slot_problems(task.sentence, PRONOUN, 1)]
        problems += [f"{task.where}: the sentence {p}" for p in _slot_problems(task.sentence, PERSON, 0)]
        key = (task.occupation, task.case)
        if key in seen:
            problems.append(f"{task.where}: '{task.occupation}' has a {task.case} sentence in {seen[key]} already")
        seen.setdefault(key, task.where)
    if not templates.tasks:
        problems.append(f"{templates.task_file}: has no task sentence; add one for each occupation and case")
    for case, contexts in templates.contexts.items():
        expected = [polarity for polarity in POLARITIES for _ in range(THEMES)]
        if [c.polarity for c in contexts] != expected:
            counts = Counter(c.polarity for c in contexts)
            problems.append(
                f"{templates.context_file}: the {case} case has {counts['negative']} negative and "
                f"{counts['positive']} positive rows; expected {THEMES} negative ones, then {THEMES} positive ones"
            )
            continue
        themes = [c.theme for c in contexts]
        if len(set(themes)) != THEMES or themes[:THEMES] != themes[THEMES:]:
            problems.append(
                f"{contexts[0].where}: the {case} case must have {THEMES} different themes, "
                "in the same order for both polarities"
            )
    for contexts in templates.contexts.values():
        for context in contexts:
            for form, people in (("explicit", 1), ("implicit", 0)):
                sentence = getattr(context, form)
                found = _slot_problems(sentence, PRONOUN, 1) + _slot_problems(sentence, PERSON, people)
                problems += [f"{context.where}: the {form} sentence {problem}" for problem in found]
    return problems


def _slot_problems(sentence, slot, expected):
    count = sentence.count(slot)
    if count == expected:
        return []
    return [f"must hold {slot} {'exactly once' if expected else 'nowhere'}, it has {count}"]


def _missing_cases(templates):
    cases = {}
    for task in templates.tasks:
        cases.setdefault(task.occupation, set()).add(task.case)
    return [
        f"{templates.task_file}: the occupation '{occupation}' has no {case} sentence; add one"
        for occupation, found in cases.items()
        for case in CASES
        if case not in found
    ]


def _task_problems(task, forms):
    problems = []
    if not task.sentence.startswith("The "):
        problems.append("must start with 'The'")
    named = len(re.findall(rf"\b{re.escape(task.occupation)}\b", task.sentence, re.IGNORECASE))
    if named != 1:
        problems.append(f"must name the occupation '{task.occupation}' exactly once, it does so {named} times")
    if task.sentence.startswith(PRONOUN):
        problems.append("must not start with the slot")
    return [f"the sentence {p}" for p in problems + _sentence_problems(task.sentence, task.case, forms)]


def _sentence_problems(sentence, case, forms):
    problems = []
    if sentence != sentence.strip() or "  " in sentence or any(c.isspace() and c != " " for c in sentence):
        problems.append("has a blank at its start or end, a double blank or a tab")
    if not sentence.rstrip().endswith("."):
        problems.append("must end with a full stop")
    if SLOT in sentence or re.search(r"[{}]", sentence.replace(PRONOUN, "").replace(PERSON, "")):
        problems.append(f"has a brace or {SLOT} besides {PRONOUN} and {PERSON}")
    words = [word.lower() for word in _WORD.findall(sentence.replace(PRONOUN, " ").replace(PERSON, " "))]
    stems = {word.replace("’", "'").split("'")[0] for word in words} | set(words)
    problems += [f"has the pronoun '{word}' besides its slot" for word in sorted(stems & forms)]
    problems += [f"has the gendered word '{word}'" for word in sorted(stems & GENDERED)]
    _, slot, after = sentence.partition(PRONOUN)
    if slot and case == "nominative":
        trap = _trap(after)
        if trap:
            problems.append(f"has '{trap}' after the slot, which does not agree with every pronoun set")
    if slot and case == "possessive" and not re.match(r" [A-Za-z]", after):
        problems.append("must go on with a word after the possessive slot")
    return problems


def _trap(after):
    """Return the first word after a nominative slot that is not an adverb, if it cannot follow every pronoun."""
    for match in _WORD.findall(after):
        word = match.lower().replace("’", "'")
        if word in _ADVERBS or word.endswith("ly"):
            continue
        return word if word in AGREEMENT_TRAPS or (word.endswith("s") and not word.endswith("ss")) else None
    return None


# Assembling -------------------------------------------------------------------------------------------------------


def count(n_distractors, n_sets, n_tasks=180):
    """Return the number of instances of a full set (Table 1: 7,200 to 2,073,600 with four sets).

    Parameters
    ----------
    n_distractors : int
        0 to 5.
    n_sets, n_tasks : int
        Pronoun sets and task sentences.
    """
    return n_tasks * math.prod(_radices(n_distractors, n_sets))


def _radices(n_distractors, n_sets):
    """Numbers of choices below a task: introduction, gold and, with distractors, template, pronoun, permutation."""
    if not 0 <= n_distractors <= MAX_DISTRACTORS:
        raise UserError(f"ruff.distractors: {n_distractors} distractors are not possible; use 0 to {MAX_DISTRACTORS}")
    if not n_distractors:
        return (INTRODUCTIONS, n_sets)
    return (INTRODUCTIONS, n_sets, THEMES - 1, n_sets - 1, math.perm(THEMES - 1, n_distractors - 1))


class Narratives:
    """All instances of one template set and one list of pronoun sets, addressed by their row in generation order.

    Parameters
    ----------
    templates : Templates
    sets : dict
        The configured pronoun sets (:func:`scripts.core.templates.select_pronoun_sets`).
    """

    def __init__(self, templates, sets):
        self.templates = templates
        self.sets = list(sets)
        self.forms = {case: [forms[case] for forms in sets.values()] for case in CASES}

    def count(self, n_distractors):
        """Return the number of rows of the full set."""
        return count(n_distractors, len(self.sets), len(self.templates.tasks))

    def table(self, n_distractors, rows):
        """Return the instances at ``rows`` of the full set in generation order.

        Parameters
        ----------
        n_distractors : int
        rows : ndarray of int, shape (k,)

        Returns
        -------
        pyarrow.RecordBatch
            ``k`` rows with :func:`schema`.
        """
        import pyarrow as pa

        codes = self._decode(n_distractors, np.asarray(rows, dtype=np.int64))
        parts = self._sentences(codes)
        case = self._task_cases[codes["task"]]
        gold = case * len(self.sets) + codes["gold"]
        columns = {
            "instance_id": self._ids(parts, case, gold),
            "text": _join(parts),
            "options": self._options(case),
            "gold": _dictionary(self._flat_forms, gold),
            **self._task_columns(codes["task"], case),
            "pronoun": _dictionary(self.sets, codes["gold"]),
            "distractor_pronoun": _dictionary(self.sets, codes.get("distractor"), len(rows)),
            "n_distractors": pa.array(np.full(len(rows), n_distractors, dtype=np.int8)),
            "task_index": pa.array(codes["task"].astype(np.int16)),
            "introduction_index": pa.array(codes["introduction"].astype(np.int8)),
            "distractor_indices": _lists(codes["indices"]),
            "polarity": _dictionary(POLARITIES, codes["introduction"] // THEMES),
            **self._origin_columns(codes["task"], np.column_stack([codes["introduction"], codes["indices"]])),
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema())

    def context_free(self):
        """Return the task sentences without context, one row each, as a table with :func:`sample_schema`."""
        import pyarrow as pa

        tasks = np.arange(len(self.templates.tasks))
        case = self._task_cases
        columns = {
            "instance_id": self._ids([(self._task_sentences, tasks)], case, None),
            "text": _join([(self._task_sentences, tasks)]),
            "options": self._options(case),
            **self._task_columns(tasks, case),
            "task_index": pa.array(tasks.astype(np.int16)),
            **self._origin_columns(tasks, np.zeros((len(tasks), 0), dtype=np.int64)),
        }
        kinds = sample_schema()
        arrays = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(tasks), field.type)
            for field in kinds
        ]
        return pa.Table.from_arrays(arrays, schema=kinds)

    def full(self, n_distractors, rows_per_batch=115_200):
        """Yield the full set in generation order, in batches of about ``rows_per_batch`` rows."""
        total = self.count(n_distractors)
        for start in range(0, total, rows_per_batch):
            yield self.table(n_distractors, np.arange(start, min(start + rows_per_batch, total)))

    def sample(self, n_distractors, seed):
        """Draw the sample of one seed without making the full set (section 3.2).

        The rows are those of ``full.groupby([occupation, case, gold, distractor form]).sample(n=k,
        random_state=seed)`` in pandas, in the same order: groups sorted by occupation, the authors' name of the case
        (:data:`PLACEHOLDERS`), gold form and, with distractors, distractor form; in each group ``k`` rows by
        ``RandomState(seed).choice`` without replacement from the rows in generation order. With P pronoun sets,
        ``k`` is 1 with distractors and P - 1 without, so that every sample has P (P - 1) rows for each task sentence:
        2,160 with four sets.

        Returns
        -------
        pyarrow.Table
            With :func:`sample_schema`.

        Raises
        ------
        UserError
            If there are more pronoun sets than a group without distractors has rows to draw.
        """
        import pyarrow as pa

        rows = self.sample_rows(n_distractors, seed)
        table = pa.Table.from_batches([self.table(n_distractors, rows)])
        kinds = sample_schema()
        columns = [table[name].combine_chunks().cast(kinds.field(name).type) for name in table.column_names]
        columns.append(pa.array(np.full(len(rows), seed, dtype=np.int64)))
        return pa.Table.from_arrays(columns, schema=kinds)

    def sample_rows(self, n_distractors, seed):
        """Return the rows of the full set that :meth:`sample` draws, in its order."""
        sets = len(self.sets)
        introductions, _, *below = _radices(n_distractors, sets)
        per_group = 1 if n_distractors else sets - 1
        templates, distractors, permuted = below or (1, 1, 1)
        size = introductions * templates * permuted
        if per_group > size:
            raise UserError(
                f"pronoun_sets: {sets} sets need {per_group} different introductions in each sample and there are "
                f"{size}; configure at most {size + 1} sets"
            )
        groups = []
        for index, task in enumerate(self.templates.tasks):
            forms = self.forms[task.case]
            for gold, form in enumerate(forms):
                key = (task.occupation, PLACEHOLDERS[task.case], form)
                if not n_distractors:
                    groups.append((key, index, gold, 0))
                    continue
                others = [other for i, other in enumerate(forms) if i != gold]
                groups += [((*key, other), index, gold, i) for i, other in enumerate(others)]
        groups.sort(key=lambda group: group[0])
        random = np.random.RandomState(seed)
        drawn = np.concatenate([random.choice(size, size=per_group, replace=False) for _ in groups])
        task, gold, distractor = np.repeat(np.array([group[1:] for group in groups]), per_group, axis=0).T
        rest, permutation = np.divmod(drawn, permuted)
        introduction, template = np.divmod(rest, templates)
        row = (task * introductions + introduction) * sets + gold
        return ((row * templates + template) * distractors + distractor) * permuted + permutation

    # What follows turns row numbers into codes and codes into columns; repeated texts are made once and taken.

    def _decode(self, n_distractors, rows):
        """Return the choices behind each row; ``indices`` has shape (rows, n_distractors)."""
        radices = _radices(n_distractors, len(self.sets))
        digits = []
        for radix in reversed(radices):
            rows, digit = np.divmod(rows, radix)
            digits.append(digit)
        introduction, gold, *below = reversed(digits)
        codes = {"task": rows, "introduction": introduction, "gold": gold}
        if not below:
            return codes | {"indices": np.zeros((len(rows), 0), dtype=np.int8)}
        template, distractor, permutation = below
        theme = introduction % THEMES
        # Skipping an item of a list: the j-th of the others is j, or j + 1 from the skipped one on.
        first = template + (template >= theme)
        later = np.array(list(permutations(range(THEMES - 1), n_distractors - 1)), dtype=np.int64)[permutation]
        later += later >= first[:, None]
        offset = THEMES * (1 - introduction // THEMES)
        indices = np.concatenate([first[:, None], later], axis=1) + offset[:, None]
        return codes | {"distractor": distractor + (distractor >= gold), "indices": indices.astype(np.int8)}

    def _sentences(self, codes):
        """Return (distinct sentences, codes) for each sentence of the text, in order."""
        sets = len(self.sets)
        case = self._task_cases[codes["task"]]
        parts = [(self._introductions, (codes["task"] * INTRODUCTIONS + codes["introduction"]) * sets + codes["gold"])]
        for position in range(codes["indices"].shape[1]):
            index = codes["indices"][:, position]
            if position == 0:
                row = (codes["task"] * INTRODUCTIONS + index) * sets + codes["distractor"]
                parts.append((self._first_distractors, row))
            else:
                parts.append((self._implicit, (case * INTRODUCTIONS + index) * sets + codes["distractor"]))
        return [*parts, (self._task_sentences, codes["task"])]

    def _ids(self, parts, case, gold):
        columns = [(instances.digests([STUDY]), None)]
        columns += [(sentences.digests, codes) for sentences, codes in parts]
        columns.append((instances.digests("|".join(self.forms[c]) for c in CASES), case))
        gold = (instances.digests([""]), None) if gold is None else (instances.digests(self._flat_forms), gold)
        return instances.hexadecimal(instances.content_ids([*columns, gold]))

    def _options(self, case):
        return _lists(np.arange(len(self.sets)) + case[:, None] * len(self.sets), self._flat_forms)

    def _task_columns(self, task, case):
        return {
            "case": _dictionary(CASES, case),
            "occupation": _dictionary([t.occupation for t in self.templates.tasks], task),
            "participant": _dictionary([t.participant for t in self.templates.tasks], task),
        }

    def _origin_columns(self, task, contexts):
        """Return :data:`ORIGINS` for tasks and for positions among the contexts of their case, one list a row."""
        import pyarrow as pa

        tasks = self.templates.tasks
        known = self.templates.occupation_rows
        occupation = pa.array([known.get(t.occupation) for t in tasks], pa.int16())
        lines = np.array([[c.row for c in self.templates.contexts[case]] for case in CASES], dtype=np.int16)
        columns = (
            pa.array(np.array([t.row for t in tasks], dtype=np.int16)[task]),
            _lists(lines[self._task_cases[task][:, None], contexts]),
            occupation.take(pa.array(task)),
            _lists(np.tile(np.array([self.templates.pronoun_rows[s] for s in self.sets], np.int16), (len(task), 1))),
        )
        return dict(zip(ORIGINS, columns, strict=True))

    @cached_property
    def _flat_forms(self):
        return [form for case in CASES for form in self.forms[case]]

    @cached_property
    def _task_cases(self):
        return np.array([CASES.index(task.case) for task in self.templates.tasks])

    @cached_property
    def _task_sentences(self):
        return _Sentences(task.sentence.replace(PRONOUN, SLOT) for task in self.templates.tasks)

    @cached_property
    def _introductions(self):
        return self._explicit("occupation")

    @cached_property
    def _first_distractors(self):
        return self._explicit("participant")

    def _explicit(self, role):
        return _Sentences(
            _context_sentence(context.explicit, form, getattr(task, role))
            for task in self.templates.tasks
            for context in self.templates.contexts[task.case]
            for form in self.forms[task.case]
        )

    @cached_property
    def _implicit(self):
        return _Sentences(
            _context_sentence(context.implicit, form)
            for case in CASES
            for context in self.templates.contexts[case]
            for form in self.forms[case]
        )


class _Sentences:
    """Distinct sentences: as an Arrow array for texts, as digests for ids."""

    def __init__(self, sentences):
        import pyarrow as pa

        sentences = list(sentences)
        self.array = pa.array(sentences, pa.string())
        self.digests = instances.digests(sentences)


def _context_sentence(template, form, person=""):
    sentence = template.replace(PERSON, person).replace(PRONOUN, form)
    return sentence[:1].upper() + sentence[1:]


def _join(parts):
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [sentences.array.take(pa.array(codes)) for sentences, codes in parts]
    return pc.binary_join_element_wise(*columns, " ")


def _dictionary(values, codes, rows=None):
    """Return a dictionary array of ``values[codes]``; with ``codes`` of None, ``rows`` nulls."""
    import pyarrow as pa

    values = list(values)
    if codes is None:
        return pa.DictionaryArray.from_arrays(pa.nulls(rows, pa.int16()), pa.array(values))
    distinct = list(dict.fromkeys(values))
    if len(distinct) < len(values):
        codes = np.array([distinct.index(value) for value in values])[codes]
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int16)), pa.array(distinct))


def _lists(codes, values=None):
    """Return a list array with one list for each row of ``codes``, of its own whole numbers or of ``values[codes]``."""
    import pyarrow as pa

    rows, length = codes.shape
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * length)
    flat = codes.reshape(-1)
    return pa.ListArray.from_arrays(offsets, pa.array(flat) if values is None else _dictionary(values, flat))


def schema():
    """Return the Arrow schema of full sets; on disk dictionaries become plain columns."""
    import pyarrow as pa

    word = pa.dictionary(pa.int16(), pa.string())
    return pa.schema(
        {
            "instance_id": pa.string(),
            "text": pa.string(),
            "options": pa.list_(word),
            "gold": word,
            "case": word,
            "occupation": word,
            "participant": word,
            "pronoun": word,
            "distractor_pronoun": word,
            "n_distractors": pa.int8(),
            "task_index": pa.int16(),
            "introduction_index": pa.int8(),
            "distractor_indices": pa.list_(pa.int8()),
            "polarity": word,
            "task_row": pa.int16(),
            "context_rows": pa.list_(pa.int16()),
            "occupation_row": pa.int16(),
            "pronoun_rows": pa.list_(pa.int16()),
        }
    )


def sample_schema():
    """Return the Arrow schema of samples, context-free and selected instances: plain, with a last column ``seed``."""
    import pyarrow as pa

    plain = [
        pa.field(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type)
        for f in schema()
        if f.name != "options"
    ]
    plain.insert(2, pa.field("options", pa.list_(pa.string())))
    return pa.schema([*plain, pa.field("seed", pa.int64())])
