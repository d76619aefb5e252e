"""Records in the schema of every_eval_ever: what they say, that its package takes them, and what is left out."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows, losses
from scripts.core.errors import UserError
from scripts.core.paper import eval_records
from scripts.export import export_results

CANARY = "CANARY 1234 never to be used for training."
OFFICIAL = "The weaver sold the loom because ___ had bought a better one."


def table(text, **columns):
    return pd.DataFrame(
        {
            "instance_id": ["a1", "b2", "c3"], "text": [text, text.replace("loom", "cart"), text],
            "options": [["he", "she"]] * 3, "gold": ["he", "she", None], "n": [1.0, None, 2.0], "case": "nominative",
            "sentence": text, **columns,
        }
    )  # fmt: skip


def scores(model):
    frame = pd.DataFrame(
        {
            "instance_id": ["a1", "a1", "b2", "b2", "c3", "c3"], "option": ["he", "she"] * 3,
            "option_index": [0, 1] * 3, "log_probability": [-3.0, -4.0, -5.0, -5.0, -1.0, -2.0],
            "mean_log_probability": [-2.0, -1.0, -1.0, -1.0, -1.0, -1.0], "scored_tokens": 3,
        }
    )  # fmt: skip
    return frame, {"model": model, "metric": "log_likelihood", "engine": "packed", "libraries": {"transformers": "4"}}


@pytest.fixture
def arguments(tmp_path, export_python):
    scored, paths, listed = [], [], []
    for name, text in (("replica", "The baker was glad because ___ slept."), ("official", OFFICIAL)):
        path, other = tmp_path / f"{name}.parquet", tmp_path / f"{name}_instances.parquet"
        frame, metadata = scores("m")
        files.write_parquet(path, frame, metadata)
        files.write_parquet(other, table(text))
        scored.append({"study": "some", "set": name, "model": "m"})
        paths.append(str(path))
        listed.append(str(other))
    summary = tmp_path / "summary.csv"
    row = {"part": "replica", "model": "m", "kind": "model", "scoring": "probability", "metric": "accuracy",
           "value": 0.5, "n": 20, "n_unit": "instances", "label": "Model"}  # fmt: skip
    estimate_rows.write(
        summary,
        "some",
        [
            row | {"low": 0.4, "high": 0.6},
            row | {"metric": "slope", "gender": "female", "prompt": "B", "value": -0.5, "unit": "points"},
            row | {"model": "m2", "label": "Model 2", "value": 0.9},
            row | {"part": "released", "kind": "released", "scoring": "", "value": 0.9},
        ],
    )
    environment = tmp_path / "environment.json"
    files.write_json(environment, {"python": str(export_python)})
    canary = tmp_path / "templates.tsv"
    canary.write_text(f"# {CANARY}\na\tb\n")
    facts = {"label": "Model", "architecture": "decoder", "parameters": 10, "source": {"hub": "owner/model"}}
    return {
        "summary": str(summary), "scores": paths, "instances": listed, "environment": str(environment),
        "canary_file": str(canary), "folder": str(tmp_path / "out"), "validation": str(tmp_path / "validation.json"),
        "scored": scored, "studies": {"some": "Some"}, "models": {"m": facts}, "organization": "nobody",
        "relationship": "other",
    }  # fmt: skip


def written(arguments):
    (aggregate,) = files.Path(arguments["folder"]).rglob("*[0-9a-f].json")
    (samples,) = files.Path(arguments["folder"]).rglob("*.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines()
    return aggregate, json.loads(aggregate.read_text()), [json.loads(line) for line in lines]


def test_the_package_takes_what_is_written(arguments):
    export_results.main(**arguments)
    path, aggregate, samples = written(arguments)
    assert path.relative_to(arguments["folder"]).parent.as_posix() == "data/some/owner/model"
    said = json.loads(files.Path(arguments["validation"]).read_text())
    assert len(said["files"]) == 2 and not any(said["files"].values())
    results = {result["evaluation_name"]: result for result in aggregate["evaluation_results"]}
    # A tie goes to the first option, so that one of two is right; instances without a right answer do not count.
    chosen = results["accuracy of the option with the highest score (replica)"]
    assert chosen["score_details"]["score"] == 0.5 and len(samples) == 6
    assert [sample["output"]["raw"] for sample in samples] == [["he"]] * 6
    without = results["log-probability of the option with the highest score, without a right answer (replica)"]
    assert without["score_details"]["score"] == -1.0 and without["score_details"]["uncertainty"]["num_samples"] == 1
    assert samples[2]["input"]["reference"] == [] and not samples[2]["evaluation"]["is_correct"]
    assert json.loads(samples[1]["metadata"]["log_probabilities"]) == [-5.0, -5.0]
    assert results["accuracy"]["score_details"]["uncertainty"]["confidence_interval"]["lower"] == 0.4
    assert results["slope, female, prompt B"]["score_details"]["score"] == -0.5
    assert len(results) == 6
    assert samples[0]["metadata"]["n"] == "1" and "n" not in samples[1]["metadata"]
    assert samples[0]["metadata"]["canary"] == CANARY


def test_texts_of_other_sets_are_digests(arguments):
    export_results.main(**arguments)
    _, _, samples = written(arguments)
    digest = hashlib.sha256(OFFICIAL.encode()).hexdigest()
    assert samples[3]["input"]["raw"] == f"withheld; sha256 {digest}"
    for path in files.Path(arguments["folder"]).rglob("*.json*"):
        assert "weaver" not in path.read_text(encoding="utf-8")
    assert "baker" in json.dumps(samples[:2]) and "canary" not in samples[3]["metadata"]


def test_what_the_package_refuses_ends_the_job(arguments, monkeypatch):
    monkeypatch.setattr(eval_records, "model_id", lambda name, source: None)
    monkeypatch.setattr(
        eval_records, "model_info", lambda *_: {"id": "owner/model", "name": "m", "additional_details": {}}
    )
    with pytest.raises(UserError, match=r"data/some/owner/model/.*: not valid in every_eval_ever's schema: .*"):
        export_results.main(**arguments)


def test_without_the_package_the_remedy_is_named(arguments):
    files.write_json(arguments["environment"], {"python": "nowhere/bin/python"})
    with pytest.raises(UserError, match=r"nowhere/bin/python cannot validate .* -R export_environment"):
        export_results.main(**arguments)


def test_losses_on_labels_are_compared_by_their_means():
    frame, _ = scores("m")
    parts = dict.fromkeys(("sentinel_log_probability", "end_log_probability"), 0.0)
    counts = dict.fromkeys(("sentinel_tokens", "end_tokens"), 0)
    tokens = {"option_log_probability": [-3.0, -4.0] * 3, "option_tokens": [1, 4] * 3, "scored_tokens": [1, 4] * 3}
    with_losses = frame.assign(**parts, **counts, **tokens, **dict.fromkeys(losses.UNCAPITALISED, np.nan))
    assert eval_records.favoured_options(with_losses, "label_loss").option["a1"] == "she"
    assert eval_records.favoured_options(frame, "log_likelihood").option["a1"] == "he"


def test_a_right_answer_may_be_named_by_its_column():
    options = [["the cook", "the guest"], ["the cook's", "the guest's"], ["the cook’s", "the guest’s"]]
    frame = pd.DataFrame({"instance_id": ["a", "b", "c"], "options": options}).assign(
        answer="participant", occupation="cook", participant="guest"
    )
    assert eval_records.gold_options(frame) == ["the guest", "the guest's", "the guest’s"]
    with pytest.raises(UserError, match="instance a: 0 of its options end with 'waiter'"):
        eval_records.gold_options(frame.assign(participant="waiter"))


def test_conditions_that_no_study_pools_have_results_of_their_own(arguments):
    path = arguments["instances"][0]
    listed = files.read_parquet(path).assign(wording=["corrected", "faithful", "faithful"])
    files.write_parquet(path, listed)
    export_results.main(**arguments)
    _, aggregate, samples = written(arguments)
    found = {entry["evaluation_name"]: entry for entry in aggregate["evaluation_results"]}
    said = "accuracy of the option with the highest score (replica), wording "
    assert [found[said + name]["score_details"]["score"] for name in ("corrected", "faithful")] == [1.0, 0.0]
    results = {entry["evaluation_result_id"] for entry in found.values() if "evaluation_result_id" in entry}
    assert {sample["evaluation_result_id"] for sample in samples} <= results


def test_identifiers_are_versions_of_uuid_that_the_package_asks_for():
    made = eval_records.identifier("a", "b")
    assert made == eval_records.identifier("a", "b") != eval_records.identifier("ab", "")
    assert made[14] == "4" and made[19] in "89ab"
