"""The share of women in an occupation, as templates/winopron/occupation_women.tsv says (Rudinger et al. 2018)."""

from scripts.core.errors import UserError
from scripts.core.templates import read_tsv

COLUMNS = ("occupation", "women", "year")
"""``women``: percent of those who work in the occupation; ``year``: of the count."""


def read(path):
    """Read the share of women in each occupation.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict of str to float
        Occupation to a share between 0 and 1, in the order of the file.

    Raises
    ------
    UserError
        For an occupation that is empty or appears twice, and a share that is no percentage.
    """
    shares = {}
    for row, cells in read_tsv(path, COLUMNS):
        where, name = f"{path}, row {row}", cells["occupation"]
        if not name or name in shares:
            raise UserError(f"{where}: the occupation '{name}' is empty or appears twice; keep one row of it")
        try:
            share = float(cells["women"]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UserError(f"{where}: women '{cells['women']}' is no percentage; write a number from 0 to 100")
        shares[name] = share
    return shares
