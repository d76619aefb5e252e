"""Sum the probabilities of gendered words in a model's token distributions (Appendix G)."""

from pathlib import Path

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import log, run
from scripts.underspecification.lib import data, study
from scripts.underspecification.lib.analyses.raw_files import COLUMNS


def places(distributions, methods, words):
    """Return the steps of every text whose probabilities are summed.

    At a mask there is one step. Of a continuation these are the steps at which the model wrote a word of the study's
    three groups; there may be none.

    Parameters
    ----------
    distributions : DataFrame
        ``text_id``, ``step``, ``rank``, ``token``, ``probability``, ``chosen``.
    methods : Series
        Text id to ``mask`` or ``generate``.
    words : dict of str to list of str
        Group to its words.

    Returns
    -------
    DataFrame
        ``text_id``, ``step``.
    """
    own = {word for group in data.GENDERS for word in words[group]}
    method = distributions.text_id.map(methods)
    chosen = distributions.chosen & distributions.token.str.strip().str.lower().isin(own)
    wanted = ((method == "mask") & (distributions["rank"] == 0)) | ((method == "generate") & chosen)
    return distributions.loc[wanted, ["text_id", "step"]].drop_duplicates(ignore_index=True)


def accumulate(distributions, methods, words):
    """Return the mass of every group for every text.

    Parameters
    ----------
    distributions, methods, words
        As for :func:`places`.

    Returns
    -------
    DataFrame
        Indexed by text id, one column for each group: the sum over the group's words among the tokens that are there,
        averaged over the steps of :func:`places`; 0 for a text without any.
    """
    steps = places(distributions, methods, words)
    groups = {word: group for group, members in words.items() for word in members}
    kept = distributions.merge(steps, on=["text_id", "step"])
    kept = kept.assign(group=kept.token.str.strip().str.lower().map(groups)).dropna(subset="group")
    sums = kept.groupby(["text_id", "group"]).probability.sum()
    return _averaged(sums, steps, methods, words)


def accumulate_full(masses, distributions, methods, words):
    """Return the same from masses over the full vocabulary (``text_id``, ``step``, ``group``, ``probability``)."""
    steps = places(distributions, methods, words)
    sums = masses.merge(steps, on=["text_id", "step"]).groupby(["text_id", "group"]).probability.sum()
    return _averaged(sums, steps, methods, words)


def _averaged(sums, steps, methods, words):
    table = sums.unstack("group").reindex(index=methods.index, columns=list(words)).fillna(0.0)
    return table.div(steps.text_id.value_counts().reindex(methods.index).fillna(1), axis=0)


def tidy(table, texts, instances, label, accumulation):
    """Return masses in the format of :mod:`scripts.underspecification.lib.analyses.raw_files`.

    Parameters
    ----------
    table : DataFrame
        From :func:`accumulate`.
    texts, instances : DataFrame
        Of one evaluation set.
    label, accumulation : str

    Returns
    -------
    DataFrame
    """
    own = texts.set_index("text_id").loc[table.index]
    if instances.evaluation_set.iloc[0] != "mgc":
        total = table[list(data.GENDERS)].sum(axis=1)
        table = table.div(total.where(total > 0, 1), axis=0)
    wide = table.assign(text_id=own.index, instance_id=own.instance_id, prompt=own.prompt)
    long = wide.melt(id_vars=["text_id", "instance_id", "prompt"], var_name="gender", value_name="probability")
    factors = instances.drop(columns=["text"])
    joined = long.merge(factors, on="instance_id", validate="many_to_many")
    # Positions count the values that the model read.
    joined["position"] = joined.groupby("variable").position.transform(lambda p: p.rank(method="dense") - 1).astype(int)
    names = {prompt: study.run_label(label, prompt) for prompt in joined.prompt.unique()}
    joined = joined.assign(release=study.RUN, model=joined.prompt.map(names), accumulation=accumulation, debris=False)
    return joined[[*COLUMNS, "text_id"]]


def main(
    *, instances: list, texts: list, distributions: list, full: list, words: str, masses: str, label: str, methods: list
):
    """Write ``masses`` (Parquet) of one model from its ``distributions`` on each of the sets.

    ``full`` are the masses over the whole vocabulary beside the distributions, none for a model behind a server;
    ``label`` is the model's name in tables; of ``texts`` those for ``methods`` were read.
    """
    groups = data.read_words(words)
    frames = []
    full = full or [None] * len(texts)
    for instance_file, text_file, top_file, full_file in zip(instances, texts, distributions, full, strict=True):
        known, every = files.read_parquet(instance_file), files.read_parquet(text_file)
        every = every[every.method.isin(methods)]
        kept = every.set_index("text_id").method
        top = model_outputs.read_distributions(top_file, Path(top_file).stem, kept.index)
        frames.append(tidy(accumulate(top, kept, groups), every, known, label, "top"))
        if full_file:
            whole = model_outputs.read_masses(full_file, Path(top_file).stem, list(groups), top)
            frames.append(tidy(accumulate_full(whole, top, kept, groups), every, known, label, "full"))
        log.info("%s: %d texts", text_file, len(kept))
    files.write_parquet(masses, pd.concat(frames, ignore_index=True))


if __name__ == "__main__":
    run(main)
