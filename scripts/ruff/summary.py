"""Write RUFF's rows of the summary over all studies."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.summary import write
from scripts.ruff.lib.summary import rows


def main(*, accuracy: list, prompted: list, summary: str, template_sets: list, models: dict, distractors: list):
    """Write ``summary`` (CSV) from the tables of each of ``template_sets``, in that order.

    ``prompted`` is empty if nobody was prompted; ``models`` are those that were scored and those that were prompted.
    """
    found = []
    for index, (data, path) in enumerate(zip(template_sets, accuracy, strict=True)):
        asked = files.read_csv(prompted[index]) if prompted else None
        found += rows(files.read_csv(path), asked, models, data, max(distractors))
    write(summary, "RUFF", found)


if __name__ == "__main__":
    run(main)
