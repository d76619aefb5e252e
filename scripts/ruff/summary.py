"""RUFF's rows of the summary over all studies: accuracies, and what the same scores say under other normalisations."""

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import CHOSEN_ELSEWHERE, MODEL, PROBABILITY, PROMPTED
from scripts.core.workflow.job import run_named
from scripts.ruff import study
from scripts.ruff.normalisation import DESIGN
from scripts.ruff.study import select_rows


def summary(
    *, estimates: str, normalisation: str, summary: str, template_sets: list, models: dict, distractors: list
) -> None:
    """Write RUFF's rows of the summary (CSV); the headline is the accuracy without distractors and with the most.

    ``models`` are those that were scored and those that were prompted. What is prompted is a mean over prompts, which
    has no interval over instances.
    """
    rows, scores = study.read_table(estimates), study.read_table(normalisation)
    found = []
    for part in template_sets:
        here = rows[rows.templates == part]
        accuracies = select_rows(here, n_distractors=..., pronoun=..., **study.SCORED).assign(n_unit="instances")
        split = accuracies.assign(split=accuracies.pronoun != "")
        split = study.sort_rows(split, split=None, n_distractors=None, model=models, pronoun=None)
        ends = split.n_distractors.isin(["0", str(max(distractors))]) & ~split.split
        found.append(split.assign(headline=ends, answer=""))
        asked = select_rows(here, n_distractors=..., scoring=PROMPTED, **study.ASKED).assign(
            n_unit="answers", headline=False
        )
        found.append(study.sort_rows(asked, n_distractors=None, model=models))
        found.append(score_rows(scores[scores.templates == part]))
    columns = ["templates", "model", "scoring", "metric", "n_distractors", "pronoun", "preferred", "method"]
    columns += ["setting", "normalisation", "value", "low", "high", "below", "n_unit", "headline"]
    table = pd.concat(found).reindex(columns=columns)
    table["setting"] = table.setting.where(table.normalisation.notna(), "")
    # A factor that no row has is none.
    table = table.loc[:, (table.notna() & (table != "")).any()]
    estimate_rows.write_estimates(
        summary,
        "ruff",
        [
            {name: cell for name, cell in row.items() if cell == cell or name in ("low", "high")}
            | {name: models[row["model"]][name] for name in ("label", "demonstration")}
            | {"kind": MODEL}
            for row in table.rename(columns={"templates": "part", "below": "n"}).to_dict("records")
        ],
    )


def score_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies under every score, how many picks are others than under the study's, and what it favours.

    A set that a score chooses where other sets are right is right wherever it is the introduced one.
    """
    rows = rows[(rows.n_distractors == "") | (rows.pronoun != "")]
    rows = rows.assign(value=rows.accuracy, below=rows.n, scoring=PROBABILITY, n_unit="instances", headline=False)
    others = rows.assign(metric="other pick", value=rows.flipped, low=None, high=None)
    # The study's own score is what the others are compared with.
    others = others[others.normalisation != DESIGN.scores[0]]
    elsewhere = rows[rows.n_elsewhere.notna()]
    elsewhere = elsewhere.assign(
        metric=CHOSEN_ELSEWHERE, preferred=elsewhere.pronoun, value=elsewhere.chosen_elsewhere,
        below=elsewhere.n_elsewhere, low=None, high=None,
        pronoun=["|".join(other for other in elsewhere.pronoun.unique() if other != own) for own in elsewhere.pronoun],
    )  # fmt: skip
    return pd.concat([rows, others, elsewhere]).sort_index(kind="stable")


if __name__ == "__main__":
    run_named()
