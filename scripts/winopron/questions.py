"""Write what annotators are asked about a set of instances."""

from scripts.core import files
from scripts.core.job import run
from scripts.winopron.lib import questions


def main(*, instances: str, items: str):
    """Write the ``items`` (Parquet; :mod:`scripts.core.annotation`) of ``instances``."""
    files.write_parquet(items, questions.items(files.read_parquet(instances)))


if __name__ == "__main__":
    run(main)
