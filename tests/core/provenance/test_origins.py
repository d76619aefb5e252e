"""From cells to lines of template files, on a small run of made-up tables without Snakemake."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import origins, trace
from scripts.core.workflow import runs

TOLD = [
    {"files": "*/pairs.csv", "when": {"a": ".+", "b": ".+"}, "then": {"gender": ["{a}", "{b}"]}},
    {"files": "*/levels.csv", "when": {"factor": r"\w+", "level": r"\w+"}, "then": {"{factor}": "{level}"}},
    {"files": "*/wide.csv", "when": {"@column": r"(?P<gender>\w+): .*"}, "then": {"gender": "{gender}"}},
    {"files": "*/counts.csv", "when": {"n": "none"}, "then": {"n": ""}},
    {"files": "*/counts.csv", "without": ["n"], "then": {"n": ["1", "2"]}},
    {"files": "*/compared.csv", "when": {"table": ".+", "cells": ".*"},
     "then": {"@file": "results/{table}", "@cells": "{cells}"}},
]  # fmt: skip


def job(rule, inputs, outputs, wildcards=None, **params):
    return {"rule": rule, "wildcards": wildcards or {}, "inputs": inputs, "outputs": outputs, "params": params}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Six instances of four sentences, read with one prompt or plainly, judged by two models; two sets of templates."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/sentences.tsv").write_text("# canary\nname\ttext\na\tA\nb\tB\nc\tC\nd\tD\n")
    (tmp_path / "templates/prompts.tsv").write_text("prompt\ttext\np\tP {}\nq\tQ {}\n")
    (tmp_path / "templates/words.tsv").write_text("gender\tword\nshe\tshe\nhe\the\nhe\thim\n")
    instances = pd.DataFrame(
        {
            "instance_id": list("uvwxyz"),
            "gender": ["she", "he", "they", "she", "he", "they"],
            "n": pd.array([None, 1, 1, 2, 2, 2], dtype="Int64"),
            "sentence_row": [3, 4, 5, 3, 4, 6],
            "pair_rows": [[3, 4], [4], [5], [3, 4], [4], [6]],
        }
    )
    sources = {"sentence_row": "sentences.tsv", "pair_rows": "sentences.tsv"}
    jobs = []
    for name in ("one", "two"):
        inputs = [f"templates/{file}.tsv" for file in ("sentences", "prompts", "words")]
        made, read, found = (f"results/{kind}/{name}.parquet" for kind in ("instances", "texts", "picks"))
        files.write_parquet(made, instances, {"origins": sources})
        texts = pd.concat([instances.assign(prompt=p, prompt_row=row) for p, row in (("mask", None), ("q", 3))])
        texts = texts.drop(columns=["gender", "n"]).assign(text_id=texts.instance_id + texts.prompt)
        texts["prompt_row"] = texts.prompt_row.astype("Int64")
        files.write_parquet(read, texts, {"origins": sources | {"prompt_row": "prompts.tsv"}})
        picks = pd.concat([texts[["text_id"]].assign(model=m)[: 12 if m == "Big" else 3] for m in ("Big", "Small")])
        files.write_parquet(found, picks)
        jobs += [
            job("instances", inputs[:1], [made], {"templates": name}),
            job("texts", [made, inputs[1]], [read], {"templates": name}),
            job("picks", [read, made, inputs[2]], [found], {"templates": name}),
        ]
    picks = [f"results/picks/{name}.parquet" for name in ("one", "two")]
    described = {"big": {"label": "Big", "size": "large"}, "small": {"label": "Small", "size": "little"}}
    tables = [f"results/{name}.csv" for name in ("plain", "pairs", "levels", "wide", "counts", "compared")]
    jobs.append(job("tables", picks, tables, models=described))
    return jobs


def behind(run, path, row, column=None, **options):
    found = origins.Origins(run, TOLD).origins_of(path, [row], column, **options)
    return {(entry["table"], entry["file"]): (entry["rows"], entry["count"]) for entry in found}


def sentences(run, path, row, column=None):
    """Return the sentences of set one behind a cell, and from how many texts they were taken."""
    found = behind(run, path, {"templates": "one", **row}, column)
    return found.get(("results/texts/one.parquet", "templates/sentences.tsv"))


@pytest.mark.parametrize(
    ("path", "row", "column", "expected"),
    [
        ("results/plain.csv", {}, None, ([3, 4, 5, 6], 12)),
        ("results/plain.csv", {"gender": "she"}, None, ([3, 4], 4)),
        ("results/plain.csv", {"gender": "all"}, None, ([3, 4, 5, 6], 12)),
        ("results/plain.csv", {"gender": ["she", "they"]}, None, ([3, 4, 5, 6], 8)),
        ("results/plain.csv", {"prompt": "q", "n": 1}, None, ([4, 5], 2)),
        # The value itself and fractions choose nothing, and missing values only where the study says so.
        ("results/plain.csv", {"n": 1, "score": 2.0}, "n", ([3, 4, 5, 6], 12)),
        ("results/plain.csv", {"n": 1.5}, None, ([3, 4, 5, 6], 12)),
        ("results/plain.csv", {"n": float("nan")}, None, ([3, 4, 5, 6], 12)),
        ("results/plain.csv", {"n": float("inf")}, None, ([3, 4, 5, 6], 12)),
        ("results/counts.csv", {"n": "none"}, None, ([3, 4], 2)),
        ("results/counts.csv", {}, None, ([3, 4, 5, 6], 10)),
        # A model by its name, its label or a property; Small has read three texts.
        ("results/plain.csv", {"model": "small"}, None, ([3, 4, 5], 3)),
        ("results/plain.csv", {"Model": "Small"}, None, ([3, 4, 5], 3)),
        ("results/plain.csv", {"size": "little"}, None, ([3, 4, 5], 3)),
        ("results/plain.csv", {"model": "Small", "gender": "he"}, None, ([4], 1)),
        ("results/pairs.csv", {"a": "she", "b": "he"}, None, ([3, 4], 8)),
        ("results/levels.csv", {"factor": "gender", "level": "they"}, None, ([5, 6], 4)),
        ("results/levels.csv", {"factor": "all", "level": "all"}, None, ([3, 4, 5, 6], 12)),
        ("results/wide.csv", {"Model": "Big", "they: mean": 3}, "they: mean", ([5, 6], 4)),
        # What the study says and nothing has: nothing.
        ("results/wide.csv", {"Model": "Big"}, "xe: mean", None),
        (
            "results/compared.csv", {"table": "levels.csv", "cells": "factor=gender;level=they", "n": 1}, None,
            ([5, 6], 4),
        ),
    ],
)  # fmt: skip
def test_cells_lead_to_the_lines_that_they_used(run, path, row, column, expected):
    assert sentences(run, path, row, column) == expected


def test_a_column_of_another_meaning_on_the_way_narrows_nothing(run):
    """Answers lie between texts and what is read out of them, and have a column that both call ``answer``."""
    texts = files.read_parquet("results/texts/one.parquet")
    files.write_parquet("results/answers/one.parquet", texts[["text_id"]].assign(answer="she"))
    read = texts[["text_id"]].assign(answer=["final"] * 3 + ["chain"] * 9)
    files.write_parquet("results/read/one.parquet", read)
    run += [
        job("ask", ["results/texts/one.parquet"], ["results/answers/one.parquet"]),
        job("read", ["results/answers/one.parquet", "results/texts/one.parquet"], ["results/read/one.parquet"]),
        job("sum", ["results/read/one.parquet"], ["results/sum.csv"]),
    ]
    assert sentences(run, "results/sum.csv", {"answer": "final"}) == ([3, 4, 5], 3)


def test_lines_are_those_of_every_file_and_of_the_texts_alone(run):
    found = behind(run, "results/plain.csv", {"templates": "one", "prompt": "q", "gender": "he"})
    assert found == {
        ("results/texts/one.parquet", "templates/sentences.tsv"): ([4], 2),
        ("results/texts/one.parquet", "templates/prompts.tsv"): ([3], 2),
        # Read by the job itself.
        (None, "templates/words.tsv"): ([3, 4], 2),
    }
    both = behind(run, "results/plain.csv", {"prompt": "mask"})
    assert {table for table, _ in both} == {"results/texts/one.parquet", "results/texts/two.parquet", None}
    assert not [file for _, file in both if file.endswith("prompts.tsv")]


def test_instances_that_were_read_without_a_text_are_kept_beside_texts_of_a_sample(run):
    made, read, judged = (f"results/{kind}/one.parquet" for kind in ("instances", "texts", "judged"))
    rows = files.read_parquet(read)
    files.write_parquet(read, rows[rows.instance_id.isin(["u", "v"])], files.parquet_metadata(read))
    table = job("table", [judged], ["results/judged.csv"])
    for known, expected in ((list("uv"), {read}), (list("uvwxyz"), {read, made})):
        files.write_parquet(judged, pd.DataFrame({"instance_id": known}))
        found = behind([*run, job("judge", [made, read], [judged]), table], "results/judged.csv", {})
        assert {origin for origin, _ in found} == expected


def test_a_line_is_asked_for(run):
    line = ("templates/sentences.tsv", 5)
    assert behind(run, "results/plain.csv", {"gender": "they", "templates": "one"}, row_of=line) == {
        ("results/texts/one.parquet", "templates/sentences.tsv"): ([5], 2),
        ("results/texts/one.parquet", "templates/prompts.tsv"): ([3], 2),
    }
    assert behind(run, "results/plain.csv", {"gender": "she"}, row_of=line) == {}
    known = origins.Origins(run, TOLD)
    assert known.made_from("templates/prompts.tsv", 3) == {
        f"results/texts/{name}.parquet": 6 for name in ("one", "two")
    }
    assert known.made_from("templates/prompts.tsv", 2) == {}


def test_a_file_of_an_archive_is_named_by_a_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"text_id": ["a.tar.xz:x.csv", "a.tar.xz:y.csv"], "row": [2, 3], "gender": ["she", "he"]})
    files.write_parquet("results/read.parquet", table, {"origins": {"row": "{text_id}"}})
    run = [
        job("read", ["results/upstream/a.tar.xz"], ["results/read.parquet"]),
        job("sum", ["results/read.parquet"], ["results/sum.csv"]),
    ]
    assert behind(run, "results/sum.csv", {"gender": "he"}) == {
        ("results/read.parquet", "results/upstream/a.tar.xz:y.csv"): ([3], 1)
    }
    assert origins.Origins(run, []).made_from("results/upstream/a.tar.xz:y.csv", 3) == {"results/read.parquet": 1}


@pytest.mark.parametrize("row", [0, 1, 2, 7, 99999])
def test_a_line_that_is_no_data_row_is_refused(run, row):
    with pytest.raises(UserError, match=rf"templates/sentences.tsv: line {row} is not a data row; .* the lines 3-6"):
        trace.affected_jobs(f"templates/sentences.tsv:{row}", run)


def test_an_impact_says_which_jobs_run(run):
    jobs, line = trace.affected_jobs("templates/prompts.tsv:3", run)
    assert [j["rule"] for j in jobs] == ["texts", "texts", "picks", "picks", "tables"]
    assert line == ("templates/prompts.tsv", 3)
    assert trace.affected_jobs("templates/prompts.tsv", run) == (jobs, None)
    with pytest.raises(UserError, match=r"no job of this run depends on it; did you mean 'templates/prompts\.tsv'"):
        trace.affected_jobs("templates/promts.tsv:3", run)


def test_a_setting_comes_from_the_last_file_that_has_it(tmp_path):
    (tmp_path / "config.yaml").write_text("a: {b: 1, c: 2}\n")
    (tmp_path / "one.yaml").write_text("a: {b: 3}\n")
    (tmp_path / "two.yaml").write_text("d: 1\n")
    overlays = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    assert runs.set_in("a.b", overlays, tmp_path) == str(tmp_path / "one.yaml")
    assert runs.set_in("a.c", overlays, tmp_path) == str(tmp_path / "config.yaml")
