"""`snakemake export` in a finished run, with the authors' files where they are at hand."""

import json
import re

import pytest

from scripts.core import files, options

pytestmark = pytest.mark.workflow
WORDS = 7


@pytest.fixture(scope="module")
def exported(finished, export_python):
    (finished.folder / ".venv-export").symlink_to(export_python.parents[1])
    done = finished.snakemake("export_results")
    assert done.returncode == 0, done.stdout[-3000:]
    return finished.folder


def samples(folder, study):
    return [
        json.loads(line)
        for path in sorted((folder / f"results/export/every_eval_ever/data/{study}").rglob("*_samples.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def test_every_record_is_valid(exported):
    said = json.loads((exported / "results/export/every_eval_ever.json").read_text(encoding="utf-8"))
    # Beside the mark that Snakemake leaves in a folder.
    written = list((exported / "results/export/every_eval_ever").rglob("[!.]*.json*"))
    assert len(said["files"]) == len(written) > 15
    assert not any(said["files"].values())


def test_choices_are_those_of_the_analyses(exported):
    found = [s for s in samples(exported, "ruff") if s["metadata"]["set"] == "replica" and "opt" in s["model_id"]]
    instances = files.read_parquet(exported / "results/ruff/instances/replica/selected.parquet")
    scores = files.read_parquet(exported / "results/ruff/scores/replica/tiny-opt.parquet")
    picks = options.predict(scores).option_index
    asked = instances[instances.gold.notna()].drop_duplicates("instance_id").set_index("instance_id")
    assert {s["sample_id"] for s in found} == set(asked.index)
    for sample in found:
        row = asked.loc[sample["sample_id"]]
        assert sample["output"]["raw"] == [row.options[picks[row.name]]]
        assert sample["evaluation"]["is_correct"] == (row.options[picks[row.name]] == row.gold)


def aggregates(folder, study):
    """Yield the label of a model and its exported accuracies of choices: value and n by id."""
    for path in sorted((folder / f"results/export/every_eval_ever/data/{study}").rglob("*[0-9a-f].json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        yield record["model_info"]["name"], {
            result["evaluation_result_id"]: (
                result["score_details"]["score"], result["score_details"]["uncertainty"]["num_samples"]
            )
            for result in record["evaluation_results"]
            if result.get("evaluation_result_id", "").startswith("choices-")
        }  # fmt: skip


def test_exported_accuracies_are_those_of_the_summary(exported):
    """Of the sets and conditions that the summary has too."""
    summary = files.read_csv(exported / "results/paper/summary.csv")
    # MISGENDERED has accuracies of types of pronouns alone.
    types = ["binary pronouns", "they", "neo-pronouns"]
    summary = summary[(summary.group == "all") | (summary.study == "MISGENDERED") & summary.group.isin(types)]

    # The authors' own templates are called otherwise in every study; Winogender Schemas are a third set.
    summary = summary[~summary.data.fillna("").str.startswith("Winogender") & ~summary.data.eq("replica, one person")]
    own = summary.data.fillna("").str.startswith("replica")

    def accuracies(study, model, metric, kind):
        rows = summary[(summary.study == study) & (summary.model == model) & (own == (kind == "replica"))]
        return rows[(rows.metric == metric) & ~rows.data.str.contains("one person")]

    compared = 0
    for label, found in aggregates(exported, "ruff"):
        for key, (value, n) in found.items():
            kind, condition, number = re.fullmatch(r"choices-(.+?)-(n_distractors)-(\d+)", key).groups()
            words = {"0": "no distractors", "1": "1 distractor"}.get(number, f"{number} distractors")
            rows = accuracies("RUFF", label, f"accuracy, {words}", kind)
            assert condition and rows.value.tolist() == [pytest.approx(value)] and rows.n.tolist() == [n], (label, key)
            compared += 1
    for label, found in aggregates(exported, "winopron"):
        for key, (value, n) in found.items():
            rows = accuracies("WinoPron", f"{label}, full likelihood", "accuracy", key.removeprefix("choices-"))
            assert rows.value.tolist() == [pytest.approx(value)] and n > 1, (label, key)
            compared += 1
    for label, found in aggregates(exported, "misgendered"):
        for key, (value, n) in found.items():
            kind, shots, wording = re.fullmatch(r"choices-(\w+?)(?:_few_(\d+))?-wording-(\w+)", key).groups()
            rows = accuracies("MISGENDERED", label, f"accuracy, {shots} examples" if shots else "accuracy", kind)
            # The other wording is in the comparison of wordings alone.
            if wording == "corrected" and len(rows):
                assert (rows.value * rows.n).sum() / rows.n.sum() == pytest.approx(value) and rows.n.sum() == n
                compared += 1
    assert compared >= 12


def test_no_sentence_of_the_authors_is_exported(exported, mirror):
    """Seven words in a row, in lower case; a failure prints no sentence."""

    def runs(text):
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}

    theirs = files.read_parquet(exported / "results/ruff/instances/official/selected.parquet").text
    known = set().union(*map(runs, theirs))
    own = files.read_parquet(exported / "results/ruff/instances/replica/selected.parquet").text
    known -= set().union(*map(runs, own))
    leaks = [
        path.name
        for path in (exported / "results/export").rglob("*")
        if path.is_file() and not known.isdisjoint(runs(path.read_text(encoding="utf-8")))
    ]
    assert leaks == [] and len(known) > 1000
    assert any(s["metadata"]["set"] == "official" for s in samples(exported, "ruff"))


def test_a_second_export_does_nothing(exported, finished):
    assert finished.planned("export_results") == {}
