"""Groups of small rules, which travel in one job on a cluster."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

# The folders of a study's results that models read; they are made before models are loaded.
MODEL_INPUTS = ("instances", "texts", "prompts")


def form_groups(rules: Iterable[Any], studies: Collection[str]) -> None:
    """Give a group to Snakemake's rules that need no GPU and neither the network nor TeX."""
    for rule in rules:
        if not (rule.norun or "gpu" in rule.resources or rule.name == "paper_pdf"):
            rule.group = job_group(map(str, rule.output), studies)


def job_group(outputs: Iterable[str], studies: Collection[str]) -> str | None:
    """Return the group of a rule by the folder of ``results/`` that its outputs lie in; None: jobs of their own.

    Instances and what else models read travel in one job; the rest of a study's results and the paper in another.

    Examples:
        >>> job_group(["results/ruff/instances/{templates}/selected.parquet"], ["ruff"])
        'instances'
    """
    groups = set()
    for path in map(Path, outputs):
        studied = path.parts[0] == "results" and path.parts[1] in {"paper", *studies}
        groups.add(("instances" if path.parts[2] in MODEL_INPUTS else "analyses") if studied else None)
    return groups.pop() if len(groups) == 1 else None
