"""The checkpoints that can be converted: config/coreference_conversion.yaml."""

from pathlib import Path

from scripts.core import config
from scripts.core.errors import UserError, did_you_mean

FORMATS = ("coref-hoi", "tensorflow")
KINDS = {"format": str, "folder": str, "weights": str, "encoder": str, "vocabulary": str, "settings": dict}


def read_entries(path: str | Path) -> dict[str, dict]:
    """Read which checkpoints there are and of what kind.

    Returns:
        By name: ``format`` (one of :data:`FORMATS`), ``folder``, and in it the files ``weights`` (of TensorFlow's what
        their names begin with), ``encoder`` and ``vocabulary``; ``settings``, which are checked where they are used.

    Raises:
        UserError: Naming the system and the key, for one that is missing, unknown or of another kind.
    """
    entries = config.load_yaml(path)
    for name, entry in entries.items():
        where = f"{path}: {name}"
        if not isinstance(entry, dict):
            raise UserError(f"{where}: a mapping with {', '.join(KINDS)} was expected; correct it")
        for key, kind in KINDS.items():
            if key not in entry:
                raise UserError(f"{where}: '{key}' is missing; add it")
            if not isinstance(entry[key], kind) or not entry[key]:
                raise UserError(f"{where}: '{key}' must be {'text' if kind is str else 'a mapping'}; correct it")
        for key in entry:
            if key not in KINDS:
                raise UserError(f"{where}: '{key}' is unknown{did_you_mean(key, KINDS)}; remove it")
        if entry["format"] not in FORMATS:
            raise UserError(f"{where}: format is '{entry['format']}', none of {', '.join(FORMATS)}; correct it")
    return entries


def checkpoint_files(entry: dict, folder: str | Path) -> dict[str, str]:
    """Return the files of an entry's checkpoint: one of PyTorch, index and values of TensorFlow's.

    Args:
        entry: As of :func:`read_entries`.
        folder: Where the entry's folder is.
    """
    weights = str(Path(folder) / entry["weights"])
    if entry["format"] == "tensorflow":
        return {"index": f"{weights}.index", "values": f"{weights}.data-00000-of-00001"}
    return {"weights": weights}
