"""Write how often each finding's verdict is right on simulated data: `make verdicts`.

Leaves docs/verdicts.csv, finding by finding, and the table of docs/verdicts.md. --studies and --findings make some
anew and leave the others as they are; --data-sets draws fewer. --check draws few, stores nothing, and ends with 1 if a
finding has more wrong verdicts than chance allows.
"""

import argparse
import importlib
import re
import sys
import time
from pathlib import Path

import pandas as pd

from scripts.core import files
from tests.core.paper import simulated_findings

ROOT = Path(__file__).parents[1]
STUDIES = {
    "ruff": "RUFF",
    "winopron": "WinoPron",
    "counter_gap": "Counter-GAP",
    "misgendered": "MISGENDERED",
    "underspecification": "Underspecification",
}
CSV, PAGE = ROOT / "docs/verdicts.csv", ROOT / "docs/verdicts.md"
DATA_SETS, SEED = 200, 20240701
CHECKED = 20
"""Data sets that are drawn where nothing is stored."""


def simulation(study: str) -> simulated_findings.Simulation:
    """Return what a study simulates."""
    return importlib.import_module(f"tests.{study}.simulated_findings").SIMULATION


def main() -> int:
    """Simulate the studies, and write each when it is done; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts", description=__doc__)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--findings", nargs="+", type=int, help="numbers of those that are made anew")
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--csv", type=Path, default=CSV)
    parser.add_argument("--check", action="store_true", help=f"draw {CHECKED} data sets and store nothing")
    options = parser.parse_args()
    wrong = False
    for study in options.studies:
        start = time.monotonic()
        data_sets = CHECKED if options.check else options.data_sets
        for part in simulated_findings.verdict_rates(simulation(study), data_sets, SEED, options.findings):
            wrong |= part.too_often.any()
            if not options.check:
                store(options.csv, study, part)
            print(f"{study} {part.finding[0]}: {time.monotonic() - start:.0f} s", *_lines(part), sep="\n", flush=True)
    if options.csv == CSV and not options.check:
        write_page(files.read_csv(CSV))
    return int(options.check and wrong)


def store(path: Path, study: str, part: pd.DataFrame) -> None:
    """Put a finding's rows into the file in place of those that it had."""
    columns = ["study", *simulated_findings.COLUMNS]
    stored = files.read_csv(path) if path.exists() else pd.DataFrame(columns=columns)
    other = stored[(stored.study != study) | (stored.finding != part.finding[0])]
    table = pd.concat([other, part.assign(study=study)]) if len(other) else part.assign(study=study)
    rank = table.study.map({name: place for place, name in enumerate(STUDIES)})
    files.write_csv(path, table.assign(rank=rank).sort_values(["rank", "finding"], kind="stable")[columns])


def _lines(part: pd.DataFrame) -> list[str]:
    return [
        f"  {row.size}, {row.world}: {row.holds} hold, {row.fails} fail{', too often' * row.too_often}"
        for row in part.itertuples(name="Row")
    ]


def write_page(table: pd.DataFrame) -> None:
    """Put the studies' table into the page, between its marks."""
    rows = [
        f"| {STUDIES[study]} {row}"
        for study in table.study.unique()
        for row in simulated_findings.summarise(table[table.study == study], simulation(study))
    ]
    head = "| study | data sets | hold if true | fail if false | wrong at most, % | seldom hold though true |"
    lines = "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *rows])
    text = PAGE.read_text(encoding="utf-8")
    files.write_text(
        PAGE, re.sub(r"(<!-- verdicts -->\n).*(<!-- end -->)", rf"\g<1>\n{lines}\n\n\g<2>", text, flags=re.DOTALL)
    )


if __name__ == "__main__":
    sys.exit(main())
