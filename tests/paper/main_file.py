"""The paper's main file of two studies that need no model."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.paper import paper_source
from tests.paper.typeset import ROOT

SETTINGS = {"authors": [], "title": None, "date": "2026-11-24", "code": "https://example.org/code"}
STUDIES = [
    {"key": "one", "label": "One", "appendix": False, "chances": {}},
    {"key": "two", "label": "Two", "appendix": True, "chances": {}},
]


def write(folder: Path, **changes) -> str:
    """Render the main file into a folder and return it; ``changes`` are of the script's arguments."""
    summary = folder / "summary.csv"
    files.write_csv(summary, pd.DataFrame(columns=estimate_rows.COLUMNS))
    given = {
        "summary_csv": str(summary),
        "main_template": str(ROOT / "paper/main.tex.j2"), "bibliography": str(ROOT / "paper/references.bib"),
        "style": str(ROOT / "paper/proceedings.sty"), "citation_file": str(ROOT / "CITATION.cff"),
        "main_tex": str(folder / "main.tex"), "bibliography_copy": str(folder / "references.bib"),
        "style_copy": str(folder / "proceedings.sty"), "made": [], "speeds": [], "plain_title": "A title",
        "settings": SETTINGS, "models": {}, "coreference_systems": {}, "pronoun_sets": [], "engine": None,
        "studies": STUDIES,
    }  # fmt: skip
    paper_source.main(**given | changes)
    return (folder / "main.tex").read_text(encoding="utf-8")
