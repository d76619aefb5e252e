"""Compare the further models of a card with the first, on the instances that both read."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper.summary import describe_levels
from scripts.core.statistics import outcomes as outcomes_of
from scripts.core.workflow.job import run

COLUMNS = [
    "study", "part", "estimate", "unit", "first", "other", "difference", "low", "high", "p", "n", "n_clusters", "note",
]  # fmt: skip


def main(*, summaries: list, outcomes: list, differences: str, models: list, declared: dict) -> None:
    """Write the differences.

    Args:
        summaries: The summaries of the card's studies.
        outcomes: What is read through them: instances, and what became of each.
        differences: The table: other minus first model, on the same instances; empty for one model.
        models: The models of the card.
        declared: Study to ``outcomes`` and ``paired`` of its declaration.
    """
    frame = estimate_rows.read(summaries)
    frame = frame[frame.headline & frame.value.notna()]
    same = ["study", "part", "scoring", "debiasing", "metric", *estimate_rows.factors(frame)]
    sides = {model: {tuple(row[same]): row for _, row in frame[frame.model == model].iterrows()} for model in models}
    found = []
    for other in models[1:]:
        for key, one in sides[models[0]].items():
            if (two := sides[other].get(key)) is not None:
                told, _ = outcomes_of.compare_rows(one, two, (Path(), Path()), declared.get(one.study, {}))
                levels = {name: one[name] for name in same[2:] if one[name] and name != "metric"}
                named = {"estimate": f"{one.metric}, {describe_levels({'metric': one.metric} | levels)}"}
                found.append(dict(one[["study", "part", "unit"]]) | named | {"first": models[0], "other": other} | told)
    files.write_csv(differences, outcomes_of.add_holm(pd.DataFrame(found, columns=COLUMNS)))


if __name__ == "__main__":
    run(main)
