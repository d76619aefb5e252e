"""What options are compared by, as tables of the same token values: log-likelihood, continuation, label loss."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.core.data import losses, options
from scripts.core.errors import UserError
from scripts.core.scoring import reader
from scripts.core.scoring.reader import Text

Values = Sequence[np.ndarray]
"""The log-probabilities of each text's scored tokens, in nats."""


def log_likelihood(rows: pd.DataFrame, _texts: Sequence[Text], values: Values) -> pd.DataFrame:
    """Return one row for each instance and option: the sum over scored tokens, their mean and their number."""
    counts = np.array([len(value) for value in values], dtype=np.int32)
    totals = np.array([value.sum() for value in values])
    return rows[["instance_id", "option", "option_index"]].assign(
        option_index=rows.option_index.astype("int8"),
        log_probability=totals,
        mean_log_probability=totals / np.maximum(counts, 1),
        scored_tokens=counts,
        token_log_probabilities=pd.Series([value.astype(np.float32) for value in values], rows.index, object),
    )


def continuation(rows: pd.DataFrame, texts: Sequence[Text], values: Values) -> pd.DataFrame:
    """Add what follows the slot by itself (Trinh and Le 2018, partial scoring); 0 where the slot ends the text."""
    behind = []
    for text, value in zip(texts, values, strict=True):
        places = np.flatnonzero(text.scored_kinds() == reader.OPTION)
        behind.append(value[places[-1] + 1 if len(places) else 0 :])
    return log_likelihood(rows, texts, values).assign(
        continuation_log_probability=[float(value.sum()) for value in behind],
        continuation_tokens=np.array([len(value) for value in behind], dtype=np.int32),
    )


def label_loss(rows: pd.DataFrame, texts: Sequence[Text], values: Values) -> pd.DataFrame:
    """Add sums and numbers of the option's, sentinels' and end's tokens, and the option without a capital.

    MISGENDERED (Hossain et al. 2023, section 3.2.1) takes the lowest loss: the highest mean over label tokens. Others
    can be chosen without scoring again. ``option_tokens`` counts a token that is not scored, too.
    """
    table = log_likelihood(rows, texts, values)
    for kind, name in ((reader.OPTION, "option"), (reader.SENTINEL, "sentinel"), (reader.END, "end")):
        found = [text.scored_kinds() == kind for text in texts]
        table[f"{name}_log_probability"] = [float(value[f].sum()) for value, f in zip(values, found, strict=True)]
        table[f"{name}_tokens"] = np.array([f.sum() for f in found], dtype=np.int32)
    table["option_tokens"] = np.array([(text.kinds == reader.OPTION).sum() for text in texts], dtype=np.int32)
    capitals, key = rows.capitals.to_numpy(), ["instance_id", "option_index"]
    plain = table.loc[~capitals, [*key, *losses.MAIN]].set_index(key)
    plain.columns = losses.UNCAPITALISED
    joined = table[capitals].join(plain, on=key)
    return joined.astype({name: "Int32" for name in plain.columns if name.endswith("tokens")}).reset_index(drop=True)


CRITERIA = {"log_likelihood": log_likelihood, "continuation": continuation, "label_loss": label_loss}
"""What options are compared by."""

COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "log_likelihood": {
        "instance_id": pa.string(), "option": pa.string(), "option_index": pa.int8(), "log_probability": pa.float64(),
        "mean_log_probability": pa.float64(), "scored_tokens": pa.int32(),
    },
    "continuation": {"continuation_log_probability": pa.float64(), "continuation_tokens": pa.int32()},
    "label_loss": {name: getattr(pa, kind)() for name, kind in losses.COLUMNS.items()},
}  # fmt: skip
"""Columns of a score file: the first ones of all, and what a criterion adds."""

_METRICS = {"encoder": "within_word_l2r", "decoder": "log_likelihood", "encoder-decoder": "label_log_likelihood"}


def name_metric(criterion: str, architecture: str) -> str:
    """Return what a score is, for the file's metadata (``metric``)."""
    return criterion if criterion == "label_loss" else _METRICS[architecture]


UNDEFINED = {
    ("label_loss", "encoder"): "a masked language model has no loss on labels",
    ("continuation", "encoder-decoder"): "an encoder-decoder does not score what follows the slot",
}


def fill_options(instances: pd.DataFrame, architecture: str, criterion: str) -> pd.DataFrame:
    """Return the texts that a criterion needs, one row each (:func:`scripts.core.data.options.option_texts`).

    An encoder-decoder's label loss reads options that start a sentence without a capital, too (``capitals``): the
    released code of MISGENDERED gives them as they are.
    """
    if (criterion, architecture) in UNDEFINED:
        raise UserError(
            f"{UNDEFINED[criterion, architecture]}, which is what this study compares; leave the model out of the study"
        )
    rows = options.option_texts(instances).assign(capitals=True)
    if criterion != "label_loss" or architecture == "decoder":
        return rows
    plain = rows[rows.filled != rows.option]
    texts = [options.fill_slot(*pair, capitals=False) for pair in zip(plain.masked, plain.option, strict=True)]
    return pd.concat([rows, plain.assign(filled=plain.option, text=texts, capitals=False)], ignore_index=True)
