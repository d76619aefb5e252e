"""What odd outputs of prompted models come to."""

import pytest

from scripts.core.data import templates
from scripts.ruff import answers
from tests import plans
from tests.ruff import synthetic
from tests.ruff.synthetic import FOUR

PRONOUNS = templates.select_pronoun_sets(plans.PRONOUNS, FOUR)
NOM, ACC, POS = "nominative", "accusative", "possessive"

# Output, case of the slot, right set, outcome, set that is named.
TABLE = [
    # Blanks and line breaks around it, as models write them.
    ("\n\nxyr\n", POS, "xe", "right", "xe"),
    # Quotes of every kind.
    ('"she"', NOM, "she", "right", "she"),
    ("“they”", NOM, "they", "right", "they"),
    ("**her**", POS, "she", "right", "she"),
    ("XeM", ACC, "xe", "right", "xe"),
    # Punctuation that is glued on, on either side.
    ("(him)", ACC, "he", "right", "he"),
    ("...their!?", POS, "they", "right", "they"),
    ("__her__", POS, "she", "right", "she"),
    ("1.he", NOM, "he", "right", "he"),
    ("<pad>they</s>", NOM, "they", "right", "they"),
    ("he's", NOM, "he", "right", "he"),
    ("they’d", NOM, "they", "right", "they"),
    # The same form several times is one answer.
    ("her her her", POS, "she", "right", "she"),
    # Several pronouns of the case: none is the answer, whichever comes first.
    ("he or she", NOM, "she", "several", None),
    ("he/she", NOM, "he", "several", None),
    ("not his but her", POS, "she", "several", None),
    # Pronouns of another case beside one of the right case do no harm.
    ("she/her", NOM, "she", "right", "she"),
    ("They told xem so.", ACC, "xe", "right", "xe"),
    # The right set in the wrong case.
    ("him", NOM, "he", "wrong_case", "he"),
    ("herself", ACC, "she", "wrong_case", "she"),
    ("xe/xem", POS, "xe", "wrong_case", "xe"),
    # Another set in the wrong case, and several sets in the wrong case.
    ("them", NOM, "he", "wrong_case", "they"),
    ("he or she", ACC, "she", "wrong_case", None),
    # Forms that two cases share count for the case of the slot.
    ("her", ACC, "she", "right", "she"),
    ("her", POS, "she", "right", "she"),
    ("her", NOM, "she", "wrong_case", "she"),
    # Sentences.
    ("The baker said that they had slept well.", NOM, "xe", "wrong", "they"),
    ("The baker was late, so they asked him to wait.", ACC, "he", "right", "he"),
    # The options, echoed with and without their head.
    ("OPTIONS:\n- he\n- she\n- they\n- xe", NOM, "he", "several", None),
    ("OPTIONS:", NOM, "he", "none", None),
    # Alternatives in one word, or joined by a slash: as ambiguous as both words would be.
    ("s/he", NOM, "he", "several", None),
    ("s/he's", NOM, "he", "several", None),
    ("(s)he", NOM, "he", "several", None),
    ("s-he", NOM, "he", "several", None),
    ("s / he", NOM, "he", "several", None),
    ("s\\he", NOM, "he", "several", None),
    ("s⁄he", NOM, "he", "several", None),
    ("he(she)", NOM, "he", "several", None),
    ("he(r)", POS, "she", "several", None),
    ("he/r", POS, "she", "several", None),
    # Also where the alternatives are of another case, or only one of them is of the case.
    ("he/she", ACC, "she", "several", None),
    ("his/hers", POS, "he", "several", None),
    # Forms of one set are no alternatives, and alternatives of another case beside an answer do no harm.
    ("he/him/his", NOM, "he", "right", "he"),
    ("her(s)", POS, "she", "right", "she"),
    ("her, because we do not know whether he/she", POS, "she", "right", "she"),
    ("(him) or nothing", ACC, "he", "right", "he"),
    # Letters of other widths, mathematical letters, ligatures.
    ("ｈｅ／ｓｈｅ", NOM, "he", "several", None),
    ("（ｓ）ｈｅ", NOM, "he", "several", None),
    ("𝐱𝐞𝐦", ACC, "xe", "right", "xe"),
    ("she²", NOM, "she", "right", "she"),
    # Parts of words are no pronouns.
    ("sheep, theory, heir, exec", NOM, "she", "none", None),
    ("h e", NOM, "he", "none", None),
    # Other pronouns, other words, digits, another script, nothing.
    ("it", NOM, "they", "none", None),
    ("онa", NOM, "she", "none", None),
    ("", NOM, "he", "none", None),
    ("___", POS, "they", "none", None),
]


# A form that need not stand for a person counts only where it stands alone.
WITH_IT = [
    ("It is unclear.", NOM, "it", "none", None),
    ("It is unclear, but it could be she.", NOM, "she", "right", "she"),
    ("She, I think, as it says.", NOM, "it", "wrong", "she"),
    ("The sentence and its context do not say.", POS, "it", "none", None),
    ("It itself says nothing", NOM, "it", "none", None),
    ("It.", NOM, "it", "right", "it"),
    ("it, it", NOM, "it", "right", "it"),
    ("it/its", NOM, "it", "right", "it"),
    ("its", NOM, "it", "wrong_case", "it"),
    ("it", NOM, "she", "wrong", "it"),
    ("it or she", NOM, "it", "wrong", "she"),
]
IT = templates.PronounSet(dict(zip(templates.FORMS, ("it", "it", "its", "its", "itself"), strict=True)), "neo")


@pytest.mark.parametrize(
    ("text", "case", "gold", "outcome", "named", "more"),
    [*((*row, {}) for row in TABLE), *((*row, {"it": IT}) for row in WITH_IT)],
)
def test_odd_outputs(text, case, gold, outcome, named, more):
    assert answers.judge_answer(text, case, gold, PRONOUNS | more) == (outcome, named)


def test_every_outcome_is_in_the_table():
    assert {row[3] for row in TABLE} == set(answers.OUTCOMES)


@pytest.mark.parametrize("case", [NOM, ACC, POS])
def test_every_form_of_the_case_is_its_set(case):
    for name, forms in PRONOUNS.items():
        assert answers.judge_answer(f"It is {forms[case].upper()}!", case, name, PRONOUNS) == ("right", name)
        for other in set(PRONOUNS) - {name}:
            assert answers.judge_answer(forms[case], case, other, PRONOUNS) == ("wrong", name)


SHARING = synthetic.SHARING | {"she": PRONOUNS["she"]}


@pytest.mark.parametrize(
    ("text", "case", "gold", "outcome", "named"),
    [
        # A form that is that of two sets is right for both; for others it is wrong and names both.
        ("em", ACC, "e", "right", "e"),
        ("em", ACC, "ey", "right", "ey"),
        ("em", ACC, "she", "wrong", "e or ey"),
        ("ey/em", ACC, "e", "right", "e"),
        ("her or em", ACC, "e", "several", None),
        ("e/ey", NOM, "ey", "several", None),
        # In the wrong case it says which sets could be meant, but not which is.
        ("em", NOM, "e", "wrong_case", None),
        ("eir em", NOM, "ey", "wrong_case", "ey"),
        # Abbreviations and compounds that begin with the letter.
        ("i.e., she", NOM, "she", "right", "she"),
        ("she (e.g. in English)", NOM, "she", "right", "she"),
        ("e. g. she", NOM, "she", "right", "she"),
        ("i.e.she", NOM, "she", "right", "she"),
        ("she, i.e", NOM, "she", "right", "she"),
        ("i.e.", NOM, "e", "none", None),
        ("She sent an e-mail.", NOM, "she", "right", "she"),
        ("She sent an E‑mail.", NOM, "she", "right", "she"),
        # What is no abbreviation.
        ("e", NOM, "e", "right", "e"),
        ("e, e. Good.", NOM, "e", "right", "e"),
        ("e-she", NOM, "she", "several", None),
    ],
)
def test_sets_that_share_a_form(text, case, gold, outcome, named):
    assert answers.judge_answer(text, case, gold, SHARING) == (outcome, named)
