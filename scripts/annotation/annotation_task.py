"""Make a task for annotators from a declaration and a table of items: for tasks that belong to no study."""

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import log, run


def main(*, declaration: str, items: str, questions: str):
    """Write the task.

    Args:
        declaration: Title, instructions and questions (YAML; docs/annotation.md).
        items: What is asked about (CSV), with the columns item_id, sentence and, where they are needed, group,
            question, expected, mark, names.
        questions: The task to write (Parquet).
    """
    made = annotation.task(annotation.read_declaration(declaration), files.read_sheet(items, "item_id"), items)
    log.info("%d items, task %s", len(made.items), made.digest)
    annotation.write(questions, made)


if __name__ == "__main__":
    run(main)
