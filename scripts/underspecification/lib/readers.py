"""Reading tidy tables for figures and tables, which have nothing to show of an empty one."""

from typing import TYPE_CHECKING

from scripts.core import files
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def read_rows(path: str, subject: str) -> "pd.DataFrame":
    """Read a tidy table.

    Args:
        path: CSV.
        subject: What its rows are about, for messages.

    Returns:
        At least one row.

    Raises:
        UserError: If the file cannot be read or has no row.
    """
    table = files.read_csv(path)
    if table.empty:
        raise UserError(f"{path}: has no row, so nothing can be shown of {subject}; check the config")
    return table
