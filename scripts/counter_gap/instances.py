"""Read and check one data set: this project's quadruples, C-GAP with its texts or without, or one part of GAP."""

from pathlib import Path

from scripts.core import files, templates
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.counter_gap.lib import released_flags
from scripts.counter_gap.lib.instances import read_c_gap, read_gap
from scripts.counter_gap.lib.templates import SETS, read_quadruples


def main(
    *,
    instances: str,
    quadruples: str | None = None,
    pronouns: str | None = None,
    c_gap: str | None = None,
    with_dots: str | None = None,
    candidates: str | None = None,
    gap: str | None = None,
    released: str | None = None,
):
    """Write ``instances`` (Parquet) from ``quadruples`` and ``pronouns``, ``c_gap``, ``gap`` or ``released``.

    ``with_dots`` is C-GAP with the stops after titles; it must hold the same instances, and is not scored (Section 4).
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
        if with_dots:
            compare(frame, read_c_gap(with_dots), c_gap, with_dots)
    elif candidates:
        frame = read_c_gap(candidates, labelled=False)
    elif gap:
        frame = read_gap(gap)
    else:
        frame = released_flags.read_instances(released)
    log.info("%d instances, of which %d masculine", len(frame), (frame.gender == "M").sum())
    files.write_parquet(instances, frame, {"origins": origins})


def compare(frame, other, path, other_path):
    """Refuse two versions of C-GAP that differ in more than texts, offsets and the names' titles."""
    columns = ["id", "pronoun", "a_coref", "b_coref", "book"]
    for column in columns:
        differs = frame[column].to_numpy() != other[column].to_numpy() if len(frame) == len(other) else [True]
        if any(differs):
            row = list(differs).index(True) + 2
            raise UserError(f"{other_path}, row {row}: {column} differs from {path}; fetch both files again")


if __name__ == "__main__":
    run(main)
