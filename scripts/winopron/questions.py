"""Write what annotators are asked about a set of instances."""

from scripts.core import files
from scripts.core.job import run
from scripts.winopron.lib import questions as assembly


def main(*, instances: str, questions: str):
    """Write ``questions`` (Parquet; :mod:`scripts.core.annotation`) of ``instances``."""
    files.write_parquet(questions, assembly.items(files.read_parquet(instances)))


if __name__ == "__main__":
    run(main)
