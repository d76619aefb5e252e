"""Turn the scores of all models into predictions, with and without examples in the prompt."""

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
    wording: str,
    labels: str,
    capitals: str,
):
    """Write ``predictions`` (Parquet).

    ``instances`` are the sets of one set of templates, without examples and with each number of them; ``scores`` has a
    file for each of the sets and each of its ``models``, models varying fastest. Instances count in the ``wording`` of
    the run; ``labels`` and ``capitals`` say which scores are compared.
    """
    declared = {number: forms for number, (forms, _) in declarations.read(combinations).items()}
    asked = [(path, model) for path, names in zip(instances, models, strict=True) for model in names]
    if not asked:
        raise UserError(
            "misgendered: no model of this run has a loss on labels, because all of them are masked language models; "
            "add a decoder or an encoder-decoder to models, or leave misgendered out of studies"
        )
    with files.append_parquet(predictions) as append:
        known, of = None, None
        for (source, model), path in zip(asked, scores, strict=True):
            if of != source:
                known, of = model_outputs.Asked.read(source), source
            read = analysis.Losses(path, model, known, labels, capitals)
            instances_read, ties = 0, 0
            for start, rows in analysis.instance_parts(source, ["wording"]):
                here = (rows.wording == wording).to_numpy()
                part = read.decided(rows[here], known.owner[start : start + len(rows)][here], model, declared)
                instances_read, ties = instances_read + len(part), ties + int(part.tie.sum())
                if len(part):
                    append(part)
            log.info("%s, %s: %d instances, %d ties", model, path, instances_read, ties)


if __name__ == "__main__":
    run(main)
