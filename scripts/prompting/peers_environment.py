"""Make the environment of the programs that measurements compare with, where it is not there yet."""

from scripts.core import environments
from scripts.core.job import run


def main(*, lock: str, requirements: str, folder: str, environment: str):
    """Write where the environment is.

    Args:
        lock: Names, versions and hashes of its packages.
        requirements: The requirements, with torch's version.
        folder: The virtual environment to make, unless this very Python has all packages.
        environment: JSON file to write: the interpreter and the packages' versions.
    """
    python = environments.prepare(lock, folder, requirements)
    environments.describe(environment, python, lock, requirements)


if __name__ == "__main__":
    run(main)
