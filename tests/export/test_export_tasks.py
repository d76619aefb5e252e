"""Tasks for lm-evaluation-harness: what they hold, and that the harness's scores, imported, are this project's."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.core import config, files
from scripts.core.data import losses, options
from scripts.core.errors import UserError
from scripts.export import export_tasks
from scripts.scoring import import_scores, score
from tests import jobs
from tests import zoo as builder

ROOT = Path(__file__).parents[2]
CANARY = "CANARY 1234 never to be used for training."
FORMS = ["she", "they", "xe"]
PEOPLE = ["baker", "cook", "clerk", "weaver"]
PAIRS = list(zip(PEOPLE, PEOPLE[1:] + PEOPLE[:1], strict=True))
# Of each kind of score a study; the first has instances without a right answer.
SETS = [
    {"study": "likely", "set": "replica", "score": "log_likelihood"},
    {"study": "lossy", "set": "replica", "score": "label_loss"},
    {"study": "partial", "set": "replica", "score": "continuation"},
]


def write_sets(folder):
    """Write a file of instances for each of SETS; return the paths."""
    likely = pd.DataFrame(
        {
            "instance_id": [f"a{n}" for n in range(8)],
            "text": [f"The {who} ate. The other said that ___ {did}." for who in PEOPLE for did in ("ran", "sat")],
            "options": [FORMS] * 8,
            "gold": [None, *(FORMS * 3)[:7]],
            "n_distractors": [np.nan, *[0.0, 1.0] * 3, 1.0],
        }
    )  # fmt: skip
    lossy = likely[["instance_id", "text", "options"]].assign(gold="they", wording="corrected")
    lossy["text"] = [f"{person} came. ___ slept." for person in (*PEOPLE, *map(str.title, PEOPLE))]
    partial = pd.DataFrame(
        {
            "instance_id": [f"c{n}" for n in range(4)],
            "text": [f"The {one} paid the {two} because ___ had asked." for one, two in PAIRS],
            "options": [[f"the {one}", f"the {two}"] for one, two in PAIRS],
            "answer": "occupation",
            "occupation": PEOPLE,
        }
    )  # fmt: skip
    paths = [str(folder / f"{entry['study']}.parquet") for entry in SETS]
    for path, frame in zip(paths, (likely, lossy, partial), strict=True):
        # An instance may be drawn several times.
        files.write_parquet(path, pd.concat([frame, frame.head(1)]))
    return paths


def export(folder, **changed):
    canary = folder / "templates.tsv"
    canary.write_text(f"# {CANARY}\na\tb\n")
    given = {
        "instances": write_sets(folder), "canary_file": str(canary), "citation_file": str(ROOT / "CITATION.cff"),
        "folder": str(folder / "harness"), "sets": SETS, "own_templates": True,
    }  # fmt: skip
    export_tasks.main(**given | changed)
    return folder / "harness"


def test_every_condition_is_a_task_with_its_canary(tmp_path):
    folder = export(tmp_path)
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    assert names == [
        "pronouns_likely_replica_n_distractors_0", "pronouns_likely_replica_n_distractors_1",
        "pronouns_likely_replica_no_gold", "pronouns_lossy_replica_wording_corrected",
        "pronouns_partial_replica_full", "pronouns_partial_replica_partial",
    ]  # fmt: skip
    count = 0
    for name in names:
        task = yaml.safe_load((folder / f"{name}.yaml").read_text())
        assert task["task"] == name and CANARY in (folder / f"{name}.yaml").read_text()
        docs = [json.loads(line) for line in (folder / task["dataset_kwargs"]["data_files"]["test"]).open()]
        count += len(docs)
        for doc in docs:
            assert doc["canary"] == CANARY
            filled = [options.fill(doc["text"], option) for option in doc["options"]]
            assert doc["choices"] == filled
            if "contexts" in doc:
                assert [context + doc["continuation"] for context in doc["contexts"]] == filled
        metric = task["metric_list"][0]["metric"]
        assert metric == ("bypass" if docs[0]["gold"] < 0 else "acc")
    assert count == 8 + 8 + 2 * 4


def test_the_data_set_is_described(tmp_path):
    folder = export(tmp_path)
    described = json.loads((folder / "croissant.json").read_text())
    assert CANARY in described["description"] and described["license"].endswith("/by/4.0/")
    assert {file["contentUrl"]: file["sha256"] for file in described["distribution"]} == {
        f"data/{path.name}": files.sha256(path) for path in (folder / "data").iterdir()
    }
    for records in described["recordSet"]:
        first = json.loads((folder / f"data/{records['name']}.jsonl").read_text().splitlines()[0])
        assert [field["name"] for field in records["field"]] == list(first)
    assert "license" not in json.loads((export(tmp_path, own_templates=False) / "croissant.json").read_text())


def test_sets_of_others_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"likely\.parquet: texts of the set 'official' are not the project's own"):
        export(tmp_path, sets=[SETS[0] | {"set": "official"}, *SETS[1:]])
    with pytest.raises(UserError, match="there is nothing to export"):
        export(tmp_path, sets=[], instances=[])


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return export(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-llama", "tiny-gpt-neox"))
    return config.load_yaml(registry)["models"]


@pytest.fixture(scope="module", params=["tiny-llama", "tiny-gpt-neox"])
def logged(request, exported, entries, peers_python, tmp_path_factory):
    """A model, one that begins texts with a token and one that does not, and what the harness logged of it."""
    entry, folder = entries[request.param], tmp_path_factory.mktemp("logged")
    command = [
        peers_python, "-m", "lm_eval", "run", "--model", "hf", "--device", "cpu", "--batch_size", "4", "--model_args",
        f"pretrained={entry['source']['path']},dtype=float32,logits_cache=False", "--include_path", ".", "--tasks",
        "pronouns,pronouns_partial", "--log_samples", "--output_path", folder,
    ]  # fmt: skip
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    done = subprocess.run(
        list(map(str, command)), cwd=exported, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return request.param, folder


@pytest.mark.parametrize("entry", SETS, ids=lambda entry: entry["score"])
def test_the_harness_gives_the_scores_of_this_project(entry, logged, exported, entries, tmp_path):
    model, folder = logged
    instances = str(exported.parent / f"{entry['study']}.parquet")
    imported, here = str(tmp_path / "imported.parquet"), str(tmp_path / "here.parquet")
    outputs = {"tokenizer": entries[model]["source"], "files": {}}
    import_scores.main(
        instances=instances, scores=imported, model=model, score=entry["score"],
        logged=sorted(map(str, folder.rglob(f"samples_pronouns_{entry['study']}_*.jsonl"))),
        entry={"label": "Theirs", "outputs": outputs, "architecture": "decoder", "demonstration": False},
    )  # fmt: skip
    after = files.parquet_metadata(imported).get("scored_after")
    assert (after is None) == (model == "tiny-llama")
    given = jobs.model_arguments(entries, model, tmp_path)
    given |= {"instances": instances, "scores": here, "engine": "packed", "score": entry["score"]}
    score.main(**given)
    found, expected = files.read_parquet(imported), files.read_parquet(here)
    if after:
        plain = expected
        score.main(**given | {"entry": given["entry"] | {"scored_after": after}})
        expected = files.read_parquet(here)
        # The harness puts nothing before a context that is not empty.
        if entry["score"] == "continuation":
            expected["continuation_log_probability"] = plain.continuation_log_probability
    assert list(found) == list(expected)
    for name in set(found):
        if name in (*losses.UNCAPITALISED, "option_log_probability"):
            assert found[name].isna().all()
        elif found[name].dtype == float:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-3, err_msg=name)
        else:
            assert found[name].tolist() == expected[name].tolist(), name
    picks, wanted = options.predict(found), options.predict(expected)
    pd.testing.assert_series_equal(picks.option_index, wanted.option_index)
