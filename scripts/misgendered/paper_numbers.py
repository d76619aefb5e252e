"""Collect every number that the MISGENDERED section's prose uses on one set of templates, with where it comes from."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.numbers import of_settings
from scripts.misgendered.lib import instances, numbers


def main(
    *,
    template_files: list,
    pronouns: str,
    combinations: str,
    predictions: str,
    accuracy: str,
    reductions: str,
    normalisation: str,
    calibration: str,
    power: str,
    declared_forms: str,
    regressions: str,
    mixed_model: str,
    accuracy_over_draws: str,
    choices: str,
    wordings: str,
    printed_averages: str,
    corpus_counts: str,
    paper_numbers: str,
    templates: str,
    kinds: list,
    pronoun_sets: list,
    types: list,
    numbers_declared: list,
    wording: str,
    settings: dict,
):
    """Write ``paper_numbers`` (JSON) for the set ``templates``; ``settings`` are of the config."""
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, types, numbers_declared, wording)
    frame = files.read_csv(accuracy, dtype={"declaration_number": str})
    collected = {
        **of_settings(settings, numbers.KEYS),
        **numbers.from_instances(loaded),
        **numbers.from_predictions(predictions),
        **numbers.from_accuracy(frame[(frame.templates == templates) & (frame.shots == 0)]),
        **numbers.from_reductions(files.read_csv(reductions)),
        **numbers.from_other_scores(*map(files.read_csv, (normalisation, calibration, power))),
        **numbers.from_declared_forms(files.read_csv(declared_forms)),
        **numbers.from_fertility(files.read_csv(regressions)),
        **numbers.from_mixed_model(files.read_csv(mixed_model)),
        **numbers.from_examples(files.read_csv(accuracy_over_draws)),
        **numbers.from_choices(files.read_csv(choices)),
        **numbers.from_wordings(files.read_csv(wordings)),
        **numbers.from_averages(files.read_csv(printed_averages)),
        **numbers.from_corpora(files.read_csv(corpus_counts)),
    }
    files.write_json(paper_numbers, collected)


if __name__ == "__main__":
    run(main)
