"""What odd outputs of prompted models come to."""

import pytest

from scripts.core import templates
from scripts.ruff import answers
from tests.conftest import ROOT

PRONOUNS = templates.select_pronoun_sets(
    templates.read_pronouns(ROOT / "templates/pronouns.tsv"), ["he", "she", "they", "xe"]
)
NOM, ACC, POS = "nominative", "accusative", "possessive"

# Output, case of the slot, right set, outcome, set that is named.
TABLE = [
    # The bare form, in every case.
    ("she", NOM, "she", "right", "she"),
    ("xem", ACC, "xe", "right", "xe"),
    ("their", POS, "they", "right", "they"),
    ("his", POS, "she", "wrong", "he"),
    # Blanks and line breaks around it, as models write them.
    (" she", NOM, "she", "right", "she"),
    ("\n\nxyr\n", POS, "xe", "right", "xe"),
    # Quotes of every kind.
    ('"she"', NOM, "she", "right", "she"),
    ("'her'", ACC, "she", "right", "she"),
    ("“they”", NOM, "they", "right", "they"),
    ("‘xe’", NOM, "xe", "right", "xe"),
    ("`his`", POS, "he", "right", "he"),
    ("**her**", POS, "she", "right", "she"),
    # Capitals.
    ("She", NOM, "she", "right", "she"),
    ("THEIR", POS, "they", "right", "they"),
    ("XeM", ACC, "xe", "right", "xe"),
    # Punctuation that is glued on, on either side.
    ("she.", NOM, "she", "right", "she"),
    ("(him)", ACC, "he", "right", "he"),
    ("- xyr", POS, "xe", "right", "xe"),
    ("her,", POS, "she", "right", "she"),
    ("...their!?", POS, "they", "right", "they"),
    ("__her__", POS, "she", "right", "she"),
    ("1.he", NOM, "he", "right", "he"),
    ("<pad>they</s>", NOM, "they", "right", "they"),
    ("he's", NOM, "he", "right", "he"),
    ("they’d", NOM, "they", "right", "they"),
    # The same form several times is one answer.
    ("her her her", POS, "she", "right", "she"),
    ("She. The answer is she.", NOM, "she", "right", "she"),
    # Several pronouns of the case: none is the answer, whichever comes first.
    ("he or she", NOM, "she", "several", None),
    ("he/she", NOM, "he", "several", None),
    ("not his but her", POS, "she", "several", None),
    ("his\nher\ntheir\nxyr", POS, "they", "several", None),
    # Pronouns of another case beside one of the right case do no harm.
    ("she/her", NOM, "she", "right", "she"),
    ("They told xem so.", ACC, "xe", "right", "xe"),
    # The right set in the wrong case.
    ("him", NOM, "he", "wrong_case", "he"),
    ("she", ACC, "she", "wrong_case", "she"),
    ("theirs", POS, "they", "wrong_case", "they"),
    ("xe", POS, "xe", "wrong_case", "xe"),
    ("herself", ACC, "she", "wrong_case", "she"),
    ("xe/xem", POS, "xe", "wrong_case", "xe"),
    # Another set in the wrong case, and several sets in the wrong case.
    ("them", NOM, "he", "wrong_case", "they"),
    ("he or she", ACC, "she", "wrong_case", None),
    # Forms that two cases share count for the case of the slot.
    ("her", ACC, "she", "right", "she"),
    ("her", POS, "she", "right", "she"),
    ("his", POS, "he", "right", "he"),
    ("her", NOM, "she", "wrong_case", "she"),
    # Sentences.
    ("The pronoun that should be used to fill the blank is 'xyr'.", POS, "xe", "right", "xe"),
    ("The best pronoun is she, because the baker is a woman.", NOM, "she", "right", "she"),
    ("The baker said that they had slept well.", NOM, "xe", "wrong", "they"),
    ("The baker was late, so they asked him to wait.", ACC, "he", "right", "he"),
    # The options, echoed with and without their head.
    ("OPTIONS:\n- he\n- she\n- they\n- xe", NOM, "he", "several", None),
    ("- him\n- her", ACC, "she", "several", None),
    ("OPTIONS:", NOM, "he", "none", None),
    # Parts of words are no pronouns.
    ("the", NOM, "he", "none", None),
    ("hers", ACC, "she", "wrong_case", "she"),
    ("sheep, theory, heir, exec", NOM, "she", "none", None),
    ("h e", NOM, "he", "none", None),
    # Other pronouns, other words, digits, another script, nothing.
    ("it", NOM, "they", "none", None),
    ("I don't know.", NOM, "she", "none", None),
    ("A", NOM, "he", "none", None),
    ("42", POS, "he", "none", None),
    ("онa", NOM, "she", "none", None),
    ("", NOM, "he", "none", None),
    (" \n\t", POS, "xe", "none", None),
    ("___", POS, "they", "none", None),
]


@pytest.mark.parametrize(("text", "case", "gold", "outcome", "named"), TABLE)
def test_odd_outputs(text, case, gold, outcome, named):
    assert answers.judge(text, case, gold, PRONOUNS) == (outcome, named)


def test_every_outcome_is_in_the_table():
    assert {row[3] for row in TABLE} == set(answers.OUTCOMES)
    assert set(answers.UNREADABLE) < set(answers.OUTCOMES)


@pytest.mark.parametrize("case", [NOM, ACC, POS])
def test_every_form_of_the_case_is_its_set(case):
    for name, forms in PRONOUNS.items():
        assert answers.judge(f"It is {forms[case].upper()}!", case, name, PRONOUNS) == ("right", name)
        for other in set(PRONOUNS) - {name}:
            assert answers.judge(forms[case], case, other, PRONOUNS) == ("wrong", name)


def test_forms_of_two_sets_name_neither():
    """e and ey share em: in the wrong case it says which sets could be meant, but not which is."""
    sets = {
        "e": {"nominative": "e", "accusative": "em", "possessive": "es"},
        "ey": {"nominative": "ey", "accusative": "em", "possessive": "eir"},
    }
    assert answers.read("em", NOM, sets) == ("wrong_case", None)
    assert answers.read("eir em", NOM, sets) == ("wrong_case", "ey")
