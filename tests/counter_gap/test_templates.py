"""Quadruples of this project: what is right is filled, and every bad row is named."""

import pytest

from scripts.counter_gap import passages, templates
from tests.counter_gap import make
from tests.refusals import refused


def test_quadruples_become_four_instances(frame):
    assert frame.id.tolist()[:4] == ["rain", "rain-control", "rain-swap-1", "rain-swap-2"]
    assert frame.text.tolist()[:4] == [
        '"Wait," said Paul. Mina lent Judit a coat, as she had none; Otto slept.',
        '"Wait," said Otto. Judit lent Mina a coat, as she had none; Paul slept.',
        '"Wait," said Mina. Paul lent Otto a coat, as he had none; Judit slept.',
        '"Wait," said Judit. Otto lent Paul a coat, as he had none; Mina slept.',
    ]
    for row in frame.itertuples():
        for kind in passages.SPANS:
            word, offset = getattr(row, kind), getattr(row, f"{kind}_offset")
            assert row.text[offset : offset + len(word)] == word
    assert frame.case.tolist() == ["nominative"] * 4 + ["accusative"] * 4
    assert frame.gender.tolist() == list("FFMMMMFF")


def test_gendered_words_follow_their_person(tmp_path):
    row = (
        "king\tM\ta\tPaul\tOtto\tMina\tJudit\t{a} and {b} met {x}, who lost {other:possessive} way to the old "
        "{same:king/queen} with {y}; {target:nominative} knew."
    )
    texts = templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv", [row]), make.PRONOUNS).text
    assert "who lost her way to the old king with" in texts[0]
    assert "who lost his way to the old queen with" in texts[3]


def test_signs_of_a_name_are_no_pattern(tmp_path):
    rows = [make.ROWS[0].replace("Otto", "Otto (Ot"), make.ROWS[1]]
    texts = templates.read_quadruples(make.write_quadruples(tmp_path / "quadruples.tsv", rows), make.PRONOUNS).text
    assert texts[0].endswith("Otto (Ot slept.")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("\tF\t", "\tX\t", ["row 2: unknown gender 'X'"]),
        ("\tb\t", "\tc\t", ["row 2: unknown right 'c'; use one of a, b, neither"]),
        ("rain", "road", ["row 3: 'road' is already in row 2"]),
        ("Judit\tPaul", "Judit\tJudit", ["row 2: four different names", "correct these rows"]),
        ("{y}", "Otto", ["row 2: the slot '{y}' is missing", "'Otto' is outside its slot"]),
        ("{target:nominative}", "she", ["row 2: one slot {target:…}", "'she' must be a slot"]),
        ("{target:nominative}", "{target:dative}", ["row 2: the slot '{target:dative}' is unknown"]),
        ("{a} lent {b}", "{b} lent {a}", ["row 2: {a} must come before {b}"]),
        ("had none", "had none}", ["row 2: a brace is not closed"]),
    ],
)
def test_bad_rows_of_quadruples_are_named(tmp_path, old, new, named):
    path = make.write_quadruples(tmp_path / "quadruples.tsv", [make.ROWS[0].replace(old, new, 1), make.ROWS[1]])
    with refused(path, *named):
        templates.read_quadruples(path, make.PRONOUNS)
