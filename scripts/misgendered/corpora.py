"""How many documents of a text corpus hold each pronoun (section 4.2, Table 11 of the paper).

A document holds a word if the word stands in it with no letter, digit or underscore beside it, in whatever case: what
``grep -wi`` finds. So *she's* holds *she*, and *e-e-e* holds *e*. The paper asked search indices, whose rules it does
not state. Its Table 11 has more documents of *he* (15.8 million) than OpenWebText has documents (8 million), so its
numbers are sums over forms of a group; we take each distinct form once.
"""

import concurrent.futures
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data.templates import PronounSet, read_pronouns
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run_named
from scripts.misgendered import study
from scripts.misgendered.documents import read_documents

_WORD = re.compile(r"\w+")

COLUMNS = (
    "corpus", "label", "quantity", "pronoun_type", "group", "form", "word", "count", "occurrences", "total",
)  # fmt: skip
"""Columns of tables of counts. ``count`` is how many documents, of ``total``, hold the word, in which it occurs
``occurrences`` times; the form :data:`ANY` is any form of the group. The ``quantity`` :data:`SUM` adds up the documents
that hold each distinct form of the group, so that a document counts as often as it has forms."""
DOCUMENTS, SUM, ANY = "documents", "sum over forms", "any"


def configured_corpora(local: list[dict], place: Callable) -> dict[str, dict]:
    """Return the corpora of ``misgendered.corpora.local`` by name, with the ``files`` that their patterns stand for.

    ``place`` turns a path or pattern of the configuration into the path that the workflow uses.
    """
    found = {}
    for corpus in local:
        where = f"misgendered.corpora.local: '{corpus['name']}'"
        if corpus["name"] in found:
            raise UserError(f"{where} is listed twice; rename one")
        paths = []
        for pattern in corpus["files"]:
            path = Path(place(pattern))
            matching = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
            matching = sorted(str(path) for path in matching if path.is_file())
            if not matching:
                raise UserError(f"{where}: there is no file {pattern}; correct the path")
            paths += matching
        found[corpus["name"]] = {**corpus, "files": list(dict.fromkeys(paths))}
    return found


def distinct_forms(groups: Mapping[str, PronounSet]) -> dict[str, list[str]]:
    """Return the distinct forms of each pronoun group."""
    return {group: list(dict.fromkeys(forms.values())) for group, forms in groups.items()}


def count_file(path: str | Path, layout: str, wanted: Mapping[str, Sequence[str]]) -> dict:
    """Count one file of a corpus (:mod:`scripts.misgendered.documents` has the layouts and what is refused).

    Args:
        wanted: Lower-case words of each group.

    Returns:
        ``total`` (documents), ``documents`` and ``occurrences`` (word to count; words that are not there are left out)
        and ``groups`` (group to how many documents hold any of its words).
    """
    groups_of: dict[str, set[str]] = {}
    for group, words in wanted.items():
        for word in words:
            groups_of.setdefault(word, set()).add(group)
    total, documents, occurrences, groups = 0, Counter(), Counter(), Counter()
    for text in read_documents(path, layout):
        total += 1
        present = [word for word in _WORD.findall(text.lower()) if word in groups_of]
        occurrences.update(present)
        documents.update(set(present))
        groups.update(set().union(*(groups_of[word] for word in present)))
    return {"total": total, "documents": documents, "occurrences": occurrences, "groups": groups}


def count_corpus(
    paths: Sequence[str],
    layout: str,
    wanted: Mapping[str, Sequence[str]],
    parts: str | Path,
    processes: int = 1,
) -> dict:
    """Count all files of a corpus (as :func:`count_file`), which have different names, several at the same time.

    The folder ``parts`` keeps the counts of each, so that a file is counted once. A UserError is raised for one that
    cannot be counted, after all others have been.
    """
    ((name, most),) = Counter(Path(path).name for path in paths).most_common(1)
    if most > 1:
        raise UserError(f"misgendered.corpora.local: two files of a corpus are called {name}; rename one")
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        counted = [pool.submit(count_once, path, layout, wanted, parts) for path in paths]
    errors = [error for file in counted if (error := file.exception())]
    if errors:
        if not isinstance(errors[0], UserError):
            raise errors[0]
        more = f" (and {count_noun(len(errors) - 1, 'more file')})" if len(errors) > 1 else ""
        kept = count_noun(len(paths) - len(errors), "other file")
        raise UserError(f"{errors[0]}{more}; the counts of {kept} are kept")
    results = [file.result() for file in counted]
    sums = {name: sum((Counter(part[name]) for part in results), Counter()) for name in results[0] if name != "total"}
    return {"total": sum(part["total"] for part in results)} | sums


def count_once(path: str, layout: str, wanted: Mapping[str, Sequence[str]], parts: str | Path) -> dict:
    """Return the counts of a file, which ``parts`` keeps, and has already if file and question are the same."""
    try:
        state = Path(path).stat()
    except OSError as error:
        raise UserError(f"{path}: no such file; correct misgendered.corpora.local") from error
    asked = json.dumps([layout, wanted, state.st_size, state.st_mtime_ns])
    kept = Path(parts) / f"{Path(path).name}.json"
    if kept.exists():
        part = json.loads(kept.read_text(encoding="utf-8"))
        if part["asked"] == asked:
            return part["counts"]
    counts = count_file(path, layout, wanted)
    files.write_json(kept, {"asked": asked, "counts": counts})
    return counts


def count_table(counts: dict, groups: dict, name: str, label: str) -> pd.DataFrame:
    """Return the counts of a corpus (:data:`COLUMNS`): a row for each form of each group, and two for all its forms."""
    documents, occurrences, total = counts["documents"], counts["occurrences"], counts["total"]
    rows = []
    for group, words in distinct_forms(groups).items():
        facts, every = (groups[group].type, group), sum(occurrences[word] for word in words)
        rows += [
            (name, label, DOCUMENTS, *facts, form, word, documents[word], occurrences[word], total)
            for form, word in groups[group].items()
        ]
        rows.append((name, label, DOCUMENTS, *facts, ANY, "", counts["groups"][group], every, total))
        rows.append((name, label, SUM, *facts, ANY, "", sum(documents[word] for word in words), every, total))
    return pd.DataFrame(rows, columns=COLUMNS)


def corpus(
    *, texts: list, pronouns: str, name: str, label: str, layout: str, pronoun_sets: list, parts: str, counts: str,
    threads: int = 1,
) -> None:  # fmt: skip
    """Count the documents of one corpus that hold each form of each pronoun group (``counts``, CSV).

    Of the files ``texts`` so many as ``threads`` are counted at the same time, and the counts of each stay in the
    folder ``parts`` until all are there, so that a job that was stopped goes on where it was.
    """
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    result = count_corpus(texts, layout, distinct_forms(groups), parts, threads)
    log.info("%d documents in %d files", result["total"], len(texts))
    files.write_csv(counts, count_table(result, groups, name, label))
    shutil.rmtree(parts, ignore_errors=True)


def corpus_counts(*, counted: list, corpus_counts: str) -> None:
    """Put the counts of all corpora of a run into one table; without a corpus it has no rows."""
    tables = [files.read_csv(path) for path in counted] or [pd.DataFrame(columns=COLUMNS)]
    files.write_csv(corpus_counts, pd.concat(tables))


def document_sums(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how many documents hold each form of a group, summed over its forms: corpus, group, ``documents``."""
    rows = counts[counts.quantity == SUM]
    return rows.rename(columns={"count": "documents"})[["corpus", "group", "documents"]]


if __name__ == "__main__":
    run_named()
