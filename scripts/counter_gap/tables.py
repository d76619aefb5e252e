"""The tables of Counter-GAP, and what it publishes beside ours, each by the function of its rule."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.paper.published import read as read_published
from scripts.core.paper.published import write as write_comparison
from scripts.core.workflow.job import run_named
from scripts.counter_gap.lib import tables
from scripts.counter_gap.lib.analyses.subsets import factors_of
from scripts.counter_gap.lib.instances import ROLES
from scripts.counter_gap.lib.study import is_rule

EXAMPLES = {
    "across": "both instances of one gender are right and both of the other are wrong",
    "within": "exactly one of the four instances is wrong",
}
"""What an example must show. Of all quadruples that do, that with the shortest original is taken, and of equally long
ones the first. Quadruples without a right name, which show no prediction, are left out, and so are those with a mark
directly behind the pronoun."""
_PAIRS = {"M": ("blue!75!black", "cyan!40!black"), "F": ("violet", "orange!50!black")}
"""Colours of the names of either gender, by their places; all can be read on white and on yellow."""
COLUMNS = ["rule", "data", "scoring", "system", "quadruple", "role", "correct"]


def table_accuracy(*, metrics: str, significance: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate accuracies by gender (paper Table 2).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    table = tables.read(metrics, significance, templates)
    tables.write(tex, csv, tables.cells(table, templates, tables.ACCURACY), 2)


def table_bias(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list) -> None:
    """Tabulate both measures of bias on all sets of quadruples (paper Tables 2, 3 and 6).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.of_sets(metrics, significance, template_sets, tables.bias, tables.METHODS)
    tables.write_sets(tex, csv, cells)


def table_by_gender(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list) -> None:
    """Tabulate inconsistencies by gender, and originals against counterfactuals, on all sets (paper Tables 3 and 4).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    tables.write_sets(tex, csv, tables.of_sets(metrics, significance, template_sets, tables.by_gender))


def table_cancellation(*, metrics: str, decomposition: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate what accuracy differences and inconsistencies are made of: leanings, splits and what cancels.

    Write the cells as printed (LaTeX and CSV); all pairs of outcomes are in ``decomposition``.
    """
    table = files.read_csv(metrics)
    tables.write(tex, csv, tables.cancellation(table, files.read_csv(decomposition), templates), 3)


def table_datasets(*, metrics: str, significance: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate systems on GAP, on the originals alone and on the quadruples (paper Table 5).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.datasets(tables.read(metrics, significance, templates), templates)
    tables.write(tex, csv, cells, 3, tables.printed_datasets(cells))


def table_debiasing(*, metrics: str, significance: str, corpus_scores: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate what debiasing does (paper Table 6).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics`` and ``corpus_scores``.
    """
    table = tables.read(metrics, significance, templates)
    tables.write(tex, csv, tables.debiasing(table, templates, files.read_csv(corpus_scores)), 3)


def table_examples(*, instances: str, flags: str, tex: str, csv: str) -> None:
    """Show examples of quadruples with a system's predictions (paper Table 7).

    Write the table, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system (in the order of :func:`preferred_systems`) that has one for every rule,
    otherwise of the first that has one for some rule.
    """
    passages, predicted = files.read_parquet(instances), files.read_parquet(flags)
    factors = factors_of(passages)
    plain = predicted[predicted.debiasing == "none"]
    best: dict[str, Any] = {}
    for key in preferred_systems(predicted):
        of_system = plain[(plain.scoring == key[1]) & (plain.system == key[2])]
        chosen = {rule: choose_example(passages, of_system, factors, rule) for rule in EXAMPLES}
        chosen = {rule: position for rule, position in chosen.items() if position is not None}
        if len(chosen) > len(best.get("chosen", {})):
            best = {"key": key, "flags": of_system, "chosen": chosen}
    shown, listed = [], []
    for rule, position in best.get("chosen", {}).items():
        four = predicted_four(passages, best["flags"], position)
        shown.append((f"{best['key'][2]}: {EXAMPLES[rule]}", four))
        listed += [(rule, *best["key"], row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=COLUMNS))
    files.write_text(tex, table_of_examples(shown) if shown else "No quadruple of this run is an example.\n")


def preferred_systems(flags: pd.DataFrame) -> list[Any]:
    """Return the keys (data, scoring, system) of systems without debiasing, the best source of examples first.

    Released flags come before clusters, real systems before rules, then the more accurate ones; equals stay in their
    order.
    """
    accuracies = flags[flags.debiasing == "none"].groupby(["data", "scoring", "system"], sort=False).correct.mean()

    def rank(item: tuple[Any, float]):
        (_, scoring, system), accuracy = item
        return scoring != "released", scoring == "clusters_faithful", is_rule(system), -accuracy

    return [key for key, _ in sorted(accuracies.items(), key=rank)]


def choose_example(instances: pd.DataFrame, flags: pd.DataFrame, factors: pd.DataFrame, rule: str) -> int | None:
    """Return the position of the example's quadruple, or None without any.

    Args:
        flags: Those of one system on all instances, in their order.
        factors: Of :func:`scripts.counter_gap.lib.analyses.subsets.factors_of`.
        rule: One of :data:`EXAMPLES`.
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


def typeset(row: Any, names: dict[str, str]) -> latex.Raw:
    """Return one instance's text as LaTeX.

    Names of either gender have their colours, and feminine ones are in italics; the pronoun is bold and underlined, the
    right name underlined, and the predicted cluster (pronoun and predicted names) has a yellow ground.

    Args:
        row: An instance (named tuple) with ``a_pred`` and ``b_pred``.
        names: Every name of the passage to the colour that its role has in this instance.
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


def table_inconsistency(*, metrics: str, significance: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate inconsistency within and across genders (paper Table 3).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    table = tables.read(metrics, significance, templates)
    tables.write(tex, csv, tables.cells(table, templates, tables.INCONSISTENCY), 2)


def table_original_counterfactual(*, metrics: str, significance: str, tex: str, csv: str, templates: str) -> None:
    """Tabulate original against counterfactual genders (paper Table 4).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    table = tables.read(metrics, significance, templates)
    tables.write(tex, csv, tables.cells(table, templates, tables.ORIGINAL_COUNTERFACTUAL), 2)


def table_training(*, listed: dict, tex: str, csv: str) -> None:
    """Tabulate how the coreference systems of the study are trained (paper Table 8).

    Write the settings as LaTeX and CSV; ``listed`` is that of :func:`scripts.counter_gap.lib.tables.training`.
    """
    tables.write(tex, csv, tables.training(listed), 1)


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, metrics: str, significance: str, subset_sizes: str,
    corpus_scores: str, csv: str, tex: str, numbers: str, template_sets: list, every_set: list,
) -> None:  # fmt: skip
    """Set every published number beside ours, on each set of quadruples, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).
    """
    printed = read_published(published, mapping, study_models)
    sizes = files.read_csv(subset_sizes)
    of_corpora = tables.add_model_names(tables.take_study_names(files.read_csv(corpus_scores)), printed.models)
    compared = {
        name: {
            "analysis/metrics.csv": tables.add_model_names(
                tables.read_comparable(metrics, significance, name), printed.models
            ),
            "analysis/corpus_scores.csv": of_corpora,
            "analysis/subset_sizes.csv": sizes[sizes.data == name],
        }
        for name in template_sets
    }
    write_comparison("counter_gap", printed, compared, every_set, csv=csv, tex=tex, numbers=numbers)


if __name__ == "__main__":
    run_named()
