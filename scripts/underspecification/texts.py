"""Make the texts of one evaluation set that models fill or continue."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.core.options import SLOT
from scripts.underspecification.lib import data, sets

MASK = "[MASK]"


def make(instances, prompts):
    """Return one row for each instance with a plain mask and with each of ``prompts``.

    Parameters
    ----------
    instances : DataFrame
    prompts : dict of str to Prompt

    Returns
    -------
    DataFrame
        ``text_id``, ``instance_id``, ``prompt`` (``mask`` or the prompt's id), ``text``, ``method``, and the lines that
        the instance was made from (:data:`sets.ROWS`).
    """
    rows = []
    for identifier, text in zip(instances.instance_id, instances.text, strict=True):
        rows.append((identifier, "mask", text.replace(SLOT, MASK), "mask"))
        for name, prompt in prompts.items():
            rows.append((identifier, name, prompt.wrap(text.replace(SLOT, prompt.blank)), "generate"))
    frame = pd.DataFrame(rows, columns=["instance_id", "prompt", "text", "method"])
    frame.insert(0, "text_id", frame.instance_id + "-" + frame.prompt)
    return frame.join(instances.set_index("instance_id")[list(sets.ROWS)], on="instance_id")


def main(*, instances: str, prompts: str, texts: str, use: list, dates: int, places: int, occupations: int):
    """Write ``texts`` (Parquet) with the prompts ``use`` for a sample of ``instances``; see :func:`sets.sample`."""
    known = data.read_prompts(prompts)
    frame = sets.sample(files.read_parquet(instances), dates, places, occupations)
    # An instance that two factors give twice is read once.
    found = make(frame.drop_duplicates("instance_id"), {name: known[name] for name in use})
    lines = {name: data.row_of(prompts, data.PROMPT_COLUMNS, name) for name in use}
    found["prompt_row"] = found.prompt.map(lines).astype("Int64")
    log.info("%d texts of %d instances", len(found), frame.instance_id.nunique())
    origins = files.parquet_metadata(instances).get("origins", {}) | {"prompt_row": Path(prompts).name}
    files.write_parquet(texts, found, {"origins": origins})


if __name__ == "__main__":
    run(main)
