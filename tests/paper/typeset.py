"""A paper of one body, typeset as a run typesets its own."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from scripts.core import files
from scripts.paper import paper_pdf

ROOT = Path(__file__).parents[2]
needs_tex = pytest.mark.skipif(shutil.which("latexmk") is None, reason="latexmk is not installed: nothing is typeset")
STYLE = (ROOT / "paper/proceedings.sty").read_text(encoding="utf-8")


def build(folder: Path, body: str, head: str = "", options: str = "") -> None:
    """Typeset a document in a folder; ``options`` are those of its class, ``head`` is its preamble."""
    document = rf"\documentclass[{options}]{{article}}{head}\begin{{document}}{body}\end{{document}}"
    (folder / "main.tex").write_text(document, encoding="utf-8")
    # Next to the folder, which holds what is typeset alone.
    known, located = (str(folder.parent / f"{folder.name}.{kind}") for kind in ("csv", "json"))
    files.write_csv(known, pd.DataFrame(columns=paper_pdf.LISTED))
    paper_pdf.main(
        main_tex=str(folder / "main.tex"), sections=[], bibliography="", style="", figures=[],
        manifest=str(folder / "main.tex"), provenance_csv=known, pdf=str(folder / "main.pdf"), located_json=located,
        overfull=10,
    )  # fmt: skip


def build_column(folder: Path, body: str) -> None:
    """Typeset a body in two columns in the paper's style; what it includes must lie in the folder."""
    (folder / "proceedings.sty").write_text(STYLE, encoding="utf-8")
    (folder / "body.tex").write_text(body, encoding="utf-8")
    build(folder, r"\input{body}", r"\usepackage{proceedings}", "10pt,twocolumn")
    assert (folder / "main.pdf").is_file()
