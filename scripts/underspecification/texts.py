"""The texts that models fill or continue: an instance with a mask and with each prompt, and how many there will be."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data.options import SLOT
from scripts.core.data.templates import line_numbers
from scripts.core.workflow.job import log, run_named
from scripts.underspecification import templates
from scripts.underspecification.instances import COREFERENTS, GENDERED, PARTICIPANTS, ROWS, sample_instances
from scripts.underspecification.templates import Prompt

MASK = "[MASK]"
SENTENCES = 60
"""MGC's sentences before dates and places: ten verb phrases with six life stages (Appendix D)."""
OCCUPATIONS = {"winogender": 60, "simplified": 48}
"""In the authors' files as in this project's."""
DATES, PLACES = 30, 20
"""Of MGC; Winogender has as many dates."""


def texts(*, instances: str, prompts: str, texts: str, use: list, dates: int, places: int, occupations: int) -> None:
    """Write ``texts`` (Parquet) with the prompts ``use`` for a sample of ``instances``.

    The sample has ``dates`` and ``places`` of MGC, or ``occupations`` of the other sets.
    """
    known, lines = templates.read_prompts(prompts), line_numbers(prompts, templates.PROMPT_COLUMNS)
    frame = sample_instances(files.read_parquet(instances), dates, places, occupations)
    # An instance that two factors give twice is read once.
    rows = make_texts(frame.drop_duplicates("instance_id"), {name: known[name] for name in use})
    rows["prompt_row"] = rows.prompt.map({name: lines[name] for name in use}).astype("Int64")
    log.info("%d texts of %d instances", len(rows), frame.instance_id.nunique())
    origins = files.parquet_metadata(instances).get("origins", {}) | {"prompt_row": Path(prompts).name}
    files.write_parquet(texts, rows, {"origins": origins})


def make_texts(instances: pd.DataFrame, prompts: Mapping[str, Prompt]) -> pd.DataFrame:
    """Return one row for each instance with a plain mask (``prompt`` mask) and with each of ``prompts``."""
    rows = []
    for identifier, text in zip(instances.instance_id, instances.text, strict=True):
        rows.append((identifier, "mask", text.replace(SLOT, MASK), "mask"))
        for name, prompt in prompts.items():
            rows.append((identifier, name, prompt.wrap(text.replace(SLOT, prompt.blank)), "generate"))
    frame = pd.DataFrame(rows, columns=["instance_id", "prompt", "text", "method"])
    frame.insert(0, "text_id", frame.instance_id + "-" + frame.prompt)
    return frame.join(instances.set_index("instance_id")[list(ROWS)], on="instance_id")


def count_texts(
    evaluation_set: str, sample: dict[str, int], outer_dates: int, prompts: Sequence[str]
) -> dict[str, int]:
    """Return how many texts a set has at most, by method: sentences to ``mask``, prompts to ``generate`` from.

    Args:
        sample: ``dates`` and ``places`` of MGC, ``occupations`` of the others.
        outer_dates: Dates at either end of Winogender's range.
    """
    if evaluation_set == "mgc":
        instances = SENTENCES * (min(sample["dates"], DATES) + min(sample["places"], PLACES))
    else:
        kinds = len(PARTICIPANTS) * len(COREFERENTS) if evaluation_set == "winogender" else len(GENDERED) + 1
        instances = min(sample["occupations"], OCCUPATIONS[evaluation_set]) * kinds * min(2 * outer_dates, DATES)
    return {"mask": instances, "generate": instances * len(prompts)}


if __name__ == "__main__":
    run_named()
