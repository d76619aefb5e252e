"""Count the documents of one corpus that hold each form of each pronoun group, and draw an excerpt for each form.

Files are counted in parallel, and each one's counts are kept until all are there, so that a job that was stopped goes
on where it was (:mod:`scripts.misgendered.lib.corpora`).
"""

import shutil

from scripts.core import files
from scripts.core.job import log, run
from scripts.core.templates import read_pronouns
from scripts.misgendered.lib import corpora, study


def main(
    *, texts: list, pronouns: str, name: str, label: str, layout: str, pronoun_sets: list, seed: int, parts: str,
    counts: str, excerpts: str, threads: int = 1,
):  # fmt: skip
    """Write the counts and the excerpts of a corpus.

    Parameters
    ----------
    texts : list of str
        Files of the corpus.
    pronouns : str
        templates/pronouns.tsv.
    name, label : str
        Of the corpus.
    layout : str
        c4, pile, jsonl, openwebtext, text or paragraphs.
    pronoun_sets : list of str
        Configured pronoun groups.
    seed : int
        Of the excerpts.
    parts : str
        The folder that keeps the counts of each file while the job is not finished.
    counts, excerpts : str
        The CSV files to write.
    threads : int
        Files that are counted at the same time.
    """
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    result = corpora.count_corpus(texts, layout, corpora.words(groups), seed, parts, threads)
    log.info("%d documents in %d files", result["total"], len(texts))
    files.write_csv(counts, corpora.table(result, groups, name, label))
    files.write_csv(excerpts, corpora.excerpt_table(result, groups, name, label))
    shutil.rmtree(parts, ignore_errors=True)


if __name__ == "__main__":
    run(main)
