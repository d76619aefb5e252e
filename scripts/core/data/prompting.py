"""Prompts of models: what a model's registry entry says is put around them, and prompts in two steps.

A file of prompts (Parquet) has one row for each prompt, the columns ``text_id`` (unique), ``method``, ``text`` (what
the model is asked, before anything is put around it) and ``follow_up``: missing where the model's continuation of
``text`` is the answer, otherwise the pattern of a second prompt, in which ``{first}`` stands for ``text`` and
``{chain}`` for the continuation. What else is in it belongs to the study.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError, describe_error

if TYPE_CHECKING:
    import transformers

WRAPPINGS = ("none", "llama2", "chat_template")
"""Values of ``prompt_wrapping`` in the registry."""

PROMPT_SLOT = "{prompt}"
"""Stands for the prompt where a file says what was put around it."""

SWITCHES = ("enable_thinking", "thinking")
"""Variables by which chat templates are told whether the model is to think first."""


@dataclass(frozen=True)
class Thinking:
    """Whether a model thinks before it answers.

    Attributes:
        tokens: The most tokens of a thought; 0: it does not think.
        tags: What begins and what ends a thought.
    """

    tokens: int
    tags: tuple = ("<think>", "</think>")

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Thinking | None":
        """Return what a registry entry says of it; None if it says nothing."""
        stated = entry.get("thinking")
        return None if stated is None else cls(stated["tokens"], tuple(stated.get("tags", cls.tags)))

    @property
    def empty(self) -> str:
        """A thought of nothing, as chat templates write it for a model that is not to think."""
        return f"{self.tags[0]}\n\n{self.tags[1]}\n\n"

    def begun(self, prompt: str) -> bool:
        """Tell whether a prompt ends within a thought that it has begun for the model."""
        return prompt.rstrip().endswith(self.tags[0])

    def parted(self, text: str, begun: bool = False) -> tuple[str | None, str]:
        """Return the thought in what a model wrote, None if there is none, and what stands behind it.

        Args:
            begun: Whether the prompt had begun the thought.

        Examples:
            >>> Thinking(0).parted("<think>She is a baker.</think>\\nher")
            ('She is a baker.', '\\nher')
            >>> Thinking(0).parted("<think>She is"), Thinking(0).parted("her")
            (('She is', ''), (None, 'her'))
        """
        start, end = self.tags
        if text.lstrip().startswith(start):
            text = text.lstrip().removeprefix(start)
        elif not begun and end not in text:
            return None, text
        thought, _, answer = text.partition(end)
        return thought.strip(), answer


def wrap(
    text: str, wrapping: str, tokenizer: "transformers.PreTrainedTokenizerBase", thinking: Thinking | None = None
) -> str:
    """Return what a model reads for a prompt.

    Args:
        wrapping: ``none``: the text as it is. ``llama2``: between ``[INST]`` and ``[/INST]`` (RUFF, Table 4).
            ``chat_template``: as the user's turn in the tokenizer's own template, with the system prompt that the
            template brings, if any, up to where the assistant speaks.
        thinking: The chat template is told whether the model is to think; where it does not ask and the model is not
            to, an empty thought follows it.

    Raises:
        UserError: If the tokenizer has no chat template, or one that asks whether the model is to think or begins a
            thought, and ``thinking`` does not say so.
    """
    if wrapping == "llama2":
        return f"[INST] {text} [/INST]"
    if wrapping == "chat_template":
        if not tokenizer.chat_template:
            raise UserError(
                "config/models.yaml: prompt_wrapping is chat_template, but the model's tokenizer has no template; "
                "set it to none"
            )
        return _chat(text, tokenizer, thinking)
    if wrapping != "none":
        raise ValueError(f"prompt_wrapping {wrapping!r} is unknown; expected one of {', '.join(WRAPPINGS)}")
    return text


def _chat(text: str, tokenizer: Any, thinking: Thinking | None) -> str:
    turns = [{"role": "user", "content": text}]

    def filled(thinks: bool) -> str:
        try:
            return tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, **dict.fromkeys(SWITCHES, thinks)
            )
        except Exception as error:  # a template is a program of the checkpoint's authors
            raise UserError(
                f"the model's chat template cannot be filled ({describe_error(error)}); set prompt_wrapping to none in "
                "config/models.yaml, or correct the template"
            ) from error

    on, off = filled(True), filled(False)
    if thinking is None:
        if on != off or Thinking(0).begun(on):
            raise UserError(
                "config/models.yaml: the model's chat template lets it think before it answers; set thinking: "
                "{tokens: 0} for answers without a thought, or the most tokens of one"
            )
        return off
    if thinking.tokens:
        return on
    if thinking.begun(off):
        return off.rstrip().removesuffix(thinking.tags[0]) + thinking.empty
    return off if on != off else off + thinking.empty


def second_prompt(pattern: str, first: str, chain: str) -> str:
    """Return the prompt that asks for the final answer.

    Args:
        pattern: ``follow_up`` of the prompt.
        first: The first prompt.
        chain: What the model wrote after it; blanks around it are left out.
    """
    parts = {"{first}": first, "{chain}": chain.strip()}
    return re.sub(r"\{(?:first|chain)\}", lambda match: parts[match[0]], pattern)
