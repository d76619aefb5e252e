"""The comparison as an HTML page that needs no other file, and as LaTeX of two pages."""

import base64
from pathlib import Path
from typing import Any

import jinja2

from scripts.compare.causes import KINDS
from scripts.core.paper import latex
from scripts.core.paper.formats import MISSING_MARK, interval, number, p_text

MOST_SHOWN = 40
"""Flipped predictions of an estimate that the page shows; the JSON file lists more."""
ROWS, EXAMPLES, LINES = 22, 5, 14
"""On the two pages of the PDF: estimates, examples of flipped predictions, findings or figures or causes."""
LONGEST = 150
"""Characters of a text in the PDF."""
PICTURE = b"\x89PNG"


def context(result: dict, studies: dict) -> dict:
    """Return what both templates show of a comparison.

    Args:
        result: From :func:`scripts.compare.comparison.compare`.
        studies: Names of studies to their labels.
    """
    rows = [_row(entry, studies) for entry in result["estimates"]]
    found = [cause | {"reach": _reach(cause["results"], studies)} for cause in result["causes"]]
    return {
        "result": result,
        "sides": {side: result[side] for side in "ab"},
        "apart": [row for row in rows if row["differs"]],
        "same": [row for row in rows if not row["differs"]],
        "unpaired": sum(row["unpaired"] for row in rows),
        "causes": {
            KINDS[kind]: of_kind for kind in KINDS if (of_kind := [cause for cause in found if cause["kind"] == kind])
        },
        "figures": [entry | {"told": _apart(entry)} for entry in result["figures"]],
        "labels": studies,
        "shown": MOST_SHOWN,
    }


def _row(entry: dict[str, Any], studies: dict[str, str]):
    factors = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in entry["factors"].items())
    scoring = ", ".join(filter(None, [entry["scoring"], entry["debiasing"]]))
    labels = list(dict.fromkeys([entry["label"], entry["label_b"]]))
    decimals = 3
    shown = interval(entry["low"], entry["high"], decimals, signed=True)
    p = entry["p_holm"]
    return entry | {
        "where": ", ".join(filter(None, [studies.get(entry["study"], entry["study"]), entry["part"]])),
        "what": ", ".join(filter(None, [" / ".join(labels), scoring])),
        "which": ", ".join(filter(None, [entry["metric"], factors])),
        "a": number(entry["value_a"], decimals),
        "b": number(entry["value_b"], decimals),
        "moved": number(entry["difference"], decimals, signed=True) + ("" if shown == MISSING_MARK else f" [{shown}]"),
        "p_shown": MISSING_MARK if p is None else p_text(p, smallest=0.001, decimals=3).removeprefix("= "),
        "least": number(entry["detectable"], decimals),
        "unpaired": entry["shared"] is not None and not entry["paired"],
        "significant": p is not None and p < 0.05,
    }


def _apart(figure: dict[str, Any]):
    """Return in what a figure differs, in words."""
    if figure["only"]:
        return f"only in {figure['only'].upper()}"
    counts = {"values": figure["cells"], "rows only in A": figure["rows_a"], "rows only in B": figure["rows_b"]}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)


def _reach(results: dict[str, int], studies: dict[str, str]):
    """Return what lies downstream of a cause, in words."""
    return "; ".join(f"{count} figures and tables of {studies.get(name, name)}" for name, count in results.items())


def html(shown: dict, folders: tuple[Path, Path], template: Path) -> str:
    """Return the page; ``shown`` is from :func:`context`. Pictures of figures that differ are in it."""
    pictures = {}
    for entry in shown["result"]["figures"]:
        if entry["shown"]:
            for side, folder in zip("ab", folders, strict=True):
                path = Path(folder) / f"{entry['figure']}.png"
                content = path.read_bytes() if path.is_file() else b""
                if content.startswith(PICTURE):
                    pictures[f"{side}/{entry['figure']}"] = base64.b64encode(content).decode()
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(template.read_text(encoding="utf-8")).render(shown | {"pictures": pictures})


def tex(shown: dict, template: Path) -> str:
    """Return the LaTeX source, cut to two pages; ``shown`` is from :func:`context`."""
    result = shown["result"]
    first = sorted(
        shown["apart"], key=lambda row: (not row["significant"], 2 if row["p_holm"] is None else row["p_holm"])
    )
    flips = [row | {"flip": flip} for row in first for flip in row["flips"][:EXAMPLES] if flip.get("text")]
    return latex.render(
        template.parent,
        template.name,
        shown
        | {
            "rows": (first or shown["same"])[:ROWS],
            "examples": [row | {"text": shorten(row["flip"]["text"])} for row in flips[:EXAMPLES]],
            "causes": [cause for of_kind in shown["causes"].values() for cause in of_kind][:LINES],
            "findings": [entry | {"finding": shorten(entry["finding"])} for entry in result["findings"][:LINES]],
            "figures": shown["figures"][:LINES],
        },
    )


def shorten(text: str) -> str:
    """Return the beginning of a text that is too long for the PDF."""
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."
