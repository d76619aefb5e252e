"""Reading template files: tab-separated UTF-8 text with a header, where every error names file, row and remedy.

A template file may start with comment lines (``# ...``); the first comment of this project's own templates is a
canary string that lets training corpora leave them out. Cells are taken as they are: no quoting, no stripping.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core.errors import UserError, count_noun, did_you_mean

CASES = ("nominative", "accusative", "possessive")
"""The grammatical cases of the pronoun studies; ``possessive`` is the dependent form (*her book*)."""

MOST_BYTES = 64 << 20
MOST_CHARACTERS = 10_000
"""Bounds of a file and of a cell, several times what any has: the longest passage has 1,546 characters."""

# Besides tabs and line ends; a reader sees none of them, and some programs end lines or texts there.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")

FORMS = ("nominative", "accusative", "possessive", "possessive_independent", "reflexive")

PRONOUN_TYPES = ("binary", "neutral", "neo")
"""Types of pronoun sets, by which MISGENDERED groups its results."""

PRONOUN_COLUMNS = ("set", *FORMS, "type")

WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
"""A word of a sentence."""


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of some lines, as a set.

    Examples:
        >>> sorted(word_set("he she", "they"))
        ['he', 'she', 'they']
    """
    return frozenset(" ".join(lines).split())


GENDERED = word_set(
    "man woman men women boy girl boys girls gentleman lady gentlemen ladies guy guys lad lass mister sir madam",
    "father mother fathers mothers dad mom mum son daughter sons daughters brother sister brothers sisters",
    "husband wife husbands wives uncle aunt nephew niece grandfather grandmother king queen male female",
    "waiter waitress actor actress mr mrs ms",
)
"""Nouns that a template must not hold, since they say which pronoun is wanted."""
AGREEING = word_set(
    "is was are were am has have does do isn't wasn't aren't weren't hasn't haven't doesn't don't",
    "need want say know think go make take work get give find keep feel look use see come like love live",
)
"""Words that agree with *he* and not with *they*, or the other way round."""


def raise_first(problems: Sequence[str]) -> None:
    """Refuse templates with problems: raise the first, and say how many more there are."""
    if problems:
        more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
        raise UserError(f"{problems[0]}{more}")


def read_tsv(path: str | Path, columns: Sequence[str]) -> list[tuple[int, dict]]:
    """Return the rows of a template file: their line numbers in it, from 1, and their cells by column.

    Args:
        columns: The columns that the file must have, in any order, and no others.
    """
    path = Path(path)
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise UserError(f"{path}: has {size} bytes, more than {MOST_BYTES}; correct the path")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; restore it or correct the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); save it as UTF-8") from error
    return parse_tsv(text, columns, str(path))


def read_frame(
    path: str | Path,
    columns: Sequence[str],
    key: str | None = None,
    levels: Mapping[str, Collection[str]] | None = None,
    optional: Collection[str] = (),
) -> pd.DataFrame:
    """Read a template file as a table whose index is the line of each row.

    Args:
        columns: As for :func:`read_tsv`.
        key: The column that has no value twice.
        levels: Columns to the values that they can have.
        optional: Columns whose cells may be empty.

    Raises:
        UserError: As :func:`read_tsv`; also if there is no row, and for an empty cell, a repeated key and an unknown
            value, naming the first.
    """
    frame = pd.DataFrame.from_dict(dict(read_tsv(path, columns)), orient="index", columns=list(columns))
    if frame.empty:
        raise UserError(f"{path}: has no row; add one")
    for column in frame.columns.difference(list(optional), sort=False):
        for row in frame.index[frame[column].str.strip() == ""]:
            raise UserError(f"{path}, row {row}: the cell '{column}' is empty; fill it or remove the row")
    for column, known in (levels or {}).items():
        for row, value in frame[column][~frame[column].isin(list(known))].items():
            hint = did_you_mean(value, known) or f"; use one of {', '.join(known)}"
            raise UserError(f"{path}, row {row}: unknown {column} '{value}'{hint}")
    if key is not None:
        for row, value in frame[key][frame[key].duplicated()].items():
            first = frame.index[frame[key] == value][0]
            raise UserError(f"{path}, row {row}: '{value}' is already in row {first}; remove one")
    return frame


def line_numbers(path: str | Path, columns: Sequence[str]) -> dict[str, int]:
    """Return the line of each value of a file's first column, which has none twice."""
    return {cells[columns[0]]: row for row, cells in read_tsv(path, columns)}


def parse_tsv(text: str, columns: Sequence[str], name: str, exact: bool = True) -> list[tuple[int, dict]]:
    """Parse the text of a template file; see :func:`read_tsv`.

    Args:
        text: With LF or CRLF line ends; the last line may lack its end.
        name: What messages call the file.
        exact: Refuse columns other than ``columns``; otherwise they are read but not looked at.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    start = next((i for i, line in enumerate(lines) if line != "#" and not line.startswith("# ")), None)
    if start is None:
        raise UserError(f"{name}: has no header row; expected the columns {', '.join(columns)}, separated by tabs")
    header = lines[start].split("\t")
    if any(len(cell) > MOST_CHARACTERS for cell in header) or _CONTROL.search(lines[start]):
        _refuse_cell(f"{name}, row {start + 1}", None, max(header, key=len), lines[start])
    _check_header(header, columns, f"{name}, row {start + 1}", exact)
    rows = []
    for number, line in enumerate(lines[start + 1 :], start + 2):
        cells = line.split("\t")
        if len(line) > MOST_CHARACTERS or _CONTROL.search(line):
            for column, cell in zip([*header, *[""] * len(cells)], cells, strict=False):
                _refuse_cell(f"{name}, row {number}", column, cell, cell)
        if len(cells) != len(header):
            raise UserError(
                f"{name}, row {number}: {count_noun(len(cells), 'cell')} where the header has {len(header)}; "
                "separate cells by single tabs and remove empty lines"
            )
        rows.append((number, dict(zip(header, cells, strict=True))))
    return rows


def _refuse_cell(where: str, column: str | None, cell: str, text: str) -> None:
    """Refuse a cell that is too long, or that has a control character; without a column it is the header."""
    control = _CONTROL.search(text)
    if control:
        kind = "line separator" if control[0] in "\u2028\u2029" else "control character"
        what = "the header" if column is None else f"the cell '{column}'"
        raise UserError(f"{where}: {what} holds the {kind} U+{ord(control[0]):04X}; remove it")
    if len(cell) > MOST_CHARACTERS:
        what = "the header has a cell of" if column is None else f"the cell '{column}' has"
        raise UserError(f"{where}: {what} {len(cell)} characters, more than {MOST_CHARACTERS}; shorten it")


def _check_header(header: Sequence[str], columns: Sequence[str], where: str, exact: bool) -> None:
    repeated = next((c for i, c in enumerate(header) if c in header[:i]), None)
    if repeated is not None:
        raise UserError(f"{where}: the column '{repeated}' occurs twice; remove one")
    unknown = next((c for c in header if c not in columns), None) if exact else None
    missing = next((c for c in columns if c not in header), None)
    if unknown is not None:
        rest = [c for c in columns if c not in header]
        raise UserError(f"{where}: unknown column '{unknown}'{did_you_mean(unknown, rest) or '; remove it'}")
    if missing is not None:
        raise UserError(f"{where}: the column '{missing}' is missing; add it (cells are separated by tabs)")


class PronounSet(dict):
    """The forms of a pronoun set by name, and its ``type``, one of :data:`PRONOUN_TYPES`."""

    def __init__(self, forms: Mapping[str, str], kind: str):
        super().__init__(forms)
        self.type = kind


def read_pronouns(path: str | Path) -> dict[str, PronounSet]:
    """Return the pronoun sets of a file by name, in its order.

    Args:
        path: Columns ``set``, the five forms (:data:`FORMS`) and ``type`` (:data:`PRONOUN_TYPES`).
    """
    frame = read_frame(path, PRONOUN_COLUMNS, key="set", levels={"type": PRONOUN_TYPES})
    for row, *cells in frame.itertuples(name=None):
        for column, cell in zip(frame, cells, strict=True):
            if cell != cell.lower() or any(c.isspace() or c in "{}_" for c in cell):
                raise UserError(
                    f"{path}, row {row}: '{cell}' ({column}) must be one lower-case word; templates add capitals"
                )
    return {
        cells["set"]: PronounSet({form: cells[form] for form in FORMS}, cells["type"])
        for cells in frame.to_dict("records")
    }


def select_pronoun_sets(
    pronouns: dict[str, PronounSet], names: Sequence[str], forms: Sequence[str] = CASES, shared: bool = False
) -> dict[str, PronounSet]:
    """Return the configured pronoun sets in the configured order.

    Args:
        pronouns: As read by :func:`read_pronouns`.
        forms: The forms that a study offers as options.
        shared: Whether two sets may share some of ``forms`` (*em* of e and ey): a study that asks for a set's form can
            have both, one that tells people apart by their pronouns cannot. Two sets that share all their forms are
            refused.

    Raises:
        UserError: For an unknown set (with the nearest known one), a set named twice, and two sets that share what they
            must not.
    """
    selected = {}
    for name in names:
        if name not in pronouns:
            hint = did_you_mean(name, pronouns) or f"; known sets are {', '.join(pronouns)}"
            raise UserError(f"pronoun_sets: templates/pronouns.tsv has no set '{name}'{hint}")
        if name in selected:
            raise UserError(f"pronoun_sets: '{name}' is listed twice; remove one")
        twin = next((o for o in selected if selected[o] == pronouns[name]), None)
        if twin is not None:
            raise UserError(
                f"pronoun_sets: '{twin}' and '{name}' share all their forms, so that nothing tells them apart; "
                "remove one"
            )
        for form in () if shared else forms:
            other = next((o for o in selected if selected[o][form] == pronouns[name][form]), None)
            if other is not None:
                raise UserError(
                    f"pronoun_sets: '{other}' and '{name}' share the {form} form '{pronouns[name][form]}', "
                    "so that it would not tell one person from the other; remove one of the two sets"
                )
        selected[name] = pronouns[name]
    return selected


def pronoun_lines(path: str | Path) -> dict[str, int]:
    """Return the line of each pronoun set in ``pronouns.tsv``; errors as in :func:`read_tsv`."""
    return line_numbers(path, PRONOUN_COLUMNS)


def label_pronouns(forms: Mapping[str, str]) -> str:
    """Return how a pronoun set is named in figures and tables, such as he/him/his."""
    return "/".join(forms[case] for case in CASES)


def read_occupations(path: str | Path) -> dict[str, str]:
    """Read the occupations and their participants (RUFF, Appendix A).

    Returns:
        Occupation to participant, in file order.

    Raises:
        UserError: If a cell is empty or an occupation occurs twice or equals its participant.
    """
    frame = read_frame(path, ("occupation", "participant"), key="occupation")
    for row, occupation, participant in frame.itertuples(name=None):
        for column, cell in (("occupation", occupation), ("participant", participant)):
            if cell != cell.strip():
                raise UserError(f"{path}, row {row}: the cell '{column}' has blanks around it; remove them")
        if occupation == participant:
            raise UserError(f"{path}, row {row}: occupation and participant are both '{occupation}'; name two people")
    return dict(zip(frame.occupation, frame.participant, strict=True))
