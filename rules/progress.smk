# Needs all rules, so that it comes after them. Makes what a run prints while it runs: one line of progress in place of
# a block for each job, and at its end the paper with the digest of its manifest (scripts/core/workflow/progress.py).

from scripts.core.workflow import progress, targets

PROGRESS = progress.attach_handler(workflow)
targets.attach_summary(workflow, STUDIES)


onsuccess:
    last_lines = [PROGRESS.summary()] if PROGRESS else []
    if any(job.rule.name == "paper_pdf" for job in workflow.dag.jobs):
        last_lines += progress.paper_lines(rules.paper_pdf.output.pdf, rules.paper_pdf.input.manifest)
    elif PROGRESS:
        last_lines += progress.result_lines(workflow)
    progress.end_progress(PROGRESS, last_lines)


onerror:
    progress.end_progress(
        PROGRESS,
        [PROGRESS.summary(), f"Full Snakemake log: {progress.short_path(log[-1])}"] if PROGRESS else [],
    )
