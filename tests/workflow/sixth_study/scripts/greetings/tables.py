"""The tables of the greetings."""

from scripts.core.paper.formats import format_percent
from scripts.core.paper.tables import write_table
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.greetings.estimates import read_estimates


def table(*, estimates: str, tex: str, csv: str, templates: str, labels: dict) -> None:
    """Tabulate the accuracy of each model by introduced pronoun set and over all, in percent."""
    rows = read_estimates(estimates, labels)
    rows = rows[rows.templates == templates].replace({"pronoun": {POOLED: "all"}})
    shares = rows.pivot(index="label", columns="pronoun", values="value")
    write_table(tex, csv, shares.map(format_percent).rename_axis(index="Model", columns=None).reset_index())


if __name__ == "__main__":
    run_named()
