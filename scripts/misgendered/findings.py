"""The findings of MISGENDERED as tests over predictions (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one set of templates that returns its checks. A comparison holds if
the 95 % interval of the difference, over templates and names, lies on its side, and fails if it lies on the other one
after Holm's correction over what the finding compares. Otherwise it cannot be decided on this sample.
"""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.paper import checks, estimates, finding_verdicts, published
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, evaluate_check
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.quantities import (
    HOW_MANY_NAMES,
    Results,
    among_best,
    correlation,
    does_not_fall,
    greater,
    larger_change,
    points,
    rank,
    rank_correlations,
    read_results,
    settle,
    sign,
    similar,
)
from scripts.misgendered.study import FORM_LABELS, TYPES

SHOTS = (2, 4, 6, 10, 20)
LAST_RISE = {"gpt-j-6b": 6, "opt-6.7b": 6, "llama-7b": 20}
"""Models that saw examples (section 4.3), and up to how many their accuracy on neopronouns is said to rise."""
NUMBERS = (2, 3, 4, 5)
CORPORA = {"c4": "C4", "openwebtext": "OpenWebText", "pile": "Pile"}
NEO = study.PRONOUN_GROUPS[3:]
ONE_MODEL = frozenset({1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 17})
"""Findings about averages over the study's models that a model can be asked by itself."""
FINDINGS: list[Finding] = []
"""In the order of the study."""
states = partial(checks.register, FINDINGS)


def findings(
    *, predictions: list, estimates: str, corpus_counts: str, study_models: str, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list, models: dict, draws: int, seed: int,
) -> None:  # fmt: skip
    """Test every finding of the study on the predictions of the run, without its demonstration models.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON). For the sets of
    ``every_set`` that were not run no finding is applicable.
    """
    known = published.read_models(study_models)
    # Sizes order the models of a family; of models that are not in the run they are not asked for.
    known = known.assign(parameters=[models[name]["parameters"] if name in models else 0 for name in known.model])
    of_study = [name for name in known.model if name not in published.find_demonstration_models(models)]
    runs = read_results(template_sets, predictions, estimates, corpus_counts, of_study, known, draws, seed)
    present = {name: len(results.there) for name, results in runs.items()}
    finding_verdicts.write_verdicts(FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *, predictions: list, estimates: str, corpus_counts: str, findings_csv: str, model: str, facts: dict,
    template_sets: list, draws: int, seed: int,
) -> None:  # fmt: skip
    """Test the study's findings on one model of the run."""
    alone = pd.DataFrame([{"model": model} | {key: facts[key] for key in ("label", "family", "parameters")}])
    runs = read_results(template_sets, predictions, estimates, corpus_counts, [model], alone, draws, seed)
    # The study states all of them of averages.
    table = finding_verdicts.single_model_verdicts(FINDINGS, ONE_MODEL, runs, averages=ONE_MODEL)
    files.write_csv(findings_csv, table)


@states(1, "Section 4.1, Table 4", "Binary pronouns are best, they is far behind, neopronouns come last.")
def order_of_types(run: Results) -> list[Check]:
    return [
        greater(run, {"pronoun_type": a}, {"pronoun_type": b}, (TYPES[a], TYPES[b]))
        for a, b in itertools.pairwise(TYPES)
    ]


def better_declared(run: Results, better: str, worse: str, *types: str) -> list[Check]:
    """Return checks that one way of declaring is better than the other for some types of pronouns."""

    def levels(kind: str, way: str) -> dict[str, Any]:
        return {"pronoun_type": kind, "declaration_type": way}

    return [
        greater(run, levels(kind, better), levels(kind, worse), (f"{TYPES[kind]}: {better}", worse)) for kind in types
    ]


@states(2, "Section 4.1, Table 5", "Explicit declaration helps neopronouns.")
def explicit_helps(run: Results) -> list[Check]:
    return better_declared(run, "explicit", "parenthetical", "neo")


@states(3, "Section 4.1, Table 5", "Parenthetical declaration is better for binary pronouns and for they.")
def parenthetical_is_better(run: Results) -> list[Check]:
    return better_declared(run, "parenthetical", "explicit", "binary", "neutral")


def declared(kind: str, forms: int) -> dict[str, Any]:
    """Return the levels of a type of pronouns of which so many forms are declared."""
    return {"pronoun_type": kind, "declared": forms}


@states(4, "Section 4.1, Table 6", "Declaring more forms helps neopronouns.")
def more_forms_help(run: Results) -> list[Check]:
    whole = greater(run, declared("neo", 5), declared("neo", 2), ("5 forms", "2 forms"))
    steps = [{f"{count} forms": declared("neo", count) for count in pair} for pair in itertools.pairwise(NUMBERS)]
    return [whole, *(evaluate_check(does_not_fall, run, levels) for levels in steps)]


@states(5, "Section 4.1, Table 6", "Declaring more forms slightly hurts they and hardly moves binary pronouns.")
def more_forms_hurt(run: Results) -> list[Check]:
    def steady() -> tuple[Comparison, str]:
        return similar(run, {f"{count} forms": run.share(**declared("binary", count)) for count in NUMBERS}, 0.02)

    hurt = [
        greater(run, declared("neutral", few), declared("neutral", more), (f"{few} forms", f"{more} forms"))
        for few, more in itertools.pairwise(NUMBERS)
    ]
    return [*hurt, evaluate_check(steady)]


@states(6, "Section 4.1, Figure 3", "In OPT accuracy on they rises with size.")
def opt_rises(run: Results) -> list[Check]:
    def they_of(model: str) -> dict[str, Any]:
        return {"pronoun_type": "neutral", "models": [model]}

    return [
        greater(run, they_of(large), they_of(small), (run.models.label[large], run.models.label[small]))
        for small, large in itertools.pairwise(run.family("OPT"))
    ]


@states(7, "Section 4.1", "In OPT accuracy on neopronouns gains moderately with size.")
def opt_gains(run: Results) -> list[Check]:
    def positive() -> tuple[Comparison, str]:
        gain = run.gain("OPT", "neo")
        return sign(run, gain, f"gain on neopronouns {points(gain.value)}")

    def smaller() -> tuple[Comparison, str]:
        neo, they = (run.gain("OPT", kind) for kind in ("neo", "neutral"))
        return sign(run, they - neo, f"gains: they {points(they.value)}, neo {points(neo.value)}")

    return [evaluate_check(positive), evaluate_check(smaller)]


@states(8, "Section 4.1", "In BLOOM size lowers accuracy on they and raises it on binary pronouns; neopronouns stay.")
def bloom(run: Results) -> list[Check]:
    def correlated(kind: str, expected: int) -> tuple[Comparison, str]:
        return correlation(run, run.size_correlation("BLOOM", kind), f"{TYPES[kind]}: correlation with size", expected)

    def larger(kind: str) -> tuple[Comparison, str]:
        return larger_change(run, {label: run.gain("BLOOM", of) for of, label in ((kind, TYPES[kind]), ("neo", "neo"))})

    signs = {"neutral": -1, "binary": 1}
    return [
        *(evaluate_check(correlated, *sign) for sign in signs.items()),
        *(evaluate_check(larger, kind) for kind in signs),
    ]


@states(9, "Section 4.1, Figure 3", "Size has no common effect.")
@checks.each()
def no_common_size(run: Results) -> tuple[Comparison, str]:
    def surest(signs: dict[str, Comparison]) -> str:
        return min(signs, key=lambda family: signs[family].right)

    families = [family for family in dict.fromkeys(run.models.family) if len(run.family(family)) > 1]
    opposite, same = {}, []
    for kind in TYPES:
        rises = {f: estimates.of_samples(run.size_correlation(f, kind).samples) for f in families}
        falls = {family: ~rise for family, rise in rises.items()}
        text = f"{TYPES[kind]}: up in {surest(rises)}, down in {surest(falls)}"
        opposite[text] = max(estimates.at_least(1, signs.values()).right for signs in (rises, falls))
        same.append(min(estimates.compare_all(signs.values()).right for signs in (rises, falls)))
    found = Comparison(min(1.0, len(TYPES) * min(opposite.values())), max(same))
    if found.outcome is None:
        raise MissingEvidence("more instances: the signs of some correlations with size are not clear", p=found.wrong)
    if found.outcome:
        return found, min(opposite, key=opposite.__getitem__)
    return found, "the sign is the same in all families, for each type of pronouns"


@states(10, "Section 4.1, Table 7", "He and she are about equal, and they is under half of them.")
def binary_alike(run: Results) -> list[Check]:
    def same() -> tuple[Comparison, str]:
        return similar(run, {group: run.share(group=group) for group in ("she", "he")}, 0.01)

    def half() -> tuple[Comparison, str]:
        they, he = run.share(group="they"), run.share(group="he")
        text = f"they {points(they.value)}, half of he {points(he.value / 2)}"
        return sign(run, they - Sampled(he.value / 2, he.samples / 2, he.clusters), text, expected=-1)

    return [evaluate_check(same), evaluate_check(half)]


@states(11, "Section 4.1, Table 7", "Thon is the best neopronoun and xe the second; all are under they.")
def best_neo(run: Results) -> list[Check]:
    others = [group for group in NEO if group not in ("thon", "xe")]
    pairs = [("thon", "xe"), *(("xe", other) for other in others), ("they", "thon")]
    return [greater(run, {"group": a}, {"group": b}, (a, b)) for a, b in pairs]


@states(12, "Section 4.1, Table 8", "The nominative is second best for binary pronouns and worst for neopronouns.")
def nominative(run: Results) -> list[Check]:
    return [evaluate_check(rank, run, "binary", "nom", 2), evaluate_check(rank, run, "neo", "nom", 5)]


@states(
    13,
    "Section 4.1, Table 8",
    "The possessive-independent form is worst for binary pronouns and second best for neopronouns.",
)
def independent_possessive(run: Results) -> list[Check]:
    return [evaluate_check(rank, run, "binary", "pos_ind", 5), evaluate_check(rank, run, "neo", "pos_ind", 2)]


@states(14, "Section 4.1", "Binary and neopronouns run in opposite directions over the forms.")
@checks.each()
def opposite_directions(run: Results) -> tuple[Comparison, str]:
    shares = [[run.share(pronoun_type=kind, form=form) for form in FORM_LABELS] for kind in ("binary", "neo")]
    value = procedures.spearman(*(np.array([share.value for share in of_kind]) for of_kind in shares))
    samples = rank_correlations(*(np.array([share.samples for share in of_kind]).T for of_kind in shares))
    return correlation(run, Sampled(value, samples, run.templates, -1.0), "correlation of forms", -1)


@states(15, "Table 8 caption", "The possessive-independent form is best for non-binary pronouns.")
def best_possessive(run: Results) -> list[Check]:
    return [evaluate_check(rank, run, "neutral", "pos_ind", 1), evaluate_check(rank, run, "neo", "pos_ind", 1)]


@states(16, "Section 4.2, Table 9", "The ten best names for neopronouns are unisex, the ten worst are not.")
@checks.each((("best", "gendered"), ("worst", "unisex")))
def unisex_names(run: Results, end: tuple[str, str]) -> tuple[Comparison, str]:
    run.share(pronoun_type="neo")
    which, others = end
    names = run.names
    if len(names) < 2 * HOW_MANY_NAMES:
        raise MissingEvidence(f"{2 * HOW_MANY_NAMES} names")
    if which == "worst":
        names = names.assign(value=-names.value, low=-names.high, high=-names.low)
    shown = names.sort_values("value", ascending=False, kind="stable").head(HOW_MANY_NAMES)
    unisex = int((shown.name_class == "unisex").sum())
    text = f"{which} ten: {unisex} unisex, {HOW_MANY_NAMES - unisex} female or male"
    wanted = f"more instances of each name: which are the {which} ten is not clear"
    return settle(among_best(names, others), text, wanted)


@states(
    17,
    "Section 4.2, Table 10",
    "Masculine pronouns are better with male names, feminine ones with female names, they with unisex names.",
)
@checks.each(
    [("he", "male", "female"), ("she", "female", "male"), *(("they", "unisex", of) for of in ("female", "male"))]
)
def names_and_pronouns(run: Results, names: tuple[str, str, str]) -> tuple[Comparison, str]:
    group, own, other = names
    a, b = (run.share(group=group, name_class=name_class) for name_class in (own, other))
    text = f"{group}: {own} names {points(a.value)}, {other} {points(b.value)}"
    if b.value:
        text += f", ratio {a.value / b.value:,.2f}"
    return sign(run, a - b, text)


@states(
    18,
    "Section 4.2, Table 11",
    "In three corpora every neopronoun has fewer documents than she, summed over forms, and she fewer than he.",
)
@checks.each(CORPORA, [*((group, "she") for group in NEO), ("she", "he")])
def fewer_documents(run: Results, corpus: str, groups: tuple[str, str]) -> tuple[bool, str]:
    counts = run.documents[run.documents.corpus == corpus].set_index("group").documents
    if not set(groups) <= set(counts.index):
        raise MissingEvidence(f"counts in {CORPORA[corpus]}")
    fewer, more = counts[list(groups)]
    return fewer < more, f"{CORPORA[corpus]}: {groups[0]} {fewer:,}, {groups[1]} {more:,}"


def with_more_examples(run: Results, model: str, kind: str, more: int, fewer: int) -> Check:
    """Return the check that a model is better on a type of pronouns with one number of examples than with another."""

    def levels(shots: int) -> dict[str, Any]:
        level = {"models": [model], "pronoun_type": kind, "shots": shots}
        # Examples come with the explicit declaration of all five forms.
        return level if shots else level | {"declaration_type": "explicit", "declared": 5}

    names = (f"{run.models.label.get(model, model)}, {TYPES[kind]}: {more} examples", f"{fewer}")
    return greater(run, levels(more), levels(fewer), names, shots=max(more, fewer))


@states(
    19,
    "Section 4.3, Table 13",
    "Examples help neopronouns: up to 20 with LLaMA-7B, only up to 6 with GPT-J-6B and OPT-6.7b.",
)
def examples_help(run: Results) -> list[Check]:
    pairs = []
    for model, last in LAST_RISE.items():
        rising = [shots for shots in SHOTS if shots <= last]
        pairs += [(model, shots, 0) for shots in SHOTS]
        pairs += [(model, more, fewer) for fewer, more in itertools.pairwise(rising)]
        pairs += [(model, last, SHOTS[SHOTS.index(last) + 1])] if last < SHOTS[-1] else []
    return [with_more_examples(run, model, "neo", more, fewer) for model, more, fewer in pairs]


@states(
    20,
    "Section 4.3, Table 13",
    "On they GPT-J-6B improves up to 6 examples, while OPT-6.7b and LLaMA-7B drop from none to a few.",
)
def they_with_examples(run: Results) -> list[Check]:
    pairs = [("gpt-j-6b", more, fewer) for fewer, more in itertools.pairwise((0, 2, 4, 6))]
    pairs += [("gpt-j-6b", 6, later) for later in (10, 20)]
    pairs += [(model, 0, shots) for model in ("opt-6.7b", "llama-7b") for shots in SHOTS]
    return [with_more_examples(run, model, "neutral", more, fewer) for model, more, fewer in pairs]


if __name__ == "__main__":
    run_named()
