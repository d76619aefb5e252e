"""Write WinoPron's rows of the summary over all studies."""

from scripts.core.estimate_rows import write
from scripts.core.job import run
from scripts.winopron.lib import tidy
from scripts.winopron.lib.summary import identities, rows


def main(*, metrics: str, summary: str, models: dict, scored: dict, systems: dict):
    """Write ``summary`` (CSV).

    ``models`` are those that are prompted, ``scored`` those that resolve by likelihood, ``systems`` the coreference
    systems of the run.
    """
    write(summary, "winopron", rows(tidy.metrics(metrics), identities(models, scored, systems)))


if __name__ == "__main__":
    run(main)
