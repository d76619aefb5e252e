"""A model behind a server as one of the models of a run: the check, the scores, what the paper says."""

import numpy as np
import pytest
import yaml

from scripts.core import config, files
from scripts.core.engines import models
from tests.core.engines.likelihood_server import LikelihoodServer

pytestmark = pytest.mark.workflow
MODEL = "tiny-llama"


@pytest.fixture(scope="module")
def served(finished):
    """Add a served model to the run's registry, and run what its scores take; yields the server and the run."""
    folder = finished.folder
    registry = folder / "zoo/models.yaml"
    listed = config.load_yaml(registry)
    entry = listed["models"][MODEL]
    source = entry["source"] | {"path": str(folder / entry["source"]["path"])}
    network = models.load(MODEL, entry, models.locate(MODEL, entry | {"source": source}), "cpu")
    with LikelihoodServer(*network) as server:
        kept = {key: value for key, value in entry.items() if key not in ("source", "precision", "gpus", "tokenizer")}
        api = {
            "base_url": server.base_url, "model": "any", "interface": "completions", "key": None, "top_logprobs": 1,
            "requests_per_minute": 600000, "usd_per_million_tokens": {"prompt": 0, "completion": 0},
            "scoring": {"answers": "prompt_logprobs", "reference": MODEL},
        }  # fmt: skip
        listed["models"]["served"] = kept | {"label": "Served (demonstration)", "api": api}
        registry.write_text(yaml.safe_dump(listed, sort_keys=False))
        overlay = config.load_yaml(folder / "config/test.yaml") | {"studies": ["ruff"], "models": ["served"]}
        overlay["ruff"] |= {"templates": ["replica"]}
        prompting = overlay["ruff"]["prompting"]
        prompting["models"] = prompting["chain_of_thought"]["models"] = []
        (folder / "served.yaml").write_text(yaml.safe_dump(overlay, sort_keys=False))
        done = finished.snakemake("results/paper/main.tex", overlay="served.yaml")
        assert done.returncode == 0, done.stdout[-4000:]
        yield server, finished


def test_a_served_model_is_checked_and_scored_as_a_local_one(served):
    _, run = served
    path = run.folder / "results/ruff/scores/replica/served.parquet"
    there, here = files.read_parquet(path), files.read_parquet(path.with_name(f"{MODEL}.parquet"))
    joined = there.merge(here, on=["instance_id", "option_index"])
    assert len(joined) == len(there) > 100
    np.testing.assert_allclose(joined.log_probability_x, joined.log_probability_y, atol=1e-4)
    gate = files.parquet_metadata(path)["gate"]
    assert gate["checked"] and gate["changed_decisions"] == 0 and gate["repeated_calls_agree"]
    text = " ".join((run.folder / "results/paper/main.tex").read_text(encoding="utf-8").split())
    assert f"Of {gate['texts']} texts that were scored there and here" in text
    assert f"0 of {gate['instances']} decisions change; repeated calls gave the same numbers." in text


def test_a_second_run_and_a_new_price_ask_for_nothing_again(served):
    server, run = served
    assert run.planned("results/paper/main.tex", overlay="served.yaml") == {}
    asked = len(server.seen)
    done = run.snakemake("results/ruff/scores/replica/served.parquet", "-R", "score_at_server", overlay="served.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(server.seen) == asked
