# Needs the configuration of corpora and systems, and the list of systems that are trained. Makes what the rules of
# coreference read, by the wildcards of a job. No rules here.

from scripts.core.coreference_systems import augmentation, first_names, trained_systems
from scripts.core.coreference_systems import documents as annotated

CORPORA = config["corpora"]
# Systems that are trained here.
TRAINED = call_or_exit(trained_systems.read_entries, repo_path("config/coreference_training.yaml"))
call_or_exit(trained_systems.check_sources, SYSTEMS, TRAINED, "config/models.yaml")
TRAINING_PART = "results/coreference/corpora/ontonotes/train.jsonl"
# A name ends in how its training part was augmented, as -acda.
AUGMENTED = {suffix: suffix.removeprefix("-") for suffix in trained_systems.SUFFIXES}


def corpus_source(wildcards):
    """Return what a part of a corpus is read from."""
    if wildcards.corpus == "litbank":
        return upstream("litbank/coref/conll.tar.xz")
    path = CORPORA["ontonotes"][wildcards.part]
    if path is None:
        exit_with(
            f"corpora.ontonotes.{wildcards.part} is not set; name a file or folder of OntoNotes in the CoNLL-2012 layout"
        )
    return config_path(path)


def swapped_names(wildcards):
    """Return the names that are swapped; those that are made anonymous are in a package."""
    if wildcards.method == "acda":
        return []
    if CORPORA["augmentation"]["names"] == "published":
        return [upstream(augmentation.PUBLISHED_NAMES)]
    return ["results/coreference/names/{column}.tsv".format(**CORPORA["augmentation"])]


def training_part(wildcards):
    """Return the training part of OntoNotes, or the one that changed copies follow."""
    method = AUGMENTED[wildcards.augmented]
    return f"results/coreference/augmented/ontonotes/{method}.jsonl" if method else TRAINING_PART


def system_weights(wildcards):
    """Return the digest of weights in a folder of this machine (rules/common.smk, folder_weights)."""
    return folder_weights(SYSTEMS[wildcards.system].source, whole=True)


def system_package(wildcards):
    """Return the package's folder that a system reads beside its delta, which the job's record names."""
    system = SYSTEMS[wildcards.system]
    return system.source.place if system.has_delta else None
