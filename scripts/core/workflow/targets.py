"""Targets of the workflow: their list, the nearest one to a mistyped name, and the summary at the end of a dry run."""

import logging
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.core.errors import count_noun, did_you_mean
from scripts.core.workflow import progress

if TYPE_CHECKING:
    import snakemake.workflow

UNKNOWN = re.compile(r"MissingRuleException.*?No rule to produce (\S+) \(if you use", flags=re.DOTALL)
LIST = "To list the targets, run: snakemake --cores 1 help"
DRY_RUN_END = "This was a dry-run"
MODELS_SHOWN = 5
"""Models that the summary of a dry run names; the others are counted."""


def documented_rules(workflow: "snakemake.workflow.Workflow") -> dict[str, str]:
    """Return the targets for users, rules with a docstring, by name to its first line."""
    rules = {rule.name: rule.docstring for rule in workflow.rules if rule.docstring and not rule.has_wildcards()}
    return {name: text.strip().splitlines()[0] for name, text in rules.items()}


class SuggestTarget(logging.Filter):
    """Replaces Snakemake's message about an unknown target by one that names the nearest target."""

    def __init__(self, workflow: "snakemake.workflow.Workflow"):
        super().__init__()
        self.workflow = workflow

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place where it is that message, and let all records pass."""
        match = UNKNOWN.search(record.getMessage())
        if match:
            hint = did_you_mean(match[1], [rule.name for rule in self.workflow.rules if not rule.has_wildcards()])
            record.msg = f"Error: {match[1]} is no target and no file that a rule makes{hint}\n{LIST}"
            record.args = ()
        return True


class DryRunSummary(logging.Handler):
    """Prints a few lines about the planned jobs after Snakemake's own output of a dry run."""

    def __init__(self, workflow: "snakemake.workflow.Workflow", studies: Iterable[str]):
        super().__init__()
        self.workflow, self.studies = workflow, list(studies)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the summary when Snakemake ends a dry run; also where ``--quiet`` hides the rest."""
        if record.getMessage().startswith(DRY_RUN_END):
            print(*summary_lines(self.workflow, self.studies), sep="\n", file=sys.stderr, flush=True)


def summary_lines(workflow: "snakemake.workflow.Workflow", studies: Iterable[str]) -> list[str]:
    """Return what a run would do: jobs of models with their time, then the other jobs by study and shared stage."""
    assert workflow.dag is not None, "jobs are planned"
    jobs = [job for job in workflow.dag.needrun_jobs(exclude_finished=False) if not job.is_norun]
    if not jobs:
        return []
    of_models, minutes, others = Counter(), defaultdict(float), Counter()
    for job in jobs:
        wildcards = job.wildcards_dict or {}
        model = wildcards.get("model") or wildcards.get("system")
        if model and "gpu" in (job.rule.resources or ()):
            of_models[model] += 1
            minutes[model] += (progress.expected_seconds(job)[0] or 0) / 60
        else:
            study = next((name for name in studies if job.rule.name.startswith(f"{name}_")), None)
            others[study or wildcards.get("study") or "shared"] += 1
    replaced = sum(any(Path(str(path)).exists() for path in job.output) for job in jobs)
    note = f", of which {replaced} would replace existing results" if replaced else ""
    lines = [f"This run would have {count_noun(len(jobs), 'job')}{note}:"]
    for model, count in of_models.most_common(MODELS_SHOWN):
        lines.append(f"  model {model}: {count_noun(count, 'job')}, at most {max(1, round(minutes[model]))} min")
    if len(of_models) > MODELS_SHOWN:
        rest = [name for name, _ in of_models.most_common()[MODELS_SHOWN:]]
        total = max(1, round(sum(minutes[name] for name in rest)))
        lines.append(
            f"  {len(rest)} more models: {count_noun(sum(of_models[n] for n in rest), 'job')}, at most {total} min"
        )
    if others:
        lines.append("  " + ", ".join(f"{name}: {count_noun(count, 'job')}" for name, count in others.most_common()))
    return lines


def attach_summary(workflow: "snakemake.workflow.Workflow", studies: Iterable[str]) -> None:
    """Have a run of Snakemake suggest targets and, if it is dry, end with the summary."""
    if not workflow.is_main_process:
        return
    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(SuggestTarget(workflow))
    if workflow.output_settings and workflow.output_settings.dryrun:
        logger.addHandler(DryRunSummary(workflow, studies))
