"""Reading, merging and checking configuration."""

import copy
import math
import shutil
import time

import pytest

from scripts.core.config import check_files, configuration_schema, load_overlay, load_yaml, merge, validate
from scripts.core.errors import UserError

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["models"],
    "properties": {
        "models": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "uniqueItems": True,
            "description": "at least one model",
        },
        "engine": {"enum": ["fast", "reference"]},
        "ruff": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"sample_size": {"type": "integer", "minimum": 1, "description": "a positive number"}},
        },
        "seeds": {
            "description": "Seeds of the samples.",
            "type": "array",
            "maxItems": 2,
            "uniqueItems": True,
            "contains": {"const": 0},
        },
        "gpus": {"description": "Types of GPUs.", "type": "object", "minProperties": 1},
        "cache": {"type": "string", "minLength": 2},
        "alpha": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "share": {"type": "number", "maximum": 1},
        "wings": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "description": "use lower-case letters"}},
        "source": {
            "oneOf": [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["package", "file"],
                    "properties": {"package": {"type": "string"}, "file": {"type": "string"}},
                },
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["package", "folder"],
                    "properties": {"package": {"type": "string"}, "folder": {"type": "string"}},
                },
            ]
        },
    },
}
GOOD = {"models": ["a"], "engine": "fast", "ruff": {"sample_size": 3}}


def write(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_valid_configuration_passes():
    validate(GOOD, SCHEMA, "mine.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modles": ["a"]}, "mine.yaml: unknown key 'modles'; did you mean 'models'?"),
        (
            {"zzz": 1},
            "mine.yaml: unknown key 'zzz'; expected one of "
            "models, engine, ruff, seeds, gpus, cache, alpha, share, wings, source",
        ),
        ({"z\nz" + "z" * 200: 1}, "mine.yaml: unknown key 'z\\nz" + "z" * 116 + "…'; expected one of"),
        ({"ruff": {"sampel_size": 1}}, "mine.yaml: unknown key 'ruff.sampel_size'; did you mean 'sample_size'?"),
        ({"engine": "fats"}, "mine.yaml: engine is 'fats'; expected one of fast, reference; did you mean 'fast'?"),
        ({"engine": 7}, "mine.yaml: engine is '7'; expected one of fast, reference"),
        ({"models": ["a", "b", "a"]}, "mine.yaml: models: 'a' is listed twice; remove one"),
        ({"seeds": [0, 0.0]}, "mine.yaml: seeds: '0.0' is listed twice; remove one"),
        ({"seeds": [0, 1, 2]}, "mine.yaml: seeds has 3 entries; expected at most 2"),
        ({"seeds": [1]}, "mine.yaml: seeds lacks 0; add it"),
        ({"gpus": {}}, "mine.yaml: gpus has 0 entries; expected at least 1"),
        ({"cache": ""}, "mine.yaml: cache is ''; expected text of at least 2 characters"),
        ({"alpha": 0}, "mine.yaml: alpha is '0'; expected a number above 0 and below 1"),
        ({"alpha": 1}, "mine.yaml: alpha is '1'; expected a number above 0 and below 1"),
        ({"share": 1.5}, "mine.yaml: share is '1.5'; expected a number of at most 1"),
        ({"alpha": math.nan}, "mine.yaml: alpha is '.nan' (not finite); expected a number"),
        ({"alpha": math.inf}, "mine.yaml: alpha is '.inf' (not finite); expected a number"),
        ({"models": "a"}, "mine.yaml: models is 'a' (text); expected a list"),
        ({"models": ["a", 3]}, "mine.yaml: models.1 is '3' (a number); expected text"),
        ({"ruff": {"sample_size": 0}}, "mine.yaml: ruff.sample_size is '0'; expected a positive number"),
        (
            {"ruff": {"sample_size": True}},
            "mine.yaml: ruff.sample_size is true (true or false); expected a whole number",
        ),
        ({"ruff": None}, "mine.yaml: ruff is null (nothing); expected keys and values"),
        ({"wings": {"A1": 1}}, "mine.yaml: wings: the name 'A1' is not allowed; use lower-case letters"),
        ({"source": {"package": "p", "file": 3}}, "mine.yaml: source.file is '3' (a number); expected text"),
        ({"source": {"package": "p", "folder": 3}}, "mine.yaml: source.folder is '3' (a number); expected text"),
        ({"source": {"package": "p", "foldr": "x"}}, "mine.yaml: unknown key 'source.foldr'; did you mean 'folder'?"),
    ],
)
def test_errors_name_the_key_and_the_nearest(change, message):
    with pytest.raises(UserError) as caught:
        validate(GOOD | change, SCHEMA, "mine.yaml")
    assert str(caught.value).startswith(message) and (str(caught.value) == message or "…" in message)
    assert "\n" not in str(caught.value)


def test_missing_key():
    with pytest.raises(UserError, match=r"^mine\.yaml: the file lacks the key 'models'; add it$"):
        validate({}, SCHEMA, "mine.yaml")


def test_a_misspelt_required_key_is_reported_as_misspelt():
    with pytest.raises(UserError, match="unknown key 'modles'; did you mean 'models'"):
        validate({"modles": ["a"]}, SCHEMA, "mine.yaml")


def test_load_yaml_keeps_file_order(tmp_path):
    assert list(load_yaml(write(tmp_path, "b: 1\na: 2\n"))) == ["b", "a"]


def test_load_yaml_empty(tmp_path):
    assert load_yaml(write(tmp_path, "# nothing\n")) == {}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "the key 'c' is given twice (first in line 3)"),
        ("a: &x {k: 1}\nb:\n\t- 1\n", 3, "not valid YAML"),
        ("a: 1\n? [b, c]\n: 2\n", 2, "a list cannot be a key"),
        ("a: 1\n? {b: c}\n: 2\n", 2, "a mapping cannot be a key"),
        ("a: 1\nb: !!python/object/apply:os.getcwd []\n", 2, "could not determine a constructor"),
        ("a: 1\nb: 2\n---\nc: 3\n", 3, "not valid YAML"),
        ("a: 1\nb: 'x\x00y'\n", 2, "not valid YAML"),
        ("a: 1\nb: *x\n", 2, "undefined alias"),
        ("a: 1\nb: {1: 2}\n", 2, "the key '1' is not text; write it in quotes"),
        ("a: 1\nnull: 2\n", 2, "the key 'null' is not text; write it in quotes"),
        ("a: 1\non: 2\n", 2, "the key 'true' is not text; write it in quotes"),
    ],
)
def test_load_yaml_names_the_line(tmp_path, text, line, reason):
    with pytest.raises(UserError) as caught:
        load_yaml(write(tmp_path, text))
    assert f"config.yaml, line {line}: " in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["a: 2026-13-45\n", f"a: {'1' * 5000}\n"])
def test_values_that_python_does_not_take_are_one_line(tmp_path, text):
    with pytest.raises(UserError, match=r"config\.yaml: not valid YAML: .*; correct it$"):
        load_yaml(write(tmp_path, text))


def test_load_yaml_wants_a_mapping(tmp_path):
    with pytest.raises(UserError, match="expected keys and values at the top level, found a list"):
        load_yaml(write(tmp_path, "- 1\n"))


def test_load_yaml_merge_key_may_be_overridden(tmp_path):
    data = load_yaml(write(tmp_path, "base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n"))
    assert data["more"] == {"x": 1, "y": 3}


def test_load_yaml_missing_file(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        load_yaml(tmp_path / "none.yaml")


def test_merge_is_deep_replaces_lists_and_changes_neither():
    base = {"models": ["a", "b"], "ruff": {"templates": ["replica"], "seeds": [13]}, "x": {"y": 1}}
    overlay = {"models": ["c"], "ruff": {"templates": ["official"]}, "x": 2}
    before = copy.deepcopy((base, overlay))
    merged = merge(base, overlay)
    assert merged == {"models": ["c"], "ruff": {"templates": ["official"], "seeds": [13]}, "x": 2}
    merged["ruff"]["seeds"].append(17)
    merged["models"].append("d")
    assert (base, overlay) == before


def test_load_yaml_refuses_deep_nesting_in_one_line(tmp_path):
    with pytest.raises(UserError) as caught:
        load_yaml(write(tmp_path, "a: " + "[" * 100_000))
    assert "config.yaml" in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no key; write one or leave the file out"),
        ("# nothing\n", "has no key; write one or leave the file out"),
        ("{}\n", "has no key; write one or leave the file out"),
        ("null\n", "has no key; write one or leave the file out"),
        ("- 1\n", "expected keys and values at the top level, found a list"),
        ("a: 1\na: 2\n", "line 2: not valid YAML: the key 'a' is given twice (first in line 1)"),
        ("a:\n  b: 1\n  c: 1\n  b: 2\n", "line 4: not valid YAML: the key 'b' is given twice (first in line 2)"),
        ("__use_yte__: true\na: 1\n", "the key '__use_yte__' runs code; write plain YAML"),
    ],
)
def test_bad_overlays_are_named(tmp_path, text, message):
    with pytest.raises(UserError) as caught:
        load_overlay(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "config.yaml")) and message in str(caught.value)
    assert "\n" not in str(caught.value)


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
    for study, message in (
        ({"seed": 1}, "mine.yaml: unknown key 'sixth.seed'; did you mean 'seeds'?"),
        ({"seeds": 0}, "mine.yaml: sixth.seeds is '0'; expected a seed from 1"),
    ):
        with pytest.raises(UserError) as caught:
            validate(written | {"sixth": study}, after, "mine.yaml")
        assert str(caught.value) == message
    with pytest.raises(UserError, match="the file lacks the key 'sixth'; add it"):
        validate(written, after, "mine.yaml")
    changed = copy.deepcopy(written)
    changed["underspecification"]["prompts"]["mgc"] = ["D"]
    with pytest.raises(UserError, match=r"prompts\.mgc\.0 is 'D'; expected one of A, B, C"):
        validate(changed, before, "mine.yaml")


def test_a_file_that_is_named_may_lie_in_either_folder_or_be_made_later(tmp_path):
    run, repository = tmp_path / "run", tmp_path / "repository"
    for folder, name in ((run, "a.jsonl"), (repository, "b.jsonl")):
        folder.mkdir()
        (folder / name).touch()
    entries = [{"file": "a.jsonl"}, {"file": "b.jsonl"}, {"file": "results/c.jsonl"}, {"file": str(run / "a.jsonl")}]
    check_files({"study": {"clusters": entries}}, [run, repository])
    with pytest.raises(UserError, match=r"^study\.clusters\[4\]\.file: c\.jsonl: no such file; correct the path$"):
        check_files({"study": {"clusters": [*entries, {"file": "c.jsonl"}]}}, [run, repository])


def test_aliases_that_multiply_are_refused_at_once(tmp_path):
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    merges = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    # Few enough to be read, and too many to be checked.
    few = ["a1: &a1 [*a0, *a0]", *[f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(2, 7)]]
    for head, lines in (("a0: &a0 [x]", levels), ("a0: &a0 {k: 1}", merges), ("a0: &a0 [x]", few)):
        started = time.monotonic()
        with pytest.raises(UserError, match="aliases add more than 10,000 values; write them out"):
            load_yaml(write(tmp_path, "\n".join([head, *lines])))
        assert time.monotonic() - started < 5
    with pytest.raises(UserError, match="an alias refers to a value that contains it"):
        load_yaml(write(tmp_path, "a: &a [*a]\n"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"studies": 7}, "studies is '7'; expected all or a list"),
        ({"distributions": {"top_k": 0}}, "distributions.top_k is '0'; expected all or a whole number of at least 1"),
        ({"ruff": {"sample_size": {"mine": "x"}}}, "ruff.sample_size.mine is 'x' (text); expected a whole number"),
        ({"run": "x\n"}, "run is 'x\\n'; expected a name of at most 100 letters"),
        ({"paper": {"date": "2026-13-45"}}, "paper.date is '2026-13-45'; expected a date as YYYY-MM-DD"),
        ({"paper": {"title": "代词"}}, "paper.title is '代词'; expected text of letters (Latin, with any accents)"),
        ({"paper": {"authors": ["Ж"]}}, "paper.authors.0 is 'Ж'; expected text of letters (Latin, with any accents)"),
    ],
)
def test_messages_say_what_a_key_takes(root, change, message):
    schema, written = configuration_schema(root / "config/schemas"), load_yaml(root / "config.yaml")
    with pytest.raises(UserError) as caught:
        validate(merge(written, change), schema, "mine.yaml")
    assert str(caught.value).startswith(f"mine.yaml: {message}")


def test_the_last_file_with_the_value_is_named_with_its_line(tmp_path):
    names = [tmp_path / "base.yaml", tmp_path / "overlay.yaml"]
    names[0].write_text("models: [a]\nruff:\n  sample_size: 3\n")
    names[1].write_text("# mine\nruff:\n  sample_size: 0\nengine: fast\n")
    merged = merge(*map(load_yaml, names))
    with pytest.raises(UserError) as caught:
        validate(merged, SCHEMA, *map(str, names))
    assert str(caught.value) == f"{names[1]}, line 3: ruff.sample_size is '0'; expected a positive number"
    with pytest.raises(UserError) as caught:
        validate(merge(merged, {"ruff": {"sample_size": 3}, "modles": 1}), SCHEMA, *map(str, names))
    assert str(caught.value) == f"{names[0]} with {names[1]}: unknown key 'modles'; did you mean 'models'?"
    # What the command line says is in no file.
    with pytest.raises(UserError) as caught:
        validate(merge(merged, {"ruff": {"sample_size": -7}}), SCHEMA, *map(str, names))
    assert str(caught.value).startswith(f"{names[0]} with {names[1]}: ruff.sample_size is '-7'")
