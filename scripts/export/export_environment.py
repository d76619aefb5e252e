"""Make the environment of every_eval_ever's validator, where it is not there yet."""

from scripts.core import environments
from scripts.core.job import run


def main(*, lock: str, folder: str, environment: str):
    """Write where the environment is.

    Args:
        lock: Names, versions and hashes of its packages.
        folder: The virtual environment to make, unless this very Python has all packages.
        environment: JSON file to write: the interpreter and the packages' versions.
    """
    # The package asks for a newer Python than its validator needs.
    python = environments.prepare(lock, folder, options=["--ignore-requires-python"])
    environments.describe(environment, python, lock)


if __name__ == "__main__":
    run(main)
