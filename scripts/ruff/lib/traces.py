"""How RUFF's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

from scripts.core.data.traces import trace, trace_pairs, trace_published, trace_tables
from scripts.ruff.lib.plan import Plan

OF_FIDELITY = "accuracy* error_* headline introduction_accuracy normalisation pronoun_tests scaling"
"""Tables about instances with context."""
IN_PUBLISHED_ORDER = (
    "prompted_accuracy prompted_summary prompting prompting_chain prompting_final prompting_vanilla "
    "prompt*_against_scored"
)
"""Tables about prompts that list the options as the study does."""
WITH_SCORES = "prompt*_against_scored"
COUNTS = "*/instance_counts.csv"


def list_traces(plan: Plan) -> list[dict]:
    """Return the study's entries for the audit."""
    return [
        # A row of accuracies is about one level of one factor.
        trace("results/ruff/*", {"factor": r"\w+", "level": r"\w+"}, {"{factor}": "{level}"}),
        *trace_tables("results/ruff/*", OF_FIDELITY, then={"setting": "fidelity"}),
        *trace_tables(
            "results/ruff/figures/*", "accuracy_by_pronoun introduction_accuracy", then={"n_distractors": "0"}
        ),
        trace_pairs("*/pronoun_tests.csv", "pronoun_a", "pronoun_b", "pronoun"),
        trace("*/pronoun_tests.csv", then={"n_distractors": "0"}),
        trace(
            "*/error_types.csv",
            without=["n_distractors"],
            then={"n_distractors": [str(n) for n in plan["distractors"] if n]},
        ),
        # Without context every task sentence is counted, whichever pronoun a model predicts.
        trace("*/context_free*.csv", {"pronoun": ".+"}),
        trace("*/context_free*.csv", then={"setting": "context_free"}),
        trace(COUNTS, {"n_distractors": "context_free|"}, {"n_distractors": ""}),
        trace(COUNTS, {"setting": ".+"}),
        *(
            trace(
                COUNTS,
                {"@column": "scored" if size == plan.largest else f"scored_{size}"},
                {"@path": "*/selected.parquet", "priority": ["", *map(str, range(size))]},
            )
            for size in dict.fromkeys(plan.sizes.values())
        ),
        *(
            trace(COUNTS, {"@column": column, **when}, {"@path": f"*/{made}", **then})
            for column, when, made, then in (
                ("instances", {"n_distractors": r"\d"}, "full_set_sizes.parquet", {"n_distractors": "{n_distractors}"}),
                ("instances", {"n_distractors": ""}, "context_free.parquet", {}),
                ("samples?.*", {}, "sample_*.parquet", {}),
            )
        ),
        # A prompted and a scored model in one row.
        trace_pairs(f"*/{WITH_SCORES}.csv", "prompted", "scored", "model"),
        *trace_tables(
            "*",
            WITH_SCORES,
            then={"method": "vanilla", "answer": "final", "setting": "fidelity"},
        ),
        *trace_tables("results/ruff/*", IN_PUBLISHED_ORDER, then={"order": "published"}),
        trace_published("ruff"),
    ]
