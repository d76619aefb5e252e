# Needs all rules, so that it comes last, and the profile where jobs go to a cluster (slurm/profile.yaml). Makes the groups
# of small rules and says which executor speaks with Slurm; a run on this machine is not touched.

from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_executor_plugins.settings import ExecMode


# They need the network, TeX or a few seconds: the submitting host has them, a compute node may not.
localrules:
    fetch_upstream,
    merge_demo_encoder,
    paper_pdf,


# Snakemake takes a second at each start of a run on this machine to check groups.
if workflow.exec_mode != ExecMode.DEFAULT or workflow.resource_settings.nodes is not None:
    from scripts.core.workflow import groups, slurm_executor

    ExecutorPluginRegistry().get_plugin("slurm").executor = slurm_executor.Executor
    groups.form_groups(workflow.rules, STUDIES)
