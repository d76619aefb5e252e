"""Compare two runs, or two models: where they differ, how sure that is, and why.

    python -m scripts.compare runs/A runs/B                      writes runs/compare-A-B/results/compare/
    python -m scripts.compare runs/A:model-1 runs/A:model-2      two models of one run
    python -m scripts.compare runs/A runs/B --exit-code          for continuous integration

With --exit-code the exit status is 0 if all results are the same, 1 if some differ, and 2 if the runs cannot
be compared. Without it, 1 does not occur. Differences in the records alone are reported and do not count.
"""

import argparse
import contextlib
import json
import os
import sys
import traceback
from pathlib import Path

from scripts.compare import places
from scripts.compare.compare_runs import compare_and_write
from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper.typesetting import typeset

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ("paper/compare.html.j2", "paper/compare.tex.j2", "paper/proceedings.sty")


def declarations() -> dict:
    """Return what all studies declare for comparisons, as the workflow reads it."""
    from scripts.provenance.expected_jobs import open_workflow

    with contextlib.redirect_stdout(sys.stderr), open_workflow(ROOT / "Snakefile", [], {"studies": "all"}) as made:
        return json.loads(json.dumps(made._workflow.globals["DECLARED_PAIRS"]))


def command_line(arguments: list[str] | None = None) -> int:
    """Run the comparison from the command line and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", help="the first run: its folder or crate and, after a colon, a model")
    parser.add_argument("b", help="the second run; differences are the second minus the first")
    parser.add_argument("--directory", type=Path, metavar="FOLDER", help="where to write (default: runs/compare-A-B)")
    parser.add_argument("--exit-code", action="store_true", help="exit with status 1 if results differ")
    parser.add_argument("--no-pdf", action="store_true", help="write the page and the JSON file alone")
    options = parser.parse_args(arguments)
    here = Path.cwd()
    try:
        planned = places.plan_comparison(options.a, options.b, options.directory or ROOT, ROOT, here)
        folder = planned.folder / places.RESULTS
        outputs = [folder / name for name in ("comparison.html", "comparison.tex", "proceedings.sty")]
        templates = [ROOT / name for name in TEMPLATES]
        # Snakemake changes the folder for good.
        declared = declarations()
        os.chdir(here)
        result = compare_and_write(options.a, options.b, declared, here, templates, outputs)
        files.write_json(folder / "comparison.json", result)
        if not options.no_pdf:
            typeset(outputs[1], folder / "comparison.pdf", 10.0)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except Exception:
        # Python's own status for a defect is 1, which says that results differ.
        traceback.print_exc()
        return 2
    print(result["sentence"])
    print(f"page, PDF and JSON: {os.path.relpath(folder, here)}/comparison.*")
    return int(options.exit_code and result["differs"])


if __name__ == "__main__":
    sys.exit(command_line())
