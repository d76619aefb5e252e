"""How Underspecification's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

from scripts.core.data.traces import trace, trace_published, trace_tables

METHOD1 = "*curves *slopes *correlations_* tables/*/word_group_probabilities"
"""What Method 1 makes."""
TABLES = "*/underspecification/tables/*"


def list_traces() -> list[dict]:
    """Return the study's entries for the audit."""
    return [
        # Method 1 is about MGC; its positions count the values that were read.
        *trace_tables("results/underspecification", METHOD1, then={"evaluation_set": "mgc"}),
        trace("*/correlations_*.csv", {"choice": ".+"}),
        trace(
            "results/underspecification/tables/*.csv",
            {"@column": r"(?P<variable>date|place)s(, |: )(?P<gender>female|male|neutral|neo)(:.*)?"},
            {"variable": "{variable}", "gender": "{gender}"},
        ),
        trace("results/underspecification/*", {"position": ".+"}),
        # Method 2: sentences of one set; in its tables sets and sentences have other names.
        trace("results/underspecification/figures/*", {"set": ".+"}, {"evaluation_set": "{set}"}),
        trace("results/underspecification/figures/*", {"part": ".+"}),
        *(
            trace(
                f"{TABLES}/detection.csv",
                {"Set": f"{label}( .*)?"},
                {"evaluation_set": name, "templates": templates, "prompt": ["mask", "A"], "accumulation": "top"},
            )
            for name, label in (("winogender", "Winogender"), ("simplified", "Simplified"))
            for label, templates in ((rf"{label} \(replica\)", "replica"), (label, "official"))
        ),
        trace(f"{TABLES}/metric.csv", {"Pronoun": "professional|participant"}, {"coreferent": "{Pronoun}"}),
        trace(
            f"{TABLES}/metric.csv",
            then={"evaluation_set": "winogender", "prompt": ["mask", "A"], "accumulation": "top"},
        ),
        trace(f"{TABLES}/metric.csv", {"@column": ".+"}, {"model": "{@column}"}),
        trace_published("underspecification"),
        # The words whose probabilities are summed; the other sets' are shares of all three groups.
        *trace_tables(
            "results/underspecification",
            METHOD1,
            when={"gender": "female|male|neutral|neo"},
            then={"gender": "{gender}", "group": "{gender}"},
        ),
    ]
