# Needs all rules, so that it comes last, and the profile where jobs go to a cluster (slurm/profile.yaml). Makes their
# groups and limits, and what runs before the first job; a local run is not touched.

from scripts.core.workflow import cluster


# They need the network, TeX or a few seconds: the submitting host has them, a compute node may not.
localrules:
    fetch_upstream,
    merge_demo_encoder,
    paper_pdf,


call_or_exit(cluster.check_profiles, workflow)
call_or_exit(cluster.adapt_rules, workflow, STUDIES)
cluster.check_dry_run(workflow)


onstart:
    try:
        cluster.prepare_submission(workflow)
        if CARD:
            cards.write_overlay(CARD, workflow.config_settings.overwrite_config)
    except UserError as error:
        exit_with(error)
