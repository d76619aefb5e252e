"""The greetings in the paper and in the summary over all studies."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import ESTIMATED
from scripts.core.paper import sections
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.numbers import make_count
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.greetings.estimates import read_estimates


def section(
    *, section_template: str, estimates: str, figures: list, tables: list, section_tex: str, paper_numbers: list,
    summary: str, template_sets: list, models: dict,
) -> None:  # fmt: skip
    """Render the section, and write the numbers of its text and the rows of the summary over all studies.

    ``paper_numbers`` has a file for each of ``template_sets``, in that order; ``models`` are those of the run by name.
    """
    common = sections.make_context("greetings", template_sets, figures, tables, [], section_tex)
    labels = {name: facts["label"] for name, facts in models.items()}
    measured = read_estimates(estimates, labels)
    for name, part in common["sets"].items():
        rows = measured[measured.templates == name]
        part["numbers"]["sentences"] = make_count(rows.clusters.max(), "estimates.csv", column="clusters")
        part["results"] = Numbers(part, rows, ESTIMATED, ["pronoun"], "estimates.csv")
        part["best"] = part["results"].highest("accuracy")
    sections.write_section(section_tex, section_template, common)
    for part, path in zip(common["sets"].values(), paper_numbers, strict=True):
        files.write_json(path, part["numbers"])
    rows = measured.rename(columns={"templates": "part", "below": "n"}).drop(columns=["above", "clusters"])
    rows = rows.assign(n_unit="instances", headline=rows.pronoun == POOLED)
    estimate_rows.write_estimates(summary, "greetings", rows.to_dict("records"))


if __name__ == "__main__":
    run_named()
