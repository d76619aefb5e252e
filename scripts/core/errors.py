"""The one exception that users are meant to read, and what its messages share."""

from collections.abc import Iterable


class UserError(Exception):
    """Bad input or a bad environment, described in one line that names the file, the row and the remedy.

    Scripts print the message without a traceback and exit with status 1; anything else that
    escapes a script is a defect of this project and keeps its traceback.
    """


def did_you_mean(value: str, known: Iterable, cutoff: float = 0.4) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest member of ``known``, or an empty string.

    Args:
        value: The unknown word.
        known: The words that would have been accepted.
        cutoff: How alike the two must be, from 0 to 1.
    """
    import difflib

    close = difflib.get_close_matches(str(value), [str(k) for k in known], n=1, cutoff=cutoff)
    return f"; did you mean '{close[0]}'?" if close else ""


def describe_error(error: BaseException) -> str:
    """Return what an exception says in one line: its type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 job``, ``2 jobs``; for nouns whose plural ends in -s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
