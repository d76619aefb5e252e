"""What the study's mean over tokens decides: accuracies, orders of models and single decisions under other scores.

Not in the study. :func:`scripts.misgendered.analyses.reductions` compares mean and sum by type of pronouns; here are
bytes besides, single decisions, ranks and pronoun groups. There is no difference to the score without context: texts
without their declaration are not scored.
"""

import numpy as np
import pandas as pd

from scripts.core import calibration, losses, normalisation, options, paired, statistics
from scripts.core.method_agreement import of_counts
from scripts.misgendered.lib.analyses.predictions import OF_INSTANCE
from scripts.misgendered.lib.analyses.resampling import Resampled, matching, pooled_models
from scripts.misgendered.lib.labels import ALL

STUDY = "tokens"
"""The study's normalisation, which the others are compared with."""
KEPT = ("tokens", "sum", "bytes")
"""What can be made from losses on labels."""
CELL = ["model", "normalisation", "pronoun_type", "group", "form", "template_index", "name_class", "name"]
"""What instances share that are counted together: all that intervals and tables ask for."""
CHANGES = ("flipped", "gained", "lost")


def comparable(instances: pd.DataFrame, scores: pd.DataFrame, labels: str, capitals: str, model: str) -> pd.DataFrame:
    """Return sums of losses with the lengths of what they are about.

    Args:
        scores: A model's scores with losses (:mod:`scripts.core.losses`).
        labels, capitals: As :func:`scripts.core.losses.compared` takes them.
        model: For messages.

    Returns:
        ``scores`` of these instances with ``log_probability`` (a sum, nats), ``scored_tokens`` and ``text_bytes``: of
        the text, or of the option alone where the labels are (those of T5's kind, whose sentinels have no bytes).
    """
    table = losses.compared(scores, "sum", labels, capitals, f"scores of {model}")
    texts = options.option_texts(instances)[["instance_id", "option_index", "filled", "text"]]
    table = table.drop(columns="text", errors="ignore")
    table = table.merge(texts, on=["instance_id", "option_index"], how="inner", validate="one_to_one")
    counted = table.text.where(table.sentinel_tokens == 0, table.filled)
    return table.assign(text_bytes=normalisation.byte_lengths(counted))


def decided(instances: pd.DataFrame, scores, model, labels="corrected", capitals="corrected") -> pd.DataFrame:
    """Return what a model picks for every instance under every normalisation, and how sure it is.

    Args:
        instances: Without examples in the prompt; ``options`` are the candidates of each.
        scores, model, labels, capitals: As for :func:`comparable`.

    Returns:
        ``model``, the columns of the instance, ``normalisation``, ``picked``, ``correct``, ``tie`` and ``confidence``
        (:func:`scripts.core.calibration.confidences`).

    Raises:
        UserError: If an instance lacks the score of a candidate.
    """
    table = comparable(instances, scores, labels, capitals, model)
    offers = options.option_counts(instances)
    parts = []
    for name in KEPT:
        picks = normalisation.decisions(table, name, offers)
        sure = calibration.confidences(table, normalisation.normalised(table, name))
        part = instances[OF_INSTANCE].reset_index(drop=True)
        part.insert(0, "model", model)
        part["normalisation"] = name
        part["picked"] = options.picked(instances, picks)
        part["correct"] = (part.picked == part.gold).astype(bool)
        part["tie"] = picks.tie.reindex(part.instance_id).to_numpy()
        part["confidence"] = sure.reindex(part.instance_id).to_numpy()
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def levels(table):
    """Yield the rows (array of bool) of each level: all, each type of pronouns, each group with its type."""
    yield {"pronoun_type": ALL, "group": ALL}, np.ones(len(table), dtype=bool)
    for kind in dict.fromkeys(table.pronoun_type):
        yield {"pronoun_type": kind, "group": ALL}, matching(table, pronoun_type=kind)
    for kind, group in dict.fromkeys(zip(table.pronoun_type, table.group, strict=True)):
        yield {"pronoun_type": kind, "group": group}, matching(table, pronoun_type=kind, group=group)


def template(table):
    """Return the template of each row, which is one of its form."""
    return table.form.astype(str) + " " + table.template_index.astype(str)


def counted(table: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Return what decisions come to, counted where they share everything that is asked for: a small part of their rows.

    Counts of parts of a table, such as single models, can be put below each other.

    Args:
        table: From :func:`decided`.

    Returns:
        Of each cell (:data:`CELL`) the sums ``n``, ``correct``, ``tie`` and, against the study's normalisation,
        :data:`CHANGES`; and how often both pick what: ``model``, ``normalisation``, ``pronoun_type``, ``group``,
        ``study``, ``other`` (picks) and ``n``.
    """
    keys = ["model", "instance_id", "declaration"]
    study = table.loc[table.normalisation == STUDY, [*keys, "picked", "correct"]]
    study = study.rename(columns={"picked": "study", "correct": "right_before"})
    both = table.merge(study, on=keys, how="left", validate="many_to_one")
    flags = {
        "n": True, "correct": both.correct, "tie": both.tie, "flipped": both.picked != both.study,
        "gained": both.correct & ~both.right_before, "lost": ~both.correct & both.right_before,
    }  # fmt: skip
    cells = both[CELL].assign(**{name: np.asarray(flag, dtype=int) for name, flag in flags.items()})
    pairs = both.rename(columns={"picked": "other"})
    pairs = pairs.groupby([*CELL[:4], "study", "other"], sort=False).size().rename("n").reset_index()
    return cells.groupby(CELL, sort=False).sum().reset_index(), pairs


def normalisations(cells: pd.DataFrame, pairs: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies under every normalisation, and how each differs from the study's.

    Args:
        cells, pairs: From :func:`counted`, of all models.
        draws, seed: Of the bootstrap over templates and names, and of permutations over templates.

    Returns:
        ``model`` (``all``: over the run's models), ``pronoun_type`` and ``group`` (``all`` as well), ``normalisation``,
        ``n``, ``accuracy`` with ``ci_low`` and ``ci_high`` (95 %), ``rank`` among models (missing over all of them) and
        ``ties``; of all but the study's normalisation ``difference`` (of its accuracy from the mean's) with
        ``difference_low`` and ``difference_high``, ``p`` (:func:`scripts.core.paired.sign_flip_p`), ``flipped``,
        ``gained``, ``lost`` (:func:`scripts.core.normalisation.flips`) and ``kappa`` of both decisions.
    """
    resampled = _Counted(cells, draws, seed)
    cells = resampled.table
    rows = []
    for model, members in pooled_models(cells.model.unique()).items():
        of_model = matching(cells, model=members)
        paired_of_model = pairs[matching(pairs, model=members)]
        for level, of_level in levels(cells):
            of_pairs = paired_of_model[_of_level(paired_of_model, level)]
            of_both = of_model & of_level
            study = of_both & (cells.normalisation == STUDY).to_numpy()
            before = resampled.samples(study)
            for name in KEPT:
                chosen = of_both & (cells.normalisation == name).to_numpy()
                both = of_pairs[of_pairs.normalisation == name]
                row = _row(resampled, chosen, study, before, both, name, draws, seed)
                rows.append(row | {"model": model, "normalisation": name} | level)
    frame = pd.DataFrame(rows)
    single = frame.model != ALL
    ranked = frame[single].groupby(["pronoun_type", "group", "normalisation"], sort=False).accuracy
    frame["rank"] = ranked.transform(normalisation.ranks).reindex(frame.index).astype("Int64")
    first = ["model", "pronoun_type", "group", "normalisation", "n", "accuracy", "ci_low", "ci_high", "rank"]
    return frame[[*first, *(column for column in frame if column not in first)]]


def _of_level(table, level):
    return matching(table, **{column: value for column, value in level.items() if value != ALL})


class _Counted(Resampled):
    """Cells (:func:`counted`) with the bootstrap samples of their templates and names: rows of several instances."""

    def cells(self, chosen, value="correct"):
        shape = len(self.places.templates), len(self.places.names)
        place, part = self.rows[chosen].astype(np.int64) * shape[1] + self.columns[chosen], self.table[chosen]
        return tuple(
            np.bincount(place, weights=part[name], minlength=shape[0] * shape[1]).reshape(shape)
            for name in ("n", value)
        )


def _row(resampled, chosen, study, before, pairs, name, draws, seed):
    part = resampled.table[chosen]
    size, samples = int(part.n.sum()), resampled.samples(chosen)
    low, high = statistics.percentile_interval(samples)
    row = {
        "n": size, "accuracy": float(part.correct.sum() / size), "ci_low": low, "ci_high": high,
        "ties": int(part.tie.sum()),
    }  # fmt: skip
    if name == STUDY:
        return row
    low, high = statistics.percentile_interval(samples - before)
    base = resampled.table[study]
    sums = part.correct.groupby(template(part)).sum().sub(base.correct.groupby(template(base)).sum())
    return row | {
        "difference": row["accuracy"] - float(base.correct.sum() / base.n.sum()), "difference_low": low,
        "difference_high": high, "p": paired.sign_flip_p(sums, draws, seed),
        **{key: float(part[key].sum() / size) for key in CHANGES},
        "kappa": of_counts(pairs.study, pairs.other, pairs.n)["kappa"],
    }  # fmt: skip
