"""Probabilities of gendered words, of a run's own models and of the authors' releases, in one tidy format.

One row for each sentence, injected value and gender: ``part`` (a release, or ``run``), ``model`` (of a release its
label), ``label``, ``prompt``, ``evaluation_set``,
``templates``, ``item``, ``occupation``, ``participant``, ``coreferent``, ``well_specified``, ``variable``, ``value``,
``position``, ``gender``, ``accumulation`` (``top``: the most probable tokens, as in the study; ``full``: the whole
vocabulary; ``written``: the most probable tokens at the steps of a continuation where a gendered word was written),
``probability`` (a share). Besides, ``text_id`` is the text that the run's model read, or of a release the archive and
the file in it, with ``row``, the line there. On MGC the probability is the mass itself; on the other sets it is
divided by the mass of the three genders (0 where they have none), in the released files already; for neopronouns,
which the study does not ask about, that ratio may be above 1.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data.distributions import read_distributions, read_masses
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.underspecification import study, templates
from scripts.underspecification.templates import GENDERS

COLUMNS = (
    "part", "model", "label", "prompt", "evaluation_set", "templates", "item", "occupation", "participant",
    "coreferent", "well_specified", "variable", "value", "position", "gender", "accumulation", "probability",
)  # fmt: skip
KINDS = dict.fromkeys(COLUMNS, "text") | {
    "well_specified": "truth",
    "position": "whole",
    "probability": "fraction",
}
MOST = 1.005
"""Released probabilities are rounded to a tenth or a thousandth of a percent: a sum of three can be so far above 1."""
_REMEDY = "delete the file and run the workflow again"


def word_group_probabilities(
    *,
    instances: list,
    texts: list,
    distributions: list,
    full: list,
    words: str,
    probabilities: str,
    model: str,
    label: str,
    methods: list,
) -> None:
    """Write ``probabilities`` (Parquet) of one model from its ``distributions`` on each of the sets.

    ``full`` are the probabilities over the whole vocabulary beside the distributions, none for a model behind a server;
    ``label`` is the ``model``'s name in tables; of ``texts`` those for ``methods`` were read.
    """
    groups = templates.read_words(words)
    frames = []
    full = full or [None] * len(texts)
    for instance_file, text_file, top_file, full_file in zip(instances, texts, distributions, full, strict=True):
        sentences, rows = files.read_parquet(instance_file), files.read_parquet(text_file)
        rows = rows[rows.method.isin(methods)]
        method: Any = rows.set_index("text_id").method
        top = read_distributions(top_file, Path(top_file).stem, method.index)
        frames.append(format_probabilities(accumulate(top, method, groups), rows, sentences, model, label, "top"))
        if (method == "generate").any():
            # Masks have one step: it is that of both rules.
            written = accumulate(top, method[method == "generate"], groups, written_only=True)
            frames.append(format_probabilities(written, rows, sentences, model, label, "written"))
        if full_file:
            whole = read_masses(full_file, Path(top_file).stem, list(groups), top)
            frames.append(
                format_probabilities(accumulate_full(whole, top, method, groups), rows, sentences, model, label, "full")
            )
        log.info("%s: %d texts", text_file, len(rows))
    files.write_parquet(probabilities, pd.concat(frames, ignore_index=True))


def steps_of_words(
    distributions: pd.DataFrame, methods: pd.Series, words: dict[str, list[str]], written_only: bool = False
) -> pd.DataFrame:
    """Return the steps of every text whose probabilities are summed (Appendix G, and the authors' ``inference.py``).

    At a mask there is one step. Of a continuation it is the step at which the model wrote a word of the study's three
    groups, if there is exactly one, and otherwise, where there are none or several, all steps. With ``written_only``
    they are those with such a word, of which there may be none.

    Args:
        distributions: ``text_id``, ``step``, ``rank``, ``token``, ``probability``, ``chosen``.
        methods: Text id to ``mask`` or ``generate``.
        words: Group to its words.
    """
    gendered = {word for group in GENDERS for word in words[group]}
    method = distributions.text_id.map(methods)
    chosen = distributions.chosen & distributions.token.str.strip().str.lower().isin(gendered)
    wanted = (method == "mask") & (distributions["rank"] == 0)
    wanted |= (method == "generate") & chosen
    if not written_only:
        written = chosen.groupby(distributions.text_id).transform("sum")
        wanted |= (method == "generate") & (written != 1) & (distributions["rank"] == 0)
    return distributions.loc[wanted, ["text_id", "step"]].drop_duplicates(ignore_index=True)


def accumulate(
    distributions: pd.DataFrame, methods: pd.Series, words: dict[str, list[str]], written_only: bool = False
) -> pd.DataFrame:
    """Return the mass of every group (a column) for every text: over the group's words among the tokens that are there.

    It is averaged over the steps of :func:`steps_of_words`, and 0 for a text without any.
    """
    steps = steps_of_words(distributions, methods, words, written_only)
    groups = {word: group for group, members in words.items() for word in members}
    kept = distributions.merge(steps, on=["text_id", "step"])
    kept = kept.assign(group=kept.token.str.strip().str.lower().map(groups)).dropna(subset="group")
    sums = kept.groupby(["text_id", "group"]).probability.sum()
    return _averaged(sums, steps, methods, words)


def accumulate_full(
    probabilities: pd.DataFrame, distributions: pd.DataFrame, methods: pd.Series, words: dict[str, list[str]]
) -> pd.DataFrame:
    """Return the same from sums over the full vocabulary (``text_id``, ``step``, ``group``, ``probability``)."""
    steps = steps_of_words(distributions, methods, words)
    sums = probabilities.merge(steps, on=["text_id", "step"]).groupby(["text_id", "group"]).probability.sum()
    return _averaged(sums, steps, methods, words)


def _averaged(sums: pd.Series, steps: pd.DataFrame, methods: pd.Series, words: Iterable[str]):
    table = sums.unstack("group").reindex(index=methods.index, columns=list(words)).fillna(0.0)
    return table.div(steps.text_id.value_counts().reindex(methods.index).fillna(1), axis=0)


def format_probabilities(
    table: pd.DataFrame, texts: pd.DataFrame, instances: pd.DataFrame, model: str, label: str, accumulation: str
) -> pd.DataFrame:
    """Return probabilities of one evaluation set (from :func:`accumulate`) in the format of this module."""
    texts = texts.set_index("text_id").loc[table.index]
    if instances.evaluation_set.iloc[0] != "mgc":
        total = table[list(GENDERS)].sum(axis=1)
        table = table.div(total.where(total > 0, 1), axis=0)
    wide = table.assign(text_id=texts.index, instance_id=texts.instance_id, prompt=texts.prompt)
    long = wide.melt(id_vars=["text_id", "instance_id", "prompt"], var_name="gender", value_name="probability")
    factors = instances.drop(columns=["text"])
    joined = long.merge(factors, on="instance_id", validate="many_to_many")
    # Positions count the values that the model read.
    joined["position"] = joined.groupby("variable").position.transform(lambda p: p.rank(method="dense") - 1).astype(int)
    labels = {prompt: study.run_label(label, prompt) for prompt in joined.prompt.unique()}
    joined = joined.assign(part=study.RUN, model=model, label=joined.prompt.map(labels), accumulation=accumulation)
    return joined[[*COLUMNS, "text_id"]]


def read_probabilities(path: str) -> pd.DataFrame:
    """Read probabilities in the format of this module: :data:`COLUMNS`.

    Raises:
        UserError: If a column is missing or of another type, a value is no probability, or the genders of a sentence do
            not have one probability each at the same dates or places.
    """
    with files.open_parquet(path, COLUMNS) as file:
        table = file.read(columns=list(COLUMNS))
    if not len(table):
        raise UserError(f"{path}: has no row; {_REMEDY}")
    files.check_columns(table, KINDS, str(path))
    frame = table.to_pandas()
    share = frame.gender.isin(GENDERS) | (frame.evaluation_set == "mgc")
    most = np.where(share, MOST, np.finfo(float).max)
    impossible = frame[~((frame.probability >= 0) & (frame.probability <= most))]
    if len(impossible):
        row = impossible.iloc[0]
        raise UserError(f"{path}: {_named(row)}, {row.gender}: probability is {row.probability}; {_REMEDY}")
    _check_complete(path, frame)
    return frame


def _named(row: pd.Series):
    return f"model {row.model}, {row['item']}, {row.value}"


def _check_complete(path: str, frame: pd.DataFrame):
    """Refuse sentences that do not have one probability of each of their genders at each date or place."""
    sentence = [column for column in COLUMNS if column not in ("value", "position", "gender", "probability")]
    genders = frame.groupby(sentence, sort=False).gender.transform("nunique")
    places = frame.groupby([*sentence, "value", "position"], sort=False).gender
    wrong = frame[(places.transform("size") != genders) | (places.transform("nunique") != genders)]
    if len(wrong):
        row = wrong.iloc[0]
        given = ", ".join(wrong.gender[(wrong[[*sentence, "value"]] == row[[*sentence, "value"]]).all(axis=1)])
        raise UserError(f"{path}: {_named(row)}: not one probability of each gender but of {given}; {_REMEDY}")


if __name__ == "__main__":
    run_named()
