"""Losses on labels: what a model is to predict where an option fills the slot, token by token.

MISGENDERED (Hossain et al. 2023, section 3.2.1) takes the option with the lowest loss, which is the mean over label
tokens. The labels are the whole text for decoders (position 0, which nothing predicts, is left out, as in the training
loss) and for encoder-decoders of BART's kind, and the span ``<extra_id_0> option <extra_id_1>`` for those of T5's kind.
Means, sums and counts of each kind of label stand side by side, so that an analysis can choose without scoring again:

* T5's labels hold two sentinels and an end of sequence besides the option.
* A decoder's text starts its sentences with capitals. The study's released code gives encoder-decoders the option as it
  is, so these are scored both ways where the slot starts a sentence.

Masked language models have no such loss and are refused. An option that stands several times in an instance, for
several pronoun sets, has the same score each time. :mod:`scripts.core.data.losses` chooses among the columns.
"""

import numpy as np
import pandas as pd

from scripts.core.data import losses, options
from scripts.core.engines.batches import KINDS, TextReader
from scripts.core.engines.scoring import result_table
from scripts.core.errors import UserError

METRIC = "label_loss"


def label_rows(instances: pd.DataFrame, architecture: str) -> pd.DataFrame:
    """Return the texts that are scored for instances.

    Args:
        instances: As for :func:`scripts.core.data.options.option_texts`.
        architecture: One of "encoder", "decoder", "encoder-decoder".

    Returns:
        As of :func:`scripts.core.data.options.option_texts`, with ``capitals`` (bool). For an encoder-decoder, options
        that start a sentence have a second row at the end, without a capital.

    Raises:
        UserError: For an encoder; otherwise as :func:`scripts.core.data.options.option_texts`.
    """
    if architecture == "encoder":
        raise UserError(
            "a masked language model has no loss on labels, which is what this study compares; leave the model out of "
            "the study"
        )
    rows = options.option_texts(instances).assign(capitals=True)
    if architecture == "decoder":
        return rows
    plain = rows[rows.filled != rows.option]
    texts = [options.fill(*pair, capitals=False) for pair in zip(plain.masked, plain.option, strict=True)]
    return pd.concat([rows, plain.assign(filled=plain.option, text=texts, capitals=False)], ignore_index=True)


def label_table(rows: pd.DataFrame, values: list[np.ndarray], texts: TextReader) -> pd.DataFrame:
    """Return losses as a table.

    Args:
        rows: As returned by :func:`label_rows`.
        values: Log-probabilities of each row's labels, in nats.

    Returns:
        One row for each instance and option. The columns of :func:`scripts.core.engines.scoring.result_table`, whose
        ``mean_log_probability`` is the loss with the other sign; ``<kind>_log_probability`` (nats, a sum) and
        ``<kind>_tokens`` for the labels of the option (with the space before it), the sentinels and the end of the
        sequence; what is left is context. ``uncapitalised_log_probability``, ``uncapitalised_scored_tokens``,
        ``uncapitalised_option_log_probability`` and ``uncapitalised_option_tokens``: the same of the option without a
        capital, empty where it was not scored. ``option_tokens`` counts a token that is not scored, too.
    """
    kinds, counts = texts.label_kinds(rows)
    frame = result_table(rows, values)
    for number, kind in enumerate(KINDS[1:], start=1):
        chosen = [(scores[found == number], found == number) for scores, found in zip(values, kinds, strict=True)]
        frame[f"{kind}_log_probability"] = [float(scores.sum()) for scores, _ in chosen]
        frame[f"{kind}_tokens"] = np.array([found.sum() for _, found in chosen], dtype=np.int32)
    frame["option_tokens"] = counts.astype(np.int32)
    capitals = rows.capitals.to_numpy()
    key = ["instance_id", "option_index"]
    plain = frame.loc[~capitals, [*key, *losses.MAIN]].set_index(key)
    plain.columns = losses.UNCAPITALISED
    joined = frame[capitals].join(plain, on=key)
    return joined.astype({name: "Int32" for name in plain.columns if name.endswith("tokens")}).reset_index(drop=True)
