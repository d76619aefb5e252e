"""Write what annotators are asked about a set of instances."""

from scripts.core import annotation, files
from scripts.core.job import run
from scripts.winopron.lib import questions as assembly


def main(*, instances: str, declaration: str, questions: str):
    """Write ``questions`` (Parquet; :mod:`scripts.core.annotation`) of ``instances``."""
    items = assembly.items(files.read_parquet(instances))
    annotation.write(questions, annotation.task(annotation.read_declaration(declaration), items, instances))


if __name__ == "__main__":
    run(main)
