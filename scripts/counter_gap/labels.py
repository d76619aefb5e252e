"""Decide by majority whom each pronoun means, and which quadruples are kept (sections 2.2 and 2.3)."""

from scripts.core import agreement as measures
from scripts.core import annotation, files
from scripts.core.job import log, run
from scripts.counter_gap.lib import votes


def main(
    *,
    questions: str,
    answers: str,
    labels: str,
    funnel: str,
    discarded: str,
    accepted_agreement: str,
    annotators: int,
    flagged: str,
):
    """Write what annotators' ``answers`` to ``questions`` come to.

    Parameters
    ----------
    questions, answers : str
        The task (Parquet) and all answers to it (CSV).
    labels : str
        The labels of accepted instances, in C-GAP's columns (CSV).
    funnel : str
        Quadruples that each step drops and leaves (CSV).
    discarded : str
        The quadruples that are dropped, with the reason (CSV).
    accepted_agreement : str
        How far annotators agree on what is accepted (CSV).
    annotators : int
        Answers that every instance needs.
    flagged : str
        Whether the majority or any annotator has to flag a passage.
    """
    said = files.read_csv(answers, dtype=str).fillna("")
    instances, quadruples = votes.decide(annotation.load(questions), said, annotators, flagged)
    kept = votes.labels(instances, quadruples)
    steps = votes.funnel(quadruples)
    log.info("%d of %d quadruples are accepted", len(kept) // 4, len(quadruples))
    files.write_csv(labels, kept)
    files.write_csv(funnel, steps)
    files.write_csv(discarded, quadruples[quadruples.reason != ""])
    files.write_csv(accepted_agreement, measures.agreement(said[said.item_id.isin(kept.ID)]))


if __name__ == "__main__":
    run(main)
