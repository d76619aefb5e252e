"""What the paper prints of a table's file."""

import pytest

from scripts.core import files
from scripts.core.paper import finding_verdicts, printed_tables
from scripts.core.paper.finding_verdicts import Check, Finding
from tests.paper.typeset import build_column, needs_tex

RULE = r"\midrule"


@pytest.mark.parametrize(
    ("rows", "printed"),
    [
        (["A & none & 1", "B (rule) & none & 2"], ["A & none & 1"]),
        (["A (demonstration) & none & 1", " & n-CDA & 2", "B & none & 3"], ["B & none & 3"]),
        (["one & A (rule) & 1", " & B & 2", " & C & 3"], ["one & B & 2", " & C & 3"]),
        (["one & A (rule) & 1", RULE, "two & B & 2", RULE, "three & C (rule) & 3"], ["two & B & 2"]),
        (["one & A & 1", " & B (rule) & 2", RULE, "two & B & 3"], ["one & A & 1", RULE, "two & B & 3"]),
        (["A (rule) & 1", "B (rule) & 2"], ["A (rule) & 1", "B (rule) & 2"]),
    ],
    ids=[
        "a rule",
        "its repeated label",
        "a block keeps its label",
        "no empty block",
        "lines between blocks",
        "nothing else",
    ],
)
def test_heuristics_and_demonstrations_are_printed_where_there_is_nothing_else(tmp_path, rows, printed):
    def table(lines):
        body = "\n".join(line if line == RULE else rf"{line} \\" for line in lines)
        return f"\\begin{{tabular}}{{ll}}\n\\toprule\nSystem & n \\\\\n{RULE}\n{body}\n\\bottomrule\n\\end{{tabular}}"

    files.write_text(tmp_path / "t.tex", table(rows) + "\n")
    found = printed_tables.read_printed_table(tmp_path / "t.tex")
    assert found == f"% {tmp_path / 't.tex'}\n{printed_tables.fit_table(table(printed))}"
    assert printed_tables.count_rows(found) == len([line for line in printed if line != RULE])


@needs_tex
def test_findings_that_fill_several_pages_are_as_many_tables(tmp_path):
    """Forty long findings, decided by the long evidence of two sets; a float that is too large is a problem."""

    def checks(run):
        return [Check(False, f"a model of the run with a long name, {n}: 12.3 against 45.6 ({run})") for n in range(19)]

    found = [Finding(n, "Section 4, Table 2", f"{n} " + 40 * "word ", checks) for n in range(40)]
    paths = {kind: tmp_path / f"findings.{kind}" for kind in ("csv", "tex", "numbers")}
    finding_verdicts.write_verdicts(found, {"replica": 1, "official": 2}, ["replica", "official"], **paths)
    tables = printed_tables.split_table(printed_tables.read_printed_table(paths["tex"]))
    assert len(tables) > 3 and sum(map(printed_tables.count_rows, tables)) == 40
    floats = [rf"\begin{{table*}}[tp]\scriptsize {cells}\caption{{C}}\end{{table*}}" for cells in tables]
    build_column(tmp_path, "Text.\n" + "\n".join(floats))
