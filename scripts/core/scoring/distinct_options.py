"""Counts instances whose options a model cannot tell apart, and refuses a job that has many of them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core.data.options import fill
from scripts.core.errors import UserError
from scripts.core.scoring.reader import Reader, Text

LIMIT = 0.1
"""The share of a job's instances that may have options read alike or unknown, or tied scores."""


class DistinctOptions:
    """Counts over the windows of a job of ``total`` instances."""

    def __init__(self, model: str, reader: Reader, total: int):
        self.model, self.reader, self.total = model, reader, total
        self.counts = {"unknown_instances": 0, "unread_instances": 0, "tied_instances": 0}
        tokenizer = reader.tokenizer
        # Tokenizers of bytes name the token that ends or begins texts as unknown, and never use it so.
        roles = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
        self.unknown = None if tokenizer.unk_token_id in roles else tokenizer.unk_token_id

    def count_unread(self, rows: pd.DataFrame, texts: Sequence[Text]) -> None:
        """Count instances with unknown tokens, and those with an option that is unknown or read like another."""
        ids = pd.Series([(name, *text.ids) for name, text in zip(rows.instance_id, texts, strict=True)])
        # Scored with and without a capital, an option may be read alike: it is one option.
        bad = rows.option_index.reset_index(drop=True).groupby(ids).transform("nunique") > 1
        missing = self._count_unknown(texts)
        if missing.any():
            plain = rows.assign(filled="a", text=[fill(masked, "a", False) for masked in rows.masked])
            bad |= missing > self._count_unknown(self.reader.read(plain))
        identifiers = rows.instance_id.reset_index(drop=True)
        self._add("unknown_instances", identifiers[missing > 0], "")
        self._add("unread_instances", identifiers[bad], "its tokenizer does not know an option, or reads two alike")

    def count_ties(self, table: pd.DataFrame) -> None:
        """Count instances whose best options have equal scores: their order would decide."""
        best = table.log_probability == table.groupby("instance_id").log_probability.transform("max")
        ties = best.groupby(table.instance_id).sum()
        self._add("tied_instances", pd.Series(ties[ties > 1].index), "the best options have equal scores")

    def _count_unknown(self, texts: Sequence[Text]) -> Any:
        return pd.Series([int((text.ids == self.unknown).sum()) if self.unknown is not None else 0 for text in texts])

    def _add(self, name: str, identifiers: pd.Series, what: str) -> None:
        self.counts[name] += identifiers.nunique()
        if what and self.counts[name] > LIMIT * self.total:
            raise UserError(
                f"model {self.model}: in {self.counts[name]} or more of {self.total} instances {what} (the first is "
                f"{identifiers.iloc[0]}); leave this model, or the pronoun sets that it does not know, out"
            )
