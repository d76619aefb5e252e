"""Typeset the paper with latexmk, and list what each page shows; a paper with a problem in its log is not kept."""

import pandas as pd
import pypdf

from scripts.core import files
from scripts.core.paper.sections import link_target
from scripts.core.workflow.job import log, run
from scripts.paper.typesetting import typeset

LISTED = ["kind", "result", "shown", "file", "cell", "sha256", "rule", "record"]
"""What ``located_json`` takes from the provenance of a result."""


def main(
    *,
    main_tex: str,
    sections: list,
    bibliography: str,
    style: str,
    figures: list,
    manifest: str,
    provenance_csv: str,
    pdf: str,
    located_json: str,
    overfull: float,
) -> None:
    """Write ``pdf``; everything else must lie where ``main_tex`` includes it from.

    The last line of the log is the digest of ``manifest``, which the paper's last page prints. ``located_json`` lists
    the numbers, figures and tables of each page with the file, cell and record that ``provenance_csv`` has for them.
    """
    typeset(main_tex, pdf, overfull)
    known = pd.read_csv(provenance_csv, keep_default_na=False, dtype=str)
    with pypdf.PdfReader(pdf) as reader:
        results = located(reader, known)
        pages = len(reader.pages)
    files.write_json(located_json, {"paper": pdf, "sha256": files.sha256(pdf), "pages": pages, "results": results})
    log.info("%s: the digests of all results behind the paper; its own SHA-256 is %s", manifest, files.sha256(manifest))


def located(reader: pypdf.PdfReader, known: pd.DataFrame) -> list[dict]:
    """Return the results of each page, whose numbers and captions are links that are named after them.

    ``known`` is the paper's provenance. A number that a page repeats is listed once for it.
    """
    rows = {link_target(row["result"]): row for row in known[LISTED].to_dict("records") if row["result"]}
    found = {}
    for number, page in enumerate(reader.pages, start=1):
        for annotation in page.get("/Annots") or ():
            link = annotation.get_object()
            name = link.get("/Dest", link.get("/A", {}).get("/D"))
            name = name.decode() if isinstance(name, bytes) else str(name)
            if name in rows:
                found[number, name] = {"page": number, **rows[name]}
    return list(found.values())


if __name__ == "__main__":
    run(main)
