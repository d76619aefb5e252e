"""Turn the scores of all models into predictions, with and without examples in the prompt."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.misgendered.lib import declarations
from scripts.misgendered.lib.analyses import predictions as analysis


def main(
    *,
    instances: list,
    scores: list,
    combinations: str,
    predictions: str,
    models: list,
    labels: str,
    capitals: str,
):
    """Write ``predictions`` (Parquet).

    ``instances`` are the sets of one set of templates, without examples and with each number of them; ``scores`` has a
    file for each of the sets and each of its ``models``, models varying fastest. ``labels`` and ``capitals`` say which
    scores are compared.
    """
    declared = {number: forms for number, (forms, _) in declarations.read(combinations).items()}
    asked = [(path, model) for path, names in zip(instances, models, strict=True) for model in names]
    if not asked:
        raise UserError(
            "misgendered: no model of this run has a loss on labels, because all of them are masked language models; "
            "add a decoder or an encoder-decoder to models, or leave misgendered out of studies"
        )
    tables = {path: files.read_parquet(path) for path in instances}
    parts = []
    for (source, model), path in zip(asked, scores, strict=True):
        table = tables[source]
        read = model_outputs.read_scores(path, model, table)
        part = analysis.predictions(table, read, model, declared, labels, capitals)
        log.info("%s, %s: %d instances, %d ties", model, path, len(part), int(part.tie.sum()))
        parts.append(part)
    files.write_parquet(predictions, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    run(main)
