"""Make the environments beside the main one, each where it is not there yet."""

from scripts.core.workflow import environments
from scripts.core.workflow.job import run_named


def coreference_environment(*, lock: str, folder: str, environment: str, requirements: str | None = None) -> None:
    """Write where an environment is.

    Args:
        lock: Names, versions and hashes of its packages.
        folder: The virtual environment to make, unless this very Python has all packages.
        environment: JSON file to write: the interpreter and the packages' versions.
        requirements: The requirements with torch's version, if torch is one of the packages.
    """
    python = environments.prepare_environment(lock, folder, requirements)
    environments.describe_environment(environment, python, *(path for path in (lock, requirements) if path))


if __name__ == "__main__":
    run_named()
