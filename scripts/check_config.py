"""Check configuration files by themselves.

    python -m scripts.check_config config/all.yaml mine.yaml

Each file is read alone, so that broken YAML, keys given twice and empty files are named with their lines; Snakemake,
which reads the files named in ``--configfile`` before the workflow, only says that one of them is broken. Then all of
them are laid over config.yaml in their order and checked against the schema. For a configuration with a run of its own
the command that makes it is printed.
"""

import argparse
import shlex
import sys
from pathlib import Path

from scripts.core import config, runs
from scripts.core.errors import UserError

ROOT = Path(__file__).resolve().parents[1]


def main(arguments=None):
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
        name = config.check(ROOT, options.overlays).get("run")
        if options.directory:
            runs.check_folder(name, options.directory.absolute(), ROOT)
        elif name:
            folder, files = f"{runs.FOLDER}/{name}", shlex.join(map(str, options.overlays))
            print(f"run it with: snakemake --cores 2 --directory {folder} --configfile {files}")
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
