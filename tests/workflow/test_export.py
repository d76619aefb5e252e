"""`snakemake export` in a finished run (on the authors' templates: tests/workflow/test_official_templates.py)."""

import json
import re

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows, options

pytestmark = pytest.mark.workflow


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
    found = [s for s in found if s["input"]["reference"]]
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
    table = estimate_rows.read([exported / "results/paper/summary.csv"])
    names = {label: name for name, label in zip(table.model, table.label, strict=True)}

    def accuracies(study, label, part, scoring=estimate_rows.PROBABILITY, **levels):
        of = {"study": study, "model": names[label], "part": part, "scoring": scoring}
        return estimate_rows.rows_at(table, metric="accuracy", **of, **levels)

    compared = 0
    for label, found in aggregates(exported, "ruff"):
        for key, (value, n) in found.items():
            part, condition, number = re.fullmatch(r"choices-(.+?)-(n_distractors)-(\d+)", key).groups()
            rows = accuracies("ruff", label, part, **{condition: number})
            assert rows.value.tolist() == [pytest.approx(value)] and rows.n.tolist() == [n], (label, key)
            compared += 1
    for label, found in aggregates(exported, "winopron"):
        for key, (value, n) in found.items():
            rows = accuracies("winopron", label, key.removeprefix("choices-"), estimate_rows.FULL, entities="double")
            assert rows.value.tolist() == [pytest.approx(value)] and n > 1, (label, key)
            compared += 1
    for label, found in aggregates(exported, "misgendered"):
        for key, (value, n) in found.items():
            part, shots, wording = re.fullmatch(r"choices-(\w+?)(?:_few_(\d+))?-wording-(\w+)", key).groups()
            types = ("binary", "neutral", "neo")
            rows = pd.concat(
                [accuracies("misgendered", label, part, shots=shots or 0, pronoun_type=kind) for kind in types]
            )
            # The other wording is in the comparison of wordings alone.
            if wording == "corrected" and len(rows):
                assert (rows.value * rows.n).sum() / rows.n.sum() == pytest.approx(value) and rows.n.sum() == n
                compared += 1
    assert compared >= 12


def test_a_second_export_does_nothing(exported, finished):
    assert finished.planned("export_results") == {}
