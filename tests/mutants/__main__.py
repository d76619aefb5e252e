"""Break one line at a time and see which test notices: `python -m tests.mutants [AREA | AREA:NUMBER ...]`.

AREA is a file of this folder (`core_data` of core_data.yaml), NUMBER one of its rows, counted from 1. All happens in a
copy of the working tree. The exit status is 1 if a mutant survives that is not listed as surviving, if one listed is
killed, or if the tests cannot tell.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
MINUTES = 10
"""A mutant may make a loop endless; what takes longer is killed."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file that some test must notice.

    Attributes:
        old: What occurs once in the file, and ``new`` stands for it in the mutant.
        why: What would be wrong.
        tests: Files of tests, or tests, that are run.
        survives: Why no test needs to notice, for one that none does.
    """

    name: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    survives: str = ""

    def problem(self, root: Path) -> str:
        """Return why the mutant cannot be made in a tree, or an empty string."""
        path = root / self.file
        count = path.read_text(encoding="utf-8").count(self.old) if path.is_file() else None
        missing = [test for test in self.tests if not (root / test.partition("::")[0]).exists()]
        if count is None or missing or not self.tests:
            return f"{self.name}: no such file: {missing[0] if missing else self.file}"
        return "" if count == 1 and self.old != self.new else f"{self.name}: {count} times in {self.file}: {self.old!r}"


def read(area: str) -> list[Mutant]:
    """Return the mutants of an area."""
    rows = yaml.safe_load((FOLDER / f"{area}.yaml").read_text(encoding="utf-8"))
    return [
        Mutant(f"{area}:{number}", **row | {"tests": tuple(row["tests"])}) for number, row in enumerate(rows, start=1)
    ]


def areas() -> list[str]:
    """Return the names of all areas."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def copy_tree(target: Path) -> None:
    """Copy what git tracks and what is new, and link the environments."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    for path in ROOT.glob(".venv*"):
        if not (target / path.name).exists():
            (target / path.name).symlink_to(path.resolve())


def outcome(tree: Path, tests: tuple[str, ...]) -> tuple[bool, str]:
    """Run tests; returns whether they passed, and the first that failed.

    Raises:
        RuntimeError: If it was not a test that failed.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--durations=0", *tests]
    # Two mutants of one size in one second would share a compiled module.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=60 * MINUTES, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"{MINUTES} minutes"
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, flags=re.MULTILINE)
    return done.returncode == 0, failed[1] if failed else ""


def judge(tree: Path, mutant: Mutant) -> bool:
    """Make a mutant, print what notices it, and restore the file; returns whether that is as expected."""
    path = tree / mutant.file
    sound = path.read_text(encoding="utf-8")
    start = time.monotonic()
    path.write_text(sound.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        survived, by = outcome(tree, mutant.tests)
    finally:
        path.write_text(sound, encoding="utf-8")
    expected = survived == bool(mutant.survives)
    said = "survived" if survived else f"killed by {by}"
    listed = "" if expected else ", though it is listed as surviving" if mutant.survives else f": {mutant.why}"
    print(f"{mutant.name} {said} in {time.monotonic() - start:.1f} s{listed}", flush=True)
    return expected


def main() -> int:
    """Judge the mutants that are asked for; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help="all, if none is named")
    asked = [name.partition(":") for name in parser.parse_args().areas or areas()]
    mutants = [
        mutant for area, _, number in asked for mutant in read(area) if number in ("", mutant.name.partition(":")[2])
    ]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        problems = list(filter(None, (mutant.problem(tree) for mutant in mutants)))
        if problems or not mutants:
            print(*problems or ["there is no such mutant"], sep="\n", file=sys.stderr)
            return 1
        sound, by = outcome(tree, tuple(dict.fromkeys(test for mutant in mutants for test in mutant.tests)))
        if not sound:
            print(f"without any mutant {by} fails; mend it first", file=sys.stderr)
            return 1
        expected = [judge(tree, mutant) for mutant in mutants]
    print(f"{len(expected)} mutants, {len(expected) - sum(expected)} not as expected")
    return int(not all(expected))


if __name__ == "__main__":
    sys.exit(main())
