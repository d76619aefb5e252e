"""Compute accuracy, consistency, bias and its overlap of every system on every set of instances, with intervals."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses import bias as biases
from scripts.winopron.lib.analyses import consistency, performance
from scripts.winopron.lib.analyses import overlap as overlaps
from scripts.winopron.lib.analyses import variance as variances

KEYS = ["templates", "entities", "system", "conversion"]


def main(
    *,
    instances: list,
    predictions: list,
    metrics: str,
    bias: str,
    biased_occupations: str,
    overlap: str,
    variance: str,
    sets: list,
    signed: bool,
    empty: float | None,
    draws: int,
    seed: int,
):
    """Write the tidy tables of all ``sets`` (``templates``, ``entities``); each has a file of both kinds, in order.

    ``metrics`` has the columns of ``performance.COLUMNS`` behind :data:`KEYS`, and ``n``, the pairs of people; ``bias``
    those of ``bias.shares`` and ``biased_occupations`` an occupation a row, for sentences about two people, by
    ``prompt`` and ``variant`` (``bias`` has all prompts together besides); ``overlap`` those of ``overlap.COLUMNS``,
    where a prompted system gives the answer that most ways of asking give (``performance.voted``); ``variance`` those
    of ``variance.COLUMNS``, for prompted systems. ``signed`` and ``empty`` say what a Jaccard index is of; ``draws``
    and ``seed`` are those of the bootstrap over pairs of people.
    """
    measured, shares, occupations, common, spread = [], [], [], [], []
    for names, instances_path, predictions_path in zip(sets, instances, predictions, strict=True):
        sentences, predicted = files.read_parquet(instances_path), files.read_parquet(predictions_path)
        one_answer = {}
        for (system, conversion), of_system in predicted.groupby(["system", "conversion"], sort=False):
            keys = names | {"system": system, "conversion": conversion}
            answers = performance.joined(of_system.drop(columns="right"), performance.asked(of_system, sentences))
            prompted = answers[list(consistency.PROMPT)].drop_duplicates().shape[0] > 1
            if not prompted:
                answers = answers.drop(columns=list(consistency.PROMPT))
            keys_of_metrics = keys | {"n": answers.pair.nunique()}
            measured.append(performance.evaluate(answers, draws, seed).assign(**keys_of_metrics))
            if names["templates"] == "winogender":
                # Its two templates of a pair may differ in case, and then disambiguate no pronoun.
                if set(study.WINOGENDER_SETS) <= set(answers.pronoun_set):
                    three = answers[answers.pronoun_set.isin(study.WINOGENDER_SETS)]
                    rows = performance.evaluate(three, draws, seed)
                    rows = rows[rows.split == "all"].assign(split=study.THREE_SETS)
                    measured.append(rows.assign(**keys_of_metrics))
                continue
            measured.append(consistency.evaluate(answers, draws, seed).assign(**keys_of_metrics))
            if prompted:
                spread.append(variances.evaluate(answers, draws, seed).assign(**keys))
            if names["entities"] != "double":
                continue
            found = {
                prompt: biases.pairs(rows)
                for prompt, rows in (answers.groupby(list(consistency.PROMPT)) if prompted else [(("", ""), answers)])
            }
            for prompt, table in found.items():
                keys_of_prompt = keys | dict(zip(consistency.PROMPT, prompt, strict=True))
                shares.append(biases.shares(table, draws, seed).assign(**keys_of_prompt))
                biased = table[table.bias.notna()]
                occupations.append(biased[["case", "pronoun_set", "occupation", "bias"]].assign(**keys_of_prompt))
            if prompted:
                together = biases.shares(pd.concat(found.values()), draws, seed)
                shares.append(together.assign(**keys, **dict.fromkeys(consistency.PROMPT, "all")))
            if study.reads_pronouns(system):
                one_answer[system, conversion] = biases.pairs(performance.voted(answers)) if prompted else found["", ""]
        if names["entities"] == "double" and names["templates"] != "winogender":
            table = overlaps.overlaps(one_answer, signed, float("nan") if empty is None else empty)
            common.append(table.assign(templates=names["templates"]))
    prompt = [*KEYS, *consistency.PROMPT]
    table = pd.concat(measured, ignore_index=True)
    # An interval without width would say that a value is known exactly, where all pairs of people agree.
    table.loc[table.ci_low == table.ci_high, ["ci_low", "ci_high"]] = float("nan")
    files.write_csv(metrics, table[[*KEYS, *performance.COLUMNS, "n"]])
    for path, parts, first in (
        (bias, shares, prompt),
        (biased_occupations, occupations, prompt),
        (overlap, common, ["templates"]),
        (variance, spread, KEYS),
    ):
        # Winogender Schemas alone have none.
        table = pd.concat(parts) if parts else pd.DataFrame(columns=first)
        files.write_csv(path, table[[*first, *(column for column in table if column not in first)]])


if __name__ == "__main__":
    run(main)
