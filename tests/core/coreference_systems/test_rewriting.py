"""Training documents rewritten: the words change, and every mention still is where it was."""

import random

import pytest

from scripts.core.coreference_systems import rewriting
from scripts.core.coreference_systems.documents import find_problem
from scripts.core.workflow.job import ROOT
from tests.core.coreference_systems import tiny
from tests.refusals import refused

NAMES = rewriting.Names(("Greta", "Ida"), ("Hans", "Fritz"), ("Bell", "Marsh"))


class Always:
    """Stands for ``random.Random`` that always draws the least share and the first of a list."""

    def __init__(self, share=0.0):
        self.share = share

    def random(self):
        return self.share

    def choice(self, listed):
        return listed[0]


def document():
    return tiny.document(
        "doc",
        [
            "Mrs. Anna Berg was tired , and her brother Carl gave her the letter .",
            '" It is hers , " he said to Anna ; " she has the boat herself . "',
            "The old captain saw him . Her boat , his door and Mrs. Berg 's garden were there .",
        ],
        [
            [(0, 0, 2), (0, 7, 7), (0, 11, 11), (1, 3, 3), (1, 9, 9), (1, 12, 12), (1, 16, 16), (2, 6, 6), (2, 12, 13)],
            [(0, 7, 9), (1, 6, 6), (2, 4, 4), (2, 9, 9)],
            [(2, 0, 2)],
            [(0, 12, 13), (1, 1, 1)],
        ],
    )


def text(made):
    return " ".join(made.words)


def mentions(made):
    return [[" ".join(made.words[first : last + 1]) for first, last in cluster] for cluster in made.clusters]


def test_genders_are_those_of_pronouns_and_titles():
    made = document()
    assert [rewriting.gender_of(made, cluster) for cluster in made.clusters] == ["she", "he", None, None]


def test_they_agrees_with_its_verbs():
    made = rewriting.with_they(document(), Always(0.9))
    assert text(made) == (
        "Mrs. Anna Berg was tired , and their brother Carl gave them the letter . "
        '" It is theirs , " they said to Anna ; " they have the boat themselves . " '
        "The old captain saw them . Their boat , their door and Mrs. Berg 's garden were there ."
    )
    assert made.clusters == document().clusters
    assert rewriting.with_they(document(), Always(0.1)) == document()
    # The verb after an object is another word's.
    other = tiny.document("doc", ["The letter to her was old , and she was tired ."], [[(0, 3, 3), (0, 8, 8)]])
    assert text(rewriting.with_they(other, Always(0.9))) == "The letter to them was old , and they were tired ."


def test_people_have_other_names_throughout():
    made = rewriting.with_other_names(document(), NAMES, Always())
    assert text(made) == (
        "Mrs. Greta Bell was tired , and her brother Carl gave her the letter . "
        '" It is hers , " he said to Greta ; " she has the boat herself . " '
        "The old captain saw him . Her boat , his door and Mrs. Bell 's garden were there ."
    )
    assert made.clusters == document().clusters


def test_people_of_one_gender():
    made = rewriting.with_one_gender(document(), "he", NAMES, Always())
    assert text(made) == (
        "Mr. Hans Bell was tired , and his brother Carl gave him the letter . "
        '" It is his , " he said to Hans ; " he has the boat himself . " '
        "The old captain saw him . His boat , his door and Mr. Bell 's garden were there ."
    )
    other = rewriting.with_one_gender(document(), "she", NAMES, Always())
    # Of nouns the last of a mention alone changes: "brother" stays, since "Carl" comes after it.
    assert text(other) == (
        "Mrs. Greta Bell was tired , and her brother Carl gave her the letter . "
        '" It is hers , " she said to Greta ; " she has the boat herself . " '
        "The old captain saw her . Her boat , her door and Mrs. Bell 's garden were there ."
    )


def test_names_stand_in_for_pronouns_and_nouns():
    made = rewriting.with_more_names(document(), NAMES, Always(0.0))
    # A draw below 0.25 leaves a person alone.
    assert made == document()
    # Of each person: whether they are left alone; whether a new name has a surname; then pronoun by pronoun.
    made = rewriting.with_more_names(
        document(), NAMES, Draws(0.9, 0.0, 0.0, 0.9, 0.0, 0.9, 0.9, 0.9, 0.0, 0.0, 0.0, 0.0)
    )
    assert find_problem(made) is None
    assert text(made) == (
        "Mrs. Anna Berg was tired , and Mrs. Anna Berg 's brother Carl gave Mrs. Anna Berg the letter . "
        '" It is hers , " Hans Bell said to Anna ; " Mrs. Anna Berg has the boat herself . " '
        "The old captain saw Hans . Her boat , Hans 's door and Mrs. Berg 's garden were there ."
    )
    assert mentions(made)[0] == [
        *("Mrs. Anna Berg", "Mrs. Anna Berg", "Mrs. Anna Berg", "hers", "Anna", "Mrs. Anna Berg", "herself", "Her"),
        "Mrs. Berg",
    ]
    assert mentions(made)[1] == ["Mrs. Anna Berg 's brother Carl", "Hans Bell", "Hans", "Hans"]


class Draws(Always):
    """Gives shares in turn."""

    def __init__(self, *shares):
        self.shares = iter(shares)

    def random(self):
        return next(self.shares)


def test_runs_of_words_are_replaced():
    made = rewriting.replace_words(
        document(),
        [
            (7, 9, ("Ida", "Bell", "'s"), 2),
            (0, 0, (), 0),
            (2, 2, ("Anna",), 1),
            # Overlaps the first: left out.
            (9, 10, ("gone",), 1),
        ],
    )
    assert find_problem(made) is None
    assert text(made).startswith("Anna Anna was tired , and Ida Bell 's gave her the letter . \" It is hers")
    # "her" lay within the first run; "her brother Carl" was the run.
    assert mentions(made) == [
        ["Anna Anna", "her", "hers", "Anna", "she", "herself", "Her", "Mrs. Berg"],
        ["Ida Bell", "he", "him", "his"],
        ["the letter", "It"],
        ["The old captain"],
    ]


def test_rewritten_documents_hold_together():
    names = rewriting.read_names(ROOT / "templates/coreference/names.tsv")
    changed = 0
    for seed in range(200):
        original = [document(), *tiny.documents()][seed % 4]
        draw = random.Random(seed)
        made = rewriting.rewrite_document(original, names, rewriting.Shares(0.5, 0.5, 0.8, 0.5), draw)
        assert find_problem(made) is None
        assert len(made.sentences) == len(original.sentences)
        assert {cluster for cluster in made.clusters if not cluster} == set()
        for cluster in made.clusters:
            assert all(any(a <= first and last < b for a, b in made.sentences) for first, last in cluster)
        changed += made != original
    assert changed > 100
    assert rewriting.rewrite_document(document(), names, rewriting.Shares(), random.Random(0)) == document()
    # Draws depend on the seed alone.
    made = [
        rewriting.rewrite_document(document(), NAMES, rewriting.Shares(0.5, 0.5, 0.5, 0.5), random.Random(seed))
        for seed in (1, 1, 2, 3, 4)
    ]
    assert made[0] == made[1] and len(set(made)) > 1


def test_the_names_that_come_with_the_project():
    names = rewriting.read_names(ROOT / "templates/coreference/names.tsv")
    assert all(len(listed) > 200 for listed in vars(names).values())
    assert not set(names.female) & set(names.male)
    # No name of an evaluated text is trained on.
    rows = (ROOT / "templates/counter_gap/quadruples.tsv").read_text(encoding="utf-8").splitlines()
    cells = {cell for row in rows if not row.startswith("#") for cell in row.split("\t")[3:7]}
    assert not cells & {name for listed in vars(names).values() for name in listed}


LISTS = {
    "kind": ("Ida\tfemale\nHans\tmasculine\n", ["row 3", "'masculine'", "female, male, surname"]),
    "two words": ("Ida\tfemale\nMi Soon\tfemale\n", ["row 3", "'Mi Soon'", "one word"]),
    "twice": ("Ida\tfemale\nIda\tmale\n", ["row 3", "'Ida'", "row 2", "remove"]),
    "too few": ("Ida\tfemale\nGreta\tfemale\nHans\tmale\n", ["1 name", "kind male", "two"]),
}


@pytest.mark.parametrize(("rows", "named"), LISTS.values(), ids=LISTS)
def test_lists_of_names_that_cannot_be_used_are_refused(tmp_path, rows, named):
    path = tmp_path / "names.tsv"
    path.write_text("name\tkind\n" + rows, encoding="utf-8")
    with refused(path, *named):
        rewriting.read_names(path)
