"""Score a c2f system on a part of an annotated corpus."""

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import documents, jobs, metrics
from scripts.core.statistics import procedures
from scripts.core.workflow.job import log, run


def main(
    *,
    annotated: str,
    csv: str,
    system: str,
    entry: dict,
    corpus: str,
    part: str,
    draws: int,
    seed: int,
    device: str,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
    threads: int = 1,
):
    """Write one row for each metric of :func:`scripts.core.coreference_systems.metrics.score_clusters`.

    Args:
        annotated: The annotated documents (JSON Lines).
        csv: File to write: ``corpus``, ``part``, ``documents``, ``system`` (its name in the registry), ``metric``,
            ``f1`` (0 to 1), ``ci_low`` and ``ci_high`` (of ``conll``: the 95 % interval over documents),
            ``weights_sha256``.
        system: The system's name in the registry.
        entry: The system's entry there.
        corpus, part: The corpus's name, and which of its parts the documents are.
        draws, seed: Of the bootstrap over documents.
        device: auto, cpu, cuda or cuda:N.
        delta: The file with what differs from a package's encoder, where the system is one.
        fetched: JSON file that says which revision was fetched from the hub.
        trained: The folder of a system that was trained here.
        threads: Threads of PyTorch.
    """
    corpus_documents = documents.read_documents(annotated)
    opened = jobs.open_system(
        system, entry, script="scripts/coreference/coreference_f1.py", device=device, threads=threads, delta=delta,
        fetched=fetched, trained=trained,
    )  # fmt: skip
    gold, predicted = [document.clusters for document in corpus_documents], opened.resolver.clusters(corpus_documents)
    scores = metrics.score_clusters(gold, predicted)
    counts = metrics.count_matches(gold, predicted, singletons=False)
    weights = procedures.cluster_weights(len(counts), draws, seed)
    samples = metrics.conll_f1(np.tensordot(weights, counts, 1))
    low, high = procedures.bootstrap_interval(scores["conll"], samples, len(counts), least=0.0)
    rows = [
        {
            "corpus": corpus,
            "part": part,
            "documents": len(corpus_documents),
            "system": system,
            "metric": metric,
            "f1": value,
            "ci_low": low if metric == "conll" else np.nan,
            "ci_high": high if metric == "conll" else np.nan,
            "weights_sha256": opened.facts["weights_sha256"],
        }
        for metric, value in scores.items()
    ]
    files.write_csv(csv, pd.DataFrame(rows))
    log.info("%s on %s, %s: CoNLL F1 %.4f", system, corpus, part, scores["conll"])


if __name__ == "__main__":
    run(main)
