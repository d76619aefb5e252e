"""Print what the workflow would make, as Snakemake itself resolves it: every job with its files and params, as JSON.

Nothing is run or locked, and below ``results/`` nothing is written but the cache of digests. This runs in a process of
its own, because Snakemake changes the process that builds its graph.

    python -m scripts.provenance.expected_jobs --configfile=config/test.yaml paper figures
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.exceptions import RuleException, WorkflowError
from snakemake.executors.dryrun import Executor as DryRun
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    ExecutionSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_executor_plugins.settings import CommonSettings

from scripts.core.data.portable import make_portable
from scripts.core.provenance import job_records

ROOT = Path(__file__).resolve().parents[2]
common_settings = CommonSettings(
    non_local_exec=False,
    dryrun_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
)


class GraphComplete(Exception):
    """Ends a dry run when its graph is complete."""


class Executor(DryRun):
    """An executor that is asked to run nothing: it gives away the graph of the jobs."""

    def __init__(self, workflow: Any, logger: Any):
        raise GraphComplete(workflow)


ExecutorPluginRegistry().register_plugin("plan", sys.modules[__name__])


@contextlib.contextmanager
def open_workflow(configfiles: Sequence[Path] = (), overrides: dict | None = None) -> Iterator[WorkflowApi]:
    """Read the workflow with overlays, the later ones stronger, and ``overrides``, which outrank them."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, keep_logger=False)) as api:
        yield api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=list(configfiles), config=overrides or {}),
            snakefile=ROOT / "Snakefile",
        )


def resolve_jobs(made: WorkflowApi, targets: Iterable[str]) -> Any:
    """Return the workflow with the graph of the jobs behind rules and files, by default those of its default target."""
    try:
        made.dag(DAGSettings(targets=set(targets))).execute_workflow(
            executor="plan", execution_settings=ExecutionSettings(ignore_incomplete=True, lock=False)
        )
    except GraphComplete as complete:
        return complete.args[0]
    raise AssertionError("an executor is asked for")


def plan_jobs(made: WorkflowApi, targets: list, files: list[str]) -> dict:
    """Return the jobs behind ``targets`` and behind those ``files`` that a rule can make.

    Args:
        made: Of :func:`open_workflow`.
        targets: Rules or files; empty for the workflow's default.
        files: Files that may or may not belong to the workflow.

    Returns:
        ``jobs``: ``rule``, ``wildcards``, ``inputs``, ``outputs``, ``params`` and ``folders`` of each; ``targets``:
        indices of the jobs that ``targets`` name; ``outcomes``: what the studies say of theirs
        (:mod:`scripts.core.provenance.origins`).
    """
    workflow = resolve_jobs(made, targets)
    targets = targets or [workflow.default_target]
    known = {path for job in workflow.dag.jobs for path in job.output}
    # A leftover of another configuration may lack what it was made from.
    more = [path for path in files if path not in known and any(rule.is_producer(path) for rule in workflow.rules)]
    if more:
        workflow = resolve_jobs(made, [*targets, *producible(made, more)])
    dag = workflow.dag
    jobs = list(dag.bfs(dag.dependencies, *dag.targetjobs))
    return {
        "jobs": [
            make_portable(
                {
                    "rule": job.rule.name,
                    "wildcards": dict(job.wildcards_dict),
                    "inputs": list(job.input),
                    "outputs": list(job.output),
                    "params": job_records.recorded_params(dict(job.params.items())),
                },
                ROOT,
            )
            | {"folders": weight_folders(job.params.get("entry"))}
            for job in jobs
        ],
        "outcomes": workflow.globals.get("OUTCOMES", {}),
        "targets": [n for n, job in enumerate(jobs) if {job.rule.name, *job.output} & set(targets)],
    }


def weight_folders(entry: Any) -> dict[str, str]:
    """Return where the weights of a registry entry lie, by part of the entry, which records do not say."""
    parts = ("source", "adapter", "encoder") if isinstance(entry, dict) else ()
    return {
        part: str(Path(entry[part]["path"]).expanduser().absolute()) for part in parts if "path" in entry.get(part, {})
    }


def producible(made: WorkflowApi, paths: list[str]) -> list[str]:
    """Return those of ``paths`` that can be planned."""
    if not paths:
        return []
    try:
        resolve_jobs(made, paths)
    except (RuleException, WorkflowError):
        half = len(paths) // 2
        return [*producible(made, paths[:half]), *producible(made, paths[half:])] if half else []
    return paths


def main() -> None:
    """Write the plan to standard output and everything that Snakemake says to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="rules or files (default: the workflow's default target)")
    parser.add_argument("--configfile", type=Path, action="append", default=[], help="an overlay; may be repeated")
    parser.add_argument("--files", type=Path, help="a JSON list of further files, planned where a rule can make them")
    arguments = parser.parse_args()
    files = json.loads(arguments.files.read_text(encoding="utf-8")) if arguments.files else []
    with contextlib.redirect_stdout(sys.stderr):
        try:
            with open_workflow(arguments.configfile) as made:
                planned = plan_jobs(made, arguments.targets, files)
        except SyntaxError as error:
            # Of a module that the rules import, or of a rules file; Python's last line does not say where.
            name = str(error.filename).removeprefix(f"{ROOT}/")
            sys.exit(f"Error: {name}, line {error.lineno}: {error.msg}; correct it")
    json.dump(planned, sys.stdout)


if __name__ == "__main__":
    main()
