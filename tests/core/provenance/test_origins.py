"""From estimates to lines of template files, on a small run of made-up tables without Snakemake."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance.origins import Origins

INSTANCES, TEXTS, PICKS = (f"results/study/{kind}/{{}}.parquet" for kind in ("instances", "texts", "picks"))
OUTCOMES = {"study": {"": [PICKS.format("{part}")]}}
ESTIMATES, FIGURE = "results/study/estimates.csv", "results/study/figures/f.csv"
IDENTITY = {"templates": "one", "model": "whole", "kind": "model", "scoring": "probability", "metric": "accuracy"}
ROWS = [
    {}, {"gender": "she"}, {"gender": "she|they"}, {"prompt": "q", "size": 1}, {"size": 2, "prompt": "mask"},
    {"model": "small"}, {"model": "small", "gender": "he"}, {"templates": "two", "gender": "he"},
]  # fmt: skip


def job(rule, inputs, outputs, wildcards=None, **params):
    return {"rule": rule, "wildcards": wildcards or {}, "inputs": inputs, "outputs": outputs, "params": params}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Six instances of four sentences, read with one prompt or plainly by two models; two sets of templates."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/sentences.tsv").write_text("# canary\nname\ttext\na\tA\nb\tB\nc\tC\nd\tD\n")
    (tmp_path / "templates/prompts.tsv").write_text("prompt\ttext\np\tP {}\nq\tQ {}\n")
    (tmp_path / "templates/words.tsv").write_text("gender\tword\nshe\tshe\nhe\the\nhe\thim\n")
    instances = pd.DataFrame(
        {
            "instance_id": list("uvwxyz"),
            "gender": ["she", "he", "they", "she", "he", "they"],
            "size": pd.array([None, 1, 1, 2, 2, 2], dtype="Int64"),
            "sentence_row": [3, 4, 5, 3, 4, 6],
            "pair_rows": [[3, 4], [4], [5], [3, 4], [4], [6]],
        }
    )
    sources = {"sentence_row": "sentences.tsv", "pair_rows": "sentences.tsv"}
    jobs = []
    for name in ("one", "two"):
        inputs = [f"templates/{file}.tsv" for file in ("sentences", "prompts", "words")]
        made, read, found = (path.format(name) for path in (INSTANCES, TEXTS, PICKS))
        files.write_parquet(made, instances, {"origins": sources})
        texts = pd.concat([instances.assign(prompt=p, prompt_row=row) for p, row in (("mask", None), ("q", 3))])
        texts = texts.drop(columns=["gender", "size"]).assign(text_id=texts.instance_id + texts.prompt)
        texts["prompt_row"] = texts.prompt_row.astype("Int64")
        files.write_parquet(read, texts, {"origins": sources | {"prompt_row": "prompts.tsv"}})
        outputs = {model: f"results/study/scores/{name}/{model}.parquet" for model in ("whole", "small")}
        picks = {model: texts[["text_id"]][: 12 if model == "whole" else 3].assign(model=model) for model in outputs}
        for model, path in outputs.items():
            files.write_parquet(path, picks[model][["text_id"]])
            jobs.append(job("score", [read], [path], {"templates": name, "model": model}))
        files.write_parquet(found, pd.concat(picks.values()))
        jobs += [
            job("instances", inputs[:1], [made], {"templates": name}),
            job("texts", [made, inputs[1]], [read], {"templates": name}),
            job("picks", [*outputs.values(), read, made, inputs[2]], [found], {"templates": name}),
        ]
    table = pd.DataFrame([IDENTITY | row for row in ROWS]).assign(value=0.5, chance=0.25)
    files.write_csv(ESTIMATES, table)
    # Shares in percent, and columns that instances call something else.
    files.write_csv(FIGURE, table.assign(value=50.0, low=10.0, panel="x").rename(columns={"panel": "pair_rows"}))
    picks = [PICKS.format(name) for name in ("one", "two")]
    jobs += [job("estimates", picks, [ESTIMATES]), job("figures", [ESTIMATES, "templates/words.tsv"], [FIGURE])]
    return [*jobs, job("tables", [ESTIMATES], ["results/study/tables/t.csv"])]


def behind(run, path, row=None):
    """Return the lines behind a row of a file, or the whole, and how many rows have them, by table and file."""
    found = Origins(run, OUTCOMES).origins_of(path, [] if row is None else [row])
    return {(entry["table"], entry["file"]): (entry["rows"], entry["count"]) for entry in found}


EXPECTED = [
    ([3, 4, 5, 6], 12), ([3, 4], 4), ([3, 4, 5, 6], 8), ([4, 5], 2), ([3, 4, 6], 3),
    # It has read three texts.
    ([3, 4, 5], 3), ([4], 1), ([4], 4),
]  # fmt: skip


@pytest.mark.parametrize("path", [ESTIMATES, FIGURE])
@pytest.mark.parametrize(("place", "expected"), list(enumerate(EXPECTED)))
def test_estimates_lead_to_the_lines_that_they_used(run, path, place, expected):
    row = files.read_csv(path).iloc[place].to_dict()
    texts = TEXTS.format(row["templates"])
    found = behind(run, path, row)
    assert {table for table, _ in found} == {texts}
    assert found[texts, "templates/sentences.tsv"] == expected


def test_several_rows_or_models_have_the_lines_of_all(run):
    rows = [IDENTITY | {"gender": "she"}, IDENTITY | {"size": 1, "prompt": "q"}]
    found = {entry["file"]: entry["rows"] for entry in Origins(run, OUTCOMES).origins_of(ESTIMATES, rows)}
    assert found["templates/sentences.tsv"] == [3, 4, 5]
    both = Origins(run, OUTCOMES).instances_of(IDENTITY | {"study": "study", "part": "one", "model": "small|whole"})
    assert {table: mask.sum() for table, mask in both.items()} == {TEXTS.format("one"): 12}


def test_numbers_leave_empty_factors_out(run):
    cell = {"templates": "one", "model": "whole", "scoring": "probability", "kind": "model", "metric": "accuracy"}
    assert behind(run, ESTIMATES, cell) == behind(run, ESTIMATES, IDENTITY)


def test_lines_are_those_of_every_file_and_of_the_texts_alone(run):
    assert behind(run, ESTIMATES, IDENTITY | {"prompt": "q", "size": 1}) == {
        (TEXTS.format("one"), "templates/sentences.tsv"): ([4, 5], 2),
        (TEXTS.format("one"), "templates/prompts.tsv"): ([3], 2),
    }


@pytest.mark.parametrize("row", [{"model": None}, {"model": "random"}, {"gender": "xe"}])
def test_rows_of_a_figure_that_are_no_estimates_have_the_lines_of_its_file(run, row):
    """A mean over models and what chance would do are drawn, too."""
    assert behind(run, FIGURE, files.read_csv(FIGURE).iloc[0].to_dict() | row) == behind(run, FIGURE)


def test_what_no_model_put_out_is_refused(run):
    estimate = IDENTITY | {"study": "other", "part": "one"}
    with pytest.raises(UserError, match="other, one: this run has no outputs of whole below results/other/scores/"):
        Origins(run, OUTCOMES).instances_of(estimate)


@pytest.mark.parametrize("row", [None, {"System": "Whole", "gender": "she"}])
def test_other_rows_have_the_lines_of_their_file(run, row):
    """A table's cell that says no model and metric is not guessed at."""
    table = "results/study/tables/t.csv"
    found = behind(run, table, row)
    assert found[TEXTS.format("one"), "templates/sentences.tsv"] == ([3, 4, 5, 6], 12)
    # Read by a job on the way itself.
    assert found[None, "templates/words.tsv"] == ([2, 3, 4], 3)
    assert {path for path, _ in found} == {None, *(p.format(s) for p in (TEXTS, INSTANCES) for s in ("one", "two"))}


def test_outputs_that_were_brought_are_of_the_instances(run):
    """Of a system without outputs in this run the texts that models were given are no part."""
    estimate = IDENTITY | {"study": "study", "part": "one", "model": "brought"}
    found = Origins(run, OUTCOMES).instances_of(estimate)
    assert {table: mask.sum() for table, mask in found.items()} == {INSTANCES.format("one"): 6}


def test_a_file_of_an_archive_is_named_by_a_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"text_id": ["a.tar.xz:x.csv", "a.tar.xz:y.csv"], "row": [2, 3]})
    files.write_parquet("results/read.parquet", table, {"origins": {"row": "{text_id}"}})
    run = [job("read", ["results/upstream/a.tar.xz"], ["results/read.parquet"])]
    assert behind(run, "results/read.parquet") == {
        ("results/read.parquet", f"results/upstream/{row.text_id}"): ([row.row], 2) for row in files.iterate_rows(table)
    }
