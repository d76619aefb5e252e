"""What the sections of the paper share: numbers that say where they come from, figures, captions, rendering.

A section's template prints a number with :func:`number`. In the PDF it becomes a link to its entry in the provenance
appendix (``scripts/paper/paper_provenance.py``), and so does the end of every caption.
"""

import json
import os
import re
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError, nearest
from scripts.core.paper import latex

# Around a number until all text is escaped: private characters, which are in no result, and the id in hexadecimal
# digits, which escaping leaves alone.
_START, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"

CAPTION = re.compile(r"\\caption(?:of\{\w+\})?\{")


def part_of(study, key, numbers, tables, figures, folder):
    """Return what a section's template takes for one template set or source of a study.

    Parameters
    ----------
    study, key : str
    numbers : str or Path
        Its ``paper_numbers.json``.
    tables, figures : sequence of str or Path
        The study's files; those in a folder that is called ``key`` are taken.
    folder : str or Path
        Where the main file of the paper is: figures are named from there.

    Returns
    -------
    dict
        ``key``, ``id``, ``numbers``, ``tables`` (name to LaTeX) and ``figures`` (name to path).
    """
    return {
        "key": key,
        "id": f"{study}.{key}",
        "numbers": json.loads(Path(numbers).read_text(encoding="utf-8")),
        "tables": {p.stem: table(p) for p in map(Path, tables) if p.parent.name == key},
        "figures": {p.stem: os.path.relpath(p, folder) for p in map(Path, figures) if p.parent.name == key},
    }


def across(study, numbers, tables):
    """Return the same as :func:`part_of` for what a study has across its template sets or sources.

    ``numbers`` are several files; of ``tables`` those are taken that lie beside the folders of the sets.
    """
    return {
        "key": "comparison of",
        "id": study,
        "numbers": {k: v for path in numbers for k, v in json.loads(Path(path).read_text(encoding="utf-8")).items()},
        "tables": {p.stem: table(p) for p in map(Path, tables) if p.parent.name == "tables"},
    }


def entry(part, name):
    """Return an entry of a part's numbers: ``value``, ``text``, ``source``, ``cell``.

    Parameters
    ----------
    part : dict
        ``numbers`` (of a ``paper_numbers.json``), ``key`` (how messages name the part) and ``id`` (what the ids of its
        numbers begin with).
    name : str

    Raises
    ------
    UserError
        If there is none of that id.
    """
    if name not in part["numbers"]:
        raise UserError(
            f"paper/: the {part['key']} templates have no number '{name}'{nearest(name, part['numbers'])}; "
            "use an id of paper_numbers.json"
        )
    return part["numbers"][name]


def number(part, name):
    """Return how a number of ``part`` is printed, marked with its id for :func:`linked`."""
    identifier = f"{part['id']}.{name}".encode().hex()
    return f"{_START}{identifier}{_MIDDLE}{entry(part, name)['text']}{_END}"


def value(part, name):
    """Return the value of a number of ``part``, for sentences that choose their words by it."""
    return entry(part, name)["value"]


def linked(text):
    """Return rendered LaTeX with marked numbers as ``\\sourced{id}{text}`` and ``\\origin{label}`` in all captions."""
    text = re.sub(
        f"{_START}([0-9a-f]*){_MIDDLE}(.*?){_END}",
        lambda m: rf"\sourced{{{bytes.fromhex(m[1]).decode()}}}{{{m[2]}}}",
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


def closing_brace(text, start):
    """Return the position of the brace that closes the group which ``start`` is in."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", text[start:], flags=re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return start + match.start()
    raise UserError(f"paper/: a group is not closed after '{text[start : start + 60]}'")


def write(path, template, context):
    """Render a template, link its numbers and captions, and write the result."""
    template = Path(template)
    files.write_text(path, linked(latex.render(template.parent, template.name, context)))


def listed(words):
    """Return words as a list in prose: ``a``, ``a and b``, ``a, b and c``; LaTeX if the words are."""
    words = [word if isinstance(word, latex.Raw) else latex.escape(word) for word in words]
    return latex.Raw(" and ".join(filter(None, [", ".join(words[:-1]), words[-1]])))


def breakable(label):
    """Return a pronoun set's label as LaTeX that may end a line after each of its forms."""
    return latex.Raw(latex.escape(label).replace("/", r"/\allowbreak{}"))


def figure(path, label, caption):
    """Return a figure environment for the file ``path``, with an escaped caption and the label ``fig:<label>``."""
    return latex.Raw(
        "\\begin{figure}[htbp]\n\\centering\n"
        f"\\includegraphics[max width=\\linewidth,max totalheight=0.8\\textheight]{{{path}}}\n"
        f"\\caption{{{latex.escape(caption)}}}\n\\label{{fig:{label}}}\n\\end{{figure}}\n"
    )


def table(path):
    """Return a table file's LaTeX; one that could be too wide for the page is scaled down to it."""
    text = Path(path).read_text(encoding="utf-8").strip()
    if r"\begin{tabularx}" in text or r"\begin{tabular}" not in text:
        return text
    return f"\\begin{{adjustbox}}{{max width=\\linewidth}}\n{text}\n\\end{{adjustbox}}"
