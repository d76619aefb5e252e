"""Write the prompts of a set of templates: sentences about a sample of people, with every prompt and variant."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.winopron.lib import prompts as assembly


def main(
    *,
    instances: list,
    prompt_templates: str,
    prompts: str,
    pairs: int | str,
    seed: int,
    chosen: str | list,
    variants: list,
):
    """Write ``prompts`` (Parquet; :func:`scripts.winopron.lib.prompts.of_instances` has the columns).

    Parameters
    ----------
    instances : list of str
        One file for each kind of sentences that is asked about.
    prompt_templates : str
    prompts : str
    pairs : int or str
        How many pairs of people are drawn with ``seed``, or all.
    seed : int
    chosen : str or list of str
        Ids of prompt templates, or all.
    variants : list of str
        Which people a prompt lists as options, in which order: :data:`scripts.winopron.lib.prompts.VARIANTS`.
    """
    read = [files.read_parquet(path) for path in instances]
    kept = assembly.sample(read[0].pair, pairs, seed)
    templates = assembly.read(prompt_templates, chosen)
    rows = [row for frame in read for row in assembly.of_instances(frame[frame.pair.isin(kept)], templates, variants)]
    origins = files.parquet_metadata(instances[0]).get("origins", {}) | {"prompt_row": Path(prompt_templates).name}
    frame = pd.DataFrame(rows)
    for column in ("template_row", "occupation_row", "pronoun_row", "prompt_row"):
        frame[column] = frame[column].astype("Int64")
    files.write_parquet(prompts, frame, {"origins": origins, "pairs": kept})
    log.info("%d prompts about %d pairs of people", len(frame), len(kept))


if __name__ == "__main__":
    run(main)
