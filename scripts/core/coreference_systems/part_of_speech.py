"""Parts of speech of annotated documents by spaCy, which lives in another environment than the workflow.

    python -m scripts.core.coreference_systems.part_of_speech

runs there. Standard input has the words of a sentence a line (JSON); standard output has versions in its first line and
then the tags of a sentence a line.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.core import files
from scripts.core.coreference_systems.packages.process import Process
from scripts.core.coreference_systems.packages.words import PACKAGE
from scripts.core.errors import UserError, count_noun

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

SENTENCES_AT_ONCE = 256


def tag(documents: "Sequence[AnnotatedDocument]", python: str) -> "tuple[list[AnnotatedDocument], dict[str, str]]":
    """Tag documents with spaCy.

    Args:
        python: The interpreter of an environment that has spaCy and its pipeline.

    Returns:
        The documents with tags of the Penn Treebank, and versions of what tagged them.

    Raises:
        UserError: If the environment does not tag, with the last line of what it said, or a sentence gets more or fewer
            tags than it has words.
    """
    process = Process("the tagger", python, "scripts.core.coreference_systems.part_of_speech")
    process.send([d.words[start:end] for d in documents for start, end in d.sentences], last=True)
    facts, found = process.receive(), list(process.answers())
    if len(found) != sum(len(document.sentences) for document in documents):
        raise process.ended()
    answers, tagged = iter(found), []
    for document in documents:
        tags = []
        for number, (start, end) in enumerate(document.sentences, 1):
            of_sentence = next(answers)
            if len(of_sentence) != end - start:
                raise UserError(
                    f"sentence {number} of the document '{document.name}' has {count_noun(end - start, 'word')} and "
                    f"got {count_noun(len(of_sentence), 'tag')}; use a tagger that keeps words as they are"
                )
            tags += of_sentence
        tagged.append(replace(document, tags=tuple(tags)))
    return tagged, facts


def write(path: str | Path, documents: "Iterable[AnnotatedDocument]") -> None:
    """Write the tags of documents as JSON Lines, one document a line, atomically."""
    lines = [json.dumps({"name": document.name, "tags": document.tags}) + "\n" for document in documents]
    files.write_text(path, "".join(lines))


def read(path: str | Path, documents: "Sequence[AnnotatedDocument]") -> "list[AnnotatedDocument]":
    """Return documents with the tags that :func:`write` wrote for them.

    Raises:
        UserError: If the file is damaged, or has not one tag for each word of the same documents in the same order.
    """
    remedy = "delete the file and run the workflow again"
    lines = files.read_text(path, remedy).removesuffix("\n").split("\n")
    if len(lines) != len(documents):
        raise UserError(f"{path}: has tags of {count_noun(len(lines), 'document')}, not of {len(documents)}; {remedy}")
    tagged = []
    for row, (line, document) in enumerate(zip(lines, documents, strict=True), 1):
        where = f"{path}, row {row}"
        try:
            entry = json.loads(line)
            name, tags = entry["name"], tuple(entry["tags"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{where}: the tags of a document were expected; {remedy}") from error
        if name != document.name or len(tags) != len(document.words):
            raise UserError(
                f"{where}: {count_noun(len(tags), 'tag')} of '{name}' where '{document.name}' has "
                f"{count_noun(len(document.words), 'word')}; {remedy}"
            )
        tagged.append(replace(document, tags=tags))
    return tagged


def main() -> None:
    """Tag the sentences of standard input; runs in the other environment."""
    import importlib.metadata

    import spacy  # pyright: ignore[reportMissingImports]
    from spacy.tokens import Doc  # pyright: ignore[reportMissingImports]

    pipeline = spacy.load(PACKAGE, exclude=["parser", "lemmatizer", "ner"])
    print(json.dumps({name: importlib.metadata.version(name) for name in ("spacy", PACKAGE)}))
    sentences = (Doc(pipeline.vocab, words=json.loads(line)) for line in sys.stdin)
    for sentence in pipeline.pipe(sentences, batch_size=SENTENCES_AT_ONCE):
        print(json.dumps([word.tag_ for word in sentence]))


if __name__ == "__main__":
    main()
