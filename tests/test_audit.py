"""The audit's view of the folder: everything that lies below results/ is seen, whatever it is."""

import os
import re

import pytest

from scripts import audit as command
from scripts.core.provenance import audit


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


@pytest.mark.parametrize(
    ("plant", "path"),
    [
        (hidden, "results/a/.c.csv"),
        (hidden_folder, "results/.x/c.csv"),
        (dangling, "results/a/c.csv"),
        (link_to_a_folder, "results/a/c"),
        (pipe, "results/a/c.csv"),
        (hidden_in_a_made_folder, "results/model/c"),
    ],
)
def test_whatever_no_rule_makes_is_an_orphan(results, plant, path):
    plant(results)
    jobs = [{"outputs": ["results/a/b.csv", "results/model"]}]
    present = sorted(command._present(set()))
    found = audit.orphaned_files(present, jobs, command._digests(set(), present))
    assert list(found) == [path]
    assert audit.describe(found[path]["reasons"][0]) == f"no rule of this run makes {path}"


def test_what_snakemake_notes_in_a_made_folder_is_no_orphan(results):
    (results / "model/.snakemake_timestamp").write_text("")
    (results / "a/.snakemake_timestamp").write_text("")
    present = sorted(command._present(set()))
    jobs = [{"outputs": ["results/a/b.csv", "results/model"]}]
    assert list(audit.orphaned_files(present, jobs, command._digests(set(), present))) == [
        "results/a/.snakemake_timestamp"
    ]


def test_results_on_another_disk_are_looked_at(results, tmp_path):
    """A linked folder that holds outputs is one of the run's; any other link is reported and not followed."""
    (results / "a").rename(tmp_path / "disk")
    (results / "a").symlink_to(tmp_path / "disk")
    (tmp_path / "disk/extra.csv").write_text("")
    found = set(command._present({"results/a/b.csv"}))
    assert {"results/a/b.csv", "results/a/extra.csv"} <= found
    assert "results/a" not in found
    assert "results/a" in set(command._present(set()))


SCORE = "results/ruff/scores/replica/old.parquet"


@pytest.fixture
def pruned(results, monkeypatch):
    """Return a function that runs ``--prune`` on a run that makes results/a/b.csv alone, beside old files."""
    for path in (
        SCORE,
        "results/ruff/answers/replica/old.parquet",
        "results/ruff/figures/old/x.pdf",
        "results/plan.csv",
    ):
        (results.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (results.parent / path).write_text("12345")
    (results.parent / "mine.txt").write_text("")
    jobs = [{"outputs": ["results/a/b.csv", "results/model"]}]

    class Planned:
        def __init__(self, configfiles, targets):
            present = sorted(command._present(set()))
            digests = command._digests(set(), present)
            self.findings = {"results/a/b.csv": {"verdict": "current"}} | audit.orphaned_files(present, jobs, digests)

    monkeypatch.setattr(command, "State", Planned)
    return lambda *arguments: command.command_line(["--prune", *arguments])


def left(results):
    return {path.relative_to(results.parent).as_posix() for path in results.parent.rglob("*") if not path.is_dir()}


def test_what_nothing_makes_is_listed_with_sizes_and_stays(results, pruned, capsys):
    before = left(results)
    assert pruned() == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"extra +5 B  results/ruff/figures/old/x\.pdf$", lines[0])
    assert [line.split()[-1] for line in lines if line.startswith("kept")] == [
        "results/ruff/answers/replica/old.parquet", SCORE,
    ]  # fmt: skip
    assert "no rule of this configuration makes 1 files, 5 B" in lines
    assert "to remove them, add --delete" in lines
    assert left(results) == before


def test_what_nothing_makes_is_removed_but_for_scores(results, pruned, capsys):
    before = left(results)
    assert pruned("--delete") == 0
    assert "removed" in capsys.readouterr().out
    assert before - left(results) == {"results/ruff/figures/old/x.pdf"}
    assert not (results / "ruff/figures").exists()
    assert (results / "ruff").exists()


@pytest.mark.parametrize("name", [SCORE, "results/ruff/scores", "results/ruff/scores/", "results/a/../ruff/scores"])
def test_scores_are_removed_where_they_are_named(results, pruned, name):
    before = left(results)
    assert pruned("--delete", name) == 0
    assert before - left(results) == {SCORE}


def test_a_folder_above_the_scores_does_not_name_them(results, pruned):
    before = left(results)
    assert pruned("--delete", "results/ruff") == 0
    assert before - left(results) == {"results/ruff/figures/old/x.pdf"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mine.txt", "mine.txt is not in results/"),
        ("results/../mine.txt", "is not in results/"),
        ("/etc/passwd", "/etc/passwd is not in results/"),
        ("results/a/b.csv", "results/a/b.csv: nothing there that no rule of this configuration makes"),
        ("results/plan.csv", "nothing there that no rule"),
        ("results/ruff/scor", "nothing there that no rule"),
    ],
)
def test_nothing_else_is_ever_removed(results, pruned, capsys, name, told):
    before = left(results)
    assert pruned("--delete", name) == 2
    assert told in capsys.readouterr().err
    assert left(results) == before


def test_what_lies_behind_links_stays(results, pruned, tmp_path, capsys):
    outside = tmp_path.parent / f"{tmp_path.name}-disk"
    outside.mkdir()
    (outside / "theirs.csv").write_text("")
    (results / "c").symlink_to(outside)
    (results / "d.csv").symlink_to(outside / "theirs.csv")
    assert pruned("--delete") == 0
    assert (outside / "theirs.csv").exists()
    assert not (results / "c").is_symlink()
    assert not (results / "d.csv").is_symlink()


def test_files_of_a_linked_folder_of_the_run_stay(results, pruned, tmp_path, monkeypatch, capsys):
    outside = tmp_path.parent / f"{tmp_path.name}-disk"
    (results / "a").rename(outside)
    (results / "a").symlink_to(outside)
    (outside / "theirs.csv").write_text("")
    present = command._present
    monkeypatch.setattr(command, "_present", lambda recorded: present({"results/a/b.csv"}))
    assert pruned("--delete") == 0
    assert (outside / "theirs.csv").exists()
    assert "1 files behind linked folders stay; remove them by hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--delete"], "--delete belongs to --prune"),
        (["--prune", "--impact", "x"], "two questions"),
        (["--prune", "--against", "x"], "--against compares all results"),
        (["figure", "7"], "one result at a time, not 2; put a name with spaces in quotation marks"),
        (["--directory", "nowhere"], "--directory nowhere: No such file or directory; name the folder of a run"),
    ],
)
def test_commands_that_ask_two_things_are_refused(results, capsys, arguments, told):
    assert command.command_line(arguments) == 2
    assert told in capsys.readouterr().err
