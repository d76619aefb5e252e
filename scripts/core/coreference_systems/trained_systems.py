"""The coreference systems that are trained here: config/coreference_training.yaml."""

from pathlib import Path
from typing import Any

from scripts.core import config
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models.entries import System, Trained

# OntoNotes 5.0 as CoNLL-2012 divides it (Pradhan et al. 2012): documents, and word pieces of one on average (1.25 a
# word).
TRAINING_DOCUMENTS, DEVELOPMENT_DOCUMENTS = 2802, 343
TRAINING_PIECES, DEVELOPMENT_PIECES = 1.25 * 1_299_312 / 2802, 1.25 * 163_104 / 343


SUFFIXES = {"": "none", "-acda": "a-CDA", "-ncda": "n-CDA"}
"""What a name ends in, by how the training part was augmented, to the debiasing that this is."""


def read_entries(path: str | Path) -> dict[str, dict]:
    """Read the systems, by name, as ``config/schemas/coreference_training.schema.yaml`` describes them."""
    entries = config.load_yaml(path)
    config.validate(entries, config.load_schema("coreference_training"), str(path))
    return entries


def check_sources(systems: dict[str, System], entries: dict[str, dict], file: str) -> None:
    """Refuse systems of the registry that cannot be trained here, though their source says that they are.

    Args:
        entries: Of :func:`read_entries`.
        file: The name that the message starts with.

    Raises:
        UserError: If what is trained is not listed, or was debiased otherwise than the registry says.
    """
    known = {name + suffix: debiasing for name in entries for suffix, debiasing in SUFFIXES.items()}
    for name, system in systems.items():
        if not isinstance(system.source, Trained):
            continue
        trained = system.source.trained
        where = f"{file}: systems.{name}"
        if trained not in known:
            raise UserError(
                f"{where}.source.trained is '{trained}', no system that is trained here "
                f"(config/coreference_training.yaml){did_you_mean(trained, known) or '; correct it'}"
            )
        if system.debiasing != known[trained]:
            raise UserError(f"{where}.debiasing must be {known[trained]}, as that of {trained}; correct it")


def training_tokens(entry: dict, suffix: str) -> dict[str, Any]:
    """Return what training reads of OntoNotes in all epochs, the development part after each epoch too.

    An augmented corpus has every document twice.

    Args:
        entry: Of :func:`read_entries`.
        suffix: Of :data:`SUFFIXES`.

    Returns:
        ``trained`` and ``resolved``: documents; ``trained_tokens`` and ``resolved_tokens``: pieces.
    """
    settings = entry["training"]
    most = settings["max_training_segments"] * entry["model"]["max_segment_pieces"]
    trained = TRAINING_DOCUMENTS * (2 if suffix else 1) * settings["epochs"]
    resolved = DEVELOPMENT_DOCUMENTS * settings["epochs"]
    return {
        "trained": trained,
        "trained_tokens": round(trained * min(TRAINING_PIECES, most)),
        "resolved": resolved,
        "resolved_tokens": round(resolved * DEVELOPMENT_PIECES),
    }
