"""Two runs, or two models, side by side: estimates, predictions that flipped, and what differs in records and files.

    python -m scripts.compare runs/A runs/B                      writes runs/compare-A-B/
    python -m scripts.compare runs/A:model-1 runs/A:model-2      two models of one run
    python -m scripts.compare runs/A runs/B --exit-code          for continuous integration

With --exit-code the exit status is 0 if all results are the same, 1 if some differ or are not what their records say,
and 2 if the runs cannot be compared. Without it, 1 does not occur. Differences in the records alone do not count.
"""

import argparse
import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from scripts.core import config, files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError, count_noun, did_you_mean
from scripts.core.paper.formats import interval, number, p_text
from scripts.core.provenance import job_records
from scripts.core.provenance.differences import ABSOLUTE, RELATIVE, Run, compare_files, compare_records
from scripts.core.statistics import outcomes
from scripts.core.workflow import runs

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = "results/paper/summary.csv"
OWN_TEMPLATES = "replica"
"""The set of templates whose texts may be shown; instances of all others are named by their ids alone."""
SHOWN = 60
"""Up to this many rows of a table are on the page; the CSV files have all."""


FLIPPED = ["estimate", "id", "prediction_a", "prediction_b", "text"]


def read_run(given: str, key: str) -> Run:
    """Return the run that an argument names: a folder and, after a colon, one of its models.

    Raises:
        UserError: If there is no such folder, summary or model, or if the summary has a row twice.
    """
    path, model = given, ""
    if not Path(path).exists():
        path, _, model = given.rpartition(":")
    folder = Path(path or given).expanduser().resolve()
    if not folder.is_dir():
        raise UserError(f"{key}: {given}: no such folder; name the folder of a run, such as runs/NAME or .")
    if not (folder / SUMMARY).is_file():
        overlays = (path.relative_to(ROOT) for path in sorted((ROOT / "config").glob("*.yaml")))
        overlay = next((path for path in overlays if config.load_yaml(ROOT / path).get("run") == folder.name), "FILE")
        options = "" if folder == ROOT else f" --directory {path} --configfile={overlay}"
        raise UserError(f"{key}: {path} has no {SUMMARY}; make it: snakemake summary --cores 2{options}")
    summary = estimate_rows.read([folder / SUMMARY])
    identity = [*estimate_rows.IDENTITY, "metric", *estimate_rows.factors(summary)]
    if len(twins := summary[summary.duplicated(identity)]):
        named = ", ".join(filter(None, map(str, twins.iloc[0][identity])))
        raise UserError(f"{key}: {SUMMARY}, row {twins.index[0] + 2}: {named} is there twice; make the file again")
    known = set(summary.model) - {""}
    if model and model not in known:
        hint = did_you_mean(model, known) or f"; its models are {', '.join(sorted(known))}"
        raise UserError(f"{key}: {given}: no estimate of '{model}'{hint}")
    problems = {}
    records = job_records.load(folder / job_records.FOLDER, problems)
    for name, record in records.items():
        if record and record["checksum"] != job_records.checksum(record):
            problems[name] = "it was edited"
    return Run(folder, model, summary, {name: found for name, found in records.items() if found}, problems)


def compare_estimates(a: Run, b: Run, declared: dict) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the estimates of both runs side by side, and the predictions that flipped between them.

    Returns:
        First a row for each estimate: identity and factors, ``model_b``, ``value_a``, ``value_b`` (NaN where a run has
        none), ``headline``, and what :func:`outcomes.compare_rows` says of headlines. Then ``estimate`` (the row),
        ``id``, ``prediction_a``, ``prediction_b`` and, of the project's own templates, ``text``.
    """
    names = [*estimate_rows.IDENTITY, "metric"]
    names += dict.fromkeys(name for run in (a, b) for name in estimate_rows.factors(run.summary))
    matched = [name for name in names if a.model == b.model or name not in ("kind", "model")]
    sides: list[dict] = []
    for run in (a, b):
        rows = run.summary[run.summary.value.notna() & (run.summary.model.eq(run.model) if run.model else True)]
        rows = rows.reindex(columns=[*names, "value", "label", "headline"])
        rows[names] = rows[names].fillna("")
        sides.append({tuple(row[name] for name in matched): row for row in rows.to_dict("records")})
    if not {row["study"] for row in sides[0].values()} & {row["study"] for row in sides[1].values()}:
        raise UserError(f"{a.name} and {b.name} have no study in common; compare runs of the same studies")
    found, flips = [], []
    for place, identity in enumerate(dict.fromkeys([*sides[0], *sides[1]])):
        one, two = (side.get(identity) for side in sides)
        row = dict(one or two or {})
        row |= {"model_b": (two or row)["model"]}
        row |= {f"value_{key}": side["value"] if side else np.nan for key, side in (("a", one), ("b", two))}
        if one and two and one["headline"]:
            told, flipped = outcomes.compare_rows(one, two, (a.folder, b.folder), declared.get(one["study"], {}))
            row |= told
            if one["part"] != OWN_TEMPLATES and len(flipped):
                flipped = flipped.assign(text="", prediction_a="", prediction_b="")
            flips += [(place, *rest) for rest in flipped.reindex(columns=FLIPPED[1:]).itertuples(index=False)]
        found.append(row)
    columns = [*names, "label", "headline", "model_b", "value_a", "value_b", "difference", "low", "high", "p"]
    table = pd.DataFrame(found).reindex(columns=[*columns, "n", "n_clusters", "flipped", "note"])
    table = outcomes.add_holm(table.drop(columns="difference").assign(difference=table.value_b - table.value_a))
    same = np.isclose(table.value_a.astype(float), table.value_b.astype(float), rtol=RELATIVE, atol=ABSOLUTE)
    other = table.note.fillna("").str.startswith("other instances")
    return table.assign(differs=~same | table.flipped.gt(0) | other), pd.DataFrame(flips, columns=FLIPPED)


def summarise(a: Run, b: Run, tables: dict[str, pd.DataFrame]) -> tuple[bool, str]:
    """Return whether results differ, and that in a sentence."""
    estimates, changed, records = tables["estimates"], tables["files"], tables["records"]
    apart, flipped = int(estimates.differs.sum()), int(estimates.flipped.fillna(0).sum())
    if not (apart or len(changed)):
        also = f", although their records differ in {', '.join(dict.fromkeys(records.kind))}" if len(records) else ""
        return False, f"{a.name} and {b.name} have the same results{also}."
    clear = int((estimates.p_holm < 0.05).sum())
    told = f"{a.name} and {b.name} differ in {apart} of {count_noun(len(estimates), 'estimate')}"
    told += f" ({clear} significantly), {count_noun(flipped, 'prediction')} and {count_noun(len(changed), 'file')}."
    wrong = [f"{name} is {what}" for name, what in changed.itertuples(index=False) if "tampered" in what]
    return True, told + (f" {wrong[0]}" + f" (and {len(wrong) - 1} more)" * (len(wrong) > 1) + "." if wrong else "")


def render(sentence: str, sides: Iterable[Run], tables: dict[str, pd.DataFrame]) -> str:
    """Return the page."""
    estimates, rows = tables["estimates"], []
    names = list(estimates)[list(estimates).index("metric") + 1 : list(estimates).index("label")]
    listed = estimates[estimates.differs | estimates.headline].sort_values("differs", ascending=False, kind="stable")
    for row in listed.to_dict("records"):
        p = "" if pd.isna(row["p_holm"]) else p_text(row["p_holm"], smallest=0.001, decimals=3).removeprefix("= ")
        ends = interval(row["low"], row["high"], 3, signed=True)
        rows.append(
            {
                "differs": row["differs"],
                "study": ", ".join(filter(None, [row["study"], row["part"]])),
                "model": " / ".join(dict.fromkeys([row["model"], row["model_b"]])),
                "estimate": ", ".join([row["metric"], *(f"{name} {row[name]}" for name in names if row[name])]),
                "a": number(row["value_a"], 3),
                "b": number(row["value_b"], 3),
                "moved": f"{number(row['difference'], 3, signed=True)} [{ends}]",
                "p": p,
                "flipped": int(row["flipped"]) if row["flipped"] > 0 else "",
                "note": row["note"] if isinstance(row["note"], str) else "",
            }
        )
    of = estimates[["study", "part", "model", "metric"]]
    flipped = tables["flipped"].merge(of, left_on="estimate", right_index=True)
    shown = {name: tables[name].to_dict("records") for name in ("records", "files")}
    shown |= {"estimates": rows, "flipped": flipped.to_dict("records")}
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = page.from_string((ROOT / "paper/compare.html.j2").read_text(encoding="utf-8"))
    return template.render(sentence=sentence, sides=list(sides), shown=SHOWN, **shown)


def declarations() -> dict:
    """Return how the headlines of all studies follow from outcomes, as the workflow reads it."""
    from scripts.provenance.expected_jobs import open_workflow

    here = Path.cwd()
    with contextlib.redirect_stdout(sys.stderr), open_workflow(ROOT / "Snakefile", [], {"studies": "all"}) as made:
        declared = json.loads(json.dumps(made._workflow.globals["DECLARED_PAIRS"]))
    # Snakemake changes the folder for good.
    os.chdir(here)
    return declared


def compare(a: Run, b: Run, declared: dict, folder: Path) -> tuple[bool, str]:
    """Write the comparison of two runs into a folder; return whether results differ, and that in a sentence."""
    estimates, flips = compare_estimates(a, b, declared)
    tables = {"estimates": estimates, "flipped": flips}
    tables |= {"records": compare_records(a, b), "files": compare_files(a, b)}
    differs, sentence = summarise(a, b, tables)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        files.write_csv(folder / f"{name}.csv", table)
    files.write_text(folder / "comparison.html", render(sentence, (a, b), tables))
    return differs, sentence


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", help="the first run: its folder and, after a colon, a model")
    parser.add_argument("b", help="the second run; differences are the second minus the first")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: runs/compare-A-B)")
    parser.add_argument("--exit-code", action="store_true", help="exit with status 1 if results differ")
    options = parser.parse_args(arguments)
    try:
        a, b = read_run(options.a, "a"), read_run(options.b, "b")
        slug = re.sub(r"[^\w.-]+", "-", f"compare-{a.name}-{b.name}")
        folder = (options.output or ROOT / runs.FOLDER / slug).resolve()
        if any(folder == run.folder or folder.is_relative_to(run.folder / "results") for run in (a, b)):
            raise UserError(f"--output: {options.output} is the folder of a run; name another one")
        differs, sentence = compare(a, b, declarations(), folder)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except Exception:
        # Python's own status for a defect is 1, which says that results differ.
        traceback.print_exc()
        return 2
    print(f"{sentence}\n{os.path.relpath(folder)}/comparison.html")
    return int(options.exit_code and differs)


if __name__ == "__main__":
    sys.exit(main())
