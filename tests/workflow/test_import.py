"""Scores that were computed elsewhere as those of a model: its accuracies are those of our own scores."""

import pandas as pd
import pytest
import yaml

from scripts.core import config, files

pytestmark = pytest.mark.workflow
MODEL, THEIRS = "tiny-llama", "theirs"
SCORES = f"results/ruff/scores/replica/{MODEL}.parquet"
ACCURACY = "results/ruff/estimates.csv"


def test_given_scores_have_the_accuracies_of_our_own(fresh):
    run = fresh((MODEL,))
    registry = run.folder / "zoo/models.yaml"
    listed = config.load_yaml(registry)
    dropped = ("source", "tokenizer", "precision", "gpus", "prompt_wrapping")
    kept = {key: value for key, value in listed["models"][MODEL].items() if key not in dropped}
    listed["models"][THEIRS] = kept | {"label": "Theirs (demonstration)", "outputs": {"ruff/replica": "theirs.csv"}}
    registry.write_text(yaml.safe_dump(listed, sort_keys=False))
    overlay = config.load_yaml(run.folder / "config/test.yaml") | {"studies": ["ruff"]}
    overlay["ruff"]["templates"] = ["replica"]
    overlay["ruff"]["prompting"] |= {"models": [], "chain_of_thought": {"models": []}}
    for name, models in (("own", [MODEL]), ("both", [MODEL, THEIRS])):
        (run.folder / f"{name}.yaml").write_text(yaml.safe_dump(overlay | {"models": models}, sort_keys=False))
    done = run.snakemake("-n", overlay="both.yaml")
    assert "models.theirs.outputs: theirs.csv: no such file; correct the path" in done.stdout
    done = run.snakemake(SCORES, overlay="own.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    given = files.read_parquet(run.folder / SCORES).drop(columns="option_index")
    given.to_csv(run.folder / "theirs.csv", index=False)
    done = run.snakemake(ACCURACY, "plan", "results/paper/main.tex", "results/explorer.html", overlay="both.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    table = files.read_csv(run.folder / ACCURACY).drop(columns=["low", "high"])
    table = table[table.metric == "accuracy"].set_index("model")
    own, imported = (table.loc[name].reset_index(drop=True) for name in (MODEL, THEIRS))
    assert len(own) > 3
    pd.testing.assert_frame_equal(own, imported)
    text = " ".join((run.folder / "results/paper/main.tex").read_text(encoding="utf-8").split())
    assert "The scores of Theirs (demonstration) were computed elsewhere." in text
    assert run.planned(ACCURACY, overlay="both.yaml") == {}
    # A changed file of theirs is imported again.
    given[:-1].to_csv(run.folder / "theirs.csv", index=False)
    assert "import_scores" in run.planned(ACCURACY, overlay="both.yaml")
