"""From scores to predictions (Hossain et al. 2023, section 3.2.1)."""

import numpy as np

from scripts.core import losses
from scripts.core.errors import UserError
from scripts.misgendered.lib import study
from scripts.misgendered.lib.instances import SEPARATOR

OF_INSTANCE = [
    "instance_id", "shots", "draw", "declaration", "declaration_type", "declaration_number", "pronoun_type", "group",
    "form", "name", "name_class", "template_index", "gold",
]  # fmt: skip
"""Columns of an instance that its predictions keep."""
STATISTICS = {"mean": "", "sum": "_sum"}
"""How the losses of tokens become one number, to what a prediction's columns have behind their names: the study takes
the mean, and the sum is what it is compared with."""


def predictions(instances, scores, model, combinations, labels="corrected", capitals="corrected"):
    """Return what one model picks for every instance: the candidate with the lowest loss.

    Equal losses go to the candidate that comes first. A form that several groups share (*em* of e and ey) is one
    candidate, right for each of them.

    Parameters
    ----------
    instances : DataFrame
        ``options`` and ``groups`` are sequences of the same length: the candidates and the pronoun group of each, or
        groups where several have the form.
    scores : DataFrame
        A model's scores with losses (:mod:`scripts.core.losses`).
    model : str
    combinations : dict of int to sequence of str
        Number of a declaration, such as 31, to the forms that it declares.
    labels, capitals : str
        As :func:`scripts.core.losses.compared` takes them.

    Returns
    -------
    DataFrame
        ``model``, the columns :data:`OF_INSTANCE` (``declaration_number`` is the number of declared forms),
        ``declared`` (whether the form that is asked for is one of them), ``picked`` and ``correct`` by the mean,
        ``picked_sum`` and ``correct_sum`` by the sum, ``tie`` (another form has the same mean), ``picked_group`` and
        ``picked_type`` (of the picked form), ``gold_tokens`` and ``chance`` (of a random pick among the candidates).

    Raises
    ------
    UserError
        If an instance lacks the score of a candidate.
    """
    table = instances[OF_INSTANCE].reset_index(drop=True)
    options = [list(offer) for offer in instances.options]
    offered = np.array([len(offer) for offer in options])
    for statistic, suffix in STATISTICS.items():
        compared = losses.compared(scores, statistic, labels, capitals, f"scores of {model}")
        values = _wide(compared, "log_probability", instances, offered, model)
        best = values.argmax(axis=1)
        table[f"picked{suffix}"] = [offer[index] for offer, index in zip(options, best, strict=True)]
        table[f"correct{suffix}"] = table[f"picked{suffix}"] == table.gold
        if statistic == "mean":
            equal = values == values.max(axis=1)[:, None]
            table["tie"] = [
                len({offer[i] for i in np.flatnonzero(row)}) > 1 for offer, row in zip(options, equal, strict=True)
            ]
            table["picked_group"] = [
                groups[offer.index(form)]
                for offer, groups, form in zip(options, map(list, instances.groups), table.picked, strict=True)
            ]
            table["picked_type"] = [study.pronoun_type(group.split(SEPARATOR)[0]) for group in table.picked_group]
            tokens = _wide(compared, "option_tokens", instances, offered, model)
    right = [offer.index(gold) for offer, gold in zip(options, table.gold, strict=True)]
    table["gold_tokens"] = tokens[np.arange(len(table)), right].astype(int)
    table["chance"] = [offer.count(gold) / len(offer) for offer, gold in zip(options, table.gold, strict=True)]
    numbers = table.declaration.str.rpartition("_")[2].astype(int)
    table["declared"] = [form in combinations[number] for form, number in zip(table.form, numbers, strict=True)]
    table["declaration_number"] = numbers.map({number: len(forms) for number, forms in combinations.items()})
    table.insert(0, "model", model)
    return table


def _wide(scores, column, instances, offered, model):
    """Return a column with a row for each instance and a column for each candidate; minus infinity where none is."""
    wide = scores.pivot(index="instance_id", columns="option_index", values=column).astype(float)
    most = max(int(offered.max()), 1 + int(wide.columns.max()))
    values = wide.reindex(index=instances.instance_id, columns=range(most)).to_numpy()
    wanted = np.arange(most)[None, :] < offered[:, None]
    lacking = (np.isnan(values) == wanted).any(axis=1)
    if lacking.any():
        first = instances.instance_id.iloc[int(np.flatnonzero(lacking)[0])]
        raise UserError(
            f"scores of {model}: instance {first} does not have one score for each candidate, and so {lacking.sum()} "
            f"of {len(lacking)}; delete the score file and run the workflow again"
        )
    return np.where(wanted, values, -np.inf)
