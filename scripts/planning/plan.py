"""Plan a run before it is paid for: tokens, memory, GPUs, jobs, hours and downloads of each model."""

import pandas as pd

from scripts.core import files
from scripts.core.models import planning
from scripts.core.workflow.job import run


def main(*, plan: str, work: list, entries: dict, devices: dict) -> None:
    """Write ``plan`` (CSV) and print it; arguments are those of :func:`scripts.core.models.planning.plan`."""
    frame = pd.DataFrame(planning.plan(work, entries, devices), columns=planning.COLUMNS)
    files.write_csv(plan, frame)
    empty = "No study of this run reads a model: there is nothing to plan."
    print(empty if frame.empty else planning.report(frame, entries), flush=True)


if __name__ == "__main__":
    run(main)
