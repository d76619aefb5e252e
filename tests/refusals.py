"""What a refusal must be: one line that names what is wrong and what helps, whatever its words."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.core.errors import UserError


@contextlib.contextmanager
def refused(*named: Any) -> Iterator[pytest.ExceptionInfo[UserError]]:
    """Expect the block to end in a :class:`UserError` of one line.

    Args:
        named: What the message must name, in any order: file, row, key, value, remedy. Words that a reader looks for,
            and no sentences: a sentence may be written anew.

    Examples:
        >>> with refused("pronouns.tsv", "row 3", "accusative"):
        ...     raise UserError("pronouns.tsv, row 3: the cell 'accusative' is empty; write the form")
    """
    with pytest.raises(UserError) as caught:
        yield caught
    message = str(caught.value)
    assert "\n" not in message, message
    missing = [str(name) for name in named if str(name) not in message]
    assert not missing, f"{missing} not named in: {message}"
