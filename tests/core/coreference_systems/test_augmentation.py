"""Counterfactual augmentation: lists of words, what stands for a word, copies; on made-up lists and the study's."""

from pathlib import Path

import pytest

from scripts.core.coreference_systems import augmentation as a
from scripts.core.coreference_systems.documents import AnnotatedDocument
from tests.refusals import refused

WORDS = {"he": "she", "she": "he", "his": "her", "him": "her", "king": "queen", "mr.": "mrs."}
NAMES = {"Ada": "Ben", "Ben": "Ada", "May": "Tom"}


def document(text, tags=None, name="d", **fields):
    words = tuple(text.split())
    tags = tuple(tags.split()) if tags else None
    return AnnotatedDocument(name, words, ((0, len(words)),), (((0, 0), (2, 2)),), tags=tags, **fields)


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("he", "PRP", "she"),
        ("He", "PRP", "She"),
        ("HE", "PRP", "She"),
        ("her", "PRP", "him"),
        ("her", "PRP$", "his"),
        ("Her", "PRP$", "His"),
        ("his", "PRP$", "her"),
        ("Mr.", "NNP", "Mrs."),
        ("Ada", "NNP", "Ben"),
        ("Ada", "NNPS", "Ada"),
        ("May", "MD", "May"),
        ("ada", "NNP", "ada"),
        ("table", "NN", "table"),
        # A name outranks a gendered word, and of a name of two words the first is taken.
        ("King", "NNP", "Eva"),
        ("King", "NN", "Queen"),
    ],
)
def test_a_word_is_swapped_by_its_lists_and_its_part_of_speech(word, tag, expected):
    assert a.swap_word(word, tag, WORDS, NAMES | {"King": "eva maria"}) == expected


# Sentences with their tags, and their counterfactuals: corrected, and as in the study's code where that differs.
IN_CONTEXT = """
Queen/NNP Anna/NNP slept/VBD | King Otto slept | Hugo Otto slept
King/NNP Otto/NNP slept/VBD | Queen Anna slept | Rosa Anna slept
the/DT King/NNP slept/VBD | the Queen slept | the Rosa slept
the/DT Queen/NNP of/IN Spain/NNP | the King of Spain | the Hugo of Spain
Prince/NNP Otto/NNP rode/VBD | Princess Anna rode | Vera Anna rode
a/DT Princess/NNP slept/VBD | a Prince slept
King/NNP of/IN Spain/NNP | Queen of Spain | Rosa of Spain
Duke/NNP Otto/NNP left/VBD | Duchess Anna left | Nora Anna left
Mr./NNP King/NNP left/VBD | Mrs. Rosa left
King/NNP left/VBD early/RB | Rosa left early
kings/NNS and/CC queens/NNS | queens and kings
HE/PRP LEFT/VBD | SHE LEFT | She LEFT
HER/PRP$ BOAT/NN | HIS BOAT | His BOAT
I/PRP SAW/VBD HER/PRP | I SAW HIM | I SAW Him
MR./NNP OTTO/NNP | MRS. ANNA | Mrs. OTTO
HIMSELF/PRP | HERSELF | Herself
OTTO/NNP LEFT/VBD | ANNA LEFT | OTTO LEFT
He/PRP left/VBD | She left
I/PRP left/VBD | I left
the/DT boat/NN is/VBZ his/PRP$ ./. | the boat is hers . | the boat is her .
the/DT boat/NN is/VBZ his/PRP | the boat is hers | the boat is her
His/PRP$ is/VBZ older/JJR | Hers is older | Her is older
a/DT friend/NN of/IN his/PRP$ in/IN town/NN | a friend of hers in town | a friend of her in town
his/PRP$ ,/, not/RB mine/PRP | hers , not mine | her , not mine
his/PRP$ boat/NN | her boat
his/PRP$ old/JJ boat/NN | her old boat
his/PRP$ two/CD boats/NNS | her two boats
his/PRP$ very/RB old/JJ boat/NN | her very old boat
his/PRP$ every/DT move/NN | her every move
his/PRP$ sinking/VBG boat/NN | her sinking boat
his/PRP$ broken/VBN oar/NN | her broken oar
his/PRP$ or/CC her/PRP$ boat/NN | her or his boat
his/PRP$ ``/`` boat/NN ''/'' | her `` boat ''
the/DT boat/NN is/VBZ hers/PRP | the boat is his
Lady/NNP Anna/NNP left/VBD | Lord Otto left | Gentleman Otto left
Lord/NNP Otto/NNP left/VBD | Lady Anna left
Sir/NNP Otto/NNP left/VBD | Dame Anna left | Madam Anna left
a/DT lady/NN left/VBD | a gentleman left
yes/UH ,/, sir/NN | yes , madam
Madam/NNP Anna/NNP left/VBD | Mr. Otto left | Sir Otto left
Otto/NNP saw/VBD Anna/NNP | Anna saw Otto
"""
RANKED = {"Queen": "Hugo", "King": "Rosa", "Prince": "Vera", "Duke": "Nora", "Anna": "Otto", "Otto": "Anna"}


@pytest.mark.parametrize("line", IN_CONTEXT.strip().splitlines())
def test_the_corrected_way_mends_what_the_published_lists_break(line):
    tagged, *expected = (part.split() for part in line.split(" | "))
    words, tags = zip(*(token.rsplit("/", 1) for token in tagged), strict=True)
    listed = a.read_words(Path(__file__).parents[3] / "templates/coreference/gendered_words.tsv")
    one = AnnotatedDocument("d", words, ((0, len(words)),), (), tags=tags)
    made = [list(a.make_counterfactual(one, listed, RANKED, column).words) for column in ("corrected", "faithful")]
    assert made == [expected[0], expected[-1]]


def test_a_corpus_is_followed_by_copies_with_the_same_clusters():
    corpus = [
        document("Ada told her king", "NNP VBD PRP$ NN", speakers=("x",) * 4),
        document("He saw Ada", "PRP VBD NNP", name="bc/y; part 2"),
    ]
    result = a.augment(corpus, WORDS, NAMES)
    assert result[:2] == corpus
    assert [copy.words for copy in result[2:]] == [("Ben", "told", "his", "queen"), ("She", "saw", "Ben")]
    assert [copy.name for copy in result[2:]] == ["d_a", "bc/y_a; part 2"]
    for original, copy in zip(corpus, result[2:], strict=True):
        for field in ("sentences", "clusters", "speakers", "tags"):
            assert getattr(copy, field) == getattr(original, field)
    assert a.count_swaps(corpus, WORDS, NAMES) == {"all": 5, "her": 1, "names": 2}


def test_a_corpus_without_tags_or_with_copies_is_refused():
    with refused("'d'", "no parts of speech", "OntoNotes"):
        a.augment([document("Ada saw her")], WORDS, NAMES)
    tagged = document("Ada saw her", "NNP VBD PRP")
    with refused("'d_a'", "once"):
        a.augment(a.augment([tagged], WORDS, NAMES), WORDS, NAMES)


def table(path, *rows):
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_words_are_swapped_one_way_or_both(tmp_path):
    path = table(tmp_path / "words.tsv", "word\tcounterpart\tways", "king\tqueen\tboth", "him\ther\tone")
    assert a.read_words(path) == {"king": "queen", "queen": "king", "him": "her"}


BAD_WORDS = {
    "direction": (["king\tqueen\tall"], ["row 2", "'all'", "both", "one"]),
    "capital": (["King\tqueen\tboth"], ["row 2", "'King'", "lower case"]),
    "empty": (["king\t\tone"], ["row 2", "'king' and ''"]),
    "two words": (["a b\tc\tone"], ["row 2", "'a b'", "single words"]),
    "two counterparts": (["king\tqueen\tboth", "queen\tprince\tone"], ["row 3", "'queen'", "'king'", "remove"]),
}


@pytest.mark.parametrize(("rows", "named"), BAD_WORDS.values(), ids=BAD_WORDS)
def test_bad_rows_of_words_are_named(tmp_path, rows, named):
    path = table(tmp_path / "words.tsv", "word\tcounterpart\tways", *rows)
    with refused(path, *named):
        a.read_words(path)


def test_a_map_of_names_is_read(tmp_path):
    assert a.read_name_map(table(tmp_path / "map.txt", "Ada\tBen", "Ben\tAda")) == {"Ada": "Ben", "Ben": "Ada"}
    for rows, named in ((("Ada\tBen", "Ada\tTom"), ["row 2", "'Ada'", "twice"]), (("Ada",), ["row 1", "tab"])):
        with refused("map.txt", *named):
            a.read_name_map(table(tmp_path / "map.txt", *rows))


def test_the_list_that_ships_swaps_every_word_for_one_of_the_other_gender():
    path = Path(__file__).parents[3] / "templates/coreference/gendered_words.tsv"
    words = a.read_words(path)
    assert len(words) > 250
    assert "her" not in words
    assert [words[word] for word in ("he", "she", "himself", "his", "him", "hers")] == [
        "she", "he", "herself", "her", "her", "his",
    ]  # fmt: skip
    # A word's counterpart is listed, except where only one of the two is a word for people of one gender.
    unlisted = {other for word, other in words.items() if other not in words and other != "her"}
    assert unlisted == {"count", "host", "hosts", "god", "gods", "tutor"}
    # What a counterpart is swapped for is swapped for the counterpart: two steps keep the gender.
    for word, other in words.items():
        back = words.get(other)
        assert words.get(back, other) == other, word


def test_published_lists_are_read_as_the_study_reads_them(tmp_path):
    generalised = table(tmp_path / "generalised", "sir \t madam ", "nun\tfriar")
    extra = table(tmp_path / "extra", "priest\tnun", "monk\tnun")
    second_extra = table(tmp_path / "second_extra", "tomcat\tfemale cat\r")
    assert a.read_published_words(generalised, extra, second_extra) == {
        "sir": "madam", "priest": "nun", "nun": "monk", "monk": "nun", "tomcat": "female", "female cat": "tomcat"
    }  # fmt: skip
    with refused("extra", "row 2", "counterpart"):
        a.read_published_words(generalised, table(tmp_path / "extra", "a\tb", "c"), second_extra)


def test_the_published_lists_are_read(mirror):
    words = a.read_published_words(*(mirror / name for name in a.PUBLISHED_WORDS))
    assert words["he"] == "she" and words["his"] == "her" and words["nun"] == "monk"
    assert words["gentleman"] == "lady" and words["lady"] == "gentleman"
    assert len(words) == 306


def test_a_name_becomes_one_word(mirror):
    """As in the authors' files: 702 of their one-word names have a counterpart of two words."""
    published = a.read_name_map(mirror / "counter_gap/cda/nam_map.txt")
    of_two = {name: other for name, other in published.items() if " " in other and " " not in name}
    assert len(of_two) == 702
    swapped = {name: a.swap_word(name, "NNP", {}, published) for name in of_two}
    assert swapped == {name: other.split()[0] for name, other in of_two.items()}
    assert a.swap_in_context("", next(iter(of_two)), "NNP", ("", ""), {}, published) in swapped.values()
