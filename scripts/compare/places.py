"""Which two runs are compared, where they lie, and where the comparison is written."""

import contextlib
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.core.errors import UserError, did_you_mean
from scripts.core.provenance import manifest
from scripts.core.workflow import runs

SUMMARY = "results/paper/summary.csv"
RESULTS = "results/compare"
"""Where a comparison is written, below its folder."""
LONGEST = 45
"""Characters of a run's name in the name of a comparison's folder."""
RUN_HINT = "give the folder of a run (runs/NAME) or its results/crate/run.crate.zip"


class ComparedRun(NamedTuple):
    """One of two runs: how it was asked for, its folder or crate, and one of its models, or None for all."""

    given: str
    path: Path
    model: str | None

    @property
    def name(self) -> str:
        """What the comparison calls it."""
        name = self.path.name.split(".")[0] if self.path.is_file() else self.path.resolve().name
        return f"{name}:{self.model}" if self.model else name

    @property
    def absolute(self) -> str:
        """The argument that names it from any folder."""
        return f"{self.path}:{self.model}" if self.model else str(self.path)


def find_run(given: str, key: str, here: Path, root: Path) -> ComparedRun:
    """Return the run that an argument names.

    Args:
        given: A run's folder or crate, which is looked for in ``here`` and then in the repository; after a colon, one
            of its models.
        key: What messages call the argument.
        here: The working directory.
        root: The repository.

    Raises:
        UserError: If there is no such run, or if it lacks what a comparison needs.
    """
    path, colon, model = given, "", ""
    if not Path(runs.resolve_path(given, here, root)).expanduser().exists():
        path, colon, model = given.rpartition(":")
    if colon and not path:
        raise UserError(f"{key}: '{given}' names no run before the colon; {RUN_HINT}")
    path = path or given
    place = Path(here) / Path(runs.resolve_path(path, here, root)).expanduser()
    if not place.exists():
        raise UserError(f"{key}: {path}: no such folder or file; {RUN_HINT}")
    if place.is_dir() and not (place / SUMMARY).is_file():
        raise UserError(f"{key}: {path} has no {SUMMARY}; make it: snakemake summary --cores 2 --directory {path}")
    if place.is_file() and not zipfile.is_zipfile(place):
        raise UserError(f"{key}: {path} is neither a folder nor a crate; {RUN_HINT}")
    return ComparedRun(given, place.resolve(), model or None)


@contextlib.contextmanager
def open_run(chosen: ComparedRun, key: str) -> Iterator[Path]:
    """Enter the folder of a run; a crate is checked and unpacked into a temporary one.

    Raises:
        UserError: If a crate is damaged or lacks the summary.
    """
    if chosen.path.is_dir():
        yield chosen.path
        return
    manifest.read(chosen.path)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(chosen.path) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith("results/")])
        if not (Path(folder) / SUMMARY).is_file():
            raise UserError(f"{key}: {chosen.given} has no {SUMMARY}; {RUN_HINT}")
        yield Path(folder)


def check_model(chosen: ComparedRun, key: str, known: list[str]) -> None:
    """Refuse a model that the run does not have."""
    if chosen.model and chosen.model not in known:
        hint = did_you_mean(chosen.model, known) or f"; its models are {', '.join(known)}"
        raise UserError(f"{key}: {chosen.given}: no headline estimate of '{chosen.model}'{hint}")


class Comparison(NamedTuple):
    """Two runs and the folder of their comparison."""

    a: ComparedRun
    b: ComparedRun
    folder: Path


def plan_comparison(a: str | None, b: str | None, folder: Path, root: Path, here: Path | None = None) -> Comparison:
    """Return the comparison that ``--config run_a=... run_b=...`` asks for.

    Args:
        a: The first run, as for :func:`find_run`.
        b: The second run.
        folder: Where Snakemake was started, or what its ``--directory`` names: the comparison's folder unless it is the
            repository, where ``runs/compare-A-B`` is.
        root: The repository.
        here: Where paths begin; by default ``folder``.

    Raises:
        UserError: If a run is missing or unusable, and if the comparison would lie in the folder of a run.
    """
    if not (a and b):
        raise UserError("compare takes two runs: snakemake compare --cores 2 --config run_a=runs/A run_b=runs/B")
    one, two = find_run(str(a), "a", here or folder, root), find_run(str(b), "b", here or folder, root)
    folder, root = Path(folder).resolve(), Path(root).resolve()
    if folder == root:
        folder = root / runs.FOLDER / f"compare-{_slug(one, root)}-{_slug(two, root)}"
    if (folder / SUMMARY).is_file() or any(folder.is_relative_to(s.path) and s.path != root for s in (one, two)):
        raise UserError(f"{folder.name} is the folder of a run; leave out --directory, or name an empty folder")
    return Comparison(one, two, folder)


def _slug(chosen: ComparedRun, root: Path):
    name = chosen.name if chosen.path != root else ":".join(filter(None, ["default", chosen.model]))
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:LONGEST]


def inputs(path: Path) -> list[str]:
    """Return the files of a run, or its crate, that a comparison reads, besides the records."""
    if path.is_file():
        return [str(path)]
    globs = (SUMMARY, "results/*/tables/findings.csv", "results/*/figures/**/*.csv", "results/*/figures/**/*.png")
    globs += tuple(
        f"results/*/{folder}/**/*.parquet" for folder in ("instances", "texts", "scores", "word_group_probabilities")
    )
    globs += tuple(f"results/*/{folder}/**/*.parquet" for folder in ("analysis", "predictions", "flags"))
    return sorted({str(found) for pattern in globs for found in path.glob(pattern)})
