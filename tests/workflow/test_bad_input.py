"""Bad input ends with one line that names the file, the row and the remedy, and leaves no half-written output."""

import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from scripts.core import files

pytestmark = pytest.mark.workflow

CONTEXT_FREE = "results/ruff/instances/replica/context_free.parquet"


@pytest.fixture(scope="module")
def workflow(fresh):
    return fresh()


@pytest.fixture(autouse=True)
def restore(workflow):
    """Put back every file that a case breaks and drop what it made."""
    kept = {
        p: p.read_bytes()
        for folder in ("templates", "config")
        for p in (workflow.folder / folder).rglob("*")
        if p.is_file()
    }
    yield
    for path, content in kept.items():
        path.write_bytes(content)
    shutil.rmtree(workflow.folder / "results", ignore_errors=True)


def change_row(path, line, change):
    """Apply ``change`` to one 1-based line of a text file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[line - 1 : line] = change(lines[line - 1])
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def without_slot(workflow):
    change_row(workflow.folder / "templates/ruff/task.tsv", 20, lambda row: [row.replace("{pronoun}", "somebody")])
    return workflow.snakemake(CONTEXT_FREE), CONTEXT_FREE, [r"task.tsv", "20", "{pronoun}"]


def repeated_row(workflow):
    change_row(workflow.folder / "templates/ruff/task.tsv", 20, lambda row: [row, row])
    return workflow.snakemake(CONTEXT_FREE), CONTEXT_FREE, ["task.tsv", "21"]


def unknown_model(workflow):
    overlay = workflow.folder / "config/test.yaml"
    overlay.write_text(overlay.read_text().replace("tiny-bert", "tiny-brt"))
    return workflow.snakemake("scores"), "results", ["tiny-brt", "did you mean 'tiny-bert'?"]


def unknown_key(workflow):
    overlay = workflow.folder / "config/test.yaml"
    overlay.write_text(overlay.read_text().replace("sample_size", "sample_sise"))
    return (
        workflow.snakemake("scores"),
        "results",
        ["config/test.yaml, line ", "sample_sise", "did you mean 'sample_size'?"],
    )


def unknown_pronoun_set(workflow):
    overlay = workflow.folder / "config/test.yaml"
    overlay.write_text(overlay.read_text() + "pronoun_sets: [he, she, thay]\n")
    return workflow.snakemake("scores"), "results", ["pronouns.tsv", "thay", "did you mean 'they'?"]


def too_few_pronoun_sets(workflow):
    overlay = workflow.folder / "config/test.yaml"
    overlay.write_text(overlay.read_text() + "pronoun_sets: [he]\n")
    return workflow.snakemake("scores"), "results", ["pronoun_sets", "at least three", "because", "add some of she"]


def unreachable_hub(workflow):
    scores = workflow.folder / "results/scores.parquet"
    files.write_parquet(workflow.folder / "instances.parquet", pd.DataFrame(
        {"instance_id": ["a"], "text": ["The clerk said ___ left."], "options": [["he", "she"]]}))  # fmt: skip
    entry = {"source": {"hub": "nobody/no-such-model", "revision": None}, "architecture": "encoder", "gpus": 0}
    done = script(
        workflow, "scripts.scoring.score", instances="instances.parquet", scores=str(scores), model="no-such-model",
        entry=entry, engine="packed", device="cpu", tokens_per_batch=100,
        speed=str(workflow.folder / "results/speed.json"),
    )  # fmt: skip
    return (
        done,
        "results/scores.parquet",
        ["no-such-model", "Hub cannot be reached", "hf download nobody/no-such-model"],
    )


def corrupted_archive(workflow):
    mirror = broken_mirror(workflow, lambda content: content[:100] + bytes(200) + content[300:])
    target = "results/upstream/ruff/data.zip"
    done = workflow.snakemake(target, environment={"PRONOUN_UPSTREAM_MIRROR": str(mirror)})
    return done, target, ["data.zip", "sha256"]


def truncated_archive(workflow):
    mirror = broken_mirror(workflow, lambda content: content[:-50])
    target = "results/ruff/instances/official/context_free.parquet"
    done = workflow.snakemake(target, environment={"PRONOUN_UPSTREAM_MIRROR": str(mirror)})
    return done, target, ["data.zip"]


def missing_mirror(workflow):
    target = "results/upstream/ruff/data.zip"
    done = workflow.snakemake(target, environment={"PRONOUN_UPSTREAM_MIRROR": str(workflow.folder / "nowhere")})
    return done, target, ["nowhere", "mirror"]


def truncated_parquet(workflow):
    selected = workflow.folder / "selected.parquet"
    files.write_parquet(selected, pd.DataFrame({"instance_id": [str(i) for i in range(500)]}))
    selected.write_bytes(selected.read_bytes()[:-30])
    done = script(
        workflow, "scripts.ruff.predictions", "predictions", instances="selected.parquet", scores=[],
        predictions="results/predictions.parquet", models=[], pronoun_sets=[], sizes={},
    )  # fmt: skip
    return done, "results/predictions.parquet", ["selected.parquet", "truncated", "delete it"]


def no_space_left(workflow):
    """Write a full set into a file system of 64 kB."""
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    if not shutil.which("unshare") or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("user namespaces are not allowed here: no small file system can be mounted")
    (workflow.folder / "small").mkdir(exist_ok=True)
    command = (
        "mount -t tmpfs -o size=64k tmpfs small && "
        f"{sys.executable} -m scripts.core.fill_disk_probe; status=$?; find small -type f | head; exit $status"
    )
    (workflow.folder / "scripts/core/fill_disk_probe.py").write_text(
        '"""Write a table that does not fit."""\n'
        "import numpy as np\nimport pandas as pd\n\n"
        "from scripts.core import files\nfrom scripts.core.workflow import job\n\n\n"
        "def main(*, path: str = 'small/table.parquet'):\n"
        '    """Write random numbers."""\n'
        "    files.write_parquet(path, pd.DataFrame({'x': np.random.default_rng(0).random(100_000)}))\n\n\n"
        "if __name__ == '__main__':\n    job.configure(None)\n    job.call(main, {})\n"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", command],
        cwd=workflow.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert "\nsmall/" not in done.stdout, "a temporary file was left"
    return done, "small/table.parquet", ["small/table.parquet", "no space left", "free some space"]


def overlay(workflow, text, *arguments):
    """Plan with one more overlay; the target comes first, so that no overlay is taken for one."""
    (workflow.folder / "mine.yaml").write_text(text, encoding="utf-8")
    return workflow.snakemake("--dry-run", "--configfile", "config/test.yaml", "mine.yaml", "--", "scores", *arguments)


def repeated_key(workflow):
    done = overlay(workflow, "scoring:\n  device: cpu\nruff:\n  alpha: 0.05\n  alpha: 0.5\n")
    return done, "results", ["mine.yaml, line 5", "'alpha' is given twice (first in line 4)", "correct that line"]


def checked_alone(workflow, text):
    (workflow.folder / "mine.yaml").write_text(text, encoding="utf-8")
    assert overlay(workflow, text).returncode != 0
    return program(workflow, "-m", "scripts.check_config", "config/test.yaml", "mine.yaml")


def broken_overlay(workflow):
    done = checked_alone(workflow, "ruff:\n  seeds: [13,\nscoring: {device: cpu}\n")
    return done, "results", ["mine.yaml, line 4: not valid YAML", "correct that line"]


def empty_overlay(workflow):
    return checked_alone(workflow, "# later\n"), "results", ["mine.yaml: has no key; write one or leave the file out"]


def control_character(workflow):
    change_row(workflow.folder / "templates/ruff/task.tsv", 20, lambda row: [row.replace("{", "\0{", 1)])
    return workflow.snakemake(CONTEXT_FREE), CONTEXT_FREE, ["task.tsv, row 20: ", "control character U+0000; remove it"]


def infinite_score(workflow):
    sound = workflow.snakemake("results/ruff/scores/replica/tiny-bert.parquet")
    assert sound.returncode == 0, sound.stdout
    scores = workflow.folder / "results/ruff/scores/replica/tiny-bert.parquet"
    frame, facts = files.read_parquet(scores), files.parquet_metadata(scores)
    frame.loc[7, "log_probability"] = float("inf")
    broken = workflow.folder / "tiny-bert.parquet"
    files.write_parquet(broken, frame, facts)
    selected = workflow.folder / "results/ruff/instances/replica/selected.parquet"
    done = script(
        workflow, "scripts.ruff.predictions", "predictions", instances=str(selected), scores=[str(broken)],
        predictions="results/predictions.parquet", models=["tiny-bert"], pronoun_sets=["he", "she", "they", "xe"],
        sizes={"tiny-bert": 1000},
    )  # fmt: skip
    named = f"scores of model tiny-bert: instance {frame.instance_id[7]}, option '{frame.option[7]}'"
    return done, "results/predictions.parquet", [f"tiny-bert.parquet: {named}: log_probability is inf; delete the file"]


def script(workflow, module, function="main", **arguments):
    """Run the function of a rule without Snakemake."""
    code = (
        f"from scripts.core.workflow import job; import {module} as script; job.configure(None); "
        f"job.call(script.{function}, {arguments!r})"
    )
    return program(workflow, "-c", code)


def program(workflow, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=workflow.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "0", "HF_HUB_DOWNLOAD_TIMEOUT": "3", "HF_HUB_ETAG_TIMEOUT": "3"},
    )  # fmt: skip


def broken_mirror(workflow, change):
    content = change(bytes(range(256)) * 30)
    path = workflow.folder / "mirror/ruff/data.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return workflow.folder / "mirror"


CASES = [
    without_slot, repeated_row, unknown_model, unknown_key, unknown_pronoun_set, too_few_pronoun_sets, unreachable_hub,
    corrupted_archive, truncated_archive, missing_mirror, truncated_parquet, no_space_left, repeated_key,
    broken_overlay, empty_overlay, control_character, infinite_score,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_bad_input(workflow, case):
    done, output, words = case(workflow)
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if all(word in line for word in words)]
    assert lines, f"no single line has all of {words}:\n{done.stdout[-3000:]}"
    assert "Traceback" not in done.stdout
    path = workflow.folder / output
    assert not path.exists() or (
        path.is_dir() and not [p for p in path.rglob("*") if p.is_file() and "logs" not in p.parts]
    )
