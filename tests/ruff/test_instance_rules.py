"""From small templates to selected instances, prompts and Table 1, by the rules themselves."""

import pytest

from scripts.core import files
from scripts.core.data.templates import CASES
from scripts.ruff import narratives
from scripts.ruff.instances import select_instances
from tests.ruff import small_templates
from tests.workflow.conftest import Workflow

# Numbers of distractors, and instances of a full set with nine task sentences and four pronoun sets.
FULL = {0: 9 * 10 * 4, 2: 9 * 10 * 4 * 4 * 3 * 4}
OVERLAY = """\
studies: [ruff]
ruff:
  seeds: [13, 17]
  distractors: [0, 2]
  sample_size: {default: 12, minilm-l6-mlm: 4}
  prompting: {seeds: [13], distractors: [0, 2], sample_size: 4, chain_of_thought: {distractors: [2], sample_size: 4}}
"""
FOLDER = "results/ruff/instances/replica"
ORIGINS = {
    "task_row": "task.tsv",
    "context_rows": "context.tsv",
    "occupation_row": "occupations.tsv",
    "pronoun_rows": "pronouns.tsv",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of instances that a run with small templates made."""
    workflow = Workflow(tmp_path_factory.mktemp("instances"))
    paths = small_templates.write(workflow.folder / "templates")
    for name in ("task", "context"):
        (workflow.folder / "templates" / f"{name}.tsv").rename(workflow.folder / "templates/ruff" / f"{name}.tsv")
    assert set(paths) == {"task", "context", "occupations", "pronouns"}
    (workflow.folder / "small.yaml").write_text(OVERLAY)
    targets = [f"{FOLDER}/{name}.parquet" for name in ("selected", "prompted", "distractors2")]
    table = "results/ruff/tables/replica/instance_counts.csv"
    assert "ruff_instances" not in workflow.planned(*targets[:2], table, overlay="small.yaml")
    done = workflow.snakemake(*targets, table, overlay="small.yaml")
    assert done.returncode == 0, done.stdout[-4000:]
    return workflow.folder / FOLDER


def test_the_selection_is_the_context_free_set_and_a_part_of_each_sample(made):
    table = files.read_arrow(made / "selected.parquet")
    assert table.drop_columns("priority").schema.remove_metadata() == narratives.sample_schema()
    frame = table.to_pandas()
    assert len(frame) == 9 + 4 * 12
    # The smaller sample of one model is the beginning of everybody's.
    assert frame.priority.isna().sum() == 9
    assert frame[frame.priority < 4].groupby(["n_distractors", "seed"]).pronoun.nunique().tolist() == [4] * 4
    assert frame.seed.isna().sum() == frame.n_distractors.isna().sum() == 9
    sizes = frame.groupby(["n_distractors", "seed"]).size().to_dict()
    assert sizes == dict.fromkeys([(0, 13), (0, 17), (2, 13), (2, 17)], 12)
    metadata = files.parquet_metadata(made / "selected.parquet")
    assert metadata["sample_size"] == 12 and metadata["study"] == "ruff" and metadata["templates"] == "replica"
    # Instances that begin alike are neighbours; equal ones keep the order of the samples.
    assert frame.text.is_monotonic_increasing
    twice = frame[frame.instance_id.duplicated(keep=False) & frame.seed.notna()]
    assert (twice.groupby("instance_id").seed.diff().dropna() > 0).all()


@pytest.mark.parametrize("size", [108, 2160])
def test_a_size_that_takes_everything_takes_the_samples_as_they_are(made, tmp_path, size):
    free, target = str(made / "context_free.parquet"), tmp_path / "selected.parquet"
    drawn = [str(made / f"sample_seed13_distractors{n}.parquet") for n in FULL]
    select_instances(context_free=free, samples=drawn, sizes=[size], selected=str(target))
    expected = [i for path in (free, *drawn) for i in files.read_parquet(path).instance_id]
    assert sorted(files.read_parquet(target).instance_id) == sorted(expected)


def test_prompted_instances_are_the_first_of_those_scored(made):
    prompted, selected = (files.read_parquet(made / f"{name}.parquet") for name in ("prompted", "selected"))
    assert prompted.groupby("n_distractors").size().to_dict() == {0: 4, 2: 4}
    assert prompted.groupby("n_distractors").pronoun.nunique().to_dict() == {0: 4, 2: 4}
    assert set(prompted.instance_id) < set(selected.instance_id)
    assert prompted[prompted.chains].n_distractors.tolist() == [2] * 4


def test_files_say_what_they_are(made):
    known = {"study": "ruff", "templates": "replica", "pronoun_sets": ["he", "she", "they", "xe"], "origins": ORIGINS}
    for name, settings in (
        ("context_free", {}),
        ("full_set_sizes", {}),
        ("distractors2", {"n_distractors": 2}),
        ("sample_seed17_distractors0", {"n_distractors": 0, "seed": 17}),
    ):
        assert files.parquet_metadata(made / f"{name}.parquet") == known | settings
    sample = files.read_arrow(made / "sample_seed17_distractors0.parquet")
    assert sample.schema.remove_metadata() == narratives.sample_schema()
    assert set(sample.column("seed").to_pylist()) == {17}
    assert set(files.read_parquet(made / "context_free.parquet")["case"]) == set(CASES)


def test_table_1_counts_what_is_made(made):
    table = files.read_csv(made.parents[1] / "tables/replica/instance_counts.csv")
    assert table.instances.tolist() == [9, *FULL.values()]
    assert len(files.read_arrow(made / "distractors2.parquet")) == FULL[2]
    assert table.scored.tolist() == [9, 24, 24]
    assert table.scored_4.tolist() == [9, 8, 8]
    assert table.sample_size.tolist()[1:] == [108, 108]
