"""Let counterfactual copies follow the training part of a corpus."""

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import augmentation, first_names
from scripts.core.coreference_systems import documents as annotated
from scripts.core.workflow.job import log, run


def main(*, documents: str, words: list, names: list, augmented: str, counts: str, method: str, column: str):
    """Write ``augmented``, the ``documents``, which have tags, and a copy of each (JSON Lines).

    Args:
        words: The gendered words: this project's list, or the study's three.
        names: The file of names and their counterparts for name-based augmentation (TSV); else empty.
        counts: How many words of the corpus are swapped (CSV); in either column as in the study's code.
        method: acda: names become placeholders; ncda: names of the other gender.
        column: faithful: words are swapped as in the study's code; corrected: in their context.
    """
    corpus = annotated.read_documents(documents)
    swaps = augmentation.read_words(*words) if len(words) == 1 else augmentation.read_published_words(*words)
    if method == "acda":
        people = augmentation.number_placeholders(first_names.read_names(first_names.packaged_names()))
    else:
        people = augmentation.read_name_map(*names)
    annotated.write_documents(augmented, augmentation.augment(corpus, swaps, people, column))
    found = augmentation.count_swaps(corpus, swaps, people)
    table = pd.DataFrame(
        [{"method": method, "documents": len(corpus), "words": sum(len(d.words) for d in corpus), **found}]
    )
    files.write_csv(counts, table.rename(columns={"all": "swapped"}))
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main)
