"""What the profile for Slurm cannot say: groups, partitions and retries by rule, and checks before the first job.

Four functions take Snakemake's workflow object and are called from ``rules/cluster.smk``: :func:`check_profiles`,
:func:`adapt_rules` and :func:`check_dry_run` when all rules are known, :func:`prepare_submission` when a run starts.
"""

import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from snakemake.exceptions import ResourceInsufficiencyError
from snakemake.resources import GroupResources
from snakemake_interface_executor_plugins.settings import ExecMode
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.core.errors import UserError
from scripts.core.workflow import slurm

log = logging.getLogger("snakemake.logging")

# The rooms of a study's results that models read; they are made before models are loaded.
MODEL_INPUTS = ("instances", "texts", "prompts")
GROWING_RESOURCES = {"mem_mb": "max_mem_mb", "runtime": "max_runtime"}


# ---- when all rules are known


def adapt_rules(workflow: Any, studies: Collection[str]) -> None:
    """Set on every rule what depends on it: group, growth with each attempt, partition and GPU type.

    A memory or time that a rule states as a number is multiplied by the attempt; one that it computes is left to it.
    Neither grows beyond ``max_mem_mb`` and ``max_runtime`` of the profile, since Slurm lets a job with more wait
    for ever. ``--set-resources`` outranks all of it. Without the profile only the growth shows: a run on this machine
    alone (``--cores`` without ``--jobs``) has no groups, since Snakemake takes a second at each start to check them.

    Args:
        workflow: Snakemake's, a ``snakemake.workflow.Workflow``.
        studies: The studies, by the names of their folders below ``results/``.

    Raises:
        UserError: If a rule has a ``retries`` directive.
    """
    local = workflow.exec_mode == ExecMode.DEFAULT and workflow.resource_settings.nodes is None
    for rule in workflow.rules:
        if rule._restart_times:
            raise UserError(
                f"rule {rule.name}: retries would multiply with restart-times of slurm/profile.yaml, inside the same "
                "allocation; remove the directive"
            )
        if rule.norun:
            continue
        resources = rule.resources
        fixed = workflow.resource_settings.overwrite_resources.get(rule.name, {})
        for name, bound in GROWING_RESOURCES.items():
            if name in resources and name not in fixed:
                resources[name] = _growing(resources[name], resources.get(bound))
        if local:
            rule.group = None
        if "gpu" in resources:
            for name, value in _gpu_resources(resources).items():
                if name not in fixed:
                    resources[name] = value
        elif not local and rule._group is None and rule.name not in workflow._localrules:
            rule.group = job_group(map(str, rule.output), studies)


def job_group(outputs: Iterable[str], studies: Collection[str]) -> str | None:
    """Return the group of a rule with these output paths, by the room of ``results/`` they lie in; None: no group.

    For rules that need no GPU and are not local: instances and what else models read travel in one job; the rest of a
    study's results and the paper in another.

    Examples:
        >>> job_group(["results/ruff/instances/{templates}/selected.parquet"], ["ruff"])
        'instances'
    """
    groups = set()
    for path in outputs:
        parts = Path(path).parts
        if parts[0] != "results" or parts[1] not in {"paper", *studies}:
            groups.add(None)
        else:
            groups.add("instances" if parts[2] in MODEL_INPUTS else "analyses")
    return groups.pop() if len(groups) == 1 else None


def _growing(resource: Any, bound: Any) -> Callable[..., Any]:
    computed = resource.is_evaluable()

    def value(
        wildcards: Any, input: Any, attempt: int, threads: int, rulename: str, async_run: Callable[..., Any]
    ) -> Any:
        aux = {
            "input": input, "attempt": attempt, "threads": threads, "rulename": rulename, "async_run": async_run,
        }  # fmt: skip
        first = resource.evaluate(wildcards, **aux | {"attempt": 1}).value
        grown = resource.evaluate(wildcards, **aux).value if computed else first * attempt
        most = bound.evaluate(wildcards, **aux).value
        # A first attempt beyond the bound is for the check before submission to refuse, not to be cut here.
        return grown if most is None or attempt == 1 else max(first, min(grown, most))

    return value


def _gpu_resources(resources: Any) -> dict[str, Callable[..., Any]]:
    """Return the resources that follow from the GPUs of a job: partition, type, and one node for all of them."""

    def follow(single: Any, several: Any, other: Any) -> Callable[..., Any]:
        def value(
            wildcards: Any, input: Any, attempt: int, threads: int, rulename: str, async_run: Callable[..., Any]
        ) -> Any:
            aux = {
                "input": input, "attempt": attempt, "threads": threads, "rulename": rulename, "async_run": async_run,
            }  # fmt: skip
            count = resources["gpu"].evaluate(wildcards, **aux).value or 0
            chosen = other if not count else single if count == 1 else several
            return chosen.evaluate(wildcards, **aux).value if hasattr(chosen, "evaluate") else chosen

        return value

    if resources.get("gpu_partition").name == "":
        return {}
    return {
        "slurm_partition": follow(
            resources["gpu_partition"], resources.get("multi_gpu_partition"), resources.get("slurm_partition")
        ),
        "gpu_model": follow(resources.get("gpu_type"), resources.get("multi_gpu_type"), None),
        "nodes": follow(1, 1, None),
    }


def check_profiles(workflow: Any) -> None:
    """Refuse a workflow profile that says the same keys as this project's profile for Slurm, because it would win.

    Snakemake takes ``profiles/default`` beside the Snakefile or in the working directory by itself, and its keys
    replace those of ``--profile slurm`` without a word; ``executor: local`` there makes every job local.

    Raises:
        UserError
    """
    arguments = sys.argv[1:]
    profile = named_option(arguments, "--profile") or os.environ.get("SNAKEMAKE_PROFILE")
    if profile is None or Path(profile).name != "slurm" or named_option(arguments, "--workflow-profile") == "none":
        return
    ours = _keys(Path(profile) if Path(profile).is_dir() else Path(workflow.basedir) / "slurm")
    named = named_option(arguments, "--workflow-profile")
    folders = [Path(named)] if named else [Path("profiles/default"), Path(workflow.basedir) / "profiles/default"]
    for folder in folders:
        if folder.resolve() == Path(profile).resolve():
            continue
        both = sorted(ours & _keys(folder))
        if both:
            raise UserError(
                f"{folder}: this workflow profile overrides {', '.join(both)} of --profile slurm; take the keys out "
                "there or add --workflow-profile none"
            )


def named_option(arguments: Sequence[str], name: str) -> str | None:
    """Return the value of an option in a command line, given as ``--name value`` or ``--name=value``, or None."""
    for position, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.partition("=")[2]
        if argument == name and position + 1 < len(arguments):
            return arguments[position + 1]
    return None


def _keys(folder: Path) -> set[str]:
    files = [*folder.glob("config*.yaml"), *folder.glob("profile.yaml")] if folder.is_dir() else []
    return {key for path in files for key in yaml.safe_load(path.read_text(encoding="utf-8")) or {}}


# ---- when a run starts


def prepare_submission(workflow: Any) -> None:
    """Before the first submission to Slurm: check cluster and jobs, cancel what an earlier run left, mend the executor.

    Does nothing where the run's executor is not Slurm.

    Raises:
        UserError: If the cluster cannot run the jobs as they are, with every reason in one line.
    """
    settings = workflow.executor_settings
    if type(settings).__module__.partition(".")[0] != "snakemake_executor_plugin_slurm":
        return
    from scripts.core.workflow import slurm_executor

    config, limits = check_cluster(workflow.dag, settings)
    slurm.cancel_left_over(Path.cwd())
    settings.efficiency_report = settings.efficiency_report and slurm.reports_usage(config)
    slurm_executor.mend(workflow.scheduler._executor, limits)


def check_dry_run(workflow: Any) -> None:
    """Have ``--profile slurm -n`` check the cluster as a run would; Snakemake has no hook for dry runs."""
    output = workflow.output_settings
    if workflow.is_main_process and output and output.dryrun and workflow.resource_settings.nodes is not None:
        log.addFilter(DryRunCheck(workflow))


class DryRunCheck(logging.Filter):
    """Waits for the table of jobs of a dry run, when all jobs and groups are known."""

    def __init__(self, workflow: Any):
        super().__init__()
        self.workflow = workflow

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "event", None) == LogEvent.RUN_INFO:
            log.removeFilter(self)
            try:
                check_as_if_submitted(self.workflow)
            except UserError as error:
                sys.exit(f"Error: {error}")
        return True


def check_as_if_submitted(workflow: Any) -> None:
    """Check the jobs of a dry run with the executor that its command line asks for, if that is Slurm."""
    from snakemake.cli import parse_args
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    # The profile is found from the repository; Snakemake says once more that it takes it.
    with contextlib.chdir(workflow.basedir), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            arguments = parse_args(sys.argv[1:])[1]
        except SystemExit as error:
            raise UserError(f"the cluster was not checked: {said.getvalue().strip().splitlines()[-1]}") from error
    if arguments.executor != "slurm":
        return
    try:
        slurm.query_slurm("scontrol", "ping")
    except UserError as error:
        log.warning(f"The cluster was not checked: {error}")
        return
    check_cluster(workflow.dag, ExecutorPluginRegistry().get_plugin("slurm").get_settings(arguments))


def check_cluster(dag: Any, settings: Any) -> tuple[dict[str, str], dict[str, int | None]]:
    """Check that this cluster runs the jobs of a run; return Slurm's configuration and the partitions' time limits.

    Raises:
        UserError: With all that is wrong.
    """
    from scripts.core.workflow import slurm_executor

    config, limits = slurm.configuration(), slurm.time_limits()
    problems = slurm.check_conf(os.environ)
    problems += slurm.check_status(config, settings.status_command, settings.init_seconds_before_status_checks)
    problems += slurm.check_arrays(settings.array_jobs)
    requests = {name: slurm_executor.Request(*asked) for name, asked in submitted_jobs(dag).items()}
    problems += slurm_executor.check_requests(requests, settings, config, limits)
    if problems:
        raise UserError(
            f"this cluster cannot run the workflow as it is: {'; '.join(problems)}. Change slurm/profile.yaml or what "
            "the rule asks for; sinfo -o '%P %l %m %c %G' lists partitions, time limits, memory, cores and GPUs"
        )
    return config, limits


def submitted_jobs(dag: Any) -> dict[str, tuple[dict[str, Any], int]]:
    """Return resources and threads of the jobs and groups that this run would send to the queue, by their names."""
    found = {}
    for job in dag.needrun_jobs():
        group = dag.get_job_group(job)
        if group and group.groupid not in found:
            # A group would keep them, and files that its time follows from may not be there yet. Dry runs count too.
            try:
                resources = GroupResources.basic_layered(
                    group.toposorted, group.global_resources, run_local=False,
                    additive_resources=["runtime"], sortby=["runtime"],
                )  # fmt: skip
            except ResourceInsufficiencyError as error:
                raise UserError(f"group {group.groupid}: {error}") from error
            found[group.groupid] = dict(resources), resources["_cores"]
        elif not (group or job.rule.norun or job.rule.name in dag.workflow._localrules):
            name = f"{job.rule.name} ({', '.join(job.wildcards) or 'no wildcards'})"
            found[name] = dict(job.resources.items()), job.threads
    return found
