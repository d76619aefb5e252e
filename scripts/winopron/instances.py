"""Fill one set of templates with the run's pronoun sets: sentences about two people, or about one."""

from pathlib import Path

from scripts.core import files
from scripts.core import templates as template_files
from scripts.core.job import log, run
from scripts.winopron.lib import instances as assembly
from scripts.winopron.lib import template_checks, templates


def main(
    *,
    pronouns: str,
    instances: str,
    entities: str,
    pronoun_sets: list,
    sentences: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
    winogender: str | None = None,
):
    """Write ``instances`` (Parquet; :mod:`scripts.winopron.lib.instances` has the columns).

    They come from ``sentences`` and ``occupations`` (this project's), from the authors' ``archive`` or from the
    templates of ``winogender``, filled with ``pronoun_sets`` of ``pronouns``. ``entities`` is double or single.
    """
    known = template_files.read_pronouns(pronouns)
    chosen = template_files.select_pronoun_sets(known, pronoun_sets, shared=True)
    if winogender:
        # Its authors made no promise that WinoPron's checks would hold (section 3.1 of WinoPron's paper).
        read = templates.read_winogender(winogender)
    else:
        read = templates.read_official(archive) if archive else templates.read_replica(sentences, occupations)
        template_checks.check(read, known, own=not archive)
    rows = template_files.read_tsv(pronouns, template_files.PRONOUN_COLUMNS)
    frame = assembly.build(read, entities, chosen, {cells["set"]: row for row, cells in rows})
    log.info("%d instances of %d templates", len(frame), len(read.rows))
    files.write_parquet(instances, frame, {"origins": read.origins() | {"pronoun_row": Path(pronouns).name}})


if __name__ == "__main__":
    run(main)
