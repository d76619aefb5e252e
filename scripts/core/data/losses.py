"""Score files with losses on labels: which of their columns decides between options.

:func:`scripts.core.scoring.criteria.label_loss` says what the files hold. Three choices are left to an analysis, none
of which needs a model: mean or sum, which labels of T5's kind count, and how encoder-decoders see an option that starts
a sentence.
"""

from typing import TYPE_CHECKING

from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

MAIN = ("log_probability", "scored_tokens", "option_log_probability", "option_tokens")
"""Sums (nats) and counts of all labels and of the option's."""

UNCAPITALISED = tuple(f"uncapitalised_{name}" for name in MAIN)
"""The same of an option without a capital, empty where that was not scored."""

COLUMNS = {
    name: "int32" if name.endswith("tokens") else "float64"
    for name in (
        *MAIN[2:],
        *(f"{kind}_{what}" for kind in ("sentinel", "end") for what in ("log_probability", "tokens")),
        *UNCAPITALISED,
    )
}
"""Columns that a score file with losses has besides those of every score file, and their types."""

CHOICES = {
    "statistic": ("mean", "sum"),
    "labels": ("faithful", "corrected"),
    "capitals": ("faithful", "corrected"),
}


def comparable_scores(
    scores: "pd.DataFrame",
    statistic: str = "mean",
    labels: str = "corrected",
    capitals: str = "corrected",
    where: str = "scores",
) -> "pd.DataFrame":
    """Return scores by which options are compared, as :func:`scripts.core.data.options.pick_best` takes them.

    Args:
        scores: As read by :func:`scripts.core.data.model_outputs.read_scores` from a file with losses.
        statistic: The mean over label tokens (MISGENDERED, section 3.2.1), or their sum. One of "mean", "sum".
        labels: What counts of T5's kind. faithful: sentinels and end of sequence too, as in the released code.
            corrected: the option alone, which is the label that the paper prints (section 3.2.1). Other models have no
            sentinels, and all of their labels count. One of "faithful", "corrected".
        capitals: Options that start a sentence. faithful: encoder-decoders see them without a capital, as in the
            released code. corrected: with one, as decoders do. One of "faithful", "corrected".
        where: What messages start with.

    Returns:
        ``scores`` with ``log_probability`` (nats for a sum, nats a token for a mean), ``scored_tokens`` and
        ``option_tokens`` as chosen.

    Raises:
        UserError: If a column is missing.
        ValueError: For a choice that there is not.
    """
    for name, value in {"statistic": statistic, "labels": labels, "capitals": capitals}.items():
        if value not in CHOICES[name]:
            raise ValueError(f"{name} is {value!r}, none of {', '.join(CHOICES[name])}")
    missing = next((name for name in (*MAIN, *COLUMNS) if name not in scores), None)
    if missing is not None:
        raise UserError(f"{where}: the column {missing} is missing; delete the file and run the workflow again")
    columns = [scores[name] for name in MAIN]
    if capitals == "faithful":
        plain = (scores[name] for name in UNCAPITALISED)
        columns = [p.where(p.notna(), c).astype(c.dtype) for p, c in zip(plain, columns, strict=True)]
    total, count, option_total, option_count = columns
    if labels == "corrected":
        spanned = scores.sentinel_tokens > 0
        total, count = total.mask(spanned, option_total), count.mask(spanned, option_count)
    value = total / count.clip(lower=1) if statistic == "mean" else total
    return scores.assign(log_probability=value, scored_tokens=count, option_tokens=option_count)
