"""The prompts of WinoPron (Appendix D): reading their templates, filling them with instances, drawing a sample.

``templates/winopron/prompts.tsv`` has the ten templates of Table 7 by the ids that the study gives them, as the paper
prints them and as the authors' code, which made the study's numbers, has them: with straight quotes (1, 9), a question
mark (9) and no blank before line breaks (5 to 8). In a cell ``\\n`` is a line break.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scripts.core import files
from scripts.core.data.templates import read_frame
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models import registry
from scripts.core.models.entries import Model
from scripts.core.workflow.model_work import Prompting
from scripts.winopron import study
from scripts.winopron.templates import ANSWERS

if TYPE_CHECKING:
    import pandas as pd

WORDINGS = ("paper", "code")
COLUMNS = ("prompt", *WORDINGS)
SLOTS = ("{task}", "{pronoun}", "{options}")
VARIANTS = {
    "none": (),
    "occupation_first": ANSWERS,
    "participant_first": ANSWERS[::-1],
}
"""Variants of a prompt to the people that it lists as options, in order (Appendix D)."""
PROMPT_TOKENS = 80
"""Tokens of a typical prompt with its instance."""
METHOD = "vanilla"


def read_prompts(path: str | Path, wording: str, chosen: str | list[str] = "all") -> dict[str, dict]:
    """Return the chosen prompt templates: id to ``text``, line breaks real, and ``row``, its line; in file order."""
    frame = read_frame(path, COLUMNS, key="prompt")
    for row, text in frame[wording].items():
        if sorted(re.findall(r"\{\w*\}", text)) != sorted(SLOTS):
            raise UserError(f"{path}, row {row}: the slots {', '.join(SLOTS)} must appear once each; correct the text")
    frame = frame.assign(text=frame[wording].str.replace("\\n", "\n", regex=False), row=frame.index)
    prompts: dict = frame.set_index("prompt")[["text", "row"]].to_dict("index")
    if chosen == "all":
        return prompts
    for name in map(str, chosen):
        if name not in prompts:
            hint = did_you_mean(name, prompts) or f"; its ids are {', '.join(prompts)}"
            raise UserError(f"winopron.prompting.prompts: '{name}' is not in {path}{hint}")
    return {name: prompt for name, prompt in prompts.items() if name in set(map(str, chosen))}


def fill_prompt(template: str, task: str, pronoun: str, options: Sequence[str]) -> str:
    """Return a prompt.

    The study does not print how options are listed; they are listed as in RUFF's Table 4, by the same authors. Without
    options the line of the slot goes, with the line breaks before it, or after it where text follows.

    Examples:
        >>> fill_prompt("{task}\\n\\n{options}\\nWho is {pronoun}?", "Xe left.", "xe", [])
        'Xe left.\\n\\nWho is xe?'
        >>> fill_prompt("{task}\\nWho is {pronoun}?\\n{options}", "Xe left.", "xe", ["cook", "guest"])
        'Xe left.\\nWho is xe?\\nOPTIONS:\\n- cook\\n- guest'
    """
    if options:
        listed = "\n".join(["OPTIONS:", *(f"- {option}" for option in options)])
    else:
        listed = ""
        template = re.sub(r"\s*\{options\}$", "{options}", template)
        template = template.replace("{options}\n", "{options}")
    parts = {"{task}": task, "{pronoun}": pronoun, "{options}": listed}
    return re.sub(r"\{(?:task|pronoun|options)\}", lambda match: parts[match[0]], template)


def sample_pairs(pairs: Iterable[str], number: int | str, seed: int) -> list[str]:
    """Return the pairs of people whose sentences are asked about, in their order."""
    pairs = list(dict.fromkeys(pairs))
    if isinstance(number, str) or number >= len(pairs):
        return pairs
    chosen = np.random.default_rng(seed).choice(len(pairs), number, replace=False)
    return [pairs[place] for place in sorted(chosen)]


def make_prompts(instances: "pd.DataFrame", prompts: dict, variants: Sequence[str]) -> list[dict]:
    """Return all prompts of some instances: rows of a file of prompts (:mod:`scripts.core.data.prompting`)."""
    rows = []
    for row in files.iterate_rows(instances):
        for name, prompt in prompts.items():
            for variant in variants:
                options = [getattr(row, who) for who in VARIANTS[variant]]
                rows.append(
                    {
                        "text_id": f"{row.instance_id}-{name}-{variant}",
                        "instance_id": row.instance_id,
                        "method": METHOD,
                        "prompt": name,
                        "variant": variant,
                        "text": fill_prompt(prompt["text"], row.text, row.pronoun, options),
                        "follow_up": None,
                        "template_row": row.template_row,
                        "occupation_row": row.occupation_row,
                        "pronoun_row": row.pronoun_row,
                        "prompt_row": prompt["row"],
                    }
                )
    return rows


def plan_prompting(settings: dict, models: dict[str, Model], prompts: int, pronoun_sets: int) -> dict[str, Prompting]:
    """Return what each model is asked about one template set, with ``settings`` (``winopron.prompting``)."""
    sentences = study.count_sentences(settings["pairs"]) * pronoun_sets * len(settings["entities"])
    asked = sentences * prompts * len(settings["variants"])
    of_models = {}
    for name, model in registry.select_prompted(models, settings["models"], "winopron.prompting.models").items():
        most = settings["new_tokens"][model.architecture]
        of_models[name] = Prompting([METHOD], {"answer": most}, [(asked, most)])
    return of_models
