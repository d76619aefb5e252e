"""The study's rules from templates to the section, in one small run without a model, and what its results look like.

Texts are distributed by a formula, so that what comes out is known. Archives in the format of a release are made the
same way. The rules then run in one process (``run_jobs.py``).
"""

import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data.options import SLOT
from scripts.core.errors import UserError
from scripts.underspecification import (
    correlation,
    figures,
    findings_correlation,
    findings_detection,
    illustrations,
    probabilities,
    study,
    tables,
)
from scripts.underspecification.quantities import Source
from tests.figures import problems
from tests.workflow.conftest import Workflow

SETS = ("mgc", "winogender_replica", "simplified_replica")
FILLER, WRITER = "minilm-l6-mlm", "opt-125m"
"""A demonstration model that fills masks, and one of a hub that continues prompts; neither is loaded."""
LABELS = {FILLER: "MiniLM (demonstration)", WRITER: "OPT-125M"}
THRESHOLD = 0.7
RELEASED = ("BERT-base", "BART-base", "GPT-3.5 SFT")
"""One model for each figure of a part of the models."""
OVERLAY = f"""
models: [{FILLER}, {WRITER}]
studies: [underspecification]
underspecification:
  released: [preprint]
  sample: {{dates: 4, places: 3, occupations: 4}}
  outer_dates: 2
  prompts: {{mgc: [A, B], winogender: [A]}}
  threshold: {THRESHOLD}
  folds: 3
  bootstrap: {{draws: 100, seed: 1}}
  toy: {{amplification: 10, draws: 3000, seed: 1}}
"""


def share(text):
    """Return a share between 0 and 1 that depends on nothing but the text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 0xFFFFFF


def female(text):
    """Return the made-up probability of female words in a text, which rises with its date."""
    year = re.search(r"\b(1[89]|20)\d\d\b", text)
    return 0.1 + ((int(year.group()) - 1801) / 600 if year else 0.2) + 0.1 * share(text)


def distribute(text_file, method):
    """Return made-up distributions and probabilities over the vocabulary of the texts of one method."""
    rows, full = [], []
    frame = files.read_parquet(text_file)
    for row in frame[frame.method == method].itertuples():
        rising = female(row.text)
        values = [(" she", rising), (" he", 0.7 - rising), (" they", 0.1), (" it", 0.05), (" her", 0.01)]
        values.sort(key=lambda pair: -pair[1])
        for step in range(1 if row.method == "mask" else 2):
            for rank, (token, value) in enumerate(values):
                written = (token if step else "\n") if row.method == "generate" and rank == 0 else token
                rows.append((row.text_id, step, rank, written, value, rank == 0))
            for group, value in (("female", rising + 0.02), ("male", 0.7 - rising), ("neutral", 0.1), ("neo", 0.001)):
                full.append((row.text_id, step, group, value))
    top = pd.DataFrame(rows, columns=["text_id", "step", "rank", "token", "probability", "chosen"])
    return top, pd.DataFrame(full, columns=["text_id", "step", "group", "probability"])


def raw_files(instances, name):
    """Yield the raw files of a release, with their names: every model's sentences on all dates and places."""
    if name != "mgc":
        occupations = ["doctor", *sorted(set(instances.occupation) - {"doctor"})[:3]]
        instances = instances[instances.occupation.isin(occupations)]
    for model, prompt in [(m, p) for m in RELEASED for p in ("CBA" if study.MODELS[m].prompted else ["mask"])]:
        if name != "mgc" and prompt not in ("mask", study.DETECTION_PROMPT):
            continue
        number = next(file for file, shown in study.FILE_PROMPTS.items() if shown == prompt)
        for variable, rows in instances.groupby("variable"):
            # All sentences of MGC are columns of one file.
            for item, sentences in [("", rows)] if name == "mgc" else rows.groupby("item"):
                wide = sentences.pivot(index=["position", "value"], columns="item", values="text")
                headers = [text.replace(SLOT, "[MASK]") for text in wide.iloc[-1]]
                for letter in "fmn":
                    table = io.StringIO()
                    lines = csv.writer(table, lineterminator="\n")
                    lines.writerow(["", variable, *headers])
                    for (position, value), texts in wide.iterrows():
                        lines.writerow([position, value, *(released(letter, model, text) for text in texts)])
                    ending = f"testFalse{number and '_' + number}.csv"
                    yield f"{letter}p_wikibio_{study.MODELS[model].file}_{variable}_{item}_{ending}", table.getvalue()


def released(letter, model, text):
    """Return a percentage of a release, to a tenth."""
    she = round(100 * (female(text) + 0.05 * share(model + text)), 1)
    shares = {"f": she, "m": 90 - she, "n": 10}
    return f"{shares[letter]:.1f}"


def archive(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as packed:
        for name, text in members:
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            packed.addfile(info, io.BytesIO(text.encode()))


def mirrored(folder, instances):
    """Make a mirror of what a release is read from, and have the copy's list of files say so."""
    data = folder / "mirror/underspecification/data"
    for name, file in (("mgc", "spur_mgc"), ("winogender", "detect_wino"), ("simplified", "detect_wino_mod")):
        archive(data / f"{file}_raw.tar.xz", raw_files(instances[name], name))
    shares = data.parent / "winogender_schema_evaluation_set/occupations-stats.tsv"
    shares.parent.mkdir()
    occupations = sorted(instances["winogender"].occupation.unique())
    rows = [f"{name}\t{100 * share(name):.1f}" for name in occupations]
    shares.write_text("\n".join(["occupation\tbls_pct_female", *rows]) + "\n")
    manifest = folder / "config/upstream.tsv"
    lines = [line.split("\t") for line in manifest.read_text().splitlines()]
    for cells in lines:
        made = folder / "mirror" / cells[0]
        if made.is_file():
            cells[5:7] = [str(made.stat().st_size), files.sha256(made)]
    manifest.write_text("\n".join("\t".join(cells) for cells in lines) + "\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory, root):
    """The folder of the study's results, of the run's models and of a release."""
    folder = Workflow(tmp_path_factory.mktemp("wing")).folder
    (folder / "overlay.yaml").write_text(OVERLAY)

    def make(*targets):
        # The packages that the models come from are installed; nothing is fetched but from the mirror.
        environment = {**os.environ, "PRONOUN_UPSTREAM_MIRROR": str(folder / "mirror")}
        command = [sys.executable, str(root / "tests/underspecification/run_jobs.py"), "overlay.yaml", *targets]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]

    results = folder / "results/underspecification"
    make(*(f"results/underspecification/texts/{name}.parquet" for name in SETS))
    for model, method in ((FILLER, "mask"), (WRITER, "generate")):
        for name in SETS:
            top, full = distribute(results / f"texts/{name}.parquet", method)
            files.write_parquet(results / f"distributions/{name}/{model}.parquet", top)
            files.write_parquet(results / f"distributions/{name}/{model}.mass.parquet", full)
    mirrored(folder, {name.split("_")[0]: files.read_parquet(results / f"instances/{name}.parquet") for name in SETS})
    make("underspecification", "results/paper/sections/underspecification.tex")
    return results


def test_fixed_outputs_have_their_columns_and_keys(run):
    estimates = study.read_table(run / "estimates.csv")
    assert not estimates.duplicated([*study.IDENTITY, *study.FACTORS, "metric"]).any()
    assert set(estimates.part) == {"preprint", "run"} and set(estimates.dates) == {"", "1", "2"}
    assert set(estimates.variable) == {"", "date", "place"}
    assert set(estimates.model[estimates.part == "run"]) == {FILLER, WRITER}
    bounded = estimates.dropna(subset=["value", "low"])
    assert ((bounded.low - 1e-6 <= bounded.value) & (bounded.value <= bounded.high + 1e-6)).mean() > 0.9


def test_what_was_put_in_comes_out(run):
    keys = ["model", "prompt", "variable", "accumulation", "gender", "metric"]
    slopes = study.read_table(run / "estimates.csv").set_index(keys).sort_index()
    for model, prompt in (
        (FILLER, "mask"),
        *((WRITER, prompt) for prompt in ("A", "B", "A|B")),
    ):
        metrics = slopes.value[model, prompt, "date", "top"]
        # Four dates from 1801 to 2016: a rise of 215 / 600 in three steps.
        assert metrics["female", "slope"] == pytest.approx(100 * 215 / 600 / 3, rel=0.1)
        assert metrics["female", "r"] > 0.99 and metrics["male", "r"] < -0.99
        # Top words she and her, the whole vocabulary two points more; the neopronouns are only there.
        full = slopes.value[model, prompt, "date", "full"]
        assert full["female", "intercept"] - metrics["female", "intercept"] == pytest.approx(1, abs=1e-6)
        assert "neo" not in metrics.index or metrics["neo"].isna().all()
        assert full["neo", "intercept"] == pytest.approx(0.1)
    frame = files.read_parquet(run / f"word_group_probabilities/run/{WRITER}.parquet")
    sums = frame[(frame.evaluation_set == "winogender") & (frame.gender != "neo")]
    sums = sums.groupby(["item", "position", "accumulation"]).probability.sum()
    assert sums.to_numpy() == pytest.approx(1)


def test_a_text_without_distribution_is_named(run, root, tmp_path):
    top = files.read_parquet(run / f"distributions/mgc/{FILLER}.parquet")
    files.write_parquet(tmp_path / "top.parquet", top[top.text_id != top.text_id.iloc[0]])
    with pytest.raises(UserError, match=r"top\.parquet: token distributions of .*: text \S+ has no distribution"):
        probabilities.word_group_probabilities(
            instances=[str(run / "instances/mgc.parquet")], texts=[str(run / "texts/mgc.parquet")],
            distributions=[str(tmp_path / "top.parquet")], full=[],
            words=str(root / "templates/underspecification/words.tsv"), probabilities=str(tmp_path / "out.parquet"),
            model=FILLER, label="Filler", methods=["mask"],
        )  # fmt: skip


def test_models_behind_servers_have_no_masses_over_the_vocabulary(run, root, tmp_path):
    probabilities.word_group_probabilities(
        instances=[str(run / "instances/mgc.parquet")], texts=[str(run / "texts/mgc.parquet")],
        distributions=[str(run / f"distributions/mgc/{WRITER}.parquet")], full=[],
        words=str(root / "templates/underspecification/words.tsv"), probabilities=str(tmp_path / "out.parquet"),
        model="ul2", label="UL2-20B", methods=["generate"],
    )  # fmt: skip
    frame = files.read_parquet(tmp_path / "out.parquet")
    assert "full" not in set(frame.accumulation) and set(frame.label) == {"UL2-20B gen"} and set(frame.model) == {"ul2"}


def test_tables_are_latex(run):
    typeset = sorted(run.glob("tables/*/*.tex"))
    assert len(typeset) == 10
    for path in typeset:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(r"\begin{tabular}") and "nan" not in text
        assert len({row.count("&") for row in text.splitlines() if "&" in row and "multicolumn" not in row}) == 1


def test_models_that_are_not_the_studys_are_compared_with_nothing(run):
    table = files.read_csv(run / "tables/published_vs_ours.csv")
    ours = table[table.templates == "run"]
    assert (ours[ours.kind == "table"].verdict == "not run").all()
    release = table[(table.templates == "preprint") & (table.kind == "table")]
    assert set(release[release.verdict != "not run"].models) == {"bart-base", "bert-base", "gpt-3.5-sft"}
    assert (table[table.templates == "aaai"].verdict == "not run").all()
    verdicts = files.read_csv(run / "tables/findings.csv")
    assert (verdicts[verdicts.templates != "preprint"].verdict == "undecided").all()
    assert verdicts.number.nunique() == 18


def test_the_section_shows_figures_and_tables_of_the_main_source_and_the_run(run):
    text = (run.parent / "paper/sections/underspecification.tex").read_text(encoding="utf-8")
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert len(labels) == len(set(labels))
    shown = set()
    for path in [*run.glob("figures/**/*.pdf"), *run.glob("tables/**/*.tex")]:
        if path.suffix == ".tex":
            cells = path.read_text(encoding="utf-8").strip()
            here = cells.startswith("%") or cells.partition("\n\\tablenote")[0] in text
        else:
            here = str(Path("../underspecification") / path.relative_to(run)) in text
        if here:
            shown.add(path.stem)
    # The body and the details of the appendix; what repeats them for other models is in files alone.
    assert {"correlations_date_main", "correlations_place_main", "detection", "metric", "example"} <= shown
    for reference in re.findall(r"\\ref\{([^}]+)\}", text):
        assert reference in labels, reference
    assert "VAR" not in text and "nan" not in text
    for cells in re.findall(r"\\midrule.*?\\bottomrule", text, flags=re.DOTALL):
        assert not re.search("not (applicable|run|released)", cells), cells


def test_numbers_are_those_of_the_tables(run):
    numbers = json.loads((run / "analysis/run/paper_numbers.json").read_text())
    assert numbers["mgc.sentences"]["value"] == 60 and numbers["mgc.dates"]["value"] == 4
    assert numbers["method1.date.curves"]["value"] == numbers["method1.date.significant"]["value"] == 2
    assert numbers["winogender.sentences"]["value"] == 32 and numbers["winogender.specified"]["value"] == 8


def test_figures_draw_what_their_csv_says(run):
    drawn = files.read_csv(run / "figures/run/correlations_date_all.csv")
    assert set(drawn.variable) == {"date"} and drawn.model.nunique() == 2
    marks = files.read_csv(run / "figures/run/occupations_winogender_run.csv")
    assert len(marks) == 2 * 32 and set(marks.gender) == {"female"}
    assert len(files.read_csv(run / "figures/run/example.csv")) == 8 * 4


def own_metrics(run):
    """Return what the figure of Winogender's occupations shows of the run's models."""
    metrics = study.read_table(run / "metrics.csv")
    return figures.occupations(metrics[metrics.part == "run"], "winogender", "run")


def test_of_two_sets_of_templates_one_is_drawn(run):
    metrics = study.read_table(run / "metrics.csv")
    metrics = metrics[metrics.part == "run"]
    both = pd.concat([metrics, metrics.assign(templates="official", value=9.0)])
    drawn = figures.occupations(both, "winogender", "run")
    assert drawn.value.equals(own_metrics(run).value)
    figures.draw_occupations(drawn, "winogender", {}, THRESHOLD)


def test_figures_and_findings_use_the_threshold_of_the_settings(run):
    rows = own_metrics(run)
    for threshold, labels in ((0.7, ("≤ 0.7 points", "0.7 to 1.4 points")), (2, ("≤ 2 points", "2 to 4 points"))):
        drawn = figures.draw_occupations(rows, "winogender", {}, threshold)
        assert [text.get_text() for text in drawn.legends[0].get_texts()][:2] == list(labels)
        values = rows.assign(value=[threshold, *[threshold * 1.5] * (len(rows) - 1)], undefined=False)
        mesh = figures.draw_occupations(values, "winogender", {}, threshold).axes[0].collections
        colours = np.concatenate([part.cmap(part.norm(part.get_array().ravel())) for part in mesh])
        assert len(np.unique(colours, axis=0)) == 2
    metric = pd.DataFrame(
        [
            {"label": m, "prompt": "mask", "templates": "official", "accumulation": "top", "dates": "1",
             "gender": "female", "evaluation_set": "winogender", "well_specified": False, "occupation": f"o{i}",
             "value": value}
            for m in study.METHOD2 for i, value in enumerate((*[1] * 7, *[3] * 17, *[1] * 7, 3))
        ]
    )  # fmt: skip
    shares = {f"o{i}": i for i in range(32)}
    # Below every value there is no miss to compare.
    for threshold, right in ((2.0, True), (0.5, None)):
        checks = findings_detection.missed_at_both_ends(Source({"metrics": metric}, threshold, shares))
        assert [check.outcome for check in checks] == [right, right]
        assert "p < 0.001" in checks[0].text if right else checks[0].missing == ("a significant test (n = 32)",)


def test_a_curve_that_does_not_move_in_any_sentence_is_a_certain_no():
    """One model alone is asked; of one that gives such words no mass at all nothing is known."""

    def checks(values, width=0.05, **asked):
        rows = [
            {"label": "OPT", "evaluation_set": "mgc", "variable": "date", "prompt": "A", "gender": gender,
             "metric": metric, "accumulation": "top", "value": value, "low": value - width, "high": value + width,
             "n": 9}
            for gender, value in zip(("female", "male"), values, strict=True)
            for metric in ("r", "slope")
        ]  # fmt: skip
        source = Source({"estimates": pd.DataFrame(rows)}, 0.5, **asked)
        return findings_correlation.gender_and_time(source)

    (still,) = checks((np.nan, np.nan), alone=("OPT",))
    assert (still.outcome, still.missing) == (None, ("a female or male word that the model gives any mass",))
    for values, right in (((0.9, -0.9), True), ((-0.9, -0.9), False), ((np.nan, -0.9), False)):
        (moving,) = checks(values, alone=("OPT",))
        assert moving.outcome is right
    # Always "he": no curve moves. Samples that agree on another slope are no certainty.
    (constant,) = checks((np.nan, 0.0), width=np.nan, alone=("OPT",))
    assert constant.outcome is False
    (certain,) = checks((0.26, -0.26), width=0.0, alone=("OPT",))
    assert certain.outcome is None and "no interval" in certain.text
    assert [check.missing for check in checks((0.9, -0.9)) if check.outcome is None][:1] == [("BERT-base",)]


def test_lines_end_between_0_and_100_percent():
    for (low, high), ends in {
        (90, 110): ((0, 10), (90, 100)), (110, 90): ((10, 20), (100, 90)), (-5, 5): ((10, 20), (0, 5)),
        (20, 40): ((0, 20), (20, 40)), (30, 30): ((0, 20), (30, 30)),
    }.items():  # fmt: skip
        x, y = figures.clipped_line([0, 20], [low, high])
        assert (tuple(x), tuple(y)) == ends


def test_ticks_of_dates_are_evenly_spaced_and_places_named():
    years = np.linspace(1801, 2016, 30).astype(int)
    at, labels = figures.variable_ticks(pd.DataFrame({"position": range(30), "value": years}), "date")
    assert labels == ["", "1900", "", "2000"]
    assert np.ptp(np.diff(at)) < 0.2
    at, labels = figures.variable_ticks(pd.DataFrame({"position": range(4), "value": list("abcd")}), "place")
    assert list(at) == [0, 1, 2, 3] and labels == ["a", "", "", "d"]


@pytest.fixture(scope="module")
def drawn(run, root):
    """The figures by what they show, and what is shown of a set that is large enough for a curve."""

    def table(name):
        return files.read_csv(run / f"{name}.csv")

    return {
        "date": figures.draw_correlations(table("figures/preprint/correlations_date_all"), "date"),
        "place": figures.draw_correlations(table("figures/run/correlations_place_all"), "place"),
        "example": illustrations.draw_example(
            table("figures/preprint/example").assign(label="Some-model-135M-Instruct (demonstration)")
        ),
        "occupations": figures.draw_occupations(
            table("figures/run/occupations_winogender_run").assign(undefined=True), "winogender", {}, THRESHOLD
        ),
        "toy": illustrations.draw_toy_model(table("toy_model"), table("toy_points")),
    }


def marks(figure):
    """Return the lines of a figure that have marks."""
    return [line for ax in figure.axes for line in ax.lines if line.get_marker() not in ("None", "", None)]


@pytest.mark.parametrize("name", ["date", "place", "example", "occupations", "toy"])
def test_marks_are_large_enough_and_axes_are_labelled(drawn, name):
    lines = marks(drawn[name])
    # A dot is drawn at half its size.
    assert lines and all(line.get_markersize() >= 3 and line.get_marker() != "." for line in lines)
    labelled = [ax for ax in drawn[name].axes if ax.axison]
    assert drawn[name].get_supxlabel() or any(ax.get_xlabel() for ax in labelled)
    for axis in ("x", "y"):
        title = getattr(drawn[name], f"get_sup{axis}label")()
        labels = [getattr(ax, f"get_{axis}label")() for ax in labelled]
        assert title or any(labels), axis
    for figure, unit in (("date", "(%)"), ("example", "(%)"), ("toy", "no unit")):
        said = drawn[figure].get_supylabel() + "".join(ax.get_ylabel() for ax in drawn[figure].axes)
        assert unit in said


@pytest.mark.parametrize("name", ["date", "place", "example", "occupations", "toy"])
def test_figures_keep_the_rules(drawn, name):
    assert problems(drawn[name], pronouns=name in ("date", "place")) == []


@pytest.mark.parametrize("name", ["date", "place"])
def test_intervals_and_lines_stay_on_the_scale(drawn, name):
    checked = 0
    for ax in drawn[name].axes:
        for area in ax.collections:
            # A line that all samples agree on has no interval.
            for path in area.get_paths():
                assert path.vertices[:, 1].min() >= 0 and path.vertices[:, 1].max() <= 100
            checked += 1
        for line in ax.lines:
            assert np.min(line.get_ydata()) >= 0 and np.max(line.get_ydata()) <= 100
    assert checked >= 3


def test_a_model_that_writes_no_pronoun_has_no_panel(run):
    curves = files.read_csv(run / "figures/preprint/correlations_date_all.csv")
    shares = ["probability", "fit", "low", "high"]
    silent = (curves.label == "BERT-base") & (curves.prompt == "mask")
    curves.loc[silent, shares] = 0
    drawn = figures.draw_correlations(curves, "date")
    everything = curves.drop_duplicates(["label", "prompt"])
    assert len([ax for ax in drawn.axes if ax.get_visible()]) == len(everything) - 1
    assert "BERT-base" not in {ax.get_title() for ax in drawn.axes}
    assert not any("BERT-base" in text.get_text() for text in drawn.legends[0].texts)
    curves[shares] = 0.0
    (ax,) = figures.draw_correlations(curves, "date").axes
    assert "no model gives a pronoun any" in ax.texts[0].get_text().replace("\n", " ")


def test_intervals_beyond_the_scale_are_cut(run):
    curves = files.read_csv(run / "figures/preprint/correlations_date_all.csv")
    wide = curves.assign(low=-20.0, high=130.0, fit=np.where(curves.position == 0, -5.0, 110.0))
    for ax in figures.draw_correlations(wide, "date").axes:
        for area in ax.collections:
            values = np.concatenate([path.vertices[:, 1] for path in area.get_paths()])
            assert (values.min(), values.max()) == (0, 100)
        fits = [line.get_ydata() for line in ax.lines if line.get_marker() == "None"]
        assert all(np.min(ends) >= 0 and np.max(ends) <= 100 for ends in fits)


@pytest.mark.parametrize("name", ["date", "place", "example"])
def test_no_mark_lies_on_one_of_another_kind(drawn, name):
    """Two marks of equal value stand side by side."""
    for ax in drawn[name].axes:
        lines = [line for line in ax.lines if line.get_marker() not in ("None", "", None)]
        places = sorted(line.get_transform().transform((0, 0))[0] for line in lines)
        points = np.diff(places) * 72 / drawn[name].dpi
        assert all(gap >= 1 for gap in points)


def test_no_panel_of_the_example_has_more_than_two_lines(drawn):
    visible = [ax for ax in drawn["example"].axes if ax.lines]
    assert all(len(ax.lines) == 2 for ax in visible) and len(visible) in (4, 8)


def test_no_line_crosses_years_without_data(run):
    spans = illustrations.date_spans(np.array([1901, 1904, 2012, 2016]))
    assert [list(part) for part in spans] == [[1901, 1904], [2012, 2016]]
    assert [list(p) for p in illustrations.date_spans(np.array([1900, 1950, 2000]))] == [[1900, 1950, 2000]]
    figure = illustrations.draw_example(files.read_csv(run / "figures/run/example.csv"))
    for ax in figure.axes:
        for line in ax.lines:
            assert np.ptp(line.get_xdata()) < 20


def test_released_models_that_no_figure_of_the_study_shows_are_marked():
    assert figures.panel_label("GPT-4", "A") == "GPT-4† (A)" and figures.panel_label("Flan-T5-XXL") == "Flan-T5-XXL†"
    assert figures.panel_label("GPT-3", "A") == "GPT-3 (A)" and figures.panel_label("SmolLM2") == "SmolLM2"


def test_the_toy_models_points_have_the_share_of_what_is_selected(run):
    points = files.read_csv(run / "toy_points.csv")
    table = files.read_csv(run / "toy_model.csv")
    share = table[table.population == "selected"].exact_share.iloc[0]
    assert points.selected.mean() == pytest.approx(share, abs=4 * np.sqrt(share / len(points)))
    drawn = illustrations.draw_toy_model(table.assign(simulated=-1e-5, exact=0.0), points)
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert "all: 0.000 (0.000)\nselected: 0.000 (0.000)" in titles
    # Which draws are shown is said.
    assert drawn.legends[0].get_texts()[0].get_text() == "the first 1,500 of 3,000 draws"


def test_nothing_to_draw_is_said(tmp_path):
    files.write_csv(tmp_path / "curves.csv", pd.DataFrame(columns=["model"]))
    with pytest.raises(UserError, match=r"curves\.csv: has no row"):
        tables.of_part(str(tmp_path / "curves.csv"), "run")


def test_labels_of_the_run_are_those_of_the_study():
    assert study.run_label("BERT-base", "mask") == "BERT-base"
    assert np.isnan(study.MODELS["GPT-4"].parameters)


@pytest.mark.parametrize(
    ("shares", "outcome"),
    [
        ((0.0, 100.0, 0.0), False),  # always "he": "they" has as little as "she"
        ((20.0, 20.0, 20.0), False),
        ((40.0, 40.0, 5.0), True),
        ((0.0, 0.0, 0.0), None),
    ],
)
def test_shares_that_are_the_same_in_all_sentences_decide(shares, outcome):
    rows = [
        {"part": "run", "model": "opt", "label": "OPT", "kind": "model", "scoring": "distribution", "prompt": "A",
         "evaluation_set": "mgc", "variable": "date", "accumulation": "top",
         "item": item, "gender": gender, "position": position, "value": str(1800 + position),
         "probability": share / 100}
        for gender, share in zip(("female", "male", "neutral"), shares, strict=True)
        for item in range(60) for position in range(4)
    ]  # fmt: skip
    curves = correlation.curves(pd.DataFrame(rows), draws=100, seed=1)
    (check,) = findings_correlation.little_mass_to_neutral(Source({"curves": curves}, 0.5, alone=("OPT",)))
    assert check.outcome is outcome
