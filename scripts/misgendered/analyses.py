"""The analyses of MISGENDERED, each by the function of its rule, with what it computes."""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.core.paper.published import read_models
from scripts.core.statistics import normalisation as normalising
from scripts.core.workflow.job import log, run_named
from scripts.misgendered.lib import corpora, study
from scripts.misgendered.lib import declarations as declaring
from scripts.misgendered.lib.analyses import choices as other_choices
from scripts.misgendered.lib.analyses import normalisation as scored
from scripts.misgendered.lib.analyses import predictions as predicting
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import (
    NAME,
    TEMPLATE,
    BootstrapFrame,
    PooledDifferences,
    PooledShares,
    ResampledPredictions,
    pooled_models,
)
from scripts.misgendered.lib.labels import ALL

if TYPE_CHECKING:
    pass

POOLED = ["declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class"]
COLUMNS = ["templates", "model", "shots", *POOLED, "accuracy", "ci_low", "ci_high", "n"]
"""Columns of accuracies."""
MARGINS = (
    (), ("pronoun_type",), ("group",), ("form",), ("form", "pronoun_type"), ("form", "group"),
    ("declaration_type", "pronoun_type"), ("declaration_number", "pronoun_type"),
    ("declaration_type", "declaration_number", "pronoun_type"), ("name_class", "pronoun_type"),
    ("name_class", "group"),
)  # fmt: skip
"""What is not pooled in a row of accuracies; a pronoun group says its type as well."""
FEW_SHOT = MARGINS[:6]
"""The same with examples in the prompt, whose declaration never varies."""


def predictions(
    *, instances: list, scores: list, combinations: str, predictions: str, models: list, wording: str, labels: str,
    capitals: str,
) -> None:  # fmt: skip
    """Turn the scores of all models into predictions, with and without examples in the prompt.

    Write ``predictions`` (Parquet). ``instances`` are the sets of one set of templates, without examples and with each
    number of them; ``scores`` has a file for each of the sets and each of its ``models``, models varying fastest.
    Instances count in the ``wording`` of the run; ``labels`` and ``capitals`` say which scores are compared.
    """
    declared = {number: forms for number, (forms, _) in declaring.read(combinations).items()}
    asked = [(path, model) for path, names in zip(instances, models, strict=True) for model in names]
    if not asked:
        raise UserError(
            "misgendered: no model of this run has a loss on labels, because all of them are masked language models; "
            "add a decoder or an encoder-decoder to models, or leave misgendered out of studies"
        )
    with files.append_parquet(predictions) as append:
        known: Any = None
        of = None
        for (source, model), path in zip(asked, scores, strict=True):
            if of != source:
                known, of = model_outputs.ExpectedOptions.read(source), source
            read = predicting.Losses(path, model, known, labels, capitals)
            instances_read, ties = 0, 0
            for start, rows in predicting.instance_parts(source, ["wording"]):
                here = (rows.wording == wording).to_numpy()
                part = read.decided(rows[here], known.owner[start : start + len(rows)][here], model, declared)
                instances_read, ties = instances_read + len(part), ties + int(part.tie.sum())
                if len(part):
                    append(part)
            log.info("%s, %s: %d instances, %d ties", model, path, instances_read, ties)


def accuracy(
    *, predictions: list, study_models: str, accuracy: str, template_sets: list, draws: int, seed: int
) -> None:
    """Tabulate accuracies on all sets of templates by everything that the study splits them by.

    Write ``accuracy`` (CSV) from one file of predictions for each of ``template_sets``. ``draws`` and ``seed`` belong
    to the bootstrap over templates and names; ``study_models`` lists the models of the study, whose mean has rows of
    its own if the run has them all.
    """
    known = list(read_models(study_models).model)
    parts = [accuracies(path, name, draws, seed, known) for name, path in zip(template_sets, predictions, strict=True)]
    files.write_csv(accuracy, pd.concat(parts, ignore_index=True))


def accuracies(
    table: str | Path | pd.DataFrame, templates: str, draws: int, seed: int, study_models: Collection[str] = ()
) -> pd.DataFrame:
    """Return what Tables 4 to 8, 10 and 13 and Figure 3 average: accuracies with intervals (section 4).

    Args:
        table: Predictions of one set of templates, or their file, of which one model is read at a time.
        templates: The set's name.
        draws: Of the bootstrap.
        seed: Of the bootstrap.
        study_models: The models of the study; if the run has them all, their mean has rows of its own.

    Returns:
        :data:`COLUMNS`. ``model`` is a model, ``all`` (the mean over the run's models) or ``study`` (over those of the
        study); pooled columns hold ``all``; ``ci_low`` and ``ci_high`` are the 95 % interval over templates and names;
        ``n`` counts instances, over all models and draws of examples.
    """
    source = ByModel(table, [*TEMPLATE, *NAME, *POOLED, "correct"])
    parts = []
    for shots in sorted({shots for shots, _ in source.pairs}):
        margins = MARGINS if shots == 0 else FEW_SHOT
        parts.append(_of_shots(source.only(shots), margins, study_models, draws, seed).assign(shots=shots))
    frame = pd.concat(parts, ignore_index=True)
    frame.insert(0, "templates", templates)
    return frame[COLUMNS]


def _of_shots(
    source: ByModel, margins: Sequence[tuple[str, ...]], study_models: Collection[str], draws: int, seed: int
):
    places = BootstrapFrame((table for _, table in source), draws, seed)
    levels, made = [{} for _ in margins], PooledShares(places)
    pooled = pooled_models(source.models, study_models)
    for model, table in source:
        resampled = ResampledPredictions(table, draws, seed, places)
        for place, margin in enumerate(margins):
            columns = ["pronoun_type", *margin] if "group" in margin else list(margin)
            for level, chosen in _levels(resampled.table, columns):
                levels[place].setdefault(level, columns)
                cells = resampled.cells(chosen)
                for name, members in pooled.items():
                    if model in members:
                        made.add((name, place, level), *cells, last=len(members) == 1)
    rows = []
    for name in pooled:
        for place, level in ((place, level) for place, known in enumerate(levels) for level in known):
            value = made.finished((name, place, level))
            if value:
                facts = dict.fromkeys(POOLED, ALL) | dict(zip(levels[place][level], level, strict=True))
                rows.append({"model": name} | facts | value)
    return pd.DataFrame(rows)


def _levels(table: pd.DataFrame, columns: list[str]):
    """Yield each combination of levels of ``columns`` with the rows that have it."""
    if not columns:
        yield (), np.ones(len(table), dtype=bool)
        return
    codes = table.groupby(columns, sort=False, observed=True).ngroup().to_numpy()
    levels = table[columns].assign(code=codes).drop_duplicates("code")
    for row in levels.itertuples(index=False):
        yield tuple(row[:-1]), codes == row.code


def draws(*, predictions: str, accuracy_by_draw: str, accuracy_over_draws: str) -> None:
    """Tabulate accuracies with examples in the prompt, apart for each draw of the examples and over all draws.

    Write both tables (CSV).
    """
    apart = by_draw(predictions)
    files.write_csv(accuracy_by_draw, apart)
    files.write_csv(accuracy_over_draws, over_draws(apart))


def by_draw(table: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return accuracies with examples in the prompt, apart for each draw of the examples.

    Returns:
        ``model``, ``shots``, ``draw``, ``pronoun_type``, ``accuracy``, ``n``; without examples there is one draw.
    """
    keys = ["model", "shots", "draw", "pronoun_type"]
    parts = [
        rows.groupby(keys, sort=False, observed=True).correct.agg(accuracy="mean", n="size").reset_index()
        for _, rows in ByModel(table, [*keys, "correct"])
    ]
    return pd.concat([part.astype({"model": object, "pronoun_type": object}) for part in parts], ignore_index=True)


def over_draws(apart: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation over the draws of examples, from :func:`by_draw`.

    Returns:
        ``model``, ``shots``, ``pronoun_type``, ``draws``, ``accuracy``, ``sd`` (ddof 1; missing with one draw),
        ``lowest``, ``highest``, ``n`` (instances of a draw).
    """
    keys = ["model", "shots", "pronoun_type"]
    return (
        apart.groupby(keys, sort=False)
        .agg(
            draws=("draw", "nunique"), mean=("accuracy", "mean"), sd=("accuracy", "std"), lowest=("accuracy", "min"),
            highest=("accuracy", "max"), n=("n", "max"),
        )
        .rename(columns={"mean": "accuracy"})
        .reset_index()
    )  # fmt: skip


def name_ranks(*, predictions: str, name_ranks: str, draws: int, seed: int) -> None:
    """Rank names by the accuracy on neo-pronouns (section 4.2, Table 9).

    Write ``name_ranks`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates.
    """
    files.write_csv(name_ranks, by_name(predictions, draws, seed))


def by_name(table: str | Path | pd.DataFrame, draws: int, seed: int, pronoun_type: str = "neo") -> pd.DataFrame:
    """Return the accuracy on one type of pronouns for each name, over all models, without examples in the prompt.

    The bootstrap resamples templates alone: a name is the name that it is.

    ``table`` are predictions or their file, of which one model is read at a time.

    Returns:
        ``name``, ``name_class``, ``accuracy``, ``ci_low``, ``ci_high``, ``n`` (instances), ``rank`` (from 1, the
        highest accuracy first; equal ones share the mean of their ranks), best first and equal names by the alphabet.
    """
    source = ByModel(table, [*TEMPLATE, *NAME, "pronoun_type", "correct"], shots=0)
    asked = ((model, rows[rows.pronoun_type == pronoun_type]) for model, rows in source)
    places = BootstrapFrame((rows for _, rows in asked), draws, seed)
    trials, right = np.zeros((2, len(places.templates), len(places.names)), dtype=int)
    for _, rows in source:
        resampled = ResampledPredictions(rows[rows.pronoun_type == pronoun_type], draws, seed, places)
        cells = resampled.cells(np.ones(len(resampled.table), dtype=bool))
        trials, right = trials + cells[0], right + cells[1]
    rows = []
    for code, name in enumerate(places.names.itertuples()):
        of_name = np.zeros_like(trials), np.zeros_like(right)
        of_name[0][:, code], of_name[1][:, code] = trials[:, code], right[:, code]
        n = int(trials[:, code].sum())
        low, high = places.interval(*of_name, fixed_names=True)
        rows.append((name.name, name.name_class, float(right[:, code].sum() / n), low, high, n))
    frame = pd.DataFrame(rows, columns=["name", "name_class", "accuracy", "ci_low", "ci_high", "n"])
    frame["rank"] = frame.accuracy.rank(ascending=False)
    return frame.sort_values(["accuracy", "name"], ascending=[False, True], ignore_index=True)


CHOSEN = [*TEMPLATE, *NAME, "instance_id", "declaration", "draw", "group", "pronoun_type", "picked", "correct"]
"""Columns of predictions that are compared with other choices."""


def choices(
    *, predictions: str, instances: str, scores: list, combinations: str, choices: str, models: list, wording: str,
    made: dict, draws: int, seed: int,
) -> None:  # fmt: skip
    """Tabulate what changes where the paper and the authors' code part, on the same scores.

    Write ``choices`` (CSV). ``scores`` has a file for each of ``models``, of the ``instances`` without examples;
    ``made`` is how the run chose (labels and capitals), each of which is also made the other way. What the ``wording``
    changes is seen in those instances that were scored in both. ``draws`` and ``seed`` belong to the bootstrap over
    templates and names.
    """
    declared = {number: forms for number, (forms, _) in declaring.read(combinations).items()}
    known = model_outputs.ExpectedOptions.read(instances)
    others = {name: study.other_wording(value) for name, value in made.items()}
    source = ByModel(predictions, CHOSEN, shots=0)
    places = BootstrapFrame((rows for _, rows in source), draws, seed)
    otherwise = {name: PooledDifferences(places) for name in others}
    worded = []
    for model, path in zip(models, scores, strict=True):
        base = source.read(0, model)
        read = predicting.Losses(path, model, known, **made)
        rows = _decided(read, known, instances, model, declared, lambda rows: rows.wording != wording)
        if len(rows):
            worded.append((other_choices.shared_predictions(base, rows), rows))
        for name, other in others.items():
            read = predicting.Losses(path, model, known, **made | {name: other})
            rows = _decided(read, known, instances, model, declared, lambda rows: rows.wording == wording)
            if len(rows) != len(base) or (rows.instance_id.to_numpy() != base.instance_id.to_numpy()).any():
                raise UserError(f"{predictions}: not of the instances in {instances}; run the workflow again")
            moved = rows.picked.to_numpy() != base.picked.astype(object).to_numpy()
            pairs = base.assign(correct_other=rows.correct.to_numpy(), moved=moved)
            other_choices.add_choice(otherwise[name], model, pairs)
    parts = [other_choices.table(found, name, others[name]) for name, found in otherwise.items()]
    if worded:
        base, other = (pd.concat(tables, ignore_index=True) for tables in zip(*worded, strict=True))
        other, made_of = other_choices.match_rewordings(base, other), study.other_wording(wording)
        parts.insert(0, other_choices.choices(base, other, "wording", made_of, draws, seed))
    files.write_csv(choices, pd.concat(parts, ignore_index=True))


def _decided(
    read: predicting.Losses,
    known: model_outputs.ExpectedOptions,
    path: str | Path,
    model: str,
    declared: Mapping[int, Sequence[str]],
    wanted: Callable[[pd.DataFrame], pd.Series],
):
    """Return what a model picks for the ``wanted`` rows of a file of instances."""
    parts = []
    for start, rows in predicting.instance_parts(path, ["wording"]):
        here = wanted(rows).to_numpy()
        part = read.decided(rows[here], known.owner[start : start + len(rows)][here], model, declared)
        parts.append(part[[*other_choices.WORDS, "instance_id", "shots", "draw", "picked", "correct"]])
    return pd.concat(parts, ignore_index=True)


def normalisation(
    *, instances: str, scores: list, normalisation: str, models: list, wording: str, labels: str, capitals: str,
    draws: int, seed: int,
) -> None:  # fmt: skip
    """Decide every instance under each normalisation of the losses, and say what that changes.

    Write accuracies with what flips (``normalisation``, CSV).

    Decisions are counted model by model and not kept: there can be sixty million. ``scores`` has a file for each of
    ``models``, of the ``instances`` without examples, which count in the ``wording`` of the run; ``labels`` and
    ``capitals`` say which losses are compared. ``draws`` and ``seed`` belong to the bootstrap over templates and names
    and to permutations over templates.
    """
    scores = [scores] if isinstance(scores, str) else scores
    selected = files.read_parquet(instances)
    counts = []
    for model, path in zip(models, scores, strict=True):
        read = model_outputs.read_scores(path, model, selected)
        asked = selected[selected.wording == wording]
        sums = scored.loss_sums(asked, read, labels, capitals, model)
        counts.append(normalising.count_decisions(asked, sums, model, scored.DESIGN))
    files.write_csv(normalisation, normalising.compare_scores(pd.concat(counts), scored.DESIGN, draws, seed))


def corpus(
    *, texts: list, pronouns: str, name: str, label: str, layout: str, pronoun_sets: list, seed: int, parts: str,
    counts: str, excerpts: str, threads: int = 1,
) -> None:  # fmt: skip
    """Count the documents of one corpus that hold each form of each pronoun group, and draw an excerpt for each form.

    Files are counted in parallel, and each one's counts are kept until all are there, so that a job that was stopped
    goes on where it was (:mod:`scripts.misgendered.lib.corpora`).

    Args:
        texts: Files of the corpus.
        pronouns: templates/pronouns.tsv.
        name, label: Of the corpus.
        layout: c4, pile, jsonl, openwebtext, text or paragraphs.
        pronoun_sets: Configured pronoun groups.
        seed: Of the excerpts.
        parts: The folder that keeps the counts of each file while the job is not finished.
        counts, excerpts: The CSV files to write.
        threads: Files that are counted at the same time.
    """
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    result = corpora.count_corpus(texts, layout, corpora.distinct_forms(groups), seed, parts, threads)
    log.info("%d documents in %d files", result["total"], len(texts))
    files.write_csv(counts, corpora.table(result, groups, name, label))
    files.write_csv(excerpts, corpora.excerpt_table(result, groups, name, label))
    shutil.rmtree(parts, ignore_errors=True)


def corpus_counts(*, counted: list, excerpted: list, corpus_counts: str, excerpts: str) -> None:
    """Put the counts and the excerpts of all corpora of a run into one table each (Tables 11 and 12 of the paper).

    Args:
        counted, excerpted: Counts and excerpts of each corpus.
        corpus_counts, excerpts: The CSV files to write; without a corpus they have no rows.
    """
    for paths, columns, target in (
        (counted, corpora.COLUMNS, corpus_counts),
        (excerpted, corpora.EXCERPT_COLUMNS, excerpts),
    ):
        frames = [frame for frame in map(files.read_csv, paths) if len(frame)]
        joined = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
        files.write_csv(target, joined[list(columns)])


if __name__ == "__main__":
    run_named()
