"""The plan of a run: data sets, systems and books, and what is refused before any job."""

from scripts.counter_gap import study
from scripts.counter_gap.plan import DATA, Plan
from tests import plans
from tests.refusals import refused

SYSTEMS = ("bert-base-coref", "lingmess")
FOLDER = "results/counter_gap/clusters"


def plan(fetched=None, **changes):
    systems = {name: plans.SYSTEMS[name].facts for name in SYSTEMS}
    settings = plans.settings("counter_gap", {"baselines": ["nearest"], "books": {"sources": []}} | changes)
    upstream = {path.format(name=name): name for path in study.RELEASED.values() for name in study.SYSTEMS}
    return Plan(settings, systems, "released_flags.tsv", upstream | (fetched or {}), str)


def test_rules_and_systems_resolve_what_has_texts():
    made = plan(templates=["replica", "released"], gap=["test"], corpus="litbank")
    assert made.data == ["replica", "released", "gap_test"]
    assert made.documents.sets == ["replica", "gap_test"]
    assert [reader["file"] for reader in made.readers("gap_test")] == [
        f"{FOLDER}/gap_test/{name}.jsonl" for name in ("nearest", *SYSTEMS)
    ]
    released = made.readers("released")
    assert {reader["file"] for reader in released} == {"released_flags.tsv"} and len(released) == 8
    assert {reader["outputs"] for reader in made.readers("official")} == {"flags", "clusters"}
    assert all(made.labels[reader["model"]] for data in DATA for reader in made.readers(data))
    assert made.compared_sets == ["replica", "released", "official"]
    assert made.example_sets == ["replica"]
    scored = {"model": "bert-base-coref", "debiasing": "none"}
    assert made.corpus_scores == {"results/coreference/f1/litbank/bert-base-coref.csv": scored}


def test_books_are_fetched_or_where_the_configuration_says(tmp_path):
    (tmp_path / "Emma.txt").touch()
    books = plan({"books/persuasion.txt": "persuasion.txt"}, books={"sources": [str(tmp_path), "books/persuasion.txt"]})
    assert sorted(books.books.values()) == sorted([str(tmp_path / "Emma.txt"), "persuasion.txt"])
    assert "books" in plan(templates=["books"]).compared_sets


def test_two_files_of_one_system_are_refused():
    given = {"system": "BERT-base", "debiasing": "none", "data": "replica", "file": "mine.jsonl"}
    with refused("counter_gap.clusters", "mine.jsonl", "BERT-base", "replica", "another name"):
        plan(clusters=[given])
