import zipfile
from pathlib import Path

import pytest

from scripts.core.data.templates import CASES, read_pronouns
from scripts.core.errors import UserError
from scripts.ruff import check_templates, narratives, template_checks, templates
from tests.ruff import small_templates

TASK = "The weaver said that {pronoun} would return in the afternoon."


def refusal(call, *arguments, **options):
    with pytest.raises(UserError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def problems(tmp_path, **changed):
    paths = small_templates.write(tmp_path, **changed)
    read = templates.read_replica(paths["task"], paths["context"], paths["occupations"])
    return template_checks.check(read, read_pronouns(paths["pronouns"]))


def replaced(lines, row, old, new):
    """Return ``lines`` with a change in file row ``row`` (row 1 is the canary, row 2 the header)."""
    assert old in lines[row - 2]
    return [*lines[: row - 2], lines[row - 2].replace(old, new), *lines[row - 1 :]]


# The replica's rules


def test_templates_without_problems_have_none(tmp_path):
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("The weaver would return in the afternoon.", "must hold {pronoun} exactly once, it has 0"),
        (TASK.replace("afternoon", "house of {pronoun} aunt's"), "must hold {pronoun} exactly once, it has 2"),
        (TASK.replace("the afternoon", "{person}"), "must hold {person} nowhere, it has 1"),
        (TASK.replace("weaver", "painter"), "must name the occupation 'weaver' exactly once, it does so 0 times"),
        (
            TASK.replace("afternoon", "weaver's shop"),
            "must name the occupation 'weaver' exactly once, it does so 2 times",
        ),
        ("A weaver said that {pronoun} would return.", "must start with 'The'"),
        ("{pronoun} was the weaver.", "must not start with the slot"),
        (TASK.replace("the afternoon", "her car"), "has the pronoun 'her' besides its slot"),
        (TASK.replace("the afternoon", "xyr car"), "has the pronoun 'xyr' besides its slot"),
        (TASK.replace("said that", "said they'd hoped that"), "has the pronoun 'they' besides its slot"),
        (TASK.replace("the afternoon", "a man's car"), "has the gendered word 'man'"),
        (TASK.replace("would", "was to"), "has 'was' after the slot"),
        (TASK.replace("would", "don't"), "has 'don't' after the slot"),
        (TASK.replace("would", "always returns and would"), "has 'returns' after the slot"),
        (TASK.replace(" would", "'s to"), "has 's' after the slot"),
        (TASK.replace("would", "need to"), "has 'need' after the slot"),
        (TASK.replace(".", ""), "must end with a full stop"),
        (TASK.replace("would", " would"), "has a blank at its start or end, a double blank or a tab"),
        (TASK + " ", "has a blank at its start or end, a double blank or a tab"),
        (TASK.replace("afternoon", "___"), "has a brace or ___ besides"),
        (TASK.replace("afternoon", "{noun}"), "has a brace or ___ besides"),
    ],
)
def test_each_rule_for_task_sentences(tmp_path, sentence, rule):
    lines = small_templates.task_lines()
    broken = problems(tmp_path, task=replaced(lines, 3, TASK, sentence))
    assert any(f"{tmp_path / 'task.tsv'}, row 3: the sentence {rule}" in problem for problem in broken)
    assert all("task.tsv, row 3" in problem for problem in broken)


@pytest.mark.parametrize("verb", ["had slept", "always came", "would pass by", "could certainly see", "guess"])
def test_agreement_is_not_suspected_everywhere(tmp_path, verb):
    assert problems(tmp_path, task=replaced(small_templates.task_lines(), 3, "would return", verb)) == []


def test_a_possessive_slot_needs_its_noun(tmp_path):
    broken = problems(tmp_path, task=replaced(small_templates.task_lines(), 5, "{pronoun} tools on", "{pronoun}, on"))
    assert broken == [f"{tmp_path / 'task.tsv'}, row 5: the sentence must go on with a word after the possessive slot"]


def test_every_occupation_needs_one_sentence_for_each_case(tmp_path):
    lines = small_templates.task_lines()
    assert "has no possessive sentence" in problems(tmp_path, task=lines[:-1])[0]
    again = lines[-1].replace("table", "bench")
    assert "row 12: 'glazier' has a possessive sentence in" in problems(tmp_path, task=[*lines, again])[0]


def test_sentences_are_not_repeated(tmp_path):
    lines = small_templates.context_lines()
    sentence = lines[1].split("\t")[-1]
    broken = problems(tmp_path, context=replaced(lines, 4, lines[2].split("\t")[-1], sentence))
    path = tmp_path / "context.tsv"
    assert broken == [f"{path}, row 4: repeats the sentence of {path}, row 3; write another one"]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("The {person}", "Then the {person}", "the explicit sentence must begin with 'The {person}'"),
        ("The {person}", "The visitor", "the explicit sentence must hold {person} exactly once, it has 0"),
        ("since {pronoun}", "since Ada", "the explicit sentence must hold {pronoun} exactly once, it has 0"),
        (
            "{pronoun} had met",
            "the {person} had met",
            "the implicit sentence must hold {pronoun} exactly once, it has 0",
        ),
        ("had met the", "had met the {person} and the", "the implicit sentence must hold {person} nowhere, it has 1"),
        ("{pronoun} had met", "{pronoun} has met", "the implicit sentence has 'has' after the slot"),
        ("had met the", "had met the lady and the", "the implicit sentence has the gendered word 'lady'"),
    ],
)
def test_each_rule_for_context_sentences(tmp_path, old, new, rule):
    broken = problems(tmp_path, context=replaced(small_templates.context_lines(), 3, old, new))
    assert any(f"{tmp_path / 'context.tsv'}, row 3: {rule}" in problem for problem in broken)


def test_each_case_has_five_themes_in_both_polarities_in_one_order(tmp_path):
    lines = small_templates.context_lines()
    swapped = [*lines[:6], lines[7], lines[6], *lines[8:]]
    assert (
        "row 3: the nominative case must have 5 different themes, in the same order"
        in (problems(tmp_path, context=swapped)[0])
    )
    assert "the possessive case has 5 negative and 4 positive rows" in problems(tmp_path, context=lines[:-1])[0]
    mixed = [lines[0], *lines[6:11], *lines[1:6], *lines[11:]]
    assert "expected 5 negative ones, then 5 positive ones" in problems(tmp_path, context=mixed)[0]


@pytest.mark.parametrize(
    ("name", "row", "old", "new", "expected"),
    [
        ("task", 3, "weaver\t", "waever\t", "task.tsv, row 3: unknown occupation 'waever'; did you mean 'weaver'?"),
        ("task", 3, "nominative", "nominal", "task.tsv, row 3: unknown case 'nominal'; did you mean 'nominative'?"),
        (
            "context",
            8,
            "positive",
            "postive",
            "context.tsv, row 8: unknown polarity 'postive'; did you mean 'positive'?",
        ),
        ("occupations", 3, "weaver", "tailor", "task.tsv, row 3: unknown occupation 'weaver'"),
    ],
)
def test_unknown_words_get_the_nearest_known_one(tmp_path, name, row, old, new, expected):
    lines = {
        "task": small_templates.task_lines,
        "context": small_templates.context_lines,
        "occupations": small_templates.occupation_lines,
    }[name]()
    paths = small_templates.write(tmp_path)
    small_templates.write_lines(paths[name], replaced(lines, row, old, new))
    message = refusal(templates.read_replica, paths["task"], paths["context"], paths["occupations"])
    assert expected in message


def test_an_occupation_without_sentences_is_missed(tmp_path):
    paths = small_templates.write(tmp_path, task=small_templates.task_lines(["weaver", "pilot"]))
    message = refusal(templates.read_replica, paths["task"], paths["context"], paths["occupations"])
    assert "has no sentence for the occupation 'glazier'" in message


def test_the_script_lists_all_problems(tmp_path, capsys):
    def check(**changed):
        paths = small_templates.write(tmp_path, **changed)
        (tmp_path / "ruff").mkdir(exist_ok=True)
        for name in ("task", "context"):
            Path(paths[name]).rename(tmp_path / f"ruff/{name}.tsv")
        return check_templates.main([str(tmp_path)]), capsys.readouterr()

    status, printed = check()
    assert (status, printed.out) == (0, "9 task sentences and 30 context templates are fine\n")
    lines = [line.replace("afternoon.", "afternoon") for line in small_templates.task_lines()]
    status, printed = check(task=lines)
    assert status == 1 and len(printed.err.splitlines()) == 3
    assert all(f"row {row}: the sentence must end with a full stop" in printed.err for row in (3, 6, 9))
    (tmp_path / "pronouns.tsv").unlink()
    status, printed = check_templates.main([str(tmp_path)]), capsys.readouterr()
    assert status == 1 and printed.err.startswith(f"Error: {tmp_path}/pronouns.tsv: no such file")


def test_jobs_refuse_the_first_problem(tmp_path):
    paths = small_templates.write(
        tmp_path, task=[line.replace("afternoon.", "afternoon") for line in small_templates.task_lines()]
    )
    message = refusal(narratives.load, pronoun_sets=["he", "she"], **small_templates.given(paths))
    assert "row 3: the sentence must end with a full stop (and 2 more problems)" in message


def test_the_projects_templates_have_no_problem(root):
    folder = root / "templates"
    replica = templates.read_replica(
        folder / "ruff" / "task.tsv", folder / "ruff" / "context.tsv", folder / "occupations.tsv"
    )
    assert template_checks.check(replica, read_pronouns(folder / "pronouns.tsv")) == []
    assert len(replica.tasks) == 180


def test_a_new_pronoun_set_matters_only_once_it_is_configured(tmp_path):
    lines = [*small_templates.pronoun_lines(), "the\tthe\tthem\tthes\tthes\ttheself\tneo"]
    given = small_templates.given(small_templates.write(tmp_path, pronouns=lines))
    assert narratives.load(pronoun_sets=["he", "she", "xe"], **given)
    assert "has the pronoun 'the' besides its slot" in refusal(narratives.load, pronoun_sets=["he", "the"], **given)


def test_templates_must_be_given(tmp_path):
    pronouns = small_templates.write(tmp_path)["pronouns"]
    message = refusal(narratives.load, ["task.tsv", "context.tsv"], pronouns, ["he", "she"])
    assert message == "templates: 2 files are given; give either the archive, or task, context and occupations"


# The authors' archive


def test_the_official_format_gives_the_same_structure(tmp_path):
    paths = small_templates.write(tmp_path)
    replica = templates.read_replica(paths["task"], paths["context"], paths["occupations"])
    official = templates.read_official(small_templates.archive())
    for ours, theirs in zip(replica.tasks, official.tasks, strict=True):
        assert (ours.occupation, ours.participant, ours.case, ours.sentence) == (
            (theirs.occupation, theirs.participant, theirs.case, theirs.sentence)
        )
    for case in CASES:
        for ours, theirs in zip(replica.contexts[case], official.contexts[case], strict=True):
            assert (ours.polarity, ours.explicit) == (theirs.polarity, theirs.explicit)
            # Blanks at the end are part of the official texts.
            assert theirs.implicit == ours.implicit + " " * (ours.polarity == "positive")
        assert [c.theme for c in official.contexts[case]] == list("1234512345")
    assert template_checks.blocking_problems(official) == []


def bad_password(archive):
    # The flag bit "encrypted" without any encryption: the password check fails.
    content = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := content.find(signature, start + 1)) >= 0:
            content[start + offset] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda content: content[:200], "damaged or not a zip archive"),
        (lambda content: b"<html>", "damaged or not a zip archive"),
        (lambda content: content.replace(b"stopped", b"skipped"), "damaged or not a zip archive"),
        (lambda content: content.replace(b"data/task.tsv", b"data/tusk.tsv"), "it lacks data/task.tsv"),
        (bad_password, "does not open with the password"),
    ],
)
def test_damaged_archives_are_refused_in_one_line(tmp_path, damage, expected):
    path = tmp_path / "data.zip"
    path.write_bytes(damage(small_templates.archive()))
    message = refusal(templates.read_official, path)
    assert message.startswith(str(path)) and expected in message and "fetch it again" in message


def test_a_missing_archive_is_named(tmp_path):
    assert "fetch_upstream" in refusal(templates.read_official, tmp_path / "data.zip")


def test_problems_of_the_archive_never_quote_it(tmp_path):
    text = "occupation\tparticipant\tsentence\tpronoun_type\tword\n"
    row = "weaver\tbuyer\tThe weaver saw nobody.\t$NOM_PRONOUN\tweaver\n"
    path = tmp_path / "data.zip"
    path.write_bytes(small_templates.archive(task=text + row))
    pronouns = small_templates.write(tmp_path)["pronouns"]
    message = refusal(narratives.load, [str(path)], pronouns, ["he", "she"])
    assert message == f"{path}:data/task.tsv, row 2: the sentence must hold {{pronoun}} exactly once, it has 0"
    path.write_bytes(small_templates.archive(task=text + row + "The weaver saw nobody.\n"))
    message = refusal(narratives.load, [str(path)], pronouns, ["he", "she"])
    assert "row 3: 1 cell where the header has 5" in message and "nobody" not in message


@pytest.mark.upstream
def test_the_authors_archive_is_read(mirror):
    archive = mirror / "ruff" / "data.zip"
    official = templates.read_official(archive)
    assert template_checks.blocking_problems(official) == []
    assert len(official.tasks) == 180 and len({t.occupation for t in official.tasks}) == 60
    sentences = [s for rows in official.contexts.values() for c in rows for s in (c.explicit, c.implicit)]
    assert len(sentences) == 60 and sum(s.endswith(" ") for s in sentences) == 3
    with zipfile.ZipFile(archive) as file:
        assert all(info.flag_bits & 1 for info in file.infolist() if not info.is_dir())


@pytest.mark.upstream
def test_the_replica_is_not_a_copy(root, mirror):
    folder = root / "templates"
    ours = templates.read_replica(
        folder / "ruff" / "task.tsv", folder / "ruff" / "context.tsv", folder / "occupations.tsv"
    )
    theirs = templates.read_official(mirror / "ruff" / "data.zip")

    def sentences(read):
        contexts = [c for rows in read.contexts.values() for c in rows]
        every = [t.sentence for t in read.tasks] + [s for c in contexts for s in (c.explicit, c.implicit)]
        return {" ".join(sentence.lower().split()) for sentence in every}

    # The count alone, so that a failure prints no sentence.
    assert len(sentences(ours) & sentences(theirs)) == 0
    assert {t.occupation: t.participant for t in ours.tasks} == {t.occupation: t.participant for t in theirs.tasks}
