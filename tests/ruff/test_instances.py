"""The files of instances, prompts and the annotators' sheet that jobs write, from small templates."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.ruff import instances, narratives, tables
from tests.conftest import ROOT
from tests.refusals import refused
from tests.ruff import small_templates
from tests.ruff.synthetic import FOUR
from tests.ruff.test_narratives import REPLICA

# Numbers of distractors, and instances of a full set with nine task sentences and four pronoun sets.
FULL = {0: 9 * 10 * 4, 2: 9 * 10 * 4 * 4 * 3 * 4}
ORIGINS = {
    "task_row": "task.tsv",
    "context_rows": "context.tsv",
    "occupation_row": "occupations.tsv",
    "pronoun_rows": "pronouns.tsv",
}
PROMPTS = {
    "prompt_templates": str(ROOT / "templates/ruff/prompts.tsv"),
    "chain_templates": str(ROOT / "templates/ruff/chain_of_thought.tsv"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder with what the jobs of a run make: two seeds, none and two distractors, samples of 4 and 12."""
    folder = tmp_path_factory.mktemp("instances")
    given = small_templates.given(folder) | {"pronoun_sets": FOUR}
    instances.context_free(context_free=str(folder / "context_free"), **given)
    for seed in (13, 17):
        for n in FULL:
            path = str(folder / f"seed{seed}_distractors{n}.parquet")
            instances.sample(n_distractors=n, seed=seed, sample=path, **given)
    free, selected = str(folder / "context_free"), str(folder / "selected")
    instances.select_instances(context_free=free, samples=samples(folder), sizes=[4, 12], selected=selected)
    return folder


def samples(folder, seeds=(13, 17)):
    return [str(folder / f"seed{seed}_distractors{n}.parquet") for seed in seeds for n in FULL]


def test_the_selection_is_the_context_free_set_and_a_part_of_each_sample(made):
    table = files.read_arrow(made / "selected")
    assert table.drop_columns("priority").schema.remove_metadata() == narratives.SAMPLE_SCHEMA
    frame = table.to_pandas()
    sizes = frame.groupby(["n_distractors", "seed"]).size().to_dict()
    assert sizes == dict.fromkeys([(0, 13), (0, 17), (2, 13), (2, 17)], 12) and len(frame) == 9 + 4 * 12
    # The smaller sample of one model is the beginning of everybody's.
    assert frame.priority.isna().sum() == frame.seed.isna().sum() == frame.n_distractors.isna().sum() == 9
    assert frame[frame.priority < 4].groupby(["n_distractors", "seed"]).pronoun.nunique().tolist() == [4] * 4
    # Instances that begin alike are neighbours; equal ones keep the order of the samples.
    assert frame.text.is_monotonic_increasing
    twice = frame[frame.instance_id.duplicated(keep=False) & frame.seed.notna()]
    assert (twice.groupby("instance_id").seed.diff().dropna() > 0).all()


@pytest.mark.parametrize("size", [108, 2160])
def test_a_size_that_takes_everything_takes_the_samples_as_they_are(made, tmp_path, size):
    free, target = str(made / "context_free"), str(tmp_path / "selected")
    drawn = samples(made, [13])
    instances.select_instances(context_free=free, samples=drawn, sizes=[size], selected=target)
    expected = [i for path in (free, *drawn) for i in files.read_parquet(path).instance_id]
    assert sorted(files.read_parquet(target).instance_id) == sorted(expected)
    with refused("ruff.sample_size is 0", "at least 1"):
        instances.select_instances(context_free=free, samples=drawn, sizes=[4, 0], selected=target)


def test_files_say_what_they_are(made):
    known = {"study": "ruff", "templates": "replica", "pronoun_sets": FOUR, "origins": ORIGINS}
    settings = {
        "context_free": {}, "selected": {"sample_size": 12, "samples": 4},
        "seed17_distractors0.parquet": {"n_distractors": 0, "seed": 17},
    }  # fmt: skip
    for name, facts in settings.items():
        assert files.parquet_metadata(made / name) == known | facts
    sample = files.read_arrow(made / "seed17_distractors0.parquet")
    assert sample.schema.remove_metadata() == narratives.SAMPLE_SCHEMA
    assert set(sample.column("seed").to_pylist()) == {17}


def test_table_1_counts_what_is_made(made, tmp_path):
    paths = {kind: str(tmp_path / f"table.{kind}") for kind in ("tex", "csv")}
    models = {name: {"label": name} for name in "ab"}
    tables.table_instance_counts(
        context_free=str(made / "context_free"), samples=samples(made), selected=str(made / "selected"), models=models,
        pronoun_sets=FOUR, sizes={"a": 12, "b": 4}, **paths,
    )  # fmt: skip
    table = files.read_csv(paths["csv"])
    assert table.instances.tolist() == [9, *FULL.values()] and table.sample_size.tolist()[1:] == [108, 108]
    assert (table.scored.tolist(), table.scored_4.tolist()) == ([9, 24, 24], [9, 8, 8])


@pytest.fixture(scope="module")
def replica_samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    for n in FULL:
        path = str(folder / f"seed13_distractors{n}.parquet")
        instances.sample(**REPLICA, pronoun_sets=FOUR, n_distractors=n, seed=13, sample=path)
    return samples(folder, [13])


def ask(samples, folder, **changed):
    chains = {"methods": ["kojima"], "distractors": [2], "sample_size": 2}
    given = {"sample_size": 4, "kinds": ["open", "options"], "blank": "code"}
    paths = {name: str(folder / name) for name in ("prompted", "prompts")}
    instances.prompts(samples=samples, **PROMPTS, **(given | {"chains": chains} | changed), **paths)
    return files.read_parquet(paths["prompted"]), files.read_parquet(paths["prompts"])


def test_the_first_instances_of_samples_are_asked_by_every_prompt(replica_samples, tmp_path):
    rows, made = ask(replica_samples, tmp_path)
    assert rows.groupby("n_distractors").pronoun.nunique().to_dict() == {0: 4, 2: 4}
    assert rows[rows.chains].n_distractors.tolist() == [2, 2]
    assert made.text_id.is_unique and len(made) == 8 * 10 + 2 * 10
    assert set(made[made.method == "kojima"].instance_id) == set(rows[rows.chains].instance_id)
    assert made.follow_up.isna().equals(made.method == "vanilla")
    _, paper = ask(replica_samples, tmp_path, blank="paper")
    assert (made.text.str.replace("___", "_______") == paper.text).all()
    nobody = {"methods": [], "distractors": [0], "sample_size": 1}
    _, few = ask(replica_samples, tmp_path, kinds=["options"], chains=nobody)
    assert len(few) == 8 * 5
    facts = files.parquet_metadata(tmp_path / "prompts")
    assert (facts["blank"], facts["kinds"]) == ("code", ["options"])


def test_prompts_name_the_lines_they_were_made_from(replica_samples, tmp_path):
    rows, made = ask(replica_samples, tmp_path)
    origins = files.parquet_metadata(tmp_path / "prompts")["origins"]
    assert origins == ORIGINS | {"prompt_row": "prompts.tsv", "chain_row": "chain_of_thought.tsv"}
    names = ("prompts", "task", "chain_of_thought")
    lines = {name: (ROOT / f"templates/ruff/{name}.tsv").read_text().split("\n") for name in names}
    texts, distractors = (rows.set_index("instance_id")[column] for column in ("text", "n_distractors"))
    for row in made.itertuples():
        assert lines["prompts"][row.prompt_row - 1].startswith(f"{row.prompt}\t")
        end = lines["task"][row.task_row - 1].split("\t")[2].replace("{pronoun}", "___")
        assert texts[row.instance_id].endswith(end)
        assert len(row.context_rows) == 1 + distractors[row.instance_id]
    assert made.chain_row.isna().equals(made.method == "vanilla")
    assert all(lines["chain_of_thought"][n - 1].startswith("kojima\t") for n in made.chain_row.dropna())


def test_the_sheet_has_the_draw_of_the_authors_script(tmp_path):
    """pandas draws from the groups one after another with one generator, in the order of the files' names."""
    paths, sheet = [], str(tmp_path / "sheet.csv")
    for n in range(3):
        paths.append(str(tmp_path / f"{n}.parquet"))
        ids = [f"{n}-{i:02}" for i in range(20)]
        files.write_parquet(paths[-1], pd.DataFrame({"instance_id": ids, "text": "___ left.", "n_distractors": n}))
    instances.human_sheet(samples=paths, sheet=sheet, instances=7, seed=131719)
    table = files.read_csv(sheet, dtype=str)
    random = np.random.RandomState(131719)
    expected = {f"{n}-{i:02}" for n in range(3) for i in random.choice(20, size=7, replace=False)}
    assert set(table.Row) == expected and len(table) == 21
    assert list(table) == ["Row", "Sentence", "Pronoun", "Annotator"]
    with refused("ruff.annotation.instances is 21", "at most 20"):
        instances.human_sheet(samples=paths, sheet=sheet, instances=21, seed=1)
