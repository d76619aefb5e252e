"""What comes of books: rows in C-GAP's columns, labels for them, a balanced set, and its data card."""

import csv
import hashlib
import io
import random

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, counted
from scripts.counter_gap.lib.instances import COLUMNS, ROLES

LABELS = ("ID", "A-coref", "B-coref")
_REMAKE = "import the answers again"


def rows_of(four, identifier, book):
    """Return the rows of a quadruple, by column and without labels.

    Parameters
    ----------
    four : dict of str to dict
        Instances by role, in the order of ROLES (:func:`scripts.counter_gap.lib.books.counterfactuals.quadruple`).
    identifier, book : str
    """
    return [
        {
            "ID": identifier if role == ROLES[0] else f"{identifier}-{role}",
            "Text": entry["text"],
            **{
                column: str(entry[key])
                for name, key in (("Pronoun", "pronoun"), ("A", "a"), ("B", "b"))
                for column, key in ((name, key), (f"{name}-offset", f"{key}_offset"))
            },
            "A-coref": "",
            "B-coref": "",
            "Book": book,
        }
        for role, entry in four.items()
    ]


def identifier(book, original):
    """Return the name of a quadruple: a digest of book, text and place, which no other book of a run changes."""
    where = f"{book}\0{original['text']}\0{original['pronoun_offset']}"
    return f"b{hashlib.sha256(where.encode()).hexdigest()[:12]}"


def write_rows(path, rows):
    """Write rows in C-GAP's columns as its authors do (tabs, double quotes where they are needed), atomically."""
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files.write_text(path, written.getvalue())


def read_labels(path):
    """Read the labels of accepted instances.

    Parameters
    ----------
    path : str or Path
        CSV with the columns ID, A-coref and B-coref; labels are TRUE or FALSE.

    Returns
    -------
    dict of str to (bool, bool)

    Raises
    ------
    UserError
        Naming the row with a label that is none, both names TRUE, or an ID that was there before.
    """
    text = files.read_text(path, _REMAKE)
    rows = list(csv.reader(text.splitlines()))
    if not rows or tuple(rows[0]) != LABELS:
        raise UserError(f"{path}, row 1: the header must be {', '.join(LABELS)}; {_REMAKE}")
    labels, words = {}, {"TRUE": True, "FALSE": False}
    for row, cells in enumerate(rows[1:], 2):
        if len(cells) != 3 or not {*cells[1:]} <= words.keys():
            raise UserError(f"{path}, row {row}: an ID and two labels, TRUE or FALSE, were expected; {_REMAKE}")
        if cells[1] == cells[2] == "TRUE":
            raise UserError(f"{path}, row {row}: both names are marked TRUE; {_REMAKE}")
        if cells[0] in labels:
            raise UserError(f"{path}, row {row}: the ID '{cells[0]}' is labelled twice; {_REMAKE}")
        labels[cells[0]] = words[cells[1]], words[cells[2]]
    return labels


def labelled(candidates, labels):
    """Return the quadruples that were accepted, with their labels.

    Parameters
    ----------
    candidates : DataFrame
        Of ``read_c_gap`` without labels.
    labels : dict of str to (bool, bool)

    Returns
    -------
    DataFrame
        Rows of ``candidates`` with ``a_coref`` and ``b_coref``; quadruples without labels are left out.

    Raises
    ------
    UserError
        If labels are of unknown instances, of a part of a quadruple, or differ within one: such quadruples are
        discarded before (Section 2.2).
    """
    unknown = labels.keys() - set(candidates.id)
    if unknown:
        raise UserError(
            f"{counted(len(unknown), 'label')} of instances that are no candidates, the first is '{min(unknown)}'; "
            "label the candidates of this run"
        )
    kept = candidates[candidates.id.isin(labels)]
    for name, four in kept.groupby("quadruple", sort=False):
        if len(four) != len(ROLES):
            raise UserError(f"quadruple '{name}': {len(four)} of its 4 instances are labelled; label all or none")
        if len({labels[identifier] for identifier in four.id}) > 1:
            raise UserError(f"quadruple '{name}': its instances have different labels; leave it out of the labels")
    pairs = [labels[identifier] for identifier in kept.id]
    return kept.assign(a_coref=[a for a, _ in pairs], b_coref=[b for _, b in pairs]).reset_index(drop=True)


def balanced(instances, seed):
    """Return as many quadruples of either original gender, the rest left out at random (Section 2.3).

    Parameters
    ----------
    instances : DataFrame
        Whole quadruples.
    seed : int

    Returns
    -------
    DataFrame
        In their order.
    """
    originals = instances[instances.role == ROLES[0]]
    groups = {gender: list(originals.quadruple[originals.gender == gender]) for gender in ("M", "F")}
    size = min(map(len, groups.values()))
    drawn = random.Random(seed)
    kept = {name for names in groups.values() for name in drawn.sample(names, size)}
    return instances[instances.quadruple.isin(kept)].reset_index(drop=True)


def cells(instances):
    """Return instances as rows in C-GAP's columns."""
    named = dict(zip(COLUMNS, ("id", "text", "pronoun", "pronoun_offset", "a", "a_offset", "a_coref", "b", "b_offset",
                               "b_coref", "book"), strict=True))  # fmt: skip
    words = {True: "TRUE", False: "FALSE"}
    return [
        {column: words[row[key]] if key.endswith("coref") else str(row[key]) for column, key in named.items()}
        for row in instances.to_dict("records")
    ]


def funnel_totals(funnel):
    """Return the funnel over all books.

    Parameters
    ----------
    funnel : DataFrame
        ``book``, ``step``, ``left`` (pronouns after the step).

    Returns
    -------
    DataFrame
        ``step``, ``left``, ``dropped`` and ``share`` (of the pronouns before the step), in the order of the steps.
    """
    left = funnel.groupby("step", sort=False).left.sum()
    before = left.shift(fill_value=left.iloc[0])
    share = (before - left) / before.where(before > 0)
    return pd.DataFrame(
        {"step": left.index, "left": left.array, "dropped": (before - left).array, "share": share.array}
    )


def card(books, funnel, steps, parser, counts, seed):
    """Return the data card of a set (Markdown).

    Parameters
    ----------
    books : list of dict
        ``label``, ``words``, ``sha256``, ``encoding`` and ``gutenberg`` of each book.
    funnel : DataFrame
        Of :func:`funnel_totals`.
    steps : dict of str to str
        Steps to their names.
    parser : dict of str to str
        Versions.
    counts : dict of str to int
        ``candidates``, ``accepted`` and ``quadruples``.
    seed : int
        Of the balancing.
    """
    public = [book for book in books if book["gutenberg"]]
    private = len(books) - len(public)
    lines = [
        "# Quadruples from books",
        "",
        "Made by the steps of Counter-GAP (Xie et al. 2023, Sections 2.1 to 2.3), in its columns.",
        "",
        f"- Quadruples: {counts['quadruples']:,}, four instances each, half of them with a masculine original.",
        f"- Candidates: {counts['candidates']:,}; accepted by annotators: {counts['accepted']:,}. The larger group was "
        f"cut to the size of the other at random (seed {seed}).",
        "- Labels: the majority of annotators for each instance; quadruples whose four labels differ, that contradict "
        "common knowledge or name real people are no part of it (labels.csv).",
        f"- Parser: {', '.join(f'{name} {version}' for name, version in sorted(parser.items()))}. Genders of first "
        "names: gender-guesser 0.4.0, default setting.",
        "",
        "## Books",
        "",
        "| book | words | encoding | SHA-256 of the file |",
        "| --- | --- | --- | --- |",
        *(f"| {book['label']} | {book['words']:,} | {book['encoding']} | `{book['sha256']}` |" for book in books),
        "",
        "## Funnel",
        "",
        "| step | left | dropped |",
        "| --- | --- | --- |",
        *(f"| {steps[row.step]} | {row.left:,} | {row.dropped:,} |" for row in funnel.itertuples()),
        "",
        "## Licence",
        "",
    ]
    if public:
        lines.append(
            f"{counted(len(public), 'book')} of Project Gutenberg, in the public domain in the United States; "
            "elsewhere look up the law."
        )
    if private:
        lines.append(
            f"{counted(private, 'book')} from files of this machine: the texts of the set are theirs. Publish the set "
            "only if their licence allows it."
        )
    return "\n".join(lines) + "\n"
