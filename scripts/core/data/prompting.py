"""Prompts of models: what a model's registry entry says is put around them, and prompts in two steps.

A file of prompts (Parquet) has one row for each prompt, the columns ``text_id`` (unique), ``method``, ``text`` (what
the model is asked, before anything is put around it) and ``follow_up``: missing where the model's continuation of
``text`` is the answer, otherwise the pattern of a second prompt, in which ``{first}`` stands for ``text`` and
``{chain}`` for the continuation. What else is in it belongs to the study.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError, describe_error

if TYPE_CHECKING:
    import transformers

WRAPPINGS = ("none", "llama2", "chat_template")
"""Values of ``prompt_wrapping`` in the registry."""

PROMPT_SLOT = "{prompt}"
"""Stands for the prompt where a file says what was put around it."""

TAGS = ("<think>", "</think>")
"""What begins and ends a thought where the registry does not say."""

THOUGHTS = re.compile(r"think|reasoning|<\|channel\|>", re.IGNORECASE)
"""What chat templates of models that think speak of."""

SWITCH = "enable_thinking"
"""The variable of chat templates that lets most of these models think unless it is false."""

NOW = re.compile(r"""strftime_now\s*\(\s*(["'])([^"']*)\1\s*\)""")
"""How chat templates ask for the date."""

CONTENTS: tuple[Callable[[str], Any], ...] = (lambda text: text, lambda text: [{"type": "text", "text": text}])
"""How chat templates take the text of a turn: as it is, or as a list of parts."""


def thought_tags(thinking: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return what begins and ends a thought of a model, by ``thinking`` of its registry entry."""
    start, end = (thinking or {}).get("tags", TAGS)
    return start, end


def split_thought(text: str, tags: tuple[str, str] = TAGS, prompt: str = "") -> tuple[str | None, str]:
    """Return the thought in what a model wrote after a prompt, None if there is none, and what stands behind it.

    Examples:
        >>> split_thought("<think>She is a baker.</think>her"), split_thought("her")
        (('She is a baker.', 'her'), (None, 'her'))
        >>> split_thought("<think>She is"), split_thought("She is a baker.</think>her", prompt="... <think>")
        (('She is', ''), ('She is a baker.', 'her'))
    """
    start, end = tags
    begun = prompt.rstrip().endswith(start)
    if text.lstrip().startswith(start):
        text = text.lstrip().removeprefix(start)
    elif not begun and end not in text:
        return None, text
    thought, _, answer = text.partition(end)
    return thought.strip(), answer


def make_wrapper(
    wrapping: str,
    thinking: Mapping[str, Any] | None,
    tokenizer: "transformers.PreTrainedTokenizerBase",
    date: str,
) -> Callable[[str], str]:
    """Return the function that makes of a prompt what a model reads.

    Args:
        wrapping: ``none``: the text as it is. ``llama2``: between ``[INST]`` and ``[/INST]`` (RUFF, Table 4).
            ``chat_template``: as the user's turn in the tokenizer's own template, up to where the assistant speaks.
        thinking: Of the registry entry; holds variables of the template.
        date: The day that templates are told it is, such as 2024-07-26.

    Raises:
        UserError: If the template is missing, fails, does not show the prompt exactly once or speaks of thoughts, of
            which ``thinking`` says nothing.
    """
    if wrapping == "chat_template":
        return _chat(thinking, tokenizer, date)
    if wrapping not in WRAPPINGS:
        raise ValueError(f"prompt_wrapping {wrapping!r} is unknown; expected one of {', '.join(WRAPPINGS)}")
    return (lambda text: f"[INST] {text} [/INST]") if wrapping == "llama2" else lambda text: text


def _chat(thinking: Mapping[str, Any] | None, tokenizer: Any, date: str) -> Callable[[str], str]:
    where = "config/models.yaml: the model's chat template"
    remedy = "set prompt_wrapping to none, or correct the template"
    try:
        source = tokenizer.get_chat_template()
    except ValueError:
        raise UserError(f"{where} is missing from its tokenizer; set prompt_wrapping to none") from None
    stated = {name: value for name, value in (thinking or {}).items() if name not in ("tokens", "tags")}
    if (thinking is None and THOUGHTS.search(source)) or (SWITCH in source and not stated):
        raise UserError(
            f"{where} lets it think before it answers; add thinking with the variable that switches this off or on, "
            "such as {enable_thinking: false}, or with the most tokens of a thought, such as {tokens: 512}"
        )
    if unknown := [name for name in stated if name not in source]:
        raise UserError(f"{where} has no variable '{unknown[0]}'; correct thinking.{unknown[0]} or remove it")
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        raise UserError(f"chat_templates.date: '{date}' is no day; correct it") from None
    # transformers' strftime_now reads the clock, and templates are handed no function: the day is written into them.
    dated = NOW.sub(lambda call: repr(day.strftime(call[2])), source)
    if re.search(r"strftime_now\s*\(", dated):
        raise UserError(f"{where} calls strftime_now with other than a text; {remedy}")
    options = stated | {"date_string": day.strftime("%d %b %Y"), "tokenize": False, "add_generation_prompt": True}

    def fill(content: Any) -> str:
        turn = {"role": "user", "content": content}
        return tokenizer.apply_chat_template([turn], chat_template=dated, **options)

    problems = []
    for form in CONTENTS:
        try:
            shape = fill(form(PROMPT_SLOT))
        except Exception as error:  # a template is a program of the checkpoint's authors
            problems.append(f"fails: {describe_error(error)}")
            continue
        if shape.count(PROMPT_SLOT) == 1:
            break
        problems.append(f"shows a prompt {shape.count(PROMPT_SLOT)} times")
    else:
        raise UserError(f"{where} {problems[0]}; {remedy}")

    def wrap(text: str) -> str:
        wrapped = fill(form(text))
        if wrapped not in (shape.replace(PROMPT_SLOT, shown) for shown in (text, text.strip())):
            raise UserError(f"{where} changes a prompt that it shows; {remedy}")
        return wrapped

    return wrap


def second_prompt(pattern: str, first: str, chain: str) -> str:
    """Return the prompt that asks for the final answer, after what the model wrote (``chain``) to the first prompt."""
    parts = {"{first}": first, "{chain}": chain.strip()}
    return re.sub(r"\{(?:first|chain)\}", lambda match: parts[match[0]], pattern)
