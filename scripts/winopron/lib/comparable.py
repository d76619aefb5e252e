"""The rows of one template set that may stand beside the study's: each system once, as its authors read it."""

import pandas as pd

from scripts.core.templates import CASES
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses.consistency import SINGLE

WINOGENDER = "winogender"


def metrics(table, templates, models):
    """Return the metrics of a template set and of Winogender Schemas, and the difference between their F1.

    Parameters
    ----------
    table : DataFrame
        Of ``metrics.csv``.
    templates : str
    models : DataFrame
        Of :func:`scripts.core.paper.published.read_models`.

    Returns
    -------
    DataFrame
        With ``model`` (a system's name among the study's models, else its own) and ``data`` (``WP``, ``WS``, or
        ``WP - WS``, which has no interval); prompts are taken together.
    """
    names = dict(zip(models.label, models.model, strict=True))
    rows = study.as_published(table[table.pairing != SINGLE])
    # The study's values on Winogender Schemas are over three pronoun sets.
    four = (rows.templates == WINOGENDER) & (rows.split == "all")
    rows = rows[~four].assign(split=rows.split.replace(study.THREE_SETS, "all"))
    rows = rows.assign(
        model=rows.system.map(names).fillna(rows.system),
        data=rows.templates.map({templates: "WP", WINOGENDER: "WS"}),
    ).dropna(subset=["data"])
    whole = rows[(rows.metric == "f1") & (rows.split == "all") & (rows.entities == "double")]
    both = whole.pivot_table(index="model", columns="data", values="value")
    if {"WP", "WS"} <= set(both):
        change = (both.WP - both.WS).dropna().reset_index(name="value")
        rows = pd.concat([rows, change.assign(data="WP - WS", metric="f1", split="all", entities="double")])
    return rows.reset_index(drop=True)


def overlaps(table, templates):
    """Return the comparisons of biased occupations as published; the study's index of two empty sets is zero."""
    rows = table[(table.templates == templates) & (table.reading == study.READINGS["published"])]
    empty = rows["first"] + rows["second"] == 0
    return rows.assign(jaccard=rows.jaccard.mask(empty, 0.0)).reset_index(drop=True)


def counts(table, templates):
    """Return how many templates a set has, a row for each case: ``Case``, ``data`` (``WP``, ``WS``), ``templates``."""
    columns = {
        "WP": f"{study.SETS[templates]}: {study.ENTITIES['double']}",
        "WS": f"{study.SETS[WINOGENDER]}: {study.ENTITIES['double']}",
    }
    kept = [
        pd.DataFrame({"Case": table.Case, "data": name, "templates": table[column]})
        for name, column in columns.items()
        if column in table
    ]
    rows = pd.concat(kept, ignore_index=True)
    return rows[rows.Case.isin([*(case.capitalize() for case in CASES), "All", "Sentences"])]
