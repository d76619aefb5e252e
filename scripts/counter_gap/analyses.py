"""The analyses of Counter-GAP, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap.lib import released_flags, study, votes
from scripts.counter_gap.lib.analyses import metrics as measures
from scripts.counter_gap.lib.analyses import predictions


def flags(
    *, instances: str, outputs: list, released: list, compact: list, flags: str, data: str, cluster_systems: list,
    systems: list,
) -> None:  # fmt: skip
    """Bring every system's output on one data set into one table: released flags, and clusters scored in two ways.

    ``flags`` (Parquet) has ``data``, ``scoring``, ``system``, ``debiasing``, ``id``, ``a_pred``, ``b_pred``,
    ``correct``. ``outputs`` are cluster files and ``released`` flag files; ``cluster_systems`` and ``systems`` say
    whose, in the same order, by ``system`` and ``debiasing``. ``compact`` are files of all released flags. ``data`` is
    the data set's name.
    """
    passages = files.read_parquet(instances)
    outcomes = []
    for path, facts in zip(released, systems, strict=True):
        outcomes.append(("released", facts, predictions.read_flags(path, passages)))
    for path in compact:
        for (system, debiasing), table in released_flags.read_flags(path).items():
            outcomes.append(("released", {"system": system, "debiasing": debiasing}, table))
    for path, facts in zip(outputs, cluster_systems, strict=True):
        for scoring in predictions.SPAN_SCORINGS:
            outcomes.append((scoring, facts, predictions.read_clusters(path, passages, scoring)))
    tables = []
    for scoring, facts, table in outcomes:
        table["correct"] = predictions.correct(passages, table)
        keys = {"data": data, "scoring": scoring, "system": facts["system"], "debiasing": facts["debiasing"]}
        log.info("%s, %s, %s, %s: accuracy %.4f", *keys.values(), table.correct.mean())
        tables.append(table.assign(**keys)[[*keys, *table]])
    files.write_parquet(flags, pd.concat(tables, ignore_index=True))


def labels(
    *, instances: str, sheet: str, completed: list, answers: str, labels: str, funnel: str, discarded: str,
    agreement: str, annotators: int,
) -> None:  # fmt: skip
    """Decide by majority whom each pronoun refers to and which quadruples are kept (sections 2.2 and 2.3).

    Args:
        instances: The quadruples (Parquet) that the blank ``sheet`` was made from.
        completed: Sheets, one per annotator.
        answers: Every answer of every annotator.
        labels: The labels of accepted instances, in C-GAP's columns.
        funnel: The number of quadruples that each step discards and leaves.
        discarded: The discarded quadruples with reasons.
        agreement: The annotators' agreement on all instances and on the accepted ones.
        annotators: The number of answers that each instance needs.
    """
    said = annotation.read_labels(sheet, completed, votes.QUESTIONS, partial=True)
    decided, quadruples = votes.decide(files.read_parquet(instances), said, annotators)
    kept = votes.labels(decided, quadruples)
    log.info("%d of %d quadruples are accepted", len(kept) // 4, len(quadruples))
    files.write_csv(answers, said)
    files.write_csv(labels, kept)
    files.write_csv(funnel, votes.funnel(quadruples))
    files.write_csv(discarded, quadruples[quadruples.reason != ""])
    measured = {"all": said, "accepted": said[said["item"].isin(kept.ID)]}
    tables = [annotation.agreement(table).assign(instances=name) for name, table in measured.items()]
    files.write_csv(agreement, pd.concat(tables))


def metrics(
    *, instances: list, flags: list, scores: list, metrics: str, significance: str, decomposition: str,
    subset_sizes: str, corpus_scores: str, members: str, data: list, scored: list, draws: int, seed: int, alpha: float,
) -> None:  # fmt: skip
    """Compute every metric of every system with bootstrap intervals, tests and what the metrics are made of.

    Write the tidy tables of all ``data`` sets; ``instances`` and ``flags`` have one file for each, in that order, and
    ``scores`` one of the rule ``coreference_f1`` for each of ``scored`` (``system``, ``debiasing``).
    """
    tables, parts, sizes, membership = [], [], [], []
    for name, instances_path, flags_path in zip(data, instances, flags, strict=True):
        passages, predicted = files.read_parquet(instances_path), files.read_parquet(flags_path)
        in_quadruples = name not in study.DATA
        membership.append(measures.members(passages, name, in_quadruples))
        if not in_quadruples:
            tables.append(measures.of_single_instances(passages, predicted, draws, seed))
            continue
        tables.append(measures.of_quadruples(passages, predicted, draws, seed))
        parts.append(measures.decomposition(passages, predicted))
        sizes.append(measures.sizes(passages, name))
    table = pd.concat(tables)
    files.write_csv(metrics, table)
    files.write_csv(significance, measures.significance(table, alpha))
    files.write_csv(decomposition, pd.concat(parts))
    files.write_csv(subset_sizes, pd.concat(sizes))
    files.write_csv(corpus_scores, measures.of_corpora([files.read_csv(path) for path in scores], scored))
    files.write_parquet(members, pd.concat(membership, ignore_index=True))


if __name__ == "__main__":
    run_named()
