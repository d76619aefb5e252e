"""What the profile for Slurm cannot say: groups, partitions and retries by rule, and checks before the first job.

Three functions take Snakemake's workflow object and are called from ``rules/cluster.smk``: :func:`check_profiles`
and :func:`adapt_rules` when all rules are known, :func:`prepare_submission` when a run starts. The others are pure or
ask Slurm.
"""

import getpass
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from snakemake_interface_executor_plugins.settings import ExecMode

from scripts.core.errors import UserError, count_noun

log = logging.getLogger("snakemake.logging")

# The rooms of a study's results that models read; they are made before models are loaded.
MODEL_INPUTS = ("instances", "texts", "prompts")
GROWING_RESOURCES = {"mem_mb": "max_mem_mb", "runtime": "max_runtime"}
# The executor names its jobs PREFIX_UUID and says in their comment what they are.
JOB_NAME = re.compile(r"(.+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
JOB_COMMENT = re.compile(r"(rule|group)_")
FINAL_STATES = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",
    "TIMEOUT",
}  # fmt: skip


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
        fixed = workflow.resource_settings._parsed_overwrite_resources.get(rule.name, {})
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
    """Before the first submission to Slurm: check cluster and jobs, cancel what an earlier run left, stay patient.

    Does nothing where the run's executor is not Slurm.

    Raises:
        UserError: If the cluster cannot run the jobs as they are, with every reason in one line.
    """
    settings = workflow.executor_settings
    if type(settings).__module__.partition(".")[0] != "snakemake_executor_plugin_slurm":
        return
    import snakemake_executor_plugin_slurm as plugin

    config = configuration()
    problems = check_conf(os.environ) + check_status(
        config, settings.status_command, settings.init_seconds_before_status_checks
    )
    problems += check_arrays(settings.array_jobs)
    problems += check_jobs(submitted_jobs(workflow.dag), partitions())
    if problems:
        raise UserError("this cluster cannot run the workflow as it is: " + "; ".join(problems))
    cancel_left_over(Path.cwd())
    settings.efficiency_report = settings.efficiency_report and reports_usage(config)
    plugin.query_job_status = retry_status_queries(plugin.query_job_status)


def submitted_jobs(dag: Any) -> dict[str, dict[str, Any]]:
    """Return ``{name: resources}`` of the jobs that this run would send to the queue; one job for each group."""
    jobs = {}
    for job in dag.needrun_jobs():
        unit = dag.get_job_group(job) or job
        if not unit.is_local:
            label = (
                unit.groupid if unit.is_group() else f"{job.rule.name} ({', '.join(job.wildcards) or 'no wildcards'})"
            )
            jobs[label] = {"threads": unit.threads, **dict(unit.resources.items())}
            if unit.is_group():
                # A group keeps what it finds, and files that its time follows from may not be there yet.
                unit._resources = None
    return jobs


def query_slurm(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a Slurm command prints.

    Raises:
        UserError: If it is missing or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment)
    except FileNotFoundError as error:
        raise UserError(f"{command[0]} is not installed here; run --profile slurm on a host of the cluster") from error
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        reason = (error.stderr or str(error)).strip().splitlines()
        raise UserError(f"{command[0]} fails ({reason[-1] if reason else 'no message'}); is Slurm up?") from error
    return done.stdout


def configuration() -> dict[str, str]:
    """Return Slurm's configuration as a dict of text."""
    pairs = (line.partition("=") for line in query_slurm("scontrol", "show", "config").splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if value}


def partitions() -> dict:
    """Return what each partition offers, as :func:`parse_partitions` does."""
    return parse_partitions(query_slurm("sinfo", "--noheader", "--exact", "--format=%R|%l|%m|%c|%G|%a"))


def parse_partitions(text: str) -> dict:
    """Return ``{partition: {minutes, nodes: [{mem_mb, cpus, gpus: {type: count}}]}}`` of sinfo's lines.

    Args:
        text: Lines ``partition|time limit|memory in MB|CPUs|generic resources|up``. Partitions that are not up are left
            out.

    Returns:
        ``minutes`` is None where there is no limit. GPUs without a type are counted under ``""``.
    """
    offers = {}
    for line in text.splitlines():
        name, limit, memory, cpus, generic, state = line.split("|")
        if state != "up":
            continue
        gpus = {}
        for kind, count in re.findall(r"(?:^|,)gpu(?::([A-Za-z_][\w.-]*))?:(\d+)", generic):
            gpus[kind] = gpus.get(kind, 0) + int(count)
        partition = offers.setdefault(name, {"minutes": minutes(limit), "nodes": []})
        partition["nodes"].append(
            {"mem_mb": int(memory.rstrip("+")), "cpus": int(cpus.rstrip("+")), "gpus": gpus}
        )  # fmt: skip
    return offers


def minutes(limit: str) -> int | None:
    """Return a time limit as sinfo prints it (``1-00:00:00``, ``30:00``, ``infinite``) in minutes; None: no limit."""
    if not re.fullmatch(r"(\d+-)?[\d:]+", limit):
        return None
    days, _, clock = limit.rpartition("-")
    fields = [int(field) for field in clock.split(":")]
    hours, minute, _ = [0] * (3 - len(fields)) + fields
    return int(days or 0) * 1440 + hours * 60 + minute


def check_conf(environment: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the way Slurm's commands find their configuration.

    The executor takes all SLURM_* variables from the command that it starts inside each job.
    """
    if "SLURM_CONF" not in environment:
        return []
    bare = {key: value for key, value in environment.items() if not key.startswith("SLURM_")}
    try:
        query_slurm("scontrol", "ping", environment=bare)
    except UserError:
        return [
            "SLURM_CONF is set, but jobs do not keep it and Slurm's commands fail without it: put commands that set "
            "it first in PATH"
        ]
    return []


def check_status(config: dict, command: str, seconds: int) -> list[str]:
    """Return what would keep the run from seeing that its jobs have ended.

    Args:
        config: As :func:`configuration` returns it.
        command: slurm-status-command.
        seconds: slurm-init-seconds-before-status-checks.
    """
    if command == "sacct":
        if config.get("AccountingStorageType", "").endswith("none"):
            return ["there is no accounting database for sacct: set slurm-status-command to squeue"]
        return []
    age = re.match(r"\d+", config.get("MinJobAge", ""))
    if age and int(age.group()) < 3 * seconds:
        return [
            f"squeue forgets ended jobs after {age.group()} s (MinJobAge): set "
            f"slurm-init-seconds-before-status-checks to {int(age.group()) // 3} or less"
        ]
    return []


def check_arrays(rules: str | None) -> list[str]:
    """Return why jobs are not submitted as arrays.

    The executor (2.8.0) submits jobs of a rule as an array with the partition, GPUs, memory and time of the first of
    them. Every further task runs inside a Snakemake that takes it for the first job: where one fails, the first job's
    output is removed, after that job was counted as finished, and others fail for want of it. Jobs that get ready in
    portions are dropped instead of collected: of 1,053 jobs, 153 were submitted, and the run waited for the others.

    Args:
        rules: slurm-array-jobs.
    """
    if not rules:
        return []
    return [
        f"slurm-array-jobs is {rules}, but in a job array every job gets the memory and GPUs of the first, and one "
        "that fails removes the first one's output: take --slurm-array-jobs out of the command or the profile"
    ]


def reports_usage(config: dict) -> bool:
    """Return whether the executor can report what jobs used: accounting that keeps the comments which name the rules.

    Args:
        config: As :func:`configuration` returns it.
    """
    stored = not config.get("AccountingStorageType", "").endswith("none")
    return stored and "job_comment" in config.get("AccountingStoreFlags", "") and shutil.which("sacct") is not None


def check_jobs(jobs: dict[str, dict], offered: dict) -> list[str]:
    """Return why jobs would be refused or wait for ever, one line for each reason, naming the jobs.

    Args:
        jobs: Name to resources, of which ``slurm_partition``, ``runtime``, ``mem_mb``, ``threads``, ``gpu`` and
            ``gpu_model`` are looked at.
        offered: As :func:`parse_partitions` returns it.
    """
    reasons = {}
    for name, wanted in jobs.items():
        for reason in _reasons(wanted, offered):
            reasons.setdefault(reason, []).append(name)
    return [
        f"{reason} ({', '.join(sorted(names)[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''})"
        for reason, names in reasons.items()
    ]


def _reasons(wanted: dict[str, Any], offered: dict[str, Any]) -> Iterator[str]:
    name = wanted.get("slurm_partition")
    if name is None:
        return
    if name not in offered:
        yield f"partition {name} is not there or not up, Slurm has {', '.join(offered)}: change slurm/profile.yaml"
        return
    limit, nodes = offered[name]["minutes"], offered[name]["nodes"]
    if limit is not None and wanted.get("runtime", 0) > limit:
        yield f"partition {name} ends jobs after {limit} minutes, {wanted['runtime']} are asked for"
    gpus, kind = wanted.get("gpu", 0), wanted.get("gpu_model")
    if not isinstance(gpus, int):
        yield f"gpu must be a number without quotes, not {gpus!r}"
        return
    fitting = [n for n in nodes if gpus <= (n["gpus"].get(kind, 0) if kind else sum(n["gpus"].values()))]
    if not fitting:
        yield f"no node of partition {name} has {count_noun(gpus, 'GPU')}{f' of type {kind}' if kind else ''}"
        return
    for key, words in (("mem_mb", "MB of memory"), ("threads", "CPU cores")):
        most = max(n["cpus" if key == "threads" else key] for n in fitting)
        if wanted.get(key, 0) > most:
            yield f"no node of partition {name} has {wanted[key]} {words}, the largest has {most}"


# ---- what an earlier run left


def cancel_left_over(folder: Path, seconds: float = 120) -> None:
    """Cancel the jobs that an earlier run in ``folder`` left in the queue, and wait until they are gone.

    A main process that was killed cannot cancel its jobs; a new one would submit the same work again and both would
    write the same files. Snakemake's lock says that no other run is alive in this folder.

    Raises:
        UserError: If they are still there after ``seconds``.
    """
    jobs = left_over(_queue(), folder)
    if not jobs:
        return
    names = ", ".join(sorted(jobs))
    # Snakemake's own handlers print the message without filling in arguments.
    log.warning(
        f"An earlier run in this folder left {count_noun(len(jobs), 'job')} in the queue; cancelling them: {names}"
    )
    query_slurm("scancel", *sorted(jobs))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not left_over(_queue(), folder):
            return
        time.sleep(1)
    raise UserError(f"jobs {names} of an earlier run do not end; see squeue and run again later")


def _queue() -> str:
    return query_slurm("squeue", "--noheader", f"--user={getpass.getuser()}", "--format=%A|%j|%Z|%k")


def left_over(text: str, folder: Path) -> set[str]:
    """Return the ids of this executor's jobs whose working directory is ``folder``.

    Args:
        text: Lines ``id|name|working directory|comment`` of squeue.
    """
    ids = set()
    for line in text.splitlines():
        number, name, where, comment = line.split("|", 3)
        ours = JOB_NAME.fullmatch(name) and JOB_COMMENT.match(comment)
        if ours and os.path.realpath(where) == os.path.realpath(folder):
            ids.add(number)
    return ids


# ---- status queries


def retry_status_queries(query: Callable[[str, logging.Logger], Awaitable[tuple[Any, Any]]]) -> Callable[..., Any]:
    """Wrap the executor's status query so that no answer of Slurm makes the run wait for ever.

    The executor forgets all jobs of a cycle in which every query failed (the controller or the accounting database was
    down), waits for ever on a state it cannot read (``CANCELLED by 1000``), and on a job that squeue has forgotten.
    Here a failed query says nothing new, a state is its first word, and a forgotten job has failed.

    Args:
        query: ``query_job_status(command, logger)`` of the executor, a coroutine function; it gives states by job id
            and seconds, or ``(None, None)``.
    """
    alive, missed = set(), {}

    async def query_job_status(command: str, logger: logging.Logger):
        states, seconds = await query(command, logger)
        if states is None:
            logger.warning(f"Slurm does not answer ({command.split()[0]}); its jobs go on, asking again.")
            return {}, 0.0
        states = {job: state.split(" ")[0] for job, state in states.items()}
        for job in alive - set(states):
            # A controller that has just started may not know all jobs yet.
            missed[job] = missed.get(job, 0) + 1
            if missed[job] >= 3:
                logger.warning(f"Slurm no longer knows job {job}; counting it as failed.")
                states[job] = "FAILED"
        for job, state in states.items():
            if state in FINAL_STATES:
                alive.discard(job)
            else:
                alive.add(job)
                missed.pop(job, None)
        return states, seconds

    return query_job_status
