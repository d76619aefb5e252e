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
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from scripts.core import config, files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError, count_noun, did_you_mean
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
PAIRED = ["difference", "low", "high", "p", "n", "n_clusters", "flipped", "note"]
FLIPPED_OF = ["study", "part", "model", "estimate"]


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
    summary = estimate_rows.read_estimates([folder / SUMMARY])
    identity = [*estimate_rows.IDENTITY, "metric", *estimate_rows.factor_columns(summary)]
    if len(twins := summary[summary.duplicated(identity)]):
        named = ", ".join(filter(None, map(str, twins.iloc[0][identity])))
        raise UserError(f"{key}: {SUMMARY}, row {twins.index[0] + 2}: {named} is there twice; make the file again")
    known = set(summary.model) - {""}
    if model and model not in known:
        hint = did_you_mean(model, known) or f"; its models are {', '.join(sorted(known))}"
        raise UserError(f"{key}: {given}: no estimate of '{model}'{hint}")
    problems: dict[str, str] = {}
    records = {
        name: record
        for name, record in job_records.load_records(folder / job_records.FOLDER, problems).items()
        if record
    }
    edited = [name for name, record in records.items() if record["checksum"] != job_records.checksum(record)]
    return Run(folder, model, summary, records, problems | dict.fromkeys(edited, "it was edited"))


def compare_estimates(a: Run, b: Run, declared: dict) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the estimates of both runs side by side, and the predictions that flipped between them.

    Returns:
        First a row for each estimate: identity and factors, ``model_b``, ``estimate`` (in words), ``value_a`` and
        ``value_b`` (NaN where a run has none), ``headline``, ``differs``, and what :func:`outcomes.compare_rows` says
        of headlines. Then ``study``, ``part``, ``model``, ``estimate``, ``id``, ``prediction_a``, ``prediction_b`` and,
        of the project's own templates, ``text``.
    """
    names = [*estimate_rows.IDENTITY, "metric"]
    names += dict.fromkeys(name for run in (a, b) for name in estimate_rows.factor_columns(run.summary))
    sides = []
    for run in (a, b):
        rows = run.summary[run.summary.value.notna() & (run.summary.model.eq(run.model) | (not run.model))]
        rows = rows.reindex(columns=[*names, "value", "headline"]).rename_axis("row").reset_index()
        sides.append(rows.fillna(dict.fromkeys(names, "")).assign(model_b=rows.model))
    one, two = sides
    if not set(one.study) & set(two.study):
        raise UserError(f"{a.name} and {b.name} have no study in common; compare runs of the same studies")
    matched = [name for name in names if a.model == b.model or name not in ("kind", "model")]
    two = two[["row", *matched, "model_b", "value", "headline"]]
    table = one.drop(columns="model_b").merge(two, on=matched, how="outer", suffixes=("_a", "_b"))
    table = table.fillna({"kind": "", "model": "", "model_b": ""})
    levels = table[["scoring", "debiasing", *names[names.index("metric") + 1 :]]].to_dict("records")
    told = [", ".join(f"{name} {level}" for name, level in row.items() if level) for row in levels]
    table["estimate"] = [", ".join(filter(None, pair)) for pair in zip(table.metric, told, strict=True)]
    table["headline"] = table.headline_a.eq(True) | table.headline_b.eq(True)
    found, flips = {}, [pd.DataFrame(columns=[*FLIPPED_OF, "id", "prediction_a", "prediction_b", "text"])]
    for place, row in table[table.headline & table.row_a.notna() & table.row_b.notna()].iterrows():
        rows = a.summary.loc[row.row_a], b.summary.loc[row.row_b]
        found[place], flipped = outcomes.compare_rows(*rows, (a.folder, b.folder), declared.get(row.study, {}))
        if row.part != OWN_TEMPLATES and len(flipped):
            flipped[["prediction_a", "prediction_b", "text"]] = ""
        flips.append(flipped.assign(**row[FLIPPED_OF]).reindex(columns=flips[0].columns))
    paired = pd.DataFrame.from_dict(found, orient="index", columns=PAIRED)
    table = table[[*names, "model_b", "estimate", "headline", "value_a", "value_b"]].join(paired)
    same = np.isclose(table.value_a, table.value_b, rtol=RELATIVE, atol=ABSOLUTE)
    other = table.note.fillna("").astype(str).str.startswith("other instances")
    table["differs"] = ~same | table.flipped.gt(0) | other
    return outcomes.add_holm(table), pd.concat(flips, ignore_index=True)


def summarise(a: Run, b: Run, tables: dict[str, pd.DataFrame]) -> tuple[bool, str]:
    """Return whether results differ, and that in a sentence."""
    estimates, changed, records = tables["estimates"], tables["files"], tables["records"]
    apart, flipped = int(estimates.differs.sum()), int(estimates.flipped.sum())
    if not (apart or len(changed)):
        also = f", although their records differ in {', '.join(dict.fromkeys(records.kind))}" if len(records) else ""
        return False, f"{a.name} and {b.name} have the same results{also}."
    clear = int((estimates.p_holm < 0.05).sum())
    told = f"{a.name} and {b.name} differ in {apart} of {count_noun(len(estimates), 'estimate')}"
    told += f" ({clear} significantly), {count_noun(flipped, 'prediction')} and {count_noun(len(changed), 'file')}."
    wrong = [f"{name} is {what}" for name, what in changed.itertuples(index=False) if "tampered" in what]
    return True, told + (f" {wrong[0]}" + f" (and {len(wrong) - 1} more)" * (len(wrong) > 1) + "." if wrong else "")


def render_page(sentence: str, a: Run, b: Run, tables: dict[str, pd.DataFrame]) -> str:
    """Return the page."""
    estimates = tables["estimates"]
    listed = estimates[estimates.differs | estimates.headline]
    listed = listed.sort_values(["headline", "differs"], ascending=False, kind="stable")
    for name in ("n_clusters", "flipped"):
        listed[name] = listed[name].map("{:.0f}".format, na_action="ignore")
    columns = ["study", "part", "model", "model_b", "estimate", "value_a", "value_b"]
    columns += [*PAIRED[:3], "p_holm", *PAIRED[5:]]
    tables = tables | {"estimates": listed[columns].rename(columns={"model": "model_a"})}
    with pd.option_context("display.max_colwidth", None):
        html = {
            name: table[:SHOWN].to_html(index=False, na_rep="", border=0, float_format="{:.3f}".format)
            for name, table in tables.items()
        }
    more = {name: max(len(table) - SHOWN, 0) for name, table in tables.items()}
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = page.from_string((ROOT / "paper/compare.html.j2").read_text(encoding="utf-8"))
    return template.render(sentence=sentence, a=a, b=b, html=html, more=more)


def read_declarations() -> dict:
    """Return how the headlines of all studies follow from outcomes, as the workflow reads it."""
    from scripts.provenance.expected_jobs import open_workflow, resolve_jobs

    here = Path.cwd()
    with contextlib.redirect_stdout(sys.stderr), open_workflow(overrides={"studies": "all"}) as made:
        # The graph of the smallest target says what is declared as well as any.
        declared = json.loads(json.dumps(resolve_jobs(made, ["plan"]).globals["DECLARED_PAIRS"]))
    # Snakemake changes the folder for good.
    os.chdir(here)
    return declared


def compare(a: Run, b: Run, declared: dict, folder: Path) -> tuple[bool, str]:
    """Write the comparison of two runs into a folder; return whether results differ, and that in a sentence."""
    estimates, flips = compare_estimates(a, b, declared)
    tables = {"estimates": estimates, "files": compare_files(a, b), "records": compare_records(a, b), "flipped": flips}
    differs, sentence = summarise(a, b, tables)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        files.write_csv(folder / f"{name}.csv", table)
    files.write_text(folder / "comparison.html", render_page(sentence, a, b, tables))
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
        differs, sentence = compare(a, b, read_declarations(), folder)
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
