"""Counts instances whose options a model cannot tell apart, and refuses a job that has many of them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core.data.options import fill_slot
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
            plain = rows.assign(filled="a", text=[fill_slot(masked, "a", False) for masked in rows.masked])
            bad |= missing > self._count_unknown(self.reader.read(plain))
        rows = rows.reset_index(drop=True)
        self.counts["unknown_instances"] += rows.instance_id[missing > 0].nunique()
        if bad.any():
            self.counts["unread_instances"] += rows.instance_id[bad].nunique()
            row = rows[bad].iloc[0]
            self._refuse_many(
                "unread_instances",
                "its tokenizer does not know an option, or reads two alike (the first is "
                f"{row.instance_id}, option {row.option!r}): it cannot tell them apart; leave this model out, or the "
                "pronoun sets that it does not know",
            )

    def count_ties(self, table: pd.DataFrame) -> None:
        """Count instances whose best options have equal scores: their order would decide."""
        best = table.log_probability == table.groupby("instance_id").log_probability.transform("max")
        tied = best.groupby(table.instance_id, sort=False).sum() > 1
        self.counts["tied_instances"] += int(tied.sum())
        self._refuse_many(
            "tied_instances",
            f"the best options have equal scores (the first is {tied.idxmax()}), so that their order would decide; run "
            "it in float32 (precision), or leave this model out",
        )

    def _count_unknown(self, texts: Sequence[Text]) -> Any:
        return pd.Series([int((text.ids == self.unknown).sum()) if self.unknown is not None else 0 for text in texts])

    def _refuse_many(self, name: str, what: str) -> None:
        if self.counts[name] > LIMIT * self.total:
            raise UserError(f"model {self.model}: in {self.counts[name]} or more of {self.total} instances {what}")
