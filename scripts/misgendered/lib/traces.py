"""How MISGENDERED's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

import re

from scripts.core.data.traces import trace, trace_published, trace_tables
from scripts.misgendered.lib import labels
from scripts.misgendered.lib.plan import Plan

PREDICTIONS = "results/misgendered/analysis/*/predictions.parquet"
WITHOUT_EXAMPLES = "accuracy choices constrained_decoding evaluation_examples name_ranks normalisation"
"""Tables about instances without examples in the prompt."""


def list_traces(plan: Plan) -> list[dict]:
    """Return the study's entries for the audit."""
    numbers = list(map(str, plan["declarations"]["numbers"]))
    printed_forms = {
        re.escape(", ".join(labels.SHORT[form] for form in forms)): " ".join(forms)
        for forms, _ in plan.combinations.values()
    }
    return [
        trace_published("misgendered"),
        # Accuracies and predictions are by the number of declared forms, instances by combinations that begin with it.
        *(
            trace(
                "results/misgendered/*",
                {"declaration_number": count},
                {"declaration_number": [count, *(number for number in numbers if number[0] == count)]},
            )
            for count in "345"
        ),
        # What has no number of examples is about instances without any.
        trace(PREDICTIONS, {"@column": "shots"}, {"shots": list(map(str, plan.shots))}),
        trace(PREDICTIONS, {"@column": ".+"}),
        *trace_tables("results/misgendered/*", WITHOUT_EXAMPLES, without=["shots"], then={"shots": "0"}),
        trace(PREDICTIONS, without=["shots"], then={"shots": "0"}),
        # Few instances are there in the other wording as well, under other ids than predictions have; their templates
        # and names are those of their pairs.
        *(
            trace(
                "results/misgendered/*/choices.csv",
                {"choice": "wording", "made": "(?P<wording>.+)"} | dict.fromkeys(kinds, ".+"),
                {
                    "@file": "results/misgendered/instances/{templates}/selected.parquet",
                    "@cells": "wording={wording}",
                }
                | {kind: f"{{{kind}}}" for kind in kinds},
            )
            for kinds in (["pronoun_type"], [])
        ),
        trace("results/misgendered/*", without=["wording"], then={"wording": plan.wording}),
        # Next to examples is, without any, the declaration that they use.
        *(
            trace(
                f"results/misgendered/{kind}/*/few_shot.csv",
                {"shots": "0"},
                {"shots": "0", "declaration": plan.example_declaration},
            )
            for kind in ("figures", "tables")
        ),
        # Names are ranked on neo-pronouns.
        trace("*/misgendered/*/name_ranks.csv", then={"pronoun_type": "neo"}),
        # Tables that are made from template files alone.
        trace("*/misgendered/tables/*/pronouns.csv", {"Nom.": "(?P<nominative>.+)"}, {"nominative": "{nominative}"}),
        trace("*/misgendered/*/corpus_counts.csv", {"group": ".+"}, {"set": "{group}"}),
        *(
            trace("*/misgendered/tables/*/declarations.csv", {"Declared": label}, {"forms": forms})
            for label, forms in printed_forms.items()
        ),
        *(
            trace(
                f"results/misgendered/{file}.csv",
                {column: "(?P<before>.*)___(?P<after>.*)"},
                {"text": "{before}{{pronoun}}{after}"},
            )
            for file, column in (("tables/*/templates", "Template"), ("tables/*/framework", "text"))
        ),
    ]
