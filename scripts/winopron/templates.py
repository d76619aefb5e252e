"""Templates of WinoPron (Gautam et al. 2024) and of Winogender Schemas (Rudinger et al. 2018), read from files.

Every set becomes the same :class:`Templates`: this project's own replica, the authors' official one, and Winogender
Schemas, from which WinoPron was made.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.core.data import archives
from scripts.core.data.templates import CASES, line_numbers, parse_tsv, read_frame, read_occupations, read_tsv
from scripts.core.errors import UserError, did_you_mean

ANSWERS = ("occupation", "participant")
"""Whom a pronoun can mean."""
PRONOUN = "{pronoun}"
COLUMNS = ("occupation", "case", "answer", "double", "single", "second_reading")
OCCUPATION_COLUMNS = ("occupation", "participant")
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
    """Read this project's sentences (columns :data:`COLUMNS`), at least one for each of its occupations.

    Everything else that can be wrong is left to :mod:`scripts.winopron.template_checks`.
    """
    participants = read_occupations(occupations)
    levels = {"occupation": participants, "case": CASES, "answer": ANSWERS, "second_reading": READINGS}
    frame = read_frame(sentences, COLUMNS, levels=levels, optional=("double", "single"))
    for occupation in participants.keys() - set(frame.occupation):
        raise UserError(
            f"{sentences}: has no sentence for the occupation '{occupation}' of {occupations}; add six rows"
        )
    frame = frame.drop(columns="second_reading").assign(participant=frame.occupation.map(participants), row=frame.index)
    rows = tuple(Template(**{str(name): cell for name, cell in cells.items()}) for cells in frame.to_dict("records"))
    return Templates("replica", str(sentences), rows, str(occupations), line_numbers(occupations, OCCUPATION_COLUMNS))


def read_official(archive: str | Path | bytes, password: bytes = _PASSWORD) -> Templates:
    """Read the authors' templates from their password-protected archive (a path, or its bytes), in memory.

    Their sentences are never written in plain text: not to disk, not to logs, not into messages.
    """
    name = "data.zip" if isinstance(archive, bytes) else str(archive)
    (content,) = archives.zip_members(archive, [_MEMBER], password, name)
    file = f"{name}:{_MEMBER}"
    # Two columns without a name follow, with the authors' canary: a text of many thousand characters in the first row.
    width = len(OFFICIAL_COLUMNS)
    try:
        lines = [line.split("\t") for line in content.decode("utf-8").split("\n")]
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: damaged, not UTF-8 text; delete it and fetch it again") from error
    text = "\n".join("\t".join(cells[:width] if any(cells) else []).removesuffix("\r") for cells in lines)
    rows = []
    for row, cells in parse_tsv(text, OFFICIAL_COLUMNS, file):
        case = _PLACEHOLDERS[_known(cells["pronoun_type"], _PLACEHOLDERS, "pronoun_type", f"{file}, row {row}")]
        rows.append(_published(cells, "template", case, cells["pronoun_type"], f"{file}, row {row}", row))
    return Templates("official", file, tuple(rows))


def read_winogender(path: str | Path) -> Templates:
    """Read the templates of Winogender Schemas (``data/templates.tsv`` of their repository).

    WinoPron's authors have the same file in their archive.
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


def _known(value: str, known: Collection[str], what: str, where: str):
    if value in known:
        return value
    hint = did_you_mean(value, known) or f"; expected one of {', '.join(known)}"
    raise UserError(f"{where}: unknown {what} '{value[:100]}'{hint}")
