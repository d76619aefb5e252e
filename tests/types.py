"""Checks the types of scripts/ with basedpyright, in an environment of its own: python -m tests.types [OPTIONS]."""

import subprocess
import sys
from pathlib import Path

from scripts.core.errors import UserError
from scripts.core.workflow import environments

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-types"
STUBS = FOLDER / "stubs"
"""Where pyproject.toml looks for stubs: the same place for every version of Python."""


def main(options: list[str]) -> int:
    """Return the exit status of basedpyright.

    Args:
        options: More options of basedpyright's, or the files to check.
    """
    try:
        python = environments.prepare_environment(ROOT / "envs/types.lock", FOLDER)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    STUBS.mkdir(parents=True, exist_ok=True)
    for stubs in FOLDER.glob("lib/*/site-packages/*-stubs"):
        link = STUBS / stubs.name
        if not link.is_symlink():
            link.symlink_to(Path("..") / stubs.relative_to(FOLDER))
    command = [python, "-m", "basedpyright", "--pythonpath", sys.executable, *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
