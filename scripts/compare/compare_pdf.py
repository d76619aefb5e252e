"""Typeset the comparison of two runs; one with a problem in its log is not kept."""

from scripts.core.paper.typesetting import typeset
from scripts.core.workflow.job import run


def main(*, main_tex: str, style: str, pdf: str, overfull: float) -> None:
    """Write ``pdf`` from ``main_tex``, beside which ``style`` lies.

    Boxes that stick out by more than ``overfull`` points are refused.
    """
    typeset(main_tex, pdf, overfull)


if __name__ == "__main__":
    run(main)
