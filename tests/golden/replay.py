"""Replay runs from the stored outputs of their models: the workflow as it is, without any job that runs a model.

A job is a fork of a process that has loaded the packages, and draws no picture: what a figure shows is in its table.
"""

import fnmatch
import importlib.abc
import importlib.machinery
import json
import lzma
import os
import re
import shutil
import sys
from pathlib import Path

import yaml

from tests import forks

HERE = Path(__file__).parent
MODELS = HERE / "models"
"""What the models of the default run left, at the same paths as in a run; JSON Lines are compressed."""
LISTED = "stored.txt"
"""Where a replay lists those of them that it has."""
PACKED = ".xz"
DRAWN = ("synthetic-01", "synthetic-08", "synthetic-17")
"""Models whose scores are drawn: two sizes of one family of decoders, and an encoder."""
DRAWN_SETS = [
    f"{study}/{name}"
    for study, added in (("ruff", ""), ("winopron", ""), ("misgendered", ""), ("misgendered", "_few_2"))
    for name in (f"replica{added}", f"official{added}")
]
_DRAWN = {
    "registry": "models.yaml",
    "models": list(DRAWN),
    "systems": [],
    "cards": [],
    "ruff": {"templates": ["replica"], "prompting": {"models": []}},
}
OVERLAYS = {
    "default": {},
    "synthetic": _DRAWN
    | {
        "studies": ["ruff", "misgendered", "winopron"],
        "winopron": {"prompting": {"models": []}, "resolution": {"pairs": 0}},
    },
    "official": _DRAWN
    | {
        "studies": ["ruff", "misgendered", "winopron"],
        "ruff": {"templates": ["official"], "prompting": {"models": []}},
        "misgendered": {"templates": ["official"]},
        "winopron": {
            "templates": ["official", "winogender"],
            "prompting": {"models": []},
            "resolution": {"pairs": 0},
        },
    },
    "released": {
        "studies": ["counter_gap", "underspecification"],
        "systems": [],
        "cards": [],
        "counter_gap": {"templates": ["official"], "gap": ["validation"]},
        "underspecification": {"released": ["preprint", "aaai"], "bootstrap": {"draws": 200, "seed": 20221001}},
    },
}
"""The configuration of each part: the default run, drawn scores, and what needs the authors' files."""
UPSTREAM = ("official", "released")
"""Parts that need the authors' files. None of their texts is stored (:func:`tests.golden.compare.masked`)."""
STORED = {"default": "results/*", "released": "results/*underspecification/*"}
"""Which outputs of models a part has; the others draw their scores."""
PRELOADED = (*forks.LOADED, "scipy.stats", "scipy.optimize", "statsmodels.formula.api")


class ReplayError(Exception):
    """What kept a replay from its end, in one line."""


def replay(folder: Path, part: str, cores: int = 2, studies: list[str] | None = None) -> Path:
    """Make a part of the golden files anew and return the folder of its run, which has ``results``.

    Args:
        folder: A copy of the repository is made here, if there is none yet; parts may share one.
        part: A key of ``OVERLAYS``.
        cores: Jobs side by side.
        studies: Only these studies; None: those of the part.

    Raises:
        ReplayError: If a job fails, and if one would have to run a model.
    """
    if not (folder / "golden.smk").exists():
        copy(folder)
    settings = OVERLAYS[part] | ({"studies": studies} if studies else {})
    run = folder / "runs" / part if settings else folder
    run.mkdir(parents=True, exist_ok=True)
    options = ["--snakefile", "golden.smk", "--directory", str(run), "--cores", str(cores), "--quiet", "host"]
    if settings:
        (run / "run.yaml").write_text(yaml.safe_dump({"run": part} | settings), encoding="utf-8")
        options += ["--configfile", str(run / "run.yaml")]
    if "registry" in settings:
        from tests.golden import draw_scores

        # Scores are drawn when instances are there; until then a file stands for them.
        (run / "drawn.csv").touch()
        sets = dict.fromkeys(DRAWN_SETS, "drawn.csv")
        models = {name: draw_scores.entry(int(name.rpartition("-")[2]), sets) for name in DRAWN}
        (run / settings["registry"]).write_text(yaml.safe_dump({"models": models}), encoding="utf-8")
    (run / LISTED).write_text("\n".join(unpack(run, STORED.get(part))), encoding="utf-8")
    # Nothing here is of a commit, wherever the folder is.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = forks.run_module("snakemake", ["golden", *options, "--nocolor"], folder, environment)
    if done.returncode:
        raise ReplayError(reason(done.stdout, part))
    return run


def copy(folder: Path) -> None:
    """Make a copy of the repository that can replay runs."""
    from tests.workflow.conftest import Workflow

    Workflow(folder)
    shutil.copy(HERE / "replay.smk", folder / "golden.smk")
    shutil.copy(HERE / "draw_scores.py", folder)


def unpack(run: Path, chosen: str | None) -> list[str]:
    """Put the stored outputs of models that match a pattern into a run; return their paths there."""
    from tests.golden.compare import Renamed

    renamed, made = Renamed.read(), []
    for path in sorted(MODELS.rglob("*")):
        name = path.relative_to(MODELS).as_posix().removesuffix(PACKED)
        if chosen is None or not path.is_file() or not fnmatch.fnmatch(name, chosen):
            continue
        made.append(renamed.file(name))
        target = run / made[-1]
        target.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        target.write_bytes(lzma.decompress(content) if path.suffix == PACKED else content)
    return made


def reason(output: str, part: str) -> str:
    """Return in one line why a replay ended, from what Snakemake printed."""
    missing = re.search(r"affected files:\s+(\S+)", output)
    if missing:
        remedy = "make paper and make golden MODELS=. store it"
        return f"golden files, {part}: {missing[1]} is not stored, so that a model would have to run; {remedy}"
    failed = re.search(r"^Error in rule (\w+)", output, flags=re.MULTILINE)
    rule = failed[1] if failed else "the workflow"
    if NoModels.MESSAGE in output:
        return f"golden files, {part}: {rule} loads torch, so that it would run a model; let it read what models leave"
    said = [line for line in output.splitlines() if line.startswith("Error: ")]
    return f"golden files, {part}: {rule} failed: {' '.join(said or output[-600:].split())}"


class NoModels(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets nobody import torch, which every job that runs a model does."""

    MESSAGE = "a replay runs no models"

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "torch" else None

    def create_module(self, spec):
        raise ImportError(self.MESSAGE)

    def exec_module(self, module):
        """Is never reached."""


def prepare(workflow: "snakemake.workflow.Workflow") -> None:  # noqa: F821
    """Drop the rules that leave stored files, and have the jobs of the others run as forks."""
    stored = Path(LISTED).read_text(encoding="utf-8").split()
    for name, rule in list(workflow._rules.items()):
        if any(rule.is_producer(path) for path in stored):
            del workflow._rules[name]
        # Nothing is measured.
        rule._benchmark = None
    server = forks.Server(PRELOADED, os.environ)
    forks.install("tests.golden.replay:execute", lambda _: server.address)


def pictures() -> list[str]:
    """Return the figures of the default run that the documentation shows."""
    return re.findall(r"results/\S+\.png", (HERE.parents[1] / "docs/gallery.md").read_text(encoding="utf-8"))


def keep_marks(figure: "matplotlib.figure.Figure", target: str, format: str, **options) -> None:  # noqa: F821
    """Keep the marks of a figure in place of its PNG, for tests to look at; the paper asks its PDF for the width.

    What the documentation shows of the default run is drawn, below the run's ``pictures``.
    """
    from matplotlib.figure import Figure

    from tests.golden.marks import marks

    # Files are written under names like .scores.png.x7ag.png.
    path = Path(target).with_name(Path(target).name.split(".")[1] + ".png")
    if format == "png" and os.path.relpath(path) in pictures() and not Path("run.yaml").exists():
        Path("pictures").mkdir(exist_ok=True)
        Figure.draw_picture(figure, Path("pictures") / path.name, format=format, **options)
    box = "/MediaBox [ 0 0 {} {} ]".format(*72 * figure.get_size_inches())
    Path(target).write_text(json.dumps(marks(figure)) if format == "png" else box, encoding="utf-8")


def execute(path: str) -> None:
    """As :func:`tests.forks.execute`, but no record is kept of the job, and it draws no picture and runs no model."""
    from matplotlib.figure import Figure

    from scripts.core.workflow import job

    job._recorder = lambda *_: None
    Figure.draw_picture, Figure.savefig = Figure.savefig, keep_marks
    sys.meta_path.insert(0, NoModels())
    forks.execute(path)
