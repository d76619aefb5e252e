"""Write the page in which every instance of a run can be looked at: one HTML file that needs no other."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.workflow.job import log, run
from scripts.explorer import page_data
from scripts.paper.summary import describe_subject

PLACE = "{{ data }}"
"""Where the page takes its data."""


def main(*, template: str, summaries: list, canary: str, page: str, studies: dict, models: dict):
    """Write ``page`` (HTML) from its ``template``.

    Args:
        canary: The line that keeps the page out of training corpora.
        studies, models: As :func:`scripts.explorer.page_data.make_page_data`, without the studies' headlines.
        summaries: The studies' rows of the summary. Each set opens with the model of the study's headline.
    """
    rows = estimate_rows.read_estimates(summaries)
    # Headlines of demonstration models, and then of heuristic baselines, come last.
    rows = rows[rows.headline & rows.value.notna()].assign(rule=rows.kind == estimate_rows.HEURISTIC)
    rows = rows.sort_values(["rule", "demonstration"], kind="stable")
    for name, study in studies.items():
        study["headline"] = [describe_subject(row) for row in rows[rows.study == name].to_dict("records")]
    data = page_data.make_page_data(studies, models)
    for study in data["studies"]:
        for one in study["sets"]:
            log.info("%s, %s: %d of %d instances", study["label"], one["label"], len(one["units"]), one["total"])
    written = page_data.pack_data(data, canary)
    log.info("%.2f MB of packed data", len(written) / 1e6)
    files.write_text(page, files.read_text(template, "restore it").replace(PLACE, written))


if __name__ == "__main__":
    run(main)
