"""Corpora in the layout of CoNLL-2012: OntoNotes, and LitBank's files."""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.core import files
from scripts.core.coreference_systems.documents import PARTS, AnnotatedDocument, order_clusters, refuse_repeated
from scripts.core.data import archives
from scripts.core.errors import UserError, count_noun

log = logging.getLogger(__name__)

# Columns of a row, counted from 0 (Pradhan et al. 2012, Table 3). The coreference column is the last.
IDENTIFIER, PART, NUMBER, WORD, TAG, SPEAKER = 0, 1, 2, 3, 4, 9
# Up to the named entities; those of predicates, of which a sentence has as many as predicates, and coreference follow.
FEWEST_COLUMNS = 12
ABSENT_LABELS = ("-", "_", "*")

# OntoNotes writes a slash before some marks that end a sentence; c2f-coref (Lee et al. 2018) leaves it out.
ESCAPED: dict[str, str] = {"/.": ".", "/?": "?"}


_BEGIN = re.compile(r"#begin document \((.*)\); part (\d+)\s*")
_END = re.compile(r"#end document\s*")
_CELL = re.compile(r"(\()?(\d+)(\))?")
_REMEDY = "get an unchanged copy of the corpus"


def read_conll2012(path: str | Path) -> list[AnnotatedDocument]:
    """Read CoNLL-2012 files, OntoNotes' layout: each part of a file is a document.

    Args:
        path: A file, or a folder whose files ``*gold_conll``, at any depth, are read in the order of their paths.

    Raises:
        UserError: Naming file and row of what is not in the layout.
    """
    path = Path(path)
    paths = sorted(path.rglob("*gold_conll")) if path.is_dir() else [path]
    if not paths:
        raise UserError(f"{path}: has no file *gold_conll; name a file or a folder of CoNLL-2012 files")
    documents = [
        document
        for file in paths
        for document in parse_conll2012(files.read_text(file, "name a file in the CoNLL-2012 layout"), file)
    ]
    return refuse_repeated(documents, path)


def read_litbank(path: str | Path) -> list[AnnotatedDocument]:
    """Read LitBank's coreference annotations (Bamman et al. 2020) in the order of their names.

    Args:
        path: The archive (.tar.xz) of the files ``coref/conll/*.conll``, which is read in memory.
    """
    documents = []
    for name, content in archives.tar_members(path):
        if name.endswith(".conll"):
            documents += parse_conll2012(content.decode("utf-8-sig"), f"{path}: {name}")
    return sorted(refuse_repeated(documents, path), key=lambda document: document.name)


def litbank_split(documents: list[AnnotatedDocument]) -> dict[str, list[AnnotatedDocument]]:
    """Divide LitBank's documents into parts by a rule of this project.

    The corpus has a ten-fold split of its own, which the file of annotations does not carry. The rule here: of the
    documents in the order of their names, counted from 0, those whose number is 0 modulo 10 are the test part, those
    where it is 1 the development part, all others the training part.

    Returns:
        By part: train, development, test.
    """
    parts = {part: [] for part in PARTS}
    for number, document in enumerate(sorted(documents, key=lambda document: document.name)):
        parts[{0: "test", 1: "development"}.get(number % 10, "train")].append(document)
    return parts


def parse_conll2012(text: str, where: str | Path) -> list[AnnotatedDocument]:
    """Return the documents of a CoNLL-2012 text; ``where`` starts messages.

    Clusters that share a mention, which OntoNotes has a few of, become one, as in the preprocessing of c2f-coref (Lee
    et al. 2018).
    """
    documents, builder = [], None
    for row, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        here = f"{where}, row {row}"
        if line.startswith("#"):
            begin, end = _BEGIN.fullmatch(line), _END.fullmatch(line)
            if begin and builder is None:
                builder = _Builder(begin[1], int(begin[2]), row, where)
            elif end and builder is not None:
                documents.append(builder.document())
                builder = None
            elif begin:
                raise UserError(f"{here}: a document begins before the last one's '#end document'; {_REMEDY}")
            elif end:
                raise UserError(f"{here}: a document ends that did not begin; {_REMEDY}")
            elif builder is None:
                raise UserError(
                    f"{here}: '#begin document (<name>); part <number>' was expected; name a file in the CoNLL-2012 "
                    "layout"
                )
            else:
                raise UserError(f"{here}: not a row of the document '{builder.identifier}'; {_REMEDY}")
        elif not line.strip(" \t"):
            if builder is not None:
                builder.end_sentence()
        elif builder is None:
            raise UserError(f"{here}: a word outside a document; name a file in the CoNLL-2012 layout")
        else:
            builder.add(line, row)
    if builder is not None:
        raise UserError(
            f"{where}, row {builder.row}: the document '{builder.identifier}' has no '#end document'; {_REMEDY}"
        )
    if not documents:
        raise UserError(f"{where}: has no document; name a file in the CoNLL-2012 layout")
    return documents


class _Builder:
    """A document that is being read."""

    def __init__(self, identifier: str, part: int, row: int, where: str | Path):
        self.identifier, self.part, self.row, self.where = identifier, part, row, where
        self.words, self.tags, self.speakers, self.sentences = [], [], [], []
        self.start, self.columns = 0, None
        self.clusters, self.open = {}, {}

    def add(self, line: str, row: int) -> None:
        here = f"{self.where}, row {row}"
        # Tabs keep an empty last cell; spaces only align.
        cells: list[str] = line.split("\t") if "\t" in line else line.split(" ")
        cells = cells if "\t" in line else [cell for cell in cells if cell]
        if len(cells) < FEWEST_COLUMNS:
            raise UserError(
                f"{here}: {count_noun(len(cells), 'column')} where the CoNLL-2012 layout has at least "
                f"{FEWEST_COLUMNS}; {_REMEDY}"
            )
        if self.columns is None:
            self.columns = len(cells)
        elif len(cells) != self.columns:
            raise UserError(
                f"{here}: {count_noun(len(cells), 'column')} where the sentence's first row has {self.columns}; "
                f"{_REMEDY}"
            )
        if cells[IDENTIFIER] != self.identifier or cells[PART].lstrip("0") != str(self.part).lstrip("0"):
            raise UserError(
                f"{here}: a row of '{cells[IDENTIFIER][:100]}', part {cells[PART][:10]}, in the document "
                f"'{self.identifier}', part {self.part}; {_REMEDY}"
            )
        word = ESCAPED.get(cells[WORD], cells[WORD])
        if not word or word != word.strip():
            raise UserError(f"{here}: the word {word[:100]!r} is empty or has spaces around it; {_REMEDY}")
        self._mentions(cells[-1].strip(), row, here)
        self.words.append(word)
        self.tags.append(cells[TAG])
        self.speakers.append(cells[SPEAKER])

    def _mentions(self, cell: str, row: int, here: str):
        index = len(self.words)
        for item in () if cell in ("", *ABSENT_LABELS) else cell.split("|"):
            match = _CELL.fullmatch(item)
            if not match or not (match[1] or match[3]):
                raise UserError(
                    f"{here}: {cell[:100]!r} is not a coreference cell such as (0, 0), (0) or (0|1); correct it"
                )
            number = int(match[2])
            if match[1] and match[3]:
                self.clusters.setdefault(number, set()).add((index, index))
            elif match[1]:
                self.open.setdefault(number, []).append((index, row))
            elif self.open.get(number):
                self.clusters.setdefault(number, set()).add((self.open[number].pop()[0], index))
            else:
                raise UserError(f"{here}: a mention of entity {number} is closed that was not opened; correct it")

    def end_sentence(self) -> None:
        if len(self.words) > self.start:
            self.sentences.append((self.start, len(self.words)))
        self.start, self.columns = len(self.words), None

    def document(self) -> AnnotatedDocument:
        self.end_sentence()
        if not self.words:
            raise UserError(
                f"{self.where}, row {self.row}: the document '{self.identifier}' has no words; leave it out"
            )
        for number, opened in self.open.items():
            if opened:
                raise UserError(
                    f"{self.where}, row {opened[-1][1]}: the mention of entity {number} that begins here is not "
                    "closed; correct it"
                )
        clusters = _joined(self.clusters.values())
        name = self.identifier if self.part == 0 else f"{self.identifier}; part {self.part}"
        if len(clusters) < len(self.clusters):
            log.warning(
                "%s: the document '%s': %d clusters are %d since some share a mention",
                self.where,
                name,
                len(self.clusters),
                len(clusters),
            )
        return AnnotatedDocument(
            name=name,
            words=tuple(self.words),
            sentences=tuple(self.sentences),
            clusters=order_clusters(clusters),
            speakers=_named(self.speakers),
            tags=_named(self.tags),
        )


def _joined(clusters: Iterable[set[tuple[int, int]]]) -> list[set[tuple[int, int]]]:
    """Return clusters of which none share a mention: those that do become one."""
    joined = []
    for cluster in clusters:
        apart = [other for other in joined if not other & cluster]
        joined = [*apart, cluster.union(*(other for other in joined if other & cluster))]
    return joined


def _named(column: Sequence[str]) -> tuple[str, ...] | None:
    return None if all(cell in ABSENT_LABELS for cell in column) else tuple(column)
