"""Texts for Snakemake's HTML report, in reStructuredText: captions, and the page that the report opens with.

Snakemake renders these texts with jinja2 when it makes the report, so they are marked as raw.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

STYLE = (
    ".h-screen.items-center { align-items: flex-start; justify-content: flex-start; } "
    ".grow.gap-3.items-start { flex-direction: column; } "
    ".prose.max-w-lg { max-width: 64rem; padding-left: 1rem; }"
)
"""Snakemake sets its first page in the middle, where the top of what is higher than the window cannot be reached, and
in a narrow column beside the graph of rules. With this it begins at the top, above the graph."""
WIDTH = 4000
"""Characters in a line of a picture's data."""
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


def _raw(text: str) -> str:
    """Return reStructuredText that jinja2 leaves as it is; a block of it cannot be closed by what it holds."""
    return "{% raw %}" + text.replace("{%", r"{\%") + "{% endraw %}"


def render_caption(title: str, text: str) -> str:
    """Return a caption (text) behind its title, marked as raw."""
    return _raw(f"**{escape_rst(title)}.** {escape_rst(text)}")


def render_page(title: str, studies: list[tuple[str, str, list[str], list[tuple[str, str]]]]) -> str:
    """Return the page that the report opens with: of each study what it found and its first picture, then the others.

    Args:
        studies: Label, what it found, sentences that count its findings, and titles and PNG files of its pictures.
    """
    heading = escape_rst(title)
    # Wide letters take two columns, and a rule below a heading must not be shorter than it.
    lines = ["", heading, "=" * 2 * len(heading), "", ".. raw:: html", "", f"   <style>{STYLE}</style>", ""]
    lines += ["Every instance is in *Explorer: every instance*, under *All studies*.", ""]
    for label, text, _, figures in studies:
        lines += [f"**{escape_rst(label)}.** {escape_rst(text)}", "", *_pictures(figures[:1])]
    for label, _, counts, figures in studies:
        lines += [f"**{escape_rst(label)}, findings.** {escape_rst(' '.join(counts))}", ""] if counts else []
        lines += _pictures(figures[1:])
    return _raw("\n".join([*lines, ""])) + "\n"


def _pictures(figures: Iterable[tuple[str, str]]) -> list[str]:
    """Return pictures that lie in the page itself: the report is one file."""
    lines = []
    for name, path in figures:
        # Docutils refuses long lines and joins these again.
        data = f"data:image/png;base64,{base64.b64encode(Path(path).read_bytes()).decode()}"
        lines += [f"**{escape_rst(name)}**", "", ".. image::"]
        lines += [f"   {data[start : start + WIDTH]}" for start in range(0, len(data), WIDTH)]
        lines += ["   :width: 480px", ""]
    return lines
