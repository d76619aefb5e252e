"""Findings of a study as tests over a run's tables: three-valued checks, verdicts, and the tables that list them.

A finding about many models can fail on one of them, but it holds only when all of them were looked at
(``docs/verdicts.md`` has the rules, and how often they are right). So a check is
true, false, or unknown because the run lacks something, and a finding with unknown checks and no false one is not
applicable to the run.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.paper.formats import MISSING_MARK, shorten_list
from scripts.core.paper.numbers import make_count
from scripts.core.statistics import procedures

HOLDS, FAILS, NOT_APPLICABLE = "holds", "fails", "undecided"
VERDICTS = (HOLDS, FAILS, NOT_APPLICABLE)
FEW = 3
"""Up to this many checks, counterexamples or missing things are named where space is short."""
OTHER_MODELS = "other models"
"""What a finding about several models lacks where one is asked."""
EACH_MODEL, AVERAGE, MODELS_TOGETHER = "each model", "the average over models", "several models together"
"""Of what a study states a finding that one model is asked: the first also holds of it if it holds in a run."""
ALPHA = 0.05
"""A comparison decides where its two-sided p value is below this, and a finding fails where one does after Holm's
correction for all that it compares. It holds where all comparisons are true, which needs no correction."""
HOLM_DIFFERENCE = "a difference that stands Holm's correction over the finding's comparisons"
"""What a finding lacks that only single comparisons, each taken by itself, speak against."""
EMPTY_TABLE = "% This run decides no finding.\n"
"""Stands in the LaTeX file for a table without rows."""


def column_widths(sets: int) -> list[float]:
    """Return the columns of the typeset table for that many columns of verdicts, in parts of a page's width."""
    left = 0.9 - 0.03 - 0.08 * sets
    return [0.03, left * 0.45, *[0.08] * sets, left * 0.55]


@dataclass(frozen=True)
class Comparison:
    """How surely something is ``right`` and how surely it is ``wrong``: two-sided p values, 1 on the other side."""

    right: float = 1.0
    wrong: float = 1.0

    @property
    def outcome(self) -> bool | None:
        """True or false, or None where neither is shown."""
        return True if self.right < ALPHA else False if self.wrong < ALPHA else None

    def __invert__(self) -> "Comparison":
        return Comparison(self.wrong, self.right)


@dataclass(frozen=True)
class Check:
    """One comparison: ``outcome`` is true, false or None; ``text`` says the numbers.

    It is None with what is ``missing`` from the run or from a comparison whose numbers ``text`` says, or without that
    where the quantity is not defined. ``caveat`` says what speaks against a comparison that is true by its rule. ``p``
    is how surely it is wrong (:class:`Comparison`); None where nothing was sampled, or compared.
    """

    outcome: bool | None
    text: str = ""
    missing: tuple = ()
    caveat: str = ""
    p: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What the checks of a finding say together."""

    verdict: str
    evidence: str
    missing: tuple = field(default=())


@dataclass(frozen=True)
class Finding:
    """A finding: its number, where the study states it, what it says, and the function that returns its checks."""

    number: int
    source: str
    finding: str
    checks: Callable


class MissingEvidence(Exception):
    """Raised where a value is asked for that the run does not have, or a comparison does not tell.

    It carries what is missing and, of a comparison, the text of its numbers and how surely it is wrong.
    """

    def __init__(self, *missing: str, text: str = "", p: float | None = None):
        super().__init__(", ".join(missing))
        self.missing = missing
        self.text = text
        self.p = p


def evaluate_check(function: Callable[..., tuple], *arguments: Any) -> Check:
    """Return the :class:`Check` of a function that returns ``(outcome, text)`` or raises :class:`MissingEvidence`.

    An outcome is a :class:`Comparison` or, where nothing was sampled, true, false or None. A third member of what it
    returns is the doubt.
    """
    try:
        outcome, text, *doubt = function(*arguments)
    except MissingEvidence as lacking:
        return Check(None, lacking.text, lacking.missing, p=lacking.p)
    p = None
    if isinstance(outcome, Comparison):
        outcome, p = outcome.outcome, outcome.wrong
    return Check(None if outcome is None else bool(outcome), text, caveat="".join(doubt), p=p)


def apply_holm(checks: Sequence[Check]) -> list[Check]:
    """Return a finding's checks, of which those are open that are wrong only without Holm's correction over all."""
    tested = [c.p for c in checks if c.p is not None]
    adjusted = iter(procedures.holm(tested))
    return [
        Check(None, c.text, (HOLM_DIFFERENCE,), p=c.p)
        if c.p is not None and next(adjusted) >= ALPHA and c.outcome is False
        else c
        for c in checks
    ]


def decide(checks: Iterable[Check]) -> Verdict:
    """Return the verdict of a finding's checks.

    Returns:
        ``fails`` with the counterexamples if any check is false (:func:`apply_holm`); ``undecided`` with what is
        missing, and the numbers of comparisons that do not tell, if anything is missing or no check is defined; else
        ``holds``, with every doubt behind the evidence.
    """
    checks = apply_holm(list(checks))
    missing = tuple(dict.fromkeys(word for c in checks for word in c.missing))
    wrong = [c.text for c in checks if c.outcome is False]
    right = [c.text for c in checks if c.outcome]
    if wrong:
        failed = _checks(len(wrong), "fails", "fail", of=len(wrong) + len(right))
        return Verdict(FAILS, f"{failed}: {'; '.join(wrong)}", missing)
    if missing or not right:
        held = _checks(len(right), "that could be made holds", "that could be made hold") if right else ""
        open_ones = [c.text for c in checks if c.outcome is None and c.missing and c.text]
        undecided = f"{len(open_ones)} undecided: {shorten_list(open_ones, FEW, '; ')}" if open_ones else ""
        return Verdict(NOT_APPLICABLE, "; ".join(filter(None, [held, undecided])), missing)
    evidence = "; ".join(right) if len(right) <= FEW else _checks(len(right), "holds", "hold")
    return Verdict(HOLDS, "; but ".join([evidence, *(c.caveat for c in checks if c.outcome and c.caveat)]))


def _checks(some: int, singular: str, plural: str, of: int | None = None) -> str:
    """Return a clause about some checks of a finding, or about all that were made: ``1 of 2 checks fails``."""
    if of is not None and some < of:
        return f"{some} of {of} checks {singular if some == 1 else plural}"
    return f"the only check {singular}" if some == 1 else f"{'both' if some == 2 else f'all {some}'} checks {plural}"


def judge_findings(findings: Sequence[Finding], runs: dict, template_sets: list[str]) -> pd.DataFrame:
    """Return the verdict on each finding for each template set.

    Args:
        runs: Template set to what the findings' functions take; a set that was not run is absent.
        template_sets: Every set there is.
    """
    rows = []
    for finding in findings:
        for name in template_sets:
            if name in runs:
                decided = decide(finding.checks(runs[name]))
            else:
                decided = Verdict(NOT_APPLICABLE, "", (f"the {name} templates",))
            facts = [finding.number, finding.source, finding.finding, name]
            rows.append([*facts, decided.verdict, decided.evidence, "; ".join(decided.missing), len(decided.missing)])
    columns = ["number", "source", "finding", "templates", "verdict", "evidence", "missing", "n_missing"]
    return pd.DataFrame(rows, columns=columns)


def single_model_verdicts(
    findings: Sequence[Finding], per_model: Collection[int], runs: dict, averages: Collection[int] = frozenset()
) -> pd.DataFrame:
    """Return the verdict on each finding if one model is all that is looked at, as :func:`judge_findings`.

    The column ``about`` has :data:`EACH_MODEL`, :data:`AVERAGE` or :data:`MODELS_TOGETHER`. What a study states of each
    model cannot fail for one and hold in a run with it, because the run makes the same checks and more. What it states
    of an average is another quantity of one model, and what it states of several together is undecided.

    Args:
        per_model: Numbers of those that say something of each model by itself. What is said of several models, or of
            one that has a name, cannot be decided by another model and is not asked.
        runs: Template set to what the findings' functions take, with the model as the only one.
        averages: Those among ``per_model`` that the study states of an average over its models.
    """
    table = judge_findings([finding for finding in findings if finding.number in per_model], runs, list(runs))
    others = pd.DataFrame(
        [
            [finding.number, finding.source, finding.finding, name, NOT_APPLICABLE, "", OTHER_MODELS, 1]
            for finding in findings
            if finding.number not in per_model
            for name in runs
        ],
        columns=table.columns,
    )
    together = (
        pd.concat([table, others], ignore_index=True) if len(table) and len(others) else max(table, others, key=len)
    )
    about = together.number.map(
        lambda n: AVERAGE if n in averages else EACH_MODEL if n in per_model else MODELS_TOGETHER
    )
    return together.assign(about=about).sort_values("number", kind="stable", ignore_index=True)


def count_verdicts(table: pd.DataFrame, source: str, models: dict[str, int] | None = None) -> dict[str, dict]:
    """Return how often each verdict fell, as numbers that a paper's prose can name.

    Ids are ``findings.total`` and ``findings.<templates>.<verdict>``. If more than one template set has decided
    findings, ``findings.decided_twice`` counts those that hold or fail on more than one set, and ``findings.same``
    those of them with the same verdict wherever they hold or fail. ``findings.<templates>.models`` is the number of the
    study's models in the run.

    Args:
        table: From :func:`judge_findings`.
        source: The file that holds it, for the numbers' provenance.
        models: Template set to how many of the study's models or systems it was run with.
    """
    entries = {"findings.total": make_count(table.number.nunique(), source, column="number")}
    for templates, rows in table.groupby("templates", sort=False):
        for name in VERDICTS:
            entries[f"findings.{templates}.{name.replace(' ', '_')}"] = make_count(
                (rows.verdict == name).sum(), source, templates=templates, verdict=name
            )
    for templates, present in (models or {}).items():
        entries[f"findings.{templates}.models"] = make_count(present, source, templates=templates)
    judged = table[table.verdict != NOT_APPLICABLE]
    if judged.templates.nunique() > 1:
        by_number = judged.groupby("number")
        twice = by_number.templates.nunique() > 1
        same = twice & (by_number.verdict.nunique() == 1)
        entries["findings.decided_twice"] = make_count(twice.sum(), source, column="verdict")
        entries["findings.same"] = make_count(same.sum(), source, column="verdict")
    return entries


def write_verdicts(
    findings: Sequence[Finding],
    runs: dict,
    every_set: list[str],
    *,
    csv: str | Path,
    tex: str | Path,
    numbers: str | Path,
    heads: dict[str, str] | None = None,
    models: dict[str, int] | None = None,
) -> None:
    """Test findings, and write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    Args:
        runs: Template set or source to what the findings' functions take, in the order of the table's columns.
        every_set: Every set there is; no finding is applicable to those that were not run.
        heads: What the table calls a set; otherwise its name.
        models: Set to how many of the study's models or systems it was run with.
    """
    table = judge_findings(findings, runs, every_set)
    files.write_csv(csv, table)
    cells = table_cells(table, list(runs), heads)
    files.write_text(tex, EMPTY_TABLE if cells.empty else latex.wrapped_table(cells, column_widths(cells.shape[1] - 3)))
    files.write_json(numbers, count_verdicts(table, Path(csv).name, models))


def table_cells(table: pd.DataFrame, template_sets: list[str], heads: dict[str, str] | None = None) -> pd.DataFrame:
    """Return what a paper shows: the findings that hold or fail on some template set that was run.

    Args:
        table: From :func:`judge_findings`.
        template_sets: Those that were run.
        heads: What a set is called; otherwise its name.

    Returns:
        A column of verdicts for each set on which something is decided, sets that agree in all verdicts and all
        evidence sharing one. A finding that is decided on other sets alone has a dash for a verdict.
    """
    heads = {name: (heads or {}).get(name, name.capitalize()) for name in template_sets}
    judged = table[table.verdict != NOT_APPLICABLE]
    alike = {}
    for name in [name for name in template_sets if (judged.templates == name).any()]:
        of_set = judged[judged.templates == name]
        alike.setdefault(tuple(zip(of_set.number, of_set.verdict, of_set.evidence, strict=True)), []).append(name)
    columns = {" and ".join(heads[name] for name in names): names[0] for names in alike.values()}
    rows = []
    for number, same in judged.groupby("number", sort=False):
        same = same.set_index("templates")
        shown = {head: name for head, name in columns.items() if name in same.index}
        texts = {head: _short(same.loc[name]) for head, name in shown.items()}
        evidence = [f"{head}: {text}" for head, text in texts.items()]
        if len(set(texts.values())) == 1:
            evidence = [next(iter(texts.values()))]
        verdict = [same.verdict.get(name, MISSING_MARK) for name in columns.values()]
        rows.append((number, f"{same.finding.iloc[0]} ({same.source.iloc[0]})", *verdict, ". ".join(evidence)))
    names = list(columns) if sum(map(len, alike.values())) > 1 else ["Verdict"]
    return pd.DataFrame(rows, columns=["No.", "Finding", *names, "Evidence"])


def _short(row: pd.Series) -> str:
    """Return a verdict's evidence with at most :data:`FEW` counterexamples."""
    if row.verdict == FAILS:
        head, _, tail = row.evidence.partition(": ")
        return f"{head}: {shorten_list(tail.split('; '), FEW)}"
    return row.evidence
