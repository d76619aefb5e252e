"""The coreference systems that are trained here: config/coreference_training.yaml."""

from pathlib import Path

import yaml

from scripts.core.errors import UserError

KEYS = ("label", "encoder", "data", "model", "training")
DATA = ("litbank", "ontonotes")
_ENCODERS = ({"hub"}, {"hub", "revision"}, {"path"}, {"package", "version", "folder"})


def read_entries(path):
    """Read the systems and how each is trained.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict of str to dict
        By name: ``label``, ``encoder``, ``data``, ``model`` (see
        :class:`scripts.core.coreference_systems.c2f.model.Configuration`) and ``training`` (see
        :class:`scripts.core.coreference_systems.training.Settings`); the values of the last two are checked where
        they are used.

    Raises
    ------
    UserError
        Naming the system and the key, for one that is missing, unknown or of another kind.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: cannot be read as YAML ({' '.join(str(error).split())}); correct it") from error
    if not isinstance(entries, dict):
        raise UserError(f"{path}: a mapping of systems' names was expected; correct it")
    for name, entry in entries.items():
        where = f"{path}: {name}"
        if not isinstance(entry, dict):
            raise UserError(f"{where}: a mapping with {', '.join(KEYS)} was expected; correct it")
        for key in KEYS:
            if key not in entry:
                raise UserError(f"{where}: '{key}' is missing; add it")
            if not isinstance(entry[key], str if key in ("label", "data") else dict):
                kind = "text" if key in ("label", "data") else "a mapping"
                raise UserError(f"{where}: '{key}' must be {kind}; correct it")
        unknown = sorted(set(entry) - set(KEYS))
        if unknown:
            raise UserError(f"{where}: '{unknown[0]}' is unknown; remove it")
        if entry["data"] not in DATA:
            raise UserError(f"{where}: data is '{entry['data']}', none of {', '.join(DATA)}; correct it")
        if set(entry["encoder"]) not in _ENCODERS:
            raise UserError(f"{where}: the encoder needs hub, path, or package, version and folder; correct it")
    return entries
