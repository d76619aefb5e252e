"""Estimates lead back to exactly what they were computed from: n and value come again from the rows of their trace."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts import compare
from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError
from scripts.core.provenance import trace
from scripts.core.provenance.origins import Origins
from scripts.core.statistics import outcomes
from scripts.provenance import run_state
from tests.workflow.conftest import TARGETS

pytestmark = pytest.mark.workflow

SUMMARY = "results/paper/summary.csv"

DRAWN = 300
"""How many rows of the summary are looked at, so many of each study."""


@pytest.fixture(scope="module")
def origins(complete):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(complete)
        planned = run_state.plan_run(["config/test.yaml"], TARGETS, [])
        yield Origins(planned["jobs"], planned["outcomes"], run_state.locate_input)


@pytest.fixture(scope="module")
def rows(origins):
    return files.read_csv(SUMMARY)


def drawn(rows):
    """Return rows of all studies, models, metrics and ways of scoring, as evenly as they come."""
    generator = np.random.default_rng(7)
    shuffled = rows.iloc[generator.permutation(len(rows))]
    turn = shuffled.groupby(["study", "part", "model", "scoring", "metric"], dropna=False).cumcount()
    return shuffled.assign(turn=turn).sort_values("turn", kind="stable")[:DRAWN].drop(columns="turn").to_dict("records")


def instances(origins, row):
    """Yield the tables behind an estimate with their rows; texts have what is counted of their instances."""
    folder = f"results/{row['study']}/instances/"
    made = [path for path in origins.makers if path.startswith(folder) and path.endswith(".parquet")]
    counted = estimate_rows.UNITS[row["n_unit"]]
    for table, mask in origins.instances_of(row).items():
        frame = files.read_parquet(table)[mask.to_numpy()]
        for given in map(files.read_parquet, made):
            lacking = [name for name in counted if name in given and name not in frame]
            if lacking and "instance_id" in frame:
                both = frame.merge(given[["instance_id", *lacking]].drop_duplicates(), on="instance_id")
                frame = both if len(both) == len(frame) else frame
        yield table, frame


def count(frames, unit):
    found = set()
    for frame in frames:
        named = [name for name in estimate_rows.UNITS[unit] if name in frame]
        assert named, unit
        found |= set(frame[named].itertuples(index=False, name=None))
    return len(found)


def lines_of(table, frame):
    """Yield the lines that rows were made from, in the rows' own columns, with the column that counts them."""
    for column, name in files.parquet_metadata(table)["origins"].items():
        for file, chosen in frame.groupby(name[1:-1]) if name.startswith("{") else [(name, frame)]:
            yield file, set(chosen[column].explode().dropna().astype(int))


def test_n_and_lines_are_those_of_the_rows_that_the_trace_names(origins, rows):
    sample = drawn(rows)
    assert {row["study"] for row in sample} == set(rows.study) and len(sample) == DRAWN
    checked = 0
    for row in sample:
        frames = [frame for _, frame in instances(origins, row)]
        assert frames, row
        if estimate_rows.UNITS[row["n_unit"]]:
            assert count(frames, row["n_unit"]) == row["n"], row
            checked += 1
        told = {(e["table"], Path(e["file"]).name): set(e["rows"]) for e in origins.origins_of(SUMMARY, [row])}
        own = {}
        for table, frame in instances(origins, row):
            for file, lines in lines_of(table, frame):
                own.setdefault((table, Path(file).name), set()).update(lines)
        assert told == {place: lines for place, lines in own.items() if lines}, row
    assert checked > 0.8 * DRAWN


def test_values_are_those_of_the_outcomes_of_the_rows_that_the_trace_names(origins, rows):
    """Where the study says how its headline follows from outcomes, these are of its instances and of no others."""
    declared = compare.read_declarations()
    checked = Counter()
    for row in drawn(rows):
        pairs = declared[row["study"]]["paired"].get(row["metric"])
        # Likelihoods of all pronouns are of one instance each, answers of prompts of several texts.
        if (
            pairs is None
            or pd.isna(row["value"])
            or row["scoring"] in (estimate_rows.FULL, estimate_rows.PARTIAL, estimate_rows.PROMPTED)
        ):
            continue
        try:
            made = outcomes.read_outcomes(Path(), row, origins.outcomes[row["study"]], pairs)
        except outcomes.NotComparable:
            # Summed otherwise than the study's predictions.
            assert isinstance(row["normalisation"], str), row
            continue
        named = [
            set(pd.concat([frame[key] for _, frame in instances(origins, row) if key in frame]).astype(str))
            for key in estimate_rows.IDENTIFIERS
            if any(key in frame for _, frame in instances(origins, row))
        ]
        assert set(made.id) in named, row
        value = outcomes._units(made, pairs["statistic"]).value.mean()
        assert value == pytest.approx(row["value"], abs=1e-6), row
        checked[row["study"]] += 1
    assert checked.keys() == set(rows.study) and checked.total() > 60, checked


FIRST_PAGE = [f"results/paper/{name}.csv" for name in ("figures/headlines", "figures/scores", "tables/scores")]


def test_the_first_page_leads_where_its_rows_of_the_summary_lead(origins, rows):
    """Numbers drop empty factors, and figures print shares in percent."""
    identity = estimate_rows.identity(rows)
    told = {tuple(map(estimate_rows.plain_cell, map(row.get, identity))): row for row in rows.to_dict("records")}
    asked = [(path, row, None) for path in FIRST_PAGE for row in files.read_csv(path).to_dict("records")]
    numbers = {
        name: entry
        for name, entry in trace.numbers_of_text(list(origins.makers.values())).items()
        if name.startswith("paper.")
    }
    # Of some rows the text states how wide their interval is.
    widths = {id(entry["cell"]) for name, entry in numbers.items() if name.endswith(".half-width")}
    asked += [(entry["path"], entry["cell"], entry["value"]) for entry in numbers.values()]
    assert {row["study"] for _, row, _ in asked} == set(rows.study) and len(numbers) > 10
    for path, row, value in asked:
        estimate = told[tuple(estimate_rows.plain_cell(row.get(name)) for name in identity)]
        stated = (estimate["high"] - estimate["low"]) / 2 if id(row) in widths else estimate["value"]
        assert value is None or value == stated
        found = origins.origins_of(path, [row])
        assert found == origins.origins_of(SUMMARY, [estimate]), (path, row)
        assert {entry["table"].split("/")[1] for entry in found} == {row["study"]}
        unit = estimate["n_unit"]
        if estimate_rows.UNITS[unit]:
            assert count((frame for _, frame in instances(origins, estimate)), unit) == estimate["n"], row


def test_a_row_that_the_summary_lacks_is_refused(origins):
    row = files.read_csv(FIRST_PAGE[0]).iloc[0].to_dict() | {"model": "nobody"}
    with pytest.raises(UserError, match=r"headlines.csv: results/paper/summary.csv has no row for ruff, \w+, nobody"):
        origins.origins_of(FIRST_PAGE[0], [row])


def test_cells_of_prompted_and_brought_systems_name_their_own_texts(origins, rows):
    """Predictions join what was prompted, what was scored, and clusters that were brought."""
    path = "results/winopron/estimates.csv"
    plain = rows[(rows.study == "winopron") & (rows.metric == "accuracy") & (rows.kind != estimate_rows.HEURISTIC)]
    plain = plain[~plain.scoring.isin([estimate_rows.FULL, estimate_rows.PARTIAL])].fillna({"scoring": ""})
    cells = files.read_csv(path, dtype={"prompt": str}).query("metric == 'accuracy' and reading == 'corrected'")
    identity = ["model", "scoring", "entities", "case", "prompt"]
    cells = cells[cells.pronoun_set.isna()].fillna(dict.fromkeys(identity, ""))
    assert set(plain.scoring) == {"", estimate_rows.CLUSTERS, estimate_rows.PROMPTED}
    for row in plain.fillna(dict.fromkeys(identity, "")).to_dict("records"):
        (cell,) = cells[(cells[identity] == [row[name] for name in identity]).all(axis=1)].to_dict("records")
        assert origins.origins_of(path, [cell]) == origins.origins_of(SUMMARY, [row]), cell


def test_likelihoods_lead_to_the_templates_that_were_scored(origins, rows):
    full = rows[(rows.study == "winopron") & (rows.scoring == estimate_rows.FULL) & (rows.metric == "accuracy")]
    whole = full[full.case.isna()].iloc[0].to_dict()
    (found,) = instances(origins, whole)
    assert found[0] == "results/winopron/instances/replica/selected.parquet"
    assert len(found[1]) == len(files.read_parquet(found[0]))
    # Of a prompted model the prompts, of a system the sentences.
    for scoring, folder in ((estimate_rows.PROMPTED, "prompts"), (estimate_rows.CLUSTERS, "instances")):
        row = rows[(rows.study == "winopron") & (rows.scoring == scoring)].iloc[0].to_dict()
        assert {table.split("/")[2] for table, _ in instances(origins, row)} == {folder}, row
