"""Figures 1, 2 and 4, which are tables here: whose sentences they show, and that the faulty ones are faulty."""

import re

import pytest

from scripts.core import files
from scripts.core.data import templates as template_files
from scripts.core.errors import UserError
from scripts.winopron import examples, instances, tables, templates
from tests.winopron import make, synthetic


@pytest.fixture(scope="module")
def double(root):
    """This project's sentences with the pronoun sets of the study."""
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    return instances.build(read, "double", make.PRONOUNS)


@pytest.fixture(scope="module")
def faulty(root):
    return examples.read_problems(root / "templates/winopron/problems.tsv")


def test_groups_are_right_together(tmp_path):
    frame = examples.groups(synthetic.sentences(tmp_path))
    assert list(frame.label) == ["(a)", "(b)", "(c)", "(d)", "(a)", "(b)"]
    assert list(frame.pronoun) == ["his", "her", "their", "xyr", "xyr", "xyr"]
    assert frame.means.nunique() == 2 and frame.means[:4].nunique() == 1
    assert (frame.after[:5].nunique(), frame.before.nunique()) == (1, 1) and frame.after[5] != frame.after[4]


def test_schemas_have_all_pronouns(double):
    frame = examples.schemas(double)
    assert list(frame.pronoun) == ["his / her / their / xyr"] * 2
    assert set(frame.means) == set(frame.part[0].lower().split(" and "))


def test_every_faulty_sentence_is_refused_by_a_check(root, faulty):
    people = template_files.read_occupations(root / "templates/occupations.tsv")
    forms = {form for sets in make.PRONOUNS.values() for form in sets.values()}
    refused = {}
    for cells in faulty:
        facts = {key: cells[key] for key in ("occupation", "case", "answer", "double", "row")}
        row = templates.Template(participant=people[cells["occupation"]], single=None, **facts)
        found = [*templates.template_problems(row, forms), *templates.house_problems(row)]
        refused.setdefault(cells["problem"], []).append((row, [text for text in found if "double sentence" in text]))
    verb, pair, pronoun, typing = refused.values()
    assert "has 'was' after the pronoun" in verb[0][1][0] and len(verb[0][1]) == 1
    assert [text for _, text in pair] == [[], []]
    structure = templates.structure_problems([row for row, _ in pair])
    assert any("differs from row" in text for _, text in structure)
    assert "another pronoun, 'her'" in pronoun[0][1][0] and "must begin with a capital" in typing[0][1][0]


def test_faulty_sentences_stand_beside_right_ones(double, faulty):
    frame = examples.problems(faulty, double)
    assert frame.label.value_counts().to_dict() == {examples.FAULTY: 5, examples.HERE: 5}
    assert set(frame.pronoun) <= {"they", "them", "their"}
    texts = set(double.text)
    for row in frame.itertuples():
        assert (row.before + row.pronoun + row.after in texts) == (row.label == examples.HERE)


def test_tables_show_the_person_meant_bold_and_the_pronoun_in_italics(double, faulty, tmp_path, root):
    files.write_parquet(tmp_path / "double.parquet", double)
    given = {
        "instances": str(tmp_path / "double.parquet"), "problems": str(root / "templates/winopron/problems.tsv")
    }  # fmt: skip
    for name in ("groups", "schemas", "problems"):
        paths = {kind: str(tmp_path / f"a.{kind}") for kind in ("tex", "csv")}
        tables.table_sentences(**given, **paths, sentences=name)
        frame = files.read_csv(paths["csv"])
        assert list(frame) == examples.COLUMNS
        text = (tmp_path / "a.tex").read_text(encoding="utf-8")
        assert re.findall(r"\\textbf\{(\w+)\}", text) == list(frame.means)
        assert re.findall(r"\\textit\{([^}]+)\}", text) == list(frame.pronoun)
        assert text.count("visiblespace") == (2 if name == "problems" else 0)
        said = re.sub(r"\\text\w+\{([^}]*)\}", r"\1", text)
        for row in frame.itertuples():
            if "  " not in row.before:
                assert row.before + row.pronoun + row.after in said


def test_a_faulty_sentence_without_a_slot_is_refused(tmp_path):
    path = tmp_path / "problems.tsv"
    path.write_text("\t".join(examples.PROBLEM_COLUMNS) + "\nx\tclerk\tnominative\toccupation\tThe clerk left.\n")
    with pytest.raises(UserError, match=r"problems\.tsv, row 2: the sentence needs the slot \{pronoun\} once"):
        examples.read_problems(path)
