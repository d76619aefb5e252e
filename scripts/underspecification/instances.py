"""Make the instances of one evaluation set: MGC, Winogender with man and woman, or its simplified version."""

from scripts.core import files, templates
from scripts.core.job import log, run
from scripts.underspecification import data, sets


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
    if evaluation_set == "mgc":
        frame = sets.mgc(data.read_verbs(verbs), data.read_life_stages(life_stages), years, data.read_places(places))
    elif sentences:
        frame = sets.official(sentences, evaluation_set, sets.outer(years, outer_dates))
    else:
        others = {row["occupation"]: row["participant"] for row in read_occupations(occupations)}
        frame = sets.replica(data.read_schemas(schemas, others), sets.outer(years, outer_dates))[evaluation_set]
    log.info("%d instances of %d sentences", len(frame), frame["item"].nunique())
    files.write_parquet(instances, frame)


def read_occupations(path):
    """Return the rows of templates/occupations.tsv."""
    return [cells for _, cells in templates.read_tsv(path, ("occupation", "participant"))]


if __name__ == "__main__":
    run(main)
