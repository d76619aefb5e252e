"""Test every finding of the study on the predictions of the run."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import published
from scripts.core.paper.claims import write
from scripts.misgendered.lib import findings
from scripts.misgendered.lib.analyses import by_model


def main(
    *,
    predictions: list,
    name_ranks: list,
    corpus_counts: str,
    study_models: str,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    draws: int,
    seed: int,
):
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``predictions`` and ``name_ranks`` have a file for each of ``template_sets``; for the other sets of ``every_set`` no
    finding is applicable. Demonstration models among ``models`` are left out. ``draws`` and ``seed`` belong to the
    bootstrap over templates and names.
    """
    known = published.read_models(study_models)
    sizes = {name: facts["parameters"] for name, facts in models.items()}
    # Sizes order the models of a family; of models that are not in the run they are not asked for.
    known = known.assign(parameters=[sizes.get(name, 0) for name in known.model])
    counts = files.read_csv(corpus_counts)
    documents = findings.documents(counts)
    runs = {}
    for name, path, ranks in zip(template_sets, predictions, name_ranks, strict=True):
        of_study = [name for name in known.model if name not in published.demonstration(models)]
        table = by_model.whole(path, findings.COLUMNS, of_study)
        runs[name] = findings.Results(table, known, files.read_csv(ranks), documents, draws, seed)
    present = {name: len(results.there) for name, results in runs.items()}
    write(findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


if __name__ == "__main__":
    run(main)
