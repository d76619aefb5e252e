"""The numbers that the Underspecification section's prose uses, each with an id and the cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

import math
from typing import TYPE_CHECKING, Any

from scripts.core.paper.formats import number
from scripts.core.paper.numbers import count, entry
from scripts.underspecification.lib import study
from scripts.underspecification.lib.findings import NEAR_ZERO
from scripts.underspecification.lib.tables import SET_LABELS

if TYPE_CHECKING:
    import pandas as pd

KEYS = {
    "threshold": "underspecification.threshold",
    "folds": "underspecification.folds",
    "draws": "underspecification.bootstrap.draws",
}
"""Settings to their keys in config.yaml."""
NORMAL = 1.959964
"""The normal distribution's quantile behind a 95 % interval."""


def from_toy(correlations: "pd.DataFrame") -> dict:
    """Return ``toy.<task>.<population>.<pair>.<simulated or exact>``, ``toy.selected`` (percent) and ``toy.draws``."""
    numbers = {}
    source = "toy_model.csv"
    for row in correlations.itertuples():
        for kind in ("simulated", "exact"):
            value = getattr(row, kind)
            name = f"toy.{row.task}.{row.population}.{row.a}{row.b}.{kind}"
            cell = {"task": row.task, "population": row.population, "pair": f"{row.a} {row.b}"}
            numbers[name] = entry(value, number(value, 3), source, **cell)
    share = 100 * correlations[correlations.population == "selected"].exact_share.iloc[0]
    numbers["toy.selected"] = entry(share, number(share, 1), source, population="selected")
    numbers["toy.draws"] = count(correlations.draws.max(), source, population="all")
    return numbers


def from_slopes(slopes: "pd.DataFrame", curves: "pd.DataFrame") -> dict:
    """Return what Method 1 gives over all models and prompts of a source.

    Returns:
        ``mgc.sentences``, ``mgc.dates``, ``mgc.places``, ``mgc.date.first`` and ``.last``; for ``date`` and ``place``
        ``method1.<variable>.curves`` (models and prompts with a female slope) and ``.significant`` (whose interval is
        above 0);
        ``mgc.beyond`` (how many models the study's figures do not show, with ``label``) of a release that has some.
    """
    source = "method1_slopes.csv"
    of_prompts = slopes[(slopes.accumulation == "top") & slopes.prompt.isin(["mask", "A", "B", "C"])]
    numbers = {"mgc.sentences": count(curves.sentences.max(), "curves.csv", column="sentences")}
    models = [m for m in study.order(curves.model) if m in study.MODELS and m not in study.IN_FIGURES]
    if models and not (curves.release == study.RUN).any():
        label = " and ".join(filter(None, [", ".join(models[:-1]), models[-1]]))
        numbers["mgc.beyond"] = count(len(models), "curves.csv", column="model") | {"label": label}
    for variable in ("date", "place"):
        values = curves[curves.variable == variable].drop_duplicates("position").sort_values("position").value
        numbers[f"mgc.{variable}s"] = count(len(values), "curves.csv", variable=variable)
        if variable == "date":
            for name, value in (("first", values.iloc[0]), ("last", values.iloc[-1])):
                numbers[f"mgc.date.{name}"] = entry(int(value), f"{int(value)}", "curves.csv", variable=variable)
        part = of_prompts[of_prompts.variable == variable]
        female = part[(part.metric == "slope") & (part.gender == "female") & part.value.notna()]
        numbers[f"method1.{variable}.curves"] = count(len(female), source, variable=variable)
        numbers[f"method1.{variable}.significant"] = count((female.ci_low > 0).sum(), source, variable=variable)
    return numbers


def from_detection(rates: "pd.DataFrame", metric: "pd.DataFrame", threshold: float) -> dict:
    """Return what Method 2 gives over the models of a source; ``threshold`` is that of the metric.

    Returns:
        For each set ``<set>.sentences``, ``.occupations``, ``.specified``; of the models ``.models``, ``.best`` and
        ``.worst`` (balanced accuracy, with ``label``), ``.undefined`` (the most sentences without any mass at a date,
        with ``label``), ``.undefined.moved`` (those of them that count as unspecified) and ``.undefined.most`` (their
        largest metric); ``dates`` (how many at either end can be averaged) and ``<set>.shift`` (the largest change of
        balanced accuracy from one date to the most).
    """
    numbers, source = {}, "specification_detection.csv"
    most = int(rates.dates.max())
    numbers["dates"] = count(most, source, column="dates")
    rates = rates[
        (rates.gender == "female") & (rates.accumulation == "top") & rates.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    for name in [s for s in SET_LABELS if (rates.evaluation_set == s).any()]:
        part = rates[rates.evaluation_set == name]
        part = part[part.templates == part.templates.max()]
        metrics = metric[(metric.evaluation_set == name) & (metric.templates == part.templates.iloc[0])]
        sentences = metrics.drop_duplicates("item")
        numbers[f"{name}.sentences"] = count(len(sentences), "metric.csv", evaluation_set=name)
        numbers[f"{name}.occupations"] = count(sentences.occupation.nunique(), "metric.csv", evaluation_set=name)
        numbers[f"{name}.specified"] = count(sentences.well_specified.sum(), "metric.csv", evaluation_set=name)
        first = part[part.dates == 1].set_index(["choice", "metric", "model"]).value.sort_index()
        fixed = first["fixed", "balanced accuracy"]
        numbers[f"{name}.models"] = count(len(fixed), source, evaluation_set=name)
        for end, model in (("best", fixed.idxmax()), ("worst", fixed.idxmin())):
            numbers[f"{name}.{end}"] = _of_model(fixed[model], source, model, 3, evaluation_set=name)
        numbers |= _undefined(metrics, name, threshold)
        wide: Any = part[(part.choice == "fixed") & (part.metric == "balanced accuracy")]
        wide = wide.pivot(index="model", columns="dates", values="value")
        if most > 1 and most in wide:
            shift = (wide[most] - wide[1]).dropna().abs()
            numbers[f"{name}.shift"] = _of_model(shift.max(), source, shift.idxmax(), 3, evaluation_set=name)
    return numbers


def _undefined(metrics: "pd.DataFrame", name: str, threshold: float) -> dict:
    """Return what :func:`from_detection` says of sentences of one set in which a model gives no mass at a date."""
    female = metrics[(metrics.gender == "female") & (metrics.dates == 1) & (metrics.accumulation == "top")]
    without = female[female.undefined.astype(bool) & female.prompt.isin(["mask", study.DETECTION_PROMPT])]
    if without.empty:
        return {}
    model = without.model.value_counts().idxmax()
    largest = without[without.model == model].metric
    source, cell = "metric.csv", {"model": model, "evaluation_set": name}
    return {
        f"{name}.undefined": count(len(largest), source, **cell) | {"label": model},
        f"{name}.undefined.moved": count((largest > threshold).sum(), source, **cell),
        f"{name}.undefined.most": entry(float(largest.max()), number(largest.max(), 1), source, **cell),
    }


def _of_model(value: float, source: str, model: str, decimals: int, **cell: str):
    return entry(float(value), number(value, decimals), source, model=model, **cell) | {"label": model}


def from_independence(table: "pd.DataFrame") -> dict:
    """Return how level and change of the female probability go together, over the models of a source.

    Returns:
        ``independence.occupations``, ``.models``; for the first and the middle level ``independence.<level>.clear``
        (models whose interval leaves out 0); ``independence.limit``
        (:data:`scripts.underspecification.lib.findings.NEAR_ZERO`); ``independence.needed``, the occupations with which
        an r of the limit has an interval without 0. Only of sources with at least one defined r.
    """
    table = table[(table.accumulation == "top") & table.prompt.isin(["mask", study.DETECTION_PROMPT])]
    table = table.dropna(subset="r")
    if table.empty:
        return {}
    source = "independence.csv"
    # Fisher's transformation of r has a standard error of 1 / sqrt(n - 3).
    needed = math.ceil(3 + (NORMAL / math.atanh(NEAR_ZERO)) ** 2)
    numbers = {
        "independence.occupations": count(table.occupations.max(), source, column="occupations"),
        "independence.models": count(table.model.nunique(), source, column="model"),
        "independence.limit": entry(NEAR_ZERO, f"{NEAR_ZERO}", "findings", name="NEAR_ZERO"),
        "independence.needed": count(needed, source, column="occupations"),
    }
    for level, part in table.groupby("level", sort=False):
        clear = (part.ci_low > 0) | (part.ci_high < 0)
        numbers[f"independence.{level}.clear"] = count(clear.sum(), source, level=level)
    return numbers


def from_names(rates: "pd.DataFrame") -> dict:
    """Return ``relabelled`` where Table 3 has another name for a model of a release.

    Its ``label`` is the model's and the table's name. It is left out where the release has files of the model that the
    table names.
    """
    models, numbers = set(rates.model), {}
    for model, shown in study.PRINTED_AS.items():
        if model in models and shown.replace("-gen", " gen") not in models:
            number_of_models = count(1, "specification_detection.csv", model=model)
            numbers["relabelled"] = number_of_models | {"label": [model, shown]}
    return numbers
