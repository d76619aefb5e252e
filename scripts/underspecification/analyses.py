"""The analyses of Underspecification, each by the function of its rule."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.workflow.job import log, run_named
from scripts.underspecification.lib import templates
from scripts.underspecification.lib.analyses import correlation, detection, simulation
from scripts.underspecification.lib.analyses import released as releases
from scripts.underspecification.lib.analyses.word_group_probabilities import (
    accumulate,
    accumulate_full,
    read_probabilities,
    tidy,
)


def word_group_probabilities(
    *,
    instances: list,
    texts: list,
    distributions: list,
    full: list,
    words: str,
    probabilities: str,
    label: str,
    methods: list,
) -> None:
    """Write ``probabilities`` (Parquet) of one model from its ``distributions`` on each of the sets.

    ``full`` are the probabilities over the whole vocabulary beside the distributions, none for a model behind a server;
    ``label`` is the model's name in tables; of ``texts`` those for ``methods`` were read.
    """
    groups = templates.read_words(words)
    frames = []
    full = full or [None] * len(texts)
    for instance_file, text_file, top_file, full_file in zip(instances, texts, distributions, full, strict=True):
        sentences, rows = files.read_parquet(instance_file), files.read_parquet(text_file)
        rows = rows[rows.method.isin(methods)]
        method: Any = rows.set_index("text_id").method
        top = model_outputs.read_distributions(top_file, Path(top_file).stem, method.index)
        frames.append(tidy(accumulate(top, method, groups), rows, sentences, label, "top"))
        if (method == "generate").any():
            # Masks have one step: it is that of both rules.
            written = accumulate(top, method[method == "generate"], groups, written_only=True)
            frames.append(tidy(written, rows, sentences, label, "written"))
        if full_file:
            whole = model_outputs.read_masses(full_file, Path(top_file).stem, list(groups), top)
            frames.append(tidy(accumulate_full(whole, top, method, groups), rows, sentences, label, "full"))
        log.info("%s: %d texts", text_file, len(rows))
    files.write_parquet(probabilities, pd.concat(frames, ignore_index=True))


def released(*, winogender: str, simplified: str, mgc: str, probabilities: str, release: str) -> None:
    """Write ``probabilities`` (Parquet) of a ``release`` from its three archives."""
    frames = []
    for name, path in (("winogender", winogender), ("simplified", simplified), ("mgc", mgc)):
        frames.append(releases.read(path, release, name))
        log.info("%s: %d probabilities of %d models", path, len(frames[-1]), frames[-1].model.nunique())
    files.write_parquet(probabilities, pd.concat(frames, ignore_index=True), {"origins": {"row": "{text_id}"}})


def method1_slopes(*, probabilities: list, slopes: str, curves: str, draws: int, seed: int) -> None:
    """Write ``slopes`` (metrics with intervals) and ``curves`` (means over sentences, lines) as CSV."""
    frame = read_probabilities(probabilities)
    frame = frame[frame.evaluation_set == "mgc"]
    files.write_csv(slopes, correlation.slopes(frame, draws, seed))
    files.write_csv(curves, correlation.curves(frame, draws, seed))


def specification_detection(
    *,
    probabilities: list,
    metric: str,
    specification_detection: str,
    independence: str,
    threshold: float,
    folds: int,
    draws: int,
    seed: int,
) -> None:
    """Write the ``metric`` of each sentence, rates and areas, and how the change over dates goes with the level
    (``independence``) as CSV."""
    frame = read_probabilities(probabilities)
    frame = frame[frame.evaluation_set != "mgc"]
    values = detection.specification_metric(frame)
    files.write_csv(metric, values)
    files.write_csv(specification_detection, detection.evaluate(values, folds, draws, seed, threshold))
    files.write_csv(independence, detection.independence(values))


def all_sources(*, slopes: list, rates: list, method1_slopes: str, specification_detection: str) -> None:
    """Write ``method1_slopes`` and ``specification_detection`` (CSV) from the tables of all sources."""
    for tables, path in ((slopes, method1_slopes), (rates, specification_detection)):
        files.write_csv(path, pd.concat(map(files.read_csv, tables), ignore_index=True))


POINTS_SHOWN = 1500
"""The first draws are kept for the figure: an even sample, so that the selected ones have their share in it."""


def toy_model(*, correlations: str, points: str, amplification: float, draws: int, seed: int) -> None:
    """Write ``correlations`` and, for the figure, the first ``points`` of each task (CSV)."""
    files.write_csv(correlations, simulation.correlations(amplification, draws, seed))
    shown = []
    for task in simulation.TASKS:
        shown.append(simulation.simulate(task, amplification, draws, seed).head(POINTS_SHOWN).assign(task=task))
    files.write_csv(points, pd.concat(shown, ignore_index=True))


if __name__ == "__main__":
    run_named()
