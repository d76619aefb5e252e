"""Write the sheet that annotators fill in."""

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import log, run


def main(*, questions: str, sheet: str, seed: int):
    """Write ``sheet`` (CSV) from the ``questions`` (Parquet) of a study, in an order that ``seed`` decides."""
    table = annotation.sheet(annotation.load(questions), seed)
    log.info("%d rows to fill in", len(table))
    files.write_csv(sheet, table)


if __name__ == "__main__":
    run(main)
