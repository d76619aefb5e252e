"""Small template sets for the tests of RUFF's instances; every sentence is made up here."""

import io
import zipfile
from pathlib import Path

from scripts.core.data.templates import CASES
from scripts.ruff import narratives
from scripts.ruff.templates import PLACEHOLDERS, POLARITIES
from tests.ruff.synthetic import FOUR

PRONOUNS = {
    "he": ("he", "him", "his", "his", "himself"),
    "she": ("she", "her", "her", "hers", "herself"),
    "they": ("they", "them", "their", "theirs", "themself"),
    "xe": ("xe", "xem", "xyr", "xyrs", "xemself"),
    "ze": ("ze", "zir", "zir", "zirs", "zirself"),
}
# Not in alphabetical order, and two share a participant, as in the paper.
OCCUPATIONS = {"weaver": "buyer", "pilot": "guest", "glazier": "buyer"}
TASKS = {
    "nominative": "The {0} said that {{pronoun}} would return in the afternoon.",
    "accusative": "The {0} hoped that the invoice would reach {{pronoun}} in time.",
    "possessive": "The {0} put {{pronoun}} tools on the table by the door.",
}
# Theme: its negative and its positive word.
THEMES = {
    "water": ("drought", "rain"),
    "light": ("dusk", "dawn"),
    "noise": ("din", "hush"),
    "road": ("mud", "gravel"),
    "sea": ("ebb", "flow"),
}
CONTEXTS = {
    "nominative": ("The {{person}} stopped since {{pronoun}} had seen the {0}.", "{{pronoun}} had met the {0}."),
    "accusative": ("The {{person}} stopped since the {0} had reached {{pronoun}}.", "the {0} had met {{pronoun}}."),
    "possessive": ("The {{person}} stopped since {{pronoun}} hat smelled of {0}.", "{{pronoun}} day had held {0}."),
}


def template_lines(sets=FOUR, people=OCCUPATIONS):
    """Return the lines of each of the four template files by its name; ``people`` are occupations and participants."""
    header = "set\tnominative\taccusative\tpossessive\tpossessive_independent\treflexive\ttype"
    contexts = [
        "\t".join([case, theme, polarity, *(form.format(words[side]) for form in CONTEXTS[case])])
        for case in CASES
        for side, polarity in enumerate(POLARITIES)
        for theme, words in THEMES.items()
    ]
    return {
        "pronouns": [header, *("\t".join((name, *PRONOUNS[name], "neo")) for name in sets)],
        "task": [
            "occupation\tcase\tsentence",
            *(f"{o}\t{c}\t{TASKS[c].format(o)}" for o in people for c in CASES),
        ],
        "context": ["case\ttheme\tpolarity\texplicit\timplicit", *contexts],
        "occupations": ["occupation\tparticipant", *(f"{o}\t{p}" for o, p in people.items())],
    }


def write(folder, *, sets=FOUR, people=OCCUPATIONS, **changed):
    """Write the four template files, with other lines where ``changed`` says so; return their paths by name.

    Each has a comment as its first line, so that the header is row 2.
    """
    paths = {}
    for name, rows in (template_lines(sets, people) | changed).items():
        paths[name] = str(folder / f"{name}.tsv")
        Path(paths[name]).write_text("# canary\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return paths


def given(folder, **changed):
    """Write a template set as :func:`write` does; return it as jobs that make instances are given it."""
    paths = write(folder, **changed)
    return {"templates": [paths[name] for name in ("task", "context", "occupations")], "pronouns": paths["pronouns"]}


def given_archive(folder, content=None):
    """Write the authors' archive, or a damaged one; return it as jobs that make instances are given it."""
    path = folder / "data.zip"
    path.write_bytes(content or archive())
    return {"templates": [str(path)], "pronouns": write(folder)["pronouns"]}


def load(folder, *, sets=FOUR, people=OCCUPATIONS):
    """Return the Narratives of the small template set."""
    return narratives.load(pronoun_sets=sets, **given(folder, sets=sets, people=people))


def archive(*, task=None):
    """Return the bytes of an archive in the authors' format, not encrypted, with the same small set.

    As in theirs, some cells end in a blank (here the positive implicit sentences), the context file has CRLF line
    ends and no last one, and the task file has LF.
    """
    lines = template_lines()
    context_rows = ["pronoun_type\tpolarity\texplicit_template\timplicit_template"]
    for line in lines["context"][1:]:
        case, _, polarity, explicit, implicit = line.split("\t")
        slots = {"person": "$OCCUPATION/PARTICIPANT", "pronoun": PLACEHOLDERS[case]}
        implicit += " " * (polarity == "positive")
        context_rows.append("\t".join([slots["pronoun"], polarity, explicit.format(**slots), implicit.format(**slots)]))
    task_rows = ["occupation\tparticipant\tsentence\tpronoun_type\tword"]
    for line in lines["task"][1:]:
        occupation, case, sentence = line.split("\t")
        slot = PLACEHOLDERS[case]
        row = (occupation, OCCUPATIONS[occupation], sentence.format(pronoun=slot), slot, occupation)
        task_rows.append("\t".join(row))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("data/context.tsv", "\r\n".join(context_rows))
        file.writestr("data/task.tsv", task or "\n".join(task_rows) + "\n")
    return buffer.getvalue()
