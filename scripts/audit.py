"""Say whether every result is what the workflow would make today, and where a result comes from.

    python -m scripts.audit                                    all results
    python -m scripts.audit results/winopron/figures/replica/accuracy.pdf
    python -m scripts.audit "figure 7"                         a figure of the paper, back to templates and weights
    python -m scripts.audit -v "figure 7"                      and all files and jobs between
    python -m scripts.audit results/winopron/estimates.csv:1:value    a cell: a row and a column
    python -m scripts.audit ruff.replica.accuracy.all.0    a number, by its id or the end of it
    python -m scripts.audit --against results/paper/manifest.sha256    and all that changed since this list

A row is its number, from 1 below the header, or column=value,column=value. The ids of the paper's numbers are the
column "result" of results/paper/provenance.csv, next to the printed text ("shown").

A run in a folder of its own is named as for Snakemake: --directory runs/NAME --configfile=FILE.

The exit status is 0 only if everything that was asked for is current.
"""

import argparse
import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scripts.core import files
from scripts.core.data.portable import make_portable
from scripts.core.errors import UserError
from scripts.core.provenance import manifest, reporting, trace
from scripts.core.workflow import runs
from scripts.provenance.run_state import ROOT, State, read_digests

SHOWN = 20
"""Up to this many files of one table are listed."""


def advice(state: State, options: argparse.Namespace) -> list[str]:
    """Return the line that says what to do about files that are not current, if anything can be done.

    The command is for the repository's root, also where the run is in a folder of its own.
    """
    folder, overlays = Path.cwd(), options.configfile
    own = folder != ROOT and folder.is_relative_to(ROOT)
    if own:
        overlays = [os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else path for path in overlays]
    place = ["--directory", str(folder.relative_to(ROOT))] if own else []
    words = [*place, *runs.overlay_option(list(map(str, overlays)))]
    line = reporting.advise(state.findings, state.jobs, options.target, words)
    return [line] if line else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audit from the command line and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.audit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", help="a path, a figure, a table, a cell or a number; all results without")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all files and jobs behind a result too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--against", metavar="FILE", help="compare with a published manifest too")
    parser.add_argument("--configfile", type=Path, action="append", default=[], help="the overlay of the run")
    parser.add_argument("--directory", type=Path, metavar="FOLDER", help="the run's folder (default: this one)")
    parser.add_argument("--target", action="append", default=[], help="what should be there (default: the paper)")
    options = parser.parse_args(arguments)
    try:
        if options.against and options.what:
            raise UserError("a result and --against are two questions; ask one at a time")
        if options.directory:
            _enter_folder(options)
        # Read first: a file that is not what it should be is told at once.
        published = manifest.read_list(options.against) if options.against else None
        state = State(options.configfile, options.target)
        if published:
            return _print_differences(state, published, options)
        return _print_trace(state, options) if options.what else _print_audit(state, options)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


def _enter_folder(options: argparse.Namespace) -> None:
    """Go to the run's folder; files that the command names are those that they were before."""
    options.configfile = [path.absolute() for path in options.configfile]
    if options.against:
        options.against = str(Path(options.against).absolute())
    try:
        os.chdir(options.directory)
    except OSError as error:
        raise UserError(f"--directory {options.directory}: {error.strerror}; name the folder of a run") from error


def _print_audit(state: State, options: argparse.Namespace) -> int:
    if options.json:
        print(json.dumps({"summary": reporting.count_verdicts(state.findings), "files": state.findings}, indent=1))
    else:
        print("\n".join([*reporting.report_findings(state.findings), *advice(state, options)]))
    return int(any(finding["verdict"] != "current" for finding in state.findings.values()))


def _print_differences(state: State, published: dict[str, str], options: argparse.Namespace) -> int:
    """Audit everything, and tell in what it differs from an earlier state."""
    expected = manifest.required_paths(state.jobs)
    differences = manifest.find_differences(published, expected, state.records, state.digests, ROOT)
    named = f"{options.against} (SHA-256 {files.sha256(options.against)})"
    if options.json:
        told = {"summary": reporting.count_verdicts(state.findings), "files": state.findings}
        print(json.dumps(told | {"against": named, "compared": len(published), "differences": differences}, indent=1))
    else:
        print("\n".join(reporting.report_findings(state.findings)))
        for entry in differences:
            print(reporting.escape_unprintable(f"{entry['state']:<9} {entry['path']}: {entry['told']}"))
        print(f"against {named}: {len(published)} files and records, {len(differences)} differences")
    return int(bool(differences) or any(finding["verdict"] != "current" for finding in state.findings.values()))


def _print_trace(state: State, options: argparse.Namespace) -> int:
    found = trace.find_target(options.what, state.jobs)
    behind = state.findings_behind([entry["path"] for entry in found])
    told = []
    for entry in found:
        path, rows = entry["path"], entry["rows"]
        if path == trace.CONFIG:
            path = make_portable(runs.set_in(rows[0]["key"], state.configfiles, ROOT), ROOT)
            state.digests |= read_digests([path])
        one = rows[0] if len(rows) == 1 else None
        models = {one["model"]} & state.models if one and "model" in one else None
        outputs, made_from = reporting.files_behind(
            path, state.jobs, state.records, state.findings, state.digests, models
        )
        lines = state.origins.origins_of(path, rows)
        rows = rows if one else []
        told.append(entry | {"path": path, "rows": rows, "outputs": outputs, "templates": lines, "files": made_from})
    if options.json:
        records = {f["record"]: state.records.get(f["record"]) for f in behind.values()}
        print(json.dumps({"found": told, "files": behind, "records": records}, indent=1))
    else:
        for entry in told:
            shown = entry["files"] if options.verbose else entry["files"][:1]
            lines = [*_describe_lines(entry["templates"])]
            if entry["outputs"] and not lines:
                lines = ["no template lines are known: no row of a table with the metadata origins is behind it"]
            print("\n".join([entry["title"], *entry["outputs"], *lines, *shown]))
        if behind:
            print("\n".join(reporting.report_findings(behind)))
    return int(any(finding["verdict"] != "current" for finding in behind.values()))


def _describe_lines(lines: Iterable[dict]) -> Iterator[str]:
    """Yield lines of template files as text, those of one table of instances below its name."""
    for table, entries in itertools.groupby(lines, lambda entry: entry["table"]):
        entries = list(entries)
        yield f"{entries[0]['count']} rows of {table}, made from" if table else "read directly:"
        shown = entries if len(entries) <= SHOWN else entries[:SHOWN]
        for entry in shown:
            yield f"  {entry['file']}: line{'s' * (len(entry['rows']) > 1)} {trace.format_ranges(entry['rows'])}"
        if len(entries) > SHOWN:
            yield f"  and {len(entries) - SHOWN} more files (--json lists them)"


if __name__ == "__main__":
    sys.exit(main())
