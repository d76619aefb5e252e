"""Token distributions and masses are checked where studies read them: each attack on a file is refused and named."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import distributions
from tests.core.data.outputs import changed, write
from tests.refusals import refused

REMEDY = "run the workflow again"
TEXTS = ["t0", "t1", "t2"]
TOP = pd.DataFrame(
    [
        (text, 0, rank, token, value, rank == 0)
        for k, text in enumerate(TEXTS)
        for rank, (token, value) in enumerate([("she", 0.5 + 0.1 * k), ("he", 0.2), ("they", 0.1)])
    ],
    columns=["text_id", "step", "rank", "token", "probability", "chosen"],
)
GROUPS = {"female": 0.55, "male": 0.2, "neutral": 0.1, "neo": 0.0}
FULL = pd.DataFrame(
    [(text, 0, group, value) for text in TEXTS for group, value in GROUPS.items()],
    columns=["text_id", "step", "group", "probability"],
)


def read_distributions(path):
    return distributions.read_distributions(path, "m", TEXTS)


def read_masses(path):
    return distributions.read_masses(path, "m", list(GROUPS), TOP)


def test_sound_distributions_and_masses_are_read(tmp_path):
    for read, frame in ((read_distributions, TOP), (read_masses, FULL)):
        pd.testing.assert_frame_equal(read(write(tmp_path / "m.parquet", frame)), frame)


FIRST, SECOND = "text t0, step 0", "text t1, step 0"
BAD_DISTRIBUTIONS = {
    "nan": (lambda f: changed(f, 4, "probability", np.nan), [SECOND, "probability is nan"]),
    "inf": (lambda f: changed(f, 4, "probability", np.inf), [SECOND, "probability is inf"]),
    "negative": (lambda f: changed(f, 4, "probability", -0.1), [SECOND, "probability is -0.1"]),
    "above one": (lambda f: changed(f, 3, "probability", 1.5), [SECOND, "probability is 1.5"]),
    "sum above one": (lambda f: f.assign(probability=0.5), [FIRST, "add up to 1.5"]),
    "out of order": (lambda f: changed(f, 4, "probability", 0.05), [SECOND, "rank 2 is more probable"]),
    "missing rank": (lambda f: f.drop(index=4), [SECOND, "rank 1 is missing"]),
    "missing first rank": (lambda f: f.drop(index=3), [SECOND, "rank 0 is missing"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[4:5]]), [SECOND, "rank 1 occurs twice"]),
    "missing text": (lambda f: f.iloc[3:], ["text t0", "1 of 3 have none"]),
    "unknown text": (lambda f: pd.concat([f, f.iloc[:3].assign(text_id="zz")]), ["text zz", "not among those"]),
    "missing step": (lambda f: f.assign(step=[0, 0, 0, 1, 1, 1, 0, 0, 0]), ["text t1: step 0 is missing"]),
    "two chosen": (lambda f: f.assign(chosen=True), [FIRST, "more than one token is chosen"]),
    "words": (lambda f: f.assign(probability="much"), ["probability holds string"]),
    "missing token": (lambda f: changed(f, 4, "token", None), ["row 5", "text t1", "token is empty"]),
    "no column": (lambda f: f.drop(columns="chosen"), ["column chosen is missing"]),
}
BAD_MASSES = {
    "nan": (lambda f: changed(f, 4, "probability", np.nan), [SECOND, "probability is nan"]),
    "above one": (lambda f: changed(f, 4, "probability", 2.0), [SECOND, "probability is 2.0"]),
    "missing group": (lambda f: f.drop(index=4), [SECOND, "lacks the group 'female'"]),
    "missing text": (lambda f: f.iloc[4:], [FIRST, "lacks the group 'female'"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[4:5]]), [SECOND, "group 'female' occurs twice"]),
    "unknown group": (lambda f: changed(f, 4, "group", "other"), [SECOND, "group 'other' is unknown"]),
    "unknown place": (lambda f: pd.concat([f, f.iloc[:4].assign(step=7)]), ["text t0, step 7", "not among"]),
    "words": (lambda f: f.assign(probability="much"), ["probability holds string"]),
}


@pytest.mark.parametrize(("change", "named"), BAD_DISTRIBUTIONS.values(), ids=BAD_DISTRIBUTIONS)
def test_attacks_on_distributions_are_refused(tmp_path, change, named):
    path = write(tmp_path / "m.parquet", change(TOP))
    with refused(f"{path}: ", *named, REMEDY):
        read_distributions(path)


@pytest.mark.parametrize(("change", "named"), BAD_MASSES.values(), ids=BAD_MASSES)
def test_attacks_on_masses_are_refused(tmp_path, change, named):
    path = write(tmp_path / "m.parquet", change(FULL))
    with refused(f"{path}: ", *named, REMEDY):
        read_masses(path)


@pytest.mark.parametrize(("frame", "read"), [(TOP, read_distributions), (FULL, read_masses)], ids=["top", "masses"])
def test_outputs_of_another_model_are_refused(tmp_path, frame, read):
    path = write(tmp_path / "m.parquet", frame, model="other")
    with refused(path, "of the model 'other', not of 'm'", REMEDY):
        read(path)
