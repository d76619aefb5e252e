"""From scores to predictions (Hossain et al. 2023, section 3.2.1), and predictions read one model at a time.

A run of all 3.3 million instances and many models does not fit into memory.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import losses, model_outputs
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named

OF_INSTANCE = [
    "instance_id", "shots", "draw", "declaration", "declaration_type", "declaration_number", "pronoun_type", "group",
    "form", "name", "name_class", "template_index", "gold",
]  # fmt: skip
"""Columns of an instance that its predictions keep."""
KEYS = ["shots", "model"]
PART = 1 << 16
"""Rows of instances that are held at once."""


def predictions(
    *, instances: list, scores: list, predictions: str, models: list, wording: str, labels: str, capitals: str
) -> None:
    """Turn the scores of all models into predictions (:func:`decide`), with and without examples in the prompt.

    ``instances`` are the sets of one set of templates, without examples and with each number of them; ``scores`` has a
    file for each of the sets and each of its ``models``, models varying fastest. Instances count in the ``wording`` of
    the run; ``labels`` and ``capitals`` say which scores are compared.
    """
    asked = [(path, model) for path, names in zip(instances, models, strict=True) for model in names]
    if not asked:
        raise UserError(
            "misgendered: no model of this run has a loss on labels, because all of them are masked language models; "
            "add a decoder or an encoder-decoder to models, or leave misgendered out of studies"
        )
    known: Any = None
    of = None
    with files.append_parquet(predictions) as append:
        for (source, model), path in zip(asked, scores, strict=True):
            if of != source:
                known, of = model_outputs.ExpectedOptions.read(source), source
            compared = read_losses(path, model, known, labels, capitals)
            count, ties = 0, 0
            for part in decide_parts(source, known, compared, model, wording):
                count, ties = count + len(part), ties + int(part.tie.sum())
                append(part)
            log.info("%s, %s: %d instances, %d ties", model, path, count, ties)


def read_losses(
    path: str | Path, model: str, asked: model_outputs.ExpectedOptions, labels: str, capitals: str
) -> dict[str, np.ndarray]:
    """Return minus a model's losses of all candidates, as their ``mean`` over tokens and their ``sum``.

    Of the distinct instances of ``asked``; minus infinity where one has no candidate. Shape (instances, candidates).
    """
    shape = len(asked.sizes), int(asked.sizes.max(initial=0))
    found = {statistic: np.full(shape, -np.inf) for statistic in ("mean", "sum")}
    for owner, part in model_outputs.score_parts(path, model, asked, (*losses.MAIN, *losses.COLUMNS)):
        for statistic, values in found.items():
            compared = losses.comparable_scores(part, statistic, labels, capitals, f"scores of {model}")
            values[owner, part.option_index.to_numpy(dtype=int)] = compared.log_probability
    return found


def decide_parts(
    path: str | Path, known: model_outputs.ExpectedOptions, compared: dict[str, np.ndarray], model: str, wording: str
) -> Iterator[pd.DataFrame]:
    """Yield what a model picks for the instances of a file (:func:`decide`) that have a wording, by its losses."""
    columns, start = [*OF_INSTANCE, "options", "groups", "wording"], 0
    with files.open_parquet(path, columns) as file:
        for batch in file.iter_batches(PART, columns=columns):
            rows = batch.to_pandas()
            here = (rows.wording == wording).to_numpy()
            owner = known.owner[start : start + len(rows)][here]
            start += len(rows)
            if len(owner):
                yield decide(rows[here], compared["mean"][owner], compared["sum"][owner], model)


def decide(instances: pd.DataFrame, means: np.ndarray, sums: np.ndarray, model: str) -> pd.DataFrame:
    """Return what one model picks for every instance: the candidate with the lowest loss.

    Equal losses go to the candidate that comes first. A form that several groups share (*em* of e and ey) is one
    candidate, right for each of them.

    Args:
        instances: ``options`` and ``groups`` are sequences of the same length: the candidates and the pronoun group of
            each, or groups where several have the form.
        means, sums: Of :func:`read_losses`, for each of these instances.

    Returns:
        ``model``, the columns :data:`OF_INSTANCE`, ``picked`` and ``correct`` by the mean, ``picked_sum`` and
        ``correct_sum`` by the sum, ``tie`` (another form has the same mean), ``picked_group`` (of the picked form) and
        ``chance`` (of a random pick among the candidates).
    """
    table = instances[OF_INSTANCE].reset_index(drop=True)
    rows = np.arange(len(table))
    offered = np.array([len(offer) for offer in instances.options], dtype=int)
    flat = np.array([option for offer in instances.options for option in offer], dtype=object)
    groups = np.array([group for offer in instances.groups for group in offer], dtype=object)
    starts = np.cumsum(offered) - offered
    # Forms as numbers: equal ones have the same, and where there is no candidate is none.
    codes = np.full(means.shape, -1)
    numbers, forms = pd.factorize(flat)
    codes[np.arange(means.shape[1])[None, :] < offered[:, None]] = numbers
    gold = pd.Index(forms).get_indexer(pd.Index(table.gold))
    # The study takes the mean over tokens; the sum is what it is compared with.
    best, by_sum = means.argmax(axis=1), sums.argmax(axis=1)
    chosen = codes[rows, best][:, None]
    table = table.assign(
        picked=flat[starts + best],
        correct=codes[rows, best] == gold,
        tie=((means == means.max(axis=1)[:, None]) & (codes != chosen)).any(axis=1),
        picked_group=groups[starts + (codes == chosen).argmax(axis=1)],
        picked_sum=flat[starts + by_sum],
        correct_sum=codes[rows, by_sum] == gold,
        chance=(codes == gold[:, None]).sum(axis=1) / offered,
    )
    table.insert(0, "model", model)
    return table


def by_model(
    path: str | Path, columns: Sequence[str], shots: int | None = None, models: Sequence[str] | None = None
) -> Iterator[tuple[int, str, pd.DataFrame]]:
    """Yield each number of examples and model of a file of predictions with its rows, in the order of the file.

    Args:
        columns: Those that are needed besides :data:`KEYS`; texts become categories in the order of the alphabet.
        shots, models: Only those with so many examples in the prompt, and of these models.
    """
    wanted = list(dict.fromkeys([*KEYS, *columns]))
    with files.open_parquet(path, wanted) as file:
        # Identifiers hardly repeat.
        texts = [f.name for f in file.schema_arrow if pa.types.is_string(f.type) and f.name != "instance_id"]
        pairs: dict[tuple[int, str], None] = {}
        for group in range(file.num_row_groups):
            keys = file.read_row_group(group, columns=KEYS).to_pandas().drop_duplicates()
            pairs |= dict.fromkeys(keys.itertuples(index=False, name=None))
        for number, model in pairs:
            if shots in (None, number) and (models is None or model in models):
                here = [("shots", "==", number), ("model", "==", model)]
                rows = pq.read_table(
                    path, columns=wanted, filters=here, read_dictionary=texts, page_checksum_verification=True
                )
                frame = rows.to_pandas()
                for name in frame.select_dtypes("category"):
                    frame[name] = frame[name].cat.set_categories(sorted(frame[name].cat.categories))
                yield number, model, frame


if __name__ == "__main__":
    run_named()
