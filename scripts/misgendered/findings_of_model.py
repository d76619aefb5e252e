"""Test the study's findings on one model of the run."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims
from scripts.misgendered.lib import findings


def main(
    *,
    predictions: list,
    name_ranks: list,
    corpus_counts: str,
    findings_csv: str,
    model: str,
    facts: dict,
    template_sets: list,
    draws: int,
    seed: int,
):
    """Write ``findings_csv``, the verdicts for ``model``, of which ``facts`` are those of the registry.

    ``predictions`` and ``name_ranks`` have a file for each of ``template_sets``. ``draws`` and ``seed`` belong to the
    bootstrap over templates and names.
    """
    alone = pd.DataFrame([{"model": model} | {key: facts[key] for key in ("label", "family", "parameters")}])
    documents = findings.documents(files.read_csv(corpus_counts))
    runs = {}
    for name, path, ranks in zip(template_sets, predictions, name_ranks, strict=True):
        table = files.read_parquet(path)
        table = table[table.model == model]
        runs[name] = findings.Results(table, alone, files.read_csv(ranks), documents, draws, seed)
    # The study states all of them of averages.
    of_model = claims.of_one_model(findings.FINDINGS, findings.ONE_MODEL, runs, averages=findings.ONE_MODEL)
    files.write_csv(findings_csv, of_model)


if __name__ == "__main__":
    run(main)
