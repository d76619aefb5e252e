"""Examples of quadruples, chosen by a rule, with names, pronoun and prediction marked in LaTeX (paper Table 7)."""

import re

import pandas as pd

from scripts.core.paper import latex
from scripts.counter_gap.lib.instances import ROLES
from scripts.counter_gap.lib.study import is_rule

RULES = {
    "across": "both instances of one gender are right and both of the other are wrong",
    "within": "exactly one of the four instances is wrong",
}
"""What an example must show. Of all quadruples that do, that with the shortest original is taken, and of equally long
ones the first. Quadruples without a right name, which show no prediction, are left out, and so are those with a mark
directly behind the pronoun."""
COLOURS = {"a": 0, "b": 1}
_PAIRS = {"M": ("blue!75!black", "cyan!55!black"), "F": ("violet", "orange!85!black")}


def preferred_systems(flags):
    """Return the keys (data, scoring, system) of systems without debiasing, the best source of examples first.

    Released flags come before clusters, real systems before rules, then the more accurate ones; equals stay in their
    order.
    """
    accuracies = flags[flags.debiasing == "none"].groupby(["data", "scoring", "system"], sort=False).correct.mean()

    def rank(item):
        (_, scoring, system), accuracy = item
        return scoring != "released", scoring == "clusters_faithful", is_rule(system), -accuracy

    return [key for key, _ in sorted(accuracies.items(), key=rank)]


def choose(instances, flags, factors, rule):
    """Return the position of the example's quadruple, or None without any.

    Parameters
    ----------
    instances : DataFrame
    flags : DataFrame
        Those of one system on all instances, in their order.
    factors : DataFrame
        Of :func:`scripts.counter_gap.lib.analyses.subsets.factors_of`.
    rule : str
        One of :data:`RULES`.
    """
    right = flags.correct.to_numpy().reshape(-1, 4)
    if rule == "across":
        fits = (right[:, :2].all(1) & ~right[:, 2:].any(1)) | (right[:, 2:].all(1) & ~right[:, :2].any(1))
    else:
        fits = right.sum(1) == 3
    fits &= (factors.right_name & ~factors.artefact & ~factors.glued).to_numpy()
    lengths = instances.text.str.len().to_numpy()[::4]
    positions = [i for i in range(len(fits)) if fits[i]]
    return min(positions, key=lambda i: lengths[i], default=None)


def typeset(row, names):
    """Return one instance's text as LaTeX.

    Names of either gender have their colours; the pronoun is bold and underlined, the right name underlined, and the
    predicted cluster (pronoun and predicted names) has a yellow ground.

    Parameters
    ----------
    row : named tuple
        An instance with ``a_pred`` and ``b_pred``.
    names : dict of str to str
        Every name of the passage to the colour that its role has in this instance.
    """
    predicted = row.a_pred or row.b_pred
    marks = {row.pronoun_offset: (len(row.pronoun), "pronoun")}
    for key in ("a", "b"):
        offset = getattr(row, f"{key}_offset")
        marks[offset] = (len(getattr(row, key)), key)
    parts, position = [], 0
    mentions = {m.start(): len(m.group()) for name in names for m in re.finditer(rf"\b{re.escape(name)}\b", row.text)}
    for start in sorted(set(mentions) | set(marks)):
        if start < position:
            continue
        length, kind = marks.get(start, (mentions.get(start), None))
        word = row.text[start : start + length]
        shown = latex.escape(word)
        if word in names:
            shown = rf"\textcolor{{{names[word]}}}{{{shown}}}"
        if kind == "pronoun":
            shown = rf"\textbf{{\underline{{{shown}}}}}"
        elif kind and getattr(row, f"{kind}_coref"):
            shown = rf"\underline{{{shown}}}"
        if (kind == "pronoun" and predicted) or (kind in ("a", "b") and getattr(row, f"{kind}_pred")):
            shown = rf"\colorbox{{yellow!60}}{{{shown}}}"
        parts += [latex.escape(row.text[position:start]), shown]
        position = start + length
    return latex.Raw("".join([*parts, latex.escape(row.text[position:])]))


def coloured(four):
    """Return the colour of every candidate name of a quadruple: two shades for each gender.

    The original's candidates have the first gender's shades; the names of the other gender are the candidates of the
    swapped instances.
    """
    names = {}
    for row in four:
        for key, place in COLOURS.items():
            names.setdefault(getattr(row, key), _PAIRS[row.gender][place])
    return names


def table(examples):
    """Return the LaTeX table of Table 7.

    Parameters
    ----------
    examples : list of (str, list)
        Title and the four rows of each.
    """
    lines = [r"\begingroup\setlength{\fboxsep}{1pt}", r"\begin{tabularx}{\linewidth}{l>{\raggedright\arraybackslash}X}"]
    lines.append(r"\toprule")
    for number, (title, four) in enumerate(examples):
        if number:
            lines.append(r"\midrule")
        lines.append(rf"\multicolumn{{2}}{{l}}{{\textbf{{{latex.escape(title)}}}}} \\")
        lines.append(r"\midrule")
        names = coloured(four)
        for role, row in zip(ROLES, four, strict=True):
            verdict = r"\emph{right}" if row.correct else r"\emph{wrong}"
            lines.append(rf"{role}, {verdict} & {typeset(row, names)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabularx}", r"\endgroup"]) + "\n"


def rows(instances, flags, position):
    """Return the four instances of a quadruple together with what was predicted."""
    part = slice(4 * position, 4 * position + 4)
    joined = pd.concat(
        [
            instances.iloc[part].reset_index(drop=True),
            flags.iloc[part][["a_pred", "b_pred", "correct"]].reset_index(drop=True),
        ],
        axis=1,
    )
    return list(joined.itertuples(index=False))
