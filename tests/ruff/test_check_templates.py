"""Every rule for sentences of the replica: what breaks it is named by file, row and rule."""

import pytest

from scripts.core.data.templates import read_pronouns
from scripts.ruff import check_templates, narratives, templates
from tests.refusals import refused
from tests.ruff import small_templates

LINES = small_templates.template_lines()
TASK = "The weaver said that {pronoun} would return in the afternoon."


def problems(folder, **changed):
    paths = small_templates.write(folder, **changed)
    read = templates.read_replica(paths["task"], paths["context"], paths["occupations"])
    return check_templates.find_problems(read, read_pronouns(paths["pronouns"]))


def replaced(name, row, old, new):
    """Return the lines of a file with a change in its row (row 1 is the canary, row 2 the header)."""
    lines = LINES[name]
    assert old in lines[row - 2]
    return [*lines[: row - 2], lines[row - 2].replace(old, new), *lines[row - 1 :]]


TASKS = {
    "no-slot": (" {pronoun}", "", "must hold {pronoun} exactly once, it has 0"),
    "two-slots": ("afternoon", "house of {pronoun} aunt's", "must hold {pronoun} exactly once, it has 2"),
    "person": ("the afternoon", "{person}", "must hold {person} nowhere, it has 1"),
    "other-occupation": (
        "The weaver",
        "The painter",
        "must name the occupation 'weaver' exactly once, it does so 0 times",
    ),
    "occupation-twice": ("afternoon", "weaver's shop", "the occupation 'weaver' exactly once, it does so 2 times"),
    "article": ("The weaver", "A weaver", "must start with 'The'"),
    "slot-first": (TASK, "{pronoun} was the weaver.", "must not start with the slot"),
    "pronoun": ("the afternoon", "her car", "has the pronoun 'her' besides its slot"),
    "neopronoun": ("the afternoon", "xyr car", "has the pronoun 'xyr' besides its slot"),
    "contracted-pronoun": ("said that", "said they'd hoped that", "has the pronoun 'they' besides its slot"),
    "gendered": ("the afternoon", "a man's car", "has the gendered word 'man'"),
    "to-be": ("would", "was to", "has 'was' after the slot"),
    "to-do": ("would", "don't", "has 'don't' after the slot"),
    "adverb": ("would", "always returns and would", "has 'returns' after the slot"),
    "contraction": (" would", "'s to", "has 's' after the slot"),
    "bare-present": ("would", "need to", "has 'need' after the slot"),
    "full-stop": (".", "", "must end with a full stop"),
    "double-blank": ("would", " would", "has a blank at its start or end, a double blank or a tab"),
    "blank-at-end": ("afternoon.", "afternoon. ", "has a blank at its start or end, a double blank or a tab"),
    "blank-line": ("afternoon", "___", "has a brace or ___ besides"),
    "brace": ("afternoon", "{noun}", "has a brace or ___ besides"),
}
CONTEXTS = {
    "no-person": ("The {person}", "Then the {person}", "the explicit sentence must begin with 'The {person}'"),
    "visitor": ("The {person}", "The visitor", "the explicit sentence must hold {person} exactly once, it has 0"),
    "explicit": ("since {pronoun}", "since Ada", "the explicit sentence must hold {pronoun} exactly once, it has 0"),
    "implicit": ("{pronoun} had met", "the {person} had met", "the implicit sentence must hold {pronoun} exactly once"),
    "person": ("had met the", "had met the {person} and the", "the implicit sentence must hold {person} nowhere"),
    "agreement": ("{pronoun} had met", "{pronoun} has met", "the implicit sentence has 'has' after the slot"),
    "gendered": ("had met the", "had met the lady and the", "the implicit sentence has the gendered word 'lady'"),
}
RULES = [pytest.param("task", *rule, id=f"task-{name}") for name, rule in TASKS.items()]
RULES += [pytest.param("context", *rule, id=f"context-{name}") for name, rule in CONTEXTS.items()]


@pytest.mark.parametrize(("name", "old", "new", "rule"), RULES)
def test_each_rule_for_sentences(tmp_path, name, old, new, rule):
    broken = problems(tmp_path, **{name: replaced(name, 3, old, new)})
    where = f"{tmp_path / name}.tsv, row 3: "
    assert any(problem.startswith(where) and rule in problem for problem in broken), broken
    assert name == "context" or all(problem.startswith(where + "the sentence") for problem in broken)


@pytest.mark.parametrize("verb", ["would return", "had slept", "always came", "could certainly see", "guess"])
def test_agreement_is_not_suspected_everywhere(tmp_path, verb):
    assert problems(tmp_path, task=replaced("task", 3, "would return", verb)) == []


SETS = {
    "possessive": ("task", replaced("task", 5, "{pronoun} tools on", "{pronoun}, on"), "row 5", "go on with a word"),
    "missing-case": ("task", LINES["task"][:-1], "'glazier'", "has no possessive sentence"),
    "second-case": ("task", [*LINES["task"], LINES["task"][-1].replace("table", "bench")], "row 12", "already"),
    "repeated": (
        "context", replaced("context", 4, LINES["context"][2].split("\t")[-1], LINES["context"][1].split("\t")[-1]),
        "row 4: repeats the sentence of", "row 3; write another",
    ),
    "order-of-themes": (
        "context", [*LINES["context"][:6], LINES["context"][7], LINES["context"][6], *LINES["context"][8:]],
        "row 3: the nominative case", "5 different themes, in the same order",
    ),
    "missing-theme": ("context", LINES["context"][:-1], "the possessive case", "has 5 negative and 4 positive rows"),
    "order-of-polarities": (
        "context", [LINES["context"][0], *LINES["context"][6:11], *LINES["context"][1:6], *LINES["context"][11:]],
        "the nominative case", "expected 5 negative ones, then 5 positive ones",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "where", "rule"), SETS.values(), ids=SETS)
def test_each_rule_for_sets_of_sentences(tmp_path, name, lines, where, rule):
    broken = problems(tmp_path, **{name: lines})
    assert len(broken) == 1 and where in broken[0] and rule in broken[0], broken
    assert broken[0].startswith(str(tmp_path / f"{name}.tsv"))


def test_the_script_lists_all_problems_and_jobs_refuse_the_first(tmp_path, capsys):
    (tmp_path / "ruff").mkdir()

    def check(**changed):
        given = small_templates.given(tmp_path, **changed)
        for name in ("task", "context"):
            (tmp_path / f"ruff/{name}.tsv").write_bytes((tmp_path / f"{name}.tsv").read_bytes())
        return given, check_templates.main([str(tmp_path)]), capsys.readouterr()

    _, status, printed = check()
    assert (status, printed.out) == (0, "9 task sentences and 30 context templates are fine\n")
    given, status, printed = check(task=[line.replace("afternoon.", "afternoon") for line in LINES["task"]])
    assert status == 1 and len(printed.err.splitlines()) == 3
    assert all(f"row {row}: the sentence must end with a full stop" in printed.err for row in (3, 6, 9))
    with refused("task.tsv, row 3", "full stop", "2 more problems"):
        narratives.load(pronoun_sets=["he", "she"], **given)
    (tmp_path / "pronouns.tsv").unlink()
    assert check_templates.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {tmp_path}/pronouns.tsv: no such file")


def test_a_new_pronoun_set_matters_only_once_it_is_configured(tmp_path):
    given = small_templates.given(tmp_path, pronouns=[*LINES["pronouns"], "the\tthe\tthem\tthes\tthes\ttheself\tneo"])
    assert narratives.load(pronoun_sets=["he", "she", "xe"], **given)
    with refused("has the pronoun 'the' besides its slot"):
        narratives.load(pronoun_sets=["he", "the"], **given)
