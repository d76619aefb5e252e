"""Render the paper's section on WinoPron from its template and the results of the run."""

from scripts.core.job import run
from scripts.core.paper import closing
from scripts.core.paper.sections import context
from scripts.winopron.lib import study

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them; the last one of a run is that of its figures."""

MOST_PAIRS = 2
"""Up to this many pairs of systems have their overlap typeset: each has twelve rows."""

MOST_TOLD = 2
"""Up to this many systems have a sentence each; of more the extremes are told, and a table has all."""


def named(numbers, prefix):
    """Return what follows a prefix in the ids of numbers.

    Examples
    --------
    >>> named({"difference.SpanBERT-base": {}, "systems": {}}, "difference.")
    ['SpanBERT-base']
    """
    return [name.removeprefix(prefix) for name in numbers if name.startswith(prefix)]


def main(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    template_sets: list,
    winogender: bool,
    models: dict,
    scored: dict,
):
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``comparison_numbers`` count verdicts on what the study publishes; ``winogender`` tells
    whether the run has Winogender Schemas; ``models`` are those that are prompted,
    and ``scored`` those that resolve by likelihood.
    """
    common = context(
        "winopron", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models | scored
    )
    called = {name: TITLES[name] for name in template_sets}
    common |= {
        "counts": closing.counts(common["beside"], called),
        "called": called,
        "most_pairs": MOST_PAIRS,
        "main": template_sets[-1],
        "winogender": winogender,
        "models": models,
        "scored": scored,
        "read": study.ordered(named(common["sets"][template_sets[-1]]["numbers"], "difference.")),
        "spread": study.ordered(
            name.removesuffix(".asked")
            for name in named(common["sets"][template_sets[-1]]["numbers"], "spread.")
            if name.endswith(".asked")
        ),
        "most_told": MOST_TOLD,
    }
    closing.write(section_tex, section_template, common, figures, tables)


if __name__ == "__main__":
    run(main)
