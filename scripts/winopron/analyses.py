"""What systems make of the sentences, and the tidy tables over all of them, each by the function of its rule."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference, model_outputs
from scripts.core.workflow.job import log, run_named
from scripts.winopron.lib import answers as readings
from scripts.winopron.lib import person_rules, study
from scripts.winopron.lib.analyses import bias as biases
from scripts.winopron.lib.analyses import consistency, performance

PREDICTIONS = ["system", "conversion", "prompt", "variant", "instance_id", "prediction", "right"]
"""Columns of a table of predictions."""
SYSTEM = ["system", "conversion"]
"""Columns that tell systems and ways of reading them apart."""
KEYS = ["templates", "entities", *SYSTEM]


def clusters(*, instances: str, clusters: str, rule: str) -> None:
    """Let one rule resolve a set of instances, in the format of a coreference system.

    Write the ``clusters`` that ``rule`` (one of ``study.RULES``) makes of ``instances``.
    """
    coreference.write(clusters, person_rules.resolve(rule, files.read_parquet(instances)))


def predictions(
    *,
    instances: str,
    clusters: list,
    answer_files: list,
    prompts: list,
    answers: list,
    predictions: str,
    systems: list,
    answering: list,
    models: dict,
    selected: list,
    scores: list,
    scored: dict,
) -> None:
    """Bring the output of every system on one set of instances into one table: clusters and answers in words.

    Write ``predictions`` (Parquet): :data:`PREDICTIONS`. ``clusters`` are the files of ``systems``, ``answer_files``
    those of ``answering``, ``answers`` those of ``models`` to the one file of ``prompts``, and ``scores`` those of the
    models ``scored`` of the one file of ``selected`` templates, in the same order. A system has its label as
    ``system``; with clusters it has ``conversions``, the ways in which they are read. ``prediction`` is occupation,
    participant or nothing; ``prompt`` and ``variant`` are empty for systems that are not prompted.
    """
    sentences = files.read_parquet(instances)
    unprompted = {"prompt": "", "variant": ""}
    tables = []
    for path, facts in zip(clusters, systems, strict=True):
        for conversion in facts["conversions"]:
            found = readings.read_clusters(path, sentences, conversion)
            tables.append(found.assign(system=facts["system"], conversion=conversion, **unprompted))
    for path, facts in zip(answer_files, answering, strict=True):
        tables.append(readings.read(path, sentences).assign(system=facts["system"]))
    for path in prompts:
        asked = files.read_parquet(path)
        for (name, facts), answered in zip(models.items(), answers, strict=True):
            tables.append(readings.of_model(answered, name, asked, sentences).assign(system=facts["label"]))
    for path in selected:
        asked = files.read_parquet(path)
        for (name, facts), scores_path in zip(scored.items(), scores, strict=True):
            of_options = model_outputs.read_scores(scores_path, name, asked)
            for scoring, column in study.SCORINGS.items():
                found = readings.by_likelihood(of_options, asked, sentences, column)
                system = facts["label"] + scoring
                tables.append(found.assign(system=system, conversion=study.CORRECTED, **unprompted))
    table = pd.concat(tables, ignore_index=True)
    meant = dict(zip(sentences.instance_id, sentences.answer, strict=True))
    table["right"] = table.prediction == table.instance_id.map(meant)
    for (system, conversion), rows in table.groupby(SYSTEM, sort=False):
        log.info("%s, %s: accuracy %.4f", system, conversion, rows.right.mean())
    files.write_parquet(predictions, table[PREDICTIONS])


def metrics(
    *,
    instances: list,
    predictions: list,
    metrics: str,
    bias: str,
    biased_occupations: str,
    overlap: str,
    by_prompt: str,
    sets: list,
    signed: bool,
    empty: float | None,
    draws: int,
    seed: int,
) -> None:
    """Compute accuracy, consistency, bias and its overlap of every system on every set of instances, with intervals.

    Write the tidy tables of all ``sets`` (``templates``, ``entities``); ``instances`` and ``predictions`` have a file
    for each, in order. ``metrics`` has the columns of ``performance.COLUMNS`` behind :data:`KEYS`, and ``n``, the pairs
    of people; ``bias`` those of ``bias.shares`` and ``biased_occupations`` an occupation a row, for sentences about two
    people, by ``prompt`` and ``variant`` (``bias`` has all prompts together besides); ``overlap`` those of
    ``bias.OVERLAP``, where a prompted system gives the answer that most ways of asking give
    (``performance.majority_answers``); ``by_prompt`` the accuracy of each prompt of systems with several. ``signed``
    and ``empty`` say what a Jaccard index is of; ``draws`` and ``seed`` belong to the bootstrap over pairs of people.
    """
    measured, shares, occupations, common, prompts = [], [], [], [], []
    for names, instances_path, predictions_path in zip(sets, instances, predictions, strict=True):
        one_answer = {}
        for of_system, answers in _answers(instances_path, predictions_path):
            keys = names | of_system
            prompted = answers[list(consistency.PROMPT)].drop_duplicates().shape[0] > 1
            if not prompted:
                answers = answers.drop(columns=list(consistency.PROMPT))
            keys_of_metrics = keys | {"n": answers.pair.nunique()}
            measured.append(performance.evaluate(answers, draws, seed).assign(**keys_of_metrics))
            if prompted and answers.prompt.nunique() > 1:
                prompts.append(performance.by_prompt(answers, draws, seed).assign(**keys_of_metrics))
            if names["templates"] == study.WINOGENDER:
                # Its two templates of a pair may differ in case, and then disambiguate no pronoun.
                if set(study.WINOGENDER_SETS) <= set(answers.pronoun_set):
                    three = answers[answers.pronoun_set.isin(study.WINOGENDER_SETS)]
                    rows = performance.evaluate(three, draws, seed)
                    rows = study.overall_rows(rows).assign(pronoun_set=study.THREE_SETS)
                    measured.append(rows.assign(**keys_of_metrics))
                continue
            measured.append(consistency.evaluate(answers, draws, seed).assign(**keys_of_metrics))
            if names["entities"] != "double":
                continue
            asked = answers.groupby(list(consistency.PROMPT)) if prompted else [(("", ""), answers)]
            found = {prompt: biases.pairs(rows) for prompt, rows in asked}
            for prompt, table in found.items():
                keys_of_prompt = keys | dict(zip(consistency.PROMPT, prompt, strict=True))
                shares.append(biases.shares(table, draws, seed).assign(**keys_of_prompt))
                biased = table[table.bias.notna()]
                occupations.append(biased[["case", "pronoun_set", "occupation", "bias"]].assign(**keys_of_prompt))
            if prompted:
                together = biases.shares(pd.concat(found.values()), draws, seed)
                shares.append(together.assign(**keys, **dict.fromkeys(consistency.PROMPT, "all")))
            if study.reads_pronouns(of_system["system"]):
                one_answer[tuple(of_system.values())] = (
                    biases.pairs(performance.majority_answers(answers)) if prompted else found["", ""]
                )
        if names["entities"] == "double" and names["templates"] != study.WINOGENDER:
            table = biases.overlaps(one_answer, signed, float("nan") if empty is None else empty)
            common.append(table.assign(templates=names["templates"]))
    table = pd.concat(measured, ignore_index=True)
    # An interval without width would say that a value is known exactly, where all pairs of people agree.
    table.loc[table.ci_low == table.ci_high, ["ci_low", "ci_high"]] = float("nan")
    files.write_csv(metrics, table[[*KEYS, *performance.COLUMNS, "n"]])
    for path, parts, first in (
        (bias, shares, [*KEYS, *consistency.PROMPT]),
        (biased_occupations, occupations, [*KEYS, *consistency.PROMPT]),
        (overlap, common, ["templates"]),
        (by_prompt, prompts, [*KEYS, "prompt", "value", "ci_low", "ci_high", "n"]),
    ):
        # Winogender Schemas alone have none, and a run without prompted models has no prompts.
        table = pd.concat(parts) if parts else pd.DataFrame(columns=first)
        files.write_csv(path, table[[*first, *(column for column in table if column not in first)]])


def _answers(instances: str, predictions: str) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each system, in each way of reading it, and its answers to what it was asked of a set of instances."""
    known, predicted = files.read_parquet(instances), files.read_parquet(predictions)
    for values, rows in predicted.groupby(SYSTEM, sort=False):
        answers = performance.join_instances(rows.drop(columns="right"), performance.asked_instances(rows, known))
        yield dict(zip(SYSTEM, values, strict=True)), answers


if __name__ == "__main__":
    run_named()
