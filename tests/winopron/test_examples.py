"""Figures 1, 2 and 4, which are tables here; golden files have them."""

import pandas as pd

from scripts.core.data import templates as template_files
from scripts.winopron import examples, template_checks, templates
from tests.refusals import refused
from tests.winopron import make


def test_faulty_sentences_are_refused_by_a_check(root):
    people = template_files.read_occupations(root / "templates/occupations.tsv")
    forms = {form for sets in make.PRONOUNS.values() for form in sets.values()}
    found = {}
    for number, cells in enumerate(examples.read_problems(root / "templates/winopron/problems.tsv")):
        facts = {key: cells[key] for key in ("occupation", "case", "answer", "double")} | {"row": number}
        row = templates.Template(participant=people[cells["occupation"]], single=None, **facts)
        found.setdefault(cells["problem"], []).append(
            (row, list(template_checks.sentence_problems(row, "double", forms)))
        )
    verb, pair, pronoun, typing = found.values()
    assert "has 'was' after the pronoun" in verb[0][1][0] and len(verb[0][1]) == 1
    assert [text for _, text in pair] == [[], []]
    ((_, text),) = template_checks.pair_problems(*(row for row, _ in pair))
    assert "differs from row" in text and "another pronoun, 'her'" in pronoun[0][1][0]
    # No program tells this one; the table marks its two blanks.
    assert not typing[0][1] and "  " in typing[0][0].double


def test_a_sentence_typeset_has_the_person_bold_the_pronoun_in_italics_and_two_blanks_marked():
    columns = {
        "part": "Typing",
        "label": "faulty",
        "before": "the clerk  knew that ",
        "pronoun": "xe",
        "after": " left.",
    }
    made = examples.typeset_sentences(pd.DataFrame([columns | {"means": "clerk"}]))
    said = r"the \textbf{clerk}\textvisiblespace{}\textvisiblespace{}knew that \textit{xe} left."
    assert rf"Typing & faulty & {said} \\" in made


def test_a_faulty_sentence_without_a_slot_is_refused(tmp_path):
    path = tmp_path / "problems.tsv"
    path.write_text("\t".join(examples.PROBLEM_COLUMNS) + "\nx\tclerk\tnominative\toccupation\tThe clerk left.\n")
    with refused(f"{path}, row 2", "the slot {pronoun} once"):
        examples.read_problems(path)
