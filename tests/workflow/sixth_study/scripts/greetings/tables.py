"""The tables of the greetings."""

from scripts.core.paper.formats import format_percent
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run_named
from scripts.greetings.estimates import read_estimates


def table(*, estimates: str, tex: str, csv: str, templates: str, labels: dict) -> None:
    """Tabulate how often each model prefers each pronoun set, in percent."""
    rows = read_estimates(estimates, labels)
    shares = rows[rows.templates == templates].pivot(index="label", columns="pronoun", values="value")
    write_table(tex, csv, shares.map(format_percent).rename_axis(index="Model", columns=None).reset_index())


if __name__ == "__main__":
    run_named()
