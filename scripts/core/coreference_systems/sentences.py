"""Sentences of a text with parts of speech, dependencies and named entities, by spaCy in another environment.

    python -m scripts.core.coreference_systems.sentences TEXT

runs there. A text has a paragraph a line and empty lines between them; each paragraph is divided into sentences by
itself, and one that is a form feed ends a section. Standard output has versions in its first line and then a sentence a
line (JSON, as :data:`COLUMNS`). Nothing but a batch of paragraphs is in memory at a time.
"""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.coreference_systems.packages.process import Process, read_interpreter
from scripts.core.coreference_systems.packages.words import PACKAGE

COLUMNS = ("section", "start", "end", "starts", "ends", "tags", "dependencies", "heads", "entities")
"""A sentence's section (from 0), where it begins and ends in the text (half-open, in characters), and of each token the
same, its tag (Penn Treebank), its dependency, the place of its head in the sentence (its own for the root) and its
named entity (``B-PERSON``, ``I-PERSON``, empty outside). White space is no token."""
BREAK = "\f"
"""The paragraph that ends a section."""
SENTENCES_AT_ONCE = 4096
"""Sentences of a row group, which is what a reader has in memory."""
_PARAGRAPHS_AT_ONCE = 64


def parse_text(text: str | Path, environment: str | Path, sentences: str | Path) -> tuple[dict[str, str], int]:
    """Parse a text and write its sentences as Parquet, atomically; versions are in the file's metadata (``parser``).

    Args:
        text: UTF-8.
        environment: What says where the environment is (JSON with the key ``python``).
        sentences: With the columns :data:`COLUMNS`.

    Returns:
        Versions of what parsed it, and the number of sentences.

    Raises:
        UserError: If the environment does not parse, with the last line of what it said.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    process = Process(
        f"the parser of {text}",
        read_interpreter(environment),
        "scripts.core.coreference_systems.sentences",
        [str(text)],
    )
    whole, texts = pa.list_(pa.int32()), pa.list_(pa.string())
    schema = pa.schema(
        [
            *((name, pa.int32()) for name in COLUMNS[:3]),
            *((name, whole if name in ("starts", "ends", "heads") else texts) for name in COLUMNS[3:]),
        ]
    )
    facts, count = process.receive(), 0
    stored = schema.with_metadata({"parser": json.dumps(facts, sort_keys=True)})
    with (
        files.write_atomically(sentences) as temporary,
        pq.ParquetWriter(temporary, stored, compression="zstd", write_page_checksum=True) as writer,
    ):
        answers = (dict(zip(COLUMNS, answer, strict=True)) for answer in process.answers())
        while rows := list(itertools.islice(answers, SENTENCES_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return facts, count


def split_paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the paragraphs of a text as (section, start, paragraph), with their places in the text.

    Args:
        lines: A text's lines with their ends (``\\n``); a paragraph has one line.

    Examples:
        >>> list(split_paragraphs(["One.\\n", "\\n", "\\f\\n", "\\n", "Two.\\n"]))
        [(0, 0, 'One.'), (1, 9, 'Two.')]
    """
    section = start = 0
    for line in lines:
        paragraph = line.removesuffix("\n")
        if paragraph == BREAK:
            section += 1
        elif paragraph:
            yield section, start, paragraph
        start += len(line)


def main() -> None:
    """Parse the text that the command line names; runs in the other environment."""
    import importlib.metadata

    import spacy  # pyright: ignore[reportMissingImports]

    pipeline = spacy.load(PACKAGE, exclude=["lemmatizer"])
    print(json.dumps({name: importlib.metadata.version(name) for name in ("spacy", PACKAGE)}))
    # Lines end with line feeds alone: a form feed is a paragraph.
    with Path(sys.argv[1]).open(encoding="utf-8", newline="\n") as lines:
        pieces = ((paragraph, (section, start)) for section, start, paragraph in split_paragraphs(lines))
        for document, (section, offset) in pipeline.pipe(pieces, as_tuples=True, batch_size=_PARAGRAPHS_AT_ONCE):
            for sentence in document.sents:
                tokens = [token for token in sentence if not token.is_space]
                if tokens:
                    print(json.dumps([section, *_describe_sentence(tokens, offset)]))


def _describe_sentence(tokens: Sequence[Any], offset: int) -> tuple:
    places = {token.i: place for place, token in enumerate(tokens)}
    starts = [offset + token.idx for token in tokens]
    ends = [offset + token.idx + len(token) for token in tokens]
    return (
        starts[0],
        ends[-1],
        starts,
        ends,
        [token.tag_ for token in tokens],
        [token.dep_ for token in tokens],
        # White space, which is left out, heads nothing that matters; such a token counts as a root.
        [places.get(token.head.i, place) for place, token in enumerate(tokens)],
        [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "" for token in tokens],
    )


if __name__ == "__main__":
    main()
