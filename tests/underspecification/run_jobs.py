"""Run the jobs of a workflow in this one process, which saves each of them the start of an interpreter.

Usage: ``python run_jobs.py OVERLAY TARGET...`` in a copy of the repository. Snakemake says which jobs are to be run, in
which order, and with which inputs, outputs and params; no record of them is kept.
"""

import importlib
import sys
from pathlib import Path

from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

sys.path.insert(0, str(Path.cwd()))
overlay, *targets = sys.argv[1:]
with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, keep_logger=False)) as api:
    opened = api.workflow(
        resource_settings=ResourceSettings(cores=1),
        config_settings=ConfigSettings(configfiles=[Path(overlay)]),
        snakefile=Path("Snakefile"),
    )
    opened.dag(DAGSettings(targets=set(targets)))
    workflow = opened._workflow
    workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True, nolock=True)
    workflow._build_dag()
    arguments_of = importlib.import_module("scripts.core.workflow.job").job_arguments
    for level in workflow.dag.toposorted():
        for job in sorted(level, key=str):
            if not job.rule.script or not workflow.dag.needrun(job):
                continue
            name = job.rule.script.format(params=job.params).removeprefix("../").removesuffix(".py").replace("/", ".")
            script = importlib.import_module(name)
            function = vars(script).get("main") or vars(script)[job.rule.name.removeprefix(f"{name.split('.')[-2]}_")]
            function(**arguments_of(function, job))
