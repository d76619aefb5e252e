"""What the study measures, of every model: accuracies, picks without context, kinds of errors, answers to prompts.

Sections and figures are those of Gautam et al. (2024). Metrics of ``estimates.csv``:

- ``accuracy``: of scored models and of prompted ones, whose other outputs are ``wrong``, ``wrong_case``, ``several``
  and ``none``
- ``preferred``: which set a scored model takes after each introduction; without context (section 5) ``picked``, and
  ``tied``, the picks of a set with which another one ties
- ``error``; ``ambiguous`` ones among them; of the others ``distraction``, ``bias``, ``other``, and ``unbiased``, which
  cannot be bias (section 8)

Values are means over samples, or over prompts, with their standard deviation ``sd`` (ddof 1) over so many ``samples``;
``above`` and ``below`` are sums over all. Intervals are a bootstrap over occupations, this project's addition.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data.estimate_rows import MODEL, PROMPTED
from scripts.core.statistics import procedures, ratios
from scripts.core.workflow.job import run_named
from scripts.ruff import study
from scripts.ruff.answers import OUTCOMES
from scripts.ruff.pronoun_tests import compare_sets
from scripts.ruff.study import FACTORS, IDENTITY

COLUMNS = [
    "model", "setting", "seed", "n_distractors", "occupation", "case", "polarity", "pronoun", "distractor_pronoun",
    "prediction", "context_free_prediction", "correct", "tie",
]  # fmt: skip
"""Columns of predictions that are read."""
DRAW = ["instance_id", "seed", "n_distractors"]
"""What identifies an instance of a sample."""
MEASURES = ["value", "low", "high", "sd", "samples", "above", "below", "clusters", "chance"]
SPLITS = ["pronoun", "case", "polarity"]
CELL = ["n_distractors", *SPLITS]
KINDS_OF_ERRORS = ("distraction", "bias", "other")
OF_OUTCOMES = {"accuracy": "right"} | {name: name for name in OUTCOMES[1:]}
"""Metrics of prompted models to the outcomes that they count."""


def estimates(
    *, predictions: list, outputs: list, estimates: str, pronoun_tests: str, against_scored: str, template_sets: list,
    models: dict, pronoun_sets: list, pairs: list, chance: float, alpha: float, draws: int, seed: int,
) -> None:  # fmt: skip
    """Estimate all metrics; test pronoun sets against each other; set answers beside likelihoods.

    ``predictions`` and ``outputs`` (none if nobody was asked) have a file for each of ``template_sets``. ``models`` are
    those that are scored, ``pairs`` of a prompted and a scored model; ``chance`` is the accuracy of a random pick;
    ``draws`` and ``seed`` belong to the bootstrap.

    Samples too small for a test to be significant at ``alpha`` are not tested, and demonstration models are left out
    of tests over all models if there are others.
    """
    found, tests, beside = [], [], []
    least = procedures.smallest_sample(alpha, len(pronoun_sets) * (len(pronoun_sets) - 1) // 2)
    for part, path in zip(template_sets, predictions, strict=True):
        units = []
        # Models one at a time: a run can have a million predictions.
        for model, rows in read_predictions(path, models):
            made = estimate_model(rows, pronoun_sets, chance, draws, seed)
            found.append(made.assign(templates=part, model=model, kind=MODEL, scoring=study.SCORED["scoring"]))
            units.append(occupation_accuracies(rows))
        tested = compare_sets(pd.concat(units), pronoun_sets, alpha, least, study.pooled_models(models))
        tests.append(tested.assign(templates=part, kind=MODEL, **study.SCORED))
    for part, path, scored in zip(template_sets, outputs, predictions, strict=False):
        asked = files.read_parquet(path).astype({"n_distractors": str})
        found.append(estimate_prompts(asked).assign(templates=part, kind=MODEL, scoring=PROMPTED))
        likelihoods = files.read_parquet(scored, ["model", "setting", *DRAW, "correct"])
        beside.append(compare_with_scored(asked, likelihoods, pairs).assign(templates=part, kind=MODEL))
    write_results(estimates, pd.concat(found).reindex(columns=[*IDENTITY, *FACTORS, "metric", *MEASURES]))
    write_results(pronoun_tests, pd.concat(tests))
    write_results(against_scored, pd.concat([pd.DataFrame(columns=[*IDENTITY, "prompted", "scored"]), *beside]))


def write_results(path: str, table: pd.DataFrame) -> None:
    """Write a table with what identifies its rows first, empty where it is pooled."""
    first = [name for name in (*IDENTITY, *FACTORS, "metric") if name in table]
    table = table[[*first, *table.columns.difference(first, sort=False)]]
    files.write_csv(path, table.astype(dict.fromkeys(first, object)).fillna(dict.fromkeys(first, ratios.POOLED)))


def read_predictions(path: str, models: Sequence[str] | dict) -> "list[tuple[str, pd.DataFrame]] | zip":
    """Yield each model with its predictions; numbers that are factors are words."""
    table = files.read_arrow(path, COLUMNS)
    tables = (table.filter(pc.equal(table["model"], model)).to_pandas() for model in models)
    return zip(models, (rows.astype({"seed": "Int64", "n_distractors": "Int64"}) for rows in tables), strict=True)


def estimate_model(rows: pd.DataFrame, pronoun_sets: list[str], chance: float, draws: int, seed: int) -> pd.DataFrame:
    """Return the estimates of one model that was scored, from its predictions."""
    free = rows[rows.setting == study.CONTEXT_FREE]
    given = fidelity_rows(rows)
    parts = [
        estimate_accuracies(given, draws, seed).assign(chance=chance),
        estimate_preferences(given, pronoun_sets, draws, seed),
        estimate_errors(given),
    ]
    picked = estimate_picks(free, pronoun_sets).assign(setting=study.CONTEXT_FREE)
    return pd.concat([*(part.assign(setting=study.FIDELITY) for part in parts), picked])


def fidelity_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions that have a context and so a right answer."""
    rows = rows[rows.setting == study.FIDELITY].astype({"seed": str, "n_distractors": str})
    return rows.assign(correct=rows.correct.astype(float))


def occupation_accuracies(rows: pd.DataFrame) -> pd.Series:
    """Return accuracies without distractors by model, pronoun set and occupation."""
    rows = fidelity_rows(rows)
    rows = rows[rows.n_distractors == "0"]
    return rows.groupby(["model", "pronoun", "occupation"], sort=False).correct.mean()


def count_right(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return right answers (``above``) and all (``below``) by a unit, over everything and by each factor alone."""
    parts = []
    for factors in ([], *([name] for name in SPLITS)):
        groups = rows.groupby(["n_distractors", *factors, unit], sort=False).correct
        parts.append(groups.agg(above="sum", below="size").reset_index())
    return pd.concat(parts, ignore_index=True).fillna(dict.fromkeys(SPLITS, ratios.POOLED)).assign(metric="accuracy")


def estimate_accuracies(rows: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies (section 4.3; Figures 1, 5, 6 and 7), over all samples and on each.

    The interval belongs to the share over all samples together.
    """
    by_sample = count_right(rows, "seed")
    by_sample["value"] = by_sample.above / by_sample.below
    over = by_sample.groupby(CELL, sort=False).value.agg(value="mean", sd="std", samples="count").reset_index()
    items = count_right(rows, "occupation")
    # Occupations are resampled in the order in which a cell has them.
    items["cluster"] = items.groupby(CELL, sort=False).cumcount()
    pooled = ratios.estimate_ratios(items, CELL, "cluster", draws, seed).drop(columns="value")
    return pd.concat([pooled.merge(over, on=CELL), by_sample])


def estimate_preferences(rows: pd.DataFrame, pronoun_sets: list[str], draws: int, seed: int) -> pd.DataFrame:
    """Return how often each set is predicted after each introduction; shares of one introduction add up to 1."""
    items = [rows.assign(preferred=name, above=(rows.prediction == name).astype(int), below=1) for name in pronoun_sets]
    items = pd.concat(items).assign(metric="preferred")
    return ratios.estimate_ratios(items, ["n_distractors", "pronoun", "preferred"], "occupation", draws, seed)


def estimate_picks(free: pd.DataFrame, pronoun_sets: list[str]) -> pd.DataFrame:
    """Return how often each set is predicted without context (section 5, Figures 4 and 10), and the ties."""
    by_set = free.groupby("prediction").tie.agg(["size", "sum"]).reindex(pronoun_sets, fill_value=0).astype(int)
    counts = {"picked": (by_set["size"], len(free)), "tied": (by_set["sum"], by_set["size"])}
    parts = [
        pd.DataFrame({"preferred": by_set.index, "metric": name, "above": above.to_numpy(), "below": below})
        for name, (above, below) in counts.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(value=table.above / table.below, chance=1 / len(pronoun_sets))


def classify_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the errors with distractors, each with its type (section 8).

    With y the prediction, d the distractor pronoun and b the same model's context-free prediction on the same task
    sentence, an error is ``ambiguous`` if d equals b, otherwise ``distraction`` if y equals d, ``bias`` if y equals b
    and ``other`` if neither. Errors where b equals the right pronoun cannot be bias errors; they stay among
    the unambiguous ones, which the paper leaves open.

    Returns:
        The rows of the errors with the columns ``error_type`` and ``unbiased``: b is the right pronoun.
    """
    wrong = rows[(rows.n_distractors != "0") & (rows.correct == 0)]
    kinds = np.select(
        [
            wrong.distractor_pronoun == wrong.context_free_prediction,
            wrong.prediction == wrong.distractor_pronoun,
            wrong.prediction == wrong.context_free_prediction,
        ],
        ["ambiguous", "distraction", "bias"],
        "other",
    )
    return wrong.assign(error_type=kinds, unbiased=wrong.context_free_prediction == wrong.pronoun)


def estimate_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return errors among all predictions, and kinds of errors among those whose cause can be told (Figure 9).

    Shares of kinds are means over samples; a sample without such errors does not count.
    """
    wrong, found = classify_errors(rows), []
    for number, part in rows[rows.n_distractors != "0"].groupby("n_distractors", sort=False):
        of_number = wrong[wrong.n_distractors == number]
        clear = of_number[of_number.error_type != "ambiguous"]
        counts = [
            ("error", len(of_number), len(part)),
            ("ambiguous", len(of_number) - len(clear), len(of_number)),
            ("unbiased", int(clear.unbiased.sum()), len(clear)),
        ]
        found += [(number, *row, row[1] / row[2] if row[2] else np.nan, np.nan, np.nan) for row in counts]
        shares = pd.crosstab(clear.seed, clear.error_type, normalize="index")
        for kind in KINDS_OF_ERRORS:
            values = shares[kind] if kind in shares else pd.Series(0.0, index=shares.index)
            above = int((clear.error_type == kind).sum())
            found.append((number, kind, above, len(clear), values.mean(), values.std(), len(values)))
    return pd.DataFrame(found, columns=["n_distractors", "metric", "above", "below", "value", "sd", "samples"])


def estimate_prompts(outputs: pd.DataFrame) -> pd.DataFrame:
    """Return what prompted models' outputs come to (Figures 11 to 13): with each prompt, and the mean over prompts."""
    keys = ["model", "method", "answer", "n_distractors", "metric"]
    flags = [outputs.assign(metric=name, above=outputs.outcome == kind) for name, kind in OF_OUTCOMES.items()]
    groups = pd.concat(flags).groupby([*keys, "prompt"], sort=False).above
    single = groups.agg(above="sum", below="size").reset_index().astype({"above": int})
    single["value"] = single.above / single.below
    over = {"value": ("value", "mean"), "sd": ("value", "std"), "samples": ("value", "count")}
    sums = {name: (name, "sum") for name in ("above", "below")}
    pooled = single.groupby(keys, sort=False).agg(**over, **sums).reset_index()
    return pd.concat([single, pooled.assign(prompt=ratios.POOLED)])


def compare_with_scored(outputs: pd.DataFrame, scored: pd.DataFrame, pairs: list[dict]) -> pd.DataFrame:
    """Return accuracies of prompted models beside those of models that were scored, on the same instances.

    Args:
        pairs: ``prompted`` and ``scored``: the same model, or a chat model and its base model.

    Returns:
        Two rows for each pair and number of distractors, that of the prompted model first, with ``lowest``, ``highest``
        and ``samples`` over its vanilla prompts; ``below`` are instances of samples that both have.
    """
    vanilla = outputs[(outputs.method == study.VANILLA) & (outputs.answer == study.FINAL)]
    scored = scored[scored.setting == study.FIDELITY].astype({"n_distractors": str})
    found = []
    for pair in pairs:
        likelihoods = scored[scored.model == pair["scored"]][[*DRAW, "correct"]]
        both = vanilla[vanilla.model == pair["prompted"]].merge(likelihoods, on=DRAW)
        for number, part in both.groupby("n_distractors"):
            prompts = (part.outcome == "right").groupby(part.prompt).mean()
            once = part.drop_duplicates(DRAW)
            common = pair | {"n_distractors": number, "metric": "accuracy", "below": len(once)}
            asked = study.ASKED | {"scoring": PROMPTED, "model": pair["prompted"]}
            over = {"lowest": prompts.min(), "highest": prompts.max(), "samples": len(prompts)}
            found.append(common | asked | over | {"value": prompts.mean()})
            found.append(common | study.SCORED | {"model": pair["scored"], "value": once.correct.astype(float).mean()})
    return pd.DataFrame(found)


if __name__ == "__main__":
    run_named()
