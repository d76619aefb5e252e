"""What follows the slot, by itself: the likelihood of the words behind an option, given the option and all before it.

Trinh and Le (2018) call it partial scoring: options are compared by what comes after them, so that a frequent option
has no advantage of its own. The likelihood of the whole text, full scoring, stands beside it. An encoder's is the part
of the pseudo-log-likelihood that belongs to these words, each of which sees the whole text.
"""

from typing import TYPE_CHECKING

import numpy as np

from scripts.core.engines.batches import KINDS, TextReader
from scripts.core.engines.scoring import result_table
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {"continuation_log_probability": "float64", "continuation_tokens": "int32"}
"""Columns of a score file besides those of every one, and their types."""


def continuation_table(rows: "pd.DataFrame", values: list[np.ndarray], texts: TextReader) -> "pd.DataFrame":
    """Return scores as a table, with those of what follows the slot.

    Args:
        rows: As returned by :func:`scripts.core.data.options.option_texts`.
        values: Log-probabilities of each row's scored tokens, in nats.

    Returns:
        One row for each instance and option. The columns of :func:`scripts.core.engines.scoring.result_table`, and
        ``continuation_log_probability`` (nats, a sum; 0 where the slot ends the text) and ``continuation_tokens``. A
        token that holds the end of the option and what follows belongs to the option.

    Raises:
        UserError: For an encoder-decoder, whose score is that of the option alone; or as
            :meth:`scripts.core.engines.batches.TextReader.label_kinds`.
    """
    if texts.architecture == "encoder-decoder":
        raise UserError(
            "an encoder-decoder does not score what follows the slot, which is what this study compares; leave the "
            "model out of the study"
        )
    kinds, _ = texts.label_kinds(rows)
    behind = [scored[_first_behind(kind) :] for scored, kind in zip(values, kinds, strict=True)]
    return result_table(rows, values).assign(
        continuation_log_probability=[float(scored.sum()) for scored in behind],
        continuation_tokens=np.array([len(scored) for scored in behind], dtype=np.int32),
    )


def _first_behind(kinds: np.ndarray):
    places = np.flatnonzero(kinds == KINDS.index("option"))
    return places[-1] + 1 if len(places) else 0
