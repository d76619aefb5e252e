"""Write what annotators are asked about quadruples (section 2.3)."""

from scripts.core import annotation, files
from scripts.core.job import run
from scripts.counter_gap.lib import votes


def main(*, declaration: str, questions: str, instances: str | None = None, candidates: str | None = None):
    """Write ``questions`` (Parquet; :mod:`scripts.core.annotation`).

    Parameters
    ----------
    declaration : str
        What is asked (YAML).
    questions : str
        The task to write (Parquet).
    instances, candidates : str
        The quadruples: instances with labels (Parquet), which stay hidden, or C-GAP's columns without (TSV).
    """
    frame = votes.read_candidates(candidates) if candidates else files.read_parquet(instances)
    made = annotation.task(annotation.read_declaration(declaration), votes.items(frame), candidates or instances)
    annotation.write(questions, made)


if __name__ == "__main__":
    run(main)
