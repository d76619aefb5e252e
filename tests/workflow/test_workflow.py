"""The real workflow, run small: complete, quiet when nothing changed, and rerun exactly where something did."""

import contextlib
import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from scripts.core import config, files
from scripts.core.data.options import option_texts
from scripts.core.provenance import closure
from tests import forks
from tests.workflow.conftest import NAMES, PROMPTED, TARGETS, Workflow, audit, edited

pytestmark = pytest.mark.workflow

# What is scored, and by which models: MISGENDERED's, without examples and with one, by those with a loss on labels.
SCORED = {
    "ruff/replica": set(NAMES),
    **{f"misgendered/{name}": {"tiny-opt", "tiny-llama"} for name in ("replica", "replica_few_1")},
    "winopron/replica": set(NAMES),
}


STUDIES = ("ruff", "counter_gap", "misgendered", "underspecification", "winopron")
# All figures and tables, and the LaTeX that they go into.
SOURCES = ("figures", "tables", "ruff_section", "paper_source")


def test_accuracies_can_be_recomputed_from_the_scores(finished):
    """The accuracy in the CSV equals one computed here from the score file with a few lines of pandas."""
    results = finished.folder / "results/ruff"
    instances = files.read_parquet(results / "instances/replica/selected.parquet")
    scores = files.read_parquet(results / "scores/replica/tiny-llama.parquet")
    best = scores.loc[scores.groupby("instance_id").log_probability.idxmax()].set_index("instance_id").option
    drawn = instances[instances.n_distractors == 1]
    right = drawn.instance_id.map(best) == drawn.gold
    expected = right.groupby(drawn.seed).mean().mean()
    table = files.read_csv(results / "estimates.csv")
    pooled = table[["seed", "pronoun", "case", "polarity"]].isna().all(axis=1) & (table.scoring == "probability")
    row = table[pooled & (table.metric == "accuracy") & (table.model == "tiny-llama") & (table.n_distractors == 1)]
    assert row.value.item() == pytest.approx(expected)
    assert row.below.item() == len(drawn)


def test_a_second_run_does_nothing(finished):
    assert finished.planned(*TARGETS, "scores", *STUDIES) == {}


def test_an_unrelated_module_reruns_nothing(finished):
    edit = finished.folder / "scripts/core/coreference_systems/training.py"
    edit.write_text(edit.read_text(encoding="utf-8") + "\nX = 1\n", encoding="utf-8")
    (finished.folder / "scripts/core/statistics/procedures.py").touch()
    # A rule's script that is new, as in a fresh checkout.
    (finished.folder / "scripts/ruff/estimates.py").touch()
    (finished.folder / "scripts/core/unused.py").write_text("x = 1\n")
    assert finished.planned(*SOURCES) == {}


# An edited module; targets; rules that run and that do not. None: exactly those that run.
EDITED = {
    "analyses": ("scripts/ruff/pronoun_tests.py", (*SOURCES, "scores"),
        {"ruff_estimates", "ruff_figures", "ruff_table", "ruff_section"}, {"ruff_sample", "ruff_instances", "score"}),
    "figures": ("scripts/ruff/drawing.py", ("figures", "tables", "scores"), {"ruff_figures", "figures"}, None),
    "engine": ("scripts/core/scoring/tree.py", ("scores",), {"score", "merge_scores", "scores"}, None),
}  # fmt: skip


@pytest.mark.parametrize(("path", "targets", "run", "kept"), EDITED.values(), ids=EDITED)
def test_an_edited_module_reruns_what_it_is_behind(finished, path, targets, run, kept):
    with edited(finished.folder / path, "\nX = 1\n"):
        # An old modification time does not hide the change.
        os.utime(finished.folder / path, (0, 0))
        planned = finished.planned(*targets)
    assert run <= planned.keys() and not (kept or planned.keys() - run) & planned.keys()
    # The paper's title says what the run's numbers support.
    stages = {"ruff", "figures", "tables", "score", "merge", "scores", "paper"}
    assert {name.partition("_")[0] for name in planned} <= stages
    if path.endswith("tree.py"):
        assert (
            planned["score"]
            == sum(map(len, SCORED.values()))
            == len(list(finished.folder.glob("results/*/scores/*/*.parquet")))
        )


def test_another_text_of_the_same_code_and_inert_code_rerun_nothing(finished):
    """All modules of the scoring script: what each has for digests is tested where they are made."""
    modules = [*closure.digest_modules("scripts/scoring/score.py", finished.folder), *closure.INERT]
    with contextlib.ExitStack() as edits:
        for path in modules:
            edits.enter_context(
                edited(finished.folder / path, "\nX = 1\n" if path.endswith("/job.py") else "\n# Why.\n")
            )
        assert finished.planned(*SOURCES, "scores") == {}
        # An audit trusts no digest that was stored.
        (known,) = (finished.folder / "scripts/__pycache__").glob("modules.*.json")
        stored = json.loads(known.read_text(encoding="utf-8"))
        known.write_text(json.dumps({path: [text, "0" * 16, names] for path, (text, _, names) in stored.items()}))
        status, printed = audit(finished.folder)
    assert status == 0, printed


def test_jobs_depend_on_the_pronoun_sets_that_they_use(finished):
    # MISGENDERED uses all rows that there are, the other studies the first four.
    others = {"ruff_sample", "winopron_instances", "counter_gap_instances"}
    for change, rules in (
        ("fae\tfae\tfaer\tfaer\tfaers\tfaerself\tneo\n", set()),
        (lambda text: text.replace("\tzirs\t", "\tzirz\t"), {"misgendered_sample"}),
        (lambda text: text.replace("\thers\t", "\therz\t"), {"misgendered_sample", *others}),
    ):
        with edited(finished.folder / "templates/pronouns.tsv", change):
            planned = finished.planned(*SOURCES)
        assert planned.keys() & {"misgendered_sample", *others} == rules and bool(planned) == bool(rules)


@pytest.mark.nightly
def test_a_name_that_no_sample_draws_changes_no_instances_file(finished, tmp_path):
    """Once the instances are made, nothing that follows from them runs; only what shows the file itself does."""
    copy = Workflow.of(Path(shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)))
    names = copy.folder / "templates/misgendered/names.tsv"
    selected = sorted(copy.folder.glob("results/misgendered/instances/*/selected.parquet"))
    drawn = {row for path in selected for row in files.read_parquet(path).name_row}
    lines = names.read_text(encoding="utf-8").splitlines(keepends=True)
    undrawn = next(n for n in range(len(lines), 0, -1) if n not in drawn)
    name = lines[undrawn - 1].partition("\t")[0]
    lines[undrawn - 1] = lines[undrawn - 1].replace(name, f"{name}x")
    digests = [files.sha256(path) for path in selected]
    names.write_text("".join(lines), encoding="utf-8")
    assert "score" in copy.planned(*SOURCES)
    done = copy.snakemake(*(str(path.relative_to(copy.folder)) for path in selected))
    assert done.returncode == 0, done.stdout
    assert [files.sha256(path) for path in selected] == digests
    planned = copy.planned(*SOURCES)
    assert "misgendered_input_tables" in planned
    assert not {"score", "merge_scores", "misgendered_predictions", "misgendered_estimates"} & planned.keys()


def test_a_job_runs_again_from_its_record(finished):
    target = "results/ruff/tables/replica/pronoun_tests.csv"
    record = "results/provenance/ruff_table/table=pronoun_tests,templates=replica.json"
    kept = {path: (finished.folder / path).read_bytes() for path in (target, record)}
    again = finished.folder / "again" / target
    both = [again, again.with_suffix(".tex")]

    def replay():
        done = forks.run_module("scripts.replay", [record, "again"], finished.folder, os.environ, apart=True)
        return done.returncode, done.stdout.splitlines(), done.stderr

    assert replay()[:2] == (0, [f"{path}: as recorded" for path in both])
    assert again.read_bytes() == kept[target]
    # Of an input that is another by now.
    changed = next(path for path in json.loads(kept[record])["inputs"] if path.endswith("pronoun_tests.csv"))
    content = (finished.folder / changed).read_bytes()
    frame = files.read_csv(finished.folder / changed)
    try:
        files.write_csv(finished.folder / changed, frame[frame.model == "tiny-opt"])
        # Too few instances for any test: what is typeset is a comment as before.
        assert replay()[:2] == (1, [f"{again}: differs from the record", f"{both[1]}: as recorded"])
    finally:
        (finished.folder / changed).write_bytes(content)
    assert {path: (finished.folder / path).read_bytes() for path in kept} == kept
    (finished.folder / record).write_bytes(kept[record][:-20])
    try:
        status, said, errors = replay()
    finally:
        (finished.folder / record).write_bytes(kept[record])
    assert (status, said) == (1, []) and errors.startswith(f"Error: {record}: no record of a job that can be used")


def test_shards_are_jobs_of_their_own_and_change_no_prediction(finished, tmp_path):
    """The same models in many small jobs: one job for each shard, put together, and nothing after them changes."""
    copy = Workflow.of(Path(shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)))
    text = (copy.folder / "config/test.yaml").read_text().replace("systems: [tiny-c2f]", "systems: []")
    (copy.folder / "config/sharded.yaml").write_text(text.replace("scoring: {", "scoring: {minutes_per_job: 0.0005, "))
    target = "results/ruff/scores/replica/tiny-llama.parquet"
    planned = copy.planned(target, overlay="config/sharded.yaml")
    assert planned["score"] > 1
    assert planned["merge_scores"] == 1
    before = files.read_parquet(copy.folder / target)
    done = copy.snakemake(target, overlay="config/sharded.yaml")
    assert done.returncode == 0, done.stdout
    after = files.read_parquet(copy.folder / target)
    assert files.parquet_metadata(copy.folder / target)["shards"] == planned["score"]
    same = ["instance_id", "option", "scored_tokens"]
    pd.testing.assert_frame_equal(before[same], after[same])
    assert (before.log_probability - after.log_probability).abs().max() < 1e-4


def test_the_plan_covers_every_model(finished):
    done = finished.snakemake("plan")
    assert done.returncode == 0, done.stdout
    table = files.read_csv(finished.folder / "results/plan.csv")
    assert (table.hours > 0).all()
    by_rule = table.groupby("rule").model.agg(set).to_dict()
    assert by_rule == {
        "score": set(NAMES), "token_distributions": set(NAMES), "prompt": set(PROMPTED), "coreference": {"tiny-c2f"}
    }  # fmt: skip
    distributions = table[(table.rule == "token_distributions") & (table.model == "tiny-opt")].set_index("set")
    for name, planned in distributions["items"].items():
        text = files.read_parquet(finished.folder / f"results/underspecification/texts/{name}.parquet")
        assert planned == (text.method == "generate").sum(), name
    table = table[table.rule == "score"].assign(instances_of=table.study + "/" + table.set)
    assert table.groupby("instances_of").model.agg(set).to_dict() == SCORED
    selected = finished.folder / "results/ruff/instances/replica/selected.parquet"
    mine = table[(table.instances_of == "ruff/replica") & (table.model == "tiny-opt")].iloc[0]
    instances = files.read_parquet(selected)
    assert mine["items"] == len(instances)
    # Texts are declared as tokenizers of English cut them, a tenth more than words and signs; a decoder reads 1.1 texts
    # for all options.
    one = instances.drop_duplicates("instance_id")
    words = option_texts(one).text.str.count(r"\w+|[^\w\s]").sum() / one.options.str.len().mean()
    assert mine.tokens == pytest.approx(1.1 * 1.1 * words, rel=0.05)
    assert finished.planned("plan") == {}


def test_a_new_label_rescores_nothing(finished):
    with edited(finished.folder / "zoo/models.yaml", lambda text: text.replace("BERT (random)", "BERT, random", 1)):
        planned = finished.planned("figures", "tables")
    assert "score" not in planned
    assert "ruff_table_models" in planned


@pytest.fixture(scope="module")
def bare(fresh):
    """A copy in which nothing was run, with two models that are not prompted."""
    return fresh()


def test_only_what_is_asked_for_is_planned(bare):
    assert set(bare.planned("results/ruff/figures/replica/scaling.pdf")) == {
        "ruff_context_free", "ruff_sample", "ruff_select_instances", "score", "merge_scores", "ruff_predictions",
        "ruff_estimates", "ruff_figures",
    }  # fmt: skip
    planned = bare.planned("figures", "tables", "ruff_section", "paper_source")
    # RUFF and WinoPron score both models, and MISGENDERED the one with a loss on labels, without examples and with one.
    assert planned["score"] == 2 + 2 + 2
    # WinoPron's table prints the prompts that answers from elsewhere are for as well.
    prompting = {name for name in planned if "prompt" in name}
    assert prompting == {"winopron_table_prompts"}


def test_an_added_pronoun_set_runs_through(bare):
    """One row in pronouns.tsv and one name in config: instances, options, scores and figures follow."""
    with (bare.folder / "templates/pronouns.tsv").open("a", encoding="utf-8") as table:
        table.write("fae\tfae\tfaer\tfaer\tfaers\tfaerself\tneo\n")
    overlay = bare.folder / "config/test.yaml"
    text = re.sub(
        r"^(models: .*)$", r"\1\npronoun_sets: [he, she, they, xe, fae]", overlay.read_text(), flags=re.MULTILINE
    )
    text = text.replace("[0, 1, 2]", "[0, 1]").replace("[0, 2]", "[0, 1]")
    overlay.write_text(text.replace("[13, 17]", "[13]"))
    refused = bare.snakemake("scores")
    assert "ruff.sample_size is 12, which 5 pronoun sets do not divide" in refused.stdout
    overlay.write_text(overlay.read_text().replace("size: 12", "size: 15").replace("sample_size: 4", "sample_size: 5"))
    done = bare.snakemake(
        "results/ruff/figures/replica/context_free.pdf",
        "results/ruff/figures/replica/accuracy_by_pronoun.pdf",
        "results/ruff/instances/replica/sample_seed13_distractors1.parquet",
    )
    assert done.returncode == 0, done.stdout[-4000:]
    sample = files.read_parquet(bare.folder / "results/ruff/instances/replica/sample_seed13_distractors1.parquet")
    assert len(sample) == 180 * 5 * 4
    assert set(sample.pronoun) == set(sample.distractor_pronoun) == {"he", "she", "they", "xe", "fae"}
    accusative = sample[sample.case == "accusative"].options.iloc[0]
    assert list(accusative) == ["him", "her", "them", "xem", "faer"]
    counts = files.read_csv(bare.folder / "results/ruff/estimates.csv").query("metric == 'picked'")
    assert counts.groupby("model").preferred.apply(list).tolist() == [["he", "she", "they", "xe", "fae"]] * 2
    plotted = files.read_csv(bare.folder / "results/ruff/figures/replica/accuracy_by_pronoun.csv")
    assert plotted[plotted.pronoun == "fae"].value.between(0, 1).all()
    assert plotted.fillna({"model": "all"}).groupby("model").pronoun.apply(set).map(lambda sets: "fae" in sets).all()


def test_an_added_model_is_one_entry(finished):
    """A model that nobody has heard of runs after one entry in the registry and its name in config."""
    registry, overlay = finished.folder / "zoo/models.yaml", finished.folder / "config/test.yaml"
    entry = config.load_yaml(registry)["models"]["tiny-opt"]
    added = (
        "  brand-new-model:\n    label: Brand new\n    family: Brand\n    size: tiny\n    architecture: decoder\n"
        f"    parameters: {entry['parameters']}\n    source: {{path: {finished.folder / 'zoo' / 'copy'}}}\n"
        "    precision: float32\n    gpus: 0\n    licence: MIT\n    gated: false\n"
        "    demonstration: true\n    studies: {}\n"
    )
    shutil.copytree(finished.folder / entry["source"]["path"], finished.folder / "zoo/copy")
    target = "results/ruff/figures/replica/introduction_accuracy"
    with (
        edited(registry, lambda text: text.replace("models:\n", "models:\n" + added, 1)),
        edited(overlay, lambda text: text.replace("tiny-llama]", "tiny-llama, brand-new-model]")),
    ):
        assert finished.planned(f"{target}.pdf")["score"] == 1
        done = finished.snakemake(f"{target}.pdf")
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search("brand-new-model|Brand new", (finished.folder / f"{target}.csv").read_text(encoding="utf-8"))


def test_full_sets_are_made_where_they_are_asked_for_alone(finished):
    """Neither paper nor models need them; Table 1 counts what they would be."""
    folder = finished.folder / "results/ruff"
    assert not list(folder.glob("instances/*/distractors*.parquet"))
    assert "ruff_instances" not in finished.planned("instances")
    full = [f"results/ruff/instances/replica/distractors{n}.parquet" for n in range(3)]
    done = finished.snakemake(*full)
    assert done.returncode == 0, done.stdout[-4000:]
    table = files.read_csv(folder / "tables/replica/instance_counts.csv").set_index("n_distractors")
    for n in range(3):
        made = folder / f"instances/replica/distractors{n}.parquet"
        assert pq.read_metadata(made).num_rows == table.instances[n]
        made.unlink()
