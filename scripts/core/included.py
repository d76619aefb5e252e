"""What sections of the paper include: LaTeX files of tables."""

from pathlib import Path


def table(path):
    """Return a table's LaTeX; one that could be too wide for the page is scaled down to it."""
    text = Path(path).read_text(encoding="utf-8").strip()
    if r"\begin{tabularx}" in text or r"\begin{tabular}" not in text:
        return text
    return f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{text}\n\\end{{adjustbox}}"
