"""Test the study's findings on one model of the run."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims
from scripts.winopron.lib import findings, study
from scripts.winopron.lib.analyses import performance


def main(
    *,
    instances: list,
    predictions: list,
    findings_csv: str,
    facts: dict,
    sets: list,
    template_sets: list,
    draws: int,
    seed: int,
):
    """Write ``findings_csv``, the verdicts for the model with these ``facts`` of the registry.

    If it was prompted, its answers are asked, read as the study's authors read them; otherwise what it resolves by full
    likelihood. ``instances`` and ``predictions`` have a file for each of ``sets`` (``templates``, ``entities``).
    ``draws`` and ``seed`` belong to the bootstrap over pairs of people.
    """
    tables = [files.read_parquet(path) for path in predictions]
    label = facts["label"]
    prompted = any((table.system == label).any() for table in tables)
    system = label if prompted else label + study.FULL
    answers = {}
    for names, sentences, table in zip(sets, instances, tables, strict=True):
        rows = table[(table.system == system) & (table.conversion == ("published" if prompted else study.CORRECTED))]
        known = files.read_parquet(sentences)
        answers[names["templates"], names["entities"]] = (
            performance.joined(rows, performance.asked(rows, known))
            if len(rows)
            else rows.merge(known, on="instance_id")
        )
    runs = findings.results_of(answers, template_sets, draws, seed, systems=(system,))
    files.write_csv(findings_csv, claims.of_one_model(findings.FINDINGS, findings.ONE_MODEL, runs))


if __name__ == "__main__":
    run(main)
