"""How WinoPron's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

import re

from scripts.core.data.traces import trace, trace_published
from scripts.winopron.lib import study
from scripts.winopron.lib.plan import Plan


def list_traces(plan: Plan) -> list[dict]:
    """Return the study's entries for the audit."""
    brought = [entry["system"] for kind in ("clusters", "answers") for entry in plan[kind]]
    unprompted = [*study.RULES.values(), *map(study.system_label, plan.systems.values()), *brought]
    return [
        # What was not prompted has read the instances themselves, and what resolves by likelihood those of a sample.
        trace(
            "results/winopron/*",
            {"system": f"(?P<system>.+({study.FULL}|{study.PARTIAL}))"},
            {"system": "{system}", "@path": "results/winopron/instances/*/selected.parquet"},
        ),
        trace(
            "results/winopron/*",
            {"system": f"(?P<system>{'|'.join(map(re.escape, unprompted))})"},
            {
                "system": "{system}",
                "@path": [f"results/winopron/instances/*/{kind}.parquet" for kind in study.ENTITIES],
            },
        ),
        # Of two cases, the rows of both.
        trace("*/overlap*.csv", {"case": "(?P<one>[a-z]+) / (?P<other>[a-z]+)"}, {"case": ["{one}", "{other}"]}),
        trace("*/winopron/tables/*.csv", {"Split": "Nominative|Accusative|Possessive|[^/]+/[^/]+/[^/]+|all"}),
        trace_published("winopron", "system"),
    ]
