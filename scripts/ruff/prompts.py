"""Select the RUFF instances that models are prompted with, and write all their prompts.

Of each sample those rows are taken that :func:`scripts.ruff.lib.selection.balanced` takes first, so prompted
instances are among the scored ones as long as no more are prompted than scored. Neighbouring prompts belong to one
instance.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.ruff.lib.prompts import instance_prompts, read_chains, read_prompts, select_chains, with_origins
from scripts.ruff.lib.selection import balanced
from scripts.ruff.lib.templates import ORIGINS


def main(
    *,
    samples: list,
    prompt_templates: str,
    chain_templates: str,
    sample_size: int,
    kinds: list,
    blank: str,
    option_orders: list,
    chains: dict,
    prompted: str,
    prompts: str,
):
    """Write the selected rows of all ``samples`` (Parquet) to ``prompted`` and their prompts to ``prompts``.

    Parameters
    ----------
    samples : list of str
        One file for each seed and number of distractor sentences.
    prompt_templates, chain_templates : str
        The files that :mod:`scripts.ruff.lib.prompts` reads.
    sample_size : int
        Rows to take from each sample.
    kinds : list of str
        Which prompts to use, of ``open`` and ``options``.
    blank : str
        ``code`` or ``paper``.
    option_orders : list of str
        ``published``, ``rotated``.
    chains : dict
        ``methods``, ``distractors`` and ``sample_size``: chains of thought are elicited by these methods, on so many of
        the rows of samples with so many distractors.
    prompted : str
        The rows, once for each sample that they are in, with the column ``chains``: whether they are asked for chains.
    prompts : str
        One row for each prompt of each distinct instance (:func:`scripts.ruff.lib.prompts.instance_prompts`).
    """
    templates = {k: v for k, v in read_prompts(prompt_templates).items() if v["kind"] in kinds}
    methods = select_chains(read_chains(chain_templates), chains["methods"], chain_templates)
    parts = []
    for path in samples:
        sample = files.read_parquet(path)
        chosen = balanced(sample, sample_size)
        part = sample.iloc[chosen]
        asked = np.isin(chosen, balanced(sample, chains["sample_size"]))
        parts.append(part.assign(chains=asked & part.n_distractors.isin(chains["distractors"])))
    rows = pd.concat(parts, ignore_index=True)
    known = files.parquet_metadata(samples[0]).get("origins", {})
    files.write_parquet(prompted, rows, {"origins": known})
    with_chains = rows.groupby("instance_id").chains.any()
    made = [
        prompt
        for row in rows.drop_duplicates("instance_id").sort_values("text").itertuples(index=False)
        for prompt in instance_prompts(
            row.instance_id, row.text, list(row.options), templates, methods, option_orders, blank,
            with_chains[row.instance_id],
        )
    ]  # fmt: skip
    frame = with_origins(pd.DataFrame(made), rows, ORIGINS, prompt_templates, chain_templates)
    settings = {"blank": blank, "option_orders": option_orders, "kinds": kinds, "chains": chains}
    settings["origins"] = known | {"prompt_row": Path(prompt_templates).name, "chain_row": Path(chain_templates).name}
    files.write_parquet(prompts, frame, settings | {"sample_size": sample_size})
    log.info("%d rows of samples, %d distinct instances, %d prompts", len(rows), len(with_chains), len(made))


if __name__ == "__main__":
    run(main)
