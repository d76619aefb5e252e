"""Set every published number beside ours, from each source: the releases and the run."""

from scripts.core.job import run
from scripts.core.paper.published import demonstration, read, read_tables, write
from scripts.underspecification.lib import study


def main(
    *,
    published: str,
    mapping: str,
    study_models: str,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    sources: list,
    every_source: list,
    models: dict,
):
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``tables`` are the analysis tables of each of ``sources``; those of ``every_source`` that are not in the run are
    listed as such. Demonstration models among the run's ``models`` are left out.
    """
    printed = read(published, mapping, study_models)
    names = {study.run_label(row.label, "mask"): row.model for row in printed.models.itertuples()}
    by_source = read_tables(tables, sources)
    for frame in (frame for frames in by_source.values() for frame in frames.values() if "model" in frame):
        # Our tables have labels; what the study does not print has no name in the registry and keeps its label.
        frame["model"] = frame.model.map(names).fillna(frame.model)
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    excluded = demonstration(models)
    write("underspec", printed, by_source, every_source, excluded=excluded, parts="Source", **outputs)


if __name__ == "__main__":
    run(main)
