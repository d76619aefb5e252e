"""Read one part of an annotated corpus."""

from scripts.core.coreference_systems import conll
from scripts.core.coreference_systems import documents as annotated
from scripts.core.workflow.job import log, run


def main(*, source: str, documents: str, corpus: str, part: str):
    """Write the annotated ``documents`` of a part (JSON Lines).

    Args:
        source: LitBank's archive; of OntoNotes the file or folder of this part alone.
        corpus: litbank or ontonotes.
        part: train, development or test.
    """
    if corpus == "litbank":
        found = conll.litbank_split(conll.read_litbank(source))[part]
    else:
        found = conll.read_conll2012(source)
    annotated.write_documents(documents, found)
    words, mentions = (sum(map(len, lists)) for lists in zip(*((d.words, d.mentions) for d in found), strict=True))
    log.info("%s, %s: %d documents, %d words, %d mentions", corpus, part, len(found), words, mentions)


if __name__ == "__main__":
    run(main)
