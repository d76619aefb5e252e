"""Score the options of instances with a language model.

This module and the engines behind it know instances, options and a model, and no study. In nats:

* A decoder's score of a text is the sum of the log-probabilities of its tokens but the first.
* An encoder's is the pseudo-log-likelihood of Salazar et al. (2020) in the within-word left-to-right variant of Kauf
  and Ivanova (2023). Both are what the RUFF paper uses (section 4.2).
* An encoder-decoder reads the instance with its slot masked. T5's kind is scored on the span
  ``<extra_id_0> option <extra_id_1>``, BART's on the whole text (MISGENDERED, section on models). MISGENDERED takes
  the mean over tokens, RUFF the sum: score files hold both.

Special cases, decided once:

* The tokenizer's own special tokens are kept and nothing is added. A decoder's first token (the tokenizer's own
  beginning-of-sequence token where it adds one) has no left context and is not scored; an encoder's classification and
  separator tokens are never scored; an encoder-decoder's end-of-sequence label is, as in its training loss.
* An unknown token is scored like any other.
* A text longer than the model's context is an error, never truncated.
* Equal scores go to the option that comes first (:mod:`scripts.core.data.options`).
* The log-softmax runs in float32 whatever the precision of the weights, as logits minus their log-sum-exp: PyTorch's
  ``log_softmax`` on a CPU is off by up to 3e-5 nats a token over a vocabulary of 49,152, always in the same direction,
  which adds up to 1e-3 nats over a text.

An engine has ``plan(rows)``, which divides the rows of :func:`scripts.core.data.options.option_texts` into batches, the
same batches for the same rows; ``score(batch)``, which returns an array of token log-probabilities for each of the
batch's rows; ``lengths(rows)``; ``name`` and ``description``. When it is made it checks that its scores of the job's
instances will depend on nothing but their own texts (:mod:`scripts.core.engines.structure`).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core.data.options import option_texts
from scripts.core.engines import structure
from scripts.core.engines.batches import check_lengths, progress_bar
from scripts.core.engines.minicons import MiniconsEngine
from scripts.core.engines.packed import PackedEngine
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ENGINES = {"packed": PackedEngine, "minicons": MiniconsEngine}


def make_engine(
    name: str,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    architecture: str,
    device: str,
    tokens_per_batch: int | str,
    instances: pd.DataFrame,
) -> PackedEngine | MiniconsEngine:
    """Return the engine called ``name``, one of :data:`ENGINES`.

    Args:
        architecture: One of "encoder", "decoder", "encoder-decoder".
        device: A torch device, or ``"auto"`` for a model spread over several GPUs.
        tokens_per_batch: Upper bound of the tokens of one forward pass, or ``auto``.
        instances: Those of the job with the longest texts, or all: what the engine is checked with.

    Raises:
        UserError: If the engine cannot score this model, or would score it wrongly.
    """
    return ENGINES[name](model, tokenizer, architecture, device, tokens_per_batch, instances)


def check_finite(rows: pd.DataFrame, number: int, values: np.ndarray, network: "PreTrainedModel") -> None:
    """Refuse log-probabilities that are not finite; they belong to the row of ``option_texts`` with this number."""
    if not np.isfinite(values).all():
        row = rows.iloc[number]
        raise UserError(
            f"instance {row.instance_id}, option {row.option!r}: the score is not finite; "
            f"{structure.nonfinite_remedy(network)}"
        )


def score_instances(engine: Any, instances: pd.DataFrame, limit: int | None = None, progress: str = "") -> pd.DataFrame:
    """Score all options of all distinct instances, in memory.

    Args:
        engine: As returned by :func:`make_engine`.
        instances: As for :func:`scripts.core.data.options.option_texts`.
        limit: The model's context length in tokens.
        progress: Label of a progress bar; empty for none.

    Returns:
        One row for each instance and option, in the order of the instances: see :func:`result_table`.
    """
    rows = option_texts(instances)
    check_lengths(engine, rows, limit)
    values: list[Any] = [None] * len(rows)
    plan = engine.plan(rows)
    with progress_bar(progress, sum(batch.tokens for batch in plan)) as bar:
        for batch in plan:
            for row, scores in zip(batch.rows, engine.score(batch), strict=True):
                check_finite(rows, row, scores, engine.network)
                values[row] = scores
            bar.update(batch.tokens)
    return result_table(rows, values)


def result_table(rows: pd.DataFrame, values: list[np.ndarray]) -> pd.DataFrame:
    """Return scores as a table.

    Args:
        rows: As returned by :func:`scripts.core.data.options.option_texts`.
        values: Token log-probabilities of each row, in nats.

    Returns:
        Columns ``instance_id`` (str), ``option`` (str), ``option_index`` (int8), ``log_probability`` (float64, nats,
        sum over scored tokens), ``mean_log_probability`` (float64, nats per token), ``scored_tokens`` (int32),
        ``token_log_probabilities`` (lists of float32).
    """
    totals = np.array([scores.sum() for scores in values])
    token_counts = np.array([len(scores) for scores in values], dtype=np.int32)
    return pd.DataFrame(
        {
            "instance_id": rows.instance_id.to_numpy(),
            "option": rows.option.to_numpy(),
            "option_index": rows.option_index.to_numpy(dtype="int8"),
            "log_probability": totals,
            "mean_log_probability": totals / np.maximum(token_counts, 1),
            "scored_tokens": token_counts,
            "token_log_probabilities": [np.asarray(scores, dtype=np.float32) for scores in values],
        }
    )
