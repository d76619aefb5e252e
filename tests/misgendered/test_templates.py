"""Templates, declarations and names: what this project ships, what is refused, and the authors' files."""

import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from scripts.core.data.options import SLOT, fill_slot
from scripts.core.data.templates import AGREEING, GENDERED, WORD, read_pronouns, read_tsv, word_set
from scripts.misgendered import declarations as declaring
from scripts.misgendered import names, study, templates
from scripts.misgendered.declarations import NAME
from tests.misgendered import make
from tests.refusals import refused

KNOWN = read_pronouns(make.PRONOUNS)
OTHER_PRONOUNS = word_set("it its itself themselves they them their theirs one's hir hirs hirself")
BE = word_set("is was will would must may might could")
AFTER_OBJECT = word_set(
    "about above across after again against along around as at because before behind below beside between by down",
    "during for from how if in inside into near now of off on out over past since soon than that through to today",
    "tomorrow tonight towards twice under until up what when where whether which while who why with without yesterday",
    "and but or",
)


def sentence_problems(form, text):
    """Return what is wrong with a sentence, as far as a program can see.

    It has no other third-person pronoun and no gendered noun, agrees with every pronoun group, and shows by its syntax
    which form the slot wants.
    """
    before, _, after = text.partition(SLOT)
    words = {word.lower() for word in WORD.findall(text.replace(NAME, " ").replace(SLOT, " "))}
    forms = OTHER_PRONOUNS | {form for forms in KNOWN.values() for form in forms.values()}
    sentence = re.split(r"[.!?]\s", before)[-1]
    match = WORD.match(after.lstrip(" ")) if after.startswith(" ") else None
    following = match.group().lower() if match else ""
    preceding = (WORD.findall(sentence) or [""])[-1].lower()
    agrees = following in AGREEING or (following.endswith("s") and following not in ("was", "as"))
    wrong = {
        "another pronoun": words & forms,
        "a gendered noun": words & GENDERED,
        "a verb that a number changes": form == "nom" and (not following or agrees),
        "a noun after an accusative": form == "acc" and following and following not in AFTER_OBJECT,
        "the name before an accusative, which would bind it": form == "acc" and NAME in sentence,
        "an accusative that is no object": form == "acc" and not sentence.strip(),
        "no noun after a possessive": form == "pos_dep" and (not following or following in BE | AFTER_OBJECT),
        "a noun after an independent possessive": form == "pos_ind" and following and following not in BE,
        "an independent possessive behind no form of to be or of": form == "pos_ind"
        and sentence.strip()
        and preceding not in ("is", "was", "be", "of"),
        "a reflexive that no name binds": form == "ref" and NAME not in sentence,
    }
    return [problem for problem, found in wrong.items() if found]


def test_the_shipped_templates_show_which_form_they_want():
    replica = templates.read_replica(make.FOLDER / "templates.tsv")
    assert Counter(template.form for template in replica.rows) == dict.fromkeys(study.FORMS, 10)
    assert {template.index for template in replica.rows} == set(range(50))
    assert {t.index: found for t in replica.rows if (found := sentence_problems(t.form, t.text))} == {}
    # Where a slot begins a sentence it is filled with a capital.
    assert all(templates.sentence_initial(t.text) == ("Xyrs" in fill_slot(t.text, "xyrs")) for t in replica.rows)
    # They carry the canary.
    first = (make.FOLDER / "templates.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert first == make.PRONOUNS.read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("form", "text", "problem"),
    [
        ("nom", "{name} came. ___ saw her.", "another pronoun"),
        ("nom", "{name} came. ___ saw xyr.", "another pronoun"),
        ("nom", "{name} came. ___ saw it.", "another pronoun"),
        ("nom", "{name} came. ___ saw a woman.", "a gendered noun"),
        ("nom", "{name} came. ___ is early.", "a verb that a number changes"),
        ("nom", "{name} came. ___ reads a book.", "a verb that a number changes"),
        ("nom", "{name} came. The reader was ___.", "a verb that a number changes"),
        ("acc", "Then {name} saw ___.", "the name before an accusative, which would bind it"),
        ("acc", "{name} came. ___ about noon.", "an accusative that is no object"),
        ("pos_dep", "{name} came. The book is ___.", "no noun after a possessive"),
        ("pos_ind", "{name} came. The red coat is ___ coat.", "a noun after an independent possessive"),
        ("ref", "{name} came. The fall hurt ___.", "a reflexive that no name binds"),
    ],
)
def test_what_a_program_sees_of_a_sentence(form, text, problem):
    assert sentence_problems(form, text) == [problem]


def test_the_shipped_names_keep_the_rule():
    listed = pd.DataFrame([cells for _, cells in read_tsv(make.FOLDER / "names.tsv", names.COLUMNS)])
    girls, total = listed.girls.astype(int), listed.girls.astype(int) + listed.boys.astype(int)
    of_class = {"unisex": (300, 1 / 3, 2 / 3), "female": (100, 0.95, 1), "male": (100, 0, 0.05)}
    for label, (size, least, most) in of_class.items():
        rows = listed.name_class == label
        assert rows.sum() == size
        assert (girls / total)[rows].between(least, most).all()
        assert total[rows].is_monotonic_decreasing


def test_names_with_accents_and_quotes_are_taken_as_they_are(tmp_path):
    odd = ["D'Andre", "O’Neil", "Zoë", "Anne-Marie", "Jr. Ray", "Łukasz", "李"]
    given = make.small(tmp_path, names=[("Ada", "female"), ("Ben", "male"), *((name, "unisex") for name in odd)])
    assert [entry["name"] for entry in names.read_replica(given["names"])][2:] == odd


def test_declarations_are_those_of_table_2_and_a_seventh():
    known = declaring.read_combinations(make.FOLDER / "declarations.tsv")
    assert {number: forms for number, (forms, _) in known.items()} == {
        2: ("nom", "acc"),
        31: ("nom", "acc", "pos_ind"),
        32: ("nom", "acc", "pos_dep"),
        41: ("nom", "acc", "pos_ind", "ref"),
        42: ("nom", "acc", "pos_dep", "ref"),
        5: ("nom", "acc", "pos_dep", "pos_ind", "ref"),
        43: ("nom", "acc", "pos_dep", "pos_ind"),
    }
    ways = declaring.select_declarations(known, ["parenthetical"], [42, 2], "declarations.tsv")
    assert [way.name for way in ways] == ["parenthetical_42", "parenthetical_2"]
    xe = study.select_groups(KNOWN, study.PRONOUN_GROUPS)["xe"]
    assert declaring.declared_forms(ways[0], xe) == "xe/xem/xyr/xemself"


@pytest.mark.parametrize(
    ("kind", "wording", "expected"),
    [
        ("explicit", "corrected", "{name}'s pronouns are {declared}. {name} fell. {name}'s leg hurt ___."),
        ("explicit", "faithful", "{name}/'s pronouns are {declared}. {name} fell. {name}'s leg hurt ___. "),
        ("parenthetical", "corrected", "{name} ({declared}) fell. {name}'s leg hurt ___."),
        ("parenthetical", "faithful", "{name} ({declared}) fell. {name} ({declared})'s leg hurt ___. "),
    ],
)
def test_wordings(kind, wording, expected):
    assert declaring.add_declaration(kind, "{name} fell. {name}'s leg hurt ___. ", wording) == expected


# What is refused: a row behind those of a good file, and what the message names besides file and row.


TEMPLATE = "template\tform\ttext\n" + "".join(f"{n}\t{form}\t{t}\n" for n, (form, t) in enumerate(make.TEXTS.items()))
PEOPLE = "name\tname_class\tgirls\tboys\nAda\tfemale\t2\t1\nBen\tmale\t1\t2\nSky\tunisex\t1\t1\n"
COMBINED = "number\tforms\tsource\n2\tnom acc\ttable\n5\tnom acc pos_dep pos_ind ref\ttable\n"
BROKEN_ROWS = [
    (templates.read_replica, TEMPLATE, "9\tnom\t{name} came. {pronoun} read to {pronoun}.", "this one 2 times"),
    (templates.read_replica, TEMPLATE, "9\tnom\t{name} came by train.", "this one 0 times"),
    (templates.read_replica, TEMPLATE, "9\tnom\tYesterday {pronoun} met {name}.", "must stand before the slot"),
    (templates.read_replica, TEMPLATE, "9\tnom\t{name} came. {pronoun} read ___ books.", "write {pronoun}"),
    (templates.read_replica, TEMPLATE, "9\tnom\t{name} came. {pronoun} met {person}.", "remove the others"),
    (templates.read_replica, TEMPLATE, "9\tnominative\t{name} came. {pronoun} read.", "did you mean 'nom'?"),
    (templates.read_replica, TEMPLATE, "x\tnom\t{name} came. {pronoun} read.", "'x' must be a whole number"),
    (templates.read_replica, TEMPLATE, "0\tnom\t{name} came. {pronoun} took a bag.", "row 2"),
    (templates.read_replica, TEMPLATE, f"7\tnom\t{make.TEXTS['nom']}", "row 2"),
    (declaring.read_combinations, COMBINED, "31\tnom acc pos_inp\ttable", "did you mean 'pos_ind'?"),
    (declaring.read_combinations, COMBINED, "31\tnom acc nom\ttable", "twice"),
    (declaring.read_combinations, COMBINED, "41\tnom acc pos_ind\ttable", "'41'"),
    (declaring.read_combinations, COMBINED, "three\tnom acc pos_ind\ttable", "'three'"),
    (declaring.read_combinations, COMBINED, "2\tnom ref\ttable", "'2' is already in row 2"),
    (declaring.read_combinations, COMBINED, "22\tnom acc\ttable", "the same forms as number 2"),
    (declaring.read_combinations, COMBINED, "31\tnom acc pos_ind\tpaper", "'paper'"),
    (names.read_replica, PEOPLE, 'Bob "Bo"\tmale\t1\t2', "'\"'"),
    (names.read_replica, PEOPLE, "A___b\tmale\t1\t2", "'_'"),
    (names.read_replica, PEOPLE, "{name}\tmale\t1\t2", "'{'"),
    (names.read_replica, PEOPLE, "R2\tmale\t1\t2", "'2'"),
    (names.read_replica, PEOPLE, "'Ana\tmale\t1\t2", "begins or ends"),
    (names.read_replica, PEOPLE, " Ana\tmale\t1\t2", "begins or ends"),
    (names.read_replica, PEOPLE, "\tmale\t1\t2", "is empty"),
    (names.read_replica, PEOPLE, "Ben\tmale\t1\t2", "row 3"),
    (names.read_replica, PEOPLE, "Bob\tman\t1\t2", "'man'"),
]


@pytest.mark.parametrize(("read", "good", "row", "named"), BROKEN_ROWS)
def test_a_broken_row_is_named_with_what_is_wrong(tmp_path, read, good, row, named):
    path = tmp_path / "given.tsv"
    path.write_text(f"{good}{row}\n", encoding="utf-8")
    with refused(f"{path}, row {len(good.splitlines()) + 1}: ", named) as caught:
        read(path)
    # The texts themselves are no part of messages.
    assert "came" not in str(caught.value)


@pytest.mark.parametrize(
    ("read", "text", "named"),
    [
        (templates.read_replica, re.sub(r"\d\tref.*\n", "", TEMPLATE), "no template of the form ref"),
        (names.read_replica, PEOPLE.replace("unisex", "male"), "no unisex name"),
        (declaring.read_combinations, COMBINED[: COMBINED.index("2")], "no row"),
    ],
)
def test_a_file_that_lacks_a_kind_of_rows_is_refused(tmp_path, read, text, named):
    (tmp_path / "given.tsv").write_text(text, encoding="utf-8")
    with refused(f"given.tsv: has {named}; add"):
        read(tmp_path / "given.tsv")


# The authors' files.


@pytest.mark.upstream
def test_the_released_declarations_are_what_the_rules_say(mirror):
    """Their twelve files follow from templates.csv by the faithful wording, the stray declarations left out."""
    loaded = make.load(make.official(mirror), wording="faithful")
    assert len(loaded.templates.released) == 12
    for way in loaded.declarations:
        texts = [declaring.add_declaration(way.kind, template.text, "faithful") for template in loaded.templates.rows]
        assert loaded.templates.released[way.kind, way.number] == texts


@pytest.mark.upstream
def test_the_authors_pronouns_are_those_of_the_table(mirror):
    released = pd.read_csv(mirror / "misgendered/pronouns.csv", keep_default_na=False)
    groups = study.select_groups(KNOWN, study.PRONOUN_GROUPS)
    assert released.gender.tolist() == list(groups)
    assert released[["nom", "acc", "pos_dep", "pos_indep", "ref"]].to_numpy().tolist() == [
        list(forms.values()) for forms in groups.values()
    ]
    types = ["binary" if forms.type == "binary" else "non-binary" for forms in groups.values()]
    assert released.gender_type.tolist() == types


@pytest.mark.upstream
@pytest.mark.parametrize(
    ("kind", "damage", "named"),
    [
        ("explicit_2", lambda raw: raw.rstrip().rpartition(b"\n")[0], "has 49 templates where templates.csv has 50"),
        ("explicit_2", lambda raw: raw.replace(b"{nom}/{acc}", b"he/him"), "not a template of the authors'"),
        ("templates", lambda raw: raw.replace(b"template", b"text", 1), "no columns template and form"),
        ("male", lambda _: b"Ren\xe9\n", "cannot be read as UTF-8"),
    ],
)
def test_damaged_files_of_the_authors_are_refused(mirror, tmp_path, kind, damage, named):
    given = make.official(mirror)
    path = tmp_path / Path(given[kind]).name
    path.write_bytes(damage(Path(given[kind]).read_bytes()))
    with refused(path, named):
        make.load(given | {kind: str(path)})
