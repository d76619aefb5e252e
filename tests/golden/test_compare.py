"""How golden files are compared: every difference is named by file, row, column, old and new value."""

import json

import pytest

from tests.golden import compare, replay
from tests.golden.compare import Renamed

TABLE = "model,n,accuracy\none,10,0.5\ntwo,10,0.25\nthree,12,0.125\n"
NAME = "results/a/table.csv"


def found(old, new, renamed=None):
    """Return the differences of two texts of one file."""
    old, new = ({file: (compare.digest(text), text)} for file, text in (old, new))
    return compare.differences(old, new, renamed or Renamed())


def changed(text, name=NAME, renamed=None):
    return found((NAME, TABLE), (name, text), renamed)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (TABLE.replace("0.25", "0.26"), ["row 2 (two, 10), accuracy: 0.25 -> 0.26"]),
        (TABLE.replace("0.25", ""), ["row 2 (two, 10), accuracy: 0.25 -> "]),
        (TABLE.replace("12,", "13,"), ["row 3 (three, 12), n: 12 -> 13"]),
        (TABLE.replace("one", "uno"), ["row 1 (one, 10), model: one -> uno"]),
        (TABLE.replace("n,acc", "count,acc"), ["column n is missing", "column count is new"]),
        (
            "n,model,accuracy\n10,one,0.5\n10,two,0.25\n12,three,0.125\n",
            ["order of columns: model, n, accuracy -> n, model, accuracy"],
        ),
        (TABLE.replace("two,10,0.25\n", ""), ["3 rows -> 2 rows", "row 2 (two, 10) is missing"]),
        (
            TABLE.replace("0.125", "0.1") + "two,10,0.3\n",
            ["3 rows -> 4 rows", "row 4 (two, 10) is new", "row 3 (three, 12), accuracy: 0.125 -> 0.1"],
        ),
    ],
)
def test_a_changed_table_is_named_by_row_and_column(text, lines):
    assert changed(text) == [f"{NAME}: {line}" for line in lines]


def test_an_empty_table_is_one_without_columns_and_rows():
    assert [line.removeprefix(f"{NAME}: ") for line in changed("")][:4] == [
        "column model is missing", "column n is missing", "column accuracy is missing", "3 rows -> 0 rows"
    ]  # fmt: skip


def test_what_is_the_same_is_not_named():
    assert changed(TABLE) == []
    assert changed(TABLE.replace("0.25", "0.25000001")) == []
    assert changed(TABLE.replace("0.25", "0.250001")) != []
    assert changed(TABLE.replace("12,", "12.0,")) != []


def test_many_differences_of_a_file_are_counted():
    old, new = ("\n".join(["n,x", *(f"{n},{n + add}.5" for n in range(30))]) for add in (0, 1))
    lines = found((NAME, old), (NAME, new))
    assert len(lines) == compare.SHOWN + 1 and lines[-1] == f"{NAME}: {30 - compare.SHOWN} more differences"


def test_missing_and_new_files_are_named():
    assert changed(TABLE, "results/a/other.csv") == ["results/a/other.csv: is new", f"{NAME}: is no longer made"]


def test_renamed_files_and_columns_are_the_same():
    new = "results/b/table.csv"
    renamed = Renamed({"results/a/": "results/b/"}, {new: {"accuracy": "correct"}})
    text = TABLE.replace("accuracy", "correct")
    assert changed(text, new, renamed) == []
    assert changed(text.replace("0.5", "0.6"), new, renamed) == [f"{new}: row 1 (one, 10), correct: 0.5 -> 0.6"]
    assert changed(TABLE, new, Renamed({NAME: new})) == []
    name = "results/a/numbers.json"
    assert found((name, '{"a": {"b": 1}}'), (name, '{"a": {"c": 1}}'), Renamed(columns={name: {"b": "c"}})) == []
    assert changed(TABLE, NAME, Renamed({f"{NAME}.gz": new})) == []


@pytest.mark.parametrize(
    ("new", "line"),
    [
        ({"a": {"b": [1, 2.5]}, "c": []}, None),
        ({"a": {"b": [1, 2.5000000001]}, "c": []}, None),
        ({"a": {"b": [1, 2.6]}, "c": []}, "a.b.1: 2.5 -> 2.6"),
        ({"a": {"b": [2, 2.5]}, "c": []}, "a.b.0: 1 -> 2"),
        ({"a": {"b": [1]}, "c": []}, "key a.b.1 is missing"),
        ({"a": {"b": [1, 2.5]}, "c": [], "d": None}, "key d is new"),
    ],
)
def test_json_is_named_by_keys(new, line):
    name = "results/a/numbers.json"
    lines = found((name, json.dumps({"a": {"b": [1, 2.5]}, "c": []})), (name, json.dumps(new)))
    assert lines == ([f"{name}: {line}"] if line else [])


def test_tex_is_named_by_lines_and_exact():
    name = "results/a/table.tex"
    long, short, other = "one\n  0.50 & 2\nend\n", "one\nend\n", "one\n  0.51 & 2\nend\n"
    assert found((name, long), (name, other)) == [f"{name}: line 2: 0.50 & 2 -> 0.51 & 2"]
    assert found((name, short), (name, long)) == [f"{name}: line 2: (no line) -> 0.50 & 2"]
    assert found((name, long), (name, short)) == [f"{name}: line 2: 0.50 & 2 -> (no line)"]


def test_golden_files_come_back_as_they_were_stored(tmp_path):
    parts = {"one": {NAME: ("12", TABLE), "results/a/texts/x.parquet": ("34", None)}, "two": {}}
    compare.store(parts, tmp_path)
    assert {part: compare.load(part, tmp_path) for part in parts} == parts
    assert compare.differences({NAME: ("12", None)}, {NAME: ("13", None)}, Renamed()) == [
        f"{NAME}: differs (its text is not stored)"
    ]


def test_a_run_is_read_without_what_is_volatile_and_without_texts_of_the_authors(tmp_path):
    sentence = "The carpenter told a customer that"
    table = f"id,text,value\na b c,{sentence},0.5\n"
    for name in ("results/a/table.csv", "results/logs/log.csv", "results/a/x.txt", "results/a/stored.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(table, encoding="utf-8")
    (tmp_path / "results/a/table.tex").write_text(sentence, encoding="utf-8")
    (tmp_path / "results/a/n.json").write_text(json.dumps({"k": [1.5, sentence]}), encoding="utf-8")
    plain = compare.snapshot(tmp_path, ["results/a/stored.json"])
    assert {name: text for name, (_, text) in plain.items()} == {
        "results/a/n.json": json.dumps({"k": [1.5, sentence]}), "results/a/table.csv": table,
        "results/a/table.tex": sentence,
    }  # fmt: skip
    hidden = compare.snapshot(tmp_path, ["results/a/stored.json"], mask=True)
    mark = f"#{compare.digest(sentence)[:8]}"
    assert {name: text for name, (_, text) in hidden.items()} == {
        "results/a/n.json": json.dumps({"k": [1.5, mark]}), "results/a/table.csv": table.replace(sentence, mark),
        "results/a/table.tex": None,
    }  # fmt: skip
    assert [digest for digest, _ in plain.values()] == [digest for digest, _ in hidden.values()]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "MissingInputException in rule a:\n    affected files:\n        results/a/scores/b.parquet\n",
            "results/a/scores/b.parquet is not stored, so that a model would have to run",
        ),
        (
            f"ImportError: {replay.NoModels.MESSAGE}\nError in rule a_table:\n    jobid: 1\n",
            "a_table loads torch, so that it would run a model",
        ),
        ("Error: a.csv: no rows\nError in rule a_table:\n    jobid: 1\n", "a_table failed: Error: a.csv: no rows"),
        ("WorkflowError:\nno such rule\n", "the workflow failed: WorkflowError: no such rule"),
    ],
)
def test_a_replay_says_in_one_line_why_it_ended(output, line):
    told = replay.reason(output, "default")
    assert told.startswith(f"golden files, default: {line}") and "\n" not in told
