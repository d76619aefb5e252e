"""Read the sheets that annotators filled in: their answers, how far they agree, how often they are right."""

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.errors import UserError
from scripts.core.statistics import agreement as measures
from scripts.core.workflow.job import log, run


def main(
    *,
    questions: str,
    sheets: list,
    answers: str,
    agreement: str,
    accuracy: str,
    rejected: str,
    annotators: list,
    partial: list,
    draws: int,
    seed: int,
):
    """Write what ``annotators`` said of ``questions`` in their ``sheets`` (CSV, or JSON from the page).

    Args:
        questions: The task (Parquet).
        sheets, annotators: The filled-in files, and who filled each in.
        partial: Whether each annotator answered some of the items only.
        answers: Every answer beside the wanted one (CSV).
        agreement: How far annotators agree on each question (CSV).
        accuracy: How often they give the wanted answer, with intervals (CSV).
        rejected: The rows that they rejected, with reasons (CSV).
        draws, seed: Of the bootstrap over groups of items.
    """
    if not sheets:
        raise UserError(
            f"{questions}: no annotator has answered this task; list completed sheets in the study's annotation.sheets"
        )
    annotation.check_annotators(annotators)
    task = annotation.load(questions)
    read = {
        name: annotation.read(path, task, name, some)
        for name, path, some in zip(annotators, sheets, partial, strict=True)
    }
    table = annotation.answers(task, read)
    wrong = measures.rejected_items(table)
    log.info("%d annotators, %d answers, %d rejected rows", len(read), len(table), len(wrong))
    files.write_csv(answers, table)
    files.write_csv(agreement, measures.agreement(table))
    files.write_csv(accuracy, measures.accuracy(table, draws, seed))
    files.write_csv(rejected, wrong)


if __name__ == "__main__":
    run(main)
