"""RUFF's templates (Gautam et al. 2024): task sentences and context templates, read from files.

Both template sets, the project's own replica and the authors' official one, become the same :class:`Templates`, and
everything after that is the same for both.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from scripts.core.data import archives
from scripts.core.data.templates import CASES, line_numbers, parse_tsv, read_frame, read_occupations
from scripts.core.errors import UserError, did_you_mean

POLARITIES = ("negative", "positive")
THEMES = 5
"""Themes for each case; each has a negative and a positive template (section 3.1)."""
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

    def origins(self) -> dict[str, str]:
        """Return which file each of :data:`ORIGINS` counts lines of (:mod:`scripts.core.provenance.origins`).

        Returns:
            Column to the file's name; one in an archive is named behind its archive and a colon.
        """
        paths = (self.task_file, self.context_file, self.occupations_file, self.pronouns_file)
        return {
            column: ":".join([Path(path.partition(":")[0]).name, *path.split(":")[1:]])
            for column, path in zip(ORIGINS, paths, strict=True)
            if path
        }


def read_replica(task_path: str | Path, context_path: str | Path, occupations_path: str | Path) -> Templates:
    """Read this project's template files.

    Args:
        task_path: Columns occupation, case, sentence.
        context_path: Columns case, theme, polarity, explicit, implicit.
        occupations_path: Columns occupation, participant.

    Raises:
        UserError: If a file cannot be read or names an unknown case, polarity or occupation. Everything else that can
            be wrong is left to :func:`scripts.ruff.check_templates.find_problems`.
    """
    participants = read_occupations(occupations_path)
    task_levels = {"occupation": participants, "case": CASES}
    tasks = read_frame(task_path, ("occupation", "case", "sentence"), levels=task_levels)
    missing = sorted(set(participants) - set(tasks.occupation))
    if missing:
        raise UserError(f"{task_path}: has no sentence for the occupation '{missing[0]}' of {occupations_path}; add it")
    columns, levels = ("case", "theme", "polarity", "explicit", "implicit"), {"case": CASES, "polarity": POLARITIES}
    contexts = read_frame(context_path, columns, levels=levels)
    return Templates(
        "replica",
        tuple(
            Task(occupation, participants[occupation], case, sentence, f"{task_path}, row {row}", row)
            for row, occupation, case, sentence in tasks.itertuples(name=None)
        ),
        {
            case: tuple(
                Context(*cells, where=f"{context_path}, row {row}", row=row)
                for row, *cells in contexts[contexts.case == case].itertuples(name=None)
            )
            for case in CASES
        },
        str(task_path),
        str(context_path),
        str(occupations_path),
        line_numbers(occupations_path, ("occupation", "participant")),
    )


def _known(value: str, known: Collection[str], what: str, where: str):
    if value in known:
        return value
    hint = did_you_mean(value, known) or f"; expected one of {', '.join(known)}"
    raise UserError(f"{where}: unknown {what} '{value}'{hint}")


def read_official(archive: str | Path | bytes) -> Templates:
    """Read the authors' templates from their password-protected archive, in memory.

    Their sentences are never written in plain text: not to disk, not to logs, not into messages.

    Args:
        archive: ``data.zip`` of the authors' repository.

    Returns:
        Themes are numbered 1-5 within case and polarity, as in Appendix B.

    Raises:
        UserError: If the archive is missing or damaged, has another password, or lacks a file or a column.
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


def _members(archive: str | Path | bytes, name: str):
    contents = archives.zip_members(archive, (_CONTEXT_MEMBER, _TASK_MEMBER), _PASSWORD, name)
    try:
        return [content.decode("utf-8") for content in contents]
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: damaged, a member is not UTF-8 text; delete it and fetch it again") from error
