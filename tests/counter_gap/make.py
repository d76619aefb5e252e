"""Small data for the tests of Counter-GAP."""

import pandas as pd

from scripts.counter_gap import estimates, passages, study, templates

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


def records(frame):
    """Return instances as rows of C-GAP's file."""
    written = {True: "TRUE", False: "FALSE"}
    labels = {name: frame[name].map(written) for name in ("a_coref", "b_coref")}
    return frame.assign(**labels, book="12 A book")[[*passages.NAMED]].astype(str).values.tolist()


def write_c_gap(path, rows):
    """Write C-GAP's format (tabs, double quotes, CRLF); a row that is text is written as it is."""
    lines = [row if isinstance(row, str) else _line(row) for row in [list(passages.COLUMNS), *rows]]
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return path


def _line(row):
    return pd.DataFrame([row]).to_csv(sep="\t", header=False, index=False).rstrip("\n")


def corpus_score(value: float, error: float = 0.001, corpus: str = "ontonotes") -> pd.DataFrame:
    """Return what the rule coreference_f1 writes for a system whose CoNLL F1 is ``value``."""
    facts = {"corpus": corpus, "part": "development", "documents": 343, "system": "mine", "weights_sha256": "0"}
    scores = {"metric": ["conll", "muc"], "f1": [value, 0.9], "ci_low": [value - error, None]}
    return pd.DataFrame(scores | {"ci_high": [value + error, None]}).assign(**facts)


def f1_scores(values, label="{}"):
    """Return the F1 on OntoNotes of all systems, from that of each debiasing method."""
    systems = [(label.format(name), method) for name in study.SYSTEMS.values() for method in values]
    scored = [{"model": name, "debiasing": method} for name, method in systems]
    table = estimates.estimate_corpora([corpus_score(values[method]) for _, method in systems], scored)
    return table.assign(system=table.model)


def estimate_flags(frame, flags, draws, seed):
    """Return the estimates of the study's systems with their tests, as findings and tables read them."""
    table = study.add_significance(estimates.correct_tests(estimates.estimate_set(frame, flags, draws, seed)), 0.01)
    return study.with_systems(table, {name: name for name in study.SYSTEMS.values()})


def estimated(*rows, **columns):
    """Return estimates with significance from (templates, model, kind, debiasing, metric, value)."""
    names = ["templates", "model", "kind", "debiasing", "metric", "value"]
    table = pd.DataFrame(rows, columns=names).reindex(columns=estimates.COLUMNS)
    table[study.FACTORS] = ""
    return study.add_significance(table.assign(**{"scoring": "clusters", "reading": study.CORRECTED} | columns), 0.01)
