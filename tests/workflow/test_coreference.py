"""Coreference systems in the workflow: run by name, planned, audited, read by two studies, refused in one line.

They have one tiny random system (``config/test.yaml``).
"""

import json
import re
import shutil

import pytest
import yaml

from scripts.core import files
from scripts.core.data import coreference
from tests.workflow.conftest import audit

pytestmark = pytest.mark.workflow

LABEL = "c2f (random)"
CLUSTERS = "results/counter_gap/clusters/replica/tiny-c2f.jsonl"


def test_both_studies_read_the_system(complete):
    results = complete / "results"
    flags = files.read_parquet(results / "counter_gap/predictions/replica.parquet")
    assert set(flags[flags.model == "tiny-c2f"].reading) == {"corrected", "published"}
    shown = files.read_csv(results / "counter_gap/tables/replica/accuracy.csv")
    assert LABEL in set(shown.System)
    for entities in ("double", "single"):
        found = files.read_parquet(results / f"winopron/predictions/replica/{entities}.parquet")
        assert set(found[found.model == "tiny-c2f"].reading) == {"corrected", "published"}
    assert LABEL in files.read_csv(results / "winopron/tables/replica/performance.csv").to_csv()
    sections = (results / "paper/sections").glob("winopron*.tex")
    assert LABEL in "".join(path.read_text(encoding="utf-8") for path in sections)


def test_clusters_are_those_of_the_documents(complete):
    instances = files.read_parquet(complete / "results/counter_gap/instances/replica.parquet")
    documents = coreference.read_clusters(complete / CLUSTERS, dict(zip(instances.id, instances.text, strict=True)))
    facts = json.loads((complete / CLUSTERS).with_suffix(".metadata.json").read_text(encoding="utf-8"))
    assert facts["documents"] == len(documents) == 96
    assert facts["clusters"] == sum(len(document.clusters) for document in documents.values()) > 0
    (record,) = (complete / "results/provenance/merge_clusters").glob("data=replica,*system=tiny-c2f.json")
    recorded = json.loads(record.read_text(encoding="utf-8"))["models"][CLUSTERS]
    assert recorded["model"] == "tiny-c2f" and recorded["weights_sha256"] == facts["weights_sha256"]


def test_weights_that_were_overwritten_are_seen(finished):
    """The audit compares them, and Snakemake resolves again; another label alone resolves nothing."""
    entry = finished.folder / "zoo/models.yaml"
    content = yaml.safe_load(entry.read_text(encoding="utf-8"))
    settings = content["systems"]["tiny-c2f"]
    entry.write_text(yaml.safe_dump(content | {"systems": {"tiny-c2f": settings | {"licence": "none"}}}))
    assert finished.planned(CLUSTERS) == {}
    entry.write_text(yaml.safe_dump(content, sort_keys=False))
    configuration = finished.folder / settings["source"]["path"] / "encoder/config.json"
    before = configuration.read_text(encoding="utf-8")
    configuration.write_text(before + "\n", encoding="utf-8")
    assert finished.planned(CLUSTERS) == {"coreference": 1, "merge_clusters": 1}
    status, said = audit(finished.folder, targets=[CLUSTERS])
    assert status and re.search(
        r"stale +results/counter_gap/clusters/replica/tiny-c2f/1of1.jsonl\n +weights tiny-c2f: was", said
    ), said
    configuration.write_text(before, encoding="utf-8")


@pytest.mark.nightly
def test_systems_of_packages_run_in_an_environment_of_their_own(fresh, package_systems, root):
    """All three architectures, each on Counter-GAP's replica, in shards."""
    workflow = fresh(("tiny-bert",))
    (workflow.folder / ".venv-coreference").symlink_to(root / ".venv-coreference")
    names = ["tiny-lingmess", "tiny-f-coref", "tiny-caw"]
    entries = {}
    for name in names:
        folder = shutil.copytree(package_systems[name]["source"]["path"], workflow.folder / "zoo" / name)
        entry = package_systems[name] | {"source": {"path": str(folder)}}
        entries[name] = entry | ({"encoder": {"path": f"{folder}/encoder"}} if "encoder" in entry else {})
    registry = workflow.folder / "zoo/models.yaml"
    content = yaml.safe_load(registry.read_text(encoding="utf-8"))
    registry.write_text(yaml.safe_dump(content | {"systems": entries}), encoding="utf-8")
    overlay = workflow.folder / "config/test.yaml"
    text = overlay.read_text(encoding="utf-8").replace("systems: [tiny-c2f]", f"systems: [{', '.join(names)}]")
    # Two jobs for each system.
    text = text.replace("tokens_per_batch: 8192}", "tokens_per_batch: 8192, minutes_per_job: 0.1}")
    overlay.write_text("studies: [counter_gap]\n" + text, encoding="utf-8")
    done = workflow.snakemake("results/counter_gap/predictions/replica.parquet")
    assert done.returncode == 0, done.stdout[-6000:]
    flags = files.read_parquet(workflow.folder / "results/counter_gap/predictions/replica.parquet")
    assert set(names) <= set(flags.model)
    for name, engine in zip(names, ("fastcoref", "fastcoref", "stanza"), strict=True):
        path = workflow.folder / f"results/counter_gap/clusters/replica/{name}.metadata.json"
        facts = json.loads(path.read_text(encoding="utf-8"))
        assert facts["engine"] == engine and engine in facts["libraries"] and facts["shards"] == 2
    made = json.loads((workflow.folder / "results/environments/coreference.json").read_text(encoding="utf-8"))
    assert made["python"] == ".venv-coreference/bin/python" and made["packages"]["fastcoref"] == "2.1.6"
    assert workflow.planned("results/counter_gap/predictions/replica.parquet") == {}
