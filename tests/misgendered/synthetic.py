"""Made-up instances and scores of the MISGENDERED wing, with the columns and the gaps of real ones."""

import zlib

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import losses
from scripts.core.statistics.normalisation import compare_scores
from scripts.misgendered import estimates, study
from scripts.misgendered.normalisation import DESIGN
from scripts.misgendered.predictions import decide

FORMS = ("nom", "acc", "pos_dep", "pos_ind", "ref")
GROUPS = {
    "he": ("binary", "he", "him", "his", "his", "himself"),
    "she": ("binary", "she", "her", "her", "hers", "herself"),
    "they": ("neutral", "they", "them", "their", "theirs", "themself"),
    "thon": ("neo", "thon", "thon", "thons", "thons", "thonself"),
    "e": ("neo", "e", "em", "es", "ems", "emself"),
    "ae": ("neo", "ae", "aer", "aer", "aers", "aerself"),
    "co": ("neo", "co", "co", "cos", "cos", "coself"),
    "vi": ("neo", "vi", "vir", "vis", "virs", "virself"),
    "xe": ("neo", "xe", "xem", "xyr", "xyrs", "xemself"),
    "ey": ("neo", "ey", "em", "eir", "eirs", "emself"),
    "ze": ("neo", "ze", "zir", "zir", "zirs", "zirself"),
}
COMBINATIONS = (2, 31, 32, 41, 42, 5)
DECLARATIONS = [f"{kind}_{number}" for kind in ("explicit", "parenthetical") for number in COMBINATIONS]
POPULATION = {"unisex": 300, "female": 100, "male": 100}
NAMES = {
    kind: [f"{kind.capitalize()[:3]}{letter}{i}" for i in range(count // 100) for letter in "abcdefgh"]
    for kind, count in POPULATION.items()
}


def form(group, name):
    """Return a form of a pronoun group."""
    return GROUPS[group][1 + FORMS.index(name)]


def instances(size, seed=0, groups=tuple(GROUPS), shots=0, draws=1, templates=10):
    """Return ``size`` made-up instances of each draw of examples; without examples there is one draw."""
    generator = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        for index in range(size):
            group = groups[index % len(groups)]
            asked = FORMS[index // len(groups) % len(FORMS)]
            declaration = "explicit_5" if shots else DECLARATIONS[int(generator.integers(len(DECLARATIONS)))]
            name_class = list(POPULATION)[int(generator.integers(3))]
            name = NAMES[name_class][int(generator.integers(len(NAMES[name_class])))]
            template = int(generator.integers(templates))
            offered = {}
            for other in groups:
                shared = offered.get(form(other, asked))
                offered[form(other, asked)] = f"{shared}/{other}" if shared else other
            rows.append(
                {
                    "instance_id": f"{shots}-{draw}-{seed}-{index}",
                    "text": f"{name}'s pronouns are given. {name} wrote a letter, template {template}: ___ came.",
                    "gold": form(group, asked), "options": list(offered), "groups": list(offered.values()),
                    "form": asked, "group": group, "pronoun_type": GROUPS[group][0], "name": name,
                    "name_class": name_class, "template_index": template, "declaration": declaration,
                    "declaration_type": declaration.partition("_")[0],
                    "declaration_number": int(declaration.partition("_")[2]), "shots": shots, "draw": draw,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def scores(table, seed=1, skill=1.0):
    """Return made-up scores: binary pronouns are easy, neo-pronouns are not; examples in the prompt help."""
    generator = np.random.default_rng(seed)
    rows = []
    for row in table.itertuples():
        for index, (option, group) in enumerate(zip(row.options, row.groups, strict=True)):
            kind = GROUPS[group.split("/")[0]][0]
            tokens = 1 + len(option) // 3 + (kind == "neo")
            prior = {"binary": -2.0, "neutral": -3.2, "neo": -5.0}[kind]
            # What several groups share has one score.
            same = np.random.default_rng([seed, zlib.crc32(f"{row.instance_id} {option}".encode())]).normal(0, 0.8)
            right = skill * (1.5 + 0.25 * min(row.shots, 6)) if option == row.gold else 0
            total = -40 + prior + right + same - 0.4 * tokens
            rows.append(
                {
                    "instance_id": row.instance_id, "option_index": index, "option": option, "text": "",
                    "log_probability": total, "scored_tokens": 20 + tokens, "option_log_probability": prior + right,
                    "option_tokens": tokens, "sentinel_log_probability": 0.0, "sentinel_tokens": 0,
                    "end_log_probability": 0.0, "end_tokens": 0,
                    "uncapitalised_log_probability": total - 0.3 * generator.random(),
                    "uncapitalised_scored_tokens": 20 + tokens,
                    "uncapitalised_option_log_probability": prior + right, "uncapitalised_option_tokens": tokens,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def predictions(table, scores, model):
    """Return what a model picks for every instance, from all of its scores at once."""
    parts = []
    for statistic in ("mean", "sum"):
        compared = losses.comparable_scores(scores, statistic, "corrected", "corrected", model)
        wide = compared.pivot(index="instance_id", columns="option_index", values="log_probability").astype(float)
        parts.append(wide.reindex(table.instance_id).fillna(-np.inf).to_numpy())
    return decide(table, *parts, model)


def predicted(models, size=660, shots=(), draws=2, groups=tuple(GROUPS)):
    """Return predictions of made-up models, with and without examples in the prompt."""
    tables = [instances(size, groups=groups)]
    tables += [instances(size // 5, seed=s, groups=groups, shots=s, draws=draws) for s in shots]
    table = pd.concat(tables, ignore_index=True)
    parts = [
        predictions(table, scores(table, seed=i, skill=0.6 + 0.2 * (i % 5)), model) for i, model in enumerate(models)
    ]
    return pd.concat(parts, ignore_index=True)


def write(path, table):
    """Write predictions as a run does, one number of examples and model after the other; return the path."""
    with files.append_parquet(path) as append:
        for _, part in table.groupby(["shots", "model"], sort=False):
            append(part)
    return str(path)


def estimated(path, draws=300, seed=1, study_models=()):
    """Return the estimates of a file of predictions."""
    table = study.identify(estimates.accuracies(path, draws, seed, study_models), "replica", "corrected")
    factors = dict.fromkeys(study.FACTORS, str)
    return table.astype(factors)


def _model(label, family, parameters, architecture="decoder", demonstration=False):
    return {
        "label": label, "family": family, "size": "", "architecture": architecture, "parameters": parameters,
        "demonstration": demonstration,
    }  # fmt: skip


DEMONSTRATION = {"smollm2-135m-instruct": _model("SmolLM2-135M-Instruct", "SmolLM2", 134515008, demonstration=True)}
STUDY_MODELS = {
    name: _model(label, family, parameters, architecture)
    for name, label, family, parameters, architecture in (
        ("gpt2", "gpt2", "GPT-2", 124e6, "decoder"), ("gpt2-medium", "gpt2-medium", "GPT-2", 355e6, "decoder"),
        ("gpt2-large", "gpt2-large", "GPT-2", 774e6, "decoder"), ("gpt2-xl", "gpt2-xl", "GPT-2", 1.5e9, "decoder"),
        ("gpt-j-6b", "GPT-J-6B", "GPT-J", 6.05e9, "decoder"), ("bloom-560m", "bloom-560m", "BLOOM", 559e6, "decoder"),
        ("bloom-1b1", "bloom-1b1", "BLOOM", 1.07e9, "decoder"), ("bloom-3b", "bloom-3b", "BLOOM", 3e9, "decoder"),
        ("bloom-7b1", "bloom-7b1", "BLOOM", 7.07e9, "decoder"), ("opt-350m", "OPT-350M", "OPT", 331e6, "decoder"),
        ("opt-1.3b", "OPT-1.3B", "OPT", 1.32e9, "decoder"), ("opt-2.7b", "OPT-2.7B", "OPT", 2.65e9, "decoder"),
        ("opt-6.7b", "OPT-6.7B", "OPT", 6.66e9, "decoder"), ("llama-7b", "LLaMA-7B", "LLaMA", 6.74e9, "decoder"),
        ("bart-base", "BART-base", "BART", 139e6, "encoder-decoder"),
        ("bart-large", "BART-large", "BART", 406e6, "encoder-decoder"),
        ("t5-small", "T5-small", "T5", 60e6, "encoder-decoder"), ("t5-base", "T5-base", "T5", 223e6, "encoder-decoder"),
        ("t5-3b", "T5-3B", "T5", 2.85e9, "encoder-decoder"),
    )
}  # fmt: skip


def normalised(cells):
    """Return accuracies under every normalisation from counted decisions."""
    return compare_scores(cells, DESIGN, 50, 0)
