# What the rules of corpora read (rules/coreference_corpora.smk). No rules here.

from scripts.core.coreference_systems import augmentation
from scripts.core.coreference_systems import documents as annotated

CORPORA = config["corpora"]


def corpus_source(wildcards):
    """Return what a part of a corpus is read from."""
    if wildcards.corpus == "litbank":
        return upstream("litbank/coref/conll.tar.xz")
    path = CORPORA["ontonotes"][wildcards.part]
    if path is None:
        refuse(
            f"corpora.ontonotes.{wildcards.part} is not set; name a file or folder of OntoNotes in the CoNLL-2012 layout"
        )
    return named(path)


def swapped_names(wildcards):
    """Return the names that are swapped; those that are made anonymous are in a package."""
    if wildcards.method == "acda":
        return []
    if CORPORA["augmentation"]["names"] == "published":
        return [upstream(augmentation.PUBLISHED_NAMES)]
    return ["results/coreference/names/{column}.tsv".format(**CORPORA["augmentation"])]


# Part of speech is known in OntoNotes, and tagged in LitBank.
def corpus_tags(wildcards):
    return [] if wildcards.corpus == "ontonotes" else [f"results/coreference/tags/{wildcards.corpus}/train.jsonl"]
