"""Check RUFF's own template files against the constraints of the paper and list everything that breaks one.

The rules are those of :func:`scripts.ruff.lib.template_checks.check`. Jobs that make instances refuse such files as
well, but stop at the first problem.
"""

import logging

from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.core.workflow.job import run
from scripts.ruff.lib.template_checks import check
from scripts.ruff.lib.templates import read_replica

log = logging.getLogger("pronouns")


def main(*, pronouns: str, task: str, context: str, occupations: str) -> None:
    """Log one line for each problem of the template files.

    Args:
        pronouns: The table of pronoun sets, templates/pronouns.tsv or one of its shape.
        task: The table of task sentences, as templates/ruff/task.tsv.
        context: The table of introductions and distractors, as templates/ruff/context.tsv.
        occupations: The table of occupations and participants, as templates/occupations.tsv.

    Raises:
        UserError: If there is a problem.
    """
    templates = read_replica(task, context, occupations)
    problems = check(templates, read_pronouns(pronouns))
    for problem in problems:
        log.error("%s", problem)
    if problems:
        raise UserError(f"{len(problems)} problem{'s' * (len(problems) > 1)} in RUFF's templates; first: {problems[0]}")
    contexts = sum(map(len, templates.contexts.values()))
    log.info("%d task sentences and %d context templates are fine", len(templates.tasks), contexts)


if __name__ == "__main__":
    run(main)
