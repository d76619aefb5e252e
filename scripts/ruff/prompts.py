"""The prompts of RUFF (Gautam et al. 2024, Appendix F): reading their templates, filling them with instances.

``templates/ruff/prompts.tsv`` has the ten templates of Table 3 in its order. Their ids count from 0, because the
examples of the study do: its "template 8" (Table 4) is the ninth row of Table 3, its "template 3" (Table 5) the fourth.
``templates/ruff/chain_of_thought.tsv`` has the two ways to elicit a chain of thought (Table 5). In both files ``\\n``
in a cell is a line break.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core.data.options import SLOT
from scripts.core.data.templates import line_numbers, read_frame
from scripts.core.errors import UserError
from scripts.ruff.study import VANILLA

PROMPT_COLUMNS = ("prompt", "kind", "text")
CHAIN_COLUMNS = ("method", "chain", "final")
KINDS = ("open", "options")

BLANKS = {"code": "___", "paper": "_______"}
"""How the blank is written: in the authors' code, and in the examples that the paper prints."""


def read_prompts(path: str | Path) -> dict[str, dict]:
    """Read the prompt templates: id to ``kind`` (:data:`KINDS`) and ``text``, in file order, line breaks real.

    Each text holds ``{task}`` once and, if the kind is ``options``, ``{options}``; others are refused.
    """
    prompts = read_frame(path, PROMPT_COLUMNS, key="prompt", levels={"kind": KINDS})
    for row, _, kind, text in prompts.itertuples(name=None):
        _check_slots(text, ("{task}", "{options}") if kind == "options" else ("{task}",), f"{path}, row {row}")
    prompts = prompts.assign(text=prompts.text.map(_breaks)).set_index("prompt")
    return {str(name): dict(cells) for name, cells in prompts.iterrows()}


def read_chains(path: str | Path) -> dict[str, dict]:
    """Read the ways to elicit a chain of thought: method to ``chain`` and ``final``, in file order.

    ``chain`` holds ``{prompt}`` once, ``final`` ``{first}`` and ``{chain}`` (:mod:`scripts.core.data.prompting`).
    """
    chains = read_frame(path, CHAIN_COLUMNS, key="method")
    for row, method, chain, final in chains.itertuples(name=None):
        where = f"{path}, row {row}"
        if method == VANILLA:
            raise UserError(f"{where}: the method is called '{VANILLA}', as is asking without one; rename it")
        _check_slots(chain, ("{prompt}",), where)
        _check_slots(final, ("{first}", "{chain}"), where)
    return {str(name): dict(cells) for name, cells in chains.set_index("method").map(_breaks).iterrows()}


def select_chains(chains: Mapping[str, dict], methods: Sequence[str], path: str | Path) -> dict[str, dict]:
    """Return the configured ``methods`` of :func:`read_chains`, in the configured order."""
    for method in methods:
        if method not in chains:
            raise UserError(
                f"ruff.prompting.chain_of_thought.methods: '{method}' is not in {path}; its methods are "
                f"{', '.join(chains)}"
            )
    return {method: chains[method] for method in methods}


def fill_prompt(template: str, text: str, options: Sequence[str], blank: str) -> str:
    """Return a prompt: a template, filled with an instance's text, in which ``blank`` is written for the slot.

    Options are listed one to a line (Table 4), and not at all in an open prompt.

    Raises:
        UserError: If the instance does not hold the slot exactly once.
    """
    if text.count(SLOT) != 1:
        raise UserError(f"an instance must hold the slot {SLOT} exactly once; this one does not: {text[:60]!r}")
    listed = "\n".join(["OPTIONS:", *(f"- {option}" for option in options)])
    return template.replace("{options}", listed).replace("{task}", text.replace(SLOT, blank))


def instance_prompts(
    instance_id: str, text: str, options: Sequence[str], prompts: dict, chains: dict, blank: str, with_chains: bool
) -> list[dict]:
    """Return all prompts of one instance.

    Args:
        options: In the order of the pronoun sets.
        prompts, chains: As :func:`read_prompts` and :func:`read_chains` return them.
        blank: Of :data:`BLANKS`.
        with_chains: Whether the instance is asked with chains of thought as well.

    Returns:
        ``text_id``, ``instance_id``, ``method``, ``prompt``, ``kind``, ``listed`` (the options, empty for an open
        prompt), ``text`` and ``follow_up`` (None for vanilla prompts).
    """
    rows = []
    for name, template in prompts.items():
        text_filled = fill_prompt(template["text"], text, options, BLANKS[blank])
        asked = [(VANILLA, text_filled, None)]
        if with_chains:
            asked += [(m, c["chain"].replace("{prompt}", text_filled), c["final"]) for m, c in chains.items()]
        same = {"prompt": name, "kind": template["kind"]}
        same["listed"] = list(options) if template["kind"] == "options" else []
        for method, first, final in asked:
            # Ids end as they did when options had several orders, so that answers of earlier runs still fit.
            keys = {"text_id": f"{instance_id}-{method}-{name}-published", "instance_id": instance_id}
            rows.append(keys | {"method": method} | same | {"text": first, "follow_up": final})
    return rows


def with_origins(
    prompts: pd.DataFrame, rows: pd.DataFrame, columns: Sequence[str], prompt_templates: str, chain_templates: str
) -> pd.DataFrame:
    """Return prompts with the lines of the files that they were made from.

    These are ``columns`` of their instances (``rows``), ``prompt_row`` and ``chain_row`` (missing without a chain).
    """
    prompt_rows = line_numbers(prompt_templates, PROMPT_COLUMNS)
    chain_rows = line_numbers(chain_templates, CHAIN_COLUMNS)
    of_instances = rows.drop_duplicates("instance_id").set_index("instance_id")[list(columns)]
    return prompts.join(of_instances, on="instance_id").assign(
        prompt_row=prompts.prompt.map(prompt_rows).astype("Int16"),
        chain_row=prompts.method.map(chain_rows).astype("Int16"),
    )


def _breaks(text: str):
    return text.replace("\\n", "\n")


def _check_slots(text: str, wanted: Sequence[str], where: str):
    present = re.findall(r"\{\w*\}", text)
    wrong = next((slot for slot in wanted if present.count(slot) != 1), None)
    if wrong:
        raise UserError(f"{where}: the slot {wrong} must appear exactly once; correct the text")
    strange = next((slot for slot in present if slot not in wanted), None)
    if strange:
        raise UserError(f"{where}: the slot {strange} is unknown here; the slots are {', '.join(wanted)}")
