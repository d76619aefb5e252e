"""The instances of Underspecification and the texts made of them, each by the function of its rule."""

from pathlib import Path

from scripts.core import files
from scripts.core.data.templates import read_occupations
from scripts.core.workflow.job import log, run_named
from scripts.underspecification.lib import templates
from scripts.underspecification.lib.instances import mgc, official, outermost_dates, replica, sample
from scripts.underspecification.lib.texts import make_texts


def instances(
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
) -> None:
    """Write ``instances`` (Parquet) of ``evaluation_set``.

    MGC is made of ``verbs``, ``life_stages``, ``places`` and the ``dates`` of ``date_range``; the others of this
    project's ``schemas`` and ``occupations`` or of the authors' ``sentences``, with ``outer_dates`` dates from either
    end of the range.
    """
    years = templates.read_dates(dates)[date_range]
    sources = {"sentence_row": sentences or schemas, "occupation_row": occupations}
    if evaluation_set == "mgc":
        assert verbs and life_stages and places, "MGC has all three files"
        stages, countries = templates.read_life_stages(life_stages), templates.read_places(places)
        frame = mgc(templates.read_verbs(verbs), stages, years, countries)
        sources = {"verb_row": verbs, "life_stage_row": life_stages, "place_row": places}
    elif sentences:
        frame = official(sentences, evaluation_set, outermost_dates(years, outer_dates))
    else:
        assert schemas and occupations, "the replica has both"
        rows = templates.read_schemas(schemas, read_occupations(occupations))
        frame = replica(rows, outermost_dates(years, outer_dates))[evaluation_set]
        lines = templates.row_numbers(occupations, templates.OCCUPATION_COLUMNS)
        frame["occupation_row"] = frame.occupation.map(lines).where(frame.participant == "other").astype("Int64")
    date_row = templates.row_numbers(dates, templates.DATE_COLUMNS)[date_range]
    frame["date_row"] = frame.date_row.mask(frame.variable == "date", date_row)
    log.info("%d instances of %d sentences", len(frame), frame["item"].nunique())
    origins = {column: Path(path).name for column, path in (sources | {"date_row": dates}).items() if path}
    files.write_parquet(instances, frame, {"origins": origins})


def texts(*, instances: str, prompts: str, texts: str, use: list, dates: int, places: int, occupations: int) -> None:
    """Write ``texts`` (Parquet) with the prompts ``use`` for a sample of ``instances``.

    The sample has ``dates`` and ``places`` of MGC, or ``occupations`` of the other sets.
    """
    known, lines = templates.read_prompts(prompts), templates.row_numbers(prompts, templates.PROMPT_COLUMNS)
    frame = sample(files.read_parquet(instances), dates, places, occupations)
    # An instance that two factors give twice is read once.
    rows = make_texts(frame.drop_duplicates("instance_id"), {name: known[name] for name in use})
    rows["prompt_row"] = rows.prompt.map({name: lines[name] for name in use}).astype("Int64")
    log.info("%d texts of %d instances", len(rows), frame.instance_id.nunique())
    origins = files.parquet_metadata(instances).get("origins", {}) | {"prompt_row": Path(prompts).name}
    files.write_parquet(texts, rows, {"origins": origins})


if __name__ == "__main__":
    run_named()
