"""The tables of Counter-GAP, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run_named
from scripts.counter_gap.lib import examples, tables
from scripts.counter_gap.lib.analyses import subsets

COLUMNS = ["rule", "data", "scoring", "system", "quadruple", "role", "correct"]


def table_accuracy(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Tabulate accuracies by gender (paper Table 2).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.cells(tables.read(metrics, significance, templates), templates, tables.ACCURACY)
    tables.write(tex, csv, cells, 2)


def table_artefact(*, metrics: str, significance: str, subset_sizes: str, tex: str, csv: str, templates: str):
    """Tabulate results with and without the quadruples that the released conversion spoilt.

    Write the cells as printed (LaTeX and CSV); ``subset_sizes`` goes to the log.
    """
    sizes = files.read_csv(subset_sizes)
    for row in sizes[(sizes.data == templates) & sizes.subset.str.startswith("all")].itertuples():
        log.info("%s: %d quadruples", row.subset, row.quadruples)
    tables.write(tex, csv, tables.artefact(tables.read(metrics, significance, templates), templates), 3)


def table_bias(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list):
    """Tabulate both measures of bias on all sets of quadruples (paper Tables 2, 3 and 6).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    of_sets = {name: tables.read(metrics, significance, name) for name in template_sets}
    tables.write_sets(tex, csv, tables.bias(of_sets))


def table_by_gender(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list):
    """Tabulate inconsistencies by gender, and originals against counterfactuals, on all sets (paper Tables 3 and 4).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    of_sets = {name: tables.read(metrics, significance, name) for name in template_sets}
    tables.write_sets(tex, csv, tables.by_gender(of_sets))


def table_cancellation(*, metrics: str, decomposition: str, tex: str, csv: str, templates: str):
    """Tabulate what accuracy differences and inconsistencies are made of: leanings, splits and what cancels.

    Write the cells as printed (LaTeX and CSV); all pairs of outcomes are in ``decomposition``.
    """
    table = files.read_csv(metrics)
    tables.write(tex, csv, tables.cancellation(table, files.read_csv(decomposition), templates), 3)


def table_datasets(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Tabulate systems on GAP, on the originals alone and on the quadruples (paper Table 5).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.datasets(tables.read(metrics, significance, templates), templates)
    tables.write(tex, csv, cells, 3, tables.printed_datasets(cells))


def table_debiasing(
    *,
    metrics: str,
    significance: str,
    tex: str,
    csv: str,
    templates: str,
    corpus: str | None = None,
    scores: list = (),
    scored: list = (),
):
    """Tabulate what debiasing does (paper Table 6).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics`` and ``scores``.

    ``scores`` has one file of the rule ``coreference_f1``, on the annotated ``corpus``, for each of ``scored``, the
    labels and debiasing methods of the systems, in the same order.
    """
    f1 = tables.read_f1(scores, scored)
    cells = tables.debiasing(tables.read(metrics, significance, templates), templates, corpus, f1)
    tables.write(tex, csv, cells, 3)


def table_examples(*, instances: str, flags: str, tex: str, csv: str):
    """Show examples of quadruples with a system's predictions (paper Table 7).

    Write the table, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system (in the order of ``examples.preferred_systems``) that has one for every rule,
    otherwise of the first that has one for some rule.
    """
    passages, predicted = files.read_parquet(instances), files.read_parquet(flags)
    factors = subsets.factors_of(passages)
    plain = predicted[predicted.debiasing == "none"]
    best = {}
    for key in examples.preferred_systems(predicted):
        of_system = plain[(plain.scoring == key[1]) & (plain.system == key[2])]
        chosen = {rule: examples.choose(passages, of_system, factors, rule) for rule in examples.RULES}
        chosen = {rule: position for rule, position in chosen.items() if position is not None}
        if len(chosen) > len(best.get("chosen", {})):
            best = {"key": key, "flags": of_system, "chosen": chosen}
    shown, listed = [], []
    for rule, position in best.get("chosen", {}).items():
        four = examples.rows(passages, best["flags"], position)
        shown.append((f"{best['key'][2]}: {examples.RULES[rule]}", four))
        listed += [(rule, *best["key"], row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=COLUMNS))
    files.write_text(tex, examples.table(shown) if shown else "No quadruple of this run is an example.\n")


def table_inconsistency(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Tabulate inconsistency within and across genders (paper Table 3).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.cells(tables.read(metrics, significance, templates), templates, tables.INCONSISTENCY)
    tables.write(tex, csv, cells, 2)


def table_original_counterfactual(*, metrics: str, significance: str, tex: str, csv: str, templates: str):
    """Tabulate original against counterfactual genders (paper Table 4).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.cells(tables.read(metrics, significance, templates), templates, tables.ORIGINAL_COUNTERFACTUAL)
    tables.write(tex, csv, cells, 2)


def table_training(*, listed: dict, tex: str, csv: str):
    """Tabulate how the coreference systems of the study are trained (paper Table 8).

    Write the settings as LaTeX and CSV; ``listed`` is that of :func:`scripts.counter_gap.lib.tables.training`.
    """
    tables.write(tex, csv, tables.training(listed), 1)


if __name__ == "__main__":
    run_named()
