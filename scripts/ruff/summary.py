"""Write RUFF's rows of the summary over all studies."""

from pathlib import Path

from scripts.core import files
from scripts.core.estimate_rows import write
from scripts.core.job import run
from scripts.ruff.lib.summary import of_analyses, rows


def main(
    *,
    accuracy: list,
    prompted: list,
    tables: list,
    summary: str,
    template_sets: list,
    models: dict,
    distractors: list,
):
    """Write ``summary`` (CSV) from the tables of each of ``template_sets``, in that order.

    ``prompted`` is empty if nobody was prompted; ``tables`` are those of the analyses of scores, as many of each set;
    ``models`` are those that were scored and those that were prompted.
    """
    found, each = [], len(tables) // len(template_sets)
    for index, (data, path) in enumerate(zip(template_sets, accuracy, strict=True)):
        asked = files.read_csv(prompted[index]) if prompted else None
        found += rows(files.read_csv(path), asked, models, data, max(distractors))
        of_set = {
            Path(table).stem: files.read_csv(table, dtype={"level": str, "n_distractors": str})
            for table in tables[index * each : (index + 1) * each]
        }
        found += of_analyses(of_set, models, data) if of_set else []
    write(summary, "ruff", found)


if __name__ == "__main__":
    run(main)
