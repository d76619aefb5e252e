"""How far each sentence about somebody else pulls a model: log-odds of the right pronoun against that person's.

Not in the study, which counts what is right.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures

LINES = 20
"""Task sentences of each introduction that are kept apart at most: more lines could not be told apart in a figure."""
KEYS = ["pronoun", "n_distractors"]
COLUMNS = ["model", *KEYS, "task_index", "against", "n", "log_odds", "low", "high"]


def log_odds(instances: pd.DataFrame, scores: pd.DataFrame, pronoun_sets: Sequence[str]) -> pd.DataFrame:
    """Return the log-odds of the right option against that of the other person.

    Without distractors there is no other person, and the right option is compared with that of each other set.

    Args:
        instances: The selected instances; those without a context are left out.
        scores: Of a model.
        pronoun_sets: The sets in the order of each instance's options.

    Returns:
        ``instance_id``, ``seed``, ``n_distractors``, ``pronoun``, ``occupation``, ``task_index``, ``against`` (the
        other set) and ``log_odds`` (nats; above 0 the right option is the likelier one).
    """
    columns = ["instance_id", "seed", *KEYS, "occupation", "task_index", "distractor_pronoun"]
    asked = instances.loc[instances.n_distractors.notna(), columns]
    pairs = asked.merge(pd.DataFrame({"against": list(pronoun_sets)}), how="cross")
    wanted = pairs.distractor_pronoun.fillna(pairs.against) == pairs.against
    pairs = pairs[wanted & (pairs.against != pairs.pronoun)].drop(columns="distractor_pronoun")
    values = scores.pivot(index="instance_id", columns="option_index", values="log_probability")
    place = {name: index for index, name in enumerate(pronoun_sets)}
    rows = values.index.get_indexer(pd.Index(pairs.instance_id))
    right, other = (values.to_numpy()[rows, pairs[name].map(place)] for name in ("pronoun", "against"))
    return pairs.assign(log_odds=right - other).astype({"n_distractors": int}).reset_index(drop=True)


def pull(odds: pd.DataFrame, model: str, draws: int, seed: int) -> pd.DataFrame:
    """Return medians of log-odds by introduction and number of distractors, and those of single task sentences.

    Args:
        odds: From :func:`log_odds`.
        model: Its name.
        draws, seed: Of the bootstrap over occupations.

    Returns:
        :data:`COLUMNS`. Medians over all task sentences have no ``task_index`` and no ``against``, and ``low`` and
        ``high``, the ends of their 95 % interval; ``n`` counts instances. Task sentences are the first :data:`LINES` of
        each introduction that have every number of distractors with the same other pronoun, and have the mean over
        their instances.
    """
    rows = []
    for (pronoun, n), part in odds.groupby(KEYS):
        ends = procedures.median_interval(part.log_odds, part.occupation, draws, seed)
        count = len(part.drop_duplicates(["seed", "instance_id"]))
        rows.append((model, pronoun, n, None, None, count, part.log_odds.median(), *ends))
    lines = odds.groupby(["pronoun", "task_index", "against", "n_distractors"]).log_odds.agg(["size", "mean"])
    lines = lines.reset_index()
    line = ["pronoun", "task_index", "against"]
    lines = lines[lines.groupby(line).n_distractors.transform("size") == odds.n_distractors.nunique()]
    place = lines[line].drop_duplicates().groupby("pronoun").cumcount()
    kept = lines.merge(lines.loc[place.index[place < LINES], line])
    rows += [
        (model, row.pronoun, row.n_distractors, row.task_index, row.against, row.count, row.value, np.nan, np.nan)
        for row in kept.rename(columns={"size": "count", "mean": "value"}).itertuples()
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"task_index": "Int64"})
