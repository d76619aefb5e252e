"""Bring the output of every system on one set of instances into one table: clusters and answers in words."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.winopron.lib import answers as in_words
from scripts.winopron.lib import cluster_answers, resolution

COLUMNS = ["system", "conversion", "prompt", "variant", "instance_id", "prediction", "right"]


def main(
    *,
    instances: str,
    clusters: list,
    answer_files: list,
    prompts: list,
    answers: list,
    predictions: str,
    systems: list,
    answering: list,
    models: dict,
    selected: list,
    scores: list,
    scored: dict,
):
    """Write ``predictions`` (Parquet): :data:`COLUMNS`.

    ``clusters`` are the files of ``systems``, ``answer_files`` those of ``answering``, ``answers`` those of ``models``
    to the one file of ``prompts``, and ``scores`` those of the models ``scored`` of the one file of ``selected``
    templates, in the same order. A system has its label as ``system``; with clusters it has ``conversions``, the ways
    in which they are read. ``prediction`` is occupation, participant or nothing; ``prompt`` and ``variant`` are empty
    for systems that are not prompted.
    """
    sentences = files.read_parquet(instances)
    tables = []
    for path, facts in zip(clusters, systems, strict=True):
        for conversion in facts["conversions"]:
            found = cluster_answers.read(path, sentences, conversion)
            tables.append(found.assign(system=facts["system"], conversion=conversion, prompt="", variant=""))
    for path, facts in zip(answer_files, answering, strict=True):
        tables.append(in_words.read(path, sentences).assign(system=facts["system"]))
    for path in prompts:
        asked = files.read_parquet(path)
        for (name, facts), answered in zip(models.items(), answers, strict=True):
            tables.append(in_words.of_model(answered, name, asked, sentences).assign(system=facts["label"]))
    for path in selected:
        asked = files.read_parquet(path)
        for (name, facts), scores_path in zip(scored.items(), scores, strict=True):
            scored_options = model_outputs.read_scores(scores_path, name, asked)
            for scoring, column in resolution.SCORINGS.items():
                found = resolution.predictions(scored_options, asked, sentences, column)
                system = facts["label"] + scoring
                tables.append(found.assign(system=system, conversion="corrected", prompt="", variant=""))
    table = pd.concat(tables, ignore_index=True)
    meant = dict(zip(sentences.instance_id, sentences.answer, strict=True))
    table["right"] = table.prediction == table.instance_id.map(meant)
    for (system, conversion), rows in table.groupby(["system", "conversion"], sort=False):
        log.info("%s, %s: accuracy %.4f", system, conversion, rows.right.mean())
    files.write_parquet(predictions, table[COLUMNS])


if __name__ == "__main__":
    run(main)
