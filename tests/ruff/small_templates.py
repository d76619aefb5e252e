"""Small template sets for the tests of RUFF's instances; every sentence is made up here."""

import io
import zipfile
from pathlib import Path

from scripts.core.data.templates import CASES
from scripts.ruff import narratives
from scripts.ruff.templates import PLACEHOLDERS

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


def pronoun_lines(sets=("he", "she", "they", "xe")):
    """Lines of a pronouns.tsv."""
    header = "set\tnominative\taccusative\tpossessive\tpossessive_independent\treflexive\ttype"
    return [header, *("\t".join((name, *PRONOUNS[name], "neo")) for name in sets)]


def occupation_lines(occupations=OCCUPATIONS):
    """Lines of an occupations.tsv."""
    return ["occupation\tparticipant", *(f"{o}\t{p}" for o, p in occupations.items())]


def task_lines(occupations=OCCUPATIONS):
    """Lines of a task.tsv: for each occupation the three cases."""
    return ["occupation\tcase\tsentence", *(f"{o}\t{c}\t{TASKS[c].format(o)}" for o in occupations for c in CASES)]


def context_lines():
    """Lines of a context.tsv."""
    lines = ["case\ttheme\tpolarity\texplicit\timplicit"]
    for case in CASES:
        for side, polarity in enumerate(("negative", "positive")):
            for theme, words in THEMES.items():
                sentences = "\t".join(form.format(words[side]) for form in CONTEXTS[case])
                lines.append(f"{case}\t{theme}\t{polarity}\t{sentences}")
    return lines


def write(folder, *, sets=("he", "she", "they", "xe"), occupations=OCCUPATIONS, **changed):
    """Write the four template files; ``changed`` gives other lines for a file. Returns their paths by argument name."""
    lines = {
        "pronouns": pronoun_lines(sets),
        "task": task_lines(occupations),
        "context": context_lines(),
        "occupations": occupation_lines(occupations),
    } | changed
    paths = {}
    for name, rows in lines.items():
        paths[name] = str(folder / f"{name}.tsv")
        write_lines(paths[name], rows)
    return paths


def write_lines(path, lines):
    """Write one template file, with a comment as its first line."""
    Path(path).write_text("# canary\n" + "\n".join(lines) + "\n", encoding="utf-8")


def load(folder, *, sets=("he", "she", "they", "xe"), occupations=OCCUPATIONS):
    """Return the Narratives of the small template set."""
    return narratives.load(pronoun_sets=sets, **given(write(folder, sets=sets, occupations=occupations)))


def given(paths):
    """Return the template files of :func:`write` as jobs that make instances are given them."""
    return {"templates": [paths[name] for name in ("task", "context", "occupations")], "pronouns": paths["pronouns"]}


def archive(*, task=None):
    """Return the bytes of an archive in the authors' format, not encrypted, with the same small set.

    As in theirs, some cells end in a blank (here the positive implicit sentences), the context file has CRLF line
    ends and no last one, and the task file has LF.
    """
    context_rows = ["pronoun_type\tpolarity\texplicit_template\timplicit_template"]
    for line in context_lines()[1:]:
        case, _, polarity, explicit, implicit = line.split("\t")
        slots = {"person": "$OCCUPATION/PARTICIPANT", "pronoun": PLACEHOLDERS[case]}
        implicit += " " * (polarity == "positive")
        row = (slots["pronoun"], polarity, explicit.format(**slots), implicit.format(**slots))
        context_rows.append("\t".join(row))
    task_rows = ["occupation\tparticipant\tsentence\tpronoun_type\tword"]
    for line in task_lines()[1:]:
        occupation, case, sentence = line.split("\t")
        slot = PLACEHOLDERS[case]
        row = (occupation, OCCUPATIONS[occupation], sentence.format(pronoun=slot), slot, occupation)
        task_rows.append("\t".join(row))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("data/context.tsv", "\r\n".join(context_rows))
        file.writestr("data/task.tsv", task or "\n".join(task_rows) + "\n")
    return buffer.getvalue()
