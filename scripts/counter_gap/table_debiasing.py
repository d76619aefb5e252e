"""Tabulate what debiasing does (paper Table 6)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(
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
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics`` and ``scores``.

    ``scores`` has one file of the rule ``coreference_f1``, on the annotated ``corpus``, for each of ``scored``, the
    labels and debiasing methods of the systems, in the same order.
    """
    f1 = tables.read_f1(scores, scored)
    cells = tables.debiasing(tables.read(metrics, significance, templates), templates, corpus, f1)
    tables.write(tex, csv, cells, 3)


if __name__ == "__main__":
    run(main)
