"""Made-up estimates and tests of RUFF, with the columns and the gaps of real ones."""

from itertools import combinations, product

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.ruff import estimates, study
from scripts.ruff.normalisation import DESIGN

CASES = ("nominative", "accusative", "possessive")
POLARITIES = ("negative", "positive")
SETS = [
    {"set": "he", "label": "he/him/his"},
    {"set": "she", "label": "she/her/her"},
    {"set": "they", "label": "they/them/their"},
    {"set": "xe", "label": "xe/xem/xyr"},
    {"set": "ey", "label": "ey/em/eir"},
]
TEMPLATES = 180


def _model(label, family, size, architecture, parameters, demonstration=False):
    return {
        "label": label,
        "family": family,
        "size": size,
        "architecture": architecture,
        "parameters": parameters,
        "demonstration": demonstration,
    }


DEMONSTRATION = {
    "smollm2-135m-instruct": _model("SmolLM2-135M-Instruct", "SmolLM2", "135M", "decoder", 134515008),
    "minilm-l6-mlm": _model("MiniLM (demonstration)", "MiniLM", "6 layers", "encoder", 22744506, True),
}

_PUBLISHED = {
    ("ALBERT-v2", "encoder"): {"base": 11.2e6, "large": 16.8e6, "xlarge": 54.8e6, "xxlarge": 206e6},
    ("BERT", "encoder"): {"base": 110e6, "large": 335e6},
    ("RoBERTa", "encoder"): {"base": 125e6, "large": 355e6},
    ("MosaicBERT", "encoder"): {"137M": 137e6},
    ("OPT", "decoder"): {
        "125M": 125e6, "350M": 331e6, "1.3B": 1.32e9, "2.7B": 2.65e9, "6.7B": 6.66e9, "13B": 12.9e9, "30B": 30e9,
        "66B": 65.7e9,
    },
    ("Pythia", "decoder"): {
        "14M": 14.1e6, "70M": 70.4e6, "160M": 162e6, "410M": 405e6, "1B": 1.01e9, "1.4B": 1.41e9, "2.8B": 2.78e9,
        "6.9B": 6.86e9, "12B": 11.8e9,
    },
    ("Llama-2", "decoder"): {"7B": 6.74e9, "13B": 13e9, "70B": 69e9},
}  # fmt: skip


def paper_models():
    """Return the 29 models of the paper's Table 2 that are scored with likelihoods, by their names in the registry."""
    models = {}
    for (family, architecture), sizes in _PUBLISHED.items():
        for size, parameters in sizes.items():
            label = family if len(sizes) == 1 else f"{family}-{size}"
            name = f"albert-{size}-v2" if family == "ALBERT-v2" else label.lower()
            models[name] = _model(label, family, size, architecture, int(parameters))
    return models


def of_models(rows, templates="replica", **identity):
    """Return rows with all columns of estimates; those that are not said are empty."""
    table = pd.DataFrame(rows).assign(templates=templates, kind="model", **identity)
    table = table.reindex(columns=[*study.IDENTITY, *study.FACTORS, "metric", *estimates.MEASURES])
    words = [*study.IDENTITY, *study.FACTORS]
    return table.astype(dict.fromkeys(words, object)).fillna(dict.fromkeys(words, ""))


def accuracy(models, sets, seeds=3, distractors=range(6), factors=True, seed=0):
    """Return accuracies; ``seeds`` 1 leaves the SD empty."""
    random = np.random.default_rng(seed)
    names = [s["set"] for s in sets]
    levels = [("", "")]
    if factors:
        levels += [("pronoun", p) for p in names] + [("case", c) for c in CASES] + [("polarity", p) for p in POLARITIES]
    rows = []
    for name, facts in models.items():
        skill = 0.45 + 0.045 * np.log10(facts["parameters"]) + random.normal(0, 0.03)
        encoder = facts["architecture"] == "encoder"
        for n in distractors:
            loss = 0 if n == 0 else (0.35 - 0.03 * n if encoder else 0.3 + 0.04 * n)
            for factor, level in levels:
                shift = -0.12 * names.index(level) if factor == "pronoun" else random.normal(0, 0.03)
                mean = float(np.clip(skill - loss + shift, 0.02, 0.98))
                half = random.uniform(0.04, 0.12)
                sd = random.uniform(0.003, 0.02) if seeds > 1 else np.nan
                row = {"model": name, "metric": "accuracy", "n_distractors": str(n), "value": mean, "sd": sd}
                row |= {"low": max(0.0, mean - half), "high": min(1.0, mean + half), "samples": seeds}
                rows.append(row | {"above": mean * 2160 * seeds, "below": 2160 * seeds, "clusters": 60, factor: level})
    return of_models(rows, **study.SCORED)


def context_free(models, sets, seed=0):
    """Return picks without context; the last set is never picked by the first model."""
    random = np.random.default_rng(seed)
    weights = np.array([0.5, 0.25, 0.15, 0.08, 0.05])[: len(sets)]
    rows = []
    for i, name in enumerate(models):
        share = random.dirichlet(20 * weights)
        if i == 0:
            share[-1] = 0
        counts = random.multinomial(TEMPLATES, share / share.sum())
        for entry, count in zip(sets, counts, strict=True):
            row = {"model": name, "preferred": entry["set"]}
            rows.append(row | {"metric": "picked", "above": count, "below": TEMPLATES, "value": count / TEMPLATES})
            rows.append(row | {"metric": "tied", "above": 0, "below": count, "value": 0})
    return of_models(rows, scoring="probability", setting=study.CONTEXT_FREE)


def preferences(models, sets, distractors=range(6)):
    """Return which sets are preferred after each introduction: the right one in two of three instances."""
    names = [s["set"] for s in sets]
    rows = []
    for model, n, introduced, preferred in product(models, distractors, names, names):
        share = 2 / 3 if introduced == preferred else 1 / 3 / (len(names) - 1)
        row = {"model": model, "n_distractors": str(n), "pronoun": introduced, "preferred": preferred, "value": share}
        rows.append(row | {"metric": "preferred", "low": share / 2, "high": share, "above": 300 * share, "below": 300})
    return of_models(rows, **study.SCORED)


def pronoun_tests(models, sets, seed=0):
    """Return ``pronoun_tests.csv``; the last model's last pair is undefined."""
    random = np.random.default_rng(seed)
    pairs = list(combinations([s["set"] for s in sets], 2))
    rows = []
    for model in ["", *models]:
        for a, b in pairs:
            mean_a, mean_b = 0.9 - 0.1 * random.random(2)
            p = random.random() ** 4
            undefined = model == list(models)[-1] and (a, b) == pairs[-1]
            t, df, p = (np.nan, np.nan, np.nan) if undefined else (2.0, 100.0, p)
            holm = float(np.minimum(1.0, p * len(pairs)))
            row = (model, a, b, 60, 60, mean_a, mean_b, mean_a - mean_b, t, df, p, holm, p < 0.05, holm < 0.05)
            # As if every occupation had both sets and the paired test saw a little more.
            t, df, p, holm = 1.5 * t, 59 + 0 * t, p / 4, holm / 4
            rows.append((*row, 60, mean_a - mean_b, t, df, p, holm, p < 0.05, holm < 0.05))
    columns = [
        "model", "pronoun_a", "pronoun_b", "n_a", "n_b", "mean_a", "mean_b", "difference", "t", "df", "p", "p_holm",
        "significant", "significant_holm", "n_pairs", "difference_paired", "t_paired", "df_paired", "p_paired",
        "p_paired_holm", "significant_paired", "significant_paired_holm",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns).assign(kind="model", **study.SCORED, templates="replica", needed=8)
    return table.assign(pronoun=table.pronoun_a + "|" + table.pronoun_b, n_distractors="0", metric="difference")


def error_types(models, seeds=3, distractors=range(6), seed=0):
    """Return errors and their kinds; the last model makes no unambiguous error with five distractors."""
    random = np.random.default_rng(seed)
    rows = []
    for name, facts in models.items():
        slope = -0.03 if facts["architecture"] == "encoder" else 0.04
        for n in range(1, 6):
            gap = name == list(models)[-1] and n == 5
            distraction = 0.55 + slope * n + random.normal(0, 0.05)
            bias = (1 - distraction) * random.uniform(0.4, 0.8)
            shares = {"distraction": distraction, "bias": bias, "other": 1 - distraction - bias}
            cell, clear = {"model": name, "n_distractors": str(n)}, 0 if gap else 300
            for metric, above, below in (
                ("error", 400, 2160 * seeds), ("ambiguous", 400 - clear, 400), ("unbiased", 20, clear),
            ):  # fmt: skip
                rows.append(cell | {"metric": metric, "above": above, "below": below})
            for kind, share in shares.items():
                sd = np.nan if gap or seeds == 1 else random.uniform(0.005, 0.03)
                row = {"metric": kind, "samples": 0 if gap else seeds, "above": round(share * clear), "below": clear}
                rows.append(cell | row | {"value": np.nan if gap else share, "sd": sd})
    table = of_models(rows, **study.SCORED)
    return table[table.n_distractors.isin([str(n) for n in distractors])]


def other_scores(models, sets, seed=0):
    """Return ``normalisation.csv``: accuracies under every score, and how they differ from those under the sum."""
    random = np.random.default_rng(seed)
    levels = [("", ""), *(("n_distractors", str(n)) for n in range(6)), *(("pronoun", s["set"]) for s in sets)]
    rows = []
    for model, (factor, level), score in product(models, levels, DESIGN.scores):
        accuracy = random.uniform(0.1, 0.9)
        row = {"templates": "replica", "model": model, "kind": "model", **study.SCORED, "metric": "accuracy"}
        row |= {"n_distractors": "", "pronoun": "", factor: level, "normalisation": score, "n": 120}
        row |= {"accuracy": accuracy, "low": accuracy - 0.1, "high": accuracy + 0.1, "ties": 0}
        if score != DESIGN.scores[0]:
            moved = random.uniform(-0.3, 0.3)
            row |= {"difference": moved, "difference_low": moved - 0.1, "difference_high": moved + 0.1, "p": 0.04}
            row |= {"flipped": 0.4, "gained": 0.15 + moved / 2, "lost": 0.15 - moved / 2}
        rows.append(row)
    return pd.DataFrame(rows).drop(columns="", errors="ignore")


def tables(models, sets, seeds=3, distractors=range(6)):
    """Return every table of a run in which nobody is asked, by its name."""
    made = [accuracy(models, sets, seeds, distractors), context_free(models, sets), preferences(models, sets)]
    made.append(error_types(models, seeds, [n for n in distractors if n] or range(6)))
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
    made = {name: [part[name] for part in parts if len(part[name])] or [parts[0][name]] for name in parts[0]}
    paths = {name: str(folder / f"{name}.csv") for name in made}
    for name, frames in made.items():
        files.write_csv(paths[name], pd.concat(frames))
    return paths


def prompted_models():
    """Return the eight models of the paper's Table 2 that are prompted, by their names in the registry."""
    sizes = {"7b": 6.74e9, "13b": 13e9, "70b": 69e9}
    models = {
        f"llama-2-{s}-chat": _model(f"Llama-2-{s.upper()}-chat", "Llama-2-chat", s.upper(), "decoder", int(n))
        for s, n in sizes.items()
    }
    sizes = {"small": 77e6, "base": 248e6, "large": 783e6, "xl": 2.85e9, "xxl": 11.1e9}
    return models | {
        f"flan-t5-{s}": _model(f"FLAN-T5-{s}", "FLAN-T5", s, "encoder-decoder", int(n)) for s, n in sizes.items()
    }


def prompted_outputs(models, sets, distractors=range(6), chain_models=(), orders=("published",), size=12, seed=0):
    """Return outputs of prompted models, as :func:`scripts.ruff.predictions.make_outputs` has them."""
    random = np.random.default_rng(seed)
    names = [s["set"] for s in sets]
    outcomes = ["right", "wrong", "wrong_case", "several", "none"]
    rows = []
    for model, n in ((model, n) for model in models for n in distractors):
        asked = [("vanilla", "final")]
        if model in chain_models:
            asked += [(method, answer) for method in ("kojima", "zhou") for answer in ("final", "chain")]
        for method, answer in asked:
            for prompt in range(10):
                kind = "open" if prompt < 5 else "options"
                for order in orders if kind == "options" else orders[:1]:
                    right = max(0.05, 0.9 - 0.1 * n - 0.02 * prompt - 0.1 * (method != "vanilla"))
                    shares = np.array([right, *(np.array([0.5, 0.1, 0.3, 0.1]) * (1 - right))])
                    for i in range(size):
                        gold = names[i % len(names)]
                        outcome = random.choice(outcomes, p=shares / shares.sum())
                        named = {"right": gold, "wrong": names[(i + 1) % len(names)]}.get(outcome)
                        rows.append(
                            (model, method, answer, str(prompt), kind, order, f"{i:016x}", 13, n, f"job {i % 5}",
                             "nominative", gold, outcome, named)
                        )  # fmt: skip
    columns = [
        "model", "method", "answer", "prompt", "kind", "order", "instance_id", "seed", "n_distractors", "occupation",
        "case", "pronoun", "outcome", "named",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def prompted_tables(outputs, pairs=()):
    """Return the tables of prompted models; scored models get every other instance right."""
    asked = outputs[outputs.order == "published"].astype({"n_distractors": str})
    frames = {"estimates": of_models(estimates.of_prompts(asked), scoring="prompted")}
    if pairs:
        once = outputs.drop_duplicates(["instance_id", "n_distractors"])
        scored = pd.concat([once.assign(model=name) for name in dict.fromkeys(pair["scored"] for pair in pairs)])
        scored = scored.assign(setting="fidelity", correct=np.arange(len(scored)) % 2 == 0)
        beside = estimates.compare_with_scored(asked, scored, pairs).assign(templates="replica", kind="model")
        frames["against_scored"] = beside.fillna(dict.fromkeys({*study.IDENTITY, *study.FACTORS} & set(beside), ""))
    return frames
