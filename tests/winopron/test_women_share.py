"""The agreement of bias with the share of women in an occupation, worked out by hand, and the figures it rests on."""

import csv

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core import files
from scripts.core.data import upstream
from scripts.core.errors import UserError
from scripts.winopron.lib import numbers, tables, templates
from scripts.winopron.lib.analyses import performance, women_share
from tests.winopron import synthetic

SHIPPED = "templates/winopron/occupation_women.tsv"
ORIGINAL = "winogender/data/occupations-stats.tsv"
HE, SHE, THEY, XE = ["he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr"]
WOMEN = {name: number / 12 for number, name in enumerate(synthetic.PEOPLE)}


@pytest.fixture
def double(tmp_path):
    return synthetic.sentences(tmp_path)


def answered(frame, choose):
    """Return answers: ``choose`` gives the prediction for a row, or None."""
    predictions = pd.Series([choose(row) for row in frame.itertuples()], dtype=object)
    return performance.join_instances(
        pd.DataFrame({"instance_id": frame.instance_id, "prediction": predictions}), frame
    )


def stereotyped(row):
    """With she as many nominative and accusative sentences to the occupation as it has quarters of women; they: nobody.

    With he half of all sentences, with xe all.
    """
    if row.pronoun_set == THEY:
        return None
    if row.pronoun_set == XE or (row.pronoun_set == HE and row.ending == 1):
        return "occupation"
    place = (row.case == "accusative") * 2 + row.ending
    she = row.pronoun_set == SHE and row.case != "possessive" and place <= 4 * WOMEN[row.occupation]
    return "occupation" if she else "participant"


def test_differences_by_hand(double):
    found = women_share.differences(answered(double, stereotyped), WOMEN)
    assert list(found) == women_share.DIFFERENCES and len(found) == 12 * 3
    assert set(found.compared_with) == {HE} and list(found.pronoun_set.unique()) == [SHE, THEY, XE]
    rows = found.set_index(["pronoun_set", "occupation"])
    # Of six sentences: with he three. Worker g has half women: two with she.
    assert tuple(rows.loc[(SHE, "workerg"), ["women", "share", "compared_share"]]) == (0.5, 2 / 6, 0.5)
    assert rows.difference[SHE, "workerg"] == pytest.approx(-1 / 6)
    assert set(rows.difference[THEY]) == {-0.5} and set(rows.difference[XE]) == {0.5}


def test_agreement_by_hand(double):
    found = women_share.differences(answered(double, stereotyped), WOMEN)
    table = women_share.agreement(found, 500, 3).set_index("pronoun_set")
    steps = [min(int(4 * share), 4) for share in WOMEN.values()]
    row = table.loc[SHE]
    assert (row.n, row.left_out, row.undefined) == (12, 0, "")
    assert row.pearson == pytest.approx(stats.pearsonr(list(WOMEN.values()), steps)[0])
    assert row.spearman == pytest.approx(stats.spearmanr(list(WOMEN.values()), steps)[0])
    assert 0.8 < row.ci_low < row.pearson < row.ci_high <= 1
    pd.testing.assert_frame_equal(table, women_share.agreement(found, 500, 3).set_index("pronoun_set"))
    # The other way round, and shifted, which changes no correlation.
    against = found.assign(difference=0.2 - found.difference)
    assert women_share.agreement(against, 500, 3).pearson[0] == pytest.approx(-row.pearson)


def test_the_interval_is_that_of_a_plain_loop(double):
    found = women_share.differences(answered(double, stereotyped), WOMEN)
    rows = found[found.pronoun_set == SHE]
    drawn = np.random.default_rng(3).integers(12, size=(200, 12))
    with np.errstate(invalid="ignore"):
        samples = [np.corrcoef(rows.women.to_numpy()[i], rows.difference.to_numpy()[i])[0, 1] for i in drawn]
    row = women_share.agreement(rows, 200, 3).iloc[0]
    assert [row.ci_low, row.ci_high] == pytest.approx(np.nanquantile(samples, [0.025, 0.975]))


def test_what_has_no_correlation_says_why(double):
    answers = answered(double, stereotyped)
    table = women_share.agreement(women_share.differences(answers, WOMEN), 100, 1).set_index("pronoun_set")
    assert table.undefined[XE] == table.undefined[THEY] == women_share.SAME_DIFFERENCE
    assert table.loc[XE, ["pearson", "ci_low", "ci_high", "spearman"]].isna().all()
    blind = women_share.agreement(women_share.differences(answered(double, lambda row: row.answer), WOMEN), 100, 1)
    assert set(blind.undefined) == {women_share.NO_DIFFERENCE} and blind.pearson.isna().all()
    alike = dict.fromkeys(WOMEN, 0.4)
    same = women_share.agreement(women_share.differences(answers, alike), 100, 1)
    assert same.undefined[0] == women_share.SAME_WOMEN
    known = dict(list(WOMEN.items())[:9])
    few = women_share.agreement(women_share.differences(answers, known), 100, 1).iloc[0]
    assert (few.n, few.left_out, few.undefined) == (9, 3, women_share.FEW) and np.isnan(few.pearson)


def test_without_he_there_is_nothing_to_compare_with(double):
    answers = answered(double[double.pronoun_set != HE].reset_index(drop=True), stereotyped)
    found = women_share.differences(answers, WOMEN)
    assert list(found) == women_share.DIFFERENCES and found.empty
    assert list(women_share.agreement(found, 100, 1)) == women_share.AGREEMENT


def test_ways_of_asking_count_together(double):
    parts = [answered(double, way).assign(prompt=str(n)) for n, way in enumerate((stereotyped, lambda row: None))]
    found = women_share.differences(pd.concat(parts, ignore_index=True), WOMEN).set_index(["pronoun_set", "occupation"])
    assert found.share[SHE, "workerl"] == pytest.approx(3 / 12) and found.compared_share[SHE, "workerl"] == 3 / 12


@pytest.fixture
def agreements(double):
    """Correlations of a system that agrees, of one that does not, of one asked too little, and of a rule."""
    agree = women_share.agreement(women_share.differences(answered(double, stereotyped), WOMEN), 300, 1)
    against = women_share.differences(answered(double, stereotyped), {name: 1 - x for name, x in WOMEN.items()})
    few = women_share.differences(answered(double, stereotyped), dict(list(WOMEN.items())[:4]))
    never = women_share.differences(answered(double, lambda row: "occupation"), WOMEN)
    found = {
        "LingMess": agree,
        "SpanBERT-base": women_share.agreement(against, 300, 1),
        "Some model": women_share.agreement(few, 300, 1),
        "First person (rule)": women_share.agreement(never, 300, 1),
    }
    return pd.concat([t.assign(system=s, conversion="corrected", templates="replica") for s, t in found.items()])


def test_numbers_and_table(agreements):
    found = numbers.from_women_share(agreements)
    counts = {name: found[f"women.{name}"]["value"] for name in ("defined", "few", "occupations")}
    assert counts == {"defined": 2, "few": 1, "occupations": 12}
    assert [found[f"women.{name}"]["value"] for name in ("above", "below", "open")] == [1, 1, 0]
    assert found["women.r.highest"]["system"] == "LingMess" and found["women.r.highest.low"]["value"] > 0
    assert found["women.r.lowest"]["value"] == pytest.approx(-found["women.r.highest"]["value"])
    assert numbers.from_women_share(agreements.iloc[:0])["women.defined"]["value"] == 0
    cells = tables.women_share(agreements, "replica")
    assert len(cells) == 4 * 3
    assert cells.set_index(["System", "Pronoun set"]).Undefined["Some model", SHE] == women_share.FEW
    shown = tables.printed_women_share(cells)
    assert shown.System.tolist() == ["LingMess", "SpanBERT-base"] and "Undefined" not in shown


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("weaver\t12\t2015", "row 4: the occupation 'weaver' is empty or appears twice"),
        ("\t12\t2015", "row 4: the occupation '' is empty or appears twice"),
        ("pilot\tmost\t2015", "row 4: women 'most' is no percentage"),
        ("pilot\t112\t2015", "row 4: women '112' is no percentage"),
        ("pilot\tnan\t2015", "row 4: women 'nan' is no percentage"),
    ],
)
def test_bad_rows_are_named(tmp_path, row, message):
    path = tmp_path / "women.tsv"
    path.write_text(f"# Made up.\noccupation\twomen\tyear\nweaver\t40.5\t2015\n{row}\n", encoding="utf-8")
    with pytest.raises(UserError) as error:
        women_share.read_shares(path)
    assert message in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_every_occupation_of_the_replica_has_its_share(root):
    shares = women_share.read_shares(root / SHIPPED)
    known = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    assert {row.occupation for row in known.rows} == set(shares) and len(shares) == 60
    assert all(0 < share < 1 for share in shares.values())


@pytest.mark.upstream
def test_the_shipped_shares_are_those_of_the_original(root, mirror):
    pinned = upstream.read_manifest(root / "config/upstream.tsv")
    assert files.sha256(mirror / ORIGINAL) == pinned[ORIGINAL].sha256
    with (mirror / ORIGINAL).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    original = {row["occupation"]: (row["bls_pct_female"], row["bls_year"]) for row in rows}
    lines = (root / SHIPPED).read_text(encoding="utf-8").splitlines()
    shipped = {name: tuple(cells) for name, *cells in (line.split("\t") for line in lines if not line.startswith("#"))}
    assert shipped.pop("occupation") == ("women", "year") and shipped == original


@pytest.mark.upstream
def test_every_occupation_of_the_authors_has_its_share(root, mirror):
    shares = women_share.read_shares(root / SHIPPED)
    for known in (
        templates.read_official(mirror / "winopron/data.zip"),
        templates.read_winogender(mirror / "winogender/data/templates.tsv"),
    ):
        assert {row.occupation for row in known.rows} == set(shares)
