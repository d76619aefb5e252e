"""Two runs side by side: differences, flips, what is said of files, and what is refused."""

import shutil

import numpy as np
import pandas as pd
import pytest

from scripts import compare
from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.statistics import outcomes
from scripts.core.statistics.paired import sign_flip_p
from tests.refusals import refused

DECLARED = {
    "ours": {
        "outcomes": {"": ["results/ours/analysis/{part}/predictions.parquet"]},
        "paired": {
            "accuracy": {
                "cluster": ["place"], "value": "correct", "unit": ["instance_id"], "where": {"model": ["{model}"]},
                "prediction": ["prediction"], "statistic": "mean", "by": "", "signs": {},
            }
        },
    }
}  # fmt: skip
RIGHT = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1] * 2
BETTER = [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1] * 2


def write_run(folder, right, *, part="replica", text="The sentence", figure=0.5):
    """Write the folder of a run with one study, model and headline."""
    outcomes._read.cache_clear()
    outcomes._instances.cache_clear()
    count = len(right)
    base = folder / "results/ours"
    ids = [f"i{n:02}" for n in range(count)]
    instances = pd.DataFrame({"instance_id": ids, "place": [f"p{n // 2:02}" for n in range(count)]})
    instances = instances.assign(text=[f"{text} {n}." for n in range(count)], gold="she")
    predictions = instances[["instance_id"]].assign(
        model="m", correct=right, prediction=["she" if value else "they" for value in right]
    )
    scores = instances[["instance_id"]].assign(log_probability=np.arange(count) * -0.1)
    tables = {"instances": (f"{part}/selected", instances), "analysis": (f"{part}/predictions", predictions)}
    for kind, (path, table) in (tables | {"scores": (f"{part}/m", scores)}).items():
        (base / kind / path).parent.mkdir(parents=True, exist_ok=True)
        files.write_parquet(base / kind / f"{path}.parquet", table)
    row = {
        "part": part, "model": "m", "kind": "model", "scoring": "probability", "metric": "accuracy",
        "value": np.mean(right), "n": count, "n_unit": "instances", "label": "Model", "headline": True,
    }  # fmt: skip
    (folder / "results/paper").mkdir(parents=True)
    estimate_rows.write_estimates(folder / "results/paper/summary.csv", "ours", [row])
    (base / f"figures/{part}").mkdir(parents=True)
    files.write_csv(base / f"figures/{part}/bars.csv", pd.DataFrame([{"bar": "Model", "height": figure}]))
    return folder


def compared(a, b, folder):
    differs, sentence = compare.compare(compare.read_run(str(a), "a"), compare.read_run(str(b), "b"), DECLARED, folder)
    tables = {name: pd.read_csv(folder / f"{name}.csv") for name in ("estimates", "flipped", "files")}
    return differs, sentence, tables, (folder / "comparison.html").read_text(encoding="utf-8")


def test_a_run_does_not_differ_from_its_copy(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    b = shutil.copytree(a, tmp_path / "b")
    # Optimizers and linear algebra differ by rounding.
    files.write_csv(b / "results/ours/figures/replica/bars.csv", pd.DataFrame([{"bar": "Model", "height": 0.5 + 1e-9}]))
    differs, sentence, tables, _ = compared(a, b, tmp_path / "out")
    assert (differs, sentence) == (False, "a and b have the same results.")
    assert tables["files"].empty
    files.write_csv(b / "results/ours/figures/replica/bars.csv", pd.DataFrame([{"bar": "Model", "height": 0.5 + 1e-5}]))
    assert compared(a, b, tmp_path / "out")[0]


def test_differences_and_flips_are_found_on_the_same_instances(tmp_path):
    a, b = write_run(tmp_path / "a", RIGHT), write_run(tmp_path / "b", BETTER, figure=0.7)
    differs, sentence, tables, page = compared(a, b, tmp_path / "out")
    (row,) = tables["estimates"].to_dict("records")
    sums = (np.array(BETTER) - np.array(RIGHT)).reshape(12, 2).sum(axis=1)
    p = sign_flip_p(sums, outcomes.DRAWS, outcomes.SEED)
    assert (row["difference"], row["p"], row["p_holm"]) == pytest.approx((0.25, p, p))
    assert (row["n"], row["n_clusters"], row["flipped"], differs) == (24, 12, 6, True)
    assert row["low"] < 0.25 < row["high"]
    assert tables["flipped"].id.tolist() == ["i02", "i05", "i09", "i14", "i17", "i21"]
    assert tables["flipped"].iloc[0].tolist()[-3:] == ["they", "she", "The sentence 2."]
    assert sentence == "a and b differ in 1 of 1 estimate (1 significantly), 6 predictions and 3 files."
    changed = dict(tables["files"].to_numpy())["results/ours/figures/replica/bars.csv"]
    assert changed == 'DataFrame.iloc[:, 1] (column name="height") values are different (100.0 %)'
    # Folders of the machine are nobody's business.
    assert str(tmp_path) not in page


def test_other_scores_are_a_difference_where_no_decision_changed(tmp_path):
    a, b = write_run(tmp_path / "a", RIGHT), write_run(tmp_path / "b", RIGHT)
    path = b / "results/ours/scores/replica/m.parquet"
    files.write_parquet(path, files.read_parquet(path).assign(log_probability=lambda table: table.log_probability - 1))
    differs, _, tables, _ = compared(a, b, tmp_path / "out")
    ((name, what),) = tables["files"].to_numpy().tolist()
    assert differs and name == "results/ours/scores/replica/m.parquet"
    assert what.endswith('(column name="log_probability") values are different (100.0 %)')


def test_other_instances_have_no_paired_difference(tmp_path):
    a, b = write_run(tmp_path / "a", RIGHT), write_run(tmp_path / "b", RIGHT, text="Another sentence")
    differs, _, tables, _ = compared(a, b, tmp_path / "out")
    (row,) = tables["estimates"].to_dict("records")
    assert (differs, row["differs"], row["note"]) == (True, True, "other instances: 0 of 24 and 24 are shared")
    assert np.isnan(row["p"]) and row["flipped"] == 0


def test_outcomes_that_make_another_value_are_not_used(tmp_path):
    a, b = write_run(tmp_path / "a", RIGHT), write_run(tmp_path / "b", BETTER)
    path = b / "results/paper/summary.csv"
    files.write_csv(path, files.read_csv(path).assign(value=0.1))
    (row,) = compared(a, b, tmp_path / "out")[2]["estimates"].to_dict("records")
    assert "makes another value than the summary's" in row["note"]


def test_estimates_that_are_no_headlines_are_compared_by_their_values(tmp_path):
    a, b = write_run(tmp_path / "a", RIGHT), write_run(tmp_path / "b", BETTER)
    for run in (a, b):
        path = run / "results/paper/summary.csv"
        files.write_csv(path, files.read_csv(path).assign(headline=False))
    _, sentence, tables, page = compared(a, b, tmp_path / "out")
    (row,) = tables["estimates"].to_dict("records")
    assert (row["value_a"], row["value_b"], row["differs"]) == (pytest.approx(2 / 3), pytest.approx(11 / 12), True)
    assert "differ in 1 of 1 estimate (0 significantly), 0 predictions" in sentence and "accuracy, scoring" in page


def test_texts_of_others_templates_are_never_shown_and_markup_stays_text(tmp_path):
    evil = "<script>document.title='run'</script>"
    a = write_run(tmp_path / "a", RIGHT, part="official", text="Secret")
    b = write_run(tmp_path / "b", BETTER, part="official", text="Secret")
    _, _, tables, page = compared(a, b, tmp_path / "out")
    assert "Secret" not in page + tables["flipped"].to_csv()
    assert "i21" in page
    a = write_run(tmp_path / "c", RIGHT, text=evil)
    _, _, _, page = compared(a, write_run(tmp_path / "d", BETTER, text=evil), tmp_path / "out")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_what_cannot_be_compared_is_refused_with_what_to_do(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    (tmp_path / "modern").mkdir()
    for given, named in (
        ("nowhere", ["b: nowhere", "no such folder", "name the folder"]),
        (f"{a}:n", ["'n'", "its models are m"]),
        (str(tmp_path / "modern"), ["snakemake summary", "--directory", "--configfile=config/modern.yaml"]),
    ):
        with refused(*named):
            compare.read_run(given, "b")
    path = a / "results/paper/summary.csv"
    table = files.read_csv(path)
    files.write_csv(path, pd.concat([table, table.assign(value=0.9)]))
    with refused("summary.csv, row 3", "ours, replica, m", "twice", "make the file again"):
        compare.read_run(str(a), "b")
    assert compare.main([str(a), str(a), "--exit-code"]) == 2
