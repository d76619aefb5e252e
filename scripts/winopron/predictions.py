"""Bring every coreference system's output on one set of instances into one table of answers, converted in each way."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.winopron.lib import cluster_answers


def main(*, instances: str, clusters: list, predictions: str, systems: list):
    """Write ``predictions`` (Parquet): ``system``, ``conversion``, ``instance_id``, ``prediction``, ``right``.

    ``clusters`` are the files of ``systems``, in the same order; a system has its ``label`` as ``system`` and its
    ``conversions``. ``prediction`` is occupation, participant or nothing.
    """
    sentences = files.read_parquet(instances)
    tables = []
    for path, facts in zip(clusters, systems, strict=True):
        for conversion in facts["conversions"]:
            table = cluster_answers.read(path, sentences, conversion)
            table["right"] = table.prediction == sentences.answer
            log.info("%s, %s: accuracy %.4f", facts["system"], conversion, table.right.mean())
            tables.append(table.assign(system=facts["system"], conversion=conversion))
    columns = ["system", "conversion", "instance_id", "prediction", "right"]
    files.write_parquet(predictions, pd.concat(tables, ignore_index=True)[columns])


if __name__ == "__main__":
    run(main)
