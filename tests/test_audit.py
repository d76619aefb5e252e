"""The audit's view of the folder: everything that lies below results/ is seen, whatever it is."""

import os

import pytest

from scripts import audit as command
from scripts.core.provenance import audit, reporting
from scripts.provenance import run_state


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("results/a/b.csv", "results/model/weights", "results/logs/.hidden", "results/provenance/x/y.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1\n")
    return tmp_path / "results"


def hidden(results):
    (results / "a/.c.csv").write_text("")


def hidden_folder(results):
    (results / ".x").mkdir()
    (results / ".x/c.csv").write_text("")


def dangling(results):
    (results / "a/c.csv").symlink_to("nowhere.csv")


def link_to_a_folder(results):
    (results / "a/c").symlink_to("/")


def pipe(results):
    os.mkfifo(results / "a/c.csv")


def hidden_in_a_made_folder(results):
    (results / "model/c").symlink_to("nowhere")


PLANTED = [
    (hidden, "results/a/.c.csv", "a hidden file lies among the results"),
    (hidden_folder, "results/.x/c.csv", None),
    (dangling, "results/a/c.csv", "a link to nothing lies among the results"),
    (link_to_a_folder, "results/a/c", None),
    (pipe, "results/a/c.csv", None),
    (hidden_in_a_made_folder, "results/model/c", None),
]


@pytest.mark.parametrize(
    ("plant", "path"),
    [
        pytest.param(*case, marks=pytest.mark.attack(done, "`orphan`: no rule") if done else (), id=case[0].__name__)
        for *case, done in PLANTED
    ],
)
def test_whatever_no_rule_makes_is_an_orphan(results, plant, path):
    plant(results)
    jobs = [{"outputs": ["results/a/b.csv", "results/model"]}]
    present = sorted(run_state.list_results(set()))
    found = audit.orphaned_files(present, jobs, run_state.read_digests(set(), present))
    assert list(found) == [path]
    assert reporting.describe_reason(found[path]["reasons"][0]) == f"no rule of this run makes {path}"


def test_what_snakemake_notes_in_a_made_folder_is_no_orphan(results):
    (results / "model/.snakemake_timestamp").write_text("")
    (results / "a/.snakemake_timestamp").write_text("")
    present = sorted(run_state.list_results(set()))
    jobs = [{"outputs": ["results/a/b.csv", "results/model"]}]
    assert list(audit.orphaned_files(present, jobs, run_state.read_digests(set(), present))) == [
        "results/a/.snakemake_timestamp"
    ]


def test_results_on_another_disk_are_looked_at(results, tmp_path):
    """A linked folder that holds outputs is one of the run's; any other link is reported and not followed."""
    (results / "a").rename(tmp_path / "disk")
    (results / "a").symlink_to(tmp_path / "disk")
    (tmp_path / "disk/extra.csv").write_text("")
    found = set(run_state.list_results({"results/a/b.csv"}))
    assert {"results/a/b.csv", "results/a/extra.csv"} <= found
    assert "results/a" not in found
    assert "results/a" in set(run_state.list_results(set()))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["figure 7", "--against", "x"], "two questions; ask one at a time"),
        (["--directory", "nowhere"], "--directory nowhere: No such file or directory; name the folder of a run"),
    ],
)
def test_commands_that_ask_two_things_are_refused(results, capsys, arguments, told):
    assert command.main(arguments) == 2
    assert told in capsys.readouterr().err
