"""Examples of quadruples with a system's predictions (paper Table 7)."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper import latex
from scripts.counter_gap.passages import ROLES
from scripts.counter_gap.released_flags import facts_of_texts
from scripts.counter_gap.study import IDENTITY, READINGS

EXAMPLES = {
    "across": "both instances of one gender are right and both of the other are wrong",
    "within": "exactly one of the four instances is wrong",
}
"""What an example must show. Of all quadruples that do, that with the shortest original is taken, and of equally long
ones the first. Quadruples without a right name, which show no prediction, are left out, and so are those with a mark
directly behind the pronoun."""
COLOURS = {"M": ("blue!75!black", "cyan!40!black"), "F": ("violet", "orange!50!black")}
"""Those of the names of either gender, by their places; all can be read on white and on yellow."""


def write_examples(instances: str, predictions: str, tex: str, csv: str, labels: dict[str, str]) -> None:
    """Write Table 7, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system without debiasing that has one for most rules: released flags come before
    clusters, real systems before rules, then the more accurate ones; equals stay in their order.
    """
    passages, predicted = files.read_parquet(instances), files.read_parquet(predictions)
    facts = facts_of_texts(passages)

    def rank(item: tuple[Any, pd.DataFrame]) -> tuple:
        (_, _, kind, _, _, reading), flags = item
        missing = sum(choose_example(passages, flags, facts, rule) is None for rule in EXAMPLES)
        return missing, list(READINGS).index(reading), kind == HEURISTIC, -flags.correct.mean()

    systems: Any = predicted[predicted.debiasing == "none"].groupby(IDENTITY, sort=False)
    system, flags = min(systems, key=rank)
    shown, listed = [], []
    for rule, meaning in EXAMPLES.items():
        place = choose_example(passages, flags, facts, rule)
        if place is not None:
            rows = slice(4 * place, 4 * place + 4)
            parts = [passages, flags[["a_pred", "b_pred", "correct"]].reset_index(drop=True)]
            four = list(pd.concat(parts, axis=1)[rows].itertuples(index=False))
            shown.append((f"{labels[system[1]]}: {meaning}", four))
            listed += [(rule, *system, row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=["rule", *IDENTITY, "quadruple", "role", "correct"]))
    files.write_text(tex, typeset_examples(shown) if shown else "No quadruple of this run is an example.\n")


def choose_example(instances: pd.DataFrame, flags: pd.DataFrame, facts: pd.DataFrame, rule: str) -> Any:
    """Return the position of the example's quadruple by a rule (:data:`EXAMPLES`), or None without any.

    ``flags`` are of one system on all instances; ``facts`` are those of their texts.
    """
    right = flags.correct.to_numpy().reshape(-1, 4)
    if rule == "across":
        fits = (right[:, :2].all(1) & ~right[:, 2:].any(1)) | (right[:, 2:].all(1) & ~right[:, :2].any(1))
    else:
        fits = right.sum(1) == 3
    # Only a right name has a distance.
    fits &= (facts.words.notna() & (facts.mark == "none")).to_numpy()
    lengths = instances.text.str.len().to_numpy()[::4]
    return min(fits.nonzero()[0], key=lambda place: lengths[place], default=None)


def typeset_examples(examples: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """Return the LaTeX table; ``examples`` are the title and the four rows of each."""
    lines = [r"\begingroup\setlength{\fboxsep}{1pt}", r"\begin{tabularx}{\linewidth}{l>{\raggedright\arraybackslash}X}"]
    lines.append(r"\toprule")
    for number, (title, four) in enumerate(examples):
        if number:
            lines.append(r"\midrule")
        lines.append(rf"\multicolumn{{2}}{{l}}{{\textbf{{{latex.escape(title)}}}}} \\")
        lines.append(r"\midrule")
        # The names of the original's other gender are the candidates of the swapped instances.
        colours = {}
        for row in four:
            for name, colour in zip((row.a, row.b), COLOURS[row.gender], strict=True):
                colours.setdefault(name, colour)
        for role, row in zip(ROLES, four, strict=True):
            verdict = r"\emph{right}" if row.correct else r"\emph{wrong}"
            lines.append(rf"{role}, {verdict} & {typeset_instance(row, colours)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabularx}", r"\endgroup"]) + "\n"


def typeset_instance(row: Any, colours: dict[str, str]) -> latex.Raw:
    """Return one instance's text as LaTeX.

    Names of either gender have their colours, and feminine ones are in italics; the pronoun is bold and underlined, the
    right name underlined, and the predicted cluster (pronoun and predicted names) has a yellow ground.
    """
    predicted = row.a_pred or row.b_pred
    marks = {getattr(row, f"{key}_offset"): (len(getattr(row, key)), key) for key in ("pronoun", "a", "b")}
    mentions = {m.start(): len(m.group()) for name in colours for m in re.finditer(rf"\b{re.escape(name)}\b", row.text)}
    parts, position = [], 0
    for start in sorted(set(mentions) | set(marks)):
        if start < position:
            continue
        length, kind = marks.get(start, (mentions.get(start, 0), None))
        word = row.text[start : start + length]
        shown = latex.escape(word)
        if word in colours:
            shown = rf"\textit{{{shown}}}" if colours[word] in COLOURS["F"] else shown
            shown = rf"\textcolor{{{colours[word]}}}{{{shown}}}"
        if kind == "pronoun":
            shown = rf"\textbf{{\underline{{{shown}}}}}"
        elif kind and getattr(row, f"{kind}_coref"):
            shown = rf"\underline{{{shown}}}"
        if (kind == "pronoun" and predicted) or (kind in ("a", "b") and getattr(row, f"{kind}_pred")):
            shown = rf"\colorbox{{yellow!60}}{{{shown}}}"
        parts += [latex.escape(row.text[position:start]), shown]
        position = start + length
    return latex.Raw("".join([*parts, latex.escape(row.text[position:])]))
