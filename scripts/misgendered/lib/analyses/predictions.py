"""From scores to predictions (Hossain et al. 2023, section 3.2.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import losses, model_outputs

OF_INSTANCE = [
    "instance_id", "shots", "draw", "declaration", "declaration_type", "declaration_number", "pronoun_type", "group",
    "form", "name", "name_class", "template_index", "gold",
]  # fmt: skip
"""Columns of an instance that its predictions keep."""


def decide_instances(
    instances: pd.DataFrame,
    means: np.ndarray,
    sums: np.ndarray,
    model: str,
    combinations: Mapping[int, Sequence[str]],
) -> pd.DataFrame:
    """Return what one model picks for every instance: the candidate with the lowest loss.

    Equal losses go to the candidate that comes first. A form that several groups share (*em* of e and ey) is one
    candidate, right for each of them.

    Args:
        instances: ``options`` and ``groups`` are sequences of the same length: the candidates and the pronoun group of
            each, or groups where several have the form.
        means, sums: Minus the losses, of each token on average and together; minus infinity where an instance has no
            candidate. Shape (instances, candidates), of float.
        combinations: Number of a declaration, such as 31, to the forms that it declares.

    Returns:
        ``model``, the columns :data:`OF_INSTANCE` (``declaration_number`` is the number of declared forms),
        ``picked`` and ``correct`` by the mean, ``picked_sum`` and ``correct_sum`` by the sum, ``tie`` (another form has
        the same mean), ``picked_group`` (of the picked form) and ``chance`` (of a random pick among the candidates).
    """
    table = instances[OF_INSTANCE].reset_index(drop=True)
    rows = np.arange(len(table))
    offered = np.array([len(offer) for offer in instances.options], dtype=int)
    flat = np.array([option for offer in instances.options for option in offer], dtype=object)
    groups = np.array([group for offer in instances.groups for group in offer], dtype=object)
    starts = np.cumsum(offered) - offered
    # Forms as numbers: equal ones have the same, and where there is no candidate is none.
    codes = np.full(means.shape, -1)
    wanted = np.arange(means.shape[1])[None, :] < offered[:, None]
    numbers, forms = pd.factorize(flat)
    codes[wanted] = numbers
    gold = pd.Index(forms).get_indexer(pd.Index(table.gold))
    for values, suffix in ((means, ""), (sums, "_sum")):
        # The study takes the mean over tokens; the sum is what it is compared with.
        best = values.argmax(axis=1)
        table[f"picked{suffix}"] = flat[starts + best]
        table[f"correct{suffix}"] = codes[rows, best] == gold
        if values is means:
            chosen = codes[rows, best][:, None]
            table["tie"] = ((values == values.max(axis=1)[:, None]) & (codes != chosen)).any(axis=1)
            table["picked_group"] = groups[starts + (codes == chosen).argmax(axis=1)]
    table["chance"] = (codes == gold[:, None]).sum(axis=1) / offered
    known = {name: len(combinations[int(name.rpartition("_")[2])]) for name in set(table.declaration)}
    table["declaration_number"] = table.declaration.map(known)
    table.insert(0, "model", model)
    return table


class Losses:
    """A model's losses of all candidates, read a part of the file at a time.

    Args:
        path: Its score file.
        asked: The instances that were scored.
        labels, capitals: As :func:`scripts.core.data.losses.comparable_scores` takes them.

    Attributes:
        means, sums (array of float, shape (instances, candidates)): As :func:`decide_instances` takes them, for the
            distinct instances of ``asked``.

    Raises:
        UserError: As :func:`scripts.core.data.model_outputs.read_scores`, and if a column is missing.
    """

    def __init__(
        self,
        path: str | Path,
        model: str,
        asked: model_outputs.ExpectedOptions,
        labels: str = "corrected",
        capitals: str = "corrected",
    ):
        shape = len(asked.sizes), int(asked.sizes.max(initial=0))
        self.means, self.sums = np.full(shape, -np.inf), np.full(shape, -np.inf)
        for owner, part in model_outputs.score_parts(path, model, asked, (*losses.MAIN, *losses.COLUMNS)):
            at = owner, part.option_index.to_numpy(dtype=int)
            for statistic, values in (("mean", self.means), ("sum", self.sums)):
                compared = losses.comparable_scores(part, statistic, labels, capitals, f"scores of {model}")
                values[at] = compared.log_probability

    def decided(
        self, instances: pd.DataFrame, owner: np.ndarray, model: str, combinations: Mapping[int, Sequence[str]]
    ) -> pd.DataFrame:
        """Return what the model picks for some rows of the instances, whose distinct ones are ``owner``."""
        return decide_instances(instances, self.means[owner], self.sums[owner], model, combinations)


PART = 1 << 16
"""Rows of instances that are held at once."""


def instance_parts(path: str | Path, columns: Iterable[str] = ()) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield the instances of a file a few at a time, with the number of the first.

    They have what predictions are made of, and ``columns``.
    """
    wanted = list(dict.fromkeys([*OF_INSTANCE, "options", "groups", *columns]))
    start = 0
    with files.open_parquet(path, wanted) as file:
        for batch in file.iter_batches(PART, columns=wanted):
            yield start, batch.to_pandas()
            start += len(batch)
