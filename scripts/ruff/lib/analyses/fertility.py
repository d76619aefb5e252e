"""Tokens that a form costs under each tokenizer against accuracy (Ovalle et al. 2024). Not in the study.

Score files keep how many tokens of each text were scored, not how many are the option's. What is compared is therefore
by how many tokens a form makes the text longer than the shortest option does: none for a form of one token beside
others of one, one for a form of two.
"""

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures
from scripts.ruff.lib.analyses.normalisation import STUDY


def by_form(table: pd.DataFrame) -> pd.DataFrame:
    """Return tokens and accuracy of each form, over all numbers of distractors.

    Args:
        table: From :func:`scripts.ruff.lib.analyses.normalisation.decide_instances`, of all models.

    Returns:
        ``model``, ``normalisation``, ``pronoun``, ``case``, ``extra_tokens`` (mean over instances), ``accuracy``,
        ``n``.
    """
    keys = ["model", "normalisation", "pronoun", "case"]
    grouped = table.groupby(keys, sort=False)
    return grouped.agg(
        extra_tokens=("extra_tokens", "mean"), accuracy=("correct", "mean"), n=("correct", "size")
    ).reset_index()


def correlations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how accuracy goes with the tokens of a form, in each model.

    Args:
        cells: From :func:`by_form`.

    Returns:
        ``model``, ``normalisation``, ``forms``, ``longer`` (forms that make texts longer than the shortest),
        ``accuracy_shortest`` and ``accuracy_longer`` (means over forms), ``difference`` (longer minus shortest) and
        ``spearman`` (of tokens and accuracies over forms); missing where all forms cost the same. Forms that cost more
        also are rarer, so that neither says what tokens do by themselves.
    """
    rows = []
    for (model, name), part in cells.groupby(["model", "normalisation"], sort=False):
        longer = part.extra_tokens > 0
        shortest, others = (part.accuracy[chosen].mean() for chosen in (~longer, longer))
        rank = procedures.spearman(part.extra_tokens.to_numpy(), part.accuracy.to_numpy())
        rows.append(
            {
                "model": model, "normalisation": name, "forms": len(part), "longer": int(longer.sum()),
                "accuracy_shortest": shortest, "accuracy_longer": others, "difference": others - shortest,
                "spearman": rank,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def over_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return, for each form, how accuracy goes with its tokens over models whose tokenizers cut it differently.

    Args:
        cells: From :func:`by_form`.

    Returns:
        ``pronoun``, ``case``, ``n_models``, ``lowest`` and ``highest`` (extra tokens), ``spearman`` over models
        (missing where all tokenizers cut the form alike), under the study's normalisation.
    """
    rows = []
    for (pronoun, case), part in cells[cells.normalisation == STUDY].groupby(["pronoun", "case"], sort=False):
        tokens, accuracy = part.extra_tokens.to_numpy(), part.accuracy.to_numpy()
        rows.append(
            {
                "pronoun": pronoun, "case": case, "n_models": len(part), "lowest": float(np.min(tokens)),
                "highest": float(np.max(tokens)), "spearman": procedures.spearman(tokens, accuracy),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
