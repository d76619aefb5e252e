"""Worlds in which each finding is true, false or on the border, as estimates of drawn answers.

Drawn are the right answers of each occupation with each pronoun set, the picks without context, the types of errors
and the accuracies of prompts. Occupations differ, and a model's answers about one go together, as in the data of the
study; the tables are made of them as those of a run are: intervals by a bootstrap over occupations, Welch's tests over
occupations, errors of one sample.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper import published
from scripts.core.statistics import procedures
from scripts.ruff import findings, quantities
from scripts.ruff.quantities import COUNTS
from scripts.ruff.study import PRONOUN_SETS
from tests.core.paper.simulated_findings import BORDER, FALSE, RUN, STUDY, Simulation, Worlds

OCCUPATIONS, SAMPLES = 60, 3
DRAWS, SEED = 500, 1
SPREAD = 0.5
"""How far the accuracy on an occupation lies from the mean at most, as a share of the way to 0 or 1."""
ALIKE = 0.3
"""The share of occupations in whose three task sentences a model picks the same set."""
CONCENTRATION = 20
"""Of the Dirichlet distribution of an occupation's types of errors."""
PROMPTS = 10
SIZES = {
    RUN: "180 instances for each number of distractors (three samples of 60), 60 occupations; ten prompts on 24",
    STUDY: "6,480 instances for each number of distractors (three samples of 2,160), 60 occupations; ten prompts on "
    "720",
}
FAMILIES = {
    "ALBERT-v2": (0.78, 0.76, 0.74, 0.80), "BERT": (0.77, 0.80), "RoBERTa": (0.86, 0.89), "MosaicBERT": (0.95,),
    "OPT": (0.55, 0.58, 0.64, 0.68, 0.72, 0.75, 0.79, 0.83),
    "Pythia": (0.40, 0.45, 0.50, 0.58, 0.64, 0.67, 0.70, 0.74, 0.77), "Llama-2": (0.84, 0.87, 0.90),
}  # fmt: skip
"""Accuracies without distractors by size: those that the study prints, and others that fit its findings."""
HE, SHE, THEY, XE = range(4)
NOTHING = pd.DataFrame()
TINY = ("pythia-14m", "pythia-70m", "pythia-160m")


@dataclass(frozen=True)
class Truth:
    """What is true of the study's models, in the order of ``models``.

    Args:
        models, encoder, family: Names, whether each is an encoder, and its family.
        accuracy: By model, number of distractors and pronoun set.
        picks: By model and pronoun set.
        errors: By model, one to five distractors and type (distraction, bias, other).
        prompted: Of a prompted model, a method and an answer: mean accuracies by number of distractors, and their
            deviation over prompts.
    """

    models: tuple[str, ...]
    encoder: np.ndarray
    family: np.ndarray
    accuracy: np.ndarray
    picks: np.ndarray
    errors: np.ndarray
    prompted: dict[tuple[str, str, str], tuple[np.ndarray, float]]

    def at(self, *names: str) -> list[int]:
        """Return the places of models."""
        return [self.models.index(name) for name in names]


@cache
def study_models(folder: Path) -> tuple[pd.DataFrame, dict]:
    """Return the study's models and printed numbers, of ``paper/published``."""
    listed = published.read_published(folder / "ruff.csv")
    models = quantities.study_models(published.read_models(folder / "ruff_models.csv"), listed)
    return models, quantities.printed_numbers(listed)


@cache
def as_found(folder: Path) -> Truth:
    """Return the world as the study found it: all findings are true."""
    run = quantities.Results(*study_models(folder), NOTHING, NOTHING)
    names = tuple(name for members in run.families.values() for name in members)
    family = np.array([family for family, members in run.families.items() for _ in members])
    encoder = np.array([name in run.encoders for name in names])
    start = np.array(
        [FAMILIES[str(family)][members.index(name)] for family, members in run.families.items() for name in members]
    )
    losses = np.where(
        encoder[:, None], start[:, None] - np.array([0, 0.36, 0.30, 0.22, 0.15, 0.08]),
        np.column_stack([start, *((start - 0.331) * 0.898**k for k in range(5))]),
    )  # fmt: skip
    size = np.array([run.size(name) for name in names])
    shifts = np.where((size > 6e9)[:, None], (0.10, 0.03, -0.12, -0.01), (0.12, 0.05, -0.12, -0.05))
    shifts = shifts * np.minimum(1, (0.99 - start) / shifts[:, HE])[:, None]
    small = ~encoder & (size < 6e9)
    xe = np.where(size < 2e8, 0.02, 0.15) * (family == "Pythia") + 0.15 * (family != "Pythia")
    xe = np.where(size < 2.6e9, xe, 0.40)
    rest = (4 * start - xe) / 3
    apart = np.column_stack([rest + 0.10, rest + 0.02, rest - 0.12, xe]) - start[:, None]
    shifts = np.where(small[:, None], apart, shifts)
    accuracy = losses[:, :, None] + np.where(np.arange(6)[:, None] == 0, 1, 0) * shifts[:, None, :]
    for name, values in (("bert-large", (0.95, 0.87, 0.60, 0.78)), ("llama-2-13b", (0.97, 0.92, 0.63, 0.96))):
        accuracy[names.index(name), 0] = values
    rank = np.array([members.index(name) for members in run.families.values() for name in members])
    k = np.arange(1, 6)
    distraction = np.where(
        encoder[:, None], 0.60 + 0.02 * rank[:, None] - 0.04 * k, 0.50 + 0.02 * rank[:, None] + 0.03 * k
    )
    distraction[names.index("bert-large")] = (0.45, 0.38, 0.34, 0.30, 0.27)
    errors = np.stack([distraction, 0.84 - distraction, np.full(distraction.shape, 0.16)], axis=-1)
    picks = np.where(encoder[:, None], (0.60, 0.26, 0.08, 0.06), (0.67, 0.28, 0.04, 0.01))
    falling = 0.6 - 0.1 * np.arange(6)
    prompted = {(m, "vanilla", "final"): (falling, 0.01) for m in run.models[run.models.family == "FLAN-T5"].model}
    prompted |= {
        (f"llama-2-{size}-chat", "vanilla", "final"): (losses[names.index(f"llama-2-{size}")] - 0.15, 0.01)
        for size in ("7b", "13b", "70b")
    }
    for method in findings.CHAINS:
        prompted["flan-t5-xxl", method, "final"] = (falling - 0.05, 0.04)
        prompted["flan-t5-xxl", method, "chain"] = (falling - np.where(np.arange(6) == 0, 0, 0.05), 0.01)
    return Truth(names, encoder, family, accuracy, picks, errors, prompted)


def _with(truth: Truth, field: str, change: Callable) -> Truth:
    values = getattr(truth, field).copy()
    return replace(truth, **{field: change(values)})


def _accuracy(change: Callable) -> Callable:
    """Return a world whose accuracies are changed; ``change`` takes a copy of them and the true world."""

    def world(truth: Truth) -> Truth:
        values = truth.accuracy.copy()
        change(values, truth)
        return replace(truth, accuracy=values)

    return world


def _in_families(truth: Truth) -> list[np.ndarray]:
    return [np.flatnonzero(truth.family == name) for name in dict.fromkeys(truth.family)]


def _swapped_picks(a: int, b: int) -> Callable:
    return lambda truth: _with(truth, "picks", lambda picks: np.take(picks, _exchange(4, a, b), axis=1))


def _exchange(n: int, a: int, b: int) -> list[int]:
    order = list(range(n))
    order[a], order[b] = b, a
    return order


def _same_picks(truth: Truth) -> Truth:
    return replace(truth, picks=np.full_like(truth.picks, 0.25))


def _others_picks(truth: Truth) -> Truth:
    encoder = np.argmax(truth.encoder), np.argmin(truth.encoder)
    return replace(truth, picks=np.where(truth.encoder[:, None], truth.picks[encoder[1]], truth.picks[encoder[0]]))


def _pooled_picks(truth: Truth) -> Truth:
    return replace(truth, picks=np.broadcast_to(truth.picks.mean(axis=0), truth.picks.shape))


def _best(level: float) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        mosaic, roberta, *tiny = truth.at("mosaicbert", "roberta-large", "pythia-14m")
        values[mosaic, 0], values[roberta, 0] = level, 0.95
        values[tiny, 0] = 0.25 if level == 0.95 else 0.20

    return change


def _reversed_families(k: int) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        for members in _in_families(truth):
            if truth.family[members[0]] == "ALBERT-v2":
                values[members, k] = np.sort(values[members, k], axis=0)
            else:
                values[members, k] = values[members[::-1], k]

    return change


def _even_families(k: int) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        for members in _in_families(truth):
            values[members, k] = values[members, k].mean(axis=0)

    return change


def _in_reversed_order(values: np.ndarray, truth: Truth):
    values[:, 0] = values[:, 0, ::-1]


def _even_pronouns(values: np.ndarray, truth: Truth):
    values[:, 0] = values[:, 0].mean(axis=-1, keepdims=True)


def _they_over_xe(values: np.ndarray, truth: Truth):
    values[:, 0] = values[:, 0][:, [HE, SHE, XE, THEY]]


def _they_as_xe(values: np.ndarray, truth: Truth):
    values[:, 0, [THEY, XE]] = values[:, 0, [THEY, XE]].mean(axis=-1, keepdims=True)
    values[truth.at("llama-2-13b"), 0, THEY:] = 0.96


def _xe_of_small(level: float, tiny: float) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        low = values[:, 0, XE] < 0.25
        values[low, 0, XE] = level
        values[truth.at(*TINY), 0, XE] = tiny

    return change


def _no_harm(values: np.ndarray, truth: Truth):
    values[:, 0], values[:, 1:] = values[:, 1].copy(), values[:, :1].copy()


def _flat(values: np.ndarray, truth: Truth):
    values[:, 1:] = values[:, :1]


def _loss(points: float) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        values[:, 1] = values[:, :1].mean(axis=(0, 1), keepdims=True)[0] * 0 + np.maximum(values[:, 0] - points, 0.01)

    return change


def _rising_decoders(values: np.ndarray, truth: Truth):
    values[~truth.encoder] = values[~truth.encoder][:, ::-1]


def _flat_decoders(values: np.ndarray, truth: Truth):
    values[~truth.encoder] = values[~truth.encoder].mean(axis=1, keepdims=True)


def _encoders_keep_falling(values: np.ndarray, truth: Truth):
    values[truth.encoder, 1:] = values[truth.encoder, :0:-1]


def _encoders_stay(values: np.ndarray, truth: Truth):
    values[truth.encoder, 1:] = values[truth.encoder, 1:2]


def _encoders_at(k: int, encoders: float, decoders: float) -> Callable:
    def change(values: np.ndarray, truth: Truth):
        values[:, k] = np.where(truth.encoder, encoders, decoders)[:, None]

    return change


def _errors(change: Callable) -> Callable:
    """Return a world whose shares of distraction are changed; bias is what is left of the explained."""

    def world(truth: Truth) -> Truth:
        distraction, explained = truth.errors[..., 0].copy(), 1 - truth.errors[..., 2]
        distraction, explained = change(distraction, explained, truth)
        shares = np.stack([distraction, explained - distraction, 1 - explained], axis=-1)
        return replace(truth, errors=shares)

    return world


def _explained(*levels: float) -> Callable:
    def change(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
        level = np.array(levels)[np.arange(len(distraction)) % len(levels)][:, None]
        return np.minimum(distraction, level - 0.05), np.broadcast_to(level, distraction.shape)

    return _errors(change)


def _turned(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
    return distraction[:, ::-1], explained


def _steady(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
    return np.broadcast_to(distraction.mean(axis=1, keepdims=True), distraction.shape), explained


def _balanced(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
    return np.full_like(distraction, 0.42), explained


def _smaller_are_distracted(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
    for members in _in_families(truth):
        distraction[members] = distraction[members[::-1]]
    return distraction, explained


def _alike_in_families(distraction: np.ndarray, explained: np.ndarray, truth: Truth):
    for members in _in_families(truth):
        distraction[members] = distraction[members].mean(axis=0)
    return distraction, explained


def _prompts_rise(truth: Truth) -> Truth:
    turned = {key: (mean[::-1], spread) for key, (mean, spread) in truth.prompted.items() if key[0].startswith("flan")}
    for (name, *_), (mean, spread) in truth.prompted.items():
        if name.endswith("chat"):
            turned[name, "vanilla", "final"] = (mean + 0.30, spread)
    for method in findings.CHAINS:
        turned["flan-t5-xxl", method, "final"] = (turned["flan-t5-xxl", "vanilla", "final"][0] + 0.05, 0.003)
        turned["flan-t5-xxl", method, "chain"] = (turned["flan-t5-xxl", "vanilla", "final"][0] + 0.05, 0.01)
    return replace(truth, prompted=turned)


def _prompts_alike(truth: Truth) -> Truth:
    level = np.full(6, 0.4)
    even = dict.fromkeys(truth.prompted, (level, 0.01))
    for method in findings.CHAINS:
        even["flan-t5-xxl", method, "chain"] = (level - findings.NEAR * (np.arange(6) == 0), 0.01)
    for key in truth.prompted:
        name = key[0]
        if name.endswith("chat"):
            even[key] = (truth.accuracy[truth.at(name.removesuffix("-chat"))[0]].mean(axis=-1), 0.01)
    return replace(truth, prompted=even)


WORLDS = {
    1: Worlds(_swapped_picks(HE, SHE), _same_picks),
    2: Worlds(_others_picks, _pooled_picks),
    3: Worlds(_accuracy(_best(0.89)), _accuracy(_best(0.95))),
    4: Worlds(_accuracy(_reversed_families(0)), _accuracy(_even_families(0))),
    5: Worlds(_accuracy(_in_reversed_order), _accuracy(_even_pronouns)),
    6: Worlds(_accuracy(_they_over_xe), _accuracy(_they_as_xe)),
    7: Worlds(_accuracy(_xe_of_small(0.35, 0.35)), _accuracy(_xe_of_small(0.25, 0.05))),
    8: Worlds(_accuracy(_they_over_xe), _accuracy(_they_as_xe)),
    9: Worlds(_accuracy(_no_harm), _accuracy(_flat)),
    10: Worlds(_accuracy(_loss(0.17)), _accuracy(_loss(0.315))),
    11: Worlds(_accuracy(_rising_decoders), _accuracy(_flat_decoders)),
    12: Worlds(_accuracy(_encoders_keep_falling), _accuracy(_encoders_stay)),
    13: Worlds(_accuracy(_reversed_families(5)), _accuracy(_even_families(5))),
    14: Worlds(_accuracy(_encoders_at(0, 0.55, 0.83)), _accuracy(_encoders_at(0, 0.7, 0.7))),
    15: Worlds(_accuracy(_encoders_at(5, 0.37, 0.80)), _accuracy(_encoders_at(5, 0.5, 0.5))),
    16: Worlds(_explained(0.60), _explained(0.735, 0.935)),
    17: Worlds(_errors(_turned), _errors(_steady)),
    18: Worlds(_errors(_turned), _errors(_balanced)),
    19: Worlds(_errors(_smaller_are_distracted), _errors(_alike_in_families)),
    20: Worlds(_prompts_rise, _prompts_alike),
}  # fmt: skip
TABLES = (
    dict.fromkeys(range(1, 21), ("accuracy",)) | dict.fromkeys((1, 2), ("context_free",))
    | dict.fromkeys((5, 6, 8), ("accuracy", "pronoun_tests")) | dict.fromkeys((16, 17, 18, 19), ("error_types",))
    | {20: ("accuracy", "prompted_accuracy")}
)  # fmt: skip
"""What each finding looks at."""


LOOKED_AT = dict.fromkeys(range(3, 9), (0,)) | {10: (0, 1), 13: (5,), 14: (0,), 15: (5,)}
"""Numbers of distractors at which a finding looks, if it does not look at all of them."""


@cache
def _asked(size: str) -> np.ndarray:
    """Return how many instances each occupation has with each pronoun set, for one number of distractors."""
    if size == STUDY:
        return np.full((OCCUPATIONS, 4), 6480 // OCCUPATIONS // 4)
    return ((np.arange(4) - np.arange(OCCUPATIONS)[:, None]) % 4 < 3).astype(int)


def _right(truth: Truth, size: str, counts: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    """Draw how many answers are right, by model, number of distractors, pronoun set and occupation.

    With numbers of distractors other than ``counts``, at which a finding does not look, none is.
    """
    shared, own = generator.uniform(-1, 1, OCCUPATIONS), generator.uniform(-1, 1, (len(truth.models), OCCUPATIONS))
    mean = truth.accuracy[:, counts, :, None]
    chance = mean + SPREAD * np.minimum(mean, 1 - mean) * ((shared + own) / 2)[:, None, None, :]
    right = np.zeros((len(truth.models), len(COUNTS), 4, OCCUPATIONS), dtype=int)
    right[:, counts] = generator.binomial(_asked(size).T, chance)
    return right


def accuracy_table(right: np.ndarray, models: tuple[str, ...], size: str) -> pd.DataFrame:
    """Return accuracies of counts by model, number of distractors, pronoun set and occupation."""
    asked = _asked(size)
    cells = [(str(k), "") for k in COUNTS] + [("0", name) for name in PRONOUN_SETS]
    hits = np.concatenate([right.sum(axis=2), right[:, 0]], axis=1)
    trials = np.vstack([np.tile(asked.sum(axis=1), (len(COUNTS), 1)), asked.T])
    weights = procedures.cluster_weights(OCCUPATIONS, DRAWS, SEED)
    drawn = (weights @ hits.reshape(-1, OCCUPATIONS).T).reshape(DRAWS, *hits.shape[:2])
    samples = np.sort(drawn / (weights @ trials.T)[:, None], axis=0)
    # The percentiles, between the two samples nearest to each.
    places = (DRAWS - 1) * np.array([0.025, 0.975])
    part = (places % 1)[:, None, None]
    low, high = (1 - part) * samples[places.astype(int)] + part * samples[places.astype(int) + 1]
    n = trials.sum(axis=1)
    accuracy = hits.sum(axis=2) / n
    # Where all are right or all wrong, the interval of cluster_bootstrap is Wilson's.
    clusters = (trials > 0).sum(axis=1)
    none, every = (np.transpose([procedures.wilson(right * c, c) for c in clusters]) for right in (0, 1))
    low, high = np.where(accuracy == 1, every[0], low), np.where(accuracy == 0, none[1], high)
    columns = {
        "n_distractors": [k for k, _ in cells], "pronoun": [name for _, name in cells], "below": n,
        "clusters": clusters,
    }  # fmt: skip
    facts = {name: np.tile(values, len(models)) for name, values in columns.items()}
    facts |= {"model": np.repeat(models, len(cells)), "scoring": "probability", "metric": "accuracy", "preferred": ""}
    return pd.DataFrame(facts | {"value": accuracy.ravel(), "low": low.ravel(), "high": high.ravel()})


def pronoun_tests_table(right: np.ndarray, models: tuple[str, ...], size: str) -> pd.DataFrame:
    """Return Welch's tests between pronoun sets, over the accuracies of occupations."""
    asked = _asked(size)
    shares = [right[:, 0, p][:, asked[:, p] > 0] / asked[asked[:, p] > 0, p] for p in range(4)]
    shares = [np.vstack([share.mean(axis=0), share]) for share in shares]
    frames = []
    for (a, first), (b, second) in combinations(zip(PRONOUN_SETS, shares, strict=True), 2):
        with np.errstate(invalid="ignore", divide="ignore"):
            p = scipy.stats.ttest_ind(first, second, axis=1, equal_var=False).pvalue
        facts = {"model": ["", *models], "pronoun_a": a, "pronoun_b": b, "p": p}
        frames.append(pd.DataFrame(facts | {"n_a": first.shape[1], "n_b": second.shape[1]}))
    return pd.concat(frames, ignore_index=True)


def _context_free(truth: Truth, generator: np.random.Generator, *, differ: bool) -> pd.DataFrame:
    varied = truth.picks
    if differ:
        varied = np.array([generator.dirichlet(50 * picks) for picks in truth.picks])
    same = generator.random((len(varied), OCCUPATIONS)) < ALIKE
    counts = [
        3 * generator.multinomial(agreeing, chances) + generator.multinomial(3 * (OCCUPATIONS - agreeing), chances)
        for agreeing, chances in zip(same.sum(axis=1), varied, strict=True)
    ]
    frame = pd.DataFrame(np.array(counts), columns=list(PRONOUN_SETS)).assign(model=truth.models)
    frame = frame.melt("model", var_name="preferred", value_name="above").assign(below=3 * OCCUPATIONS)
    return frame.assign(scoring="probability", metric="picked", n_distractors="", pronoun="")


def _error_types(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    instances = _asked(size).sum() / OCCUPATIONS
    wrong = 0.75 * (1 - truth.accuracy[:, 1:].mean(axis=-1)) * instances
    unambiguous = generator.poisson(wrong[..., None], (*wrong.shape, OCCUPATIONS))
    shares = generator.gamma(
        CONCENTRATION * np.maximum(truth.errors, 1e-3)[:, :, None, :], size=(*unambiguous.shape, 3)
    )
    counts = generator.multinomial(unambiguous, shares / shares.sum(axis=-1, keepdims=True)).sum(axis=2)
    total = unambiguous.sum(axis=2)
    rows = []
    for m, name in enumerate(truth.models):
        for k in range(5):
            for kind, count in zip(("distraction", "bias", "other"), counts[m, k], strict=True):
                share = count / total[m, k] if total[m, k] else np.nan
                rows.append((name, str(k + 1), kind, SAMPLES, total[m, k], share))
    table = pd.DataFrame(rows, columns=["model", "n_distractors", "metric", "samples", "below", "value"])
    return table.assign(scoring="probability", pronoun="", preferred="")


def _prompted(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    instances = 24 if size == RUN else 720
    frames = []
    for (name, method, answer), (mean, spread) in truth.prompted.items():
        chance = np.clip(mean + spread * generator.normal(size=(PROMPTS, 1)), 0.001, 0.999)
        share = generator.binomial(instances, chance) / instances
        frame = pd.DataFrame(share, columns=list(COUNTS)).assign(prompt=range(PROMPTS))
        frame = frame.melt("prompt", var_name="n_distractors", value_name="value")
        frames.append(frame.assign(model=name, method=method, answer=answer))
    table = pd.concat(frames, ignore_index=True).astype({"n_distractors": str, "prompt": str})
    return table.assign(scoring="prompted", metric="accuracy")


@cache
def _study(folder: Path) -> quantities.Results:
    """Return results without estimates; what they say of the models is worked out once."""
    run = quantities.Results(*study_models(folder), NOTHING, NOTHING)
    assert run.neighbours and run.everyone and run.label("bert-base") and run.size("bert-base")
    return run


def simulation(folder: Path) -> Simulation:
    """Return the study's simulation; ``folder`` is ``paper/published``."""

    def draw(number: int, world: str, size: str, generator: np.random.Generator) -> quantities.Results:
        truth = as_found(folder)
        changes = {FALSE: WORLDS[number].false, BORDER: WORLDS[number].border}
        if world in changes:
            truth = changes[world](truth)
        wanted, made, tests = TABLES[number], [], pd.DataFrame({"model": []})
        if "accuracy" in wanted:
            right = _right(truth, size, LOOKED_AT.get(number, tuple(COUNTS)), generator)
            made.append(accuracy_table(right, truth.models, size))
            if "pronoun_tests" in wanted:
                tests = pronoun_tests_table(right, truth.models, size)
        if "context_free" in wanted:
            made.append(_context_free(truth, generator, differ=number == 2))
        if "error_types" in wanted:
            made.append(_error_types(truth, size, generator))
        if "prompted_accuracy" in wanted:
            made.append(_prompted(truth, size, generator))
        run = copy(_study(folder))
        # A frozen object, of which the copy has other estimates.
        vars(run).update(estimates=pd.concat(made, ignore_index=True), tests=tests)
        return run

    return Simulation(findings.FINDINGS, WORLDS, draw, SIZES, DRAWS)
