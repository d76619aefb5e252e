"""Reading, merging and checking YAML configuration; messages name file, line, key and the nearest valid one."""

import copy
import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from scripts.core.errors import UserError, did_you_mean

DEEPEST = 100
"""Nested deeper, libyaml ends the process where Python raises RecursionError."""
MOST_ALIASED = 10_000
"""Values that the aliases of a file may add."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # pyright: ignore[reportGeneralTypeIssues]
    """A key that is given twice or is not text is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            name, problem = self.construct_object(key, deep=True), None
            if isinstance(name, list | dict):
                problem = f"{_quoted(name)} cannot be a key"
            elif not isinstance(name, str):
                problem = f"the key '{_as_yaml(name)}' is not text; write it in quotes"
            elif name in seen:
                problem = f"the key '{_one_line(name)}' is given twice (first in line {seen[name]})"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen[name] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def load_yaml(path: str | Path) -> dict:
    """Read one YAML mapping, in file order; an empty file gives an empty dict.

    Raises:
        UserError: If the file is missing, is not valid YAML (the message names the line), gives a key twice, multiplies
            values by aliases, or holds something else than a mapping.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; correct the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); save it as UTF-8") from error
    try:
        data = _parse_yaml(path, text)
    # Dates that no calendar has, and numbers of thousands of digits, are a ValueError without a line.
    except (yaml.YAMLError, ValueError) as error:
        # A character that YAML does not know has a position instead of a mark.
        mark, position = getattr(error, "problem_mark", None), getattr(error, "position", None)
        number = mark.line if mark else None if position is None else text.count("\n", 0, position)
        line = "" if number is None else f", line {number + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
        raise UserError(f"{path}{line}: not valid YAML: {problem}; correct {'that line' if line else 'it'}") from error
    if data is not None and not isinstance(data, dict):
        raise UserError(f"{path}: expected keys and values at the top level, found {_kind_of(data)}")
    return data or {}


def _parse_yaml(path: str | Path, text: str) -> Any:
    steps = {yaml.MappingStartEvent: 1, yaml.SequenceStartEvent: 1, yaml.MappingEndEvent: -1, yaml.SequenceEndEvent: -1}
    depths = itertools.accumulate(steps.get(type(event), 0) for event in yaml.parse(text, Loader=_Loader))
    if any(depth > DEEPEST for depth in depths):
        raise UserError(f"{path}: not valid YAML: nested too deeply; write it flatter")
    loader: Any = _Loader(text)
    node = loader.get_single_node()
    if node is None:
        return None
    known: dict[int, int] = {}
    if _count_values(path, node, known, ()) > len(known) + MOST_ALIASED:
        raise UserError(f"{path}: not valid YAML: aliases add more than {MOST_ALIASED:,} values; write them out")
    return loader.construct_document(node)


def _count_values(path: str | Path, node: yaml.Node, known: dict[int, int], within: tuple[int, ...]) -> int:
    """Return how many values a node holds, an alias counted each time; refuse an alias to something that it is in."""
    if id(node) in within:
        raise UserError(f"{path}: not valid YAML: an alias refers to a value that contains it; write the values out")
    if id(node) not in known:
        members = node.value if isinstance(node.value, list) else []
        inner = itertools.chain.from_iterable(member if isinstance(member, tuple) else (member,) for member in members)
        known[id(node)] = 1 + sum(_count_values(path, member, known, (*within, id(node))) for member in inner)
    return known[id(node)]


def load_overlay(path: str | Path) -> dict[str, Any]:
    """Read a configuration file that may come with ``--configfile``, of which Snakemake lets the last of two keys win.

    Errors as in :func:`load_yaml`, and if the file has no key or asks for code to be run (``__use_yte__``).
    """
    data = load_yaml(path)
    if not data:
        raise UserError(f"{path}: has no key; write one or leave the file out")
    if "__use_yte__" in data:
        raise UserError(f"{path}: the key '__use_yte__' runs code; write plain YAML")
    return data


def configuration_schema(folder: str | Path) -> dict[str, Any]:
    """Return the schema of ``config.yaml``: ``config.schema.yaml`` of a folder, with a key for each of its studies."""
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
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merge(result[key], value) if both else copy.deepcopy(value)
    return result


def check_named_files(data: dict | list, folders: Sequence[Path], place: tuple = ()) -> None:
    """Refuse a file that a key ``file`` names and that no folder has; results may be made later."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if key == "file" and isinstance(value, str) and not value.startswith("results/"):
            if not any((folder / Path(value).expanduser()).is_file() for folder in folders):
                where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*place, key))
                raise UserError(f"{where.removeprefix('.')}: {value}: no such file; correct the path")
        elif isinstance(value, dict | list):
            check_named_files(value, folders, (*place, key))


PRINTABLE = re.compile("[ -~¡-¬®-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-ž–—‘’“”…€→−]*")
"""Characters that both the typeface of the figures and pdfLaTeX have."""


def validate(data: dict, schema: dict, *names: str) -> None:
    """Check ``data`` against a JSON Schema (draft 2020-12).

    Unknown keys are reported before anything else, because a misspelt key also makes the right one missing. A
    ``description`` beside a ``pattern``, a choice or the limits of a number in the schema says the rule in words and
    becomes part of the message.

    Args:
        names: Of the files that ``data`` is merged from, the strongest last. The message begins with the one that has
            the value, and its line.

    Raises:
        UserError: One line for the most telling error, with the nearest valid key or value where there is one.
    """
    from jsonschema.exceptions import relevance

    errors = [*map(_intended_error, _validator()(schema, format_checker=_format_checker()).iter_errors(data))]
    if not errors:
        return
    unknown = [error for error in errors if error.validator == "additionalProperties"]
    error: Any = max(unknown or errors, key=relevance)
    place = [*error.absolute_path]
    if error.validator == "additionalProperties":
        place.append(next(key for key in error.instance if key not in error.schema.get("properties", {})))
    raise UserError(
        f"{_find_line(names, place, error.instance)}: {_describe_problem(error, '.'.join(map(str, place)))}"
    )


@functools.cache
def _format_checker() -> Any:
    """Return jsonschema's formats and ``printed``: text that figures and the paper can set."""
    import jsonschema

    checker = jsonschema.FormatChecker()
    checker.checks("printed")(lambda value: not isinstance(value, str) or bool(PRINTABLE.fullmatch(value)))
    return checker


@functools.cache
def _validator() -> Any:
    """Return jsonschema's validator, stricter where JSON and Python differ from what a configuration means."""
    import jsonschema
    import jsonschema.validators

    def pattern(validator: Any, limit: str, value: Any, _: Any) -> Iterator[jsonschema.ValidationError]:
        # To Python, $ also stands before the end of a last line.
        strict = re.sub(r"\$(?=\)|\||$)", r"\\Z", limit)
        if validator.is_type(value, "string") and not re.search(strict, value):
            yield jsonschema.ValidationError(f"{value!r} does not match {limit!r}")

    def is_number(_: Any, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf

    # To JSON 13.0 is an integer; a seed of 13.0 would be another file's name.
    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": is_number, "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool)}
    )
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": pattern}, type_checker=types)


def _intended_error(error: Any) -> Any:
    """Return the error of the branch of ``oneOf`` or ``anyOf`` that was meant; of texts and numbers all may be."""
    from jsonschema.exceptions import relevance

    if error.validator not in ("oneOf", "anyOf") or not isinstance(error.instance, dict | list):
        return error
    branches = range(len(error.validator_value))
    if isinstance(error.instance, dict):
        known = [list(branch.get("properties", {})) for branch in error.validator_value]
        alike = [sum(bool(did_you_mean(key, names, 0.8)) for key in error.instance) for names in known]
        branches = [alike.index(max(alike))] if any(alike) else branches
    inner = [_intended_error(member) for member in error.context if member.schema_path[0] in branches]
    inner = [member for member in inner if member.path or member.validator not in ("type", "const", "enum")]
    unknown = [member for member in inner if member.validator == "additionalProperties"]
    return max(unknown or inner, key=relevance, default=error)


def _find_line(names: Sequence[str], place: Sequence, value: Any) -> str:
    """Return the name and line of the last file that has a place (and that value), or else the names of all."""
    for name in reversed(names):
        node: Any = (
            yaml.compose(Path(name).read_text(encoding="utf-8"), Loader=_Loader) if Path(name).is_file() else None
        )
        mark = None
        for part in place:
            members = node.value if isinstance(node, yaml.CollectionNode) else []
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in members if pair[0].value == part), None)
            else:
                found = (members[part],) * 2 if isinstance(part, int) and part < len(members) else None
            mark, node = (found[0].start_mark, found[1]) if found else (None, None)
        same = not isinstance(node, yaml.ScalarNode) or yaml.safe_load(yaml.serialize(node)) == value
        if mark and (same or value is None or isinstance(value, dict | list)):
            return f"{name}, line {mark.line + 1}"
    return " with ".join(names)


def _describe_problem(error: Any, place: str) -> str:
    where, value, limit = place or "the file", error.instance, error.validator_value
    hint = error.schema.get("description") if isinstance(error.schema, dict) else None
    match error.validator:
        case "additionalProperties":
            known = list(error.schema.get("properties", {}))
            close = did_you_mean(place.rpartition(".")[2], known)
            return f"unknown key '{_one_line(place)}'{close or f'; expected one of {_join_values(known)}'}"
        case "required":
            return f"{where} lacks the key '{next(key for key in limit if key not in value)}'; add it"
        case "enum":
            return f"{where} is {_quoted(value)}; expected one of {_join_values(limit)}{did_you_mean(value, limit)}"
        case "type":
            return f"{where} is {_quoted(value)} ({_kind_of(value)}); expected {_describe_schema({'type': limit})}"
        case "not" if limit == {}:
            return f"{where} does not belong here; remove it"
        case "uniqueItems":
            repeated = next(entry for n, entry in enumerate(value) if entry in value[:n])
            return f"{where}: {_quoted(repeated)} is listed twice; remove one"
        case "contains" if "const" in limit:
            return f"{where} lacks {limit['const']}; add it"
        case "minItems" | "minProperties" | "maxItems" | "maxProperties":
            bound = "at least" if error.validator.startswith("min") else "at most"
            return f"{where} has {len(value)} {'entry' if len(value) == 1 else 'entries'}; expected {bound} {limit}"
    if "propertyNames" in error.absolute_schema_path:
        return f"{where}: the name '{_one_line(value)}' is not allowed; {hint or error.message}"
    return f"{where} is {_quoted(value)}; expected {hint or _describe_schema(error.schema)}"


TYPES = {
    "object": "keys and values", "array": "a list", "string": "text", "integer": "a whole number",
    "number": "a number", "boolean": "true or false", "null": "null",
}  # fmt: skip
KINDS = {
    dict: "keys and values", list: "a list", str: "text", bool: "true or false", type(None): "nothing",
    int: "a number", float: "a number",
}  # fmt: skip
BOUNDS = {
    "minimum": "of at least {}", "maximum": "of at most {}", "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}", "minLength": "of at least {} characters", "maxLength": "of at most {} characters",
}  # fmt: skip


def _describe_schema(schema: Any) -> str:
    """Return in words what a schema takes."""
    if "const" in schema or "enum" in schema:
        return _join_values(schema.get("enum", [schema.get("const")]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_describe_schema(branch) for branch in schema[key]))
    kinds = schema.get("type", [])
    words = " or ".join(TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    bounds = [text.format(schema[key]) for key, text in BOUNDS.items() if key in schema]
    return " ".join([words or "another value", " and ".join(bounds)]).strip()


def _kind_of(value: Any) -> str:
    infinite = isinstance(value, float) and not math.isfinite(value)
    return "not finite" if infinite else KINDS.get(type(value), "a date")


def _as_yaml(value: Any) -> str:
    """Return a value as YAML writes it."""
    return str(value) if isinstance(value, str) else yaml.safe_dump(value).splitlines()[0]


def _quoted(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "a mapping"
    return _as_yaml(value) if isinstance(value, bool) or value is None else f"'{_one_line(_as_yaml(value))}'"


def _one_line(value: Any) -> str:
    """Return a value as text of one line, cut off where it is long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value)[:121])
    return text if len(text) <= 120 else text[:120] + "…"


def _join_values(values: Any) -> str:
    return ", ".join(map(_as_yaml, values))
