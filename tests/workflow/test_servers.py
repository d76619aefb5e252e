"""A model behind a server in a run: its most probable tokens, the paper, and nothing asked twice."""

import pytest
import yaml

from scripts.core import config, files
from tests.core.generation.completion_server import KEY, serve

pytestmark = pytest.mark.workflow
PAPER = "results/paper/main.tex"
DISTRIBUTIONS = "results/underspecification/distributions/mgc/served.parquet"


def test_a_served_model_reaches_the_paper_and_is_asked_once(fresh, monkeypatch):
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    run = fresh(("tiny-bert",))
    folder, registry = run.folder, run.folder / "zoo/models.yaml"
    with serve() as server:
        api = {
            "base_url": server.base_url, "model": "any", "interface": "chat", "key": "TEST_SERVER_KEY",
            "top_logprobs": 3,
        }  # fmt: skip
        entry = config.load_yaml(folder / "config/models.yaml")["models"]["gpt-4o-mini"]
        served = entry | {"label": "Served (demonstration)", "demonstration": True, "api": api}
        listed = config.load_yaml(registry)
        listed["models"]["served"] = served
        registry.write_text(yaml.safe_dump(listed, sort_keys=False))
        overlay = config.load_yaml(folder / "config/test.yaml")
        overlay |= {"studies": ["underspecification"], "models": [], "completions": {"models": ["served"]}}
        (folder / "served.yaml").write_text(yaml.safe_dump(overlay, sort_keys=False))
        done = run.snakemake(PAPER, overlay="served.yaml")
        assert done.returncode == 0, done.stdout[-4000:]
        assert KEY not in done.stdout
        assert "any behind a server" in " ".join((folder / PAPER).read_text(encoding="utf-8").split())
        facts = files.parquet_metadata(folder / DISTRIBUTIONS)
        assert facts["new_tokens"] == 2 * facts["texts"] > 0
        asked = len(server.seen)
        assert run.planned(PAPER, overlay="served.yaml") == {}
        before = (folder / DISTRIBUTIONS).read_bytes()
        done = run.snakemake(DISTRIBUTIONS, "-R", "completions", overlay="served.yaml")
        assert done.returncode == 0 and len(server.seen) == asked, done.stdout[-3000:]
        assert (folder / DISTRIBUTIONS).read_bytes() == before
        overlay |= {"studies": ["ruff"], "models": ["tiny-bert"], "completions": {"models": []}}
        overlay["ruff"]["prompting"] |= {"models": ["served"]}
        (folder / "prompted.yaml").write_text(yaml.safe_dump(overlay, sort_keys=False))
        done = run.snakemake("results/ruff/tables/replica/prompted_models.csv", "ruff", overlay="prompted.yaml")
        assert done.returncode == 0, done.stdout[-4000:]
    table = files.read_csv(folder / "results/ruff/tables/replica/prompted_models.csv")
    assert table.source.tolist() == [server.base_url] and table.precision.tolist() == ["as served"]
    held = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert [path.relative_to(folder).as_posix() for path in held] == []
