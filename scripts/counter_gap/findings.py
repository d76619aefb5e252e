"""The findings of Counter-GAP, tested by the function of their rule."""

from scripts.core import files
from scripts.core.paper.finding_verdicts import write
from scripts.core.workflow.job import run_named
from scripts.counter_gap.lib import findings as study_findings
from scripts.counter_gap.lib import tables


def findings(
    *, metrics: str, significance: str, subset_sizes: str, corpus_scores: str, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list,
) -> None:  # fmt: skip
    """Test every finding of the study on the metrics of the run.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON). For the sets of
    ``every_set`` that are not among ``template_sets`` no finding is applicable.
    """
    sizes = files.read_csv(subset_sizes).query("subset == 'all'").set_index("data").quadruples
    scores = tables.take_study_names(files.read_csv(corpus_scores))
    runs = {
        name: study_findings.Results(tables.read_comparable(metrics, significance, name), int(sizes[name]), scores)
        for name in template_sets
    }
    present = {name: len(set(results.table.system) & set(study_findings.SYSTEMS)) for name, results in runs.items()}
    write(study_findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


if __name__ == "__main__":
    run_named()
