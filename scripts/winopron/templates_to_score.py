"""Select the templates that models resolve by likelihood: those about a sample of pairs of people."""

from scripts.core import files
from scripts.core.job import log, run
from scripts.winopron.lib import prompts, resolution


def main(*, instances: str, selected: str, pairs: int | str, seed: int):
    """Write ``selected`` (Parquet; :func:`scripts.winopron.lib.resolution.instances` has the columns).

    ``instances`` are the sentences about two people; ``pairs`` is how many pairs of people are drawn with ``seed``, or
    all.
    """
    sentences = files.read_parquet(instances)
    table = resolution.instances(sentences, prompts.sample(sentences.pair, pairs, seed))
    origins = files.parquet_metadata(instances).get("origins", {})
    files.write_parquet(selected, table, {"origins": {k: v for k, v in origins.items() if k in table}})
    log.info("%d templates", len(table))


if __name__ == "__main__":
    run(main)
