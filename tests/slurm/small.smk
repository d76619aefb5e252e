# Small jobs under the profile for Slurm. A gate holds what follows it until somebody makes the file that it is named by.

import os
import sys

sys.path.insert(0, os.environ["PROJECT"])

from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from scripts.core.workflow.slurm_executor import Executor

Executor.RETRY_SECONDS, Executor.WAIT_SECONDS = 2, 5
ExecutorPluginRegistry().get_plugin("slurm").executor = Executor


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
    group:
        "instances"
    resources:
        mem_mb=600,
    shell:
        "touch {output}"


rule more_instances:
    input:
        rules.instances.output,
    output:
        "results/study/instances/b",
    group:
        "instances"
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
        gpu_model="pretend_80g",
        nodes=1,
        mem_mb=600,
    # Fails once, so that it is run again with more time.
    shell:
        "squeue --noheader --jobs=$SLURM_JOB_ID --format=%l > {output}; [ -e again ] || {{ touch again; exit 1; }}"


rule analyses:
    input:
        "gates/third",
    output:
        "results/study/analysis/all",
    group:
        "analyses"
    resources:
        mem_mb=600,
    shell:
        "touch {output}"
