"""The end of a study's section: how often verdicts fell."""

from scripts.core.paper import closing
from scripts.core.paper.sections import linked

VERDICTS = ("total", "as_printed", "within_interval", "within_tolerance", "differs", "not_covered")


def beside(**parts):
    """Return the numbers across parts: of each, those of its results and of its settings, in the order of VERDICTS."""
    numbers = {}
    for key, (results, settings) in parts.items():
        for part, values in (("results", results), ("settings", settings)):
            for name, value in zip(VERDICTS, values, strict=True):
                numbers[f"published.{key}.{part}.{name}"] = {"value": value, "text": f"{value:,}"}
    return {"id": "s", "numbers": numbers, "tables": {}}


def test_verdicts_are_counted_side_by_side_and_those_that_never_fell_are_left_out():
    made = beside(replica=((9, 2, 0, 0, 3, 4), (5, 5, 0, 0, 0, 0)), official=((9, 0, 0, 0, 0, 9), (5, 0, 0, 0, 0, 5)))
    text = linked(closing.counts(made, {"replica": "replica_1", "official": "official"}))
    assert r"\multicolumn{2}{c}{replica\_1} & \multicolumn{2}{c}{official}" in text
    assert r"\sourced{s.published.replica.results.differs}{3}" in text
    rows = [row.split(" & ")[0] for row in text.splitlines() if "sourced" in row]
    assert rows == ["all that are printed", "as printed", "different", "not covered"]
