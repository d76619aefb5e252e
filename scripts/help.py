"""List the targets of the workflow with what they make."""

from scripts.core.workflow.job import run


def main(*, targets: dict):
    """Print the ``targets`` (name to what it makes)."""
    width = max(map(len, targets)) + 2
    for name, text in targets.items():
        print(f"{name:<{width}}{text}")


if __name__ == "__main__":
    run(main)
