"""Made-up results of RUFF, with the columns and the gaps of real ones.

The accuracies that the study prints are put in; everything else is invented so that all of its findings hold.
"""

from itertools import combinations, product

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.templates import CASES
from scripts.core.paper import published
from scripts.ruff import estimates, study
from scripts.ruff.normalisation import DESIGN
from tests import plans
from tests.conftest import ROOT

PUBLISHED = ROOT / "paper/published"
SETS = [
    {"set": "he", "label": "he/him/his"},
    {"set": "she", "label": "she/her/her"},
    {"set": "they", "label": "they/them/their"},
    {"set": "xe", "label": "xe/xem/xyr"},
    {"set": "ey", "label": "ey/em/eir"},
]
FOUR = ["he", "she", "they", "xe"]
SHARING = {
    "e": {"nominative": "e", "accusative": "em", "possessive": "es"},
    "ey": {"nominative": "ey", "accusative": "em", "possessive": "eir"},
}
"""Two pronoun sets that share a form."""
DEMONSTRATION = {name: plans.MODELS[name].facts for name in (plans.DECODER, plans.ENCODER)}
"""The models of the default run."""
SAMPLE = 2160
INTRODUCED = {
    "ALBERT-v2": [0.78, 0.76, 0.74, 0.80],
    "BERT": [0.77, 0.80],
    "RoBERTa": [0.86, 0.89],
    "MosaicBERT": [0.95],
    "OPT": [0.55, 0.58, 0.64, 0.68, 0.72, 0.75, 0.79, 0.83],
    "Pythia": [0.40, 0.45, 0.50, 0.58, 0.64, 0.67, 0.70, 0.74, 0.77],
    "Llama-2": [0.84, 0.87, 0.90],
}
"""Accuracy without distractors, from the smallest to the largest of a family."""
ENCODER_LOSS = [0, 0.36, 0.30, 0.22, 0.15, 0.08]
# With these, the mean loss to the first distractor is 0.34 over all models, and the best decoder ends at 0.37.
DECODER_LOSS, DECODER_DECAY = 0.331, 0.898


def study_models(group):
    """Return the models that the study scores (``likelihood``) or asks (``prompting``), as a run describes them."""
    members = published.group_members(published.read_models(PUBLISHED / "ruff_models.csv"))[group]
    return {name: plans.MODELS[name].facts for name in members}


def paper_models():
    """Return the 29 models of the paper's Table 2 that are scored with likelihoods."""
    return study_models("likelihood")


def prompted_models():
    """Return the eight models of the paper's Table 2 that are prompted."""
    return study_models("prompting")


def of_models(rows, templates="replica", **identity):
    """Return rows with all columns of estimates; those that are not said are empty."""
    table = pd.DataFrame(rows).assign(templates=templates, kind="model", **identity)
    table = table.reindex(columns=[*study.IDENTITY, *study.FACTORS, "metric", *estimates.MEASURES])
    words = [*study.IDENTITY, *study.FACTORS]
    return table.astype(dict.fromkeys(words, object)).fillna(dict.fromkeys(words, ""))


def ranked(models):
    """Yield each model with its facts and its rank in its family."""
    seen = {}
    for name, facts in models.items():
        rank = seen[facts["family"]] = seen.get(facts["family"], -1) + 1
        yield name, facts, rank


def curve(facts, rank):
    """Return a model's accuracies with 0 to 5 distractors."""
    start = INTRODUCED[facts["family"]][rank] if facts["family"] in INTRODUCED else 0.5
    if facts["architecture"] == "encoder":
        return [start - loss for loss in ENCODER_LOSS]
    return [start, *(max(start - DECODER_LOSS, 0.05) * DECODER_DECAY**k for k in range(5))]


def by_pronoun(name, facts, mean):
    """Return accuracies without distractors for each pronoun set; those of the study's four average to ``mean``."""
    given = {"bert-large": (0.95, 0.87, 0.60, 0.78), "llama-2-13b": (0.97, 0.92, 0.63, 0.96)}
    if name in given:
        return (*given[name], 0.5)
    large = facts["parameters"] > 6e9
    if facts["architecture"] == "encoder" or large:
        shifts = (0.10, 0.03, -0.12, -0.01) if large else (0.12, 0.05, -0.12, -0.05)
        scale = min(1, (0.99 - mean) / shifts[0])
        return (*(mean + scale * shift for shift in shifts), 0.3)
    least = 0.02 if facts["family"] == "Pythia" and facts["parameters"] < 2e8 else 0.15
    neo = least if facts["parameters"] < 2.6e9 else 0.40
    rest = (4 * mean - neo) / 3
    return rest + 0.10, rest + 0.02, rest - 0.12, neo, neo / 2


def accuracy(models, sets, seeds=3, distractors=range(6)):
    """Return accuracies: over all instances and by case, and without distractors by pronoun set."""
    names, rows = [entry["set"] for entry in sets], []
    for name, facts, rank in ranked(models):
        values = curve(facts, rank)
        for n in distractors:
            cells = [("pronoun", "", 3, 0.002, values[n])]
            cells += [("case", case, 1, 0.04, values[n]) for case in CASES]
            split = by_pronoun(name, facts, values[0]) if n == 0 else ()
            cells += [("pronoun", level, 0.75, 0.004, value) for level, value in zip(names, split, strict=False)]
            for factor, level, share, half, value in cells:
                row = {"model": name, "metric": "accuracy", "n_distractors": str(n), factor: level, "value": value}
                row |= {"low": max(0, value - half), "high": min(1, value + half), "samples": seeds, "clusters": 60}
                of = int(SAMPLE * seeds * share / 3)
                rows.append(row | {"above": value * of, "below": of, "sd": 0.01 if seeds > 1 else np.nan})
    return of_models(rows, **study.SCORED)


def context_free(models, sets):
    """Return picks without context; a fifth set is never picked."""
    picks = {"encoder": (110, 45, 14, 11, 0), "decoder": (120, 50, 8, 2, 0)}
    rows = []
    for i, (name, facts) in enumerate(models.items()):
        # Models of an architecture differ a little, as a test over models needs.
        counts = zip(sets, picks[facts["architecture"]], (1, 0, -1, 0, 0), strict=False)
        for entry, count, change in counts:
            count += change * (i % 3)
            row = {"model": name, "preferred": entry["set"]}
            rows.append(row | {"metric": "picked", "above": count, "below": 180, "value": count / 180})
            rows.append(row | {"metric": "tied", "above": 0, "below": count, "value": 0})
    return of_models(rows, scoring="probability", setting=study.CONTEXT_FREE)


def preferences(models, sets, distractors=range(6)):
    """Return which sets are preferred after each introduction: the right one in two of three instances."""
    names, rows = [entry["set"] for entry in sets], []
    for model, n, introduced, preferred in product(models, distractors, names, names):
        share = 2 / 3 if introduced == preferred else 1 / 3 / (len(names) - 1)
        row = {"model": model, "n_distractors": str(n), "pronoun": introduced, "preferred": preferred, "value": share}
        rows.append(row | {"metric": "preferred", "low": share / 2, "high": share, "above": 300 * share, "below": 300})
    return of_models(rows, **study.SCORED)


def pronoun_tests(models, sets):
    """Return ``pronoun_tests.csv``: every pair is significant."""
    pairs = combinations([entry["set"] for entry in sets], 2)
    keys = pd.DataFrame([(model, *pair) for pair in pairs for model in ["", *models]]).set_axis(
        ["model", "pronoun_a", "pronoun_b"], axis=1
    )
    welch = {"n_a": 60, "n_b": 60, "mean_a": 0.9, "mean_b": 0.8, "difference": 0.1, "t": 4.0, "df": 100.0, "p": 0.001}
    welch |= {"p_holm": 0.006, "significant": True, "significant_holm": True}
    paired = {"n_pairs": 60, "difference_paired": 0.1, "t_paired": 6.0, "df_paired": 59.0, "p_paired": 0.0002}
    paired |= {"p_paired_holm": 0.001, "significant_paired": True, "significant_paired_holm": True, "needed": 8}
    table = keys.assign(templates="replica", kind="model", **study.SCORED, **welch, **paired)
    return table.assign(pronoun=keys.pronoun_a + "|" + keys.pronoun_b, n_distractors="0", metric="difference")


def error_types(models, seeds=3, distractors=range(1, 6)):
    """Return errors and their kinds."""
    rows = []
    for name, facts, rank in ranked(models):
        for k in distractors:
            if name == "bert-large":
                distraction = (0.45, 0.38, 0.34, 0.30, 0.27)[k - 1]
            elif facts["architecture"] == "encoder":
                distraction = 0.60 + 0.02 * rank - 0.04 * k
            else:
                distraction = 0.50 + 0.02 * rank + 0.03 * k
            # The ends of the range that the study prints, where they disturb no order.
            explained = {("opt-125m", 1): 0.93, ("opt-66b", 1): 0.74}.get((name, k), 0.84)
            shares = {"distraction": distraction, "bias": explained - distraction, "other": 1 - explained}
            cell = {"model": name, "n_distractors": str(k)}
            for metric, above, below in (("error", 4, 7), ("ambiguous", 1, 4), ("unbiased", 1, 3)):
                of = below * 100_000
                rows.append(cell | {"metric": metric, "above": above * 100_000, "below": of, "value": above / below})
            for kind, share in shares.items():
                row = {"metric": kind, "value": share, "sd": 0.01 if seeds > 1 else np.nan, "samples": seeds}
                rows.append(cell | row | {"above": round(300_000 * share), "below": 300_000})
    return of_models(rows, **study.SCORED)


def other_scores(models, sets):
    """Return ``normalisation.csv``: accuracies under every score, and how they differ from those under the sum."""
    random, rows = np.random.default_rng(0), []
    levels = [("pronoun", ""), *(("n_distractors", str(n)) for n in range(6)), *(("pronoun", s["set"]) for s in sets)]
    for model, (factor, level), score in product(models, levels, DESIGN.scores):
        accuracy, moved = random.uniform(0.1, 0.9), random.uniform(-0.3, 0.3)
        row = {"model": model, "n_distractors": "", "pronoun": "", factor: level, "normalisation": score, "n": 120}
        row |= {"accuracy": accuracy, "low": accuracy - 0.1, "high": accuracy + 0.1, "ties": 0}
        if score != DESIGN.scores[0]:
            row |= {"difference": moved, "difference_low": moved - 0.1, "difference_high": moved + 0.1, "p": 0.04}
            row |= {"flipped": 0.4, "gained": 0.15 + moved / 2, "lost": 0.15 - moved / 2}
        rows.append(row)
    return pd.DataFrame(rows).assign(templates="replica", kind="model", metric="accuracy", **study.SCORED)


def tables(models, sets, seeds=3, distractors=range(6)):
    """Return every table of a run in which nobody is asked, by its name."""
    made = [accuracy(models, sets, seeds, distractors), context_free(models, sets)]
    made += [preferences(models, sets, distractors), error_types(models, seeds, [n for n in distractors if n] or [1])]
    return {
        "estimates": pd.concat(made, ignore_index=True),
        "pronoun_tests": pronoun_tests(models, sets),
        "normalisation": other_scores(models, sets),
        "against_scored": pd.DataFrame(columns=[*study.IDENTITY, "prompted", "scored", "n_distractors", "metric"]),
    }


def write(folder, made, templates="replica"):
    """Write tables, those of a template set; return their paths by name."""
    return write_all(folder, [{name: frame.assign(templates=templates) for name, frame in made.items()}])


def write_all(folder, parts):
    """Write the tables of several template sets, which say it, into one file each; return the files by name."""
    paths = {}
    for name in parts[0]:
        paths[name] = str(folder / f"{name}.csv")
        files.write_csv(paths[name], pd.concat([part[name] for part in parts if len(part[name])] or [parts[0][name]]))
    return paths


def prompted_outputs(models, sets, distractors=range(6), chain_models=(), size=12):
    """Return outputs of prompted models, as :func:`scripts.ruff.predictions.make_outputs` has them."""
    random = np.random.default_rng(0)
    names = [entry["set"] for entry in sets]
    asked = {name: [("vanilla", "final")] for name in models}
    asked |= {name: [("vanilla", "final"), *product(("kojima", "zhou"), ("final", "chain"))] for name in chain_models}
    kinds = [(str(prompt), "open" if prompt < 5 else "options") for prompt in range(10)]
    rows = []
    for model, n in product(models, distractors):
        for (method, answer), (prompt, kind), i in product(asked[model], kinds, range(size)):
            gold = names[i % len(names)]
            right = max(0.05, 0.9 - 0.1 * n - 0.02 * int(prompt) - 0.1 * (method != "vanilla"))
            shares = np.array([right, *(np.array([0.5, 0.1, 0.3, 0.1]) * (1 - right))])
            outcome = random.choice(["right", "wrong", "wrong_case", "several", "none"], p=shares)
            named = {"right": gold, "wrong": names[(i + 1) % len(names)]}.get(outcome)
            rows.append(
                {"model": model, "method": method, "answer": answer, "prompt": prompt, "kind": kind,
                 "instance_id": f"{i:016x}", "seed": 13, "n_distractors": n, "occupation": f"job {i % 5}",
                 "case": "nominative", "pronoun": gold, "outcome": outcome, "named": named}
            )  # fmt: skip
    return pd.DataFrame(rows)


def prompted_tables(outputs, pairs=()):
    """Return the tables of prompted models; scored models get every other instance right."""
    asked = outputs.astype({"n_distractors": str})
    frames = {"estimates": of_models(estimates.estimate_prompts(asked), scoring="prompted")}
    if pairs:
        once = outputs.drop_duplicates(["instance_id", "n_distractors"])
        scored = pd.concat([once.assign(model=name) for name in dict.fromkeys(pair["scored"] for pair in pairs)])
        scored = scored.assign(setting="fidelity", correct=np.arange(len(scored)) % 2 == 0)
        beside = estimates.compare_with_scored(asked, scored, pairs).assign(templates="replica", kind="model")
        frames["against_scored"] = beside.fillna(dict.fromkeys({*study.IDENTITY, *study.FACTORS} & set(beside), ""))
    return frames
