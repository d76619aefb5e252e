"""The numbered figures and tables of a paper's LaTeX source, and the files that they show."""

import os
import re
from pathlib import Path

from scripts.core.errors import UserError

APPENDIX = ("sections/provenance", "sections/currency")
"""What ``scripts/paper/paper_provenance.py`` writes: where everything comes from, and whether it is current."""


def list_floats(main_tex: str | Path) -> list[dict]:
    """Return the numbered figures and tables of a paper in the order of its source.

    LaTeX numbers floats in the order in which it reads them, also when it moves them.

    Returns:
        ``kind``, ``number``, ``label``, ``body`` (the environment's source) and ``path``: of the file, or None where a
        table is made from none (:func:`scripts.core.paper.printed_tables.read_printed_table` names it in a comment).
    """
    text = _source(Path(main_tex))
    found, last_numbers = [], {"figure": 0, "table": 0}
    for match in re.finditer(r"\\begin\{((figure|table)\*?)\}", text):
        kind = match[2]
        body = text[match.end() : text.index(rf"\end{{{match[1]}}}", match.end())]
        last_numbers[kind] += 1
        label = re.search(r"\\label\{([^}]+)\}", body)
        graphic = re.search(r"\\includegraphics(?:\[[^]]*\])?\{([^}]+)\}", body)
        file = re.search(r"^% (\S+)$", body, flags=re.MULTILINE)
        path = os.path.normpath(Path(main_tex).parent / graphic[1]) if graphic else file and file[1]
        found.append(
            {"kind": kind, "number": last_numbers[kind], "label": label and label[1], "body": body, "path": path}
        )
    return found


def _source(path: Path, folder: Path | None = None) -> str:
    """Return a LaTeX file with the files that it inputs in their places, below the folder of the first one."""
    folder = folder or path.parent
    try:
        text = path.with_suffix(".tex").read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read; make the paper first: snakemake paper") from error
    return re.sub(
        r"\\input\{([^}]+)\}",
        # What is written from this very answer is not looked at: it has no figures and no numbered tables.
        lambda match: "" if match[1] in APPENDIX else _source(folder / match[1], folder),
        text,
    )
