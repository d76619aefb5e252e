"""How RUFF's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

from scripts.core.data.traces import trace, trace_pairs, trace_published, trace_tables
from scripts.ruff.lib.plan import Plan

OF_FIDELITY = (
    "accuracy* calibration* error_* fertility* headline introduction_accuracy mixed_model model_pairs normalisation "
    "power pronoun_tests pull rankings scaling"
)
"""Tables about instances with context."""
IN_PUBLISHED_ORDER = (
    "prompted_accuracy prompted_summary prompting prompting_chain prompting_final prompting_options prompting_outcomes "
    "prompting_vanilla prompt*_against_scored scored_agreement sampled_agreement"
)
"""Tables about prompts that list the options as the study does."""
WITH_SCORES = "prompt*_against_scored scored_agreement"
COUNTS = "*/instance_counts.csv"


def list_traces(plan: Plan) -> list[dict]:
    """Return the study's entries for the audit."""
    return [
        # A row of accuracies is about one level of one factor.
        trace("results/ruff/*", {"factor": r"\w+", "level": r"\w+"}, {"{factor}": "{level}"}),
        *(
            trace(f"*/accuracy_by_{factor}.csv", {"level": r"\w+"}, {factor: "{level}"})
            for factor in ("case", "polarity")
        ),
        trace("*/accuracy_by_*.csv", {"panel": ".+"}, {"model": "{panel}"}),
        *trace_tables("results/ruff/*", OF_FIDELITY, then={"setting": "fidelity"}),
        *trace_tables(
            "results/ruff/figures/*", "accuracy_by_pronoun introduction_accuracy", then={"n_distractors": "0"}
        ),
        trace_pairs("*/model_pairs.csv", "model_a", "model_b", "model"),
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
        trace("*/template_comparison.csv", {"@column": ".*_(?P<set>replica|official)"}, {"templates": "{set}"}),
        # Prompted models: two prompts, or a prompted and a scored model, in one row.
        trace_pairs("*/prompt*_agreement.csv", "prompt_a", "prompt_b", "prompt"),
        trace("*/prompt*_agreement.csv", then={"answer": "final", "order": "published"}),
        *(trace_pairs(f"*/{table}.csv", "prompted", "scored", "model") for table in WITH_SCORES.split()),
        *trace_tables(
            "*",
            f"{WITH_SCORES} sampled_agreement",
            then={"method": "vanilla", "answer": "final", "setting": "fidelity"},
        ),
        *trace_tables("results/ruff/*", IN_PUBLISHED_ORDER, then={"order": "published"}),
        trace("*/prompt*_positions.csv", {"@column": "named|n_all", "place": ".+"}),
        trace("*/prompt*_positions.csv", then={"kind": "options", "answer": "final"}),
        trace_published("ruff"),
    ]
