# What a run prints while it runs: one line of progress in place of a block for each job, and at its end the paper with
# the digest of its manifest (scripts/core/progress.py). It comes after all rules.

from scripts.core import progress

PROGRESS = progress.attach(workflow)


onsuccess:
    told = [PROGRESS.summary()] if PROGRESS else []
    if any(job.rule.name == "paper_pdf" for job in workflow.dag.jobs):
        told += progress.paper_lines(rules.paper_pdf.output.pdf, rules.paper_pdf.input.manifest)
    progress.end(PROGRESS, told)


onerror:
    progress.end(
        PROGRESS,
        [f"{PROGRESS.summary()}; all that Snakemake said is in {progress.shown(log[-1])}"] if PROGRESS else [],
    )
