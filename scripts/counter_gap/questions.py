"""Write what annotators are asked about quadruples (section 2.3)."""

from scripts.core import annotation, files
from scripts.core.job import run
from scripts.counter_gap.lib import votes


def main(*, declaration: str, questions: str, instances: str):
    """Write ``questions`` (Parquet; :mod:`scripts.core.annotation`).

    Parameters
    ----------
    declaration : str
        What is asked (YAML).
    questions : str
        The task to write (Parquet).
    instances : str
        The quadruples (Parquet); their labels, where they have some, stay hidden.
    """
    items = votes.items(files.read_parquet(instances))
    made = annotation.task(annotation.read_declaration(declaration), items, instances)
    annotation.write(questions, made)


if __name__ == "__main__":
    run(main)
