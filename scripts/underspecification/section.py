"""Render the paper's section on Underspecification from its template and the results of the run."""

from scripts.core.job import run
from scripts.core.paper import closing
from scripts.core.paper.sections import context
from scripts.underspecification.lib import study

NAMES = {
    "preprint": "Outputs released with the preprint",
    "aaai": "Outputs released with the paper at AAAI",
    study.RUN: "Models of this run",
}
PLACES = {"preprint": "the preprint's outputs", "aaai": "AAAI's outputs", study.RUN: "this run's models"}
"""The sources as sentences and tables of verdicts call them."""


def main(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    sources: list,
    templates: list,
    prompts: dict,
    models: dict,
    shares: bool,
):
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``sources``, in that order; ``figures`` and ``tables`` are the files that the
    section includes, ``comparison_numbers`` count verdicts; ``templates`` are the Winogender sets that the run's
    ``models`` read, with ``prompts`` by evaluation set; ``shares`` tells whether occupations are in the order of the
    share of women.
    """
    common = context(
        "underspecification",
        sources,
        numbers,
        figures,
        tables,
        comparison_numbers,
        section_tex,
        called="source",
        models=models,
    )
    for key, source in common["sources"].items():
        source |= {"title": NAMES[key], "released": key != study.RUN, "shares": shares}
    main = next(name for name in ("aaai", "preprint", study.RUN) if name in sources)
    titles = {name: PLACES[name] for name in sources}
    common |= {
        "templates": templates,
        "prompts": prompts,
        "main": main,
        "shown": [main, *(name for name in sources if name == study.RUN and name != main)],
        "titles": titles,
        "counts": closing.counts(common["beside"], {name: study.HEADS[name] for name in sources}),
    }
    closing.write(section_tex, section_template, common, figures, tables)


if __name__ == "__main__":
    run(main)
