"""Resolve a shard of a set of documents with one coreference system."""

from scripts.core import files
from scripts.core.coreference_systems import jobs
from scripts.core.data import coreference
from scripts.core.errors import UserError, count_noun
from scripts.core.models import model_jobs
from scripts.core.workflow.job import log, run
from scripts.core.workflow.parts import Batch, Parts


def main(
    *,
    documents: str,
    clusters: str,
    metadata: str,
    system: str,
    entry: dict,
    identifier: str,
    device: str,
    save_seconds: float = 30,
    shard: int = 1,
    shards: int = 1,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
    environment: str | None = None,
    threads: int = 1,
):
    """Write ``clusters`` for shard ``shard`` of ``shards`` of ``documents``, and in ``metadata`` what made them.

    Finished parts are kept in a folder beside ``clusters`` until all is done, and taken up by the next try. What is not
    named here is as for scores (scripts/scoring/score.py).

    Args:
        documents: Parquet file of documents, one row each, with a column text.
        clusters: File to write, in the format of scripts/core/data/coreference.py.
        metadata: JSON file to write: system, revision, digests of weights, texts and code, libraries, device, numbers,
            seconds.
        system: The system's name, for messages and metadata.
        entry: The system's entry in the registry: source, architecture, precision, environment and the like.
        identifier: The column with the documents' names.
        delta: The file with what differs from a package's encoder, where the system is one.
        trained: The folder of a system that was trained here.
        environment: JSON file that says where the environment of the packages' systems is.

    Raises:
        UserError: If the system cannot be loaded, a document has no text or is too long for it, or a GPU is asked for
            and absent.
    """
    model_jobs.clear_leftovers(clusters, metadata)
    texts = jobs.read_texts(documents, identifier)
    whole = jobs.digest_texts(texts)
    first, last = (len(texts) * number // shards for number in (shard - 1, shard))
    texts = dict(list(texts.items())[first:last])
    opened = jobs.open_system(
        system, entry, script="scripts/coreference/coreference.py", device=device, threads=threads, delta=delta,
        fetched=fetched, trained=trained, environment=environment,
    )  # fmt: skip
    facts = opened.facts | {"texts_sha256": whole}
    label = system if shards == 1 else f"{system} {shard}/{shards}"
    parts = Parts(clusters, facts | {"threads": threads}, save_seconds, label=label, unit="doc")
    parts.bar.total = len(texts)

    def resolve(batch: Batch) -> list[str]:
        documents = list(opened.resolver.resolve(batch.work))
        if [document.document for document in documents] != [name for name, _ in batch.work]:
            raise UserError(f"system {system} left out documents or changed their order; report this as a defect")
        return [coreference.encode_document(document) for document in documents]

    with parts:
        work = parts.work(jobs.digest_texts(texts), jobs.group_documents(texts), resolve)
        lines = [line for _, found in work for line in found]
    files.write_text(clusters, "".join(lines))
    # What a system writes is held to what the workflow accepts of anybody's.
    resolved = coreference.read_clusters(clusters, texts).values()
    counts = {
        "documents": len(resolved),
        "tokens": sum(len(document.tokens) for document in resolved),
        "clusters": sum(len(document.clusters) for document in resolved),
        "documents_timed": parts.fresh,
        "seconds": round(parts.seconds, 3),
    }
    files.write_json(metadata, facts | counts | {"shard": shard, "shards": shards})
    parts.remove()
    log.info(
        "%s, %s; %d of them now (%.1f a second)",
        count_noun(counts["documents"], "document"), count_noun(counts["clusters"], "cluster"), parts.fresh, parts.rate,
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
