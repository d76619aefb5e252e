"""What the sections of the paper share: numbers that say where they come from, figures, captions, rendering.

A section's template prints a number with :func:`print_number`. In the PDF it becomes a link to its entry in the
provenance appendix (``scripts/paper/paper_provenance.py``), and so does the end of every caption.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError, did_you_mean
from scripts.core.paper import formats, latex, printed_tables
from scripts.core.paper.published import find_demonstration_models
from scripts.core.paper.published_table import MOST

# Around a number until all text is escaped: private characters, which are in no result, and the id in hexadecimal
# digits, which escaping leaves alone.
_START, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"

CAPTION = re.compile(r"\\caption\{")

COLUMN = 3.5
"""A figure wider than this, in inches, takes both columns; ``paper/proceedings.sty`` has the widths."""


class Drawing(str):
    """The path of a figure as the paper names it; ``wide`` tells whether it takes both columns."""

    wide = False


def make_context(
    study: str,
    parts: list[str],
    figures: list[str | Path],
    tables: list[str | Path],
    comparison_numbers: list[str | Path],
    section_tex: str | Path,
    *,
    models: dict | None = None,
) -> dict:
    """Return what the template of every section takes; a study adds what is its own.

    Args:
        parts: The template sets or sources of the run.
        figures, tables: The study's PDF figures and LaTeX tables; those in a folder that is called like a part belong
            to it.
        comparison_numbers: JSON files of numbers across the parts.
        section_tex: Figures are named from the folder above its own, where the paper's main file is.
        models: The run's models: name to facts.

    Returns:
        ``sets``: part to ``id``, ``numbers`` (none yet: :mod:`scripts.core.paper.lookup`), ``tables`` (name to LaTeX)
        and ``figures`` (name to path); ``any_set``: one of them, for numbers that all have; ``beside``: ``id``,
        ``numbers`` and ``tables`` across the parts; ``demonstration``: labels of the demonstration models;
        ``cut_off``: whether more published numbers differ than are typeset; ``fewest_drawn``: instances from which on a
        figure draws a share; and this module's functions for templates.
    """
    folder = Path(section_tex).parents[1]
    drawn = {Path(path): read_drawing(path, folder) for path in figures}
    of_parts = {}
    for key in parts:
        of_parts[key] = {
            "id": f"{study}.{key}",
            "numbers": {},
            "tables": _tables_in(tables, key),
            "figures": {path.stem: relative for path, relative in drawn.items() if path.parent.name == key},
        }
    beside = {"numbers": _read_numbers(comparison_numbers), "tables": _tables_in(tables, "tables")}
    return {
        "sets": of_parts,
        "any_set": next(iter(of_parts.values())),
        "beside": {"id": study, **beside},
        "demonstration": list(find_demonstration_models(models or {}).values()),
        "cut_off": beside["numbers"].get("published.differing", {"value": 0})["value"] > MOST,
        "fewest_drawn": formats.FEWEST,
        "number": print_number,
        "value": find_value,
        "listed": list_words,
        "figure": float_figure,
        "table": float_table,
        "evidence": describe_evidence,
        "count_rows": printed_tables.count_rows,
    }


def read_drawing(path: str | Path, folder: str | Path) -> Drawing:
    """Return the :class:`Drawing` of a PDF file for a paper whose main file is in ``folder``."""
    made = Drawing(os.path.relpath(path, folder))
    made.wide = read_width(path) > COLUMN
    return made


def read_width(pdf: str | Path) -> float:
    """Return how wide the first page of a PDF file is, in inches, which matplotlib writes in plain text."""
    box = re.search(rb"/MediaBox\s*\[\s*0\s+0\s+([0-9.]+)", Path(pdf).read_bytes())
    if not box:
        raise UserError(f"{pdf}: has no page size that can be read; draw the figure with matplotlib")
    return float(box[1]) / 72


def _read_numbers(paths: Iterable[str | Path]) -> dict[str, dict[str, Any]]:
    return {name: made for path in paths for name, made in json.loads(Path(path).read_text(encoding="utf-8")).items()}


def _tables_in(paths: Iterable[str | Path], folder: str) -> dict[str, latex.Raw]:
    return {
        path.stem: printed_tables.read_printed_table(path) for path in map(Path, paths) if path.parent.name == folder
    }


def find_entry(part: dict, name: str) -> dict[str, Any]:
    """Return an entry of a part's ``numbers`` (:func:`scripts.core.paper.numbers.make_entry`)."""
    if name not in part["numbers"]:
        raise UserError(
            f"paper/: {part['id']} has no number '{name}'{did_you_mean(name, part['numbers'])}; "
            "use an id of its JSON files"
        )
    return part["numbers"][name]


def print_number(part: dict, name: str) -> str:
    """Return how a number of ``part`` is printed, marked with its id for :func:`link_numbers`."""
    identifier = f"{part['id']}.{name}".encode().hex()
    return f"{_START}{identifier}{_MIDDLE}{find_entry(part, name)['text']}{_END}"


def link_target(identifier: str) -> str:
    """Return the id of a number as the name of a link: ids hold labels, in which anything may stand.

    Examples:
        >>> link_target("ruff.replica.best.BERT 50%")
        'ruff.replica.best.BERT 50=25.'
    """
    return re.sub(r"[^A-Za-z0-9 ._:/()+,;'*!?-]", lambda match: f"={ord(match[0]):x}.", identifier)


def find_value(part: dict, name: str) -> Any:
    """Return the value of a number of ``part``, for sentences that choose their words by it."""
    return find_entry(part, name)["value"]


def link_numbers(text: str) -> str:
    """Return rendered LaTeX with marked numbers as ``\\sourced{id}{text}`` and ``\\origin{label}`` in all captions."""
    text = re.sub(
        f"{_START}([0-9a-f]*){_MIDDLE}(.*?){_END}",
        lambda m: rf"\sourced{{{link_target(bytes.fromhex(m[1]).decode())}}}{{{m[2]}}}",
        text,
        flags=re.DOTALL,
    )
    pieces, done = [], 0
    for match in CAPTION.finditer(text):
        end = closing_brace(text, match.end())
        label = re.match(r"\}\s*\\label\{([^}]+)\}", text[end:])
        if not label:
            raise UserError(f"paper/: the caption '{text[match.end() : match.end() + 60]}...' has no label behind it")
        pieces += [text[done:end], rf" \origin{{{label[1]}}}"]
        done = end
    return "".join([*pieces, text[done:]])


def unmark_numbers(text: str) -> str:
    """Return LaTeX with marked numbers as the numbers alone."""
    return re.sub(f"{_START}[0-9a-f]*{_MIDDLE}(.*?){_END}", r"\1", text, flags=re.DOTALL)


def closing_brace(text: str, start: int) -> int:
    """Return the position of the brace that closes the group which ``start`` is in."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", text[start:], flags=re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return start + match.start()
    raise UserError(f"paper/: a group is not closed after '{text[start : start + 60]}'")


def write_section(path: str | Path, template: str | Path, context: Mapping[str, Any]) -> None:
    """Render a template, link its numbers and captions, and write the result; wide floats of an appendix come first."""
    template = Path(template)
    text = link_numbers(latex.render(template.parent, template.name, context))
    files.write_text(path, put_wide_floats_first(text) if "_appendix" in template.name else text)


def write_all(paths: Iterable[str | Path], templates: Iterable[str | Path], context: Mapping[str, Any]) -> None:
    """Render the section and the appendix of a study (:func:`write_section`)."""
    for path, template in zip(paths, templates, strict=True):
        write_section(path, template, context)


def put_wide_floats_first(text: str) -> str:
    """Return a section of LaTeX whose floats over both columns follow its first line.

    LaTeX prints them on the page after the one with their source. Those at the end of the paper would be alone there.
    """
    wide = re.compile(r"\\begin\{(figure|table)\*\}.*?\\end\{\1\*\}\n", flags=re.DOTALL)
    heading, end, rest = wide.sub("", text).lstrip().partition("\n")
    return "".join([heading, end, *(match[0] for match in wide.finditer(text)), rest])


def list_words(words: Iterable[str]) -> latex.Raw:
    """Return words as a list in prose: nothing, ``a``, ``a and b``, ``a, b and c``; LaTeX if the words are."""
    words = [word if isinstance(word, latex.Raw) else latex.escape(word) for word in words]
    return latex.Raw(" and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])))


def breakable(label: str) -> latex.Raw:
    """Return a pronoun set's label as LaTeX that may end a line after each of its forms."""
    return latex.Raw(latex.escape(label).replace("/", r"/\allowbreak{}"))


def _float(kind: str, body: str, label: str, caption: str, wide: bool, caller: Callable[[], str] | None) -> latex.Raw:
    text = caller().strip() if caller else latex.escape(caption)
    environment, place = (f"{kind}*", "tp") if wide else (kind, "tbp")
    return latex.Raw(
        f"\\begin{{{environment}}}[{place}]\n\\centering\n{body}\n"
        f"\\caption{{{text}}}\n\\label{{{'fig' if kind == 'figure' else 'tab'}:{label}}}\n\\end{{{environment}}}\n"
    )


def float_figure(path: Drawing, label: str, caption: str = "", caller: Callable[[], str] | None = None) -> latex.Raw:
    """Return a float with a figure at its own size, in a column or, if it is wider, over both.

    Args:
        path: The figure's file, as :func:`make_context` has it.
        label: It can be referred to as ``fig:<label>``.
        caption: Plain text, or LaTeX as the body of a ``call`` block around the function.
    """
    body = f"\\includegraphics[max width=\\linewidth,max totalheight=0.85\\textheight]{{{path}}}"
    return _float("figure", body, label, caption, path.wide, caller)


def float_table(
    cells: str,
    label: str,
    caption: str = "",
    wide: bool = False,
    size: str = "footnotesize",
    caller: Callable[[], str] | None = None,
) -> latex.Raw:
    """Return a float with a table in small type, as :func:`float_figure`; its label is ``tab:<label>``.

    ``cells`` is the LaTeX of a table file, ``wide`` tells whether it takes both columns, and ``size`` is the name of
    LaTeX's command for the size of its type. A table that would get too small in a column takes both.
    """
    wide = wide or not printed_tables.fits_column(cells, size)
    return _float("table", f"\\{size}\n{cells}", label, caption, wide, caller)


def describe_findings(beside: dict, part: str, called: str = "this run") -> latex.Raw:
    """Return a sentence that counts the findings that hold, fail and are undecided.

    Args:
        beside: The numbers across the parts, of which ``scripts/core/paper/finding_verdicts.py`` made some.
        part: The part of the run whose verdicts are counted.
        called: What the sentence calls it; LaTeX if it is.
    """
    held, failed, undecided = (f"findings.{part}.{name}" for name in ("holds", "fails", "undecided"))
    place = called if isinstance(called, latex.Raw) else latex.escape(called)
    models = f"findings.{part}.models"
    if models in beside["numbers"]:
        # A verdict on few of the study's models is no verdict on all of them.
        present = print_number(beside, models) if find_value(beside, models) else "none"
        place += f", with {present} of the study's models in the run"
    if not find_value(beside, held) and not find_value(beside, failed):
        return latex.Raw(f"All {print_number(beside, undecided)} findings of the study are undecided on {place}.")
    return latex.Raw(
        f"Of the study's {print_number(beside, 'findings.total')} findings, "
        f"{print_number(beside, held)} {_verb(beside, held, 'holds', 'hold')}, "
        f"{print_number(beside, failed)} {_verb(beside, failed, 'fails', 'fail')} "
        f"and {print_number(beside, undecided)} {_verb(beside, undecided, 'is', 'are')} undecided on {place}."
    )


def published_results(beside: dict, part: str) -> latex.Raw:
    """Return a sentence that counts a study's published results by how those of a part of the run compare."""
    counted = f"published.{part}.results."
    if f"{counted}total" not in beside["numbers"]:
        return latex.Raw("")
    words = {
        "as_printed": ("comes out as printed", "come out as printed"),
        "within_interval": ("falls within our interval", "fall within our interval"),
        "within_tolerance": ("falls within the tolerance", "fall within the tolerance"),
        "differs": ("differs", "differ"),
        "not_covered": ("is not covered", "are not covered"),
    }
    told = [
        f"{print_number(beside, counted + name)} {_verb(beside, counted + name, *forms)}"
        for name, forms in words.items()
        if find_value(beside, counted + name)
    ]
    total = print_number(beside, f"{counted}total")
    if find_value(beside, f"{counted}not_covered") == find_value(beside, f"{counted}total"):
        return latex.Raw(f"No result of this run can be compared with its {total} published results.")
    return latex.Raw(f"Of its {total} published results, {list_words(map(latex.Raw, told))}.")


def describe_evidence(beside: dict, part: str, called: str = "this run") -> latex.Raw:
    """Return what a part of the run decides of a study's findings and published results; nothing if nothing."""
    numbers, printed = beside["numbers"], f"published.{part}.results."
    decided = any(numbers.get(f"findings.{part}.{name}", {"value": 0})["value"] for name in ("holds", "fails"))
    covered = f"{printed}total" in numbers and find_value(beside, f"{printed}total") > find_value(
        beside, f"{printed}not_covered"
    )
    if not decided and not covered:
        return latex.Raw("")
    return latex.Raw(f"{describe_findings(beside, part, called)} {published_results(beside, part)}")


def _verb(part: dict, name: str, singular: str, plural: str) -> str:
    return singular if find_value(part, name) == 1 else plural
