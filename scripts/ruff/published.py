"""Every published number of RUFF beside ours."""

import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.paper.published import find_demonstration_models, read_study, write_comparison
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.ruff import study


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, estimates: str, instance_counts: list, models: list,
    prompted_models: list, prompt_templates: list, csv: str, tex: str, numbers: str, template_sets: list,
    every_set: list, facts: dict, pronoun_sets: list, settings: dict,
) -> None:  # fmt: skip
    """Set every published number beside ours, on each template set, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``instance_counts``, ``models`` and ``prompted_models`` are tables with a file for each of ``template_sets``, the
    last of them empty if nobody was prompted, as ``prompt_templates`` is then; the sets of ``every_set`` that were not
    run are listed as such. Demonstration models among ``facts`` are left out. ``settings`` are numbers of the
    configuration.
    """
    shared = {"settings": pd.DataFrame(settings.items(), columns=["setting", "value"])}
    for path in prompt_templates:
        shared["tables/prompt_templates.csv"] = files.read_csv(path)
    compared = {
        name: shared | {"estimates.csv": comparable_estimates(study.read_table(estimates, name))}
        for name in template_sets
    }
    for kind, paths in (
        ("instance_counts", instance_counts), ("models", models), ("prompted_models", prompted_models),
    ):  # fmt: skip
        for name, path in zip(template_sets, paths, strict=False):
            table = files.read_csv(path)
            if kind == "models":
                table["over_roberta_base"] = table.parameters / table.parameters[table.model == "roberta-base"].max()
            compared[name][f"tables/{kind}.csv"] = table
    obstacle = options.other_choice(pronoun_sets, study.PRONOUN_SETS)
    write_comparison(
        "ruff",
        read_study(published, mapping, study_models),
        compared,
        every_set,
        excluded=find_demonstration_models(facts),
        obstacles={
            "likelihood": obstacle,
            "prompting": obstacle if prompted_models else "not in this run: a prompted model",
        },
        inapplicable={"instances": study.explain_other_sets(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


def comparable_estimates(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the estimates of scored models by number of distractors and pronoun set, the others pooled.

    Two metrics are made of several: what a model loses to distractors (``accuracy drop``, against none), and the share
    of errors that distraction and bias explain together.
    """
    rows = estimates[estimates.setting == study.FIDELITY]
    rows = study.select_rows(rows, list(rows.metric.unique()), n_distractors=..., pronoun=...)
    accuracies = study.select_rows(rows, n_distractors=...)
    without = accuracies[accuracies.n_distractors == "0"].set_index("model").value
    drops = accuracies.assign(metric="accuracy drop", value=accuracies.model.map(without) - accuracies.value)
    kinds = rows[rows.metric.isin(["distraction", "bias"])]
    explained = kinds.groupby(["model", "n_distractors"], sort=False).value.sum(min_count=2).reset_index()
    return pd.concat([rows, drops, explained.assign(metric="distraction or bias")], ignore_index=True).fillna(
        {"pronoun": POOLED}
    )


if __name__ == "__main__":
    run_named()
