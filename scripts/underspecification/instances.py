"""The evaluation sets: MGC, Winogender with man and woman (replica or official), and its simplified version.

Every set is one frame, one row for each sentence and injected date or place: ``instance_id``, ``evaluation_set``
(:data:`SETS`), ``templates``, ``item`` (the sentence without what is injected), ``variable`` (date or place),
``value``, ``position`` (of the value, from 0), ``text`` with its slot, ``verb``, ``form``, ``life_stage`` (MGC),
``occupation``, ``participant``, ``coreferent`` (the others) and ``well_specified``. A factor that a set does not have
is empty. :data:`ROWS` are the lines of the files that a sentence was made from; missing where a set has no such file.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.instances import content_id
from scripts.core.data.options import SLOT
from scripts.core.data.templates import line_numbers, parse_tsv, read_occupations
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.underspecification import templates

SETS = ("mgc", "winogender", "simplified")
VARIABLES = ("date", "place")
PARTICIPANTS = ("man", "woman", "someone", "other")
SPECIFIED = ("man", "woman")
"""A pronoun that means one of these participants is well-specified."""
GENDERED = ("female", "male")
"""What is put before the professional of a simplified sentence to specify its pronoun."""
COREFERENTS = ("professional", "participant")
"""In the order of the authors' codes 0 and 1."""
COLUMNS = (
    "instance_id", "evaluation_set", "templates", "item", "variable", "value", "position", "text", "verb", "form",
    "life_stage", "occupation", "participant", "coreferent", "well_specified",
)  # fmt: skip
ROWS = ("verb_row", "life_stage_row", "place_row", "date_row", "sentence_row", "occupation_row")
OFFICIAL_MASK = "MASK"


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
    """Write ``instances`` (Parquet) of ``evaluation_set``, with ``outer_dates`` dates from either end of the range.

    MGC is made of ``verbs``, ``life_stages`` and ``places``; the others of this project's ``schemas`` and
    ``occupations`` or of the authors' ``sentences``.
    """
    years = templates.read_dates(dates)[date_range]
    sources = {"sentence_row": sentences or schemas, "occupation_row": occupations}
    if evaluation_set == "mgc":
        assert verbs and life_stages and places, "MGC has all three files"
        stages, countries = templates.read_life_stages(life_stages), templates.read_places(places)
        frame = build_mgc(templates.read_verbs(verbs), stages, years, countries)
        sources = {"verb_row": verbs, "life_stage_row": life_stages, "place_row": places}
    elif sentences:
        frame = read_official(sentences, evaluation_set, outermost_dates(years, outer_dates))
    else:
        assert schemas and occupations, "the replica has both"
        rows = templates.read_schemas(schemas, read_occupations(occupations))
        frame = build_replica(rows, outermost_dates(years, outer_dates))[evaluation_set]
        lines = line_numbers(occupations, templates.OCCUPATION_COLUMNS)
        frame["occupation_row"] = frame.occupation.map(lines).where(frame.participant == "other").astype("Int64")
    date_row = line_numbers(dates, templates.DATE_COLUMNS)[date_range]
    frame["date_row"] = frame.date_row.mask(frame.variable == "date", date_row)
    log.info("%d instances of %d sentences", len(frame), frame["item"].nunique())
    origins = {column: Path(path).name for column, path in (sources | {"date_row": dates}).items() if path}
    files.write_parquet(instances, frame, {"origins": origins})


def is_well_specified(evaluation_set: str, participant: str | None, coreferent: str | None) -> bool:
    """Tell whether a sentence gives its pronoun's gender (Appendix H)."""
    if evaluation_set == "simplified":
        return participant in GENDERED
    return evaluation_set == "winogender" and participant in SPECIFIED and coreferent == "participant"


def build_mgc(verbs: list[dict], life_stages: dict[str, int], dates: list[int], places: dict[str, int]) -> pd.DataFrame:
    """Return MGC: every verb phrase and life stage, with every date and every place (Appendix D).

    ``life_stages`` and ``places`` have their lines; ``item`` is the sentence after its opening.
    """
    sentences = []
    for verb in verbs:
        for stage in life_stages:
            body = f"{SLOT} {verb['phrase']} {stage}."
            sentences.append(
                {"item": body, "body": body, **verb, "life_stage": stage, "life_stage_row": life_stages[stage]}
            )
    frames = [
        _inject(sentences, "mgc", "replica", "In {value}, {body}", variable, values)
        for variable, values in (("date", dates), ("place", places))
    ]
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(place_row=frame.value.where(frame.variable == "place").map(places).astype("Int64"))


def outermost_dates(dates: list[int], count: int) -> list[int]:
    """Return the first and the last ``count`` of ``dates``; all of them if they are not more."""
    return dates if 2 * count >= len(dates) else [*dates[:count], *dates[-count:]]


def build_replica(schemas: list[dict], dates: list[int]) -> dict[str, pd.DataFrame]:
    """Return the project's own sets: ``winogender``, extended by man and woman, and ``simplified``."""
    extended, simplified = [], []
    for row in schemas:
        for participant in PARTICIPANTS:
            noun = {"someone": "someone", "other": f"the {row['other']}"}.get(participant, f"the {participant}")
            for coreferent in COREFERENTS:
                body = f"{row['stem']} {row[coreferent]}".replace("{occupation}", row["occupation"])
                body = body.replace("{participant}", noun)
                sentence = _sentence(row["occupation"], participant, coreferent)
                extended.append(sentence | {"body": _slot(body), "sentence_row": row["row"]})
        if row["simplified"]:
            for word in (*GENDERED, "unspecified"):
                noun = row["occupation"] if word == "unspecified" else f"{word} {row['occupation']}"
                body = row["simplified"].replace("{occupation}", noun)
                sentence = _sentence(row["occupation"], word, "professional")
                simplified.append(sentence | {"body": _slot(body), "sentence_row": row["row"]})
    return {
        name: _inject(sentences, name, "replica", "In {value}: {body}", "date", dates)
        for name, sentences in (("winogender", extended), ("simplified", simplified))
    }


def _slot(text: str):
    return re.sub(r"\{(nominative|accusative|possessive)\}", SLOT, text)


def _sentence(occupation: str, participant: str, coreferent: str) -> dict[str, str]:
    item = f"{occupation}_{participant}_{COREFERENTS.index(coreferent)}"
    return {"item": item, "occupation": occupation, "participant": participant, "coreferent": coreferent}


def _inject(
    sentences: list[dict[str, Any]],
    evaluation_set: str,
    template_set: str,
    form: str,
    variable: str,
    values: Collection[int | str],
) -> pd.DataFrame:
    """Return the sentences with each of the ``values`` of a variable put before them, in the format of this module."""
    injected = pd.DataFrame({"value": [str(value) for value in values], "position": range(len(values))})
    frame = pd.DataFrame(sentences).merge(injected, how="cross")
    texts = [form.format(value=value, body=body) for value, body in zip(frame.value, frame.body, strict=True)]
    people = frame.reindex(columns=["participant", "coreferent"]).itertuples(index=False)
    frame = frame.assign(
        instance_id=[content_id("underspecification", text, "", "") for text in texts],
        evaluation_set=evaluation_set,
        templates=template_set,
        variable=variable,
        text=texts,
        well_specified=[is_well_specified(evaluation_set, *pair) for pair in people],
    )
    lines = frame.reindex(columns=list(ROWS)).astype("Int64")
    return pd.concat([frame.reindex(columns=list(COLUMNS), fill_value=""), lines], axis=1)


def read_official(path: str | Path, evaluation_set: str, dates: list[int]) -> pd.DataFrame:
    """Read the authors' sentences of one set: ``all_sentences.tsv`` (winogender) or ``all_sentences_g_id.tsv``.

    Raises:
        UserError: Naming every bad row, and occupations that lack a sentence.
    """
    text = files.read_text(path, "fetch it again")
    known = (*GENDERED, "unspecified") if evaluation_set == "simplified" else PARTICIPANTS
    sentences, problems, seen = [], [], {}
    for number, cells in parse_tsv(text, ("sentid", "sentence"), str(path)):
        sentence = parse_item(cells["sentid"], evaluation_set)
        if sentence is None:
            problems.append(f"row {number}: '{cells['sentid']}' is not occupation_participant_0 or _1")
            continue
        if cells["sentence"].count(OFFICIAL_MASK) != 1:
            problems.append(f"row {number}: the sentence must hold {OFFICIAL_MASK} exactly once")
        if sentence["item"] in seen:
            problems.append(f"row {number}: '{sentence['item']}' is already in row {seen[sentence['item']]}")
        seen[sentence["item"]] = number
        sentences.append(sentence | {"body": cells["sentence"].replace(OFFICIAL_MASK, SLOT), "sentence_row": number})
    codes = "0" if evaluation_set == "simplified" else "01"
    for occupation in dict.fromkeys(s["occupation"] for s in sentences):
        lacking = [f"{occupation}_{p}_{c}" for p in known for c in codes if f"{occupation}_{p}_{c}" not in seen]
        if lacking:
            problems.append(f"no row for '{lacking[0]}'")
    if problems or not sentences:
        raise UserError(f"{path}: {'; '.join(problems) or 'has no sentence'}; fetch the file again")
    return _inject(sentences, evaluation_set, "official", "In {value}: {body}", "date", dates)


def parse_item(name: str, evaluation_set: str) -> dict[str, str] | None:
    """Return ``item``, ``occupation``, ``participant`` and ``coreferent`` of one of the authors' ids, None for others.

    The context's own person is the participant ``other``.
    """
    parts = re.fullmatch(r"([a-z]+)_([a-z]+)_([01])", name)
    if not parts:
        return None
    occupation, participant, code = parts.groups()
    if evaluation_set == "simplified":
        if participant not in (*GENDERED, "unspecified") or code == "1":
            return None
    elif participant not in PARTICIPANTS:
        participant = "other"
    return _sentence(occupation, participant, COREFERENTS[int(code)])


def evenly_spaced(values: Iterable, count: int) -> list:
    """Return ``count`` of ``values``, evenly spaced with both ends; all of them if they are not more."""
    values = list(values)
    if count >= len(values):
        return values
    return [values[i] for i in np.linspace(0, len(values) - 1, count).round().astype(int)]


def sample_instances(frame: pd.DataFrame, dates: int, places: int, occupations: int) -> pd.DataFrame:
    """Return the instances that the models of a run read: dates and places of MGC, else occupations."""
    if frame.evaluation_set.iloc[0] == "mgc":
        kept = [
            part[part.position.isin(evenly_spaced(sorted(part.position.unique()), count))]
            for (_, part), count in zip(frame.groupby("variable", sort=True), (dates, places), strict=True)
        ]
        return pd.concat(kept).sort_index()
    return frame[frame.occupation.isin(evenly_spaced(sorted(frame.occupation.unique()), occupations))]


if __name__ == "__main__":
    run_named()
