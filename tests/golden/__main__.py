"""Write the golden files: `make golden` makes every part anew, prints what differs from what was stored, and stores it.

--models FOLDER first takes what models left from the finished default run in that folder. --check STUDY [STUDY ...]
makes these studies alone and compares their folders below results/, in a fraction of the time; it stores nothing, or
with --store these folders.
"""

import argparse
import lzma
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.golden import compare
from tests.golden.replay import LISTED, MODELS, OVERLAYS, PACKED, UPSTREAM, ReplayError, replay

LEFT = (
    "results/*/scores/*/*.parquet", "results/*/answers/*/*.parquet", "results/*/distributions/*/*.parquet",
    "results/*/clusters/**/*.metadata.json", "results/benchmarks/score/**/*.json",
    "results/benchmarks/prompt/**/*.json", "results/benchmarks/token_distributions/**/*.json",
)  # fmt: skip
"""What the models of a run leave; where metadata lie beside clusters, a system found them."""


def take(run: Path) -> None:
    """Store what the models of a finished run left, in place of what was stored."""
    shutil.rmtree(MODELS, ignore_errors=True)
    for path in [path for pattern in LEFT for path in sorted(run.glob(pattern))]:
        if re.fullmatch(r"\d+of\d+\.metadata\.json", path.name):
            continue
        target = MODELS / path.relative_to(run)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        if path.name.endswith(".metadata.json"):
            name = path.name.replace(".metadata.json", ".jsonl")
            packed = lzma.compress(path.with_name(name).read_bytes(), preset=9)
            target.with_name(name + PACKED).write_bytes(packed)


def write(folder: Path) -> None:
    """Make and store every part whose inputs are there, and print how it differs from what was stored."""
    renamed, parts, count = compare.Renamed.read(), {}, 0
    for part in OVERLAYS:
        stored = compare.load(part)
        if part in UPSTREAM and not os.environ.get("PRONOUN_UPSTREAM_MIRROR"):
            print(f"{part}: PRONOUN_UPSTREAM_MIRROR is not set, so that it stays as it was stored")
            parts[part] = stored
            continue
        run = replay(folder, part)
        parts[part] = compare.snapshot(run, (run / LISTED).read_text(encoding="utf-8").split(), part in UPSTREAM)
        found = compare.differences(stored, parts[part], renamed) if stored else []
        print(*(f"{part}: {line}" for line in found), sep="\n", end="\n" if found else "")
        count += len(found)
        print(f"{part}: {len(parts[part])} files, {len(found)} differences")
    compare.store(parts)
    for path in sorted(path for path in MODELS.rglob("*") if path.is_file()):
        target = MODELS / renamed.file(path.relative_to(MODELS).as_posix())
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    head = [line for line in compare.RENAMED.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    compare.RENAMED.write_text("\n".join([*head, "files: {}", "columns: {}"]) + "\n", encoding="utf-8")


def check(folder: Path, studies: list[str], store: bool = False) -> int:
    """Make some studies anew, print how their results differ from what was stored, and return how many differences.

    With ``store`` they replace what was stored of these studies.
    """
    renamed, count = compare.Renamed.read(), 0
    parts = {part: compare.load(part) for part in OVERLAYS}
    for part, settings in OVERLAYS.items():
        of_part = [name for name in studies if name in settings.get("studies", studies)]
        if not of_part or (part in UPSTREAM and not os.environ.get("PRONOUN_UPSTREAM_MIRROR")):
            continue
        run = replay(folder, part, studies=of_part)
        below = tuple(f"results/{name}/" for name in of_part)
        made = compare.snapshot(run, (run / LISTED).read_text(encoding="utf-8").split(), part in UPSTREAM)
        stored, made = (
            {path: value for path, value in files.items() if renamed.file(path).startswith(below)}
            for files in (parts[part], made)
        )
        others = {path: value for path, value in parts[part].items() if path not in stored}
        parts[part] = dict(sorted((others | made).items()))
        found = compare.differences(stored, made, renamed)
        print(*(f"{part}: {line}" for line in found), sep="\n", end="\n" if found else "")
        print(f"{part}, {', '.join(of_part)}: {len(made)} files, {len(found)} differences")
        count += len(found)
    if store:
        compare.store(parts)
    return count


def main() -> int:
    """Write or check the golden files; returns 0, or 1 after one line on standard error or after differences."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--models", type=Path, help="folder of a finished default run")
    parser.add_argument("--check", nargs="+", metavar="STUDY", help="compare these studies alone")
    parser.add_argument("--store", action="store_true", help="store the studies that are checked")
    options = parser.parse_args()
    if options.models:
        take(options.models)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if options.check:
                return int(check(Path(folder), options.check, options.store) > 0 and not options.store)
            write(Path(folder))
    except ReplayError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
