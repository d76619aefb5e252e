"""Make the environment of the programs that measurements compare with, where it is not there yet."""

from scripts.core import files
from scripts.core.coreference_systems import environment as environments
from scripts.core.job import run


def main(*, lock: str, requirements: str, folder: str, environment: str):
    """Write where the environment is.

    Parameters
    ----------
    lock : str
        Names, versions and hashes of its packages.
    requirements : str
        The requirements, with torch's version.
    folder : str
        The virtual environment to make, unless this very Python has all packages.
    environment : str
        JSON file to write: the interpreter and the packages' versions.
    """
    python = environments.prepare(lock, folder, requirements)
    files.write_json(environment, {"python": str(python), "packages": environments.pins(lock, requirements)})


if __name__ == "__main__":
    run(main)
