"""Find the parts of speech of an annotated corpus with spaCy, in the environment of the coreference systems."""

from scripts.core.coreference_systems import documents as annotated
from scripts.core.coreference_systems import part_of_speech
from scripts.core.coreference_systems.packages.process import read_interpreter
from scripts.core.workflow.job import log, run


def main(*, documents: str, environment: str, tagged: str):
    """Write annotated ``documents`` with tags to ``tagged`` (JSON Lines).

    Args:
        environment: What says where the environment is (JSON): ``python`` is its interpreter.
    """
    corpus, facts = part_of_speech.tag_documents(annotated.read_documents(documents), read_interpreter(environment))
    annotated.write_documents(tagged, corpus)
    log.info("%d documents, tagged by %s", len(corpus), ", ".join(f"{name} {facts[name]}" for name in facts))


if __name__ == "__main__":
    run(main)
