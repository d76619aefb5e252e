"""Every key of config/schemas/ refuses what its schema does not take; the cases follow from the schemas.

A case changes one place of a document that is right: an unknown key, a missing one, a value of another type or beyond a
bound. The message names the place.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import yaml

from scripts.core import config
from scripts.core.errors import UserError
from tests.conftest import ROOT

# What an alias repeats is changed in one place alone.
EXAMPLES = json.loads(json.dumps(yaml.safe_load((ROOT / "tests/schema_examples.yaml").read_text(encoding="utf-8"))))
"""By schema: a document with every key; of the configuration those that config.yaml lacks."""
OTHERS: dict[str, Any] = {"string": 7, "integer": "x", "number": "x", "boolean": "x", "array": "x", "object": "x"}
"""For each type a value of another."""
MORE_TELLING = {"models.gone.available": "models.gone"}
"""Places that something else is said of first: here that a model which can be run needs a source."""
Place = tuple[str | int, ...]


def inlined(part: Any, root: dict) -> Any:
    """Return a part of a schema with what its references lead to in their place."""
    if isinstance(part, list):
        return [inlined(member, root) for member in part]
    if not isinstance(part, dict):
        return part
    root = part if "$id" in part or "$defs" in part else root
    if isinstance(part.get("$ref"), str):
        target: Any = root
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[int(step)] if isinstance(target, list) else target[step]
        part = target | {key: value for key, value in part.items() if key != "$ref"}
    return {key: inlined(value, root) for key, value in part.items() if key != "$defs"}


def alternatives(part: dict, value: Any) -> list[dict]:
    """Return the parts of a schema that a value has to meet: of alternatives the one that it meets."""
    chosen = [
        branch
        for branch in [*part.get("oneOf", []), *part.get("anyOf", [])]
        if jsonschema.Draft202012Validator(branch).is_valid(value)
    ]
    return [part, *(inner for branch in chosen for inner in alternatives(branch, value))]


def places(part: dict, value: Any, place: Place = ()) -> Iterator[tuple[Place, list[dict], Any]]:
    """Yield each place of a document with the parts of the schema that it has to meet, and its value."""
    parts = alternatives(part, value)
    yield place, parts, value
    for one in parts:
        if isinstance(value, list) and "items" in one:
            for number, member in enumerate(value):
                yield from places(one["items"], member, (*place, number))
        for key, member in value.items() if isinstance(value, dict) else ():
            below = one.get("properties", {}).get(key, one.get("additionalProperties"))
            if isinstance(below, dict):
                yield from places(below, member, (*place, key))


def wrong_values(parts: list[dict]) -> Iterator[Any]:
    """Yield values beyond each type and bound of a place."""
    joined = {key: limit for part in parts for key, limit in part.items()}
    if (kinds := joined.get("type")) and not {"oneOf", "anyOf"} & joined.keys():
        kinds = [kinds] if isinstance(kinds, str) else kinds
        yield next(other for kind, other in OTHERS.items() if kind in kinds and (other == 7 or "string" not in kinds))
    if "enum" in joined or "const" in joined:
        yield "no such value"
    for bound, step in (("minimum", -1), ("exclusiveMinimum", 0), ("maximum", 1), ("exclusiveMaximum", 0)):
        if bound in joined:
            yield joined[bound] + step
    if "pattern" in joined:
        yield "\n"
    if joined.get("minLength"):
        yield ""
    if joined.get("minItems"):
        yield []
    if joined.get("minProperties"):
        yield {}


def changed(document: dict, place: Place, value: Any) -> dict:
    """Return a copy of a document with another value at a place; without the place where the value is Ellipsis."""
    copied = copy.deepcopy(document)
    *above, last = place
    parent: Any = copied
    for step in above:
        parent = parent[step]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return copied


def cases(schema: dict, document: dict) -> Iterator[tuple[dict, str]]:
    """Yield changed documents, each with what the message must name."""
    for place, parts, value in places(schema, document):
        where = ".".join(map(str, place))
        for part in parts:
            for key in part.get("required", []):
                less = {name: member for name, member in value.items() if name != key}
                # Without the key another alternative may be meant, or be right.
                if part is parts[0] or not jsonschema.Draft202012Validator(parts[0]).is_valid(less):
                    yield changed(document, (*place, key), ...), f"the key '{key}'" if part is parts[0] else where
            if part.get("additionalProperties") is False:
                yield changed(document, (*place, "zzz"), 1), f"unknown key '{f'{where}.zzz'.removeprefix('.')}'"
        # An entry of a list may be what the list has to have.
        named = where.rstrip(".0123456789")
        for wrong in wrong_values(parts) if place else ():
            yield changed(document, place, wrong), MORE_TELLING.get(named, named)
        if isinstance(value, list) and value and any(part.get("uniqueItems") for part in parts):
            yield changed(document, place, [*value, value[0]]), named


def properties(part: Any) -> Iterator[tuple[str, dict]]:
    """Yield all keys that a schema knows, with what it says of them, but for those of its conditions."""
    if isinstance(part, list):
        for member in part:
            yield from properties(member)
    if isinstance(part, dict):
        yield from part.get("properties", {}).items()
        for key, member in part.items():
            if key == "properties":
                yield from properties([*member.values()])
            elif key in ("items", "additionalProperties", "oneOf", "anyOf"):
                yield from properties(member)


def read(name: str) -> tuple[dict, dict]:
    """Return a schema and a document with all of its keys."""
    if name == "config":
        schema, written = config.configuration_schema(ROOT / "config/schemas"), config.load_yaml(ROOT / "config.yaml")
        return schema, config.merge(written, EXAMPLES[name])
    return config.load_schema(name), EXAMPLES[name]


@pytest.mark.parametrize("name", ["config", "models", "record", "coreference_training"])
def test_every_key_refuses_what_its_schema_does_not_take(name):
    schema, document = read(name)
    config.validate(document, schema, "mine.yaml")
    whole = inlined(schema, schema)
    known = {id(part) for _, parts, _ in places(whole, document) for part in parts}
    lacking = [key for key, part in properties(whole) if id(part) not in known]
    assert not lacking, f"tests/schema_examples.yaml: add {', '.join(lacking)}"
    wrong = []
    for changed_document, named in cases(whole, document):
        try:
            config.validate(changed_document, schema, "mine.yaml")
            wrong.append(f"{named}: accepted")
        except UserError as error:
            if named not in str(error) or "\n" in str(error) or not str(error).startswith("mine.yaml: "):
                wrong.append(f"{named} is not named in: {error}")
    assert not wrong, "\n".join(wrong)
