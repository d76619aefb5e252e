"""Write what annotators are asked about RUFF's templates (section 3.3)."""

from scripts.core import annotation
from scripts.core.job import run
from scripts.ruff.lib import instances, people


def main(*, templates: list, pronouns: str, pronoun_sets: list, declaration: str, questions: str):
    """Write ``questions`` (Parquet); ``templates`` are those of :func:`scripts.ruff.instances.main`."""
    items = people.validation(instances.load(templates, pronouns, pronoun_sets))
    annotation.write(questions, annotation.task(annotation.read_declaration(declaration), items, questions))


if __name__ == "__main__":
    run(main)
