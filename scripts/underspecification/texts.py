"""Make the texts of one evaluation set that models fill or continue."""

from pathlib import Path

from scripts.core import files
from scripts.core.job import log, run
from scripts.underspecification.lib import templates
from scripts.underspecification.lib.instances import sample
from scripts.underspecification.lib.texts import make


def main(*, instances: str, prompts: str, texts: str, use: list, dates: int, places: int, occupations: int):
    """Write ``texts`` (Parquet) with the prompts ``use`` for a sample of ``instances``.

    The sample has ``dates`` and ``places`` of MGC, or ``occupations`` of the other sets.
    """
    known, lines = templates.read_prompts(prompts), templates.row_numbers(prompts, templates.PROMPT_COLUMNS)
    frame = sample(files.read_parquet(instances), dates, places, occupations)
    # An instance that two factors give twice is read once.
    rows = make(frame.drop_duplicates("instance_id"), {name: known[name] for name in use})
    rows["prompt_row"] = rows.prompt.map({name: lines[name] for name in use}).astype("Int64")
    log.info("%d texts of %d instances", len(rows), frame.instance_id.nunique())
    origins = files.parquet_metadata(instances).get("origins", {}) | {"prompt_row": Path(prompts).name}
    files.write_parquet(texts, rows, {"origins": origins})


if __name__ == "__main__":
    run(main)
