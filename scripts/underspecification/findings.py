"""The findings of Underspecification as tests: on every source, and on one model."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.paper import finding_verdicts, published
from scripts.core.workflow.job import run_named
from scripts.underspecification.lib import findings as study_findings
from scripts.underspecification.lib import study


def findings(
    *,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    sources: list,
    every_source: list,
    models: dict,
    threshold: float,
    shares: str | None = None,
) -> None:
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``tables`` are the analysis tables of each of ``sources``; for the other ones of ``every_source`` no finding is
    applicable. ``threshold`` is that of the metric. Demonstration models among the run's ``models`` are left out.
    ``shares`` (TSV): the share of women by occupation, where it was fetched.
    """
    # The tables call models by their labels.
    excluded = frozenset(published.demonstration(models).values())
    women = study_findings.read_shares(shares) if shares else {}
    runs = {
        name: study_findings.Source(
            {PurePath(key).stem: frame for key, frame in frames.items()}, threshold, women, excluded
        )
        for name, frames in published.read_tables(tables, sources).items()
    }
    present = {
        name: source.present({*study_findings.METHOD1, *study_findings.METHOD2}) for name, source in runs.items()
    }
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    finding_verdicts.write(study_findings.FINDINGS, runs, every_source, **outputs, heads=study.HEADS, models=present)


def findings_of_model(*, tables: list, findings_csv: str, sources: list, facts: dict, threshold: float) -> None:
    """Write ``findings_csv``, the verdicts for the model with these ``facts`` of the registry.

    ``tables`` are the analysis tables of each of ``sources``; ``threshold`` is that of the metric.
    """
    runs = {
        name: study_findings.Source(
            {PurePath(key).stem: frame for key, frame in frames.items()}, threshold, alone=(facts["label"],)
        )
        for name, frames in published.read_tables(tables, sources).items()
    }
    files.write_csv(
        findings_csv, finding_verdicts.single_model_verdicts(study_findings.FINDINGS, study_findings.ONE_MODEL, runs)
    )


if __name__ == "__main__":
    run_named()
