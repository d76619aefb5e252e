"""Prompts of models: what a model's registry entry says is put around them, and prompts in two steps.

A file of prompts (Parquet) has one row for each prompt, the columns ``text_id`` (unique), ``method``, ``text`` (what
the model is asked, before anything is put around it) and ``follow_up``: missing where the model's continuation of
``text`` is the answer, otherwise the pattern of a second prompt, in which ``{first}`` stands for ``text`` and
``{chain}`` for the continuation. What else is in it belongs to the study.
"""

import re

from scripts.core.errors import UserError, described

WRAPPINGS = ("none", "llama2", "chat_template")
"""Values of ``prompt_wrapping`` in the registry."""

PLACE = "{prompt}"
"""Stands for the prompt where a file says what was put around it."""


def wrap(text, wrapping, tokenizer):
    """Return what a model reads for a prompt.

    Parameters
    ----------
    text : str
    wrapping : str
        ``none``: the text as it is. ``llama2``: between ``[INST]`` and ``[/INST]`` (RUFF, Table 4). ``chat_template``:
        as the user's turn in the tokenizer's own template, with the system prompt that the template brings, if any, up
        to where the assistant speaks.
    tokenizer : transformers.PreTrainedTokenizerBase

    Raises
    ------
    UserError
        If the tokenizer has no chat template.
    """
    if wrapping == "llama2":
        return f"[INST] {text} [/INST]"
    if wrapping == "chat_template":
        if not tokenizer.chat_template:
            raise UserError(
                "config/models.yaml: prompt_wrapping is chat_template, but the model's tokenizer has no template; "
                "set it to none"
            )
        turns = [{"role": "user", "content": text}]
        try:
            return tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # a template is a program of the checkpoint's authors
            raise UserError(
                f"the model's chat template cannot be filled ({described(error)}); set prompt_wrapping to none in "
                "config/models.yaml, or correct the template"
            ) from error
    if wrapping != "none":
        raise ValueError(f"prompt_wrapping {wrapping!r} is unknown; expected one of {', '.join(WRAPPINGS)}")
    return text


def second_prompt(pattern, first, chain):
    """Return the prompt that asks for the final answer.

    Parameters
    ----------
    pattern : str
        ``follow_up`` of the prompt.
    first : str
        The first prompt.
    chain : str
        What the model wrote after it; blanks around it are left out.
    """
    parts = {"{first}": first, "{chain}": chain.strip()}
    return re.sub(r"\{(?:first|chain)\}", lambda match: parts[match[0]], pattern)
