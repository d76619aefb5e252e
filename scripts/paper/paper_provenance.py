"""Write the paper's provenance appendix from the records of the run; refuse a paper of results that are not current.

The paper's numbers, figures and tables link here. What Snakemake would make anew is not asked for: it has just made
everything that it finds out of date. Looked for is what it cannot see: results or records that were changed by hand,
deleted or copied in, code and packages that changed while reruns were switched off.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex
from scripts.core.paper.sections import CAPTION, closing_brace, link_target
from scripts.core.provenance import audit, graph, job_records, reporting, trace
from scripts.core.provenance import manifest as manifests
from scripts.core.workflow.job import log, run
from scripts.paper import floats, report

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 6
"""Up to this many files are named when a paper is refused."""
COLUMNS = [
    "kind", "result", "shown", "in", "file", "cell", "sha256", "rule", "wildcards", "commit", "models", "revisions",
    "record", "params", "code",
]  # fmt: skip
"""What is known of a result: what it is, where the paper shows it and as what, and its file's record."""


def main(
    *,
    main_tex: str,
    sections: list,
    numbers: list,
    results: list,
    provenance_csv: str,
    provenance_tex: str,
    currency_tex: str,
    captions: str,
    manifest: str,
    allow_stale: bool,
) -> None:
    """Write where everything in the paper comes from, in full (CSV) and as an appendix (LaTeX).

    ``currency_tex`` is the mark of a paper of results that are not current. ``captions`` are the paper's captions for
    Snakemake's HTML report. ``manifest`` lists the digests of all results behind the paper; the appendix has its own
    digest.

    Args:
        main_tex: The paper's main file, rendered.
        sections: The sections that it inputs, rendered.
        numbers: JSON files with the numbers of the text.
        results: Figures and tables, and tidy tables that belong to the results beside them.
        provenance_csv, provenance_tex, currency_tex, captions, manifest: The outputs.
        allow_stale: Mark such a paper instead of refusing it.

    Raises:
        UserError: If a result is not current and ``allow_stale`` is false.
    """
    problems = {}
    records = job_records.load_records(problems=problems)
    behind = [main_tex, *sections, *numbers, *results]
    jobs, digests, findings = audit.judge_recorded(behind, records, problems, ROOT)
    # A revision that no entry fixes is recorded with the scores; the audit says so, but the paper is not refused.
    bad = {path: finding for path, finding in findings.items() if finding["verdict"] not in ("current", "unpinned")}
    if bad and not allow_stale:
        raise UserError(refusal_message(bad))
    for line in reporting.report_findings(findings):
        log.info("%s", line)
    sources = {path: Path(path).read_text(encoding="utf-8") for path in [main_tex, *sections]}
    items = floats.list_floats(main_tex)
    known = trace.numbers_of_text(jobs)
    names = {link_target(name): name for name in known}
    links = set(re.findall(r"\\sourced\{([^}]+)\}", "".join(sources.values())))
    used = {name: known[name] for name in sorted(names[link] for link in links)}
    files.write_text(manifest, manifests.list_digests(jobs, records))
    found = catalogue(items, used, results, sources, records, digests)
    files.write_csv(provenance_csv, found)
    files.write_text(provenance_tex, appendix(found, manifest))
    files.write_text(currency_tex, stale_mark(bad, len(findings)))
    files.write_text(captions, report_captions(items))


def refusal_message(bad: dict[str, dict]) -> str:
    """Return why a paper is not built, with the files that caused it before those that follow."""
    causes = reporting.root_causes(bad)
    told = [
        f"{path} is {finding['verdict']} ({reporting.describe_reason(finding['reasons'][0])})"
        for path, finding in sorted(causes.items())[:SHOWN]
    ]
    results = "1 result behind the paper is" if len(bad) == 1 else f"{len(bad)} results behind the paper are"
    return (
        f"{results} not current: {'; '.join(told)}"
        f"{'; ...' if len(causes) > SHOWN else ''}. The commands that make them again are named by "
        "python -m scripts.audit; a paper of such results needs paper.allow_stale: true in config.yaml"
    )


def stale_mark(bad: dict[str, dict], total: int) -> str:
    """Return the box that a paper of results which are not current begins with; empty if all are."""
    if not bad:
        return "% All results are current.\n"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in reporting.count_verdicts(bad).items())
    return (
        "\\notice{Not current.}{"
        f"Of the {total} files behind this paper {len(bad)} "
        f"{'is' if len(bad) == 1 else 'are'} not what this workflow makes of its inputs ({counts}). "
        "It was typeset because \\texttt{paper.allow\\_stale} is set.}\n"
    )


def catalogue(
    items: list[dict], numbers: dict, results: list[str], sections: dict[str, str], records: dict, digests: dict
) -> pd.DataFrame:
    """Return where every figure, table and number comes from.

    Args:
        items: Figures and tables of the paper (:func:`scripts.paper.floats.list_floats`).
        numbers: Id to entry of the numbers that the text uses.
        results: Files behind the paper; those that it does not show are listed too.
        sections: The paper's files of LaTeX, to their text.
        digests: Path to SHA-256.

    Returns:
        :data:`COLUMNS`; figures and tables in the order of the paper, then numbers, then what the paper does not show.
        Params stand at the file that they made, not at the numbers in it.
    """
    index = job_records.index_by_output(records)
    owners = {label: path for path, text in sections.items() for label in re.findall(r"\\label\{([^}]+)\}", text)}
    rows = []
    for item in items:
        path = item["path"] or owners[item["label"]]
        shown = f"{item['kind'].capitalize()} {item['number']}"
        rows.append(
            {"kind": item["kind"], "result": item["label"], "shown": shown, "in": owners[item["label"]], "file": path}
        )
    for name, entry in numbers.items():
        cell = json.dumps(entry["cell"], ensure_ascii=False) if entry["cell"] else ""
        where = "; ".join(path for path, text in sections.items() if rf"\sourced{{{link_target(name)}}}" in text)
        path = entry["path"] or entry["file"]
        rows.append({"kind": "number", "result": name, "shown": entry["text"], "in": where, "file": path, "cell": cell})
    named = {row["file"] for row in rows if row["kind"] != "number"}
    used = dict.fromkeys(row["file"] for row in rows if row["kind"] == "number")
    rows += [{"kind": "file", "shown": "numbers", "file": path} for path in used if path not in named]
    rows += [
        {"kind": "file", "shown": "not shown", "file": path}
        for path in dict.fromkeys(results)
        if path not in named and path not in used
    ]
    facts = [_facts(row["file"], index, records, digests, row["kind"] != "number") for row in rows]
    found = pd.DataFrame([row | made for row, made in zip(rows, facts, strict=True)], columns=COLUMNS)
    return found.astype(object).where(found.notna(), "")


def appendix(found: pd.DataFrame, manifest: str | Path) -> str:
    """Return the appendix as LaTeX: how to follow a result, and a short list of the files behind the paper, by folder.

    Args:
        found: From :func:`catalogue`.
        manifest: The list of all digests, whose own the appendix prints.
    """
    listed = found[(found.kind != "number") & (found["shown"] != "not shown")]
    numbers = {path: rows.result.tolist() for path, rows in found[found.kind == "number"].groupby("file", sort=False)}
    commits = [rf"\texttt{{{commit}}}" for commit in sorted(set(listed.commit))]
    lines = [
        r"\section{Where every result comes from}\label{sec:provenance}",
        "Every number of the text, and the end of every caption, is a link to its file in the list below. Folder by",
        "folder, the list has the figures and tables, the first digits of each file's SHA-256, and how many numbers of",
        rf"the text were taken from it. \texttt{{{breakable(trace.PAPER)}}} has a row for each number, with its",
        r"id (\texttt{result}), its text here (\texttt{shown}), its file and cell, the rule, the commit, the models",
        "and their revisions; rows of files also have the rule's parameters and the code. For all the way back to rows",
        r"of templates and weights: \texttt{python -m scripts.audit}, followed by a file, by a figure's or table's",
        "number, or by a number's id.",
        rf"The files were made at {'commit' if len(commits) == 1 else 'the commits'} {', '.join(commits)}.",
        fingerprint(manifest),
        r"\begin{sources}",
    ]
    for folder, entries in listed.groupby(listed.file.map(lambda path: Path(str(path)).parent.as_posix()), sort=False):
        lines.append(rf"\item \texttt{{{breakable(folder)}/}}:")
        told = []
        for path, rows in entries.groupby("file", sort=False):
            named = rows[rows.result != ""]
            shown = ", ".join(rf"{row.kind.capitalize()}~\ref{{{row.result}}}" for row in files.iterate_rows(named))
            targets = "".join(
                rf"\hypertarget{{{name}}}{{}}" for name in [*named.result, *map(link_target, numbers.get(path, []))]
            )
            parts = [
                rf"\textbf{{{shown}}}" if shown else "",
                rf"\texttt{{{breakable(Path(str(path)).name)}}}",
                rf"\texttt{{{rows.sha256.iloc[0][:10] or 'absent'}}}",
                f"({len(numbers[path])} number{'' if len(numbers[path]) == 1 else 's'})" if path in numbers else "",
            ]
            told.append(targets + " ".join(filter(None, parts)))
        lines.append(";\n".join(told) + ".")
    return "\n".join([*lines, r"\end{sources}"]) + "\n"


def fingerprint(manifest: str | Path) -> str:
    """Return, as LaTeX, the digest of the list of all digests and what it is good for."""
    value = files.sha256(manifest)
    parts = r"\allowbreak{}".join(value[n : n + 8] for n in range(0, 64, 8))
    return (
        "The digests of all results behind this paper, and of what their records say, are listed in\n"
        rf"\texttt{{{breakable(manifest)}}}, whose own SHA-256 is \texttt{{{parts}}}. Results that were"
        "\nchanged later, even together with their records, do not agree with it:\n"
        rf"\texttt{{python -m scripts.audit -{{}}-against {breakable(Path(manifest).name)}}}."
    )


def report_captions(items: Sequence[dict]) -> str:
    """Return one reStructuredText file for all captions, which shows that of the file that Snakemake reports.

    The report renders it with jinja2 for every file, with the outputs of the file's job at hand: files of one job show
    all captions of the job, each with the name of its file.
    """
    lines, numbers = [], {item["label"]: str(item["number"]) for item in items}
    for item in items:
        if item["path"]:
            name = f"{item['kind'].capitalize()} {item['number']} of the paper, {Path(item['path']).stem}"
            test = f'"{item["path"]}" in snakemake.output'
            text = report.render_caption(name, report.plain_text(caption(item["body"]), numbers))
            lines.append(f"{{% if {test} %}}{text}{{% endif %}}")
    paths = [item["path"] for item in items if item["path"]]
    listed = f"{paths!r} | select('in', snakemake.output) | list"
    lines.append(f"{{% if not ({listed}) %}}Not in the paper, which shows a part of the results.{{% endif %}}")
    return "\n\n".join(lines) + "\n"


def caption(body: str) -> str:
    """Return the LaTeX of the caption that the source of a figure or table has."""
    caption = CAPTION.search(body)
    assert caption is not None, "what is linked has a caption"
    start = caption.end()
    return body[start : closing_brace(body, start)]


def models_behind(path: str, records: dict, index: dict[str, str]) -> dict[str, str | None]:
    """Return the models whose scores a file was made from, itself included: name to revision."""
    made = graph.jobs_behind([records[name] for name in dict.fromkeys(index.values())], [path])
    models = {facts["model"]: facts["revision"] for record in made for facts in record["models"].values()}
    return dict(sorted(models.items()))


def _facts(path: str, index: dict[str, str], records: dict, digests: dict, whole: bool) -> dict[str, Any]:
    """Return what the record of a file says; ``whole``: with its parameters."""
    record = records.get(index.get(path), {})
    git, params = record.get("git"), record.get("params", {})
    settings = {name: value for name, value in params.items() if not name.startswith("_")}
    models = models_behind(path, records, index)
    return {
        "sha256": digests.get(path, ""),
        "rule": record.get("rule", ""),
        "wildcards": json.dumps(record.get("wildcards", {})) if record else "",
        "params": json.dumps(settings, ensure_ascii=False) if whole and record else "",
        "code": json.dumps(params.get("_code", {})) if whole and record else "",
        "commit": (git["commit"][:12] + ("+" if git["dirty"] else "")) if git else "none",
        "models": "; ".join(models),
        "revisions": "; ".join(map(str, models.values())),
        "record": index.get(path, ""),
    }


def breakable(text: Any) -> str:
    """Return text as LaTeX that may end a line behind the signs that part names."""
    return re.sub(r"([./=,]|\\_)", r"\1\\allowbreak{}", latex.escape(text))


if __name__ == "__main__":
    run(main)
