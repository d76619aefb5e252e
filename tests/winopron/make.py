"""Small template sets for the tests of WinoPron; every sentence is made up here."""

import io
import zipfile

from scripts.winopron import templates

FORMS = ("nominative", "accusative", "possessive", "possessive_independent", "reflexive")
PRONOUNS = {
    name: dict(zip(FORMS, forms.split(), strict=True))
    for name, forms in {
        "he": "he him his his himself",
        "she": "she her her hers herself",
        "they": "they them their theirs themself",
        "xe": "xe xem xyr xyrs xemself",
    }.items()
}
OCCUPATIONS = {"weaver": "buyer", "pilot": "guest"}
# Case to the words before the pronoun, after it where it means the occupation, and where it means the participant.
SENTENCES = {
    "nominative": ("told the {1} that", "would sell the {2}", "could buy the {2}"),
    "accusative": ("met the {1} after the {2} had cost", "a week of work", "a month of wages"),
    "possessive": ("let the {1} wait, because", "tools still lay on the {2}", "money had fallen under the {2}"),
}
THINGS = {"weaver": "loom", "pilot": "plane"}
WINOGENDER = [
    "weaver\tbuyer\t0\tThe $OCCUPATION smiled at the $PARTICIPANT because $NOM_PRONOUN was early.",
    "weaver\tbuyer\t1\tThe $OCCUPATION smiled at the $PARTICIPANT because $POSS_PRONOUN hat fell.",
]


def cells(occupations=OCCUPATIONS):
    """Return the rows of a template file: lists of cells, one for each sentence."""
    rows = []
    for occupation, participant in occupations.items():
        names = (occupation, participant, THINGS.get(occupation, "thing"))
        for case, (start, *endings) in SENTENCES.items():
            for answer, ending in zip(templates.ANSWERS, endings, strict=True):
                person = occupation if answer == "occupation" else participant
                double = f"The {occupation} {start} {{{{pronoun}}}} {ending}.".format(*names)
                single = f"The {person} saw the {{2}} when the day gave {{{{pronoun}}}} {ending}.".format(*names)
                if case == "nominative":
                    single = f"The {person} saw that {{{{pronoun}}}} {ending}.".format(*names)
                rows.append([occupation, case, answer, double, single, "kept"])
    return rows


def edited(number, column, text):
    """Return the small set's rows with one cell changed; ``number`` is the line in the file."""
    rows = cells()
    rows[number - 2][templates.COLUMNS.index(column)] = text
    return rows


def write(folder, rows=None, occupations=OCCUPATIONS):
    """Write sentences.tsv and occupations.tsv and return their paths."""
    rows = cells(occupations) if rows is None else rows
    sentences, known = folder / "sentences.tsv", folder / "occupations.tsv"
    sentences.write_text("\n".join(map("\t".join, [templates.COLUMNS, *rows])) + "\n", encoding="utf-8")
    lines = ["occupation\tparticipant", *("\t".join(pair) for pair in occupations.items())]
    known.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return sentences, known


def read(folder, rows=None, occupations=OCCUPATIONS):
    """Write and read a small set."""
    return templates.read_replica(*write(folder, rows, occupations))


def write_winogender(folder, *rows):
    """Write templates of Winogender Schemas, or these rows of cells, and return their path."""
    path = folder / "templates.tsv"
    path.write_text("\n".join(["\t".join(templates.WINOGENDER_COLUMNS), *(rows or WINOGENDER)]), encoding="utf-8")
    return path


def archive(rows=None, encrypted=False):
    """Return a zip like the authors': CRLF, two nameless columns with a long text in the first row.

    ``encrypted`` marks it as such without being so: no password opens it.
    """
    slots = {"nominative": "$NOM_PRONOUN", "accusative": "$ACC_PRONOUN", "possessive": "$POSS_PRONOUN"}
    lines = ["\t".join([*templates.OFFICIAL_COLUMNS, "", ""])]
    for number, (occupation, case, answer, *sentences, _) in enumerate(cells() if rows is None else rows):
        filled = [text.replace("{pronoun}", slots[case]) for text in sentences]
        filled = [text.replace(occupation, "$OCCUPATION") for text in filled]
        filled = [text.replace(OCCUPATIONS[occupation], "$PARTICIPANT") for text in filled]
        canary = ["canary " * 3000] * 2 if number == 0 else ["", ""]
        code = str(templates.ANSWERS.index(answer))
        lines.append("\t".join([occupation, OCCUPATIONS[occupation], code, slots[case], *filled, *canary]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("new_templates.tsv", "\r\n".join(lines))
    content = bytearray(packed.getvalue())
    if encrypted:
        for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(signature) + place] |= 1
    return bytes(content)
