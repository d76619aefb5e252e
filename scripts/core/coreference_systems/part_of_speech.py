"""Parts of speech of annotated documents by spaCy, which lives in another environment than the workflow.

    python -m scripts.core.coreference_systems.part_of_speech

runs there. Standard input has the words of a sentence a line (JSON); standard output has versions in its first line and
then the tags of a sentence a line.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scripts.core.coreference_systems.packages.process import Process
from scripts.core.coreference_systems.packages.words import PACKAGE
from scripts.core.errors import UserError, count_noun

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument

SENTENCES_AT_ONCE = 256


def tag_documents(
    documents: "Sequence[AnnotatedDocument]", python: str
) -> "tuple[list[AnnotatedDocument], dict[str, str]]":
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
