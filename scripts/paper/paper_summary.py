"""Write one tidy table over all studies, as CSV and as JSON."""

import json

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.workflow.job import run


def main(*, summaries_of_studies: list, csv: str, json_file: str) -> None:
    """Write ``csv`` and ``json_file``, a list of the same rows, from the summaries of the studies, in that order."""
    frame = estimate_rows.read_estimates(summaries_of_studies)
    files.write_csv(csv, frame)
    files.write_json(json_file, json.loads(frame.to_json(orient="records")))


if __name__ == "__main__":
    run(main)
