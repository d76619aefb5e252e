"""The analyses of MISGENDERED, each by the function of its rule, with what it computes."""

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.core.paper.published import read_models, read_published
from scripts.core.statistics import decisions, paired, procedures
from scripts.core.workflow.job import log, run_named
from scripts.misgendered.lib import corpora, infini_gram, study
from scripts.misgendered.lib import declarations as declaring
from scripts.misgendered.lib import instances as assembly
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
    by_type,
    pooled_models,
    rows_at,
)
from scripts.misgendered.lib.labels import ALL

if TYPE_CHECKING:
    from scripts.misgendered.lib.templates import Templates

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


def reductions(*, predictions: str, reductions: str, draws: int, seed: int) -> None:
    """Compare the mean of a candidate's losses, which the study takes, with their sum.

    Write ``reductions`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates and names.
    """
    files.write_csv(reductions, mean_against_sum(predictions, draws, seed))


def mean_against_sum(table: str | Path | pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies by mean and by sum, without examples in the prompt. Not in the study.

    The mean favours candidates of many tokens: of a whole text they add tokens that are easy to predict from the ones
    before.

    ``table`` are predictions or their file, of which one model is read at a time.

    Returns:
        ``model`` (``all``: over the run's models), ``pronoun_type`` (``all`` as well), ``accuracy_mean``,
        ``accuracy_sum``, ``difference`` (sum minus mean) with ``ci_low`` and ``ci_high``, ``other_pick`` (share of
        instances with another form), ``n``.
    """
    read = ["pronoun_type", "picked", "picked_sum", "correct", "correct_sum"]
    source = ByModel(table, [*TEMPLATE, *NAME, *read], shots=0)
    made = PooledDifferences(BootstrapFrame((rows for _, rows in source), draws, seed))
    for model, rows in source:
        other = rows.picked.astype(object) != rows.picked_sum.astype(object)
        resampled = ResampledPredictions(rows.assign(other=other), draws, seed, made.places)
        for pronoun_type, chosen in by_type(resampled.table):
            parts = resampled.cells(chosen, "correct_sum"), resampled.cells(chosen)
            for name in (model, ALL):
                made.add((name, pronoun_type), *parts, moved=int(other.to_numpy()[chosen].sum()))
    return pd.DataFrame(
        {
            "model": model, "pronoun_type": pronoun_type, "accuracy_mean": value["second"],
            "accuracy_sum": value["first"], "difference": value["difference"], "ci_low": value["ci_low"],
            "ci_high": value["ci_high"], "other_pick": value["moved"] / value["n_first"], "n": value["n_first"],
        }
        for (model, pronoun_type), value in made.ordered([*source.models, ALL])
    )  # fmt: skip


def declared_forms(*, predictions: str, declared_forms: str, draws: int, seed: int) -> None:
    """Compare forms that are declared with the same forms where they are not.

    Write ``declared_forms`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates and names.
    """
    files.write_csv(declared_forms, declared_against_undeclared(predictions, draws, seed))


def declared_against_undeclared(table: str | Path | pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies on forms that are declared and on the same forms where they are not. Not in the study.

    Is a model right only on forms that the declaration showed it? Nominative and accusative are declared always. Each
    of the other forms is declared in three of the six combinations, so that both are compared within the same form.

    ``table`` are predictions or their file, of which one model is read at a time.

    Returns:
        ``model`` (``all``: over the run's models), ``pronoun_type``, ``form`` (``all``: the three that are not always
        declared), ``declared`` and ``undeclared`` (accuracies), ``difference`` with ``ci_low`` and ``ci_high``,
        ``n_declared``, ``n_undeclared``.
    """
    sometimes = study.SOMETIMES_DECLARED
    source = ByModel(table, [*TEMPLATE, *NAME, "pronoun_type", "declared", "correct"], shots=0)
    asked = ((model, rows[rows.form.isin(sometimes)]) for model, rows in source)
    made = PooledDifferences(BootstrapFrame((rows for _, rows in asked), draws, seed))
    for model, rows in source:
        resampled = ResampledPredictions(rows[rows.form.isin(sometimes)], draws, seed, made.places)
        shown = resampled.table.declared.to_numpy()
        for pronoun_type in dict.fromkeys(resampled.table.pronoun_type):
            for form in [ALL, *sometimes]:
                chosen = rows_at(resampled.table, pronoun_type=pronoun_type)
                if form != ALL:
                    chosen &= rows_at(resampled.table, form=form)
                parts = resampled.cells(chosen & shown), resampled.cells(chosen & ~shown)
                for name in (model, ALL):
                    made.add((name, pronoun_type, form), *parts)
    return pd.DataFrame(
        {
            "model": model, "pronoun_type": pronoun_type, "form": form, "declared": value["first"],
            "undeclared": value["second"], "difference": value["difference"], "ci_low": value["ci_low"],
            "ci_high": value["ci_high"], "n_declared": value["n_first"], "n_undeclared": value["n_second"],
        }
        for (model, pronoun_type, form), value in made.ordered([*source.models, ALL])
    )  # fmt: skip


SUBSETS = {"all groups": "accuracy ~ tokens", "neo-pronouns": "accuracy ~ tokens + C(form)"}
"""Which forms a regression looks at, and its formula: among neo-pronouns forms have means of their own."""


def fertility(*, predictions: str, fertility: str, regressions: str) -> None:
    """Set the tokens that a form costs beside the accuracy on it.

    Write tokens and accuracy of each form (``fertility``, CSV) and of each model ``regressions`` (CSV).
    """
    cells = by_form(predictions)
    files.write_csv(fertility, cells)
    files.write_csv(regressions, regress(cells))


def by_form(table: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return tokens and accuracy of each form of each pronoun group, without examples in the prompt.

    ``table`` are predictions or their file, of which one model is read at a time.

    Returns:
        ``model``, ``pronoun_type``, ``group``, ``form``, ``gold``, ``tokens`` (of the right form as it stands in the
        text, mean over instances), ``accuracy``, ``n``.
    """
    keys = ["model", "pronoun_type", "group", "form", "gold"]
    parts = []
    for _, rows in ByModel(table, [*keys, "gold_tokens", "correct"], shots=0):
        cells = rows.groupby(keys, sort=False, observed=True).agg(
            tokens=("gold_tokens", "mean"), accuracy=("correct", "mean"), n=("correct", "size")
        )
        parts.append(cells.reset_index().astype(dict.fromkeys(keys, object)))
    return pd.concat(parts, ignore_index=True)


def regress(cells: pd.DataFrame) -> pd.DataFrame:
    """Regress accuracy on tokens for each model; a form of a group (:func:`by_form`) is one observation.

    Not in the study: tokens that a form costs under each tokenizer against accuracy.

    Returns:
        ``model``, ``subset`` (of :data:`SUBSETS`), ``slope`` (accuracy for each further token) with ``ci_low`` and
        ``ci_high`` (95 %, HC3 standard errors: MacKinnon and White 1985), ``p_value``, ``spearman`` (of tokens and
        accuracy), ``forms`` (observations). The slope is missing where tokens or accuracies do not vary, or where an
        observation alone decides a coefficient, because HC3 is undefined then.
    """
    rows = []
    for model, of_model in cells.groupby("model", sort=False):
        for subset, formula in SUBSETS.items():
            part = of_model if subset == "all groups" else of_model[of_model.pronoun_type == "neo"]
            rows.append({"model": model, "subset": subset} | _fit(part, formula))
    return pd.DataFrame(rows)


def _fit(part: pd.DataFrame, formula: str):
    nothing = dict.fromkeys(("slope", "ci_low", "ci_high", "p_value"), np.nan)
    rank = procedures.spearman(part.tokens.to_numpy(), part.accuracy.to_numpy())
    facts = {"spearman": rank, "forms": len(part)}
    if len(part) < 4 or not all(procedures.has_variation(part[c].to_numpy(), 1) for c in ("tokens", "accuracy")):
        return nothing | facts
    import statsmodels.formula.api as smf

    fitted = smf.ols(formula, part).fit()
    singular = np.linalg.matrix_rank(fitted.model.exog) < fitted.model.exog.shape[1]
    if singular or fitted.df_resid < 1 or (fitted.get_influence().hat_matrix_diag > 1 - 1e-9).any():
        return nothing | facts
    robust = fitted.get_robustcov_results("HC3")
    place = fitted.model.exog_names.index("tokens")
    low, high = robust.conf_int()[place]
    return {
        "slope": float(robust.params[place]), "ci_low": float(low), "ci_high": float(high),
        "p_value": float(robust.pvalues[place]),
    } | facts  # fmt: skip


FIXED = {
    "pronoun_type": ("neo", "neutral", "binary"),
    "form": ("nom", "acc", "ref", "pos_dep", "pos_ind"),
    "declaration_type": ("explicit", "parenthetical"),
    "declaration_number": ("2", "3", "4", "5"),
}
"""Fixed effects with their levels, the reference first."""


def mixed_model(*, predictions: str, mixed_model: str, seed: int) -> None:
    """Fit correctness on pronoun type, form and declaration, with templates and names that vary at random.

    Write the coefficients (``mixed_model``, CSV); ``seed`` is that of the starting values.
    """
    table = fit_mixed_model(predictions, seed)
    if not table.converged.all():
        log.warning("%s: no estimates, because %s", mixed_model, table.reason.iloc[0])
    files.write_csv(mixed_model, table)


def fit_mixed_model(table: str | Path | pd.DataFrame, seed: int) -> pd.DataFrame:
    """Fit correctness on pronoun type, form and declaration, with random effects of template, name and model.

    Not in the study, which compares averages. A logistic model, because accuracies on neo-pronouns are near zero, where
    a linear one leaves the range of shares. How it is fitted, and what its intervals are, says
    :mod:`scripts.core.statistics.mixed_effects`.

    Args:
        table: Predictions, or their file. Of more than ``mixed_effects.MOST`` instances that many are drawn, as many of
            each model.
        seed: Of the starting values, and of that draw.

    Returns:
        As :func:`scripts.core.statistics.mixed_effects.of_models` returns it: coefficients in log odds against the
        factor's first level, and standard deviations of the random effects. One row without estimates, with
        ``converged`` false and the ``reason``, if the fit does not converge or correctness does not vary.
    """
    from scripts.core.statistics import mixed_effects

    source = ByModel(table, [*FIXED, "template_index", "name", "correct"], shots=0)
    sizes = {model: len(rows) for model, rows in source}
    share = min(1.0, mixed_effects.MOST / max(1, sum(sizes.values())))
    generator = np.random.default_rng(seed)
    parts = []
    for model, rows in source:
        if share < 1:
            rows = rows.iloc[np.sort(generator.choice(len(rows), int(sizes[model] * share), replace=False))]
        parts.append(rows.astype(dict.fromkeys(rows.select_dtypes("category"), object)))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(
        declaration_number=rows.declaration_number.astype(str), template=paired.cluster_names(rows, TEMPLATE)
    )
    return mixed_effects.of_models(rows, FIXED, ["template", "name"], seed)


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
    *, instances: str, scores: list, normalisation: str, calibration: str, calibration_bins: str, models: list,
    wording: str, labels: str, capitals: str, draws: int, seed: int,
) -> None:  # fmt: skip
    """Decide every instance under each normalisation of the losses; what that changes, and how sure models are.

    Write accuracies with what flips (``normalisation``), calibration errors and what is in each bin (CSV).

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
        table = scored.decide_instances(selected[selected.wording == wording], read, model, labels, capitals)
        log.info("%s: %d decisions, %d ties", model, len(table), int(table.tie.sum()))
        counts.append(decisions.count_decisions(table, scored.DESIGN))
    made = decisions.decision_tables(counts, scored.DESIGN, draws, seed)
    for path, table in zip((normalisation, calibration, calibration_bins), made, strict=True):
        files.write_csv(path, table)


KEYS = ["instance_id", "declaration", "pronoun_type", "form", "template_index"]
"""Columns of predictions by which models are compared on the same instances."""
PAIRED = {"factor": "pronoun_type", "clusters": TEMPLATE}


def model_pairs(*, predictions: str, model_pairs: str, power: str, draws: int, seed: int) -> None:
    """Compare each pair of models on the same instances, and say how small a difference the sample can show.

    Write differences of accuracies (``model_pairs``, CSV) and what samples can show (``power``, CSV). ``draws`` and
    ``seed`` belong to bootstrap and permutations over templates.
    """
    files.write_csv(model_pairs, compare_pairs(predictions, draws, seed))
    files.write_csv(power, plan_samples(predictions))


def compare_pairs(table: str | Path | pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return :func:`scripts.core.statistics.paired.model_pairs` without examples in the prompt. Not in the study.

    ``table`` are predictions of all models, or their file.
    """
    return paired.model_pairs(ByModel(table, [*KEYS, "correct"], shots=0), KEYS, **PAIRED, draws=draws, seed=seed)


def plan_samples(table: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return :func:`scripts.core.statistics.paired.power` without examples in the prompt. Not in the study."""
    return paired.power(ByModel(table, [*KEYS, "correct"], shots=0), **PAIRED)


PRINTED_ACCURACY = "misgendered_accuracy"
WEIGHTS = {
    "six combinations (Table 2)": {"2": 1, "3": 2, "4": 2, "5": 1},
    "seven, a further one of three forms": {"2": 1, "3": 3, "4": 2, "5": 1},
    "seven, a further one of four forms": {"2": 1, "3": 2, "4": 3, "5": 1},
}
"""What combinations there may be, to how many of them declare each number of forms."""
NAMES = {"Female": 100, "Male": 100, "Unisex": 300}
PRINTED_TYPES = ("Binary", "Neutral", "Neo-Pronouns")
ROUNDING = 0.05
"""Half of the last printed digit, in percentage points; both sides of a comparison are rounded."""


def printed_averages(*, published: str, printed_averages: str) -> None:
    """Work out from the study's printed numbers which combinations of declared forms its averages are over.

    Write ``printed_averages`` (CSV) from the ``published`` numbers.
    """
    files.write_csv(printed_averages, recompute_averages(read_published(published)))


def recompute_averages(published: pd.DataFrame) -> pd.DataFrame:
    """Return the printed averages beside what the printed parts give with each set of weights.

    Section 3.3 speaks of seven combinations and Table 2 lists six. Table 4 averages all experiments and Table 6 those
    of each number of declared forms, so Table 4 is the mean of Table 6 with the numbers of combinations as weights. In
    the same way Table 4 is the plain mean over declaration types (Table 5) and forms (Table 8), and a row of Table 7 is
    the mean of its row of Table 10 with the numbers of names as weights.

    Returns:
        ``of`` (what is averaged), ``weights``, ``combinations`` (how many those over numbers of forms weigh, 0
        elsewhere), ``quantity``, ``printed``, ``computed``, ``difference`` (percentage
        points), ``fits`` (whether rounding can explain the difference).
    """
    is_accuracy: Any = published.item == PRINTED_ACCURACY
    values = {(row.row, row.column): float(row.value) for row in published[is_accuracy].itertuples()}
    rows = []

    def add(
        of: str, weights: str, quantity: str, printed: float, parts: Sequence[tuple[int, float]], combinations: int = 0
    ):
        total = sum(weight for weight, _ in parts)
        computed = sum(weight * value for weight, value in parts) / total
        difference = computed - printed
        fits = abs(difference) <= 2 * ROUNDING + 1e-9
        rows.append((of, weights, combinations, quantity, printed, computed, difference, fits))

    for name, weights in WEIGHTS.items():
        for kind in PRINTED_TYPES:
            parts = [(weight, values[f"declared forms | {n}", kind]) for n, weight in weights.items()]
            of, printed = "numbers of declared forms (Table 6)", values[kind, "Accuracy"]
            add(of, name, kind, printed, parts, combinations=sum(weights.values()))
    for kind in PRINTED_TYPES:
        parts = [(1, values[f"declaration type | {t}", kind]) for t in ("Explicit", "Parenthetical")]
        add("declaration types (Table 5)", "equal", kind, values[kind, "Accuracy"], parts)
    for kind in PRINTED_TYPES:
        forms = ("Nominative", "Accusative", "Reflexive", "Pos-Dependent", "Pos-Independent")
        parts = [(1, values[f"pronoun form | {form}", kind]) for form in forms]
        add("forms (Table 8)", "equal", kind, values[kind, "Accuracy"], parts)
    for group, kind in (("She", "Binary"), ("He", "Binary"), ("They", "Neutral")):
        parts = [(n, values[f"pronoun group | {group}", name]) for name, n in NAMES.items()]
        add("classes of names (Table 10)", "100, 100, 300", group, values[f"{kind} | {group}", "Accuracy"], parts)
    columns = ["of", "weights", "combinations", "quantity", "printed", "computed", "difference", "fits"]
    return pd.DataFrame(rows, columns=columns)


WORDED = (
    "declaration", "declaration_type", "declaration_number", "templates", "slash", "declared_again", "blank_at_the_end",
    "other_change", "same",
)  # fmt: skip
"""For each declaration of how many ``templates`` the text differs, and why; one template may differ for two reasons.

``slash``: a slash before the apostrophe; ``declared_again``: the declaration stands behind a later mention of the name;
``blank_at_the_end``: the template ends with a blank; ``other_change``: it differs in another way; ``same``: not at all.
The stray declaration that three rows of the authors' ``templates.csv`` carry is in none of their files with
declarations, so that it changes nothing."""


def wordings(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, types: list,
    numbers: list, wordings: str,
) -> None:  # fmt: skip
    """Count how many templates the choice between the wordings of declarations changes, and why.

    Write the table to ``wordings``; the other arguments are those of the full sets' script.
    """
    given = dict(zip(kinds, template_files, strict=True))
    loaded = assembly.load(given, pronouns, pronoun_sets, combinations, types, numbers, "faithful")
    files.write_csv(wordings, compare_wordings(loaded.templates, loaded.declarations))


def compare_wordings(texts: "Templates", ways: Iterable[declaring.Declaration]) -> pd.DataFrame:
    """Return what the faithful wording changes of a template set: a row for each declaration, with :data:`WORDED`."""
    rows = []
    for way in ways:
        released = texts.released.get((way.kind, way.number))
        faithful = released or [declaring.pattern(way.kind, text.text, "faithful") for text in texts.rows]
        corrected = [declaring.pattern(way.kind, text.text, "corrected") for text in texts.rows]
        counts: dict[str, int] = dict.fromkeys(WORDED[4:], 0)
        for theirs, ours in zip(faithful, corrected, strict=True):
            for reason in reasons(theirs, ours):
                counts[reason] += 1
        rows.append((way.name, way.kind, way.number, len(texts.rows), *counts.values()))
    return pd.DataFrame(rows, columns=WORDED)


def reasons(faithful: str, corrected: str) -> list[str]:
    """Return why two wordings of a template differ, by the names of :data:`WORDED`."""
    if faithful == corrected:
        return ["same"]
    found, plain = [], faithful
    if plain.startswith(f"{declaring.NAME}/'s "):
        found.append("slash")
        plain = plain.replace("/'s", "'s", 1)
    again = f"{declaring.NAME} ({declaring.DECLARED_SLOT})"
    if plain.count(again) > 1:
        found.append("declared_again")
        first, mention, rest = plain.partition(again)
        plain = first + mention + rest.replace(again, declaring.NAME)
    if plain != plain.rstrip():
        found.append("blank_at_the_end")
        plain = plain.rstrip()
    return found if plain == corrected else [*found, "other_change"]


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


def token_counts(
    *, pronouns: str, index: str, label: str, pronoun_sets: list, url: str, cache: str, pace_seconds: float,
    attempts: int, timeout_seconds: float, counts: str,
) -> None:  # fmt: skip
    """Ask infini-gram's interface how often each form of each pronoun group occurs in one large corpus.

    Every answer is kept beside its request (:mod:`scripts.misgendered.lib.infini_gram`); these are tokens, not
    documents.

    Args:
        pronouns: templates/pronouns.tsv.
        index, label: The corpus, as the service calls it and as tables do.
        pronoun_sets: Configured pronoun groups.
        url: Of the interface.
        cache: The folder of answers.
        pace_seconds: Between two requests.
        counts: The CSV file to write.
    """
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    counter = infini_gram.Counter(url, index, cache, pace_seconds, attempts, timeout_seconds)
    files.write_csv(counts, infini_gram.table(counter, groups, label))


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
