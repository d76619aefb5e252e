"""What the study calls its models and settings in released files and tables, and the columns that tables share."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import DISTRIBUTION, MODEL, RELEASED_OUTPUTS
from scripts.core.errors import UserError
from scripts.core.statistics import ratios
from scripts.underspecification.instances import COREFERENTS
from scripts.underspecification.templates import GROUPS

RELEASES = {"preprint": "underspecification", "aaai": "underspecification_aaai"}
"""Releases of raw outputs to their folders of upstream files: with the preprint, and with the later paper at AAAI."""
RUN = "run"
"""What stands for a release where a run's own models were asked."""
PARTS = (*RELEASES, RUN)
"""All that results are divided by: releases, and the models of a run."""
HEADS = {"preprint": "Preprint", "aaai": "AAAI", RUN: "This run"}
"""The parts as heads of tables call them."""
FILE_PROMPTS = {"": "mask", "P1": "C", "P2": "B", "P3": "A"}
"""Prompts of the released files to those of the paper."""
DETECTION_PROMPT = "A"
"""The prompt of Method 2 (Appendix H)."""
SET_LABELS = {"winogender": "Winogender", "simplified": "Simplified"}
"""Evaluation sets of Method 2 as tables call them."""
TOP = "top"
"""The accumulation over the most probable tokens, which is the study's."""
IDENTITY = ["part", "model", "kind", "scoring"]
"""Whose probabilities."""
FACTORS = ["evaluation_set", "templates", "variable", "prompt", "accumulation", "gender", "dates", "choice"]
"""Factors of estimates, empty where they are pooled or say nothing; ``a|b`` pools these levels. ``dates``: how many at
either end are averaged, ``choice``: how the threshold was chosen."""
SENTENCES = {
    "winogender": ("man_0", "woman_0", "someone_0", "other_0", "man_1", "woman_1", "someone_1", "other_1"),
    "simplified": ("female_0", "male_0", "unspecified_0"),
}
"""Kinds of sentences of each set (:func:`sentence_kinds`), in the order of the study."""
SENTENCE_IDS = dict(zip(SENTENCES["winogender"], "12345678", strict=True)) | {
    "female_0": "f", "male_0": "m", "unspecified_0": "–",
}  # fmt: skip
"""What tables call them: by the IDs of the study's Table 2, and by what a simplified sentence gives."""
SPECIFIED = ("man_1", "woman_1", "female_0", "male_0")
"""Those that are well-specified."""
OCCUPATION = "doctor"
"""Whose sentences stand for all in Table 2 and Figure 4."""


@dataclass(frozen=True)
class Model:
    """A model of the study.

    ``file`` is its name in released files, ``prompted`` tells whether it continues prompts or fills masks, ``group``
    is its family as the findings speak of it, ``size`` its place (base, large) in a pair of sizes.
    """

    file: str
    prompted: bool
    group: str
    parameters: float
    size: str = ""


MODELS = {
    "BERT-base": Model("bert-base-uncased", False, "BERT", 110e6, "base"),
    "BERT-large": Model("bert-large-uncased", False, "BERT", 340e6, "large"),
    "RoBERTa-base": Model("roberta-base", False, "RoBERTa", 125e6, "base"),
    "RoBERTa-large": Model("roberta-large", False, "RoBERTa", 355e6, "large"),
    "BART-base": Model("facebook_bart-base", False, "BART", 139e6, "base"),
    "BART-large": Model("facebook_bart-large", False, "BART", 406e6, "large"),
    "UL2-20B denoiser": Model("google_ul2", False, "UL2", 20e9),
    "UL2-20B gen": Model("google_ul2", True, "UL2", 20e9),
    "Flan-UL2-20B": Model("google_flan-ul2", True, "Flan-UL2", 20e9),
    "Flan-T5-XXL": Model("google_flan-t5-xxl", True, "Flan-T5", 11e9),
    "GPT-3": Model("davinci", True, "GPT", 175e9),
    "GPT-3.5 SFT": Model("text-davinci-002", True, "GPT", 175e9),
    "GPT-3.5 RLHF": Model("text-davinci-003", True, "GPT", 175e9),
    "GPT-3.5 Turbo": Model("gpt-3.5-turbo", True, "GPT chat", float("nan")),
    "GPT-4": Model("gpt-4", True, "GPT chat", float("nan")),
    "GPT-4 Turbo": Model("gpt-4-turbo-preview", True, "GPT chat", float("nan")),
}
"""In the order of the study's tables; models that only files were released of have no row there."""
MASKED = ("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large")
GPT = ("GPT-3", "GPT-3.5 SFT", "GPT-3.5 RLHF")
MIXED = ("BART-base", "BART-large", "UL2-20B denoiser", "UL2-20B gen")
INSTRUCTED = "Flan-UL2-20B"
METHOD1 = (*MASKED, *MIXED, INSTRUCTED, *GPT)
METHOD2 = (*MASKED, "BART-base", "BART-large", "UL2-20B denoiser", INSTRUCTED, *GPT)
TABLE2 = (*MASKED, "GPT-3.5 SFT", "GPT-3.5 RLHF")
SIZES = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("BART-base", "BART-large"))
TUNED = (("GPT-3.5 SFT", "GPT-3"), ("GPT-3.5 RLHF", "GPT-3"), (INSTRUCTED, "UL2-20B gen"))
"""Tuned models and those of the same size and architecture that they come from."""
FIGURE_GROUPS = {
    "bert": ("BERT", "RoBERTa"),
    "mixed": ("BART", "UL2", "Flan-UL2", "Flan-T5"),
    "gpt": ("GPT", "GPT chat"),
}
"""Families of models that share a figure (Figures 9 to 14)."""
PRINTED_AS = {"UL2-20B denoiser": "UL2-20B-gen"}
"""Models whose rows in Table 3 have another name.

The table has one row of UL2, and the released files of Method 2 hold one: its file names have no prompt, which is how
the files of the denoiser are named; those of a model that continues prompts end with the prompt's number.
"""

_BY_FILE = {(model.file, model.prompted): label for label, model in MODELS.items()}
IN_FIGURES = (*(name for name in MODELS if name != "Flan-T5-XXL" and MODELS[name].group != "GPT chat"),)
"""Models that the study's figures show; of the others only files were released."""


def released_label(file: str, prompt: str) -> str | None:
    """Return the label of a released file's model, None for one that is not known."""
    return _BY_FILE.get((file, prompt != "mask"))


def run_label(name: str, prompt: str) -> str:
    """Return how the study calls one of a run's models, whose label is ``name``: UL2 has two names."""
    return {("UL2-20B", True): "UL2-20B denoiser", ("UL2-20B", False): "UL2-20B gen"}.get(
        (name, prompt == "mask"), name
    )


def order_labels(labels: Iterable[str]) -> list[str]:
    """Return labels in the order of the study, others behind in their own."""
    names = list(MODELS)
    labels = list(dict.fromkeys(labels))
    return sorted(labels, key=lambda name: names.index(name) if name in names else len(names) + labels.index(name))


def identify(frame: pd.DataFrame) -> pd.DataFrame:
    """Return probabilities, or what is made of them, with the ``kind`` and ``scoring`` of each row."""
    own = frame.part == RUN
    return frame.assign(
        kind=own.map({True: MODEL, False: RELEASED_OUTPUTS}), scoring=own.map({True: DISTRIBUTION, False: ""})
    )


def name_combined(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which what combines genders is a part of the metric's name, and no gender.

    Examples:
        >>> name_combined(pd.DataFrame({"metric": ["slope"] * 2, "gender": ["male", "female minus male"]})).metric[1]
        'slope, female minus male'
    """
    single = rows.gender.isin(GROUPS)
    metric = rows.metric.where(single, rows.metric + ", " + rows.gender)
    return rows.assign(metric=metric, gender=rows.gender.where(single, ""))


def read_table(path: str | Path) -> pd.DataFrame:
    """Return a table of results; words stay words.

    Raises:
        UserError: If the file cannot be read or has no row.
    """
    table = estimate_rows.read_table(path, [*IDENTITY, "label", *FACTORS])
    if table.empty:
        raise UserError(f"{path}: has no row, so nothing can be shown of it; check the config")
    return table


def pick(estimates: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return the estimates with these levels (``ratios.select_rows``), of the study's tokens."""
    return ratios.select_rows(estimates, FACTORS, **{"accumulation": TOP} | levels)


def pick_slopes(estimates: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return estimates of Method 1, of all models and prompts and of their means, over both variables."""
    return pick(estimates, **{"evaluation_set": "mgc", "variable": ..., "prompt": ..., "gender": ...} | levels)


def pick_rates(estimates: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return estimates of Method 2 as the study has them: feminine, one date at either end, at masks or its prompt."""
    usual = {"evaluation_set": ..., "templates": ..., "prompt": ["mask", DETECTION_PROMPT]}
    return pick(estimates, **usual | {"gender": "female", "dates": "1", "choice": ...} | levels)


def pick_metrics(metrics: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return the metrics of sentences in the same way."""
    usual = {"prompt": ["mask", DETECTION_PROMPT], "accumulation": TOP, "gender": "female", "dates": "1"}
    return ratios.select_rows(metrics, [], **usual | levels)


def order_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the order of the study's models, each model's in their own."""
    rank = {name: place for place, name in enumerate(order_labels(table.label))}
    return table.assign(_rank=table.label.map(rank)).sort_values("_rank", kind="stable").drop(columns="_rank")


def read_shares(path: str | Path | None) -> dict[str, float]:
    """Return the share of women by occupation (US Bureau of Labor Statistics) from Winogender's own file.

    Args:
        path: Columns ``occupation`` and ``bls_pct_female`` (percent), tab-separated; None: they were not fetched.
    """
    if path is None:
        return {}
    table: Any = pd.read_csv(path, sep="\t")
    return table.set_index("occupation").bls_pct_female.astype(float).to_dict()


def sentence_kinds(frame: pd.DataFrame) -> pd.Series:
    """Return each row's kind of sentence: its participant, with 0 if the pronoun means the professional, else 1."""
    return frame.participant + "_" + frame.coreferent.map({name: str(code) for code, name in enumerate(COREFERENTS)})


def set_label(evaluation_set: str, templates: str) -> str:
    """Return how a table calls an evaluation set."""
    return SET_LABELS[evaluation_set] + (" (replica)" if templates == "replica" else "")
