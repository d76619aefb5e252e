"""Scores that lm-evaluation-harness logged as those of a model: its accuracies are those of our own scores."""

import json

import pandas as pd
import pytest
import yaml

from scripts.core import config, files, options

pytestmark = pytest.mark.workflow
MODEL, THEIRS = "tiny-llama", "theirs"
SCORES = f"results/ruff/scores/replica/{MODEL}.parquet"
ACCURACY = "results/ruff/analysis/replica/accuracy.csv"


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


def test_logged_scores_have_the_accuracies_of_our_own(fresh):
    run = fresh((MODEL,))
    registry = run.folder / "zoo/models.yaml"
    listed = config.load_yaml(registry)
    entry = listed["models"][MODEL]
    kept = {key: value for key, value in entry.items() if key not in ("source", "tokenizer", "precision", "gpus")}
    outputs = {"tokenizer": entry["source"], "files": {"ruff/replica": ["logs/samples_pronouns_ruff_*.jsonl"]}}
    listed["models"][THEIRS] = kept | {"label": "Theirs (demonstration)", "outputs": outputs}
    registry.write_text(yaml.safe_dump(listed, sort_keys=False))
    overlay = config.load_yaml(run.folder / "config/test.yaml") | {"studies": ["ruff"]}
    overlay["ruff"] |= {"templates": ["replica"], "prompting": {"models": [], "chain_of_thought": {"models": []}}}
    for name, models in (("own", [MODEL]), ("both", [MODEL, THEIRS])):
        (run.folder / f"{name}.yaml").write_text(yaml.safe_dump(overlay | {"models": models}, sort_keys=False))
    done = run.snakemake("-n", overlay="both.yaml")
    assert "models.theirs.outputs.files: logs/samples_pronouns_ruff_*.jsonl: no such file" in done.stdout
    done = run.snakemake(SCORES, "export_tasks", overlay="own.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    log(run.folder)
    done = run.snakemake(ACCURACY, "results/paper/main.tex", "results/explorer.html", overlay="both.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    table = files.read_csv(run.folder / ACCURACY)
    own, theirs = (table[table.model == name].drop(columns="model").reset_index(drop=True) for name in (MODEL, THEIRS))
    assert len(own) > 3
    pd.testing.assert_frame_equal(own[["n_distractors", "accuracy"]], theirs[["n_distractors", "accuracy"]])
    picks = [options.predict(files.read_parquet(run.folder / SCORES.replace(MODEL, name))) for name in (MODEL, THEIRS)]
    pd.testing.assert_frame_equal(*picks)
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
