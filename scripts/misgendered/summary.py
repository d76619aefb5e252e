"""Write MISGENDERED's rows of the summary over all studies."""

from pathlib import Path

from scripts.core import files
from scripts.core.estimate_rows import write
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.summary import of_analyses, rows


def main(*, accuracy: str, tables: list, summary: str, models: dict, template_sets: list, wording: str):
    """Write ``summary`` (CSV); ``tables`` are those of the analyses of scores, as many of each of ``template_sets``.

    ``wording`` is that of the declarations which results are about.
    """
    found = rows(figures.read(accuracy, ["shots"]), models, template_sets)
    each = len(tables) // len(template_sets)
    for index, data in enumerate(template_sets):
        of_set = {Path(path).stem: files.read_csv(path) for path in tables[index * each : (index + 1) * each]}
        found += of_analyses(of_set, models, data) if of_set else []
    write(summary, "misgendered", [row | {"wording": wording} for row in found])


if __name__ == "__main__":
    run(main)
