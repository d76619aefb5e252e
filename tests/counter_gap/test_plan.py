"""The plan of a run: data sets, systems and books, and what is refused before any job."""

import pytest

from scripts.core.errors import UserError
from scripts.counter_gap.lib.plan import DATA, Plan
from scripts.counter_gap.lib.traces import list_traces
from tests import plans

SYSTEMS = ("bert-base-coref", "lingmess")
FOLDER = "results/counter_gap/clusters"


def plan(fetched=None, **changes):
    systems = {name: plans.SYSTEMS[name].facts for name in SYSTEMS}
    settings = plans.settings("counter_gap", {"baselines": ["nearest"], "books": {"sources": []}} | changes)
    return Plan.of(settings, systems, fetched or {}, str)


def test_rules_and_systems_resolve_what_has_texts():
    made = plan(templates=["replica", "released"], gap=["test"], corpus="litbank")
    assert made.data == ["replica", "released", "gap_test"]
    assert made.documents.sets == ["replica", "gap_test"]
    assert [entry["file"] for entry in made.clusters["gap_test"]] == [
        f"{FOLDER}/gap_test/{name}.jsonl" for name in ("nearest", *SYSTEMS)
    ]
    assert made.clusters.keys() == set(DATA) and made.clusters["released"] == []
    assert made.compared_sets == ["replica", "released", "official"]
    assert made.example_sets == ["replica"]
    scored = {"system": "BERT-base", "debiasing": "none"}
    assert made.corpus_scores == {"results/coreference/f1/litbank/bert-base-coref.csv": scored}


def test_books_are_fetched_or_where_the_configuration_says(tmp_path):
    (tmp_path / "Emma.txt").touch()
    books = plan({"books/persuasion.txt": "persuasion.txt"}, books={"sources": [str(tmp_path), "books/persuasion.txt"]})
    assert sorted(books.books.values()) == sorted([str(tmp_path / "Emma.txt"), "persuasion.txt"])
    assert "books" in plan(templates=["books"]).compared_sets


def test_groups_are_both_genders():
    (entry,) = [entry for entry in list_traces() if entry.get("when", {}).get("group") == "(?P<gender>[MF])"]
    assert entry["when"]["metric"] == "accuracy|i_within" and entry["then"] == {"gender": "{gender}"}


def test_what_no_run_can_have_is_refused():
    given = {"system": "BERT-base", "debiasing": "none", "data": "replica", "file": "mine.jsonl"}
    with pytest.raises(UserError, match=r"mine\.jsonl is of BERT-base, debiasing none, on replica, as .* is; give it"):
        plan(clusters=[given])
    with pytest.raises(UserError, match=r"counter_gap\.books: nowhere is neither a file, nor a folder"):
        plan(books={"sources": ["nowhere"]})
