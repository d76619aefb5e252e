# What every run needs besides the profile slurm/profile.yaml where jobs go to a cluster; a local run is not touched.
# Comes last: it looks at all rules.

from scripts.core import cluster, scheduling


# They need the network, TeX or a few seconds: the submitting host has them, a compute node may not.
localrules:
    fetch_upstream,
    merge_demo_encoder,
    paper_pdf,


try:
    cluster.check_profiles(workflow)
    cluster.adapt_rules(workflow, STUDIES)
except UserError as error:
    exit_with(error)


onstart:
    try:
        cluster.prepare_submission(workflow)
        progress.begin_progress(PROGRESS, workflow)
        scheduling.lift_default_limit(workflow)
        if CARD:
            cards.write_overlay(CARD, workflow.config_settings.overwrite_config)
    except UserError as error:
        exit_with(error)
