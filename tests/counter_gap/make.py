"""Small data for the tests of Counter-GAP."""

import csv
import io

import pandas as pd

from scripts.counter_gap import passages, templates

PRONOUNS = {
    "he": {"nominative": "he", "accusative": "him", "possessive": "his", "possessive_independent": "his",
           "reflexive": "himself"},
    "she": {"nominative": "she", "accusative": "her", "possessive": "her", "possessive_independent": "hers",
            "reflexive": "herself"},
}  # fmt: skip
ROWS = [
    "rain\tF\tb\tMina\tJudit\tPaul\tOtto\t"
    '"Wait," said {x}. {a} lent {b} a coat, as {target:nominative} had none; {y} slept.',
    "road\tM\ta\tPaul\tOtto\tMina\tJudit\t"
    "{x} and {y} rode on. {a} fell, and {b} would not wait for {target:accusative}.",
]


def write_quadruples(path, rows=ROWS):
    """Write a file of quadruples as this project's and return its path."""
    path.write_text("\n".join(["\t".join(templates.COLUMNS), *rows]) + "\n", encoding="utf-8")
    return path


def eight_instances(path):
    """Return the eight instances of :data:`ROWS`."""
    return templates.read_quadruples(write_quadruples(path), PRONOUNS)


def records(frame):
    """Return instances as rows of C-GAP's file."""
    return [
        [r.id, r.text, r.pronoun, str(r.pronoun_offset), r.a, str(r.a_offset), str(bool(r.a_coref)).upper(), r.b,
         str(r.b_offset), str(bool(r.b_coref)).upper(), "12 A book"]
        for r in frame.itertuples()
    ]  # fmt: skip


def write_c_gap(path, rows):
    """Write C-GAP's format (tabs, double quotes, CRLF); a row that is text is written as it is."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in [list(passages.COLUMNS), *rows]:
            if isinstance(row, str):
                file.write(row + "\r\n")
                continue
            line = io.StringIO()
            csv.writer(line, delimiter="\t", lineterminator="\r\n").writerow(row)
            file.write(line.getvalue())
    return path


def corpus_score(value: float, error: float = 0.001, corpus: str = "ontonotes") -> pd.DataFrame:
    """Return what the rule coreference_f1 writes for a system whose CoNLL F1 is ``value``."""
    facts = {"corpus": corpus, "part": "development", "documents": 343, "system": "mine", "weights_sha256": "0"}
    scores = {"metric": ["conll", "muc"], "f1": [value, 0.9], "ci_low": [value - error, None]}
    return pd.DataFrame(scores | {"ci_high": [value + error, None]}).assign(**facts)
