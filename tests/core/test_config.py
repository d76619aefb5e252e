"""Reading, merging and checking configuration."""

import copy
import math
import shutil
import time

import pytest
import yaml

from scripts.core.config import check_named_files, configuration_schema, load_overlay, load_yaml, merge, validate
from tests.refusals import refused

SCHEMA = yaml.safe_load("""
type: object
additionalProperties: false
required: [models]
properties:
  models: {type: array, items: {type: string}, minItems: 1, uniqueItems: true, description: at least one model}
  engine: {enum: [fast, reference]}
  ruff:
    type: object
    additionalProperties: false
    properties: {sample_size: {type: integer, minimum: 1, description: a positive number}}
  seeds: {type: array, maxItems: 2, uniqueItems: true, contains: {const: 0}, description: Seeds of the samples.}
  cache: {type: string, minLength: 2}
  alpha: {type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}
  wings: {type: object, propertyNames: {pattern: "^[a-z]+$", description: use lower-case letters}}
  source:
    oneOf:
      - {type: object, additionalProperties: false, required: [package, file],
         properties: {package: {type: string}, file: {type: string}}}
      - {type: object, additionalProperties: false, required: [package, folder],
         properties: {package: {type: string}, folder: {type: string}}}
""")
GOOD = {"models": ["a"], "engine": "fast", "ruff": {"sample_size": 3}}


def write(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


MESSAGES = {
    "unknown, near": ({"modles": ["a"]}, "unknown key 'modles'; did you mean 'models'?"),
    "unknown, far": ({"zzz": 1}, "unknown key 'zzz'; expected one of models, engine, ruff,"),
    "unknown, hostile": ({"z\nz" + "z" * 200: 1}, "unknown key 'z\\nz" + "z" * 116 + "…'"),
    "unknown, below": ({"ruff": {"sampel_size": 1}}, "unknown key 'ruff.sampel_size'; did you mean 'sample_size'?"),
    "unknown, alternative": ({"source": {"package": "p", "foldr": "x"}}, "'source.foldr'; did you mean 'folder'?"),
    "missing, misspelt": ({"models": ..., "modles": ["a"]}, "unknown key 'modles'; did you mean 'models'?"),
    "missing": ({"models": ...}, "the file lacks the key 'models'; add it"),
    "choice, near": ({"engine": "fats"}, "engine is 'fats'; expected one of fast, reference; did you mean 'fast'?"),
    "twice": ({"models": ["a", "b", "a"]}, "models: 'a' is listed twice; remove one"),
    "twice, equal numbers": ({"seeds": [0, 0.0]}, "seeds: '0.0' is listed twice; remove one"),
    "entries": ({"seeds": [0, 1, 2]}, "seeds has 3 entries; expected at most 2"),
    "contains": ({"seeds": [1]}, "seeds lacks 0; add it"),
    "length": ({"cache": ""}, "cache is ''; expected text of at least 2 characters"),
    "two bounds": ({"alpha": 1}, "alpha is '1'; expected a number above 0 and below 1"),
    "not a number": ({"alpha": math.nan}, "alpha is '.nan' (not finite); expected a number"),
    "infinite": ({"alpha": math.inf}, "alpha is '.inf' (not finite); expected a number"),
    "type": ({"models": ["a", 3]}, "models.1 is '3' (a number); expected text"),
    "type, nothing": ({"ruff": None}, "ruff is null (nothing); expected keys and values"),
    "type, truth is no number": ({"ruff": {"sample_size": True}}, "ruff.sample_size is true (true or false)"),
    "description": ({"ruff": {"sample_size": 0}}, "ruff.sample_size is '0'; expected a positive number"),
    "name": ({"wings": {"A1": 1}}, "wings: the name 'A1' is not allowed; use lower-case letters"),
    "alternative": ({"source": {"package": "p", "file": 3}}, "source.file is '3' (a number); expected text"),
    "other alternative": ({"source": {"package": "p", "folder": 3}}, "source.folder is '3' (a number); expected text"),
}
"""The kinds of messages, word for word; tests/test_schemas.py asks every key of the project for one."""


@pytest.mark.parametrize(("change", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages_name_the_key_and_the_nearest(change, message):
    validate(GOOD, SCHEMA, "mine.yaml")
    changed = {key: value for key, value in (GOOD | change).items() if value is not ...}
    with refused("mine.yaml: ", message):
        validate(changed, SCHEMA, "mine.yaml")


def test_load_yaml_keeps_file_order(tmp_path):
    assert list(load_yaml(write(tmp_path, "b: 1\na: 2\n"))) == ["b", "a"]


BROKEN = {
    "syntax": ("a: 1\nb: [1, 2\nc: 3\n", ["line 3", "not valid YAML"]),
    "twice": ("a: 1\nb:\n  c: 1\n  c: 2\n", ["line 4", "'c'", "given twice", "line 3"]),
    "tab": ("a: &x {k: 1}\nb:\n\t- 1\n", ["line 3", "not valid YAML"]),
    "list as a key": ("a: 1\n? [b, c]\n: 2\n", ["line 2", "a list cannot be a key"]),
    "mapping as a key": ("a: 1\n? {b: c}\n: 2\n", ["line 2", "a mapping cannot be a key"]),
    "code": ("a: 1\nb: !!python/object/apply:os.getcwd []\n", ["line 2", "constructor"]),
    "two documents": ("a: 1\nb: 2\n---\nc: 3\n", ["line 3", "not valid YAML"]),
    "control character": ("a: 1\nb: 'x\x00y'\n", ["line 2", "not valid YAML"]),
    "unknown alias": ("a: 1\nb: *x\n", ["line 2", "undefined alias"]),
    "number as a key": ("a: 1\nb: {1: 2}\n", ["line 2", "'1' is not text", "quotes"]),
    "null as a key": ("a: 1\nnull: 2\n", ["line 2", "'null' is not text", "quotes"]),
    "truth as a key": ("a: 1\non: 2\n", ["line 2", "'true' is not text", "quotes"]),
    "no such day": ("a: 2026-13-45\n", ["not valid YAML", "correct it"]),
    "thousands of digits": (f"a: {'1' * 5000}\n", ["not valid YAML", "correct it"]),
    "deep": ("a: " + "[" * 100_000, ["nested too deeply"]),
    "no mapping": ("- 1\n", ["expected keys and values at the top level", "a list"]),
}


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_broken_yaml_is_named_with_its_line(tmp_path, text, named):
    path = write(tmp_path, text)
    with refused(path, *named):
        load_yaml(path)
    with refused("none.yaml", "no such file"):
        load_yaml(tmp_path / "none.yaml")


def test_load_yaml_merge_key_may_be_overridden(tmp_path):
    data = load_yaml(write(tmp_path, "base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n"))
    assert data["more"] == {"x": 1, "y": 3}


def test_merge_is_deep_replaces_lists_and_changes_neither():
    base = {"models": ["a", "b"], "ruff": {"templates": ["replica"], "seeds": [13]}, "x": {"y": 1}}
    overlay = {"models": ["c"], "ruff": {"templates": ["official"]}, "x": 2}
    before = copy.deepcopy((base, overlay))
    merged = merge(base, overlay)
    assert merged == {"models": ["c"], "ruff": {"templates": ["official"], "seeds": [13]}, "x": 2}
    merged["ruff"]["seeds"].append(17)
    merged["models"].append("d")
    assert (base, overlay) == before


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n", "null\n"])
def test_an_overlay_has_a_key_and_runs_no_code(tmp_path, text):
    assert load_yaml(write(tmp_path, text)) == {}
    with refused(tmp_path / "config.yaml", "has no key"):
        load_overlay(tmp_path / "config.yaml")
    with refused(tmp_path / "config.yaml", "__use_yte__", "runs code"):
        load_overlay(write(tmp_path, "__use_yte__: true\na: 1\n"))


def test_each_study_has_a_schema_of_its_own(root, tmp_path):
    """A file in ``studies/`` is a key of the configuration; its definitions stay its own."""
    folder = tmp_path / "schemas"
    shutil.copytree(root / "config/schemas", folder)
    before = configuration_schema(folder)
    written = load_yaml(root / "config.yaml")
    validate(written, before, "mine.yaml")
    assert set(before["required"]) >= {"ruff", "counter_gap", "underspecification"}
    (folder / "studies/sixth.schema.yaml").write_text(
        "$id: sixth\ntype: object\nadditionalProperties: false\nproperties:\n  seeds: {$ref: '#/$defs/seeds'}\n"
        "$defs:\n  seeds: {type: integer, minimum: 1, description: a seed from 1}\n"
    )
    after = configuration_schema(folder)
    validate(written | {"sixth": {"seeds": 1}}, after, "mine.yaml")
    with refused("sixth.seed'", "did you mean 'seeds'"):
        validate(written | {"sixth": {"seed": 1}}, after, "mine.yaml")
    with refused("sixth.seeds is '0'", "a seed from 1"):
        validate(written | {"sixth": {"seeds": 0}}, after, "mine.yaml")
    with refused("lacks the key 'sixth'"):
        validate(written, after, "mine.yaml")


def test_a_file_that_is_named_may_lie_in_either_folder_or_be_made_later(tmp_path):
    run, repository = tmp_path / "run", tmp_path / "repository"
    for folder, name in ((run, "a.jsonl"), (repository, "b.jsonl")):
        folder.mkdir()
        (folder / name).touch()
    entries = [{"file": "a.jsonl"}, {"file": "b.jsonl"}, {"file": "results/c.jsonl"}, {"file": str(run / "a.jsonl")}]
    check_named_files({"study": {"clusters": entries}}, [run, repository])
    with refused("study.clusters[4].file", "c.jsonl", "no such file"):
        check_named_files({"study": {"clusters": [*entries, {"file": "c.jsonl"}]}}, [run, repository])


def test_aliases_that_multiply_are_refused_at_once(tmp_path):
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    merges = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    # Few enough to be read, and too many to be checked.
    few = ["a1: &a1 [*a0, *a0]", *[f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(2, 7)]]
    for head, lines in (("a0: &a0 [x]", levels), ("a0: &a0 {k: 1}", merges), ("a0: &a0 [x]", few)):
        started = time.monotonic()
        with refused("aliases", "10,000", "write them out"):
            load_yaml(write(tmp_path, "\n".join([head, *lines])))
        assert time.monotonic() - started < 5
    with refused("an alias refers to a value that contains it"):
        load_yaml(write(tmp_path, "a: &a [*a]\n"))


FORMATS = {
    "studies": ({"studies": 7}, "all or a list"),
    "ruff.sample_size.mine": ({"ruff": {"sample_size": {"mine": "x"}}}, "a whole number"),
    "run": ({"run": "x\n"}, "a name of at most 100 letters"),
    "paper.date": ({"paper": {"date": "2026-13-45"}}, "a date as YYYY-MM-DD"),
    "paper.title": ({"paper": {"title": "代词"}}, "Latin"),
    "paper.authors.0": ({"paper": {"authors": ["Ж"]}}, "Latin"),
}


@pytest.mark.parametrize("key", FORMATS)
def test_messages_say_what_a_key_takes(root, key):
    change, expected = FORMATS[key]
    schema, written = configuration_schema(root / "config/schemas"), load_yaml(root / "config.yaml")
    with refused(f"mine.yaml: {key} is ", expected):
        validate(merge(written, change), schema, "mine.yaml")


def test_the_last_file_with_the_value_is_named_with_its_line(tmp_path):
    names = [tmp_path / "base.yaml", tmp_path / "overlay.yaml"]
    names[0].write_text("models: [a]\nruff:\n  sample_size: 3\n")
    names[1].write_text("# mine\nruff:\n  sample_size: 0\nengine: fast\n")
    merged = merge(*map(load_yaml, names))
    with refused(f"{names[1]}, line 3: ruff.sample_size is '0'"):
        validate(merged, SCHEMA, *map(str, names))
    with refused(f"{names[0]} with {names[1]}: unknown key 'modles'"):
        validate(merge(merged, {"ruff": {"sample_size": 3}, "modles": 1}), SCHEMA, *map(str, names))
    # What the command line says is in no file.
    with refused(f"{names[0]} with {names[1]}: ruff.sample_size is '-7'"):
        validate(merge(merged, {"ruff": {"sample_size": -7}}), SCHEMA, *map(str, names))
