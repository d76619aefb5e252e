"""Do a model's probabilities and what it writes say the same of an instance? Not in the study.

Subramonian et al. (2025) find that both disagree on whether a fifth of the instances are right.
"""

import pandas as pd

from scripts.core.statistics import method_agreement, procedures
from scripts.ruff.lib.analyses.answers import PICKS
from scripts.ruff.lib.analyses.prompting import published_order
from scripts.ruff.lib.prompts import VANILLA

QUESTIONS = ("right", "pick")
"""Whether an output is right, of which an output without an answer is none; which set it names, of outputs that do."""
FACTORS = ("n_distractors", "pronoun", "kind")
DRAW = ["instance_id", "seed", "n_distractors"]


def scored_agreement(
    outputs: pd.DataFrame, predictions: pd.DataFrame, pairs: list[dict], draws: int, seed: int
) -> pd.DataFrame:
    """Return how far what a model writes agrees with the option that has the highest score, on the same instances.

    Args:
        outputs: Of all prompted models (:func:`scripts.ruff.lib.analyses.prompting.output_rows`); final answers to
            prompts without a chain of thought are compared, over all of these prompts.
        predictions: As :func:`scripts.ruff.lib.analyses.predictions.predictions` returns them.
        pairs: ``prompted`` and ``scored``: the same model, or a chat model and its base model.
        draws, seed: Of the bootstrap over occupations.

    Returns:
        ``prompted``, ``scored``, ``factor`` (``all`` or of :data:`FACTORS`), ``level``, ``question`` (of
        :data:`QUESTIONS`), ``instances``, ``n`` (outputs), ``answered`` (share of outputs that name one set in the
        right case) and what :func:`scripts.core.statistics.method_agreement.compare_answers` gives.
    """
    vanilla = published_order(outputs)
    vanilla = vanilla[(vanilla.method == VANILLA) & (vanilla.answer == "final")]
    scored = predictions[predictions.setting == "fidelity"].astype({"n_distractors": "int64"})
    rows = []
    for pair in pairs:
        likelihoods = scored.loc[scored.model == pair["scored"], [*DRAW, "prediction", "correct"]]
        both = vanilla[vanilla.model == pair["prompted"]].merge(likelihoods, on=DRAW)
        both = both.assign(right=both.outcome == "right", answered=both.outcome.isin(PICKS))
        parts = [("all", "all", both)]
        parts += [(factor, str(level), part) for factor in FACTORS for level, part in both.groupby(factor)]
        for factor, level, part in parts:
            for question in QUESTIONS:
                asked = part if question == "right" else part[part.answered]
                written, preferred = {
                    "right": (asked.right, asked.correct.astype(bool)), "pick": (asked.named, asked.prediction),
                }[question]  # fmt: skip
                cell = {"factor": factor, "level": level, "question": question}
                size = {"instances": len(asked[DRAW].drop_duplicates()), "answered": float(part.answered.mean())}
                rows.append(
                    pair
                    | cell
                    | size
                    | method_agreement.compare_answers(written, preferred, asked.occupation, draws, seed)
                )
    first = ["prompted", "scored", "factor", "level", "question", "instances", "n", "answered"]
    measures = [f"{name}{end}" for name in method_agreement.MEASURES for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*first, *measures])


def sampled_agreement(greedy: pd.DataFrame, sampled: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return how much of what a model writes is chance: answers that are drawn again and again.

    Args:
        greedy: Outputs of all models whose tokens are the most probable ones, as for :func:`scored_agreement`.
        sampled: Outputs of models whose tokens are drawn, to the same prompts, with the column ``sample`` (which draw).
        draws, seed: Of the bootstrap over occupations.

    Returns:
        ``model``, ``factor`` (``all`` or of :data:`FACTORS`), ``level``, ``samples``, ``n`` (outputs of each draw),
        ``accuracy`` (mean over draws), ``sd`` (over draws, ddof 1), ``lowest``, ``highest``, ``greedy`` (accuracy of
        the most probable tokens), ``repeated`` (share of the pairs of draws that are both right or both not; 1 without
        chance) with ``repeated_low`` and ``repeated_high``, ``expected`` (what it would be if all outputs were right
        with one probability, the accuracy :math:`a`: :math:`a^2 + (1 - a)^2`) and ``same_as_greedy`` (share of drawn
        outputs that are right where the greedy one is, and wrong where that is).
    """
    keys = [*DRAW, "prompt"]
    first = published_order(greedy)
    first = first[(first.method == VANILLA) & (first.answer == "final")]
    drawn = published_order(sampled)
    drawn = drawn[(drawn.method == VANILLA) & (drawn.answer == "final")].assign(
        right=lambda rows: rows.outcome == "right"
    )
    rows = []
    for model, of_model in drawn.groupby("model", sort=False):
        wide = of_model.set_index([*keys, "occupation", "pronoun", "kind", "sample"]).right.unstack("sample")
        samples = list(wide.columns)
        wide = wide.reset_index()
        base = first[first.model == model].assign(greedy=lambda rows: rows.outcome == "right")
        wide = wide.merge(base[[*keys, "greedy"]], on=keys, validate="one_to_one")
        parts = [("all", "all", wide)]
        parts += [(factor, str(level), part) for factor in FACTORS for level, part in wide.groupby(factor)]
        for factor, level, part in parts:
            values = part[samples].to_numpy(dtype=float)
            right, size = values.sum(axis=1), len(samples)
            # Pairs of draws of one output that agree: both right, or both not.
            pairs = (right * (right - 1) + (size - right) * (size - right - 1)) / (size * (size - 1))
            clusters = pd.DataFrame({"pairs": pairs, "one": 1.0}).groupby(part.occupation.to_numpy()).sum()
            low, high = procedures.cluster_bootstrap(clusters.pairs, clusters.one, draws, seed)
            each = values.mean(axis=0)
            rows.append(
                {
                    "model": model, "factor": factor, "level": level, "samples": size, "n": len(part),
                    "accuracy": each.mean(), "sd": each.std(ddof=1), "lowest": each.min(), "highest": each.max(),
                    "greedy": part.greedy.mean(), "repeated": pairs.mean(), "repeated_low": low, "repeated_high": high,
                    "expected": each.mean() ** 2 + (1 - each.mean()) ** 2,
                    "same_as_greedy": (values == part.greedy.to_numpy(dtype=float)[:, None]).mean(),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)
