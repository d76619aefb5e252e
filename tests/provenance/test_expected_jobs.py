"""Of the files that lie among results, those are planned that can be: one that cannot hides no other."""

from snakemake.exceptions import WorkflowError

from scripts.provenance import expected_jobs


def test_a_file_that_cannot_be_planned_hides_no_other(monkeypatch):
    def resolve(made, paths):
        if "broken" in paths:
            raise WorkflowError("an input is missing")

    monkeypatch.setattr(expected_jobs, "resolve_jobs", resolve)
    assert expected_jobs.producible(None, ["a", "b", "broken", "c", "d"]) == ["a", "b", "c", "d"]
    assert expected_jobs.producible(None, ["broken"]) == expected_jobs.producible(None, []) == []


def test_weights_lie_in_the_folders_of_an_entry():
    entry = {"source": {"path": "/data/m"}, "adapter": {"hub": "org/a"}, "label": "M"}
    assert expected_jobs.weight_folders(entry) == {"source": "/data/m"}
    assert expected_jobs.weight_folders("m") == {}
