"""The comparison of two runs: differences with their coverage, outcomes of made-up runs, causes, page."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy

from scripts.compare import causes, comparison, outputs, page, places, statistics
from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError
from scripts.core.paper.typesetting import typeset
from scripts.core.statistics.paired import comparison as paired_comparison
from scripts.core.workflow.studies import PairedOutcomes
from tests import browser

ROOT = Path(__file__).parents[2]
DECLARED = {
    "ours": {
        "label": "Our <script>study</script>",
        "outcomes": {"": ["results/ours/analysis/{part}/predictions.parquet"]},
        "paired": {
            "accuracy": {"cluster": ["place"], "where": {"model": ["{model}"]}, "prediction": ["prediction"]},
        },
    }
}
TEMPLATES = [ROOT / "paper/compare.html.j2", ROOT / "paper/compare.tex.j2"]


def outcomes(right, clusters, text="the text of"):
    """Return units as the comparison has them."""
    names = [f"i{n:04}" for n in range(len(right))]
    digests = [f"{text} {name}" for name in names]
    return pd.DataFrame({"cluster": clusters, "value": np.asarray(right, float), "digest": digests}, index=names)


def drawn(generator, paired):
    """Return two models of known accuracies, 0.6 and 0.7, on items whose difficulty is that of their cluster."""
    clusters = np.repeat(np.arange(60), 4)

    def model(accuracy, ease):
        return generator.random(240) < np.clip(accuracy + ease[clusters], 0, 1)

    ease = [generator.uniform(-0.25, 0.25, 60) for _ in range(2)]
    first = outcomes(model(0.6, ease[0]), clusters)
    return first, outcomes(
        model(0.7, ease[0 if paired else 1]), clusters, "the text of" if paired else "another text of"
    )


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_cover_a_known_difference(paired, monkeypatch):
    monkeypatch.setattr(statistics, "DRAWS", 400)
    generator = np.random.default_rng(7)
    made = [statistics.difference(*drawn(generator, paired)) for _ in range(200)]
    assert {entry["paired"] for entry in made} == {paired}
    covered = np.mean([entry["ci_low"] <= 0.1 <= entry["ci_high"] for entry in made])
    assert 0.91 <= covered <= 0.99
    # Power follows from what is found with 80 %, which is 2.8 standard errors.
    found = np.mean([entry["p"] < 0.05 for entry in made])
    error = np.mean([entry["detectable"] for entry in made]) / 2.8
    assert found == pytest.approx(scipy.stats.norm.cdf(0.1 / error - 1.96), abs=0.1)
    assert np.mean([entry["difference"] for entry in made]) == pytest.approx(0.1, abs=0.02)


def test_same_ids_with_other_texts_are_no_pairs():
    clusters = np.repeat(np.arange(10), 2)
    first, second = outcomes([1, 0] * 10, clusters), outcomes([1, 1] * 10, clusters)
    assert statistics.difference(first, second)["paired"]
    second.loc["i0003", "digest"] = "an edited text"
    made = statistics.difference(first, second)
    assert (made["paired"], made["shared"]) == (False, 19)
    assert statistics.difference(first, second.drop("i0003"))["shared"] == 19


def rows(**columns):
    frame = pd.DataFrame(columns)
    return frame.assign(digest=[f"d{n}" for n in range(len(frame))])


def test_statistics_are_means_of_units():
    quadruples = rows(
        unit=["q"] * 4 + ["r"] * 4, cluster=["q"] * 4 + ["r"] * 4, by=list("MMFF") * 2, value=[1, 1, 0, 0, 1, 0, 1, 0.0]
    )
    # Two right men and two wrong women; then one right of either.
    assert statistics.units(quadruples, PairedOutcomes([], statistic="disagreement")).value.tolist() == [1.0, -0.5]
    sentences = rows(
        unit=["s"] * 6,
        cluster=["s"] * 6,
        by=[0, 1, 2] * 2,
        sign=[1] * 3 + [-1] * 3,
        value=[0.1, 0.2, 0.3, 0.3, 0.2, 0.1],
    )
    assert statistics.units(sentences, PairedOutcomes([], statistic="slope")).value.tolist() == pytest.approx([20.0])


def test_pseudo_values_of_an_area_have_its_mean_and_its_error():
    generator = np.random.default_rng(3)
    places_ = np.repeat(np.arange(40), 4)
    sign = np.tile([1, 1, -1, -1], 40)
    change = generator.normal(np.where(sign == 1, 0.5, 0.3), 0.2) + np.repeat(generator.normal(0, 0.1, 40), 4)
    units = [f"u{n}" for n in range(160)]
    table = rows(
        unit=np.tile(units, 2), cluster=np.tile(places_, 2), sign=np.tile(sign, 2), by=np.repeat([0, 1], 160),
        value=np.concatenate([np.zeros(160), change]),
    )  # fmt: skip
    made = statistics.units(table, PairedOutcomes([], statistic="area"))
    scores = np.abs(change)

    def area(chosen):
        weight = np.bincount(chosen, minlength=40)[places_]
        wins = (scores[sign == 1][:, None] > scores[sign == -1]) * weight[sign == 1][:, None] * weight[sign == -1]
        return wins.sum() / (weight[sign == 1].sum() * weight[sign == -1].sum())

    assert made.value.mean() == pytest.approx(area(np.arange(40)))
    resampled = np.std([area(generator.integers(0, 40, 40)) for _ in range(400)])
    assert made.value.std() / np.sqrt(40) == pytest.approx(resampled, rel=0.15)


def write_run(folder, right, *, part="replica", label="Model", text="The sentence", verdict="holds", figure=0.5):
    """Write the folder of a run with one study, model and headline."""
    count = len(right)
    base = folder / "results/ours"
    instances = pd.DataFrame(
        {"instance_id": [f"i{n}" for n in range(count)], "place": [f"p{n // 2}" for n in range(count)]}
    ).assign(text=[f"{text} {n}." for n in range(count)], gold="she")
    predictions = instances[["instance_id"]].assign(
        model="m", correct=right, prediction=["she" if value else "they" for value in right]
    )
    for path, table in ((f"instances/{part}/selected", instances), (f"analysis/{part}/predictions", predictions)):
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        files.write_parquet(base / f"{path}.parquet", table)
    row = {
        "part": part, "model": "m", "kind": "model", "scoring": "probability", "metric": "accuracy",
        "value": np.mean(right), "n": count, "n_unit": "instances", "label": label, "headline": True,
    }  # fmt: skip
    (folder / "results/paper").mkdir(parents=True)
    estimate_rows.write(folder / "results/paper/summary.csv", "ours", [row])
    finding = {"finding": "It is good", "source": "Section 1", "templates": part, "verdict": verdict, "evidence": "so"}
    for place, table in (
        ("tables/findings.csv", [finding]),
        (f"figures/{part}/bars.csv", [{"bar": label, "height": figure}, {"bar": "x", "height": 1.0}]),
    ):
        (base / place).parent.mkdir(parents=True, exist_ok=True)
        files.write_csv(base / place, pd.DataFrame(table))
    return folder


def compared(a, b):
    sides = [places.find_run(str(given), key, ROOT, ROOT) for given, key in ((a, "a"), (b, "b"))]
    return comparison.compare(*sides, (sides[0].path, sides[1].path), DECLARED)


RIGHT = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1]
BETTER = [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]


def test_a_run_does_not_differ_from_itself_or_its_copy(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    b = Path(shutil.copytree(a, tmp_path / "b"))
    for other in (a, b):
        result = compared(a, other)
        assert not result["differs"]
        assert result["sentence"] == f"a and {other.name} do not differ."
        assert not (result["causes"] or result["findings"] or result["figures"] or any(result["only_in_one"].values()))


def test_differences_flips_verdicts_and_figures_are_found(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    b = write_run(tmp_path / "b", BETTER, verdict="fails", figure=0.7)
    result = compared(a, b)
    (estimate,) = result["estimates"]
    expected = paired_comparison(BETTER, RIGHT, np.arange(12) // 2, statistics.DRAWS, statistics.SEED)
    assert estimate["difference"] == pytest.approx(3 / 12)
    assert (estimate["paired"], estimate["p"], estimate["p_holm"]) == (True, expected["p"], expected["p"])
    assert (estimate["low"], estimate["detectable"]) == (expected["ci_low"], expected["detectable"])
    assert [flip["id"] for flip in estimate["flips"]] == ["i2", "i5", "i9"]
    assert (
        estimate["flips"][0] | {"text": "The sentence 2.", "a": "they", "b": "she", "gold": "she"}
        == estimate["flips"][0]
    )
    assert [(row["a"], row["b"]) for row in result["findings"]] == [("holds", "fails")]
    (figure,) = result["figures"]
    assert figure["changed"] == [{"row": "Model", "column": "height", "a": 0.5, "b": 0.7}]
    assert "differ in 1 of 1 headline estimate" in result["sentence"]
    assert "no cause can be named" in result["sentence"]


def test_texts_of_others_templates_are_never_shown(tmp_path):
    a = write_run(tmp_path / "a", RIGHT, part="official", text="Secret")
    b = write_run(tmp_path / "b", BETTER, part="official", text="Secret")
    result = compared(a, b)
    shown = page.context(result, {"ours": "Ours"})
    written = json.dumps(result) + page.html(shown, (a, b), TEMPLATES[0]) + page.tex(shown, TEMPLATES[1])
    assert "Secret" not in written
    assert result["estimates"][0]["flipped"] == 3
    assert "i9" in written


def test_other_instances_make_an_unpaired_comparison_that_says_so(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    b = write_run(tmp_path / "b", RIGHT, text="Another sentence")
    result = compared(a, b)
    (estimate,) = result["estimates"]
    assert (estimate["paired"], estimate["shared"], result["differs"]) == (False, 0, True)
    assert "1 of 1 estimates rest on different instances" in page.html(
        page.context(result, {"ours": "Ours"}), (a, b), TEMPLATES[0]
    )


def test_outcomes_that_make_another_value_are_not_used(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    b = write_run(tmp_path / "b", BETTER)
    summary = files.read_csv(b / "results/paper/summary.csv")
    files.write_csv(b / "results/paper/summary.csv", summary.assign(value=0.1))
    (estimate,) = compared(a, b)["estimates"]
    assert "outcomes make another value than the summary's" in estimate["note"]
    assert estimate["p"] is None


def test_markup_in_labels_and_texts_stays_text(tmp_path):
    evil = "<script>document.title='run'</script>"
    a = write_run(tmp_path / "a", RIGHT, label=evil, text=evil)
    b = write_run(tmp_path / "b", BETTER, label=evil, text=evil, verdict=evil, figure=0.9)
    html = page.html(page.context(compared(a, b), {"ours": evil}), (a, b), TEMPLATES[0])
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_crates_are_read_and_what_lacks_outcomes_is_refused(tmp_path):
    a = write_run(tmp_path / "a", RIGHT)
    crate = tmp_path / "run.crate.zip"
    with zipfile.ZipFile(crate, "w") as archive:
        archive.writestr("ro-crate-metadata.json", json.dumps({"@graph": []}))
        for path in sorted(a.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(a).as_posix())
    side = places.find_run(str(crate), "b", ROOT, ROOT)
    with places.open_run(side, "b") as folder:
        one = places.find_run(str(a), "a", ROOT, ROOT)
        assert not comparison.compare(one, side, (a, folder), DECLARED)["differs"]
    (tmp_path / "empty").mkdir()
    for given, words in (
        ("empty", "has no results/paper/summary.csv; make it: snakemake summary"),
        ("nowhere", "no such folder or file"),
        ("a:n", "no headline estimate of 'n'"),
    ):
        with pytest.raises(UserError, match=words):
            compared(a, tmp_path / given)


def test_a_comparison_lies_in_a_folder_of_its_own(tmp_path):
    a, b = write_run(tmp_path / "runs/a", RIGHT), write_run(tmp_path / "runs/b", RIGHT)
    planned = places.plan_comparison(str(a), f"{b}:m", tmp_path, tmp_path)
    assert planned.folder == tmp_path / "runs/compare-a-b-m"
    assert places.plan_comparison(str(a), str(b), tmp_path / "mine", tmp_path).folder == tmp_path / "mine"
    for inside in (a, b / "results/compare"):
        with pytest.raises(UserError, match="is the folder of a run"):
            places.plan_comparison(str(a), str(b), inside, tmp_path)
    with pytest.raises(UserError, match="compare takes two runs"):
        places.plan_comparison(str(a), None, tmp_path, tmp_path)


def record(rule, outputs, inputs=(), wildcards=None, **said):
    params = {"_code": {"scripts/a.py": "1"}} | said.pop("params", {})
    return {
        "rule": rule, "wildcards": wildcards or {}, "params": params, "inputs": dict(inputs), "outputs": outputs,
        "models": {}, "packages": {"numpy": "2.0"}, "package_files": {},
        "machine": {"python": "3.11.1", "cpu": "x", "gpus": []},
    } | said  # fmt: skip


def records(template="t1", seed=1, model="m1", numpy="2.0", code="1"):
    """Return the records of a run whose one study scores one model."""
    scores = f"results/ours/scores/{model}.parquet"
    facts = {"model": model, "weights_sha256": "w" + model, "revision": None, "engine": "packed"}
    made = template + str(seed)
    table, figure = {"results/ours/instances/i.parquet": made}, {"results/ours/figures/f.csv": made + model}
    summary = {"results/paper/summary.csv": made + model}
    score = record(
        "score", {scores: made + model}, table, {"model": model}, models={scores: facts}, packages={"numpy": numpy}
    )
    plot = record(
        "plot", figure, score["outputs"], params={"models": {model: {"label": model.upper()}}, "_code": {"b": code}}
    )
    listed = record("sum", summary, score["outputs"], params={"of": [model]})
    return {
        "i": record("instances", table, {"templates/t.tsv": template}, params={"seed": seed}),
        f"s{model}": score,
        "f": plot,
        "p": listed,
    }


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, None),
        ({"template": "t2"}, ("file", "templates/t.tsv", "t1", "t2")),
        ({"seed": 2}, ("parameter", "seed", "1", "2")),
        ({"model": "m2"}, ("model", "model", "m1", "m2")),
        ({"numpy": "2.1+cpu"}, ("package", "numpy", "2.0", "2.1")),
        ({"code": "2"}, ("module", "b", "1", "2")),
    ],
)
def test_a_difference_is_named_as_the_cause_and_nothing_else(changed, expected):
    found = causes.find_causes(*(causes.current_records(side) for side in (records(), records(**changed))))
    assert [(c["kind"], c["name"], c["a"], c["b"]) for c in found] == ([expected] if expected else [])
    assert all(cause["results"] == {"ours": 1} for cause in found)
    assert causes.only_in_one(records(), records(**changed)) == {"a": 0, "b": 0}


def test_what_an_earlier_configuration_left_is_no_cause():
    left = records() | {
        "old": record("plot", {"results/ours/figures/old.csv": "o"}, {"results/ours/scores/m1.parquet": "x"})
    }
    assert "old" not in causes.current_records(left)


def test_lines_of_templates_whose_instances_all_differ_are_named(tmp_path):
    for name, third in (("a", "It rains."), ("b", "It pours.")):
        table = pd.DataFrame({"id": list("xyz"), "text": ["One.", "Two.", third], "row": [3, 4, 5]})
        place = tmp_path / name / "results/ours/instances"
        place.mkdir(parents=True)
        files.write_parquet(place / "all.parquet", table, {"origins": {"row": "t.tsv"}})
    cause = {"kind": "file", "name": "templates/t.tsv", "a": "1", "b": "2"}
    (told,) = causes.with_rows([cause], tmp_path / "a", tmp_path / "b")
    assert (told["kind"], told["name"]) == ("template row", "templates/t.tsv:5")


def test_figures_are_compared_by_what_they_plot(tmp_path):
    for name, value in (("a", 0.25), ("b", 0.25 + 1e-9)):
        (tmp_path / name / "results/ours/figures").mkdir(parents=True)
        table = pd.DataFrame({"bar": ["x", "y"], "height": [value, 1.0], "note": ["", "n"]})
        files.write_csv(tmp_path / name / "results/ours/figures/f.csv", table)
    assert outputs.figures(tmp_path / "a", tmp_path / "b") == []


@pytest.mark.parametrize("width", [380, 1280])
def test_the_page_fits_its_width(tmp_path, width):
    a = write_run(tmp_path / "a", RIGHT, label="A-model-with-a-name-that-has-no-place-to-break-in-it-at-all")
    b = write_run(
        tmp_path / "b", BETTER, label="A-model-with-a-name-that-has-no-place-to-break-in-it-at-all", figure=0.9
    )
    path = tmp_path / "page.html"
    path.write_text(page.html(page.context(compared(a, b), {"ours": "Ours"}), (a, b), TEMPLATES[0]), encoding="utf-8")
    with browser.Browser(tmp_path) as opened:
        opened.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        opened.open(path)
        assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_pdf_has_two_pages_at_most(tmp_path):
    if None in map(shutil.which, ("latexmk", "pdfinfo")):
        pytest.skip("TeX or pdfinfo is not installed")
    a, b = (
        write_run(tmp_path / "a", RIGHT * 9),
        write_run(tmp_path / "b", BETTER * 9, verdict="fails & 50 %", figure=0.9),
    )
    result = compared(a, b)
    long = {"label": "A model with a rather long name of its own (13B, instruct)"}
    result["estimates"] = [entry | long for entry in result["estimates"] * 60]
    result["findings"] = [
        entry | {"finding": "This finding says a lot of things. " * 9} for entry in result["findings"] * 60
    ]
    result["figures"] = result["figures"] * 60
    named = {"kind": "module", "name": "scripts/ours/lib/analyses/of_everything.py", "a": "0" * 16, "b": "1" * 16}
    result["causes"] = [named | {"jobs": 9, "rules": [], "results": {"ours": 40}}] * 60
    (tmp_path / "main.tex").write_text(page.tex(page.context(result, {"ours": "Ours"}), TEMPLATES[1]), encoding="utf-8")
    shutil.copy(ROOT / "paper/proceedings.sty", tmp_path)
    typeset(tmp_path / "main.tex", tmp_path / "main.pdf", 10.0)
    told = subprocess.run(["pdfinfo", tmp_path / "main.pdf"], capture_output=True, text=True, check=True).stdout
    assert int(re.search(r"^Pages: +(\d+)$", told, flags=re.MULTILINE)[1]) == 2
