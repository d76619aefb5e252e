"""Score a c2f system on the test part of an annotated corpus."""

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import documents, jobs, training
from scripts.core.workflow.job import log, run


def main(
    *,
    test: str,
    csv: str,
    system: str,
    entry: dict,
    corpus: str,
    device: str,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
    threads: int = 1,
):
    """Write one row for each metric of :func:`scripts.core.coreference_systems.training.development_scores`.

    Args:
        test: The annotated documents (JSON Lines).
        csv: File to write: ``corpus``, ``documents``, ``system`` (its name in the registry), ``metric``, ``f1`` (0 to
            1), ``weights_sha256``.
        system: The system's name in the registry.
        entry: The system's entry there.
        corpus: The corpus's name.
        device: auto, cpu, cuda or cuda:N.
        delta: The file with what differs from a package's encoder, where the system is one.
        fetched: JSON file that says which revision was fetched from the hub.
        trained: The folder of a system that was trained here.
        threads: Threads of PyTorch.
    """
    annotated = documents.read(test)
    opened = jobs.open_system(
        system, entry, script="scripts/coreference/coreference_f1.py", device=device, threads=threads, delta=delta,
        fetched=fetched, trained=trained,
    )  # fmt: skip
    resolver = opened.resolver
    scores = training.development_scores(
        resolver.model, resolver.splitter, annotated, resolver.device, resolver.precision
    )
    rows = [
        {
            "corpus": corpus,
            "documents": len(annotated),
            "system": system,
            "metric": metric,
            "f1": value,
            "weights_sha256": opened.facts["weights_sha256"],
        }
        for metric, value in scores.items()
    ]
    files.write_csv(csv, pd.DataFrame(rows))
    log.info("%s on %s: CoNLL F1 %.4f", system, corpus, scores["conll"])


if __name__ == "__main__":
    run(main)
