"""RUFF in the paper: its section and its sentences for the abstract, with the numbers of their text."""

from collections.abc import Iterable

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import PROMPTED
from scripts.core.paper import latex
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.sections import breakable, find_value, make_context, print_number, write_all
from scripts.core.workflow.job import run_named
from scripts.ruff import section_numbers, study
from scripts.ruff.section_numbers import SOURCE
from scripts.ruff.study import FACTORS, IDENTITY

FEW = 6
"""Up to this many models the text speaks of each; above, of all together."""
UNCLEAR = "not distinguishable from chance"
"""What is said of an accuracy whose interval has chance in it."""


def section(
    *, section_templates: list, estimates: str, pronoun_tests: str, against_scored: str,
    normalisation: str, instance_counts: list, figures: list, tables: list, comparison_numbers: list,
    section_files: list, paper_numbers: list, template_sets: list, models: dict, pronoun_sets: list,
    distractors: list, seeds: list, settings: dict, sizes: dict, prompting: dict, uneven: list,
) -> None:  # fmt: skip
    """Render the paper's section on RUFF, and its sentences for the abstract, and write the numbers that they print.

    ``instance_counts`` and ``paper_numbers`` (JSON) have one file for each of ``template_sets``, in that order;
    ``figures`` and ``tables`` are the files that the study makes, ``comparison_numbers`` count verdicts on what it
    publishes; ``distractors`` and ``seeds`` are those of the samples, ``settings`` are ``seeds`` (how many), ``alpha``,
    ``bootstrap_draws`` and ``chance``; ``sizes`` says how many instances of each sample every model scores;
    ``prompting`` says which models were prompted and how, and ``uneven`` names models whose samples do not have all
    cases equally often.
    """
    common = make_context("ruff", template_sets, figures, tables, comparison_numbers, section_files[0], models=models)
    for name, counts in zip(template_sets, instance_counts, strict=True):
        part, rows = common["sets"][name], study.read_table(estimates, name)
        beside, scores = (study.read_table(path, name) for path in (against_scored, normalisation))
        accuracies = study.select_rows(rows, n_distractors=..., **study.SCORED)
        part["numbers"] |= section_numbers.setting_entries(files.read_csv(counts), settings, sizes)
        part["numbers"] |= section_numbers.accuracy_entries(accuracies, models, settings["chance"])
        part["numbers"] |= section_numbers.pick_entries(rows) | section_numbers.error_entries(rows)
        part["numbers"] |= section_numbers.significance_entries(study.read_table(pronoun_tests, name))
        part["numbers"] |= section_numbers.score_entries(scores)
        if prompting["models"]:
            part["numbers"] |= section_numbers.prompting_entries(rows, prompting["settings"])
        prompted = rows[rows.scoring == PROMPTED]
        part["scored"] = Numbers(part, accuracies, IDENTITY, FACTORS, SOURCE, factor=1)
        part["asked"] = Numbers(part, prompted, IDENTITY, FACTORS, SOURCE, factor=1)
        pairs = [*IDENTITY, "prompted", "scored"]
        part["beside"] = Numbers(part, beside, pairs, ["n_distractors"], "against_scored.csv", factor=1)
    labels = {entry["set"]: breakable(entry["label"]) for entry in pronoun_sets}
    pooled = study.pooled_models(models)
    others = "" if len(pooled) == len(models) else " but demonstration models"
    everything = common | {
        "models": models,
        "model_names": list(models),
        "pronoun_sets": [{"set": name, "label": label} for name, label in labels.items()],
        "labels": labels,
        "families": {facts["family"] for facts in [*models.values(), *prompting["models"].values()]},
        "few": FEW,
        "foremost": models[study.main_model(models)]["label"],
        "others": others,
        "whose": f"averaged over models{others}" if len(pooled) > 1 else f"of {models[pooled[0]]['label']}",
        "distractors": distractors,
        "seeds": seeds,
        "scored": scored,
        "uneven": [models[name]["label"] for name in uneven],
        "fewer": lambda part, n: fewer(part, n, models),
        "shown": lists_single_models,
        "main": "official" if "official" in template_sets else template_sets[0],
        "accuracy": accuracy,
        "compared": compared,
        "over_prompts": over_prompts,
        "against_chance": against_chance,
        "unclear": lambda part, counts: any(
            against_chance(part, name, n) == UNCLEAR for name in models for n in counts
        ),
        "apart": apart,
        "distinct": lambda part, model: find_value(part, f"first_p.{model}") < find_value(part, "setting.alpha"),
        "prompting": prompting,
    }
    write_all(section_files, section_templates, everything)
    for name, path in zip(template_sets, paper_numbers, strict=True):
        files.write_json(path, common["sets"][name]["numbers"])


def scored(part: dict, counts: Iterable[int]) -> str:
    """Return how many instances were scored with each of ``counts`` distractors: one number, or their range."""
    names = sorted((f"scored.{n}" for n in counts), key=lambda name: find_value(part, name))
    ends = {find_value(part, name): print_number(part, name) for name in (names[-1], names[0])}
    return " to ".join(ends[count] for count in sorted(ends))


def fewer(part: dict, n: int | str, models: dict) -> str:
    """Return which models score fewer instances than the others with ``n`` distractors, such as " (12 for A)"; or "".

    Args:
        n: ``size``: of each sample.
        models: The run's models.
    """
    counted = {model: f"setting.sample_size.{model}" if n == "size" else f"scored.{model}.{n}" for model in models}
    most = max(find_value(part, name) for name in counted.values())
    small = {model: name for model, name in counted.items() if find_value(part, name) < most}
    told = [f"{print_number(part, name)} for {models[model]['label']}" for model, name in small.items()]
    return f" ({', '.join(told)})" if told else ""


def lists_single_models(table: str, models: dict[str, dict]) -> bool:
    """Tell whether a table has rows of single models; large ones show only all models together."""
    return any(latex.escape(facts["label"]) in table for facts in models.values())


def accuracy(part: dict, model: str, n: int) -> pd.Series:
    """Return the row with a model's accuracy with ``n`` distractors."""
    return part["scored"].rows("accuracy", model=model, n_distractors=str(n)).iloc[0]


def compared(part: dict, pair: dict, n: int) -> tuple[pd.Series, pd.Series]:
    """Return the rows of a prompted and of a scored model on the same instances with ``n`` distractors."""
    rows = part["beside"].rows("accuracy", n_distractors=str(n), **pair)
    return rows[rows.scoring == PROMPTED].iloc[0], rows[rows.scoring != PROMPTED].iloc[0]


def over_prompts(part: dict, model: str, n: int, which: str) -> pd.Series:
    """Return the row with a prompted model's accuracy over prompts: their ``mean``, the ``lowest`` or ``highest``."""
    levels = {"model": model, "n_distractors": str(n), **study.ASKED}
    if which == "mean":
        return part["asked"].rows("accuracy", **levels).iloc[0]
    return getattr(part["asked"], which)("accuracy", prompt=..., **levels)


def against_chance(part: dict, model: str, n: int) -> str:
    """Return where the interval of a model's accuracy lies against chance, in words."""
    row, chance = accuracy(part, model, n), find_value(part, "setting.chance")
    return "above chance" if row.low > chance else "below chance" if row.high < chance else UNCLEAR


def apart(part: dict, model: str, a: int, b: int) -> str:
    """Return whether the intervals of a model's accuracies with ``a`` and with ``b`` distractors part, as a verb."""
    one, other = (accuracy(part, model, n) for n in (a, b))
    return "do not overlap" if one.low > other.high or other.low > one.high else "overlap"


if __name__ == "__main__":
    run_named()
