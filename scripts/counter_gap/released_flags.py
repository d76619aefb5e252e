"""Put the flags that the study's authors released, and facts about their passages, into one file without texts."""

from scripts.core.job import log, run
from scripts.counter_gap.lib import released_flags
from scripts.counter_gap.lib.analyses import predictions
from scripts.counter_gap.lib.instances import read_c_gap


def main(*, c_gap: str, released: list, compact: str, systems: list):
    """Write ``compact`` (TSV) from C-GAP and the files of flags.

    ``systems`` says whose flags each file of ``released`` holds, in the same order, by ``system`` and ``debiasing``.
    The copy that the project ships is ``templates/counter_gap/released_flags.tsv``.
    """
    passages = read_c_gap(c_gap)
    flags = {
        (facts["system"], facts["debiasing"]): predictions.read_flags(path, passages)
        for path, facts in zip(released, systems, strict=True)
    }
    released_flags.write(compact, passages, flags)
    log.info("%d instances, %d outputs of systems", len(passages), len(flags))


if __name__ == "__main__":
    run(main)
