"""Instances of the replica with made-up scores: binary pronouns are easy, neopronouns are not, examples help."""

import dataclasses
from functools import cache

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import losses
from scripts.core.paper import published
from scripts.misgendered import estimates, few_shot, samples, study
from scripts.misgendered.predictions import decide
from tests import plans
from tests.misgendered import make

NAMES_APART = 12
"""One of so many names stands in instances, so that names come again in small samples."""
STUDY_MODELS = {
    name: plans.MODELS[name].facts
    for name in published.read_models(make.ROOT / "paper/published/misgendered_models.csv").model
}
DEMONSTRATION = {plans.DECODER: plans.MODELS[plans.DECODER].facts}


@cache
def loaded(examples=False):
    """Return the replica with fewer names; its declarations are all, or the one that examples have."""
    whole = make.load(**({"types": [few_shot.KIND], "numbers": [5]} if examples else {}))
    return dataclasses.replace(whole, names=whole.names[::NAMES_APART])


def instances(size, seed=0, shots=0, draws=1):
    """Return ``size`` instances; with ``shots`` examples in the prompt as many of each draw of the examples."""
    if shots:
        return few_shot.make_prompts(loaded(examples=True), shots, draws, size, seed)
    return loaded().table(samples.draw_sample(loaded(), size, seed))


def scores(table, seed=1, skill=1.0):
    """Return scores of the options of instances, with all that a score file has."""
    rows = table.drop_duplicates("instance_id")[["instance_id", "gold", "options", "groups", "shots"]]
    rows = rows.explode(["options", "groups"], ignore_index=True)
    kinds = rows.groups.str.split("/").str[0].map({name: forms.type for name, forms in loaded().groups.items()})
    tokens = 1 + rows.options.str.len() // 3 + (kinds == "neo")
    alone = kinds.map({"binary": -2.0, "neutral": -3.2, "neo": -5.0})
    alone += np.where(rows.options == rows.gold, skill * (1.5 + 0.25 * rows.shots.clip(upper=6)), 0)
    generator = np.random.default_rng(seed)
    total = alone - 40 - 0.4 * tokens + generator.normal(0, 0.8, len(rows))
    made = {
        "instance_id": rows.instance_id, "option_index": rows.groupby("instance_id").cumcount(), "option": rows.options,
        "text": "", "log_probability": total, "scored_tokens": 20 + tokens, "option_log_probability": alone,
        "option_tokens": tokens, "sentinel_log_probability": 0.0, "sentinel_tokens": 0, "end_log_probability": 0.0,
        "end_tokens": 0, "uncapitalised_log_probability": total - 0.3 * generator.random(len(rows)),
        "uncapitalised_scored_tokens": 20 + tokens, "uncapitalised_option_log_probability": alone,
        "uncapitalised_option_tokens": tokens,
    }  # fmt: skip
    return pd.DataFrame(made)


def predictions(table, scores, model):
    """Return what a model picks for every instance, from all of its scores at once."""
    parts = []
    for statistic in ("mean", "sum"):
        compared = losses.comparable_scores(scores, statistic, "corrected", "corrected", model)
        wide = compared.pivot(index="instance_id", columns="option_index", values="log_probability").astype(float)
        parts.append(wide.reindex(table.instance_id).fillna(-np.inf).to_numpy())
    return decide(table, *parts, model)


def predicted(models, size=660, shots=(), draws=2):
    """Return predictions of made-up models, with and without examples in the prompt."""
    tables = [instances(size), *(instances(size // 5, number, number, draws) for number in shots)]
    table = pd.concat(tables, ignore_index=True)
    parts = [predictions(table, scores(table, i, 0.6 + 0.2 * (i % 5)), model) for i, model in enumerate(models)]
    return pd.concat(parts, ignore_index=True)


def write(path, table):
    """Write predictions as a run does, one number of examples and model after the other; return the path."""
    with files.append_parquet(path) as append:
        for _, part in table.groupby(["shots", "model"], sort=False):
            append(part)
    return str(path)


def estimated(path, draws=300, seed=1, study_models=()):
    """Return the estimates of a file of predictions."""
    table = study.add_identity(estimates.accuracies(path, draws, seed, study_models), "replica", "corrected")
    return table.astype(dict.fromkeys(study.FACTORS, str))
