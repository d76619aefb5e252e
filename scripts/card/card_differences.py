"""Compare the further models of a card with the first, on the instances that both read."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.compare import comparison, pairing
from scripts.core import files
from scripts.core.paper.summary import describe_levels
from scripts.core.workflow.job import run

COLUMNS = [
    "study", "part", "estimate", "unit", "first", "other", "difference", "low", "high", "p_holm", "paired",
    "n_first", "n_other", "n_clusters", "note",
]  # fmt: skip


def main(*, summaries: list, outcomes: list, differences: str, models: list, declared: dict) -> None:
    """Write the differences.

    Args:
        summaries: The summaries of the card's studies.
        outcomes: What is read through them: instances, and what became of each.
        differences: The table: other minus first model, paired if both read the same instances; empty for one model.
        models: The models of the card.
        declared: Study to ``label``, ``outcomes`` and ``paired`` (:func:`scripts.compare.comparison.compare`).
    """
    found = comparison.of_models(pairing.Run(Path(), summaries), models[0], models[1:], declared)
    rows = [
        [entry["study"], entry["part"], estimate(entry), entry["unit"], entry["model"], entry["model_b"]]
        + [
            entry[name]
            for name in ("difference", "low", "high", "p_holm", "paired", "n_a", "n_b", "n_clusters", "note")
        ]
        for entry in found
    ]
    files.write_csv(differences, pd.DataFrame(rows, columns=COLUMNS))


def estimate(entry: dict[str, Any]) -> str:
    """Return what an estimate is, in words."""
    told = {name: entry[name] for name in ("metric", "scoring", "debiasing")}
    return f"{entry['metric']}, {describe_levels(told | entry['factors'])}"


if __name__ == "__main__":
    run(main)
