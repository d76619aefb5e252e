"""The findings of MISGENDERED, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.paper import finding_verdicts, published
from scripts.core.workflow.job import run_named
from scripts.misgendered.lib import findings as study_findings
from scripts.misgendered.lib.analyses import by_model


def findings(
    *, predictions: list, name_ranks: list, corpus_counts: str, study_models: str, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list, models: dict, draws: int, seed: int,
) -> None:  # fmt: skip
    """Test every finding of the study on the predictions of the run.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON). ``predictions`` and
    ``name_ranks`` have a file for each of ``template_sets``; for the other sets of ``every_set`` no finding is
    applicable. Demonstration models among ``models`` are left out. ``draws`` and ``seed`` belong to the bootstrap over
    templates and names.
    """
    known = published.read_models(study_models)
    sizes = {name: facts["parameters"] for name, facts in models.items()}
    # Sizes order the models of a family; of models that are not in the run they are not asked for.
    known = known.assign(parameters=[sizes.get(name, 0) for name in known.model])
    of_study = [name for name in known.model if name not in published.demonstration(models)]
    documents = study_findings.documents(files.read_csv(corpus_counts))
    runs = {}
    for name, path, ranks in zip(template_sets, predictions, name_ranks, strict=True):
        table = by_model.read_columns(path, study_findings.COLUMNS, of_study)
        runs[name] = study_findings.Results(table, known, files.read_csv(ranks), documents, draws, seed)
    present = {name: len(results.there) for name, results in runs.items()}
    finding_verdicts.write(study_findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *, predictions: list, name_ranks: list, corpus_counts: str, findings_csv: str, model: str, facts: dict,
    template_sets: list, draws: int, seed: int,
) -> None:  # fmt: skip
    """Test the study's findings on one model of the run.

    Write ``findings_csv``, the verdicts for ``model``, of which ``facts`` are those of the registry. ``predictions``
    and ``name_ranks`` have a file for each of ``template_sets``. ``draws`` and ``seed`` belong to the bootstrap over
    templates and names.
    """
    alone = pd.DataFrame([{"model": model} | {key: facts[key] for key in ("label", "family", "parameters")}])
    documents = study_findings.documents(files.read_csv(corpus_counts))
    runs = {}
    for name, path, ranks in zip(template_sets, predictions, name_ranks, strict=True):
        table = files.read_parquet(path)
        table = table[table.model == model]
        runs[name] = study_findings.Results(table, alone, files.read_csv(ranks), documents, draws, seed)
    # The study states all of them of averages.
    of_model = finding_verdicts.single_model_verdicts(
        study_findings.FINDINGS, study_findings.ONE_MODEL, runs, averages=study_findings.ONE_MODEL
    )
    files.write_csv(findings_csv, of_model)


if __name__ == "__main__":
    run_named()
