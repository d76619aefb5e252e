"""Data that several tests of Counter-GAP read."""

import pandas as pd
import pytest

from scripts.core.data.templates import read_pronouns
from scripts.counter_gap import released_flags, templates
from tests.counter_gap import make


@pytest.fixture
def frame(tmp_path):
    """Eight instances of two quadruples."""
    return templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv"), make.PRONOUNS)


@pytest.fixture(scope="session")
def replica(root):
    """This project's quadruples."""
    pronouns = read_pronouns(root / "templates/pronouns.tsv")
    return templates.read_quadruples(root / "templates/counter_gap/quadruples.tsv", pronouns)


@pytest.fixture(scope="session")
def official(root):
    """The study's quadruples, without texts, and what all systems released for them."""
    path = root / "templates/counter_gap/released_flags.tsv"
    frame = released_flags.read_instances(path)
    gold = frame[["a_coref", "b_coref"]].to_numpy()
    facts = {"templates": "official", "kind": "released", "scoring": "", "reading": ""}
    parts = [
        flags.assign(model=system, debiasing=method, **facts, correct=(flags[["a_pred", "b_pred"]] == gold).all(axis=1))
        for (system, method), flags in released_flags.read_flags(path).items()
    ]
    return frame, pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="session")
def results(official):
    """The estimates of the released flags."""
    return make.estimate_flags(*official, draws=10_000, seed=20230502)
