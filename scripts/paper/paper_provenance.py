"""Write the paper's provenance appendix from the records of the run; refuse a paper of results that are not current.

The paper's numbers, figures and tables link here. What Snakemake would make anew is not asked for: it has just made
everything that it finds out of date. Looked for is what it cannot see: results or records that were changed by hand,
deleted or copied in, code and packages that changed while reruns were switched off.
"""

import re
from pathlib import Path

import pandas as pd
from pylatexenc.latex2text import LatexNodes2Text

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.core.paper import latex
from scripts.core.paper.sections import CAPTION, closing_brace
from scripts.core.provenance import audit, closure, job_records, trace
from scripts.core.provenance import manifest as manifests

ROOT = Path(__file__).resolve().parents[2]
FEW = 2
"""Up to this many models are named in a row of the appendix."""
SHOWN = 6
"""Up to this many files are named when a paper is refused."""


def main(
    *,
    main_tex: str,
    sections: list,
    numbers: list,
    results: list,
    provenance_tex: str,
    currency_tex: str,
    captions: str,
    manifest: str,
    allow_stale: bool,
):
    """Write ``provenance_tex``, the appendix, and ``currency_tex``, the mark of a paper of results not current.

    ``captions`` are the paper's captions for Snakemake's HTML report. ``manifest`` lists the digests of all results
    behind the paper; the appendix ends with its own digest.

    Parameters
    ----------
    main_tex : str
        The paper's main file, rendered.
    sections : list of str
        The sections that it inputs, rendered.
    numbers : list of str
        JSON files with the numbers of the text.
    results : list of str
        Figures and tables, and tidy tables that belong to the results beside them.
    provenance_tex, currency_tex, captions, manifest : str
        The outputs.
    allow_stale : bool
        Mark such a paper instead of refusing it.

    Raises
    ------
    UserError
        If a result is not current and ``allow_stale`` is false.
    """
    problems = {}
    records = job_records.load(problems=problems)
    jobs = audit.recorded([main_tex, *sections, *numbers, *results], records, _module)
    paths = {path for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    digests = {
        path: job_records.digest(place, job_records.CACHE)
        for path in paths
        if (place := job_records.resolve(path, ROOT)).exists()
    }
    facts = job_records.portable(job_records.model_facts(digests), ROOT)
    named = {package for record in records.values() for package in record.get("packages", {})}
    carried = {name: entry for job in jobs for name, entry in job_records.carried(job["params"]).items()}
    findings = audit.judge(
        jobs,
        records,
        digests,
        facts,
        job_records.pins(ROOT),
        {},
        installed=job_records.installed(named),
        package_files=job_records.package_files(carried, job_records.CACHE),
        problems=problems,
    )
    # A revision that no entry fixes is recorded with the scores; the audit says so, but the paper is not refused.
    bad = {path: finding for path, finding in findings.items() if finding["verdict"] not in ("current", "unpinned")}
    if bad and not allow_stale:
        raise UserError(refusal(bad))
    for line in audit.report(findings):
        log.info("%s", line)
    text = "".join(Path(path).read_text(encoding="utf-8") for path in [main_tex, *sections])
    items = trace.located(jobs, main_tex)
    known = trace.numbers(jobs)
    used = {name: known[name] for name in sorted(set(re.findall(r"\\sourced\{([^}]+)\}", text)))}
    owners = {label: path for path in [main_tex, *sections] for label in _labels(path)}
    files.write_text(manifest, manifests.make(jobs, records))
    files.write_text(provenance_tex, appendix(items, used, owners, records, digests) + fingerprint(manifest))
    files.write_text(currency_tex, mark(bad, len(findings)))
    files.write_text(captions, report_captions(items))


def refusal(bad):
    """Return why a paper is not built, with the files that caused it before those that follow."""
    causes = {p: f for p, f in bad.items() if any(r["kind"] != "upstream" for r in f["reasons"])}
    told = [
        f"{path} is {finding['verdict']} ({audit.describe(finding['reasons'][0])})"
        for path, finding in sorted(causes.items())[:SHOWN]
    ]
    results = "1 result behind the paper is" if len(bad) == 1 else f"{len(bad)} results behind the paper are"
    return (
        f"{results} not current: {'; '.join(told)}"
        f"{'; ...' if len(causes) > SHOWN else ''}. Delete those files and run again, or ask for all: "
        "python -m scripts.audit; a paper of such results needs paper.allow_stale: true in config.yaml"
    )


def mark(bad, total):
    """Return the box that a paper of results which are not current begins with; empty if all are."""
    if not bad:
        return "% All results are current.\n"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in audit.summary(bad).items())
    return (
        "\\noindent\\fcolorbox{red!60!black}{red!4}{\\parbox{\\dimexpr\\linewidth-2\\fboxsep-2\\fboxrule}{%\n"
        f"\\textbf{{Not current.}} Of the {total} files behind this paper {len(bad)} "
        f"{'is' if len(bad) == 1 else 'are'} not what this workflow makes of its inputs ({counts}). "
        "It was typeset because \\texttt{paper.allow\\_stale} is set.}}\n"
    )


def appendix(items, numbers, owners, records, digests):
    """Return the appendix as LaTeX.

    Parameters
    ----------
    items : list of dict
        Figures and tables (:func:`scripts.core.provenance.trace.located`).
    numbers : dict
        Id to entry of the numbers that the text uses.
    owners : dict
        Label to the file whose source has it, for tables without a file of their own.
    records : dict
    digests : dict
    """
    index = job_records.index(records)
    chosen = {item["label"]: item["path"] or owners[item["label"]] for item in items}
    behind = sorted({entry["path"] or entry["file"] for entry in numbers.values()} - set(chosen.values()))
    rows = []
    for item in items:
        name = rf"\hypertarget{{{item['label']}}}{{{item['kind'].capitalize()}~\ref{{{item['label']}}}}}"
        rows.append((name, *_facts(chosen[item["label"]], index, records, digests)))
    rows += [("numbers", *_facts(path, index, records, digests)) for path in behind]
    lines = [
        r"\appendix",
        r"\section{Where every result comes from}\label{sec:provenance}",
        "Every number of the text and the end of every caption is a link into this appendix. It lists the file behind",
        "each figure and table, and the files that numbers were taken from, with the first digits of their SHA-256,",
        "the rule that made them, the commit that was checked out, marked + if files had changed since, and the models",
        "behind them. For the whole way back to template rows and weights:",
        r"\texttt{python -m scripts.audit}, followed by a file, a figure's or table's number, or a number's id.",
        "",
        r"{\scriptsize",
        _table(
            ("result", "file", "rule", "SHA-256", "commit", "models"),
            (0.09, 0.32, 0.18, 0.1, 0.11, 0.13),
            rows,
        ),
        _table(
            ("number's id", "printed", "table and cell"),
            (0.42, 0.12, 0.43),
            [_number(name, entry) for name, entry in numbers.items()],
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def fingerprint(manifest):
    """Return the end of the appendix as LaTeX: the digest of the list of all digests."""
    value = files.sha256(manifest)
    parts = r"\allowbreak{}".join(value[n : n + 16] for n in range(0, 64, 16))
    return (
        "\\noindent The digests of all results behind this paper, and of what their records say, are listed in\n"
        rf"\texttt{{{breakable(manifest)}}}. The SHA-256 of that list is"
        "\n\n\\smallskip\\noindent"
        rf"{{\small\texttt{{{parts}}}}}."
        "\n\n\\smallskip\\noindent Results that were changed later, even together with their records, do not agree"
        " with it:\n"
        rf"\texttt{{python -m scripts.audit -{{}}-against {breakable(Path(manifest).name)}}}."
        "\n"
    )


def report_captions(items):
    """Return one reStructuredText file for all captions, which shows that of the file that Snakemake reports.

    The report renders it with jinja2 for every file, with the outputs of the file's job at hand.
    """
    lines = []
    for item in items:
        if item["path"]:
            text = re.sub(r"([*`|_\\])", r"\\\1", plain(caption(item["body"])))
            name = f"{item['kind'].capitalize()} {item['number']} of the paper"
            test = f'"{item["path"]}" in snakemake.output'
            lines.append(f"{{% if {test} %}}{{% raw %}}**{name}.** {text}{{% endraw %}}{{% endif %}}")
    return "\n".join(lines) + "\n"


def caption(body):
    """Return the LaTeX of the caption that the source of a figure or table has."""
    start = CAPTION.search(body).end()
    return body[start : closing_brace(body, start)]


def plain(text):
    """Return LaTeX as one line of text, without links into the appendix."""
    text = re.sub(r"\\origin\{[^}]*\}", "", text)
    text = re.sub(r"\\sourced\{[^}]*\}", "", text)
    return " ".join(LatexNodes2Text(math_mode="text").latex_to_text(text).split())


def models_behind(path, records, index):
    """Return the names of the models whose scores a file was made from, itself included."""
    names, seen, waiting = set(), set(), [path]
    while waiting:
        name = index.get(waiting.pop())
        if name and name not in seen:
            seen.add(name)
            names |= {facts["model"] for facts in records[name]["models"].values()}
            waiting += records[name]["inputs"]
    return sorted(names)


def _facts(path, index, records, digests):
    record = records.get(index.get(path), {})
    git = record.get("git")
    models = models_behind(path, records, index)
    return (
        breakable(path),
        breakable(record.get("rule", "no record")),
        rf"\texttt{{{digests.get(path, audit.ABSENT)[:10]}}}",
        (rf"\texttt{{{git['commit'][:8]}}}" + ("+" if git["dirty"] else "")) if git else "none",
        breakable(", ".join(models)) if len(models) <= FEW else f"{len(models)} models",
    )


def _number(name, entry):
    cell = ", ".join(f"{key}={value}" for key, value in entry["cell"].items())
    where = breakable(f"{entry['source']}: {cell}" if cell else entry["source"])
    # The id's last part tells the cell; the link's target is the row.
    return rf"\hypertarget{{{name}}}{{}}{breakable(name)}", latex.escape(entry["text"]), where


def breakable(text):
    """Return text as LaTeX that may end a line behind the signs that part names."""
    return re.sub(r"([./=,]|\\_)", r"\1\\allowbreak{}", latex.escape(text))


def _table(heads, widths, rows):
    cells = pd.DataFrame([list(map(latex.Raw, row)) for row in rows], columns=list(heads), dtype=object)
    # A table without a caption takes no number.
    return latex.long_table(cells, widths) + r"\countedbefore"


def _labels(path):
    return re.findall(r"\\label\{([^}]+)\}", Path(path).read_text(encoding="utf-8"))


def _module(path):
    return closure.digest(path, ROOT) if (ROOT / path).is_file() else None


if __name__ == "__main__":
    run(main)
