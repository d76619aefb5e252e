"""Make the instances of one evaluation set: MGC, Winogender with man and woman, or its simplified version."""

from pathlib import Path

from scripts.core import files, templates
from scripts.core.job import log, run
from scripts.underspecification.lib import data, sets


def main(
    *,
    instances: str,
    evaluation_set: str,
    dates: str,
    date_range: str,
    outer_dates: int = 0,
    verbs: str | None = None,
    life_stages: str | None = None,
    places: str | None = None,
    schemas: str | None = None,
    occupations: str | None = None,
    sentences: str | None = None,
):
    """Write ``instances`` (Parquet) of ``evaluation_set``.

    MGC is made of ``verbs``, ``life_stages``, ``places`` and the ``dates`` of ``date_range``; the others of this
    project's ``schemas`` and ``occupations`` or of the authors' ``sentences``, with ``outer_dates`` dates from either
    end of the range.
    """
    years = data.read_dates(dates)[date_range]
    sources = {"sentence_row": sentences or schemas, "occupation_row": occupations}
    if evaluation_set == "mgc":
        frame = sets.mgc(data.read_verbs(verbs), data.read_life_stages(life_stages), years, data.read_places(places))
        sources = {"verb_row": verbs, "life_stage_row": life_stages, "place_row": places}
    elif sentences:
        frame = sets.official(sentences, evaluation_set, sets.outer(years, outer_dates))
    else:
        rows = read_occupations(occupations)
        others = {row["occupation"]: row["participant"] for row in rows}
        frame = sets.replica(data.read_schemas(schemas, others), sets.outer(years, outer_dates))[evaluation_set]
        lines = {row["occupation"]: row["row"] for row in rows}
        frame["occupation_row"] = frame.occupation.map(lines).where(frame.participant == "other").astype("Int64")
    on_dates = frame.variable == "date"
    frame["date_row"] = frame.date_row.mask(on_dates, data.row_of(dates, data.DATE_COLUMNS, date_range))
    log.info("%d instances of %d sentences", len(frame), frame["item"].nunique())
    origins = {column: Path(path).name for column, path in (sources | {"date_row": dates}).items() if path}
    files.write_parquet(instances, frame, {"origins": origins})


def read_occupations(path):
    """Return the rows of templates/occupations.tsv, each with its line (``row``)."""
    return [{**cells, "row": row} for row, cells in templates.read_tsv(path, ("occupation", "participant"))]


if __name__ == "__main__":
    run(main)
