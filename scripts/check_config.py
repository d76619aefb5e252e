"""Check configuration files by themselves.

    python -m scripts.check_config config/all.yaml mine.yaml

Each file is read alone, so that broken YAML, keys given twice and empty files are named with their lines; Snakemake,
which reads the files named in ``--configfile`` before the workflow, only says that one of them is broken, and copies
mappings as often as aliases name them, which may take for ever; here such files are refused. Then all of them are laid
over config.yaml in their order and checked against the schema, and the workflow itself is asked whether it takes them:
models, systems, pronoun sets and templates that are named, sizes that go together, files that are there.
For a configuration with a run of its own the command that makes it is printed.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.core import config
from scripts.core.errors import UserError
from scripts.core.workflow import runs

ROOT = Path(__file__).resolve().parents[1]


def check_files_together(overlays: Sequence[str | Path]) -> dict:
    """Return the configuration that overlays make, in the order of ``--configfile``, after checking each and all."""
    merged = config.load_overlay(ROOT / "config.yaml")
    for path in overlays:
        merged = config.merge(merged, config.load_overlay(path))
    schema = config.configuration_schema(ROOT / "config/schemas")
    config.validate(merged, schema, "config.yaml", *map(str, overlays))
    return merged


def ask_the_workflow(name: str | None, overlays: list[Path], directory: Path | None) -> None:
    """Let Snakemake read the workflow with these files, and make nothing.

    Args:
        name: ``run`` of the configuration.
        overlays: Files as for ``--configfile``.
        directory: Of the run; None for the one that a run of this name has.

    Raises:
        UserError: With the line that the workflow refuses the configuration with.
    """
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(directory or (ROOT / runs.FOLDER / name if name else ROOT))
        if not folder.is_dir():
            # Snakemake would make it; the workflow looks at its name.
            folder = Path(empty) / folder.name
        words = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
        words += ["--nolock", "--list-target-rules"]
        if overlays:
            words += ["--configfile", *(path.absolute() for path in overlays)]
        done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        refused = next((line for line in lines if line.startswith("Error: ")), lines[-1] if lines else "no message")
        raise UserError(refused.removeprefix("Error: "))


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files named in the command; returns 0, or 1 after one line on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.check_config",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("overlays", nargs="*", type=Path, help="files as for --configfile, in their order")
    parser.add_argument("--directory", type=Path, help="the folder that the run is to be made in")
    options = parser.parse_args(arguments)
    try:
        name = check_files_together(options.overlays).get("run")
        if options.directory:
            runs.check_folder(name, options.directory.absolute(), ROOT)
        ask_the_workflow(name, options.overlays, options.directory)
        if name and not options.directory:
            overlays = shlex.join(runs.overlay_option(list(map(str, options.overlays))))
            print(f"run with: snakemake --cores 2 --directory {runs.FOLDER}/{name} {overlays}")
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
