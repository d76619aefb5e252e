"""Ask infini-gram's interface how often each form of each pronoun group occurs in one large corpus.

Every answer is kept beside its request (:mod:`scripts.misgendered.lib.infini_gram`); these are tokens, not documents.
"""

from scripts.core import files
from scripts.core.job import run
from scripts.core.templates import read_pronouns
from scripts.misgendered.lib import infini_gram, study


def main(
    *, pronouns: str, index: str, label: str, pronoun_sets: list, url: str, cache: str, pace_seconds: float,
    attempts: int, timeout_seconds: float, counts: str,
):  # fmt: skip
    """Write the counts of tokens.

    Parameters
    ----------
    pronouns : str
        templates/pronouns.tsv.
    index, label : str
        The corpus, as the service calls it and as tables do.
    pronoun_sets : list of str
        Configured pronoun groups.
    url : str
        Of the interface.
    cache : str
        The folder of answers.
    pace_seconds : float
        Between two requests.
    attempts : int
    timeout_seconds : float
    counts : str
        The CSV file to write.
    """
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    counter = infini_gram.Counter(url, index, cache, pace_seconds, attempts, timeout_seconds)
    files.write_csv(counts, infini_gram.table(counter, groups, label))


if __name__ == "__main__":
    run(main)
