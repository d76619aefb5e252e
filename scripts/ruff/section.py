"""Render the paper's section on RUFF, and its sentences for the abstract, from templates and the results of the run."""

from scripts.core.job import run
from scripts.core.paper import closing, latex
from scripts.core.paper.sections import breakable, context, number, value, write
from scripts.ruff.lib import study

FEW = 6
"""Up to this many models the text speaks of each; above, of all together."""


UNCLEAR = "not distinguishable from chance"
"""What is said of an accuracy whose interval has chance in it."""


def main(
    *,
    section_template: str,
    abstract_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    abstract_tex: str,
    template_sets: list,
    models: dict,
    pronoun_sets: list,
    distractors: list,
    seeds: list,
    prompting: dict,
    uneven: list,
):
    """Write ``section_tex`` and ``abstract_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the study makes, ``comparison_numbers`` count verdicts on what it publishes; ``distractors`` and ``seeds`` are
    those of the samples, ``prompting`` says which models were prompted and how, and ``uneven`` names models whose
    samples do not have all cases equally often.
    """
    common = context("ruff", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models)
    labels = {entry["set"]: breakable(entry["label"]) for entry in pronoun_sets}
    pooled = study.pooled(models)
    others = "" if len(pooled) == len(models) else " but demonstration models"
    everything = common | {
        "models": models,
        "model_names": list(models),
        "pronoun_sets": [{"set": name, "label": label} for name, label in labels.items()],
        "labels": labels,
        "families": {facts["family"] for facts in [*models.values(), *prompting["models"].values()]},
        "architectures": [a for a in ("decoder", "encoder") if a in {f["architecture"] for f in models.values()}],
        "few": FEW,
        "foremost": models[study.foremost(models)]["label"],
        "others": others,
        "whose": f"averaged over models{others}" if len(pooled) > 1 else f"of {models[pooled[0]]['label']}",
        "distractors": distractors,
        "seeds": seeds,
        "scored": scored,
        "uneven": [models[name]["label"] for name in uneven],
        "fewer": lambda part, n: fewer(part, n, models),
        "shown": shown,
        "main": "official" if "official" in template_sets else template_sets[0],
        "against_chance": against_chance,
        "unclear": lambda part, counts: any(
            against_chance(part, name, n) == UNCLEAR for name in models for n in counts
        ),
        "apart": apart,
        "counts": closing.counts(common["beside"], {name: f"{name} templates" for name in template_sets}),
        "favourite_set": lambda part, model: favourite_set(part, model, list(labels)),
        "prompting": prompting,
    }
    closing.write(section_tex, section_template, everything, figures, tables)
    write(abstract_tex, abstract_template, everything)


def scored(part, counts):
    """Return how many instances were scored with each of ``counts`` distractors: one number, or their range."""
    names = sorted((f"scored.{n}" for n in counts), key=lambda name: value(part, name))
    ends = {value(part, name): number(part, name) for name in (names[-1], names[0])}
    return " to ".join(ends[count] for count in sorted(ends))


def fewer(part, n, models):
    """Return which models score fewer instances than the others with ``n`` distractors, such as " (12 for A)"; or "".

    Parameters
    ----------
    part : dict
    n : int or str
        ``size``: of each sample.
    models : dict
        The run's models.
    """
    counted = {model: f"setting.sample_size.{model}" if n == "size" else f"scored.{model}.{n}" for model in models}
    most = max(value(part, name) for name in counted.values())
    small = {model: name for model, name in counted.items() if value(part, name) < most}
    told = [f"{number(part, name)} for {models[model]['label']}" for model, name in small.items()]
    return f" ({', '.join(told)})" if told else ""


def shown(table, models):
    """Tell whether a table has rows of single models; large ones show only all models together."""
    return any(latex.escape(facts["label"]) in table for facts in models.values())


def bounds(part, model, n):
    """Return both ends of the interval of a model's accuracy with ``n`` distractors."""
    entry = part["numbers"][f"accuracy_interval.{model}.all.all.{n}"]
    return entry["value"], entry["high"]


def against_chance(part, model, n):
    """Return where the interval of a model's accuracy lies against chance, in words."""
    low, high = bounds(part, model, n)
    chance = value(part, "setting.chance")
    return "above chance" if low > chance else "below chance" if high < chance else UNCLEAR


def apart(part, model, a, b):
    """Return whether the intervals of a model's accuracies with ``a`` and with ``b`` distractors part, as a verb."""
    (low_a, high_a), (low_b, high_b) = bounds(part, model, a), bounds(part, model, b)
    return "do not overlap" if low_a > high_b or low_b > high_a else "overlap"


def favourite_set(part, model, pronoun_sets):
    """Return the set that a model picks most often without context; the earlier one of equals."""
    return max(pronoun_sets, key=lambda pronoun: value(part, f"context_free.{model}.{pronoun}"))


if __name__ == "__main__":
    run(main)
