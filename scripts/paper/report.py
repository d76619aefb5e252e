"""Plain text from LaTeX, and captions for Snakemake's HTML report, in reStructuredText."""

import re
from collections.abc import Mapping

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

_COMMANDS = get_default_latex_context_db()
# Those of scripts/core/paper/latex.py that the library drops or shows as another sign.
_COMMANDS.add_context_category(
    "signs",
    prepend=True,
    macros=[
        MacroTextSpec(name, sign) for name, sign in (("textless", "<"), ("textgreater", ">"), ("textasciicircum", "^"))
    ],
)


def plain_text(text: str, numbers: Mapping[str, str] | None = None) -> str:
    """Return LaTeX as one line of text, without links into the appendix.

    A citation becomes the author and the year that its key is made of, a reference the number of its label in
    ``numbers``, where that is known.
    """
    text = re.sub(r"\\(origin|sourced)\{[^}]*\}", "", text)
    text = re.sub(r"\\citet\{([^}]*)\}", lambda m: _cited(m[1], "{} ({})"), text)
    text = re.sub(r"\\citep\{([^}]*)\}", lambda m: f"({_cited(m[1], '{} {}')})", text)
    text = re.sub(r"\\ref\{([^}]*)\}", lambda m: (numbers or {}).get(m[1], "of the paper"), text)
    return " ".join(LatexNodes2Text(math_mode="text", latex_context=_COMMANDS).latex_to_text(text).split())


def _cited(keys: str, form: str) -> str:
    return "; ".join(form.format(name.capitalize(), year) for name, year in re.findall(r"([a-z]+)(\d{4})", keys))


def escape_rst(text: str) -> str:
    """Return text as one line of reStructuredText that shows it as it is: no sign begins markup or a directive."""
    return re.sub(r"([!-/:-@[-`{-~])", r"\\\1", " ".join(str(text).split()))


def render_caption(title: str, text: str) -> str:
    """Return a caption (text) behind its title.

    Snakemake renders it with jinja2 when it makes the report, so it is marked as raw, which nothing in it can end.
    """
    shown = f"**{escape_rst(title)}.** {escape_rst(text)}"
    return "{% raw %}" + shown.replace("{%", r"{\%") + "{% endraw %}"
