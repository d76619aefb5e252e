"""Divide a book into sentences with parts of speech, dependencies and named entities, by spaCy."""

from scripts.core.coreference_systems import sentences as parser
from scripts.core.job import log, run


def main(*, text: str, environment: str, sentences: str):
    """Write the ``sentences`` of a ``text`` (Parquet).

    Parameters
    ----------
    environment : str
        What says where the environment is (JSON): ``python`` is its interpreter.
    """
    facts, count = parser.parse(text, environment, sentences)
    log.info("%d sentences, parsed by %s", count, ", ".join(f"{name} {facts[name]}" for name in facts))


if __name__ == "__main__":
    run(main)
