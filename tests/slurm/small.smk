# Small jobs under the profile for Slurm. A gate holds what follows it until somebody makes the file that it is named by.

import os
import sys

sys.path.insert(0, os.environ["PROJECT"])

from scripts.core.errors import UserError
from scripts.core.workflow import cluster
from scripts.core.workflow.slurm_executor import PatientExecutor


def or_exit(function, *given):
    try:
        return function(*given)
    except UserError as error:
        sys.exit(f"Error: {error}")


localrules:
    all,
    gate,


rule all:
    input:
        "results/study/analysis/all",


rule gate:
    input:
        lambda wildcards: {"first": [], "second": "results/study/instances/b", "third": "results/alone"}[wildcards.name],
    output:
        "gates/{name}",
    shell:
        "until [ -e open_{wildcards.name} ]; do sleep 0.2; done; touch {output}"


rule instances:
    input:
        "gates/first",
    output:
        "results/study/instances/a",
    resources:
        mem_mb=600,
    shell:
        "touch {output}"


rule more_instances:
    input:
        rules.instances.output,
    output:
        "results/study/instances/b",
    resources:
        mem_mb=600,
    shell:
        "touch {output}"


rule alone:
    input:
        "gates/second",
    output:
        "results/alone",
    resources:
        gpu=1,
        mem_mb=600,
    # Fails once, so that it is run again with more time.
    shell:
        "squeue --noheader --jobs=$SLURM_JOB_ID --format=%l > {output}; [ -e again ] || {{ touch again; exit 1; }}"


rule analyses:
    input:
        "gates/third",
    output:
        "results/study/analysis/all",
    resources:
        mem_mb=600,
    shell:
        "touch {output}"


or_exit(cluster.check_profiles, workflow)
or_exit(cluster.adapt_rules, workflow, ["study"])
cluster.check_dry_run(workflow)
PatientExecutor.RETRY_SECONDS, PatientExecutor.WAIT_SECONDS = 2, 5


onstart:
    or_exit(cluster.prepare_submission, workflow)
