import numpy as np
import pyarrow as pa
import pytest

from scripts.core.errors import UserError
from scripts.ruff import narratives
from scripts.ruff.templates import PLACEHOLDERS
from tests.ruff import small_templates

FOUR = ["he", "she", "they", "xe"]


def pandas_sample(made, n, seed):
    """Draw with pandas from the full set, grouped by the authors' names of the cases."""
    full = pa.Table.from_batches(made.full(n)).to_pandas()
    text_columns = full.select_dtypes("category").columns
    full[text_columns] = full[text_columns].astype(object)
    full["placeholder"] = full["case"].map(PLACEHOLDERS)
    distractor = [
        None if name is None else made.sets[name][case]
        for name, case in zip(
            full.distractor_pronoun.where(full.distractor_pronoun.notna(), None), full.case, strict=True
        )
    ]
    full["distractor"] = distractor
    keys = ["occupation", "placeholder", "gold", *(["distractor"] if n else [])]
    drawn = full.groupby(keys).sample(n=1 if n else len(made.sets) - 1, random_state=seed)
    return drawn.instance_id.tolist()


@pytest.mark.parametrize("seed", [13, 17])
@pytest.mark.parametrize(
    ("n", "names"), [(0, FOUR), (1, FOUR), (2, FOUR), (2, ["xe", "he", "they"]), (0, ["ze", *FOUR])]
)
def test_samples_are_those_of_pandas(tmp_path, n, names, seed):
    made = small_templates.load(tmp_path, sets=names)
    drawn = made.sample(n, seed)
    assert drawn.column("instance_id").to_pylist() == pandas_sample(made, n, seed)
    assert len(drawn) == 9 * len(names) * (len(names) - 1)


@pytest.mark.upstream
@pytest.mark.parametrize("n", [0, 1])
def test_official_samples_are_those_of_pandas(tmp_path, mirror, n):
    pronouns = small_templates.write(tmp_path)["pronouns"]
    made = narratives.load([str(mirror / "ruff" / "data.zip")], pronouns, FOUR)
    for seed in (13, 17, 19):
        drawn = made.sample(n, seed)
        assert len(drawn) == 2160
        assert drawn.column("instance_id").to_pylist() == pandas_sample(made, n, seed)


@pytest.mark.parametrize("n", range(6))
def test_every_factor_is_equally_represented(tmp_path, n):
    drawn = small_templates.load(tmp_path).sample(n, 19).to_pandas()
    assert len(drawn) == 9 * 12 and drawn.instance_id.is_unique
    for factor in ("occupation", "case", "pronoun", *(["distractor_pronoun"] if n else [])):
        assert drawn[factor].value_counts().nunique() == 1
    assert (drawn.n_distractors == n).all()
    assert drawn.distractor_indices.map(len).eq(n).all()


def test_sampled_rows_are_rows_of_the_full_set(tmp_path):
    made = small_templates.load(tmp_path)
    full = pa.Table.from_batches(made.full(3)).combine_chunks()
    drawn = made.sample(3, 13)
    rows = full.take(pa.array(made.sample_rows(3, 13))).to_pylist()
    assert [{**row, "seed": 13} for row in rows] == drawn.to_pylist()


def test_seeds_draw_differently_and_repeatably(tmp_path):
    made = small_templates.load(tmp_path)
    assert np.array_equal(made.sample_rows(5, 13), made.sample_rows(5, 13))
    assert not np.array_equal(made.sample_rows(5, 13), made.sample_rows(5, 17))


def test_more_sets_than_introductions_allow_are_refused(tmp_path):
    templates = small_templates.load(tmp_path, sets=["he", "she"]).templates
    many = {f"s{i}": dict.fromkeys(("nominative", "accusative", "possessive"), f"s{i}") for i in range(12)}
    with pytest.raises(UserError, match="configure at most 11 sets"):
        narratives.Narratives(templates, many).sample(0, 13)
