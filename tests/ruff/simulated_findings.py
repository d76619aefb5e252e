"""Worlds in which each finding of RUFF is true, false or on the border, as estimates of drawn answers.

Drawn are the right answers of each occupation with each pronoun set, the picks without context, the types of errors
and the accuracies of prompts. Occupations differ, and a model's answers about one go together, as in the data of the
study; the tables are made of them as those of a run are: intervals by a bootstrap over occupations, Welch's tests over
occupations, errors of one sample.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper import published
from scripts.core.statistics import procedures
from scripts.ruff import findings, findings_prompting, quantities
from scripts.ruff.quantities import COUNTS
from scripts.ruff.study import PRONOUN_SETS
from tests.core.paper.simulated_findings import PUBLISHED, RUN, STUDY, Change, Simulation, Worlds, chain, changed, vary
from tests.ruff import synthetic

OCCUPATIONS, SAMPLES = 60, 3
DRAWS, SEED = 500, 1
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
HE, SHE, THEY, XE = range(4)
NOTHING = pd.DataFrame()


def _study() -> quantities.Results:
    """Return results without estimates, and what they say of the models, worked out once."""
    listed = published.read_published(PUBLISHED / "ruff.csv")
    models = quantities.study_models(published.read_models(PUBLISHED / "ruff_models.csv"), listed)
    run = quantities.Results(models, quantities.printed_numbers(listed), NOTHING, NOTHING)
    assert run.neighbours and run.everyone and run.label("bert-base") and run.size("bert-base")
    return run


STUDIED = _study()
MODELS = tuple(name for members in STUDIED.families.values() for name in members)
ENCODER = np.array([name in STUDIED.encoders for name in MODELS])
MEMBERS = {str(family): [MODELS.index(name) for name in members] for family, members in STUDIED.families.items()}


@dataclass(frozen=True)
class Truth:
    """What is true of :data:`MODELS`.

    Args:
        accuracy: By model, number of distractors and pronoun set.
        picks: By model and pronoun set.
        distraction, explained: Shares of errors that are distraction, and distraction or bias, by model and one to five
            distractors.
        prompted: Of a prompted model, a method and an answer: mean accuracies by number of distractors, and their
            deviation over prompts.
    """

    accuracy: np.ndarray
    picks: np.ndarray
    distraction: np.ndarray
    explained: np.ndarray
    prompted: dict[tuple[str, str, str], tuple[np.ndarray, float]]


def _as_found() -> Truth:
    """Return the world as the study found it, of which ``synthetic.py`` has the values: all findings are true."""
    run = synthetic.paper_models()
    rows = pd.concat([synthetic.accuracy(run, synthetic.SETS[:4]), synthetic.error_types(run)])
    rows = rows[rows["case"] == ""]
    wide = rows.pivot(index="model", columns=["metric", "n_distractors", "pronoun"], values="value").loc[list(MODELS)]
    overall = wide["accuracy"].xs("", level="pronoun", axis=1)
    accuracy = np.repeat(overall.to_numpy()[:, :, None], 4, axis=2)
    accuracy[:, 0] = wide["accuracy"]["0"][list(PRONOUN_SETS)]
    distraction = wide["distraction"].to_numpy()
    picks = np.where(ENCODER[:, None], (0.60, 0.26, 0.08, 0.06), (0.67, 0.28, 0.04, 0.01))
    falling = 0.6 - 0.1 * np.arange(6)
    flan = STUDIED.models[STUDIED.models.family == "FLAN-T5"].model
    prompted = {(model, "vanilla", "final"): (falling, 0.01) for model in flan}
    prompted |= {
        (f"{name}-chat", "vanilla", "final"): (overall.loc[name].to_numpy() - 0.15, 0.01)
        for name in ("llama-2-7b", "llama-2-13b", "llama-2-70b")
    }
    for method in findings_prompting.CHAINS:
        prompted["flan-t5-xxl", method, "final"] = (falling - 0.05, 0.04)
        prompted["flan-t5-xxl", method, "chain"] = (falling - np.where(np.arange(6) == 0, 0, 0.05), 0.01)
    return Truth(accuracy, picks, distraction, np.full(distraction.shape, 0.84), prompted)


def at(*names: str) -> list[int]:
    """Return the places of models."""
    return [MODELS.index(name) for name in names]


def put(place: Any, value: Any) -> Callable:
    """Return a function of an array that returns a copy with another value, or a function of the array, somewhere."""

    def change(values: np.ndarray) -> np.ndarray:
        made = values.copy()
        made[place] = value(values) if callable(value) else value
        return made

    return change


def accuracy(*changes: Callable) -> Change:
    return changed(accuracy=chain(*changes))


def in_families(change: Callable) -> Callable:
    """Return a function of an array that changes the rows of each family, which are in the order of sizes."""
    return chain(*(put(members, lambda values, of=members: change(values[of])) for members in MEMBERS.values()))


def families(k: int, change: Callable) -> Change:
    return accuracy(put(np.s_[:, k], lambda values: in_families(change)(values[:, k])))


def reversed_families(k: int) -> Change:
    """Return a world in which accuracy falls with size, and grows in ALBERT-v2."""
    albert = MEMBERS["ALBERT-v2"]
    growing = accuracy(put((albert, k), lambda values: np.sort(values[albert, k], axis=0)[::-1]))
    return chain(growing, families(k, lambda rows: rows[::-1]))


def even(rows: np.ndarray) -> np.ndarray:
    return np.broadcast_to(rows.mean(axis=0), rows.shape)


def best(level: float, tiny: float) -> Change:
    return accuracy(
        put((at("mosaicbert"), 0), level), put((at("roberta-large"), 0), 0.95), put((at("pythia-14m"), 0), tiny)
    )


def encoders_at(k: int, encoders: float, decoders: float) -> Change:
    return accuracy(put(np.s_[:, k], np.where(ENCODER, encoders, decoders)[:, None]))


def explained(*levels: float) -> Change:
    """Return a world in which models have these shares of explained errors in turn."""
    return changed(explained=lambda old: np.resize(levels, len(old))[:, None] + 0 * old)


def _prompts_rise(truth: Truth) -> dict:
    turned = {key: (mean[::-1], spread) for key, (mean, spread) in truth.prompted.items() if key[0].startswith("flan")}
    for (name, *_), (mean, spread) in truth.prompted.items():
        if name.endswith("chat"):
            turned[name, "vanilla", "final"] = (mean + 0.30, spread)
    for method in findings_prompting.CHAINS:
        turned["flan-t5-xxl", method, "final"] = (turned["flan-t5-xxl", "vanilla", "final"][0] + 0.05, 0.003)
        turned["flan-t5-xxl", method, "chain"] = (turned["flan-t5-xxl", "vanilla", "final"][0] + 0.05, 0.01)
    return turned


def _prompts_alike(truth: Truth) -> dict:
    level = np.full(6, 0.4)
    alike = dict.fromkeys(truth.prompted, (level, 0.01))
    for method in findings_prompting.CHAINS:
        alike["flan-t5-xxl", method, "chain"] = (level - findings.NEAR * (np.arange(6) == 0), 0.01)
    for key in truth.prompted:
        if key[0].endswith("chat"):
            alike[key] = (truth.accuracy[at(key[0].removesuffix("-chat"))[0]].mean(axis=-1), 0.01)
    return alike


AS_FOUND = _as_found()
ENCODERS_WITH, DECODERS, WITHOUT = (ENCODER, slice(1, None)), ~ENCODER, np.s_[:, 0]
"""Places in accuracies: of encoders with distractors, of decoders, and of all models without distractors."""
THEY_OVER_XE = accuracy(put(WITHOUT, lambda v: v[:, 0][:, [HE, SHE, XE, THEY]]))
THEY_AS_XE = accuracy(
    put(np.s_[:, 0, [THEY, XE]], lambda v: v[:, 0, [THEY, XE]].mean(axis=-1, keepdims=True)),
    put((at("llama-2-13b"), 0, slice(THEY, None)), 0.96),
)


def xe_of_small(level: float, tiny: float) -> Change:
    return accuracy(
        lambda v: put((v[:, 0, XE] < 0.25, 0, XE), level)(v),
        put((at("pythia-14m", "pythia-70m", "pythia-160m"), 0, XE), tiny),
    )


WORLDS = {
    1: Worlds(changed(picks=lambda v: v[:, [SHE, HE, THEY, XE]]), changed(picks=lambda v: 0 * v + 0.25)),
    2: Worlds(
        changed(picks=np.where(ENCODER[:, None], AS_FOUND.picks[~ENCODER][0], AS_FOUND.picks[ENCODER][0])),
        changed(picks=even),
    ),
    3: Worlds(best(0.89, 0.20), best(0.95, 0.25)),
    4: Worlds(reversed_families(0), families(0, even)),
    5: Worlds(
        accuracy(put(WITHOUT, lambda v: v[:, 0, ::-1])),
        accuracy(put(WITHOUT, lambda v: v[:, 0].mean(axis=-1, keepdims=True))),
    ),
    6: Worlds(THEY_OVER_XE, THEY_AS_XE),
    7: Worlds(xe_of_small(0.35, 0.35), xe_of_small(0.25, 0.05)),
    8: Worlds(THEY_OVER_XE, THEY_AS_XE),
    9: Worlds(accuracy(lambda v: v[:, [1, 0, 0, 0, 0, 0]]), accuracy(lambda v: v[:, [0] * 6])),
    10: Worlds(*(accuracy(put(np.s_[:, 1], lambda v, p=p: np.maximum(v[:, 0] - p, 0.01))) for p in (0.17, 0.315))),
    11: Worlds(
        accuracy(put(DECODERS, lambda v: v[DECODERS][:, ::-1])),
        accuracy(put(DECODERS, lambda v: v[DECODERS].mean(axis=1, keepdims=True))),
    ),
    12: Worlds(
        accuracy(put(ENCODERS_WITH, lambda v: v[ENCODER, :0:-1])),
        accuracy(put(ENCODERS_WITH, lambda v: v[ENCODER, 1:2])),
    ),
    13: Worlds(reversed_families(5), families(5, even)),
    14: Worlds(encoders_at(0, 0.55, 0.83), encoders_at(0, 0.7, 0.7)),
    15: Worlds(encoders_at(5, 0.37, 0.80), encoders_at(5, 0.5, 0.5)),
    16: Worlds(explained(0.60), explained(0.735, 0.935)),
    17: Worlds(changed(distraction=lambda d: d[:, ::-1]), changed(distraction=lambda d: even(d.T).T)),
    18: Worlds(changed(distraction=lambda d: d[:, ::-1]), changed(distraction=lambda d: 0 * d + 0.42)),
    19: Worlds(changed(distraction=in_families(lambda d: d[::-1])), changed(distraction=in_families(even))),
    20: Worlds(changed(prompted=_prompts_rise(AS_FOUND)), changed(prompted=_prompts_alike(AS_FOUND))),
}  # fmt: skip
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
    right = np.zeros((*truth.accuracy.shape, OCCUPATIONS), dtype=int)
    right[:, counts] = generator.binomial(_asked(size).T, vary(truth.accuracy[:, counts], OCCUPATIONS, generator))
    return right


def _accuracies(right: np.ndarray, size: str) -> pd.DataFrame:
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
    none, every = (np.transpose([procedures.wilson_interval(right * c, c) for c in clusters]) for right in (0, 1))
    low, high = np.where(accuracy == 1, every[0], low), np.where(accuracy == 0, none[1], high)
    columns = {
        "n_distractors": [k for k, _ in cells], "pronoun": [name for _, name in cells], "below": n,
        "clusters": clusters,
    }  # fmt: skip
    facts = {name: np.tile(values, len(MODELS)) for name, values in columns.items()}
    facts |= {"model": np.repeat(MODELS, len(cells)), "scoring": "probability", "metric": "accuracy", "preferred": ""}
    return pd.DataFrame(facts | {"value": accuracy.ravel(), "low": low.ravel(), "high": high.ravel()})


def _pronoun_tests(right: np.ndarray, size: str) -> pd.DataFrame:
    """Return Welch's tests between pronoun sets, over the accuracies of occupations."""
    asked = _asked(size)
    shares = [right[:, 0, p][:, asked[:, p] > 0] / asked[asked[:, p] > 0, p] for p in range(4)]
    shares = [np.vstack([share.mean(axis=0), share]) for share in shares]
    frames = []
    for (a, first), (b, second) in combinations(zip(PRONOUN_SETS, shares, strict=True), 2):
        with np.errstate(invalid="ignore", divide="ignore"):
            p = scipy.stats.ttest_ind(first, second, axis=1, equal_var=False).pvalue
        facts = {"model": ["", *MODELS], "pronoun_a": a, "pronoun_b": b, "p": p}
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
    frame = pd.DataFrame(np.array(counts), columns=list(PRONOUN_SETS)).assign(model=MODELS)
    frame = frame.melt("model", var_name="preferred", value_name="above").assign(below=3 * OCCUPATIONS)
    return frame.assign(scoring="probability", metric="picked", n_distractors="", pronoun="")


def _error_types(truth: Truth, size: str, generator: np.random.Generator) -> pd.DataFrame:
    instances = _asked(size).sum() / OCCUPATIONS
    wrong = 0.75 * (1 - truth.accuracy[:, 1:].mean(axis=-1)) * instances
    unambiguous = generator.poisson(wrong[..., None], (*wrong.shape, OCCUPATIONS))
    distraction = np.minimum(truth.distraction, truth.explained - 0.05)
    errors = np.stack([distraction, truth.explained - distraction, 1 - truth.explained], axis=-1)
    shares = generator.gamma(CONCENTRATION * np.maximum(errors, 1e-3)[:, :, None, :], size=(*unambiguous.shape, 3))
    counts = generator.multinomial(unambiguous, shares / shares.sum(axis=-1, keepdims=True)).sum(axis=2)
    total = unambiguous.sum(axis=2)
    rows = []
    for m, name in enumerate(MODELS):
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


def draw(number: int, truth: Truth, size: str, generator: np.random.Generator) -> quantities.Results:
    """Return the estimates of a drawn data set that a finding asks for."""
    made, tests = [], pd.DataFrame({"model": []})
    if number in (1, 2):
        made.append(_context_free(truth, generator, differ=number == 2))
    elif number in (16, 17, 18, 19):
        made.append(_error_types(truth, size, generator))
    else:
        right = _right(truth, size, LOOKED_AT.get(number, tuple(COUNTS)), generator)
        made.append(_accuracies(right, size))
        if number in (5, 6, 8):
            tests = _pronoun_tests(right, size)
        if number == 20:
            made.append(_prompted(truth, size, generator))
    run = copy(STUDIED)
    # A frozen object, of which the copy has other estimates.
    vars(run).update(estimates=pd.concat(made, ignore_index=True), tests=tests)
    return run


SIMULATION = Simulation(findings.FINDINGS, AS_FOUND, WORLDS, draw, SIZES, DRAWS)
