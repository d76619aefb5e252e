"""First names by gender, and their counterparts: the matching of Counter-GAP (Xie et al. 2023, Appendix A)."""

import importlib.util
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from scripts.core import files
from scripts.core.errors import UserError

# The list of names that the study used, as the package gender-guesser carries it.
NAME_PACKAGE, NAME_FILE = "gender_guesser", "data/nam_dict.txt"
NAME_SHA256 = "bfe79b1f3533d188333c36d7b0722868b873b2d366bb15bed3ed9a4f85db3c8c"
# The first of the columns of countries in nam_dict.txt, counted from 0. The study's code begins one column late: it
# leaves out Great Britain and adds a column without values.
COLUMNS = {"faithful": 31, "corrected": 30}
COUNTRIES = 55
MARK = 86  # The sign "$" that ends a row.
# Appendix A: above 1, weighs the distance against the angle of two vectors.
ALPHA = 12 / 11
# Keeps the cosine of a name without frequencies from a division by zero.
EPSILON = 1e-10
GENDERS = {
    "M": "male", "1M": "mostly male", "?M": "mostly male",
    "F": "female", "1F": "mostly female", "?F": "mostly female",
    "?": "unisex",
}  # fmt: skip
PAIRED = (("male", "female"), ("mostly male", "mostly female"))
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class Name:
    """A first name: its gender and how frequent it is in each country, from 0 to 13 on a logarithmic scale."""

    name: str
    gender: str
    frequencies: tuple


def read_names(path: str | Path, column: str = "corrected") -> list[Name]:
    """Read gender-guesser's list of first names, ``nam_dict.txt`` (Jörg Michael).

    A plus sign in a name stands for nothing, a space or a hyphen, each of which makes a name. A name that is listed
    with several genders has the one whose frequencies sum to most; of equal ones the first.

    Args:
        column: Where a row's frequencies begin (:data:`COLUMNS`). One of "corrected", "faithful".

    Returns:
        In the order of the list.

    Raises:
        UserError: For a row that is not one of the list's layout.
    """
    start = COLUMNS[column]
    names = {}
    for row, line in enumerate(files.read_text(path, "install gender-guesser again").split("\n"), 1):
        line = line.rstrip()
        if not line or line[0] in "#=":
            continue
        cells = line.split()
        values = line[start : start + COUNTRIES]
        if cells[0] not in GENDERS or len(line) != MARK + 1 or not re.fullmatch("[0-9A-D ]*", values):
            raise UserError(f"{path}, row {row}: not a row of the list of names; install gender-guesser again")
        frequencies = tuple(int(value, 16) if value != " " else 0 for value in values)
        for filling in ("", " ", "-") if "+" in cells[1] else ("",):
            names.setdefault(cells[1].replace("+", filling), {})[GENDERS[cells[0]]] = frequencies
    chosen = {name: max(genders, key=lambda gender: sum(genders[gender])) for name, genders in names.items()}
    return [Name(name, gender, names[name][gender]) for name, gender in chosen.items()]


def packaged_names() -> Path:
    """Return the path of the list of names in the installed package gender-guesser.

    Raises:
        UserError: If the package is not installed or its list is another one.
    """
    specification = importlib.util.find_spec(NAME_PACKAGE)
    path = Path(specification.origin).parent / NAME_FILE if specification and specification.origin else None
    if path is None or not path.is_file():
        raise UserError("the package gender-guesser, which has the list of names, is not installed; run envs/setup.sh")
    if files.sha256(path) != NAME_SHA256:
        raise UserError(f"{path}: not the list of names of gender-guesser 0.4.0; install that version")
    return path


def weigh_pairs(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Return the weights of pairs of names: the distance of their vectors times (12/11 - their cosine).

    Args:
        first, second: Frequencies, of shapes (m, 55) and (n, 55).

    Returns:
        Of shape (m, n), in double precision, which the solver needs: 8 bytes a pair.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    squares, lengths = (second**2).sum(axis=1), np.sqrt((second**2).sum(axis=1))
    pairs = np.empty((len(first), len(second)))
    for start in range(0, len(first), ROWS_AT_ONCE):
        rows = first[start : start + ROWS_AT_ONCE]
        own = (rows**2).sum(axis=1)[:, None]
        products = rows @ second.T
        # Of whole numbers, so that equal vectors are at a distance of exactly 0.
        distances = np.sqrt(own + squares - 2 * products)
        pairs[start : start + ROWS_AT_ONCE] = distances * (ALPHA - products / (np.sqrt(own) * lengths + EPSILON))
    return pairs


def match_names(first: list[Name], second: list[Name]) -> tuple[list[tuple[str, str]], float]:
    """Match two lists of names fully, with the least total weight (Appendix A; Hall Maudslay et al. 2019).

    Both lists are sorted by the sums of their frequencies, the greatest first and equal ones in their order, and the
    longer one is cut to the length of the shorter. The least total is unique, the matching is not: names of equal
    frequencies can take each other's place.

    Returns:
        The pairs, and their total weight.
    """
    # Here, since rules import this module for the names of its methods and must not wait for scipy.
    from scipy.optimize import linear_sum_assignment

    size = min(len(first), len(second))
    lists = [sorted(names, key=lambda name: -sum(name.frequencies))[:size] for names in (first, second)]
    if not size:
        return [], 0.0
    pairs = weigh_pairs(*([name.frequencies for name in names] for names in lists))
    rows, columns = linear_sum_assignment(pairs)
    matched = [(lists[0][row].name, lists[1][column].name) for row, column in zip(rows, columns, strict=True)]
    return matched, float(pairs[rows, columns].sum())


def match_genders(names: Collection[Name]) -> tuple[dict[str, list[tuple[str, str]]], dict[str, float]]:
    """Match male with female names, and mostly male with mostly female ones.

    Returns:
        The pairs, and their total weights, both by the first of the two genders.
    """
    pairs, totals = {}, {}
    for genders in PAIRED:
        of_gender = [[name for name in names if name.gender == gender] for gender in genders]
        pairs[genders[0]], totals[genders[0]] = match_names(*of_gender)
    return pairs, totals


def swap_pairs(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return pairs of names as a dict that swaps each name for the other."""
    return {name: other for pair in pairs for name, other in (pair, pair[::-1])}
