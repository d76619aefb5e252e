"""The passages that systems resolve, one data set at a time."""

from pathlib import Path

from scripts.core import files
from scripts.core.data import templates
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap import released_flags
from scripts.counter_gap.passages import read_c_gap, read_gap
from scripts.counter_gap.templates import SETS, read_quadruples


def instances(
    *, instances: str, quadruples: str = "", pronouns: str = "", c_gap: str = "", candidates: str = "", gap: str = "",
    released: str = "",
) -> None:  # fmt: skip
    """Read and check one data set: this project's quadruples, C-GAP with its texts or without, or one part of GAP.

    Write ``instances`` (Parquet) from ``quadruples`` and ``pronouns``, ``c_gap``, ``gap`` or ``released``.
    ``candidates`` are quadruples in C-GAP's columns that nobody has labelled yet.
    """
    origins = {"row": Path(quadruples or c_gap or candidates or gap or released).name}
    if quadruples:
        frame = read_quadruples(quadruples, templates.read_pronouns(pronouns))
        lines = templates.pronoun_lines(pronouns)
        # A quadruple has the forms of both sets, and is looked at as a whole.
        frame["pronoun_rows"] = [[lines[name] for name in SETS.values()]] * len(frame)
        origins["pronoun_rows"] = Path(pronouns).name
    elif c_gap:
        frame = read_c_gap(c_gap)
    elif candidates:
        frame = read_c_gap(candidates, labelled=False)
    elif gap:
        frame = read_gap(gap)
    else:
        frame = released_flags.read_instances(released)
    frame["original_gender"] = frame.groupby("quadruple", sort=False).gender.transform("first")
    log.info("%d instances, of which %d masculine", len(frame), (frame.gender == "M").sum())
    files.write_parquet(instances, frame, {"origins": origins})


if __name__ == "__main__":
    run_named()
