"""The rule that runs coreference systems: what it writes, how it goes on after it was killed, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.coreference_systems import documents as annotated
from scripts.core.coreference_systems import jobs, metrics
from scripts.core.data import coreference as clusters
from scripts.core.provenance import job_records
from scripts.core.statistics import procedures
from scripts.coreference import coreference, coreference_f1, merge_clusters
from tests import jobs as processes
from tests import zoo
from tests.core.coreference_systems import tiny
from tests.refusals import refused

SENTENCE = "The nurse told the doctor that Zoë was late because {} had missed the bus."


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    return zoo.build_c2f(tmp_path_factory.mktemp("zoo"))


@pytest.fixture
def table(tmp_path):
    """A table of documents."""
    path = tmp_path / "documents.parquet"
    texts = [SENTENCE.format(f"the {number}. colleague") for number in range(40)]
    files.write_parquet(path, pd.DataFrame({"id": [f"d{n}" for n in range(40)], "text": texts, "other": 1}))
    return path


def arguments(folder, table, entry, **changes):
    return {
        "documents": str(table),
        "clusters": str(folder / "1of1.jsonl"),
        "metadata": str(folder / "1of1.metadata.json"),
        "system": "tiny-c2f",
        "entry": entry,
        "identifier": "id",
        "device": "cpu",
        **changes,
    }


@pytest.mark.parametrize("is_trained", [False, True], ids=["a folder", "trained here"])
def test_clusters_and_what_made_them(tmp_path, table, entry, is_trained):
    folder = entry["source"]["path"]
    if is_trained:
        entry = entry | {"source": {"trained": "tiny-c2f"}}
    coreference.main(**arguments(tmp_path, table, entry, trained=folder if is_trained else None))
    texts = jobs.read_texts(table, "id")
    documents = clusters.read_clusters(tmp_path / "1of1.jsonl", texts)
    assert list(documents) == list(texts) and any(document.clusters for document in documents.values())
    facts = json.loads((tmp_path / "1of1.metadata.json").read_text(encoding="utf-8"))
    assert facts["system"] == "tiny-c2f" and facts["engine"] == facts["architecture"] == "c2f"
    assert facts["source"].keys() == entry["source"].keys()
    assert facts["weights_sha256"] == files.sha256(folder)
    assert facts["weights_sha256"] == job_records.local_weights(folder, tmp_path / "cache", whole=True)
    assert set(facts["libraries"]) == {"torch", "transformers", "tokenizers"} and facts["device"] == "cpu"
    assert facts["documents"] == facts["documents_timed"] == 40 and facts["seconds"] > 0
    assert "scripts/core/coreference_systems/c2f/model.py" in facts["code"]
    # The audit's records know them by the clusters that they belong to.
    known = job_records.model_facts([tmp_path / "1of1.jsonl", tmp_path / "1of1.metadata.json"])
    assert known[str(tmp_path / "1of1.jsonl")]["model"] == "tiny-c2f" and len(known) == 1
    assert not list(tmp_path.glob("*.parts"))


def test_shards_make_the_whole(tmp_path, table, entry):
    coreference.main(**arguments(tmp_path, table, entry))
    shards = []
    for shard in (1, 2, 3):
        names = {kind: str(tmp_path / f"{shard}of3.{kind}") for kind in ("jsonl", "metadata.json")}
        coreference.main(
            **arguments(
                tmp_path, table, entry, clusters=names["jsonl"], metadata=names["metadata.json"], shard=shard, shards=3
            )
        )
        shards.append(names)
    given = {
        "shards": [names["jsonl"] for names in shards],
        "facts": [names["metadata.json"] for names in shards],
        "clusters": str(tmp_path / "all.jsonl"),
        "metadata": str(tmp_path / "all.metadata.json"),
    }
    merge_clusters.main(**given)
    assert (tmp_path / "all.jsonl").read_bytes() == (tmp_path / "1of1.jsonl").read_bytes()
    merged, whole = (json.loads((tmp_path / f"{name}.metadata.json").read_text()) for name in ("all", "1of1"))
    assert merged["documents"] == 40 and merged["texts_sha256"] == whole["texts_sha256"]
    assert merged["clusters"] == whole["clusters"] and "shard" not in merged
    # A shard of other weights, and one that was cut off.
    stated = json.loads(Path(given["facts"][1]).read_text())
    files.write_json(given["facts"][1], stated | {"weights_sha256": "0" * 64})
    with refused("2of3.jsonl", "weights_sha256", "'0000", "delete"):
        merge_clusters.main(**given)
    files.write_json(given["facts"][1], stated)
    path = Path(given["shards"][1])
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with refused("2of3.jsonl", "13 documents", "12", "delete"):
        merge_clusters.main(**given)


JOB = "scripts.coreference.coreference"


def test_a_job_that_was_killed_goes_on_and_ends_as_one_that_was_not(tmp_path, entry):
    table = tmp_path / "many.parquet"
    texts = [" ".join(SENTENCE.format(f"the {n}. person") for _ in range(24)) for n in range(100)]
    files.write_parquet(table, pd.DataFrame({"id": [str(n) for n in range(100)], "text": texts}))
    given = arguments(tmp_path, table, entry, save_seconds=0.02)
    parts = tmp_path / "1of1.parts"
    processes.kill_with_parts(JOB, given, parts, 3)
    assert not (tmp_path / "1of1.jsonl").exists()
    kept = sum(len(files.read_arrow(path)) for path in parts.glob("[!.]*.parquet"))
    assert 0 < kept < 100
    # Killed while it saved, and a part that cannot be read.
    (parts / ".left.parquet").write_text("half", encoding="utf-8")
    (parts / "ff-000000-000001.parquet").write_text("half", encoding="utf-8")
    status, said = processes.Job(JOB, given).end()
    assert status == 0, said
    assert f"{100 - kept} of them now" in said
    assert not parts.exists()
    (tmp_path / "at once").mkdir()
    coreference.main(**arguments(tmp_path / "at once", table, entry))
    for name in ("1of1.jsonl", "1of1.metadata.json"):
        made, whole = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, tmp_path / "at once"))
        if name.endswith(".json"):
            made, whole = ({k: v for k, v in json.loads(x).items() if k not in TIMED} for x in (made, whole))
        assert made == whole


TIMED = ("seconds", "documents_timed")


def test_documents_are_grouped_in_their_order(monkeypatch):
    monkeypatch.setattr(jobs, "GROUP_CHARACTERS", 10)
    texts = {"a": "x" * 4, "b": "x" * 8, "c": "x" * 30, "d": "x"}
    assert [[name for name, _ in batch.work] for batch in jobs.group_documents(texts)] == [["a", "b"], ["c"], ["d"]]


def test_a_digest_is_of_names_texts_and_their_order():
    given = [{"a": "x", "b": "y"}, {"b": "y", "a": "x"}, {"a": "x", "b": "z"}, {"a": "x", "c": "y"}]
    assert len({jobs.digest_texts(texts) for texts in given}) == 4


TEXTLESS = {
    "blank": ([("a", "One."), ("b", " ")], ["'b'", "no text"]),
    "missing": ([("a", None)], ["'a'", "no text"]),
    "twice": ([("a", "One."), ("a", "Two.")], ["two documents", "'a'"]),
    "none": ([], ["no documents", "delete"]),
}


@pytest.mark.parametrize(("rows", "named"), TEXTLESS.values(), ids=TEXTLESS)
def test_texts_that_are_not_there_are_refused(tmp_path, rows, named):
    path = tmp_path / "documents.parquet"
    files.write_parquet(path, pd.DataFrame(rows, columns=["id", "text"]))
    with refused(path, *named):
        jobs.read_texts(path, "id")


def test_folders_that_hold_no_system(tmp_path, table, entry):
    empty = entry | {"source": {"path": str(tmp_path / "nothing")}}
    with refused("config/models.yaml", "tiny-c2f", "nothing", "no weights", "source.path"):
        coreference.main(**arguments(tmp_path, table, empty))
    stanza = entry | {"architecture": "caw", "environment": "coreference"}
    with refused("tiny-c2f", "0 .pt files", "source.path"):
        coreference.main(**arguments(tmp_path, table, stanza))


def test_the_scores_of_a_system_on_an_annotated_corpus(tmp_path, entry):
    # The full stop at the end of each is a cluster of one mention, as LitBank has some.
    ends = [(len(document.words) - 1,) * 2 for document in tiny.documents()]
    documents = [replace(d, clusters=(*d.clusters, (end,))) for d, end in zip(tiny.documents(), ends, strict=True)]
    annotated.write_documents(tmp_path / "test.jsonl", documents)
    job = {"annotated": str(tmp_path / "test.jsonl"), "system": "tiny-c2f", "corpus": "litbank", "part": "test"}
    job |= {"device": "cpu", "draws": 200, "seed": 1}
    coreference_f1.main(**job, csv=str(tmp_path / "path.csv"), entry=entry)
    table = files.read_csv(tmp_path / "path.csv")
    assert list(table.metric) == ["conll", "muc", "b_cubed", "ceaf_e", "conll_singletons", "mentions"]
    scores = table.set_index("metric").f1
    assert scores.conll == pytest.approx(scores[["muc", "b_cubed", "ceaf_e"]].mean())
    assert set(table.documents) == {len(tiny.documents())} and set(table.corpus) == {"litbank"}
    assert set(table.part) == {"test"}
    conll = table[table.metric == "conll"].iloc[0]
    assert table.ci_low.count() == 1
    # Of documents drawn anew and scored as all of them are: without singletons.
    resolver = jobs.open_system(
        "tiny-c2f", entry, script="scripts/coreference/coreference_f1.py", device="cpu", threads=1
    ).resolver
    gold, predicted = [document.clusters for document in documents], resolver.clusters(documents)
    samples = []
    for drawn in procedures.cluster_weights(len(gold), 200, 1).astype(int):
        sample = np.repeat(np.arange(len(gold)), drawn)
        scores_of_sample = metrics.score_clusters([gold[n] for n in sample], [predicted[n] for n in sample])
        samples.append(scores_of_sample["conll"])
    interval = procedures.bootstrap_interval(conll.f1, samples, len(gold), least=0.0)
    assert (conll.ci_low, conll.ci_high) == pytest.approx(interval) and conll.ci_low < conll.f1 < conll.ci_high
    # The folder that the rule train_coreference wrote, in place of one of the registry.
    trained = {**entry, "source": {"trained": "tiny-c2f"}}
    coreference_f1.main(**job, csv=str(tmp_path / "trained.csv"), entry=trained, trained=entry["source"]["path"])
    assert (tmp_path / "trained.csv").read_text() == (tmp_path / "path.csv").read_text()
