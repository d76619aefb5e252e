"""Tables with rules alone and with all systems of the study; golden files have the cells of few systems."""

import pytest

from scripts.core import files
from scripts.winopron import study, tables


@pytest.fixture
def cells(run):
    """Return the cells of a table, all systems as rows, and its LaTeX."""
    folder, labels = run
    paths = {kind: str(folder / f"{kind}.csv") for kind in ("estimates", "biased_occupations", "overlap")}

    def make(name):
        made = {kind: folder / "tables" / f"{name}.{kind}" for kind in ("tex", "csv")}
        tables.tables(**paths, **{kind: [str(path)] for kind, path in made.items()}, templates="replica", labels=labels)
        return files.read_csv(made["csv"], dtype=str).fillna(""), made["tex"].read_text(encoding="utf-8")

    return make


def test_rules_are_typeset_only_where_there_is_nothing_else(run, cells):
    f1, printed = cells("f1")
    assert list(f1)[2:] == study.order_systems(run[1].values()) and len(f1) == 2 * 8
    assert ("(rule)" in printed) == (len(run[1]) == 2)
    performance, _ = cells("performance")
    assert (performance.Winogender == "not run").all() and set(performance.System) == set(run[1].values())


def test_overlaps_and_occupations(run, cells):
    by_system, _ = cells("overlap_systems")
    occupations, _ = cells("biased_occupations")
    if len(run[1]) == 2:
        assert by_system.empty and occupations.empty
        assert cells("overlap_cases")[1] == "% This table has no rows in this run.\n"
        return
    # Prompted systems as well: of their answers the most frequent one.
    assert by_system.System.str.contains("SpanBERT-base / FLAN").any()
    # A system of the study comes first wherever it is in the run.
    assert not by_system.System.str.endswith("/ LingMess").any()
    assert len(occupations) == 12 * len(study.SYSTEMS)
    rows = study.read_table(run[0] / "overlap.csv")
    tested = rows[rows.p_value.notna()]
    assert tested.expected.between(0, 1).all()
    # Holm's correction is over one way of reading: the smallest p value is multiplied by the number of comparisons.
    for _, same in tested.groupby(["comparison", "reading"]):
        assert same.p_holm.min() == pytest.approx(min(1, len(same) * same.p_value.min()))
    assert set(rows.groupby("reading").size()) == {len(rows) // 2}


def test_some_of_many_occupations_are_typeset():
    assert tables._first(list("bcdefg")) == "b, c, d, e and 2 more" and tables._first(["b"]) == "b"
