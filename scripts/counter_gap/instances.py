"""What Counter-GAP makes of passages before systems are scored, each by the function of its rule."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data import annotation, coreference, templates
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap.lib import released_flags as compact_file
from scripts.counter_gap.lib import votes
from scripts.counter_gap.lib.analyses import predictions
from scripts.counter_gap.lib.instances import read_c_gap, read_gap
from scripts.counter_gap.lib.templates import SETS, read_quadruples


def instances(
    *, instances: str, quadruples: str | None = None, pronouns: str | None = None, c_gap: str | None = None,
    candidates: str | None = None, gap: str | None = None, released: str | None = None,
) -> None:  # fmt: skip
    """Read and check one data set: this project's quadruples, C-GAP with its texts or without, or one part of GAP.

    Write ``instances`` (Parquet) from ``quadruples`` and ``pronouns``, ``c_gap``, ``gap`` or ``released``.
    ``candidates`` are quadruples in C-GAP's columns that nobody has labelled yet.
    """
    origins = {"row": Path(quadruples or c_gap or candidates or gap or released or "").name}
    if quadruples:
        assert pronouns, "quadruples are filled with them"
        frame = read_quadruples(quadruples, templates.read_pronouns(pronouns))
        lines = templates.pronoun_lines(pronouns)
        # A quadruple has the forms of both sets, and is looked at as a whole.
        frame["pronoun_rows"] = [[lines[name] for name in SETS.values()]] * len(frame)
        origins["pronoun_rows"] = Path(pronouns).name
    elif c_gap:
        frame = read_c_gap(c_gap)
    elif candidates:
        frame = read_c_gap(candidates, labelled=False)
    elif gap:
        frame = read_gap(gap)
    else:
        frame = compact_file.read_instances(released)
    log.info("%d instances, of which %d masculine", len(frame), (frame.gender == "M").sum())
    files.write_parquet(instances, frame, {"origins": origins})


def baseline(*, instances: str, clusters: str, baseline: str) -> None:
    """Let one rule resolve a data set, in the format of a coreference system.

    Write the ``clusters`` of ``baseline`` (one of ``study.RULES``).
    """
    coreference.write(clusters, resolve(baseline, files.read_parquet(instances)))


def choose(rule: str, row: Any) -> str:
    """Return ``a`` or ``b``, the candidate that the rule takes for one instance."""
    first, second = ("a", "b") if row.a_offset < row.b_offset else ("b", "a")
    if rule == "alphabetical":
        return min("ab", key=lambda name: getattr(row, name))
    if rule == "first" or (rule == "gendered" and row.gender == "F"):
        return first
    # The nearest before the pronoun; if both come after it, the first.
    before = [name for name in (first, second) if getattr(row, f"{name}_offset") < row.pronoun_offset]
    return before[-1] if before else first


def resolve(rule: str, passages: Any) -> list[coreference.Document]:
    """Return a document for each instance, with one cluster: the pronoun and the name that the rule takes."""
    documents = []
    for row in passages.itertuples(index=False):
        name = choose(rule, row)
        document = coreference.Document(row.id, coreference.digest(row.text), coreference.tokenise(row.text), ())
        spans: list[Any] = [
            document.span(getattr(row, f"{kind}_offset"), getattr(row, f"{kind}_offset") + len(getattr(row, kind)))
            for kind in (name, "pronoun")
        ]
        documents.append(replace(document, clusters=(tuple(sorted(spans)),)))
    return documents


def sheet(*, instances: str, sheet: str, seed: int) -> None:
    """Write the blank sheet for annotators of quadruples (section 2.3); it does not show labels.

    Args:
        instances: The quadruples (Parquet).
        seed: For the order of the rows.
    """
    annotation.write_sheet(sheet, votes.sheet_items(files.read_parquet(instances)), votes.QUESTIONS, seed)


def released_flags(*, c_gap: str, released: list, compact: str, systems: list) -> None:
    """Put the flags that the authors released, and facts about their passages, into one file without texts.

    Write ``compact`` (TSV) from C-GAP and the files of flags. ``systems`` says whose flags each file of ``released``
    holds, in the same order, by ``system`` and ``debiasing``. The copy that the project ships is
    ``templates/counter_gap/released_flags.tsv``.
    """
    passages = read_c_gap(c_gap)
    flags = {
        (facts["system"], facts["debiasing"]): predictions.read_flags(path, passages)
        for path, facts in zip(released, systems, strict=True)
    }
    compact_file.write(compact, passages, flags)
    log.info("%d instances, %d outputs of systems", len(passages), len(flags))


if __name__ == "__main__":
    run_named()
