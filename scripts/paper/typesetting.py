"""Typesetting with latexmk; a document with a problem in its log is not kept."""

import logging
import os
import shutil
import subprocess
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex

log = logging.getLogger("pronouns")

VISIBLE = 1.0
"""A box that sticks out by more points than this is told in the log, also where it refuses nothing."""
PACKAGES = "latexmk texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended lmodern"


def typeset(main_tex: str | Path, pdf: str | Path, overfull: float) -> None:
    """Write ``pdf`` from ``main_tex``; everything else must lie where that includes it from.

    Raises:
        UserError: If TeX is not installed, or the log has errors, undefined references, missing glyphs or boxes that
            stick out by more than ``overfull`` points; names file and line of the first. No ``pdf`` is left then, not
            even an older one.
    """
    Path(pdf).unlink(missing_ok=True)
    for program in ("latexmk", "pdflatex"):
        if shutil.which(program) is None:
            raise UserError(f"{program} is not installed; install TeX: sudo apt-get install {PACKAGES}")
    source = Path(main_tex)
    # Long lines keep what the log says of one box or reference in one line; the epoch keeps dates out of the PDF.
    environment = {**os.environ, "max_print_line": "2000", "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    # The folder's name enters the identifier of the PDF, so it is always the same.
    folder = source.parent / ".latex"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        built = subprocess.run(
            [
                "latexmk",
                # A configuration of latexmk is a program, and so is what TeX may run from within the text.
                "-norc",
                "-no-shell-escape",
                "-pdf",
                "-interaction=nonstopmode",
                "-halt-on-error",
                "-file-line-error",
                f"-usepretex={latex.MARKS}",
                f"-outdir={folder.name}",
                source.name,
            ],
            cwd=source.parent,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        log.info("%s", built.stdout[-4000:])
        written = folder / f"{source.stem}.log"
        text = written.read_text(encoding="utf-8", errors="replace") if written.exists() else ""
        problems = latex.check_log(text, overfull, source.name)
        if built.returncode and not problems:
            problems = [f"{source.name}: latexmk failed; see the end of the job's log"]
        for problem in problems:
            log.info("%s", problem)
        if problems:
            more = f" (and {len(problems) - 1} more, all in the log)" if len(problems) > 1 else ""
            raise UserError(
                f"{source.parent / problems[0]}{more}; correct the template of that file in paper/ and run again"
            )
        for box in latex.check_log(text, VISIBLE, source.name):
            log.info("sticks out: %s", box)
        log.info("%s: %s pages", pdf, latex.count_pages(text))
        with files.write_atomically(pdf) as temporary:
            shutil.copyfile(folder / f"{source.stem}.pdf", temporary)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
