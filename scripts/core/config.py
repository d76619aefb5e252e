"""Reading, checking and merging YAML configuration, with messages that name the key and the nearest valid one."""

import contextlib
import copy
import difflib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from scripts.core.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from jsonschema import ValidationError


class _UniqueKeys(yaml.constructor.SafeConstructor):
    """Of a loader: a key given twice is an error instead of the last one winning."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            name = self.construct_object(key, deep=True)
            problem = None
            if isinstance(name, list | dict):
                problem = f"{_quoted(name)} cannot be a key"
            elif name in seen:
                problem = f"the key '{_shown(name)}' is given twice (first in line {seen[name]})"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen[name] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


class _Loader(_UniqueKeys, yaml.SafeLoader):
    """The loader whose errors are shown: it names the line and the problem in every case."""


class _FastLoader(_UniqueKeys, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # pyright: ignore[reportGeneralTypeIssues]
    """The same in libyaml, which reads the registry in a tenth of the time."""


def load_yaml(path: str | Path) -> dict:
    """Read one YAML mapping.

    Returns:
        In file order; an empty file gives an empty dict.

    Raises:
        UserError: If the file is missing, is not valid YAML (the message names the line), gives a key twice, or holds
            something else than a mapping.
    """
    return _mapping(path, _parse_yaml(path, _text(path)))


def load_overlay(path: str | Path) -> dict[str, Any]:
    """Read a configuration file that may come with ``--configfile``: YAML or JSON, as Snakemake takes both.

    Snakemake reads such files itself, but lets the last of two equal keys win. Errors as in :func:`load_yaml`, and if
    the file has no key or asks for code to be run (``__use_yte__``).
    """
    text = _text(path)
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _once(path, pairs))
    except (ValueError, RecursionError):
        data = _parse_yaml(path, text)
    data = _mapping(path, data)
    if not data:
        raise UserError(f"{path}: has no key; write one or leave the file out")
    if "__use_yte__" in data:
        raise UserError(f"{path}: the key '__use_yte__' runs code; write plain YAML")
    return data


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); save it as UTF-8") from error


def _parse_yaml(path: str | Path, text: str) -> Any:
    data = _loaded_yaml(path, text)
    _refuse_cycles(path, data, ())
    return data


def _refuse_cycles(path: str | Path, value: Any, within: tuple[Any, ...]) -> None:
    """Refuse an alias to something that it is in."""
    if any(value is outer for outer in within):
        raise UserError(f"{path}: not valid YAML: an alias refers to a value that contains it; write the values out")
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        if isinstance(member, dict | list):
            _refuse_cycles(path, member, (*within, value))


def _loaded_yaml(path: str | Path, text: str) -> Any:
    with contextlib.suppress(yaml.YAMLError):
        if _is_shallow(text):
            return yaml.load(text, Loader=_FastLoader)
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        number = mark.line if mark else None
        # A character that YAML does not know has a position instead.
        position = getattr(error, "position", None)
        if number is None and isinstance(position, int):
            number = text.count("\n", 0, position)
        line = "" if number is None else f", line {number + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
        raise UserError(f"{path}{line}: not valid YAML: {problem}; correct that line") from error
    except RecursionError as error:
        raise UserError(f"{path}: not valid YAML: nested too deeply; write it flatter") from error


def _is_shallow(text: str) -> bool:
    """Whether collections nest a hundred deep at most: libyaml ends the process where Python raises RecursionError."""
    steps = {yaml.MappingStartEvent: 1, yaml.SequenceStartEvent: 1, yaml.MappingEndEvent: -1, yaml.SequenceEndEvent: -1}
    events = yaml.parse(text, Loader=_FastLoader)
    return all(depth <= 100 for depth in itertools.accumulate(steps.get(type(event), 0) for event in events))


def _once(path: str | Path, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    data = {}
    for key, value in pairs:
        if key in data:
            raise UserError(f"{path}: the key '{_shown(key)}' is given twice; remove one")
        data[key] = value
    return data


def _mapping(path: str | Path, data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UserError(f"{path}: expected keys and values at the top level, found {_kind(data)}")
    return data


def configuration_schema(folder: str | Path) -> dict[str, Any]:
    """Return the schema of ``config.yaml``: ``config.schema.yaml`` with a key for each study.

    Args:
        folder: ``config/schemas``; what a study has in the configuration is in ``studies/<study>.schema.yaml`` below
            it.

    Raises:
        UserError: If a schema cannot be read (:func:`load_yaml`).
    """
    schema = load_yaml(Path(folder) / "config.schema.yaml")
    for path in sorted(Path(folder).glob("studies/*.schema.yaml")):
        name = path.name.removesuffix(".schema.yaml")
        of_study = load_yaml(path)
        # A part that names a draft is checked by that draft's own validator.
        of_study.pop("$schema", None)
        schema["properties"][name] = of_study
        schema["required"].append(name)
    return schema


def load_schema(name: str) -> dict[str, Any]:
    """Return a schema of ``config/schemas/``, such as ``record``."""
    return load_yaml(Path(__file__).resolve().parents[2] / f"config/schemas/{name}.schema.yaml")


def merge(base: dict, overlay: dict) -> dict:
    """Return ``base`` with ``overlay`` laid over it: mappings merge key by key, anything else is replaced.

    Neither argument is changed. Snakemake merges several ``--configfile`` in the same way.
    """
    result = copy.deepcopy(base)
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def validate(data: dict, schema: dict, file: str) -> None:
    """Check ``data`` against a JSON Schema (draft 2020-12).

    Unknown keys are reported before anything else, because a misspelt key also makes the right one missing.
    A ``description`` beside a ``pattern``, a choice or the limits of a number in the schema says the rule in words and
    becomes part of the message. What no schema can say is refused first: keys that are not text, and
    numbers that are not finite.

    Args:
        file: The name that the message starts with.

    Raises:
        UserError: One line for the first error, with the nearest valid key or value where there is one.
    """
    import jsonschema
    import jsonschema.validators

    _check_values(data, file, ())
    # To JSON 13.0 is an integer; a seed of 13.0 would be another file's name.
    whole = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=whole)
    errors = [_innermost(e) for e in validator(schema).iter_errors(data)]
    if errors:
        raise UserError(f"{file}: {_sentence(min(errors, key=_urgency))}")


def check(root: Path, overlays: Sequence[str | Path]) -> dict:
    """Check the configuration that overlays make, and before it each file by itself.

    Args:
        root: The repository.
        overlays: In the order of ``--configfile``.

    Returns:
        The configuration.

    Raises:
        UserError: As :func:`load_overlay` and :func:`validate`.
    """
    merged = load_overlay(root / "config.yaml")
    for path in overlays:
        merged = merge(merged, load_overlay(path))
    schema = configuration_schema(root / "config/schemas")
    validate(merged, schema, " with ".join(["config.yaml", *map(str, overlays)]))
    return merged


def check_files(data: dict | list, folders: Sequence[Path], place: tuple = ()) -> None:
    """Refuse a file that the configuration names (a key ``file``) and that is not there; results may be made later.

    Args:
        data: The configuration, or a part of it.
        folders: Where it may be: the working directory and the repository.
        place: Where the part stands.

    Raises:
        UserError: Naming the key and the file.
    """
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if key == "file" and isinstance(value, str) and not value.startswith("results/"):
            if not any((folder / Path(value).expanduser()).is_file() for folder in folders):
                where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*place, key))
                raise UserError(f"{where.removeprefix('.')}: {value}: no such file; correct the path")
        elif isinstance(value, dict | list):
            check_files(value, folders, (*place, key))


def _check_values(value: Any, file: str, place: tuple[str | int, ...]) -> None:
    where = ".".join(map(str, place))
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{file}: {where} is {_quoted(value)}; expected a finite number")
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                name = _quoted(key).strip("'")
                raise UserError(
                    f"{file}: {where + ': ' if where else ''}the key '{name}' is not text; write it in quotes"
                )
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        _check_values(member, file, (*place, key))


def _innermost(error: Any) -> "ValidationError":
    """Follow a failed ``oneOf`` or ``anyOf`` into the branch that shares most keys with what was written."""
    if error.validator not in ("oneOf", "anyOf") or not error.context:
        return error
    branches = {}
    for member in error.context:
        branches.setdefault(member.schema_path[0], []).append(member)
    written = error.instance if isinstance(error.instance, dict) else {}
    offered = [list(branch.get("properties", {})) for branch in error.validator_value]
    # A key that only one branch has tells which kind was meant; a key that all have tells nothing.
    weight = {key: 1 / sum(key in names for names in offered) for names in offered for key in names}

    def likeness(i: int) -> tuple[float, ...]:
        exact = sum(weight[key] for key in written if key in offered[i])
        near = sum(
            max(_ratio(key, name) for name in offered[i]) for key in written if key not in offered[i] and offered[i]
        )
        return exact, near, -len(branches[i])

    members = [_innermost(member) for member in branches[max(branches, key=likeness)]]
    return min(members, key=_urgency)


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, str(a), str(b)).ratio()


def _urgency(error: "ValidationError") -> tuple[bool, str]:
    return error.validator != "additionalProperties", _dotted(error)


def _sentence(error: Any) -> str:
    where, value, limit = _dotted(error) or "the file", error.instance, error.validator_value
    hint = error.schema.get("description") if isinstance(error.schema, dict) else None
    match error.validator:
        case "additionalProperties":
            known = list(error.schema.get("properties", {}))
            unknown = next(key for key in value if key not in known)
            name = ".".join([*map(str, error.absolute_path), str(unknown)])
            return f"unknown key '{_shown(name)}'{did_you_mean(unknown, known) or f'; expected one of {_list(known)}'}"
        case "required":
            missing = next(key for key in limit if key not in value)
            return f"{where} lacks the key '{missing}'; add it"
        case "enum":
            return f"{where} is {_quoted(value)}; expected one of {_list(limit)}{did_you_mean(value, limit)}"
        case "const":
            return f"{where} is {_quoted(value)}; expected {limit}"
        case "type":
            expected = [limit] if isinstance(limit, str) else limit
            return f"{where} is {_quoted(value)} ({_kind(value)}); expected {' or '.join(_TYPES[t] for t in expected)}"
        case "not" if limit == {}:
            return f"{where} does not belong here; remove it"
        case "uniqueItems":
            repeated = next(entry for i, entry in enumerate(value) if entry in value[:i])
            return f"{where}: {_quoted(repeated)} is listed twice; remove one"
        case "contains" if "const" in limit:
            return f"{where} lacks {limit['const']}; add it"
        case _ if error.validator in _SIZES:
            entries = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
            return f"{where} has {entries}; expected {_SIZES[error.validator]} {limit}"
    if "propertyNames" in error.absolute_schema_path:
        return f"{where}: the name '{_shown(value)}' is not allowed; {hint or error.message}"
    if hint:
        return f"{where} is {_quoted(value)}; expected {hint}"
    if error.validator in _NUMBERS:
        return f"{where} is {_quoted(value)}; expected {_NUMBERS[error.validator]} {limit}"
    if error.validator == "minLength":
        return f"{where} is {_quoted(value)}; expected a text of at least {limit} characters"
    return f"{where}: {error.message.splitlines()[0]}"


_NUMBERS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
_SIZES = {"minItems": "at least", "minProperties": "at least", "maxItems": "at most", "maxProperties": "at most"}


_TYPES = {
    "object": "keys and values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    kinds = {dict: "keys and values", list: "a list", str: "text", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)


def _quoted(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "a mapping"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float) and not math.isfinite(value):
        return "'.nan'" if math.isnan(value) else "'.inf'" if value > 0 else "'-.inf'"
    return f"'{_shown(value)}'"


def _shown(value: Any) -> str:
    """Return a value as text of one line, cut off where it is long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value)[:121])
    return text if len(text) <= 120 else text[:120] + "…"


def _list(values: Iterable[Any]) -> str:
    return ", ".join("null" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values)


def _dotted(error: "ValidationError") -> str:
    return ".".join(str(part) for part in error.absolute_path)


def set_in(key: str, configfiles: Sequence[str | Path], root: Path) -> str:
    """Return the file that gives a key of the configuration its value: the last overlay that has it, or config.yaml.

    Args:
        key: With dots between the levels.
        configfiles: The overlays, the later ones stronger.
        root: The repository.
    """
    for path in [*reversed(configfiles), Path(root) / "config.yaml"]:
        value = load_yaml(path)
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            return str(path)
    return str(Path(root) / "config.yaml")
