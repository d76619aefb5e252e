"""Put the shards of a system's clusters together."""

import json
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run
from scripts.scoring.merge_scores import shared_facts

# What is added up over shards.
_SUMMED = ("documents", "tokens", "clusters", "documents_timed", "seconds")


def main(*, shards: list, facts: list, clusters: str, metadata: str):
    """Write ``clusters`` and ``metadata`` from the files of ``shards`` and ``facts``, in their order.

    Args:
        shards: Files of clusters.
        facts: The metadata of each of them.
        clusters: File to write, in the format of scripts/core/data/coreference.py.
        metadata: JSON file to write.

    Raises:
        UserError: If two shards differ in system, weights, code, libraries or texts, or one has not as many documents
            as it says.
    """
    stated = [json.loads(Path(path).read_text(encoding="utf-8")) for path in facts]
    expected = shared_facts(shards, stated, (*_SUMMED, "shard"))
    lines = []
    for shard, described in zip(shards, stated, strict=True):
        part = Path(shard).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        if len(part) != described["documents"]:
            raise UserError(
                f"{shard}: its metadata say that it has {described['documents']} documents, but it has {len(part)}; "
                "delete it and run the workflow again"
            )
        lines += part
    files.write_text(clusters, "".join(f"{line}\n" for line in lines))
    summed = {key: round(sum(described[key] for described in stated), 3) for key in _SUMMED}
    files.write_json(metadata, expected | summed)
    log.info("%s from %s", count_noun(len(lines), "document"), count_noun(len(shards), "shard"))


if __name__ == "__main__":
    run(main)
