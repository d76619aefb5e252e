"""What the choices change that the paper and the authors' code make differently (faithful and corrected)."""

import pandas as pd

from scripts.misgendered.lib.analyses.resampling import BootstrapFrame, PooledDifferences, ResampledPredictions, by_type
from scripts.misgendered.lib.labels import ALL

WORDS = ["model", "declaration", "template_index", "name", "group"]
"""What instances have in common that differ in the wording of their declarations alone."""


def match_rewordings(base: pd.DataFrame, reworded: pd.DataFrame) -> pd.DataFrame:
    """Return predictions of reworded instances under the ids of those that they reword.

    Args:
        base, reworded: Predictions without examples; each of ``reworded`` has one in ``base``.
    """
    ids = base[[*WORDS, "instance_id"]]
    return reworded.drop(columns="instance_id").merge(ids, on=WORDS, how="left", validate="one_to_one")


def shared_predictions(base: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return those of one model's predictions that ``other`` has in another wording, texts as texts."""
    same = pd.MultiIndex.from_frame(base[WORDS[1:]]).isin(pd.MultiIndex.from_frame(other[WORDS[1:]]))
    return base[same].astype(dict.fromkeys(base.select_dtypes("category"), object))


def choices(base: pd.DataFrame, other: pd.DataFrame, choice: str, made: str, draws: int, seed: int) -> pd.DataFrame:
    """Return how accuracies change when one choice is made otherwise, on the same instances.

    Args:
        base, other: Predictions of the same models, as chosen and otherwise; those of instances in both are compared.
        choice, made: What differs, such as ``capitals``, and how it is made otherwise, such as ``faithful``.
        draws, seed: Of the bootstrap over templates and names.

    Returns:
        ``choice``, ``made``, ``model`` (``all``: over the run's models), ``pronoun_type`` (``all`` as well),
        ``accuracy`` (as chosen), ``otherwise``, ``difference`` (otherwise minus as chosen) with ``ci_low`` and
        ``ci_high``, ``other_pick`` (share of instances with another form), ``n``.
    """
    # Two declarations may say the same, which makes one instance of them.
    keys = ["model", "instance_id", "declaration", "shots", "draw"]
    rows = base.merge(other[[*keys, "picked", "correct"]], on=keys, suffixes=("", "_other"), validate="one_to_one")
    rows = rows[rows.shots == 0].assign(moved=rows.picked != rows.picked_other)
    found = PooledDifferences(BootstrapFrame([rows], draws, seed))
    for model, of_model in rows.groupby("model", sort=False):
        add_choice(found, str(model), of_model)
    return table(found, choice, made)


def add_choice(found: PooledDifferences, model: str, rows: pd.DataFrame) -> None:
    """Add what one model picks, as chosen and otherwise.

    Args:
        rows: Predictions as chosen, with ``correct_other`` (otherwise) and ``moved`` (whether another form is picked).
    """
    resampled = ResampledPredictions(rows, 0, 0, found.places)
    for pronoun_type, chosen in by_type(resampled.table):
        parts = resampled.cells(chosen, "correct_other"), resampled.cells(chosen)
        for key in (model, ALL):
            found.add((key, pronoun_type), *parts, moved=int(resampled.table.moved.to_numpy()[chosen].sum()))


def table(found: PooledDifferences, choice: str, made: str) -> pd.DataFrame:
    """Return the table of :func:`choices` from what :func:`add_choice` added up."""
    models = [model for model in dict.fromkeys(key[0] for key in found.sums) if model != ALL]
    return pd.DataFrame(
        {
            "choice": choice, "made": made, "model": model, "pronoun_type": pronoun_type, "accuracy": value["second"],
            "otherwise": value["first"], "difference": value["difference"], "ci_low": value["ci_low"],
            "ci_high": value["ci_high"], "other_pick": value["moved"] / value["n_first"], "n": value["n_first"],
        }
        for (model, pronoun_type), value in found.ordered([*models, ALL])
    )  # fmt: skip
