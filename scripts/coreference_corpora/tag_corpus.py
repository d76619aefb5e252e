"""Find the parts of speech of an annotated corpus with spaCy, in the environment of the coreference systems."""

from scripts.core.coreference_systems import documents as annotated
from scripts.core.coreference_systems import part_of_speech
from scripts.core.coreference_systems.packages.process import interpreter
from scripts.core.workflow.job import log, run


def main(*, documents: str, environment: str, tags: str):
    """Write the ``tags`` of annotated ``documents`` (JSON Lines).

    Args:
        environment: What says where the environment is (JSON): ``python`` is its interpreter.
    """
    corpus = annotated.read(documents)
    tagged, facts = part_of_speech.tag(corpus, interpreter(environment))
    part_of_speech.write(tags, tagged)
    log.info("%d documents, tagged by %s", len(tagged), ", ".join(f"{name} {facts[name]}" for name in facts))


if __name__ == "__main__":
    run(main)
