"""What RUFF gives to the paper, each by the function of its rule: numbers, rows of the summary, its section."""

import inspect
from collections.abc import Iterable

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import latex
from scripts.core.paper.sections import breakable, context, number, value, write
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.ruff.lib import numbers as ruff_numbers
from scripts.ruff.lib import study
from scripts.ruff.lib.summary import of_scores, rows

FEW = 6
"""Up to this many models the text speaks of each; above, of all together."""
UNCLEAR = "not distinguishable from chance"
"""What is said of an accuracy whose interval has chance in it."""


def paper_numbers(
    *, accuracy: str, accuracy_over_models: str, context_free: str, pronoun_tests: str, error_types: str,
    error_range: str, normalisation: str, instance_counts: str, paper_numbers: str, settings: dict, sizes: dict,
    prompted_summary: str | None = None, prompted_against_scored: str | None = None,
    prompting_settings: dict | None = None,
) -> None:  # fmt: skip
    """Collect every number that the RUFF section's prose uses, with where it comes from.

    Write ``paper_numbers`` (JSON): id to value, printed text, source table and cell.

    ``settings`` are ``seeds`` (how many), ``alpha``, ``bootstrap_draws`` and ``chance``; the coverage of the bootstrap
    intervals is that of the function which makes them. ``sizes`` says how many instances of each sample every model
    scores. The tables of prompted models and ``prompting_settings`` are given if any model was prompted.
    """
    settings = settings | {"confidence": inspect.signature(procedures.cluster_bootstrap).parameters["level"].default}
    accuracies, counts = files.read_csv(accuracy), files.read_csv(context_free)
    made = {
        **ruff_numbers.from_settings(files.read_csv(instance_counts), settings, sizes),
        **ruff_numbers.from_context_free(counts),
        **ruff_numbers.from_accuracy(accuracies, files.read_csv(accuracy_over_models)),
        **ruff_numbers.from_models(accuracies, counts, settings["chance"]),
        **ruff_numbers.from_tests(files.read_csv(pronoun_tests)),
        **ruff_numbers.from_errors(files.read_csv(error_types), files.read_csv(error_range)),
        **ruff_numbers.from_other_scores(files.read_csv(normalisation)),
    }
    if prompted_summary:
        assert prompting_settings, "they come together"
        made |= ruff_numbers.from_prompting(
            files.read_csv(prompted_summary),
            files.read_csv(prompted_against_scored) if prompted_against_scored else None,
            prompting_settings,
        )
    files.write_json(paper_numbers, made)


def summary(
    *, accuracy: list, prompted: list, normalisation: list, summary: str, template_sets: list, models: dict,
    distractors: list,
) -> None:  # fmt: skip
    """Write RUFF's rows of the summary over all studies.

    They are ``summary`` (CSV), made from the tables of each of ``template_sets``, in that order.

    ``prompted`` is empty if nobody was prompted; ``models`` are those that were scored and those that were prompted.
    """
    found = []
    for index, data in enumerate(template_sets):
        asked = files.read_csv(prompted[index]) if prompted else None
        found += rows(files.read_csv(accuracy[index]), asked, models, data, max(distractors))
        found += of_scores(files.read_csv(normalisation[index], dtype={"level": str}), models, data)
    estimate_rows.write(summary, "ruff", found)


def section(
    *, section_template: str, abstract_template: str, numbers: list, figures: list, tables: list,
    comparison_numbers: list, section_tex: str, abstract_tex: str, template_sets: list, models: dict,
    pronoun_sets: list, distractors: list, seeds: list, prompting: dict, uneven: list,
) -> None:  # fmt: skip
    """Render the paper's section on RUFF, and its sentences for the abstract, from templates and the run's results.

    Write ``section_tex`` and ``abstract_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the study makes, ``comparison_numbers`` count verdicts on what it publishes; ``distractors`` and ``seeds`` are
    those of the samples, ``prompting`` says which models were prompted and how, and ``uneven`` names models whose
    samples do not have all cases equally often.
    """
    common = context("ruff", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models)
    labels = {entry["set"]: breakable(entry["label"]) for entry in pronoun_sets}
    pooled = study.pooled_models(models)
    others = "" if len(pooled) == len(models) else " but demonstration models"
    everything = common | {
        "models": models,
        "model_names": list(models),
        "pronoun_sets": [{"set": name, "label": label} for name, label in labels.items()],
        "labels": labels,
        "families": {facts["family"] for facts in [*models.values(), *prompting["models"].values()]},
        "architectures": [a for a in ("decoder", "encoder") if a in {f["architecture"] for f in models.values()}],
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
        "against_chance": against_chance,
        "unclear": lambda part, counts: any(
            against_chance(part, name, n) == UNCLEAR for name in models for n in counts
        ),
        "apart": apart,
        "distinct": lambda part, model: value(part, f"first_p.{model}") < value(part, "setting.alpha"),
        "prompting": prompting,
    }
    write(section_tex, section_template, everything)
    write(abstract_tex, abstract_template, everything)


def scored(part: dict, counts: Iterable[int]) -> str:
    """Return how many instances were scored with each of ``counts`` distractors: one number, or their range."""
    names = sorted((f"scored.{n}" for n in counts), key=lambda name: value(part, name))
    ends = {value(part, name): number(part, name) for name in (names[-1], names[0])}
    return " to ".join(ends[count] for count in sorted(ends))


def fewer(part: dict, n: int | str, models: dict) -> str:
    """Return which models score fewer instances than the others with ``n`` distractors, such as " (12 for A)"; or "".

    Args:
        n: ``size``: of each sample.
        models: The run's models.
    """
    counted = {model: f"setting.sample_size.{model}" if n == "size" else f"scored.{model}.{n}" for model in models}
    most = max(value(part, name) for name in counted.values())
    small = {model: name for model, name in counted.items() if value(part, name) < most}
    told = [f"{number(part, name)} for {models[model]['label']}" for model, name in small.items()]
    return f" ({', '.join(told)})" if told else ""


def lists_single_models(table: str, models: dict[str, dict]) -> bool:
    """Tell whether a table has rows of single models; large ones show only all models together."""
    return any(latex.escape(facts["label"]) in table for facts in models.values())


def bounds(part: dict, model: str, n: int) -> tuple[float, float]:
    """Return both ends of the interval of a model's accuracy with ``n`` distractors."""
    entry = part["numbers"][f"accuracy_interval.{model}.all.all.{n}"]
    return entry["value"], entry["high"]


def against_chance(part: dict, model: str, n: int) -> str:
    """Return where the interval of a model's accuracy lies against chance, in words."""
    low, high = bounds(part, model, n)
    chance = value(part, "setting.chance")
    return "above chance" if low > chance else "below chance" if high < chance else UNCLEAR


def apart(part: dict, model: str, a: int, b: int) -> str:
    """Return whether the intervals of a model's accuracies with ``a`` and with ``b`` distractors part, as a verb."""
    (low_a, high_a), (low_b, high_b) = bounds(part, model, a), bounds(part, model, b)
    return "do not overlap" if low_a > high_b or low_b > high_a else "overlap"


if __name__ == "__main__":
    run_named()
