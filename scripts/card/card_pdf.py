"""Typeset the card of a model; one with a problem in its log is not kept."""

from scripts.core.workflow.job import run
from scripts.paper.typesetting import typeset


def main(*, main_tex: str, style: str, figure: str, pdf: str, overfull: float) -> None:
    """Write ``pdf``; ``style`` and ``figure`` lie beside ``main_tex``, which includes both.

    Boxes that stick out by more than ``overfull`` points are refused.
    """
    typeset(main_tex, pdf, overfull)


if __name__ == "__main__":
    run(main)
