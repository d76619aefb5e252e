"""Whether a model can tell the options of instances apart: unknown tokens, options read alike, and tied scores.

A tokenizer that does not know a pronoun reads an unknown token in its place. Options that are read alike have equal
scores, and the tie rule, not the model, decides between them. Such instances are counted in the metadata of a score
file; a job whose share of them is above :data:`LIMIT` ends.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core.data.options import fill
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.engines.batches import TextReader

LIMIT = 0.1
"""The share of a job's instances that may have options read alike or unknown, or tied scores."""

KNOWN_WORD = "a"
"""A word that every tokenizer knows."""


class Reading:
    """Counts the instances of a job that the model does not read as they are written.

    Args:
        model: Its name, for messages.
        total: The instances of the job.
    """

    def __init__(self, model: str, texts: "TextReader", total: int):
        self.model = model
        self.texts: Any = texts
        self.total = total
        self.unknown = self.unread = self.tied = 0

    def read(self, rows: pd.DataFrame) -> None:
        """Count what some instances' texts are to the tokenizer, before they are scored.

        Args:
            rows: As of :func:`scripts.core.data.options.option_texts`; all options of each instance.

        Raises:
            UserError: If options that are read alike, or unknown, have a share of more than :data:`LIMIT`.
        """
        ids = [tuple(found) for found in self.texts.scored_ids(rows)]
        known = self.texts.unknown_token
        missing = np.array([found.count(known) if known is not None else 0 for found in ids], dtype=int)
        # Scored with and without a capital, an option may be read alike: it is one option.
        read_as = pd.Series(list(zip(rows.instance_id, ids, strict=True)))
        bad = rows.option_index.reset_index(drop=True).groupby(read_as).transform("nunique").to_numpy() > 1
        if missing.any():
            self.unknown += rows.instance_id[missing > 0].nunique()
            bad |= missing > self._unknown_around(rows)
        if bad.any():
            self.unread += rows.instance_id[bad].nunique()
            self._refuse_many(self.unread, rows[bad].iloc[0])

    def _unknown_around(self, rows: pd.DataFrame):
        """Return how many unknown tokens each row has besides those of its option, an array of int."""
        plain = rows.assign(filled=KNOWN_WORD, text=[fill(masked, KNOWN_WORD, False) for masked in rows.masked])
        return np.array([list(found).count(self.texts.unknown_token) for found in self.texts.scored_ids(plain)])

    def _refuse_many(self, count: int, row: pd.Series):
        if count > LIMIT * self.total:
            raise UserError(
                f"model {self.model}: its tokenizer does not know an option, or reads two alike, in {count} or more of "
                f"{self.total} instances (the first is {row.instance_id}, option {row.option!r}): it cannot tell them "
                "apart; leave this model out, or the pronoun sets that it does not know"
            )

    def decide(self, table: pd.DataFrame) -> None:
        """Count the instances whose best options have equal scores.

        Args:
            table: ``instance_id`` and ``log_probability``; all options of each instance.

        Raises:
            UserError: If their share is above :data:`LIMIT`.
        """
        scores = table.groupby("instance_id", sort=False).log_probability
        best = table.log_probability == scores.transform("max")
        tied = best.groupby(table.instance_id, sort=False).sum() > 1
        self.tied += int(tied.sum())
        if self.tied > LIMIT * self.total:
            raise UserError(
                f"model {self.model}: in {self.tied} or more of {self.total} instances the best options have equal "
                f"scores (the first is {tied.idxmax()}), so that their order would decide; run it in float32 "
                "(precision), or leave this model out"
            )

    def facts(self) -> dict[str, int]:
        """Return what the metadata of a score file say."""
        return {"unknown_instances": self.unknown, "unread_instances": self.unread, "tied_instances": self.tied}
