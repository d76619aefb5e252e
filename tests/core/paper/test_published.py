"""Published numbers: files are checked, cells are found, and verdicts follow from the numbers."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from scripts.core import config, files
from scripts.core.paper import published, published_table
from tests.refusals import refused

FOLDER = Path(__file__).parents[3] / "paper/published"
STUDIES = ("ruff", "winopron", "counter_gap", "misgendered", "underspecification")
MAPPING_COLUMNS = [
    "item", "row", "column", "table", "cells", "value", "reduce", "interval", "scale", "models", "templates", "variant",
    "comparison", "tolerance", "reason",
]  # fmt: skip
ACCURACY = "analysis/{templates}/accuracy.csv"


@pytest.mark.parametrize("study", STUDIES)
def test_the_files_of_a_study_fit_each_other_and_the_registry(study):
    numbers, mapping, models = published.read_study(
        *(FOLDER / f"{study}{end}.csv" for end in ("", "_mapping", "_models"))
    )
    for frame, columns in ((numbers, published.PUBLISHED_COLUMNS), (mapping, MAPPING_COLUMNS),
                           (models, published.MODEL_COLUMNS)):  # fmt: skip
        assert list(frame) == columns
    for frame, key in ((numbers, ["source", *published.KEY]), (mapping, published.KEY), (models, ["model"])):
        assert frame[frame.duplicated(key)].empty
    assert len(numbers) > 100 and set(numbers.kind) <= set(published.KINDS)
    assert numbers.value.map(published.half_unit).gt(0).all()
    # Every number has a cell or a reason why it has none.
    assert set(mapping[published.KEY].itertuples(index=False)) == set(numbers[published.KEY].itertuples(index=False))
    assert mapping[(mapping.table == "") == (mapping.reason == "")].empty
    cells, groups = mapping[mapping.reason == ""], published.group_members(models)
    assert set(cells["reduce"]) <= {"", *published.REDUCTIONS} and set(cells.comparison) <= {"=", "<", ">"}
    assert {name for text in cells.models for name in text.split(";") if name} <= groups.keys()
    assert cells.scale.astype(float).notna().all() and cells.tolerance.str.removesuffix("%").astype(float).ge(0).all()
    content = config.load_yaml(FOLDER.parents[1] / "config/models.yaml")
    registry = content["models"] | content["systems"]
    for row in models.itertuples():
        assert registry[row.model]["label"] == row.label
        assert registry[row.model]["studies"][study] in row.groups
        assert not registry[row.model].get("demonstration")
    assert set(models.model) == {name for name, entry in registry.items() if study in entry.get("studies", {})}


def write(folder, name, columns, rows):
    path = folder / name
    files.write_csv(path, pd.DataFrame(rows, columns=columns))
    return path


NUMBER = ("Table 1", "s_accuracy", "A | 0", "accuracy", "0.50", "fraction", "table", "")
CELL = (
    "s_accuracy", "A | 0", "accuracy", ACCURACY, "n=0", "accuracy", "", "low;high", "1", "a", "official", "likelihood",
    "=", "0.02", "",
)  # fmt: skip
MODELS = [("A", "F", "A", "a", "one;two"), ("B", "F", "B", "b", "two")]


def cell(**changes):
    return tuple(changes.get(name, value) for name, value in zip(MAPPING_COLUMNS, CELL, strict=True))


def number(**changes):
    return tuple(changes.get(name, value) for name, value in zip(published.PUBLISHED_COLUMNS, NUMBER, strict=True))


def read(folder, numbers=(NUMBER,), cells=(CELL,)):
    kinds = (("", published.PUBLISHED_COLUMNS, numbers), ("_mapping", MAPPING_COLUMNS, cells),
             ("_models", published.MODEL_COLUMNS, MODELS))  # fmt: skip
    return published.read_study(*(write(folder, f"s{end}.csv", columns, rows) for end, columns, rows in kinds))


@pytest.mark.parametrize(
    ("text", "half"), [("0.95", 0.005), ("180", 0.5), ("+3.5", 0.05), ("0.0", 0.05), ("2e-5", 5e-6)]
)
def test_a_printed_number_says_how_exact_it_is(text, half):
    assert published.half_unit(text) == pytest.approx(half)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("0.50", 0.6, 0.45, 0.7), "within interval"),
        (("0.50", 0.6, 0.504, 0.7), "within interval"),
        (("0.50", 0.6, 0.506, 0.7, 0.02), "differs"),
        (("0.50", 0.52, 0.51, 0.53, 0.02), "within tolerance"),
        (("0.50", 0.4, 0.3, 0.494, 0.02), "differs"),
        (("0.50", 0.504), "as printed"),
        (("0.50", 0.496, 0.45, 0.7), "as printed"),
        (("0.50", 0.504, 0.503, 0.504), "as printed"),
        (("0.50", 0.5051, 0.45, 0.7), "within interval"),
        (("+0.45", 0.4491, math.nan, math.nan, 0.1), "as printed"),
        (("+0.45", 0.444, math.nan, math.nan, 0.1), "within tolerance"),
        (("0.50", 0.506), "differs"),
        (("180", 180), "as printed"),
        (("180", 181), "differs"),
        (("85", 84.9, math.nan, math.nan, 0, "<"), "within tolerance"),
        (("85", 85, math.nan, math.nan, 0, "<"), "within tolerance"),
        (("85", 85.2, math.nan, math.nan, 0, "<"), "differs"),
        (("85", 85.2, 80, 90, 0, "<"), "differs"),
        (("500", 527, math.nan, math.nan, 0, ">"), "within tolerance"),
        (("500", 499, math.nan, math.nan, 0, ">"), "differs"),
    ],
)  # fmt: skip
def test_verdicts(arguments, expected):
    assert published.judge_number(*arguments) == expected


def table():
    cells = [("a", 0, 0.52), ("a", 1, 0.3), ("b", 0, 0.8), ("b", 1, 0.7), ("demo", 0, 0.5), ("demo", 1, 0.1)]
    rows = [(model, n, accuracy, accuracy - 0.05, accuracy + 0.05) for model, n, accuracy in cells]
    return pd.DataFrame(rows, columns=["model", "n", "accuracy", "low", "high"])


def compare(folder, cells, tables=None, excluded=(), obstacles=None, numbers=(NUMBER,)):
    tables = tables or {"replica": {ACCURACY: table()}}
    return published.compare_numbers(
        *read(folder, numbers, cells), tables, ["replica", "official"], excluded, obstacles
    )


def test_ours_stands_beside_what_is_published(tmp_path):
    found = compare(tmp_path, [CELL])
    assert found.templates.tolist() == ["replica", "official"]
    ours, other = found.to_dict("records")
    assert (ours["published"], ours["table"]) == ("0.50", ACCURACY)
    numbers = [ours[name] for name in ("ours", "low", "high", "difference")]
    assert numbers == pytest.approx([0.52, 0.47, 0.57, 0.02])
    assert (ours["verdict"], ours["reason"]) == ("within interval", "")
    assert (other["verdict"], other["reason"]) == ("not run", "not in this run: the official templates")
    assert math.isnan(other["ours"])


@pytest.mark.parametrize(
    ("changes", "ours"),
    [
        ({"cells": "n=0|1", "models": "two", "reduce": "mean"}, (0.52 + 0.3 + 0.8 + 0.7) / 4),
        ({"cells": "n=0|1", "models": "two", "reduce": "sum"}, 2.32),
        ({"cells": "", "models": "two", "reduce": "minimum"}, 0.3),
        ({"cells": "", "models": "two", "reduce": "maximum"}, 0.8),
        ({"cells": "", "models": "two", "reduce": "distinct", "value": "model"}, 2),
        ({"scale": "100"}, 52),
    ],
)  # fmt: skip
def test_cells_become_one_number(tmp_path, changes, ours):
    interval = {} if changes == {"scale": "100"} else {"interval": ""}
    assert compare(tmp_path, [cell(**changes, **interval)]).ours[0] == pytest.approx(ours)


@pytest.mark.parametrize(
    ("changes", "conditions", "reason"),
    [
        ({"models": "two", "reduce": "mean"}, {"tables": "without b"}, "not in this run: b"),
        ({"cells": "n=0|7", "reduce": "mean"}, {}, "not in this run: n 7"),
        ({"table": "", "reason": "people"}, {}, "people"),
        ({}, {"obstacles": {"likelihood": "other options"}}, "other options"),
        ({}, {"excluded": {"a"}}, "not in this run: a"),
        ({}, {"tables": "without values"}, "the cell is empty: the quantity is not defined in this run"),
    ],
)
def test_what_the_run_lacks_or_may_not_use_is_not_run(tmp_path, changes, conditions, reason):
    tables = {"without b": table().query("model != 'b'"), "without values": table().assign(accuracy=math.nan)}
    if "tables" in conditions:
        conditions = {"tables": {"replica": {ACCURACY: tables[conditions["tables"]]}}}
    row = compare(tmp_path, [cell(**{"interval": "", **changes})], **conditions).iloc[0]
    assert (row.verdict, row.reason) == ("not run", reason)
    assert math.isnan(row.ours)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (
            {"table": "analysis/{templates}/acuracy.csv"},
            ["no table 'analysis/{templates}/acuracy.csv'", "did you mean"],
        ),
        ({"value": "acc"}, [ACCURACY, "no column 'acc'", "did you mean 'accuracy'"]),
        ({"cells": ""}, [ACCURACY, "2 rows"]),
    ],
    ids=["table", "column", "rows"],
)
def test_a_mapping_that_does_not_fit_the_tables_is_refused(tmp_path, changes, named):
    with refused("mapping of s_accuracy", *named):
        compare(tmp_path, [cell(**changes)])


def test_counts_and_cells_follow_the_comparison(tmp_path):
    """Each result is counted once and shown if it differs; choices of a run are no results."""
    numbers = [NUMBER, number(source="Section 2"), number(row="A | 1", value="0.9"), number(row="near", value="0.30"),
               number(row="x", kind="setting"), number(row="y", kind="setting", value="0.9"),
               number(row="z", kind="bound", value="5")]  # fmt: skip
    cells = [CELL, cell(row="A | 1", cells="n=1"), cell(row="near", cells="n=1"), cell(row="x"),
             cell(row="y", table="", reason="people"), cell(row="z", variant="instances", comparison=">")]  # fmt: skip
    found = compare(tmp_path, cells, numbers=numbers)
    counted = {name: entry["value"] for name, entry in published.count_verdicts(found, "s.csv").items()}
    ours = {name: counted[f"published.replica.results.{name}"] for name in
            ("within_interval", "as_printed", "differs", "total", "not_covered")}  # fmt: skip
    assert ours == {"within_interval": 1, "as_printed": 1, "differs": 1, "total": 3, "not_covered": 0}
    assert counted["published.official.results.not_covered"] == 3
    assert [counted[f"published.{name}"] for name in ("results", "compared", "differing")] == [3, 3, 1]
    assert shown_cells(found).to_dict("records") == [
        {"Quantity": "accuracy: A, 1", "Published": "0.9", "Ours": "0.30", "Interval": "0.25 to 0.35"}
    ]


def shown_cells(found, several=False):
    different = published.select_results(found)
    return published_table.make_cells(different[different.verdict == "differs"], "s", several)


def test_sets_with_the_same_number_share_a_row_and_sizes_of_samples_have_none(tmp_path):
    numbers = [number(row="A | 1", value="0.9"), number(row="x", value="0.4", kind="setting")]
    found = compare(tmp_path, [cell(row="A | 1", cells="n=1"), cell(row="x", cells="n=1")], numbers=numbers)
    replica = found[found.templates == "replica"].assign(verdict="differs")
    other = replica[replica.kind != "setting"].assign(templates="official")
    third = replica.assign(templates="third", ours=0.2)[:1]
    everything = pd.concat([replica, other, third])
    shown = shown_cells(everything, several=True)
    assert shown[["Templates", "Published", "Ours"]].values.tolist() == [
        ["replica, official", "0.9", "0.30"],
        ["third", "0.9", "0.20"],
    ]
    assert published.count_verdicts(everything, "x.csv")["published.differing"]["value"] == 1


def test_a_long_table_keeps_the_largest_differences(tmp_path, monkeypatch):
    numbers = [number(row="A | 1", value="0.9"), number(row="near", value="0.4"), number(row="far", value="3")]
    found = compare(tmp_path, [cell(row=row[2], cells="n=1") for row in numbers], numbers=numbers)
    found = found[found.templates == "replica"].assign(verdict="differs")
    monkeypatch.setattr(published_table, "MOST", 2)
    shown = shown_cells(found)
    # Ours is 0.3: of 0.9, 0.4 and 3 the second is nearest. All rows are of the replica templates.
    assert shown.Quantity.tolist() == ["accuracy: A, 1", "accuracy: far"]
    assert shown.columns.tolist() == ["Quantity", "Published", "Ours", "Interval"]
    assert shown_cells(found.assign(verdict="as printed")).empty


@pytest.mark.parametrize(
    ("unit", "value", "ours", "expected"),
    [
        ("million instances", "3.8", 3.3, ("3.8 million", "3.30 million", "3.28 to 3.31")),
        ("percent", "8.5", 34.386, ("8.5%", "34.39%", "34.37 to 34.40")),
        ("percentage points", "-0.6", -9.08, ("−0.6 points", "−9.08 points", "−9.10 to −9.07")),
        ("fraction", "0.07", 0.179, ("0.07", "0.179", "0.159 to 0.189")),
        # A true minus, and no sign of zero.
        ("fraction", "-0.5", -0.0001, ("−0.5", "0.00", "−0.02 to 0.01")),
    ],
)
def test_both_numbers_have_the_unit_and_one_digit_more(tmp_path, unit, value, ours, expected):
    found = compare(tmp_path, [CELL]).assign(published=value, ours=ours, low=ours - 0.02, high=ours + 0.01, unit=unit)
    shown = shown_cells(found.assign(verdict="differs")).iloc[0]
    assert (shown.Published, shown.Ours, shown.Interval) == expected


def test_comparisons_are_written_together(tmp_path):
    printed = read(tmp_path)
    csv, tex, numbers = (tmp_path / f"published_vs_ours.{kind}" for kind in ("csv", "tex", "json"))
    tables = {"replica": {ACCURACY: table()}}
    options = {"excluded": {"b"}, "csv": csv, "tex": tex, "numbers": numbers, "parts": "Source"}
    published.write_comparison("s", printed, tables, ["replica", "official"], **options)
    assert files.read_csv(csv).verdict.tolist() == ["within interval", "not run"]
    text = tex.read_text(encoding="utf-8")
    assert text == published_table.EMPTY_TABLE
    counted = json.loads(numbers.read_text(encoding="utf-8"))
    assert counted["published.official.results.not_covered"]["value"] == 1
    assert counted["published.replica.results.total"]["source"] == "published_vs_ours.csv"
