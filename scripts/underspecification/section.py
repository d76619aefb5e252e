"""Underspecification in the paper: its section with the numbers of its text, and its rows of the summary."""

import math
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import sections
from scripts.core.paper.formats import format_number
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.numbers import make_count, make_entry, of_settings
from scripts.core.paper.published import find_demonstration_models
from scripts.core.workflow.job import run_named
from scripts.underspecification import study
from scripts.underspecification.correlation import DIFFERENCE
from scripts.underspecification.detection import FIXED, LEVELS
from scripts.underspecification.findings_detection import NEAR_ZERO
from scripts.underspecification.templates import GENDERS

KEYS = {
    "threshold": "underspecification.threshold",
    "folds": "underspecification.folds",
    "draws": "underspecification.bootstrap.draws",
}
"""Settings to their keys in config.yaml."""
NORMAL = 1.959964
"""The normal distribution's quantile behind a 95 % interval."""
TITLES = {
    "preprint": "Outputs released with the preprint",
    "aaai": "Outputs released with the paper at AAAI",
    study.RUN: "Models of this run",
}
PLACES = {"preprint": "the preprint's outputs", "aaai": "AAAI's outputs", study.RUN: "this run's models"}
"""The parts as sentences and tables of verdicts call them."""
ESTIMATES, CURVES, METRICS, TOY = "estimates.csv", "curves.csv", "metrics.csv", "toy_model.csv"
SLOPE, ACCURACY = f"slope, {DIFFERENCE}", "balanced accuracy"


def section(
    *,
    section_templates: list,
    estimates: str,
    curves: str,
    metrics: str,
    correlations: str,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_files: list,
    paper_numbers: list,
    parts: list,
    templates: list,
    prompts: dict,
    models: dict,
    shares: bool,
    settings: dict,
) -> None:
    """Render the paper's section on Underspecification, and write the numbers that its text prints.

    ``paper_numbers`` (JSON) has one file for each of ``parts``; ``correlations`` are those of the toy model;
    ``templates`` are the Winogender sets that the run's ``models`` read, with ``prompts`` by evaluation set; ``shares``
    tells whether occupations are in the order of the share of women. Where the run has other models, its
    demonstrations are not counted.
    """
    common = sections.make_context(
        "underspecification", parts, figures, tables, comparison_numbers, section_files[0], models=models,
    )  # fmt: skip
    toy = files.read_csv(correlations)
    every = [study.read_table(path) for path in (estimates, curves, metrics)]
    demonstrations = list(find_demonstration_models(models).values())
    for key, source in common["sets"].items():
        measured, means, moves = (table[table.part == key] for table in every)
        if not means.label.isin(demonstrations).all():
            measured, means, moves = (t[~t.label.isin(demonstrations)] for t in (measured, means, moves))
        source["numbers"] |= {
            **of_settings(settings, KEYS),
            **count_toy(toy),
            **count_sentences(means),
            **count_slopes(measured),
            **count_detection(measured, moves, settings["threshold"]),
            **count_independence(measured),
            **(count_relabelled(measured) if key != study.RUN else {}),
        }
        accuracies = pd.concat([select_accuracies(measured, name) for name in study.SET_LABELS])
        source |= {
            "title": TITLES[key],
            "released": key != study.RUN,
            "shares": shares,
            "detection": Numbers(source, accuracies, study.IDENTITY, study.FACTORS, ESTIMATES),
            "extremes": {
                name: (rows.iloc[rows.value.argmin()], rows.iloc[rows.value.argmax()])
                for name, rows in accuracies.groupby("evaluation_set")
            },
        }
    main = next(name for name in ("aaai", "preprint", study.RUN) if name in parts)
    common |= {
        "templates": templates,
        "prompts": prompts,
        "main": main,
        "shown": [main, *(name for name in parts if name == study.RUN and name != main)],
        "titles": {name: PLACES[name] for name in parts},
    }
    sections.write_all(section_files, section_templates, common)
    for part, path in zip(parts, paper_numbers, strict=True):
        files.write_json(path, common["sets"][part]["numbers"])


def select_accuracies(
    estimates: pd.DataFrame, evaluation_set: str, dates: Any = "1", metric: str = ACCURACY
) -> pd.DataFrame:
    """Return balanced accuracies on a set at the threshold of the settings, by name of the model."""
    rows = study.pick_rates(estimates, metric=metric, evaluation_set=evaluation_set, choice=FIXED, dates=dates)
    return rows[rows.templates == rows.templates.max()].sort_values("label", kind="stable")


def count_toy(correlations: pd.DataFrame) -> dict[str, dict]:
    """Return ``toy.<task>.<population>.XY.<simulated or exact>``, ``toy.selected`` (percent) and ``toy.draws``."""
    numbers = {}
    for row in files.iterate_rows(correlations[(correlations.a == "X") & (correlations.b == "Y")]):
        cell = {"task": row.task, "population": row.population, "pair": "X Y"}
        for kind, value in (("simulated", row.simulated), ("exact", row.exact)):
            numbers[f"toy.{row.task}.{row.population}.XY.{kind}"] = make_entry(
                value, format_number(value, 3), TOY, **cell
            )
    share = 100 * correlations[correlations.population == "selected"].exact_share.iloc[0]
    numbers["toy.selected"] = make_entry(share, format_number(share, 1), TOY, population="selected")
    return numbers | {"toy.draws": make_count(correlations.draws.max(), TOY, population="all")}


def count_sentences(curves: pd.DataFrame) -> dict[str, dict]:
    """Return ``mgc.sentences``, ``.dates``, ``.places``, ``.date.first`` and ``.last``.

    ``mgc.beyond`` is how many models of a release the study's figures do not show, with ``label``.
    """
    numbers = {"mgc.sentences": make_count(curves.n.max(), CURVES, column="n")}
    models = [m for m in study.order_labels(curves.label) if m in study.MODELS and m not in study.IN_FIGURES]
    if models and not (curves.part == study.RUN).any():
        label = " and ".join(filter(None, [", ".join(models[:-1]), models[-1]]))
        numbers["mgc.beyond"] = make_count(len(models), CURVES, column="model") | {"label": label}
    for variable, rows in curves.drop_duplicates(["variable", "position"]).groupby("variable"):
        numbers[f"mgc.{variable}s"] = make_count(len(rows), CURVES, variable=variable)
    years = curves.value[curves.variable == "date"].astype(int)
    for name, year in (("first", years.min()), ("last", years.max())):
        numbers[f"mgc.date.{name}"] = make_entry(int(year), f"{year}", CURVES, variable="date")
    return numbers


def count_slopes(estimates: pd.DataFrame) -> dict[str, dict]:
    """Return ``method1.<variable>.curves``, models and prompts with a female slope, and ``.significant``, those whose
    interval is above 0."""
    rows = study.pick_slopes(estimates, metric="slope", gender="female").dropna(subset="value")
    rows = rows[~rows.prompt.str.contains("|", regex=False)]
    numbers = {}
    for variable in ("date", "place"):
        above = rows.low[rows.variable == variable] > 0
        cell = {"variable": variable, "metric": "slope", "gender": "female"}
        numbers[f"method1.{variable}.curves"] = make_count(len(above), ESTIMATES, **cell)
        numbers[f"method1.{variable}.significant"] = make_count(above.sum(), ESTIMATES, **cell)
    return numbers


def count_detection(estimates: pd.DataFrame, metrics: pd.DataFrame, threshold: float) -> dict[str, dict]:
    """Return what Method 2 gives over the models of a part; ``threshold`` is that of the metric.

    Returns:
        For each set ``<set>.sentences``, ``.occupations``, ``.specified`` and ``.models``; ``.undefined`` (the most
        sentences of a model, ``label``, without any mass at a date), ``.undefined.moved`` (those of them that count as
        unspecified) and ``.undefined.most`` (their largest metric); ``dates`` (how many at either end can be averaged)
        and ``<set>.shift`` (the largest change of balanced accuracy from one date to the most).
    """
    most = estimates.dates[estimates.dates != ""].astype(int).max()
    numbers = {"dates": make_count(most, ESTIMATES, column="dates")}
    for name in study.SET_LABELS:
        accuracies = select_accuracies(estimates, name, dates=...)
        if accuracies.empty:
            continue
        own = metrics[(metrics.evaluation_set == name) & (metrics.templates == accuracies.templates.iloc[0])]
        sentences = own.drop_duplicates("item")
        sizes = {
            "sentences": len(sentences), "occupations": sentences.occupation.nunique(),
            "specified": sentences.well_specified.sum(),
        }  # fmt: skip
        numbers |= {f"{name}.{what}": make_count(size, METRICS, evaluation_set=name) for what, size in sizes.items()}
        wide = accuracies.pivot(index="label", columns="dates", values="value")
        numbers[f"{name}.models"] = make_count(len(wide), ESTIMATES, evaluation_set=name)
        numbers |= count_undefined(own, name, threshold)
        if most > 1 and str(most) in wide:
            shift = (wide[str(most)] - wide["1"]).dropna().abs()
            cell = {"label": shift.idxmax(), "evaluation_set": name, "metric": ACCURACY}
            shown = make_entry(shift.max(), format_number(shift.max(), 3), ESTIMATES, **cell)
            numbers[f"{name}.shift"] = shown | {"label": shift.idxmax()}
    return numbers


def count_undefined(metrics: pd.DataFrame, name: str, threshold: float) -> dict[str, dict]:
    """Return what :func:`count_detection` says of sentences of one set in which a model gives no mass at a date."""
    female = study.pick_metrics(metrics)
    without = female[female.undefined.astype(bool)]
    if without.empty:
        return {}
    label = without.label.value_counts().idxmax()
    largest = without.value[without.label == label]
    cell = {"label": label, "evaluation_set": name}
    return {
        f"{name}.undefined": make_count(len(largest), METRICS, **cell) | {"label": label},
        f"{name}.undefined.moved": make_count((largest > threshold).sum(), METRICS, **cell),
        f"{name}.undefined.most": make_entry(float(largest.max()), format_number(largest.max(), 1), METRICS, **cell),
    }


def count_independence(estimates: pd.DataFrame) -> dict[str, dict]:
    """Return how level and change of the female probability go together, over the models of a part.

    Returns:
        ``independence.occupations``, ``.models``; for the first and the middle level ``independence.<level>.clear``
        (models whose interval leaves out 0); ``independence.limit`` (``NEAR_ZERO`` of the findings);
        ``independence.needed``, the occupations with which an r of the limit has an interval without 0. Only of parts
        with at least one defined r.
    """
    rows = study.pick_rates(estimates, metric=list(LEVELS.values()), choice="").dropna(subset="value")
    if rows.empty:
        return {}
    # Fisher's transformation of r has a standard error of 1 / sqrt(n - 3).
    needed = math.ceil(3 + (NORMAL / math.atanh(NEAR_ZERO)) ** 2)
    numbers = {
        "independence.occupations": make_count(rows.clusters.max(), ESTIMATES, column="clusters"),
        "independence.models": make_count(rows.label.nunique(), ESTIMATES, column="model"),
        "independence.limit": make_entry(NEAR_ZERO, f"{NEAR_ZERO}", "findings", name="NEAR_ZERO"),
        "independence.needed": make_count(needed, ESTIMATES, column="clusters"),
    }
    for level, metric in LEVELS.items():
        of_level = rows[rows.metric == metric]
        clear = ((of_level.low > 0) | (of_level.high < 0)).sum()
        numbers[f"independence.{level}.clear"] = make_count(clear, ESTIMATES, metric=metric)
    return numbers


def count_relabelled(estimates: pd.DataFrame) -> dict[str, dict]:
    """Return ``relabelled`` where Table 3 has another name for a model of a release.

    Its ``label`` is the model's and the table's name. It is left out where the release has files of the model that the
    table names.
    """
    models = set(study.pick_rates(estimates, metric="AUC").label)
    for model, shown in study.PRINTED_AS.items():
        if model in models and shown.replace("-gen", " gen") not in models:
            return {"relabelled": make_count(1, ESTIMATES, model=model) | {"label": [model, shown]}}
    return {}


def summary(*, estimates: str, summary: str, models: dict) -> None:
    """Write Underspecification's rows of the summary over all studies (CSV); ``models`` are the run's.

    The headline is how the difference between the slopes of feminine and masculine pronouns depends on dates and on
    places, and how well feminine pronouns tell Winogender's unspecified sentences from the others. Means over prompts
    are of several prompts, which stand here each.
    """
    table = study.read_table(estimates)
    slopes = study.pick_slopes(table, metric=["slope", SLOPE], gender=[*GENDERS, ""])
    slopes = slopes[slopes.prompt.isin(study.FILE_PROMPTS.values())]
    slopes = slopes.assign(n_unit="sentences", unit="percentage points a step", headline=slopes.metric == SLOPE, rank=0)
    rates = study.pick(
        table, metric=["AUC", ACCURACY], evaluation_set=..., templates=..., prompt=..., gender=list(GENDERS),
        dates="1", choice=["", FIXED],
    )  # fmt: skip
    shown = (rates.metric == "AUC") & (rates.evaluation_set == "winogender") & (rates.gender == "female")
    rates = rates.assign(n=rates.clusters, n_unit="occupations", unit="share", headline=shown, rank=1)
    rows = pd.concat([slopes, rates]).sort_values("headline", ascending=False, kind="stable")
    own = rows.part == study.RUN
    rows = rows.assign(
        prompt=rows.prompt.replace("mask", ""),
        demonstration=own & rows.model.isin(list(find_demonstration_models(models))),
    )
    names = [*study.IDENTITY, "metric", "prompt", "evaluation_set", "variable", "gender", "templates", "value", "low"]
    names += ["high", "unit", "n", "n_unit", "headline", "label", "demonstration"]
    estimate_rows.write_estimates(summary, "underspecification", rows[names].to_dict("records"))


if __name__ == "__main__":
    run_named()
