"""Typeset the paper with latexmk; a paper with a problem in its log is not kept."""

from scripts.core import files
from scripts.core.job import log, run
from scripts.core.paper.typesetting import typeset


def main(
    *,
    main_tex: str,
    sections: list,
    bibliography: str,
    style: str,
    figures: list,
    manifest: str,
    pdf: str,
    overfull: float,
):
    """Write ``pdf``; everything else must lie where ``main_tex`` includes it from.

    The last line of the log is the digest of ``manifest``, which the paper's last page prints.

    Raises:
        UserError: If TeX is not installed, or the log has errors, undefined references, missing glyphs or boxes that
            stick out by more than ``overfull`` points; names file and line of the first. No ``pdf`` is left then, not
            even an older one.
    """
    typeset(main_tex, pdf, overfull)
    log.info("%s: the digests of all results behind the paper; its own SHA-256 is %s", manifest, files.sha256(manifest))


if __name__ == "__main__":
    run(main)
