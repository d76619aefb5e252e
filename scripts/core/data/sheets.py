"""Tables that people filled in, as spreadsheets save them."""

import codecs
import csv
import io
from pathlib import Path

import pandas as pd

from scripts.core.errors import UserError


def read_sheet(path: str | Path, column: str) -> pd.DataFrame:
    """Read a table that people filled in, as spreadsheets save it.

    Args:
        path: Columns are separated by commas, semicolons or tabs, and the text is UTF-8 or UTF-16.
        column: A column that the sheet has, by which the separator is known.

    Returns:
        All cells as text, empty ones as ``""``; the index is the row of the sheet, whose head is row 1. Rows without a
        filled cell are left out.

    Raises:
        UserError: If the file cannot be read, is in another encoding, or is no table.
    """
    try:
        content = Path(path).read_bytes()
        text = content.decode(
            "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        )
        head = text.partition("\n")[0]
        separator = next((mark for mark in ",;\t" if column in [cell.strip(' "\r') for cell in head.split(mark)]), ",")
        names = [name.strip() for name in next(csv.reader(io.StringIO(text), delimiter=separator), []) if name.strip()]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise UserError(f"{path}, row 1: the column '{repeated[0]}' is given twice; remove one of them")
        table = pd.read_csv(
            io.StringIO(text), sep=separator, dtype=str, keep_default_na=False, skip_blank_lines=False, index_col=False
        )
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct the path") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: neither UTF-8 nor UTF-16 text; save the sheet as 'CSV UTF-8'") from error
    except (OSError, csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as a table ({error}); save the sheet as 'CSV UTF-8'") from error
    table.index += 2
    return table.fillna("")[(table.fillna("") != "").any(axis=1)]
