"""Sum the probabilities of gendered words in a model's token distributions (Appendix G)."""

from pathlib import Path

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.underspecification.lib import templates
from scripts.underspecification.lib.analyses.masses import accumulate, accumulate_full, tidy


def main(
    *, instances: list, texts: list, distributions: list, full: list, words: str, masses: str, label: str, methods: list
):
    """Write ``masses`` (Parquet) of one model from its ``distributions`` on each of the sets.

    ``full`` are the masses over the whole vocabulary beside the distributions, none for a model behind a server;
    ``label`` is the model's name in tables; of ``texts`` those for ``methods`` were read.
    """
    groups = templates.read_words(words)
    frames = []
    full = full or [None] * len(texts)
    for instance_file, text_file, top_file, full_file in zip(instances, texts, distributions, full, strict=True):
        sentences, rows = files.read_parquet(instance_file), files.read_parquet(text_file)
        rows = rows[rows.method.isin(methods)]
        method = rows.set_index("text_id").method
        top = model_outputs.read_distributions(top_file, Path(top_file).stem, method.index)
        frames.append(tidy(accumulate(top, method, groups), rows, sentences, label, "top"))
        if full_file:
            whole = model_outputs.read_masses(full_file, Path(top_file).stem, list(groups), top)
            frames.append(tidy(accumulate_full(whole, top, method, groups), rows, sentences, label, "full"))
        log.info("%s: %d texts", text_file, len(rows))
    files.write_parquet(masses, pd.concat(frames, ignore_index=True))


if __name__ == "__main__":
    run(main)
