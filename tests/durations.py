"""Print which tests took longest, from what make has stored: python -m tests.durations."""

from pathlib import Path
from xml.etree import ElementTree

STORED = Path(__file__).parents[1] / ".durations"
SHOWN = 20


def main() -> None:
    """Print the tests and minutes of each call of pytest, and the slowest tests of all."""
    cases = []
    for path in sorted(STORED.glob("*.xml")):
        found = [
            (float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}")
            for case in ElementTree.parse(path).iter("testcase")
        ]
        print(f"{path.stem}: {len(found)} tests, {sum(seconds for seconds, _ in found) / 60:.1f} minutes of work")
        cases += found
    print(f"The slowest {SHOWN}, with what they set up (all: {STORED.name}/):")
    for seconds, name in sorted(cases, reverse=True)[:SHOWN]:
        print(f"{seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main()
