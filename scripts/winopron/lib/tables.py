"""The tables of the WinoPron wing: tidy rows to cells, and cells to LaTeX."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.templates import CASES
from scripts.core.errors import UserError
from scripts.core.paper.formats import MISSING_MARK, NOT_RUN, interval, number, p_text, percent
from scripts.core.paper.tables import blank_repeats, change_points, drop_uninformative, write_table
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses import consistency as consistencies
from scripts.winopron.lib.analyses.consistency import GROUPS, POOLED, SINGLE

PAIRINGS = {SINGLE: "each", POOLED: "all together"}
"""How the consistency of prompted systems is counted, to what the table calls it."""
MOST_OCCUPATIONS = 4
"""Up to this many biased occupations of a form are printed; the CSV has all."""


def of_set(table: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return the rows of one template set.

    Raises:
        UserError: If there is none.
    """
    rows = table[table.templates == templates]
    if rows.empty:
        raise UserError(f"the metrics have no rows of '{templates}'; run the workflow with it in winopron.templates")
    return rows


CHANGED_VERB = "Verb changed for they"
"""Row of the templates whose verb is another one with *they* (section 3.1)."""


def counts(instances: dict[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return Table 1: templates of each case, and what they come to; and those that had to be changed for *they*.

    Args:
        instances: Template set and entities to instances.

    Returns:
        ``Case``, then a column of counts for each set of sentences about two people; and of one, if there are some.
    """
    columns: dict[str, list] = {"Case": [*(case.capitalize() for case in CASES), "All", "Sentences", CHANGED_VERB]}
    for (templates, entities), frame in instances.items():
        by_case = frame.groupby("case").template_row.nunique()
        head = f"{study.SETS[templates]}: {study.ENTITIES[entities]}"
        behind = [
            text[offset + len(pronoun) :]
            for text, offset, pronoun in zip(frame.text, frame.pronoun_offset, frame.pronoun, strict=True)
        ]
        changed = int((frame.assign(behind=behind).groupby("template_row").behind.nunique() > 1).sum())
        columns[head] = [*(int(by_case.get(case, 0)) for case in CASES), int(by_case.sum()), len(frame), changed]
    return pd.DataFrame(columns)


def split(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return Tables 8 to 10: a metric on all sentences, by case and by pronoun set.

    Args:
        metrics: Of one template set.

    Returns:
        As text: ``Sentences``, ``Split``, a column for each system.
    """
    rows = study.corrected_rows(metrics)
    rows = rows[(rows.metric == metric)]
    pronoun_sets = [name for name in rows.pronoun_set.unique() if name not in ("all", study.THREE_SETS)]
    parts = {name: (name, "all") for name in ("all", *CASES)} | {name: ("all", name) for name in pronoun_sets}
    cells = []
    for entities, label in study.ENTITIES.items():
        of_entities = rows[rows.entities == entities].set_index(["system", "case", "pronoun_set"]).value
        if of_entities.empty:
            continue
        for name, part in parts.items():
            values = {s: percent(of_entities.get((s, *part)), 1) for s in study.order_systems(rows.system)}
            cells.append({"Sentences": label, "Split": name.capitalize() if name in CASES else name, **values})
    return pd.DataFrame(cells)


def printed_split(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of :func:`split` without rules, where there are other systems: all rules come to the same."""
    rules = [name for name in cells if study.is_rule(name)]
    return cells if len(rules) == cells.shape[1] - 2 else cells.drop(columns=rules)


def _ends(row: Any):
    return interval(100 * row.ci_low, 100 * row.ci_high, 1)


def _cells(rows: pd.DataFrame, columns: Mapping[str, Callable[[Any], str]]):
    """Return the text of each row in each column, by the column's head and what it says of a row."""
    return pd.DataFrame({head: [text(row) for row in rows.itertuples()] for head, text in columns.items()})


def _by_system(rows: pd.DataFrame):
    """Return rows in the order of their systems (:func:`scripts.winopron.lib.study.order_systems`)."""
    places = {name: place for place, name in enumerate(study.order_systems(rows.system))}
    return rows.sort_values("system", key=lambda names: names.map(places), kind="stable")


def performance(metrics: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return Table 2: F1 on Winogender Schemas (three pronoun sets), on this set, and the difference.

    Args:
        metrics: Of all template sets.

    Returns:
        As text: ``System``, ``Reading``, ``Winogender``, ``F1``, ``Interval``, ``Difference`` and, on sentences about
        one person, ``One person``.
    """
    rows = study.overall_rows(of_set(metrics, templates))
    rows = rows[(rows.metric == "f1") & (rows.entities == "double")]
    keys = ["templates", "pronoun_set", "entities", "system", "conversion"]
    f1 = metrics[(metrics.metric == "f1") & (metrics["case"] == "all")].set_index(keys).value

    def there(row: Any):
        return f1.get((study.WINOGENDER, study.THREE_SETS, "double", row.system, row.conversion))

    return _cells(
        _by_system(rows),
        {
            "System": lambda row: row.system,
            "Reading": lambda row: study.READINGS[row.conversion],
            "Winogender": lambda row: NOT_RUN if there(row) is None else percent(there(row), 1),
            "F1": lambda row: percent(row.value, 1),
            "Interval": _ends,
            "Difference": lambda row: MISSING_MARK if there(row) is None else percent(row.value - there(row), 1, True),
            "One person": lambda row: percent(f1.get((templates, "all", "single", row.system, row.conversion)), 1),
        },
    )


def consistency(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: both consistencies, with intervals and chance.

    Args:
        metrics: Of one template set.

    Returns:
        As text: ``System``, ``Reading``, ``Prompts`` (how prompts enter), and of each consistency value, interval and
        chance.
    """
    rows = metrics[metrics.entities == "double"]
    wanted = [*GROUPS, *(f"{metric}_chance" for metric in GROUPS)]
    rows: Any = rows[rows.metric.isin(wanted)].set_index(["system", "conversion", "pairing", "metric"])
    cells = []
    for system in study.order_systems(rows.index.get_level_values("system")):
        keys = rows.loc[system].index.droplevel("metric").unique()
        for conversion, pairing in keys:
            row = {"System": system, "Reading": study.READINGS[conversion], "Prompts": PAIRINGS.get(pairing, "")}
            for metric, head in (("pronoun_consistency", "Pronoun"), ("disambiguation_consistency", "Disambig.")):
                value = rows.loc[(system, conversion, pairing, metric)]
                chance = rows.loc[(system, conversion, pairing, f"{metric}_chance")].value
                if not study.reads_pronouns(system):
                    chance = consistencies.chance(metric, pronoun_sets=1)
                row |= {
                    f"{head}": percent(value.value, 1),
                    f"{head} interval": _ends(value),
                    f"{head} chance": "under 0.01" if chance < 1e-4 else percent(chance),
                }
            cells.append(row)
    return pd.DataFrame(cells)


def biased_occupations(biased: pd.DataFrame, all_bias: pd.DataFrame) -> pd.DataFrame:
    """Return Table 4: biased occupations of each form, those of prompted systems by how many prompts show the bias.

    Args:
        biased, all_bias: Rows of biased_occupations.csv and of bias.csv of one template set.

    Returns:
        As text: ``System``, ``Pronoun set``, ``Case``, ``Positive``, ``Negative``.
    """
    by_form = study.corrected_rows(biased).groupby(["system", "pronoun_set", "case", "bias"]).occupation
    listed = {form: ", ".join(names.value_counts().index) for form, names in by_form}
    forms = study.corrected_rows(all_bias)
    systems = filter(study.reads_pronouns, study.order_systems(forms.system))
    pronoun_sets = [name for name in forms.pronoun_set.unique() if name != "all"]
    cells = [
        (*form, *(listed.get((*form, sign), "") for sign in ("positive", "negative")))
        for form in itertools.product(systems, pronoun_sets, CASES)
    ]
    return pd.DataFrame(cells, columns=["System", "Pronoun set", "Case", "Positive", "Negative"])


def printed_occupations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of :func:`biased_occupations` with the first occupations of each and how many more."""
    shown = cells[(cells.Positive != "") | (cells.Negative != "")].copy()
    for column in ("Positive", "Negative"):
        words: Any = shown[column].str.split(", ")
        more = words.str.len() - MOST_OCCUPATIONS
        shown[column] = [
            ", ".join(names[:MOST_OCCUPATIONS]) + (f" and {n} more" if n > 0 else "")
            for names, n in zip(words, more, strict=True)
        ]
    return shown.reset_index(drop=True)


def overlaps(overlap: pd.DataFrame, comparison: str) -> pd.DataFrame:
    """Return Tables 5 and 6: the Jaccard index of biased occupations, beside what chance would give.

    Args:
        overlap: Rows of overlap.csv of one template set.
        comparison: ``systems`` or ``cases``.

    Returns:
        As text: ``Reading``, ``System``, ``Case``, ``Pronoun set``, ``Sizes``, ``Jaccard``, ``By chance``, ``p`` (after
        Holm's correction), of pairs in which a set is not empty.
    """
    return _cells(
        overlap[(overlap.comparison == comparison) & (overlap["first"] + overlap["second"] > 0)],
        {
            "Reading": lambda row: row.reading,
            "System": lambda row: row.system,
            "Case": lambda row: ", ".join(study.CASE_LABELS[case] for case in row.case.split(" / ")),
            "Pronoun set": lambda row: ", ".join(name.partition("/")[0] for name in row.pronoun_set.split(" / ")),
            "Sizes": lambda row: f"{row.first}, {row.second}",
            "Jaccard": lambda row: number(row.jaccard, 2),
            "By chance": lambda row: number(row.expected, 2),
            "p": lambda row: MISSING_MARK if pd.isna(row.p_holm) else p_text(row.p_holm, 1e-4, 3).removeprefix("= "),
        },
    )


def write(
    tex: str | Path,
    csv: str | Path,
    cells: pd.DataFrame,
    left: int,
    keep: Sequence[str],
    nothing: str,
    printed: pd.DataFrame | None = None,
) -> None:
    """Write a table as LaTeX and CSV.

    Args:
        cells: All go to the CSV; rows and columns that tell nothing are not typeset.
        left: How many of the first columns are text.
        keep: Columns that name the rows; the first is printed once for each block.
        nothing: The comment that stands in the LaTeX file for a table without rows.
        printed: What is typeset, if it is less than ``cells``.
    """
    shown, constant = drop_uninformative(cells if printed is None else printed, keep)
    text = [column for column in cells.columns[:left] if column in shown]
    if shown.empty:
        files.write_csv(csv, cells)
        files.write_text(tex, f"% {nothing}\n")
        return
    first = shown.columns[0]
    starts = change_points(shown[first])
    # Lines between blocks help where blocks have several rows.
    midrules = starts if len(shown) >= 2 * (len(starts) + 1) else ()
    shown = shown.assign(**{first: blank_repeats(shown[first])})
    write_table(tex, csv, shown, len(text), rows=cells, midrules=midrules, constant=constant)
