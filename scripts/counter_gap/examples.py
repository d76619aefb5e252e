"""Examples of quadruples with a system's predictions (paper Table 7)."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper import latex
from scripts.core.workflow.job import run_named
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
_PAIRS = {"M": ("blue!75!black", "cyan!40!black"), "F": ("violet", "orange!50!black")}
"""Colours of the names of either gender, by their places; all can be read on white and on yellow."""
COLUMNS = ["rule", *IDENTITY, "quadruple", "role", "correct"]


def table_examples(*, instances: str, predictions: str, tex: str, csv: str, labels: dict) -> None:
    """Show examples of quadruples with a system's predictions.

    Write the table, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system (in the order of :func:`preferred_systems`) that has one for every rule,
    otherwise of the first that has one for some rule. ``labels`` are what tables call systems.
    """
    passages, predicted = files.read_parquet(instances), files.read_parquet(predictions)
    facts = facts_of_texts(passages)
    best: dict[str, Any] = {}
    for system, of_system in preferred_systems(predicted):
        chosen = {rule: choose_example(passages, of_system, facts, rule) for rule in EXAMPLES}
        chosen = {rule: position for rule, position in chosen.items() if position is not None}
        if len(chosen) > len(best.get("chosen", {})):
            best = {"system": system, "flags": of_system, "chosen": chosen}
    shown, listed = [], []
    for rule, position in best.get("chosen", {}).items():
        four = predicted_four(passages, best["flags"], position)
        shown.append((f"{labels[best['system'][1]]}: {EXAMPLES[rule]}", four))
        listed += [(rule, *best["system"], row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=COLUMNS))
    files.write_text(tex, table_of_examples(shown) if shown else "No quadruple of this run is an example.\n")


def preferred_systems(predicted: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    """Return systems without debiasing and their predictions, the best source of examples first.

    Released flags come before clusters, real systems before rules, then the more accurate ones; equals stay in their
    order.
    """

    def rank(item: tuple[Any, pd.DataFrame]) -> tuple:
        (_, _, kind, _, _, reading), rows = item
        return list(READINGS).index(reading), kind == HEURISTIC, -rows.correct.mean()

    return sorted(predicted[predicted.debiasing == "none"].groupby(IDENTITY, sort=False), key=rank)


def choose_example(instances: pd.DataFrame, flags: pd.DataFrame, facts: pd.DataFrame, rule: str) -> int | None:
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
    positions = [i for i in range(len(fits)) if fits[i]]
    return min(positions, key=lambda i: lengths[i], default=None)


def typeset(row: Any, names: dict[str, str]) -> latex.Raw:
    """Return one instance's text as LaTeX.

    Names of either gender have their colours, and feminine ones are in italics; the pronoun is bold and underlined, the
    right name underlined, and the predicted cluster (pronoun and predicted names) has a yellow ground.
    ``names`` has every name of the passage with the colour of its role in this instance.
    """
    predicted = row.a_pred or row.b_pred
    marks = {getattr(row, f"{key}_offset"): (len(getattr(row, key)), key) for key in ("pronoun", "a", "b")}
    parts, position = [], 0
    mentions = {m.start(): len(m.group()) for name in names for m in re.finditer(rf"\b{re.escape(name)}\b", row.text)}
    for start in sorted(set(mentions) | set(marks)):
        if start < position:
            continue
        length, kind = marks.get(start, (mentions.get(start, 0), None))
        word = row.text[start : start + length]
        shown = latex.escape(word)
        if word in names:
            shown = rf"\textit{{{shown}}}" if names[word] in _PAIRS["F"] else shown
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


def colours_of_names(four: Sequence[Any]) -> dict[str, str]:
    """Return the colour of every candidate name of a quadruple: two shades for each gender.

    The original's candidates have the first gender's shades; the names of the other gender are the candidates of the
    swapped instances.
    """
    names = {}
    for row in four:
        for key, colour in zip("ab", _PAIRS[row.gender], strict=True):
            names.setdefault(getattr(row, key), colour)
    return names


def table_of_examples(examples: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """Return the LaTeX table of Table 7; ``examples`` are the title and the four rows of each."""
    lines = [r"\begingroup\setlength{\fboxsep}{1pt}", r"\begin{tabularx}{\linewidth}{l>{\raggedright\arraybackslash}X}"]
    lines.append(r"\toprule")
    for number, (title, four) in enumerate(examples):
        if number:
            lines.append(r"\midrule")
        lines.append(rf"\multicolumn{{2}}{{l}}{{\textbf{{{latex.escape(title)}}}}} \\")
        lines.append(r"\midrule")
        names = colours_of_names(four)
        for role, row in zip(ROLES, four, strict=True):
            verdict = r"\emph{right}" if row.correct else r"\emph{wrong}"
            lines.append(rf"{role}, {verdict} & {typeset(row, names)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabularx}", r"\endgroup"]) + "\n"


def predicted_four(instances: pd.DataFrame, flags: pd.DataFrame, position: int) -> list[Any]:
    """Return the four instances of a quadruple together with what was predicted."""
    predicted = ["a_pred", "b_pred", "correct"]
    parts = [table.iloc[4 * position :][:4].reset_index(drop=True) for table in (instances, flags[predicted])]
    return list(pd.concat(parts, axis=1).itertuples(index=False))


if __name__ == "__main__":
    run_named()
