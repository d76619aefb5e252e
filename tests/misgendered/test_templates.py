import re
from collections import Counter

import pytest

from scripts.core.data.options import SLOT, fill
from scripts.core.data.templates import AGREEING, GENDERED, WORD, read_pronouns, word_set
from scripts.core.errors import UserError
from scripts.misgendered import declarations as declaring
from scripts.misgendered import names, study, templates
from scripts.misgendered.declarations import NAME
from tests.misgendered import make

KNOWN = read_pronouns(make.PRONOUNS)


def refused(function, *arguments):
    with pytest.raises(UserError) as error:
        function(*arguments)
    message = str(error.value)
    assert "\n" not in message
    return message


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


def test_the_shipped_templates_carry_the_canary():
    first = (make.FOLDER / "templates.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert first == make.PRONOUNS.read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("nom", "{name} came. {pronoun} read to {pronoun}.", "exactly once, this one 2 times"),
        ("nom", "{name} came by train.", "exactly once, this one 0 times"),
        ("nom", "Yesterday {pronoun} met {name}.", "must stand before the slot"),
        ("nom", "{name} came. {pronoun} read ___ books.", "write {pronoun} for the slot"),
        ("nom", "{name} came. {pronoun} met {person}.", "remove the others"),
        ("nominative", "{name} came. {pronoun} read.", "the form 'nominative' is unknown; did you mean 'nom'?"),
    ],
)  # fmt: skip
def test_a_broken_template_names_file_row_and_remedy(tmp_path, form, text, expected):
    texts = dict(make.TEXTS)
    given = make.small(tmp_path, texts)
    path = tmp_path / "templates.tsv"
    path.write_text(path.read_text(encoding="utf-8") + f"9\t{form}\t{text}\n", encoding="utf-8")
    message = refused(templates.read_replica, given["templates"])
    assert message.startswith(f"{path}, row 7: ")
    assert expected in message
    # The texts themselves are no part of messages.
    assert "came" not in message and "saw" not in message


def test_repeated_numbers_and_texts_and_missing_forms(tmp_path):
    given = make.small(tmp_path)
    path = tmp_path / "templates.tsv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "0\tnom\t{name} left. {pronoun} took a bag.\n", encoding="utf-8")
    assert f"number 0 is in {path}, row 2 already" in refused(templates.read_replica, given["templates"])
    path.write_text(text + f"7\tnom\t{make.TEXTS['nom']}\n", encoding="utf-8")
    assert f"repeats the template of {path}, row 2" in refused(templates.read_replica, given["templates"])
    path.write_text(text.replace("0\tnom", "x\tnom"), encoding="utf-8")
    assert "must be a whole number" in refused(templates.read_replica, given["templates"])
    path.write_text("\n".join(line for line in text.split("\n") if "\tref\t" not in line), encoding="utf-8")
    assert "has no template of the form ref" in refused(templates.read_replica, given["templates"])


def test_where_a_slot_begins_a_sentence_agrees_with_how_it_is_filled():
    for template in templates.read_replica(make.FOLDER / "templates.tsv").rows:
        filled = fill(template.text, "xyrs")
        assert templates.sentence_initial(template.text) == ("Xyrs" in filled)


# Declarations.

COMBINED = "number\tforms\tsource\n2\tnom acc\ttable\n5\tnom acc pos_dep pos_ind ref\ttable\n"


def combinations(tmp_path, line):
    path = tmp_path / "declarations.tsv"
    path.write_text(COMBINED + line + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("31\tnom acc pos_inp\ttable", "the unknown form 'pos_inp'; did you mean 'pos_ind'?"),
        ("31\tnom acc nom\ttable", "a form is declared twice"),
        ("41\tnom acc pos_ind\ttable", "begins with how many forms are declared, 3"),
        ("three\tnom acc pos_ind\ttable", "must be a whole number"),
        ("2\tnom ref\ttable", "the number 2 occurs twice"),
        ("22\tnom acc\ttable", "declares the same forms as number 2"),
        ("31\tnom acc pos_ind\tpaper", "the source 'paper' is unknown"),
    ],
)  # fmt: skip
def test_a_broken_declaration_names_file_row_and_remedy(tmp_path, line, expected):
    path = combinations(tmp_path, line)
    message = refused(declaring.read, path)
    assert message.startswith(f"{path}, row 4: ")
    assert expected in message


def test_declarations_are_those_of_table_2_and_a_seventh():
    known = declaring.read(make.FOLDER / "declarations.tsv")
    assert {number: forms for number, (forms, _) in known.items()} == {
        2: ("nom", "acc"),
        31: ("nom", "acc", "pos_ind"),
        32: ("nom", "acc", "pos_dep"),
        41: ("nom", "acc", "pos_ind", "ref"),
        42: ("nom", "acc", "pos_dep", "ref"),
        5: ("nom", "acc", "pos_dep", "pos_ind", "ref"),
        43: ("nom", "acc", "pos_dep", "pos_ind"),
    }
    ways = declaring.select(known, ["parenthetical"], [42, 2], "declarations.tsv")
    assert [way.name for way in ways] == ["parenthetical_42", "parenthetical_2"]
    xe = study.select_groups(KNOWN, study.PRONOUN_GROUPS)["xe"]
    assert declaring.declared_forms(ways[0], xe) == "xe/xem/xyr/xemself"
    assert "has no number 44; it has 2, 31, 32, 41, 42, 5, 43" in refused(
        declaring.select, known, ["explicit"], [44], "declarations.tsv"
    )


def test_wordings():
    text = f"{{name}} fell. {{name}}'s leg hurt {SLOT}. "
    assert declaring.pattern("explicit", text, "corrected") == f"{{name}}'s pronouns are {{declared}}. {text[:-1]}"
    assert declaring.pattern("explicit", text, "faithful") == f"{{name}}/'s pronouns are {{declared}}. {text}"
    assert declaring.pattern("parenthetical", text, "corrected") == (
        f"{{name}} ({{declared}}) fell. {{name}}'s leg hurt {SLOT}."
    )
    assert declaring.pattern("parenthetical", text, "faithful") == (
        f"{{name}} ({{declared}}) fell. {{name}} ({{declared}})'s leg hurt {SLOT}. "
    )


# Names.


@pytest.mark.parametrize("name", ["D'Andre", "O’Neil", "Zoë", "Anne-Marie", "Jr. Ray", "Łukasz", "李"])
def test_names_with_accents_and_quotes_are_taken_as_they_are(tmp_path, name):
    people = (("Ada", "female"), ("Ben", "male"), (name, "unisex"))
    loaded = make.load(make.small(tmp_path, names=people), types=["explicit"], numbers=[2])
    texts = [text for batch in loaded.full(0) for text in batch["text"].to_pylist()]
    mine = [text for text in texts if name in text]
    assert len(mine) == loaded.size // 3
    assert all(text.startswith(f"{name}'s pronouns are ") and text.count(SLOT) == 1 for text in mine)
    found = [value for batch in loaded.full(0) for value in batch["name"].to_pylist()]
    assert found.count(name) == len(mine)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('Bob "Bo"', "holds the character '\"'"), ("A___b", "holds the character '_'"),
        ("{name}", "holds the character '{'"),
        ("R2", "holds the character '2'"), ("'Ana", "begins or ends"), (" Ana", "begins or ends"), ("", "is empty"),
        ("Ben", "is in"),
    ],
)  # fmt: skip
def test_a_name_that_cannot_stand_in_a_text_is_refused(tmp_path, name, expected):
    given = make.small(tmp_path, names=(("Ada", "female"), ("Ben", "male"), ("Sky", "unisex"), (name, "male")))
    message = refused(names.read_replica, given["names"])
    assert message.startswith(f"{given['names']}, row 5: ")
    assert expected in message


def test_a_class_without_names_and_an_unknown_one(tmp_path):
    given = make.small(tmp_path, names=(("Ada", "female"), ("Ben", "male")))
    assert "has no unisex name" in refused(names.read_replica, given["names"])
    given = make.small(tmp_path, names=(("Ada", "woman"),))
    assert "the class 'woman' is unknown" in refused(names.read_replica, given["names"])


def test_the_shipped_names_keep_the_rule():
    listed = names.read_replica(make.FOLDER / "names.tsv")
    sizes = {label: sum(entry["name_class"] == label for entry in listed) for label in study.NAME_CLASSES}
    assert sizes == {"unisex": 300, "female": 100, "male": 100}
    from scripts.core.data.templates import read_tsv

    rows = [cells for _, cells in read_tsv(make.FOLDER / "names.tsv", names.COLUMNS)]
    for label in study.NAME_CLASSES:
        counts = [(int(cells["girls"]), int(cells["boys"])) for cells in rows if cells["name_class"] == label]
        shares = [girls / (girls + boys) for girls, boys in counts]
        least, most = {"unisex": (1 / 3, 2 / 3), "female": (0.95, 1), "male": (0, 0.05)}[label]
        assert least <= min(shares) and max(shares) <= most
        totals = [sum(pair) for pair in counts]
        assert totals == sorted(totals, reverse=True)


# The authors' files.


@pytest.mark.upstream
def test_the_released_declarations_are_what_the_rules_say(mirror):
    """Their twelve files follow from templates.csv by the faithful wording, the stray declarations left out."""
    loaded = make.load(make.official(mirror), wording="faithful")
    assert len(loaded.templates.released) == 12
    for way in loaded.declarations:
        texts = [declaring.pattern(way.kind, template.text, "faithful") for template in loaded.templates.rows]
        assert loaded.templates.released[way.kind, way.number] == texts


@pytest.mark.upstream
def test_the_authors_pronouns_are_those_of_the_table(mirror):
    import pandas as pd

    released = pd.read_csv(mirror / "misgendered/pronouns.csv", keep_default_na=False)
    groups = study.select_groups(KNOWN, study.PRONOUN_GROUPS)
    assert released.gender.tolist() == list(groups)
    assert released[["nom", "acc", "pos_dep", "pos_indep", "ref"]].to_numpy().tolist() == [
        list(forms.values()) for forms in groups.values()
    ]
    types = ["binary" if forms.type == "binary" else "non-binary" for forms in groups.values()]
    assert released.gender_type.tolist() == types


@pytest.mark.upstream
def test_damaged_files_of_the_authors_are_refused(mirror, tmp_path):
    given = make.official(mirror)
    released = tmp_path / "explicit_template_2.csv"
    lines = (mirror / "misgendered/templates/explicit_template_2.csv").read_text(encoding="utf-8").splitlines()
    released.write_text("\n".join(lines[:-1]), encoding="utf-8")
    assert "has 49 templates where templates.csv has 50" in refused(make.load, given | {"explicit_2": str(released)})
    released.write_text("\n".join(lines).replace("{nom}/{acc}", "he/him"), encoding="utf-8")
    assert "not a template of the authors'" in refused(make.load, given | {"explicit_2": str(released)})
    names_file = tmp_path / "male.txt"
    names_file.write_bytes(b"Ren\xe9\n")
    assert "cannot be read as UTF-8" in refused(make.load, given | {"male": str(names_file)})
