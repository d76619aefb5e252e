"""Write WinoPron's rows of the summary over all studies."""

from scripts.core.job import run
from scripts.core.paper.published import demonstration
from scripts.core.paper.summary import write
from scripts.winopron.lib import resolution, study, tidy
from scripts.winopron.lib.summary import rows


def main(*, metrics: str, summary: str, models: dict, scored: dict, systems: dict):
    """Write ``summary`` (CSV).

    ``models`` are those that are prompted, ``scored`` those that resolve by likelihood, ``systems`` the coreference
    systems of the run.
    """
    by_likelihood = {label + scoring for label in demonstration(scored).values() for scoring in resolution.SCORINGS}
    resolving = {study.system_label(facts) for facts in systems.values() if facts["demonstration"]}
    shown = {*demonstration(models).values(), *by_likelihood, *resolving}
    write(summary, "WinoPron", rows(tidy.metrics(metrics), shown))


if __name__ == "__main__":
    run(main)
