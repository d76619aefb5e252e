"""Tasks for people: what they are asked, the sheets and pages that ask it, and the answers that come back.

A task is a *declaration* (YAML: title, instructions, questions; ``docs/annotation.md``) and a table of *items* with the
columns :data:`ITEM_COLUMNS`; both are kept in one Parquet file (:func:`write`, :func:`load`). Annotators get all items
in one random order, without the right answers, as a CSV sheet or as a page that runs in a browser. Answers are cells
of text, the same in a sheet and in the files that the page saves, and :func:`read` checks every one of them.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import config, files
from scripts.core.data.options import SLOT
from scripts.core.errors import UserError, count_noun

ITEM_COLUMNS = ("item_id", "group", "sentence", "question", "expected", "mark", "names")
"""The columns of items, all text. ``group``: what is right or wrong together, such as an instance; ``question``: what
is asked of this item alone; ``expected``: the right answer, where one is known; ``mark``: the characters that are
marked in the text (``12-15``, the end exclusive); ``names``: people to choose among (:func:`offered_people`). All but
the first and ``sentence`` may be empty."""
OPTIONAL = ("flag", "note")
"""Kinds of questions that need no answer: a box to tick and a free remark."""
NO_PERSON = "none"
"""The answer that no name of the text is that of the person, and its label."""
OTHER_PERSON = "other"
"""The label of highlights that are about none of the people to choose among."""
MOST_PROBLEMS = 20
"""Problems of a file that a message lists; of more it gives the number."""

_TEXT = {"type": "string", "minLength": 1}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "instructions", "questions"],
    "properties": {
        "title": _TEXT,
        "instructions": {"type": "array", "minItems": 1, "items": _TEXT},
        "examples": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "answer"],
                "properties": {"text": _TEXT, "answer": _TEXT},
            },
        },
        "questions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "kind", "column", "ask"],
                "properties": {
                    "id": {"type": "string", "pattern": "^[a-z_]+$", "description": "lower-case letters and _"},
                    "kind": {"enum": ["choice", "blank", "spans", "flag", "note"]},
                    "column": _TEXT,
                    "ask": _TEXT,
                    "options": {"type": "array", "minItems": 2, "uniqueItems": True, "items": _TEXT},
                    "accepted": _TEXT,
                    "scored": {"type": "boolean"},
                    "per_item": {"type": "boolean"},
                },
            },
        },
    },
}
"""What a declaration may hold. ``accepted``: the answer without which an item is rejected; ``scored``: whether the
items' ``expected`` is the right answer to this question; ``per_item``: asked only of items with a ``question``."""
_DATA_COLUMNS = ("Row", "Sentence", "Question", "Marked", "Names", "Task", "Annotator")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TOKEN = re.compile(r"['’]s\b|\w+(?:-\w+)*|\S")


def read_declaration(path: str | Path) -> dict:
    """Read the declaration of a task.

    Args:
        path: YAML as :data:`SCHEMA` says.

    Raises:
        UserError: Naming the key: what :data:`SCHEMA` forbids, a choice without options or another question with some,
            an accepted answer that is no option, two questions with one id or column, several blanks, several questions
            about names or several scored questions, none that needs an answer.
    """
    declaration = config.load_yaml(path)
    config.validate(declaration, SCHEMA, str(path))
    questions = declaration["questions"]
    for question in questions:
        where = f"{path}: the question '{question['id']}'"
        if (question["kind"] == "choice") != ("options" in question):
            raise UserError(f"{where} is of the kind {question['kind']}; give options to a choice and to no other kind")
        options = [option.lower() for option in question.get("options", ())]
        if len(set(options)) < len(options) or any(option != option.strip() for option in options):
            raise UserError(f"{where} has options that differ in capitals or blanks alone; reword one")
        if "accepted" in question and question["accepted"] not in question.get("options", ()):
            raise UserError(f"{where} accepts '{question['accepted']}', which is none of its options; correct it")
        if question["column"] in _DATA_COLUMNS:
            raise UserError(f"{where} has the column '{question['column']}', which sheets have already; rename it")
        if "accepted" in question and question.get("scored"):
            raise UserError(f"{where} is scored and has an accepted answer; remove one of the two keys")
    for what in ("id", "column"):
        values = [question[what] for question in questions]
        if len(set(values)) < len(values):
            raise UserError(f"{path}: two questions have the same {what}; rename one")
    for kind in ("blank", "spans"):
        if sum(question["kind"] == kind for question in questions) > 1:
            raise UserError(f"{path}: two questions are of the kind {kind}; a text has one at most")
    if sum(bool(question.get("scored")) for question in questions) > 1:
        raise UserError(f"{path}: two questions are scored, but items have one right answer; score one")
    if all(question["kind"] in OPTIONAL for question in questions):
        raise UserError(f"{path}: no question needs an answer; add a choice, a blank or spans")
    return declaration


@dataclass(frozen=True)
class Task:
    """A declaration and its items, checked (:func:`task`)."""

    declaration: dict
    items: pd.DataFrame

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The questions of the declaration, in order."""
        return self.declaration["questions"]

    @cached_property
    def digest(self) -> str:
        """What tells this task from every other one: of all that annotators see, in 16 hexadecimal digits."""
        shown = self.items.drop(columns="expected").sort_values("item_id").to_dict("records")
        written = json.dumps([self.declaration, shown], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    def has(self, kind: str) -> bool:
        """Tell whether a question is of this kind."""
        return any(question["kind"] == kind for question in self.questions)

    def order(self, seed: int) -> pd.DataFrame:
        """Return the items in the random order of a seed, which is the same for all annotators."""
        return self.items.iloc[np.random.default_rng(seed).permutation(len(self.items))].reset_index(drop=True)


def task(declaration: dict, items: pd.DataFrame, where: str = "items") -> Task:
    """Return a task, checked.

    Args:
        declaration: From :func:`read_declaration`.
        items: :data:`ITEM_COLUMNS`; columns that are missing are empty, and an empty ``group`` is the item itself.
        where: What messages start with.

    Raises:
        UserError: Naming the item: no id or text, an id that occurs twice, a right answer that annotators cannot give,
            a text without exactly one blank where one is to be filled, a mark outside the text, broken names.
    """
    if not len(items):
        raise UserError(f"{where}: there is nothing to ask; add an item")
    unknown = [name for name in items if name not in ITEM_COLUMNS]
    if unknown or "item_id" not in items or "sentence" not in items:
        problem = f"the column '{unknown[0]}' is unknown" if unknown else "a column item_id or sentence is missing"
        raise UserError(f"{where}: {problem}; the columns are {', '.join(ITEM_COLUMNS)}")
    items = items.reindex(columns=list(ITEM_COLUMNS)).astype(object)
    items = items.where(items.notna(), "").astype(str).reset_index(drop=True)
    items["group"] = items.group.where(items.group != "", items.item_id)
    if items.item_id.duplicated().any():
        raise UserError(
            f"{where}: the item '{items.item_id[items.item_id.duplicated()].iloc[0]}' occurs twice; rename one"
        )
    made = Task(declaration, items)
    for item in items.itertuples():
        if problem := _item_problem(made, item):
            raise UserError(f"{where}: the item '{item.item_id}' {problem}")
    return made


def _item_problem(made: Task, item: Any) -> str:
    if not item.item_id or not item.sentence.strip():
        return "has no id or no text; fill both in"
    if item.mark and _span(item.mark, item.sentence) is None:
        return f"marks '{item.mark}', which is no part of its text; write it as 12-15"
    try:
        offered_people(item)
    except (ValueError, TypeError, KeyError):
        return "has names that cannot be read; leave the cell empty or make the task again"
    if made.has("blank") and item.sentence.count(SLOT) != 1:
        return f"has {item.sentence.count(SLOT)} blanks in its text; write {SLOT} once"
    for question in made.questions:
        if question.get("scored") and item.expected:
            allowed = question.get("options") or ([*_keys(item), NO_PERSON] if question["kind"] == "spans" else None)
            if allowed and item.expected not in allowed:
                return f"expects '{item.expected}'; the right answer is one of {', '.join(allowed)}"
    return ""


def _span(cell: str, text: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"(\d+)-(\d+)", cell)
    if match is None:
        return None
    start, end = map(int, match.groups())
    return (start, end) if start < end <= len(text) else None


def offered_people(item: Any) -> list[dict]:
    """Return the people whom an item offers to choose among.

    Args:
        item: With ``names``: JSON as of :func:`find_people`, or names with semicolons between them.

    Returns:
        ``key`` (what the answer is called), ``name`` and ``spans``: where the text has the name.
    """
    if item.names.startswith("["):
        return [{key: person[key] for key in ("key", "name", "spans")} for person in json.loads(item.names)]
    names = [name.strip() for name in item.names.split(";") if name.strip()]
    return find_people(item.sentence, {name: name for name in names})


def _keys(item: Any) -> list[str]:
    return [person["key"] for person in offered_people(item)]


def find_people(text: str, names: dict[str, str], known: Iterable[tuple[str, int]] = ()) -> list[dict]:
    """Return people with all places where a text names them.

    Args:
        names: What the answer is called, to the name as it is in the text.
        known: Places that are known: what the answer is called, and where its name starts. Where two names overlap, the
            known place and then the longer name comes first.

    Returns:
        As of :func:`offered_people`.

    Raises:
        ValueError: If a name is not in the text.
    """
    taken = {key: [(start, start + len(names[key]))] for key, start in known}
    for key, name in sorted(names.items(), key=lambda entry: -len(entry[1])):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            if not any(start < match.end() and match.start() < end for spans in taken.values() for start, end in spans):
                taken.setdefault(key, []).append(match.span())
    missing = [name for key, name in names.items() if key not in taken]
    if missing:
        raise ValueError(f"'{missing[0]}' is not in the text")
    return [{"key": key, "name": name, "spans": [list(s) for s in sorted(taken[key])]} for key, name in names.items()]


def with_people(items: pd.DataFrame) -> pd.DataFrame:
    """Return items whose ``names`` are lists as of :func:`offered_people`, written as text."""
    return items.assign(names=[json.dumps(entry, ensure_ascii=False) for entry in items.names])


def write(path: str | Path, made: Task) -> None:
    """Write a task to one Parquet file: its items, and its declaration as metadata."""
    files.write_parquet(path, made.items, {"task": made.declaration})


def load(path: str | Path) -> Task:
    """Read a task that :func:`write` wrote; errors as in :func:`scripts.core.files.open_parquet`."""
    items = files.read_parquet(path, list(ITEM_COLUMNS))
    declaration = files.parquet_metadata(path).get("task")
    if declaration is None:
        raise UserError(f"{path}: has no declaration of a task; delete it and run the workflow again")
    return Task(declaration, items)


def sheet(made: Task, seed: int) -> pd.DataFrame:
    """Return the empty sheet for annotators.

    Args:
        seed: Of the order of the rows.

    Returns:
        ``Row`` (the item's id), ``Sentence``; ``Question``, ``Marked`` and ``Names`` where an item has any; an empty
        column for each question; ``Task``, which :func:`read` knows the task by. All cells are text.
    """
    mixed = made.order(seed)
    table = pd.DataFrame({"Row": mixed.item_id, "Sentence": mixed.sentence})
    if (mixed.question != "").any():
        table["Question"] = mixed.question
    if (mixed["mark"] != "").any():
        table["Marked"] = [_marked(item) for item in mixed.itertuples()]
    if (mixed.names != "").any():
        table["Names"] = [
            "; ".join(_words(person["name"]) for person in offered_people(item)) for item in mixed.itertuples()
        ]
    for question in made.questions:
        table[question["column"]] = ""
    return table.assign(Task=made.digest)


def _marked(item: Any) -> str:
    if not item.mark:
        return ""
    span = _span(item.mark, item.sentence)
    assert span is not None, "marks were checked when the items were read"
    start, end = span
    return f"{item.sentence[start:end]} (characters {item.mark})"


def page(made: Task, seed: int) -> dict:
    """Return what the page for annotators shows, as JSON-able values; right answers are left out.

    Returns:
        ``task`` (the digest), ``title``, ``instructions``, ``examples``, ``questions`` and ``items``, each with ``id``,
        ``text``, ``question``, ``mark`` (a pair of numbers or nothing), ``people`` and, where spans are asked for,
        ``tokens``: half-open ranges of characters, counted in code points.
    """
    shown = []
    for item in made.order(seed).itertuples():
        mark = _span(item.mark, item.sentence) if item.mark else None  # pyright: ignore[reportArgumentType]: it is text
        entry = {"id": item.item_id, "text": item.sentence, "question": item.question, "mark": mark}
        if made.has("spans"):
            entry["people"] = offered_people(item)
            cuts = {cut for person in entry["people"] for span in person["spans"] for cut in span} | set(mark or ())
            entry["tokens"] = tokens(item.sentence, cuts)  # pyright: ignore[reportArgumentType]: all cells are text
        shown.append(entry)
    kept = ("id", "kind", "column", "ask", "options", "per_item")
    return {
        "task": made.digest,
        "title": made.declaration["title"],
        "instructions": made.declaration["instructions"],
        "examples": made.declaration.get("examples", []),
        "questions": [{key: question[key] for key in kept if key in question} for question in made.questions],
        "items": shown,
    }


def tokens(text: str, cuts: Collection[int] = ()) -> list[tuple[int, int]]:
    """Return the words and marks of a text as half-open ranges of characters; none reaches over a cut.

    Examples:
        >>> tokens("Mrs. Kane's hat", cuts=[0, 9])
        [(0, 3), (3, 4), (5, 9), (9, 11), (12, 15)]
    """
    divided = []
    for match in _TOKEN.finditer(text):
        inside = sorted(cut for cut in cuts if match.start() < cut < match.end())
        ends = [match.start(), *inside, match.end()]
        divided += itertools.pairwise(ends)
    return divided


def read(path: str | Path, made: Task, annotator: str | None = None, partial: bool = False) -> pd.DataFrame:
    """Read what an annotator answered: a sheet (CSV), or a file that the page saved (JSON, or CSV as a sheet).

    Args:
        path: A name that ends in ``.json`` is read as JSON, every other one as a sheet
            (:func:`scripts.core.files.read_sheet`). Rows may be in any order.
        annotator: Who should have filled it in; a file that names somebody else is refused.
        partial: Whether this annotator was asked about some of the items only: rows without any answer, or that are not
            there, are then left out. Otherwise they are refused.

    Returns:
        ``item_id``, ``question``, ``answer`` (as it was given, without blanks and capitals), ``label`` (what is
        compared: the answer, of spans the person chosen), ``row`` (the line of the sheet; in JSON the place among the
        answers), in the order of items and questions.

    Raises:
        UserError: Naming file, row and remedy: answers to another task or of somebody else, an unknown or repeated id,
            another sentence or question than was asked, a cell without an answer or with one that cannot be, missing
            items.
    """
    records, owner, digests = _json_records(path, made) if str(path).endswith(".json") else _csv_records(path, made)
    for where, digest in digests:
        if digest != made.digest:
            raise UserError(
                f"{path}, {where}: was filled in for another task ({digest}; this one is {made.digest}): texts, "
                "questions or instructions differ; name the file of this task, or have the exported task filled in"
            )
    for where, name in owner:
        if annotator is not None and _person(name) != _person(annotator):
            raise UserError(
                f"{path}, {where}: was filled in by '{name}', not by '{annotator}'; correct the name or the file"
            )
    known = {item.item_id: item for item in made.items.itertuples()}
    problems, answered, seen = [], [], {}
    for number, where, cells in records:
        item = known.get(cells["Row"])
        if item is None:
            problems.append(f"{where}: the id '{cells['Row'][:100]}' was not asked about; restore it")
        elif item.item_id in seen:
            problems.append(f"{where}: the id '{item.item_id}' is in {seen[item.item_id]}; remove one")
        else:
            seen[item.item_id] = where
            if any(cells[name] != value for name, value in _shown(item).items() if name in cells):
                problems.append(f"{where}: sentence or question differ from what was asked; restore them")
            if partial and not any(cells[question["column"]].strip() for question in made.questions):
                continue
            for question in made.questions:
                try:
                    answer, label = parse(question, item, cells[question["column"]])
                except ValueError as error:
                    problems.append(f"{where}: {error}")
                else:
                    answered.append((item.item_id, question["id"], answer, label, number))
    absent = [name for name in known if name not in seen]
    if absent and not partial:
        problems.append(f"{count_noun(len(absent), 'row')} missing, the first is '{absent[0]}'; restore all rows")
    if not answered and not problems:
        problems.append("no row has an answer; fill some in or leave the file out")
    if problems:
        listed = problems[:MOST_PROBLEMS]
        if len(problems) > len(listed):
            listed.append(f"and {len(problems) - len(listed)} more")
        raise UserError(f"{path}: {count_noun(len(problems), 'problem')}: {'; '.join(listed)}")
    table = pd.DataFrame(answered, columns=["item_id", "question", "answer", "label", "row"])
    places = {name: place for place, name in enumerate(known)}
    return table.sort_values("item_id", key=lambda ids: ids.map(places), kind="stable").reset_index(drop=True)


def _person(name: str) -> str:
    return " ".join(name.split()).casefold()


def check_annotators(annotators: Iterable[str]) -> None:
    """Refuse two sheets of one annotator; names that differ in capitals or blanks alone are the same.

    Raises:
        UserError: Naming the annotator.
    """
    seen = set()
    for name in annotators:
        if _person(name) in seen:
            raise UserError(f"annotation: two sheets have the same annotator, '{name}'; name each once")
        seen.add(_person(name))


def _shown(item: Any) -> dict[str, str]:
    return {"Sentence": item.sentence, "Question": item.question}


def _csv_records(path: str | Path, made: Task):
    table = files.read_sheet(path, "Row")
    wanted = ["Row", "Sentence", *(["Question"] if (made.items.question != "").any() else [])]
    wanted += [question["column"] for question in made.questions]
    missing = [name for name in wanted if name not in table]
    if missing:
        raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; restore it")
    rows = zip(table.index, table.to_dict("records"), strict=True)
    records = [(number, f"row {number}", cells) for number, cells in rows]
    owner, digests = (
        [(where, cells[name]) for _, where, cells in records if cells.get(name)] for name in ("Annotator", "Task")
    )
    return records, owner, digests


def _json_records(path: str | Path, made: Task):
    content = _json(path)
    shapes = {"task": str, "annotator": str, "answers": dict}
    for name, kind in shapes.items():
        if not isinstance(content.get(name), kind):
            raise UserError(f"{path}: the key '{name}' is missing or broken; save the answers from the page again")
    records = []
    for number, (item_id, given) in enumerate(content["answers"].items(), 1):
        where = f"item '{item_id[:100]}'"
        given = given if isinstance(given, dict) else {"": ""}
        ids = [question["id"] for question in made.questions]
        unknown = [name for name, value in given.items() if name not in ids or not isinstance(value, str)]
        if unknown:
            raise UserError(
                f"{path}, {where}: the answer '{unknown[0]}' is broken; save the answers from the page again"
            )
        cells = {question["column"]: given.get(question["id"], "") for question in made.questions}
        records.append((number, where, {"Row": item_id, **cells}))
    return records, [("annotator", content["annotator"])], [("task", content["task"])]


def _json(path: str | Path) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise UserError(f"{path}: '{key[:100]}' is answered twice; save the answers from the page again")
        return dict(pairs)

    try:
        content = json.loads(files.read_text(path, "save the answers from the page again"), object_pairs_hook=once)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error}); save the answers from the page again") from error
    return content if isinstance(content, dict) else {}


def parse(question: dict, item: Any, cell: str) -> tuple[str, ...]:
    """Read one answer.

    Args:
        question: Of the declaration.
        cell: What was given.

    Returns:
        The answer as it was given, and its label: what is compared.

    Raises:
        ValueError: Saying what is wrong and what to enter.
    """
    column, given = question["column"], " ".join(cell.split())
    if question.get("per_item") and not item.question:
        if given:
            raise ValueError(f"'{given[:100]}' in '{column}', which this row does not ask; empty the cell")
        return "", ""
    if question["kind"] == "note":
        return given, ""
    if question["kind"] == "flag":
        if given.lower() not in ("", "yes", "no"):
            raise ValueError(f"'{given[:100]}' is no answer in '{column}'; enter yes or nothing")
        return (given.lower() or "no",) * 2
    reader = {"choice": _choice, "blank": _blank, "spans": _spans}[question["kind"]]
    remedy = {
        "choice": f"enter one of {', '.join(question.get('options', ()))}",
        "blank": "enter the one word that fills the blank",
        "spans": f"enter a name, several with semicolons, or {NO_PERSON}",
    }[question["kind"]]
    if not given:
        raise ValueError(f"has no answer in '{column}'; {remedy}")
    found = reader(question, item, given)
    if found is None:
        raise ValueError(f"'{given[:100]}' is no answer in '{column}'; {remedy}")
    return found


def _choice(question: dict[str, Any], _: Any, given: str) -> tuple[str, ...] | None:
    options = {option.lower(): option for option in question["options"]}
    return (options[given.lower()],) * 2 if given.lower() in options else None


def _blank(_: dict[str, Any], __: Any, given: str) -> tuple[str, ...] | None:
    return (given.lower(),) * 2 if _WORD.fullmatch(given) else None


def _spans(question: dict[str, Any], item: Any, given: str) -> tuple[str, ...] | None:
    if given.lower() == NO_PERSON:
        return NO_PERSON, NO_PERSON
    offered = offered_people(item)
    by_name = {_words(person["name"]).lower(): person for person in offered}
    spans = []
    for part in (part.strip() for part in given.split(";")):
        place, _, words = part.partition(" ")
        span = _span(place, item.sentence)
        if span is not None and (not words or words == _words(item.sentence[slice(*span)])):
            spans.append(span)
        elif part.lower() in by_name:
            spans.append(tuple(by_name[part.lower()]["spans"][0]))
        else:
            return None
    chosen = [
        person for person in offered
        if any(start < b and a < end for start, end in spans for a, b in person["spans"])
    ]  # fmt: skip
    if len(chosen) > 1:
        names = " and ".join(_words(person["name"]) for person in chosen)
        raise ValueError(f"'{given[:100]}' in '{question['column']}' is about {names}; keep one person")
    written = "; ".join(
        f"{start}-{end} {_words(item.sentence[start:end])}".strip() for start, end in sorted(set(spans))
    )
    return written, chosen[0]["key"] if chosen else OTHER_PERSON


def _words(text: str) -> str:
    """Return a piece of a text as it stands behind its place in an answer, where semicolons part the pieces."""
    return re.sub(r"[;\s]+", " ", text).strip()


def answers(made: Task, read_sheets: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every answer beside what was wanted.

    Args:
        read_sheets: Annotator to what :func:`read` returned.

    Returns:
        ``annotator``, ``item_id``, ``group``, ``sentence``, ``question``, ``answer``, ``label``, ``wanted`` (the right
        or the accepted answer; empty if none is known), ``right`` (missing where nothing is wanted) and ``row``.
    """
    table = pd.concat([read.assign(annotator=name) for name, read in read_sheets.items()], ignore_index=True)
    table = table.merge(made.items[["item_id", "group", "sentence", "expected"]], on="item_id")
    kinds = {question["id"]: question for question in made.questions}
    table["wanted"] = [
        (row.expected.lower() if kinds[row.question]["kind"] == "blank" else row.expected)
        if kinds[row.question].get("scored") and row.label
        else kinds[row.question].get("accepted", "")
        for row in files.rows(table)
    ]
    table["right"] = (table.label == table.wanted).astype(object).where(table.wanted != "", None)
    columns = ["annotator", "item_id", "group", "sentence", "question", "answer", "label", "wanted", "right", "row"]
    return table[columns]
