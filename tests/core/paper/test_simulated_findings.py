"""Every finding is simulated, and the table of rates is made of the verdicts."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper.finding_verdicts import FAILS, HOLDS, Check, Finding, decide
from tests import verdicts
from tests.core.paper import simulated_findings
from tests.core.paper.simulated_findings import BORDER, FALSE, RUN, STUDY, TRUE, UNCHANGED, WORLDS, Simulation, Worlds


@pytest.mark.parametrize("study", verdicts.STUDIES)
def test_every_finding_of_every_study_has_its_three_worlds(study):
    simulation = verdicts.simulation(study)
    assert {finding.number for finding in simulation.findings} == set(simulation.worlds)
    assert set(simulation.sizes) == {RUN, STUDY}
    for finding in simulation.findings:
        found = {}
        for world in WORLDS:
            data = simulation.data(finding.number, world, STUDY, np.random.default_rng(1))
            checks = finding.checks(data)
            assert any(check.text or check.missing for check in checks)
            found[world] = decide(checks).verdict
        # The false world is another one: of a study's size it is told from the true one wherever either is decided.
        assert found[TRUE] != FAILS and found[FALSE] != HOLDS, (finding.number, found)


def one(checks, worlds=None, exact=False):
    """Return a simulation of one finding about the mean of numbers, which is 1, -1 or 0."""
    return Simulation(
        (Finding(1, "", "It is above zero.", checks),),
        1,
        worlds or {1: Worlds(lambda mean: -mean, lambda mean: 0, exact=exact)},
        lambda number, mean, size, generator: generator.normal(mean, 0.3),
        {RUN: "few", STUDY: "many"},
        100,
    )


def by_sign(value):
    return [Check(bool(value > 0), str(value))]


def test_a_rule_that_decides_by_the_sign_alone_is_caught_on_the_border():
    (table,) = simulated_findings.verdict_rates(one(by_sign), 200, 1)
    rows = table.set_index(["size", "world"])
    assert rows.loc[(RUN, TRUE), [HOLDS, FAILS]].tolist() == [200, 0]
    assert rows.loc[(RUN, FALSE), [HOLDS, FAILS]].tolist() == [0, 200]
    assert rows.too_often.tolist() == [False, False, True] * 2
    assert 80 < rows.loc[(RUN, BORDER), FAILS] < 120
    first, _ = simulated_findings.summarise(table, one(by_sign))
    assert first.endswith(f"| 1 of 1 | 1 of 1 | {100 * table.wrong.max() / 200:.3g} **!** | none |")
    # Of what is measured as it is, the border has no error.
    (table,) = simulated_findings.verdict_rates(one(by_sign, exact=True), 200, 1)
    assert not table.too_often.any()


def test_a_finding_without_worlds_is_refused():
    with pytest.raises(ValueError, match="findings \\[1, 2\\] have no worlds"):
        list(simulated_findings.verdict_rates(one(by_sign, {2: Worlds(UNCHANGED, UNCHANGED)}), 2, 1))


def test_findings_are_stored_one_by_one(tmp_path):
    path = tmp_path / "verdicts.csv"
    (part,) = simulated_findings.verdict_rates(one(by_sign), 5, 1)
    for study, number in (("winopron", 2), ("ruff", 1), ("winopron", 1), ("winopron", 2)):
        verdicts.store(path, study, part.assign(finding=number))
    stored = pd.read_csv(path)
    assert stored.groupby(["study", "finding"], sort=False).size().to_dict() == {
        ("ruff", 1): 6, ("winopron", 1): 6, ("winopron", 2): 6,
    }  # fmt: skip
