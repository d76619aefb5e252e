"""The analyses of RUFF, each by the function of its rule: from scores and answers to tidy tables."""

from collections.abc import Iterator

import pandas as pd

from scripts.core import files
from scripts.core.data import annotation, model_outputs, templates
from scripts.core.statistics import normalisation as normalising
from scripts.core.statistics import procedures
from scripts.core.workflow.job import log, run_named
from scripts.ruff.lib import human, study
from scripts.ruff.lib.analyses import accuracy as accuracies
from scripts.ruff.lib.analyses import errors, prompting
from scripts.ruff.lib.analyses import normalisation as other_scores
from scripts.ruff.lib.analyses import predictions as picks
from scripts.ruff.lib.analyses import pronoun_tests as set_tests


def predictions(
    *, instances: str, scores: list, predictions: str, models: list, pronoun_sets: list, sizes: dict
) -> None:
    """Turn the scores of all models into predictions.

    Write ``predictions`` (Parquet) from the selected ``instances`` and one ``scores`` file for each model. ``sizes``
    says how many instances of each sample every model scores.
    """
    with files.append_parquet(predictions) as append:
        for model, scored, frame in _read_scores(instances, scores, models, sizes):
            part = picks.predictions(scored, frame, model, pronoun_sets)
            log.info("%s: %d instances, %d ties", model, len(part), int(part.tie.sum()))
            append(part)


def _read_scores(
    instances: str, scores: list[str] | str, models: list[str], sizes: dict[str, int]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield each model, the selected instances that it scores, and their scores."""
    table = files.read_parquet(instances)
    for model, path in zip(models, [scores] if isinstance(scores, str) else scores, strict=True):
        scored = table[table.priority.isna() | (table.priority < sizes[model])]
        yield model, scored, model_outputs.read_scores(path, model, scored)


def context_free_counts(
    *, predictions: str, context_free: str, context_free_summary: str, models: dict, pronoun_sets: list
) -> None:
    """Count the pronoun sets that each model picks without any context (section 5, Figures 4 and 10).

    Write counts per model, and their mean and SD over models, as two CSV files. Rows over ``all`` models leave
    demonstration models out if there are others.
    """
    counts = count_context_free(
        files.read_parquet(predictions, ["model", "setting", "prediction", "tie"]), pronoun_sets
    )
    summary = over_models(counts, models, ["pronoun"], "count")
    files.write_csv(context_free, counts)
    files.write_csv(context_free_summary, summary.rename(columns={"mean": "mean_count", "sd": "sd_count"}))


def count_context_free(table: pd.DataFrame, pronoun_sets: list[str]) -> pd.DataFrame:
    """Return ``model``, ``pronoun``, ``n_templates``, ``count``, ``share`` and ``ties``; every set has a row.

    ``ties`` are those among the predictions of a set with which another set ties.
    """
    free = table[table.setting == "context_free"]
    counts = free.groupby(["model", "prediction"]).size()
    ties = free.groupby(["model", "prediction"]).tie.sum()
    rows = []
    for model, total in free.groupby("model", sort=False).size().items():
        for pronoun in pronoun_sets:
            count = int(counts.get((model, pronoun), 0))
            rows.append((model, pronoun, total, count, count / total, int(ties.get((model, pronoun), 0))))
    return pd.DataFrame(rows, columns=["model", "pronoun", "n_templates", "count", "share", "ties"])


def over_models(frame: pd.DataFrame, models: dict[str, dict], keys: list[str], value: str) -> pd.DataFrame:
    """Average a column over :func:`scripts.ruff.lib.study.pooled_models`, and over those of each architecture.

    Args:
        frame: ``model``, the columns ``keys`` and the column ``value``.
        models: Name to facts.
        keys: Of the rows that are averaged.
        value: Name of the column.

    Returns:
        ``architecture`` (``all`` first), ``keys``, ``n_models``, ``mean``, ``sd`` (over models, ddof 1).
    """
    architectures = frame.model.map({name: facts["architecture"] for name, facts in models.items()})
    groups = [("all", frame[frame.model.isin(study.pooled_models(models))]), *frame.groupby(architectures, sort=False)]
    parts = []
    for name, part in groups:
        summary = part.groupby(keys, sort=False)[value].agg(n_models="count", mean="mean", sd="std").reset_index()
        summary.insert(0, "architecture", name)
        parts.append(summary)
    return pd.concat(parts, ignore_index=True)


def accuracy(
    *, predictions: str, accuracy_by_seed: str, accuracy: str, accuracy_over_models: str, models: dict, draws: int,
    seed: int,
) -> None:  # fmt: skip
    """Average accuracies over samples and over models, overall and by pronoun set, case and polarity.

    Write the three tables; ``draws`` and ``seed`` belong to the bootstrap over occupations. Rows over ``all`` models
    leave demonstration models out if there are others.
    """
    table = files.read_parquet(predictions, accuracies.COLUMNS)
    summary = accuracies.accuracy(table, draws, seed)
    over = over_models(summary, models, ["n_distractors", "factor", "level"], "accuracy")
    files.write_csv(accuracy_by_seed, accuracies.accuracy_by_seed(table))
    files.write_csv(accuracy, summary)
    files.write_csv(accuracy_over_models, over.rename(columns={"mean": "accuracy"}))


def scaling(*, accuracy: str, scaling: str, models: dict) -> None:
    """Set accuracy beside model size at the fewest and the most distractors (section 7, Figure 8).

    Write one row for each model and number of distractors.
    """
    files.write_csv(scaling, accuracy_by_size(files.read_csv(accuracy), models))


def accuracy_by_size(summary: pd.DataFrame, models: dict[str, dict]) -> pd.DataFrame:
    """Return the rows of ``accuracy.csv`` at both ends, with ``family``, ``architecture`` and ``parameters``."""
    overall = summary[summary.factor == "all"]
    overall = overall[overall.n_distractors.isin([overall.n_distractors.min(), overall.n_distractors.max()])]
    facts = pd.DataFrame.from_dict(models, orient="index")[["family", "architecture", "parameters"]]
    columns = ["model", *facts, "n_distractors", "n", "accuracy", "ci_low", "ci_high", "sd"]
    return overall.join(facts, on="model")[columns].sort_values(
        ["n_distractors", "parameters"], kind="stable", ignore_index=True
    )


def pronoun_tests(*, predictions: str, pronoun_tests: str, pronoun_sets: list, alpha: float, models: dict) -> None:
    """Test the accuracies on pairs of pronoun sets against each other (paper Figure 6).

    Write one row for each pair of sets, for each model and over all of them.

    Demonstration models are left out of the rows over ``all`` models if there are others. Samples too small for a test
    to be significant at ``alpha`` are not tested (:func:`scripts.core.statistics.procedures.smallest_sample`).
    """
    least = procedures.smallest_sample(alpha, len(pronoun_sets) * (len(pronoun_sets) - 1) // 2)
    table = files.read_parquet(predictions, set_tests.COLUMNS)
    tests = set_tests.pronoun_tests(table, pronoun_sets, alpha, least, study.pooled_models(models))
    files.write_csv(pronoun_tests, tests)


def error_types(*, predictions: str, error_types: str, error_range: str) -> None:
    """Split unambiguous errors into distraction, bias and others (paper Figure 9).

    Write the shares per model and number of distractors, and the range of distraction plus bias.
    """
    types = errors.error_types(files.read_parquet(predictions, errors.COLUMNS))
    files.write_csv(error_types, types)
    files.write_csv(error_range, errors.error_range(types))


def normalisation(
    *, instances: str, scores: list, normalisation: str, models: list, sizes: dict, draws: int, seed: int
) -> None:
    """Decide every instance under each normalisation of the scores, and say what that changes (``normalisation``, CSV).

    ``sizes`` says how many of the selected ``instances`` of each sample every model scores; ``draws`` and ``seed``
    belong to bootstrap and permutations over occupations.
    """
    cells = []
    for model, scored, frame in _read_scores(instances, scores, models, sizes):
        table = other_scores.with_normalisers(scored, frame, model)
        asked = scored[scored.n_distractors.notna()].astype({"n_distractors": "Int64"})
        cells.append(normalising.count_decisions(asked, table, model, other_scores.DESIGN))
    found = normalising.compare_scores(pd.concat(cells), other_scores.DESIGN, draws, seed)
    files.write_csv(normalisation, found)


def prompted_outputs(
    *, prompted: str, prompts: str, answers: list, pronouns: str, prompted_outputs: str, models: list,
    pronoun_sets: list,
) -> None:  # fmt: skip
    """Read a pronoun out of everything that prompted models wrote.

    Write ``prompted_outputs`` (Parquet), one row for each instance of a sample, prompt, model and place of the answer.

    ``prompted`` and ``prompts`` are what the rule ``ruff_prompts`` wrote; ``answers`` has one file for each of
    ``models``, in that order; ``pronouns`` is the file of all pronoun sets.
    """
    parts = list(_read_outputs(prompted, prompts, models, answers, pronouns, pronoun_sets))
    for model, part in zip(models, parts, strict=True):
        log.info("%s: %d outputs: %s", model, len(part), part.outcome.value_counts().to_dict())
    files.write_parquet(prompted_outputs, pd.concat(parts, ignore_index=True))


def _read_outputs(
    prompted: str, prompts: str, models: list[str], answers: list[str], pronouns: str, pronoun_sets: list[str]
) -> Iterator[pd.DataFrame]:
    """Yield what each of ``models`` wrote in the file at its place in ``answers``, as outputs."""
    sets = templates.select_pronoun_sets(templates.read_pronouns(pronouns), pronoun_sets)
    rows, asked = files.read_parquet(prompted), files.read_parquet(prompts)
    for model, path in zip(models, answers, strict=True):
        yield prompting.output_rows(rows, asked, model_outputs.read_answers(path, model, asked), model, sets)


def prompted_accuracy(*, prompted_outputs: str, prompted_accuracy: str, prompted_summary: str) -> None:
    """Average what prompted models answer, with each prompt and over prompts.

    Write both tables from ``prompted_outputs``; :mod:`scripts.ruff.lib.analyses.prompting` says what is in them.
    """
    table = files.read_parquet(prompted_outputs)
    by_prompt = prompting.by_prompt(table)
    files.write_csv(prompted_accuracy, by_prompt)
    files.write_csv(prompted_summary, prompting.summary(by_prompt))


def prompted_against_scored(
    *, prompted_outputs: str, predictions: str, prompted_against_scored: str, pairs: list
) -> None:
    """Set what models answer to prompts beside what likelihoods say, on the same instances.

    Write accuracies (``prompted_against_scored``, CSV).

    ``prompted_outputs`` are those of all prompted models; ``pairs`` are of a prompted and a scored model.
    """
    written, likelihoods = files.read_parquet(prompted_outputs), files.read_parquet(predictions)
    files.write_csv(prompted_against_scored, prompting.against_scored(written, likelihoods, pairs))


def human_accuracy(*, samples: list, sheet: str, completed: list, answers: str, agreement: str, accuracy: str) -> None:
    """Read the annotators' completed sheets: every answer, agreement, and accuracy by annotator (section 3.3; CSV).

    Args:
        samples: The samples that the blank ``sheet`` was drawn from; they have the right pronouns.
        completed: Sheets, one per annotator.
    """
    labels = annotation.read_labels(sheet, completed, human.HUMAN_QUESTION)
    gold = pd.concat([files.read_parquet(path, ["instance_id", "gold"]) for path in samples])
    files.write_csv(answers, labels)
    files.write_csv(agreement, annotation.agreement(labels))
    files.write_csv(accuracy, human.accuracy_by_annotator(labels, gold.set_index("instance_id").gold))


if __name__ == "__main__":
    run_named()
