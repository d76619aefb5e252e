"""The study's models and settings, as its released files and its tables name them."""

from collections.abc import Iterable
from dataclasses import dataclass

from scripts.underspecification.lib.instances import GENDERED, PARTICIPANTS

RELEASES = {"preprint": "underspecification", "aaai": "underspecification_aaai"}
"""Releases of raw outputs to their folders of upstream files: with the preprint, and with the later paper at AAAI."""
RUN = "run"
"""What stands for a release where a run's own models were asked."""
HEADS = {"preprint": "Preprint", "aaai": "AAAI", RUN: "This run"}
"""The sources as heads of tables call them."""
FILE_PROMPTS = {"": "mask", "P1": "C", "P2": "B", "P3": "A"}
"""Prompts of the released files to those of the paper."""
DETECTION_PROMPT = "A"
"""The prompt of Method 2 (Appendix H)."""
KINDS = {
    **{f"{p}_{code}": (p, c) for c, code in (("professional", 0), ("participant", 1)) for p in PARTICIPANTS},
    **{f"{p}_0": (p, "professional") for p in (*GENDERED, "unspecified")},
}
"""Kinds of sentences, as the authors name them, to participant and coreferent."""


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
PARTS = {
    "bert": ("BERT", "RoBERTa"),
    "mixed": ("BART", "UL2", "Flan-UL2", "Flan-T5"),
    "gpt": ("GPT", "GPT chat"),
}
"""Groups of models that share a figure (Figures 9 to 14)."""

PRINTED_AS = {"UL2-20B denoiser": "UL2-20B-gen"}
"""Models whose rows in Table 3 have another name.

The table has one row of UL2, and the released files of Method 2 hold one: its file names have no prompt, which is how
the files of the denoiser are named; those of a model that continues prompts end with the prompt's number.
"""

_BY_FILE = {(model.file, model.prompted): label for label, model in MODELS.items()}


IN_FIGURES = (*(name for name in MODELS if name != "Flan-T5-XXL" and MODELS[name].group != "GPT chat"),)
"""Models that the study's figures show; of the others only files were released."""


def label(file: str, prompt: str) -> str | None:
    """Return the label of a released file's model, None for one that is not known."""
    return _BY_FILE.get((file, prompt != "mask"))


def run_label(name: str, prompt: str) -> str:
    """Return how the study calls one of a run's models, whose label is ``name``: UL2 has two names."""
    return {("UL2-20B", True): "UL2-20B denoiser", ("UL2-20B", False): "UL2-20B gen"}.get(
        (name, prompt == "mask"), name
    )


def order(labels: Iterable[str]) -> list[str]:
    """Return labels in the order of the study, others behind in their own."""
    names = list(MODELS)
    labels = list(dict.fromkeys(labels))
    return sorted(labels, key=lambda name: names.index(name) if name in names else len(names) + labels.index(name))
