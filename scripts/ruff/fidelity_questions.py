"""Write the instances in which annotators fill the blank (section 3.3)."""

from scripts.core import annotation, files
from scripts.core.job import run
from scripts.ruff.lib import people

COLUMNS = ["instance_id", "text", "gold", "n_distractors"]


def main(*, samples: list, declaration: str, questions: str, instances: int, seed: int):
    """Write ``questions`` (Parquet): of each of the ``samples`` so many ``instances``, which ``seed`` draws."""
    items = people.fidelity([files.read_parquet(path, COLUMNS) for path in samples], instances, seed)
    annotation.write(questions, annotation.task(annotation.read_declaration(declaration), items, questions))


if __name__ == "__main__":
    run(main)
