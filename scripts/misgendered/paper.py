"""What the paper says of MISGENDERED: its numbers, its section and its rows of the summary."""

from scripts.core import files
from scripts.core.paper import sections
from scripts.core.paper.numbers import of_settings
from scripts.core.workflow.job import run_named
from scripts.misgendered.lib import instances
from scripts.misgendered.lib import numbers as collecting

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them."""


def paper_numbers(
    *, template_files: list, pronouns: str, combinations: str, predictions: str, accuracy: str, normalisation: str,
    accuracy_over_draws: str, choices: str, corpus_counts: str, paper_numbers: str, templates: str, kinds: list,
    pronoun_sets: list, types: list, numbers_declared: list, wording: str, settings: dict,
) -> None:  # fmt: skip
    """Collect every number that the section's prose uses on one set of templates, with where it comes from.

    Write ``paper_numbers`` (JSON) for the set ``templates``; ``settings`` are of the config.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers_declared, wording)
    frame = files.read_csv(accuracy, dtype={"declaration_number": str})
    collected = {
        **of_settings(settings, collecting.KEYS),
        **collecting.from_instances(loaded),
        **collecting.from_predictions(predictions),
        **collecting.from_accuracy(frame[(frame.templates == templates) & (frame.shots == 0)]),
        **collecting.from_other_scores(files.read_csv(normalisation)),
        **collecting.from_examples(files.read_csv(accuracy_over_draws)),
        **collecting.from_choices(files.read_csv(choices)),
        **collecting.from_corpora(files.read_csv(corpus_counts)),
    }
    files.write_json(paper_numbers, collected)


def section(
    *, section_template: str, appendix_template: str, numbers: list, figures: list, tables: list,
    comparison_numbers: list, section_tex: str, appendix_tex: str, template_sets: list, models: dict, shots: list,
    scores: dict, wording: str,
) -> None:  # fmt: skip
    """Render the section and its part of the appendix from templates and the results of the run.

    Write ``section_tex`` and ``appendix_tex``. ``numbers`` has one file for each of ``template_sets``, in that order;
    ``figures`` and ``tables`` are the files that the section includes, ``comparison_numbers`` count verdicts on what
    the study publishes; ``models`` are those of the run that the study takes, ``shots`` the numbers of examples;
    ``scores`` and ``wording`` are choices of the configuration.
    """
    common = sections.context(
        "misgendered", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models
    )
    everything = common | {
        "models": models,
        "shots": shots,
        "scores": scores,
        "wording": wording,
        "called": {name: TITLES[name] for name in template_sets},
    }
    sections.write(section_tex, section_template, everything)
    sections.write(appendix_tex, appendix_template, everything)


def summary(
    *, accuracy: str, normalisation: list, summary: str, models: dict, template_sets: list, wording: str
) -> None:
    """Write MISGENDERED's rows of the summary over all studies.

    Write ``summary`` (CSV); ``normalisation`` has a file for each of ``template_sets``; ``wording`` is that of the
    declarations which results are about.
    """
    from scripts.core.data.estimate_rows import write
    from scripts.misgendered.lib import figures
    from scripts.misgendered.lib.summary import of_scores, rows

    found = rows(figures.read(accuracy, ["shots"]), models, template_sets)
    for data, path in zip(template_sets, normalisation, strict=False):
        found += of_scores(files.read_csv(path), models, data)
    write(summary, "misgendered", [row | {"wording": wording} for row in found])


if __name__ == "__main__":
    run_named()
