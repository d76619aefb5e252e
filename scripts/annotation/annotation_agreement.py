"""Read the sheets that annotators filled in: who accepts what, how far they agree, and which rows they reject."""

from scripts.core import annotation, files
from scripts.core.errors import UserError
from scripts.core.job import log, run


def main(*, questions: str, sheets: list, agreement: str, rejected: str, annotators: list):
    """Write ``agreement`` and ``rejected`` (CSV) from what ``annotators`` said of ``questions`` in their ``sheets``."""
    if len(set(annotators)) < len(annotators):
        raise UserError("annotation: two sheets have the same annotator; name each once")
    asked = files.read_parquet(questions)
    read = {name: annotation.read(path, asked) for name, path in zip(annotators, sheets, strict=True)}
    judgements = annotation.judged(asked, read)
    table = annotation.rejected(judgements)
    log.info("%d of %d judgements reject their row", len(table), len(judgements))
    files.write_csv(agreement, annotation.agreement(judgements))
    files.write_csv(rejected, table)


if __name__ == "__main__":
    run(main)
