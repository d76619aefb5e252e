"""Compute accuracy, consistency and bias of every system on every set of instances, with bootstrap intervals."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.winopron.lib.analyses import bias as biases
from scripts.winopron.lib.analyses import consistency, performance

KEYS = ["templates", "entities", "system", "conversion"]


def main(
    *,
    instances: list,
    predictions: list,
    metrics: str,
    bias: str,
    biased_occupations: str,
    sets: list,
    draws: int,
    seed: int,
):
    """Write the tidy tables of all ``sets`` (``templates``, ``entities``); each has a file of both kinds, in order.

    ``metrics`` has the columns of ``performance.COLUMNS`` behind :data:`KEYS`; ``bias`` those of ``bias.shares`` and
    ``biased_occupations`` an occupation a row, for sentences about two people, by ``prompt`` and ``variant``. ``draws``
    and ``seed`` are those of the bootstrap over pairs of people.
    """
    measured, shares, occupations = [], [], []
    for names, instances_path, predictions_path in zip(sets, instances, predictions, strict=True):
        sentences, predicted = files.read_parquet(instances_path), files.read_parquet(predictions_path)
        for (system, conversion), of_system in predicted.groupby(["system", "conversion"], sort=False):
            keys = names | {"system": system, "conversion": conversion}
            answers = performance.joined(of_system.drop(columns="right"), sentences)
            if answers.prompt.nunique() == answers.variant.nunique() == 1:
                answers = answers.drop(columns=list(consistency.PROMPT))
            measured.append(performance.evaluate(answers, draws, seed).assign(**keys))
            if names["templates"] != "winogender":
                # Its two templates of a pair may differ in case, and then disambiguate no pronoun.
                measured.append(consistency.evaluate(answers, draws, seed).assign(**keys))
            if names["templates"] == "winogender" or names["entities"] != "double":
                continue
            for prompt, rows in (
                answers.groupby(list(consistency.PROMPT)) if "prompt" in answers else [(("", ""), answers)]
            ):
                keys_of_prompt = keys | dict(zip(consistency.PROMPT, prompt, strict=True))
                found = biases.pairs(rows)
                shares.append(biases.shares(found).assign(**keys_of_prompt))
                biased = found[found.bias.notna()]
                occupations.append(biased[["case", "pronoun_set", "occupation", "bias"]].assign(**keys_of_prompt))
    prompt = [*KEYS, *consistency.PROMPT]
    files.write_csv(metrics, pd.concat(measured)[[*KEYS, *performance.COLUMNS]])
    for path, tables in ((bias, shares), (biased_occupations, occupations)):
        # Winogender Schemas alone have none.
        table = pd.concat(tables) if tables else pd.DataFrame(columns=prompt)
        files.write_csv(path, table[[*prompt, *(column for column in table if column not in prompt)]])


if __name__ == "__main__":
    run(main)
