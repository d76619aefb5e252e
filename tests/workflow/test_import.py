"""Scores and answers that other tools logged as those of a model: its accuracies are those of our own outputs."""

import json

import pandas as pd
import pytest
import yaml

from scripts.core import config, files
from scripts.core.data import options
from scripts.core.paper import eval_records

pytestmark = pytest.mark.workflow
MODEL, THEIRS = "tiny-llama", "theirs"
SCORES = f"results/ruff/scores/replica/{MODEL}.parquet"
ACCURACY = "results/ruff/analysis/replica/accuracy.csv"
PROMPTED_ACCURACY = "results/ruff/analysis/replica/prompted_accuracy.csv"


def log(folder):
    """Write the run's own scores as the harness logs those of the exported tasks."""
    scores = files.read_parquet(folder / SCORES).set_index(["instance_id", "option"]).log_probability
    for path in (folder / "results/export/harness/data").glob("pronouns_ruff_replica_*.jsonl"):
        lines = []
        for doc in map(json.loads, path.open(encoding="utf-8")):
            values = [str(scores[doc["instance_id"], option]) for option in doc["options"]]
            lines.append(
                {
                    "doc": doc,
                    "arguments": {f"gen_args_{n}": {"arg_0": "", "arg_1": t} for n, t in enumerate(doc["choices"])},
                    "filtered_resps": [[value, "False"] for value in values],
                }
            )
        (folder / "logs").mkdir(exist_ok=True)
        (folder / f"logs/samples_{path.name}").write_text("".join(json.dumps(line) + "\n" for line in lines))


def log_records(folder):
    """Write the run's own scores as records of every_eval_ever."""
    instances = files.read_parquet(folder / "results/ruff/instances/replica/selected.parquet")
    scores, facts = files.read_parquet(folder / SCORES), files.parquet_metadata(folder / SCORES)
    identity = {"evaluation_id": "e", "model_id": MODEL}
    made = eval_records.samples("replica", instances, scores, facts, identity, "canary")
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))


def log_answers(folder):
    """Write a log of inspect in which every prompt is answered with *he*."""
    answer = {"choices": [{"message": {"content": "he"}, "stop_reason": "stop"}]}
    prompts = files.read_parquet(folder / "results/ruff/prompts/replica.parquet")
    samples = [
        {"messages": [{"role": "user", "content": text}, {"role": "assistant"}], "output": answer}
        for text in prompts[prompts.follow_up.isna()].text.unique()
    ]
    (folder / "log.json").write_text(json.dumps({"version": 2, "status": "success", "samples": samples}))


def test_logged_scores_have_the_accuracies_of_our_own(fresh):
    run = fresh((MODEL,))
    registry = run.folder / "zoo/models.yaml"
    listed = config.load_yaml(registry)
    entry = listed["models"][MODEL]
    kept = {key: value for key, value in entry.items() if key not in ("source", "tokenizer", "precision", "gpus")}
    outputs = {"tokenizer": entry["source"], "files": {"ruff/replica": ["logs/samples_pronouns_ruff_*.jsonl"]}}
    outputs["answers"] = {"ruff/replica": ["log.json"]}
    listed["models"][THEIRS] = kept | {"label": "Theirs (demonstration)", "outputs": outputs}
    recorded = {"tokenizer": entry["source"], "files": {"ruff/replica": ["records.jsonl"]}}
    listed["models"]["recorded"] = kept | {"label": "Recorded (demonstration)", "outputs": recorded}
    registry.write_text(yaml.safe_dump(listed, sort_keys=False))
    overlay = config.load_yaml(run.folder / "config/test.yaml") | {"studies": ["ruff"]}
    overlay["ruff"]["templates"] = ["replica"]
    overlay["ruff"]["prompting"] |= {"models": [], "chain_of_thought": {"models": []}}
    (run.folder / "own.yaml").write_text(yaml.safe_dump(overlay | {"models": [MODEL]}, sort_keys=False))
    overlay["ruff"]["prompting"]["models"] = [THEIRS]
    both = overlay | {"models": [MODEL, THEIRS, "recorded"]}
    (run.folder / "both.yaml").write_text(yaml.safe_dump(both, sort_keys=False))
    done = run.snakemake("-n", overlay="both.yaml")
    assert "models.theirs.outputs.files: logs/samples_pronouns_ruff_*.jsonl: no such file" in done.stdout
    done = run.snakemake(SCORES, "export_tasks", overlay="own.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    log(run.folder)
    log_records(run.folder)
    (run.folder / "log.json").write_text("{}")
    done = run.snakemake("results/ruff/prompts/replica.parquet", overlay="both.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    log_answers(run.folder)
    done = run.snakemake(
        ACCURACY,
        PROMPTED_ACCURACY,
        "plan",
        "results/ruff/tables/replica/prompted_models.csv",
        "results/paper/main.tex",
        "results/explorer.html",
        overlay="both.yaml",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    table = files.read_csv(run.folder / ACCURACY)
    names = (MODEL, THEIRS, "recorded")
    own, *imported = (
        table[table.model == name][["n_distractors", "accuracy"]].reset_index(drop=True) for name in names
    )
    assert len(own) > 3
    picks, *others = (options.predict(files.read_parquet(run.folder / SCORES.replace(MODEL, name))) for name in names)
    for accuracies, favoured in zip(imported, others, strict=True):
        pd.testing.assert_frame_equal(own, accuracies)
        pd.testing.assert_frame_equal(picks, favoured)
    prompted = files.read_csv(run.folder / PROMPTED_ACCURACY)
    asked = files.read_parquet(run.folder / "results/ruff/instances/replica/prompted.parquet")
    right = (prompted.accuracy * prompted.n).sum() / prompted.n.sum()
    assert set(prompted.model) == {THEIRS} and 0 < right == pytest.approx((asked.gold == "he").mean())
    table = files.read_csv(run.folder / "results/ruff/tables/replica/prompted_models.csv")
    assert table.source.tolist() == ["inspect"]
    text = " ".join((run.folder / "results/paper/main.tex").read_text(encoding="utf-8").split())
    assert (
        "did not compute the outputs of Theirs (demonstration): they were imported from lm-evaluation-harness" in text
    )
    assert "& imported from lm-evaluation-harness" in text
    assert run.planned(ACCURACY, overlay="both.yaml") == {}
    # A changed file of theirs is imported again.
    path = next((run.folder / "logs").iterdir())
    path.write_text(path.read_text() + "\n")
    assert "import_scores" in run.planned(ACCURACY, overlay="both.yaml")
