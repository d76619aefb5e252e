"""The wing's scripts from templates to the section, in one small run without Snakemake and without a model."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.underspecification import (
    all_sources,
    claims,
    figure_correlations,
    figure_example,
    figure_occupations,
    figure_orders,
    figure_roc,
    figure_toy_model,
    instances,
    masses,
    method1,
    method2,
    paper_numbers,
    published_vs_ours,
    section,
    table_detection,
    table_independence,
    table_masses,
    table_metric,
    table_slopes,
    texts,
    toy_model,
)
from scripts.underspecification.lib import figures, findings, study
from scripts.underspecification.lib.analyses import correlation

SETS = ("mgc", "winogender_replica", "simplified_replica")
MODELS = {
    "filler": {"label": "Filler", "demonstration": True, "architecture": "encoder", "methods": ["mask"]},
    "writer": {"label": "Writer", "demonstration": False, "architecture": "decoder", "methods": ["generate"]},
}
FACTS = {name: {**facts, "family": name, "size": "small", "parameters": 1} for name, facts in MODELS.items()}
THRESHOLD = 0.7
SETTINGS = {"threshold": THRESHOLD, "folds": 3, "draws": 50}


def share(text):
    """Return a share between 0 and 1 that depends on nothing but the text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 0xFFFFFF


def distribute(text_file, methods):
    """Return made-up distributions and masses over the vocabulary, where female words gain with the date."""
    rows, full = [], []
    frame = files.read_parquet(text_file)
    for row in frame[frame.method.isin(methods)].itertuples():
        year = re.search(r"\b(1[89]|20)\d\d\b", row.text)
        rise = (int(year.group()) - 1801) / 600 if year else 0.2
        female = 0.1 + rise + 0.1 * share(row.text)
        values = [(" she", female), (" he", 0.7 - female), (" they", 0.1), (" it", 0.05), (" her", 0.01)]
        values.sort(key=lambda pair: -pair[1])
        for step in range(1 if row.method == "mask" else 2):
            for rank, (token, value) in enumerate(values):
                written = (token if step else "\n") if row.method == "generate" and rank == 0 else token
                rows.append((row.text_id, step, rank, written, value, rank == 0))
            for group, value in (("female", female + 0.02), ("male", 0.7 - female), ("neutral", 0.1), ("neo", 0.001)):
                full.append((row.text_id, step, group, value))
    top = pd.DataFrame(rows, columns=["text_id", "step", "rank", "token", "probability", "chosen"])
    return top, pd.DataFrame(full, columns=["text_id", "step", "group", "probability"])


@pytest.fixture(scope="module")
def run(tmp_path_factory, root):
    """Every output of the wing: for the run's models, and for a release that is made of one of them."""
    folder = tmp_path_factory.mktemp("wing")
    templates = root / "templates/underspecification"

    def path(name):
        return str(folder / name)

    for name in SETS:
        own = (
            {key: str(templates / f"{key}.tsv") for key in ("verbs", "life_stages", "places")}
            if name == "mgc"
            else {"schemas": str(templates / "winogender.tsv"), "occupations": str(root / "templates/occupations.tsv")}
        )
        instances.main(
            instances=path(f"instances/{name}.parquet"), evaluation_set=name.partition("_")[0],
            dates=str(templates / "dates.tsv"), date_range="code" if name == "mgc" else "winogender",
            outer_dates=2, **own,
        )  # fmt: skip
        texts.main(
            instances=path(f"instances/{name}.parquet"), prompts=str(templates / "prompts.tsv"),
            texts=path(f"texts/{name}.parquet"), use=["A", "B"] if name == "mgc" else ["A"], dates=4, places=3,
            occupations=4,
        )  # fmt: skip
    for model, facts in MODELS.items():
        for name in SETS:
            top, full = distribute(path(f"texts/{name}.parquet"), facts["methods"])
            files.write_parquet(path(f"distributions/{name}/{model}.parquet"), top)
            files.write_parquet(path(f"distributions/{name}/{model}.mass.parquet"), full)
        masses.main(
            instances=[path(f"instances/{name}.parquet") for name in SETS],
            texts=[path(f"texts/{name}.parquet") for name in SETS],
            distributions=[path(f"distributions/{name}/{model}.parquet") for name in SETS],
            full=[path(f"distributions/{name}/{model}.mass.parquet") for name in SETS],
            words=str(templates / "words.tsv"), masses=path(f"masses/{model}.parquet"), label=facts["label"],
            methods=facts["methods"],
        )  # fmt: skip
    frame = files.read_parquet(path("masses/filler.parquet"))
    frame = frame[(frame.accumulation == "top") & (frame.gender != "neo")]
    frame["occupation"] = frame.occupation.replace(frame.occupation.max(), "doctor")
    renamed = "doctor_" + frame["item"].str.split("_", n=1).str[1]
    frame["item"] = frame["item"].where(frame.occupation != "doctor", renamed)
    released = frame.assign(release="preprint", model="BERT-base", templates="official")
    files.write_parquet(path("masses/preprint.parquet"), released)
    sources = {"preprint": ["preprint"], "run": list(MODELS)}
    printed = str(root / "paper/published/underspecification.csv")
    toy_model.main(
        correlations=path("analysis/toy_model.csv"), points=path("analysis/points.csv"), amplification=10, draws=3000,
        seed=1,
    )  # fmt: skip

    def kinds(name, *endings):
        return {kind: path(f"{name}.{kind}") for kind in endings or ("pdf", "png", "csv")}

    figure_toy_model.main(
        correlations=path("analysis/toy_model.csv"), points=path("analysis/points.csv"), **kinds("figures/toy_model")
    )
    for source, parts in sources.items():
        at = {
            name: path(f"analysis/{source}/{name}.csv")
            for name in ("curves", "metric", "roc", "orders", "independence")
        }
        rates, slopes = (path(f"analysis/{source}/{n}.csv") for n in ("specification_detection", "method1_slopes"))
        read = [path(f"masses/{part}.parquet") for part in parts]
        method1.main(masses=read, slopes=slopes, curves=at["curves"], draws=50, seed=1)
        method2.main(
            masses=read, metric=at["metric"], specification_detection=rates, roc=at["roc"], orders=at["orders"],
            independence=at["independence"], threshold=THRESHOLD, folds=3, draws=50, seed=1,
        )  # fmt: skip
        choices = ["all", "main"] if source == "preprint" else ["all"]
        for variable in ("date", "place"):
            for choice in choices:
                figure_correlations.main(
                    curves=at["curves"], slopes=slopes, variable=variable, choice=choice, models=FACTS,
                    **kinds(f"figures/{source}/correlations_{variable}_{choice}"),
                )  # fmt: skip
        part = "bert" if source == "preprint" else "run"
        for name in ("winogender", "simplified"):
            figure_occupations.main(
                metric=at["metric"], evaluation_set=name, part=part, models=FACTS, threshold=THRESHOLD,
                **kinds(f"figures/{source}/occupations_{name}_{part}"),
            )  # fmt: skip
        figure_example.main(
            masses=read, occupation="doctor", model="RoBERTa-large", models=FACTS, **kinds(f"figures/{source}/example")
        )
        figure_roc.main(
            roc=at["roc"], specification_detection=rates, models=FACTS, threshold=THRESHOLD,
            **kinds(f"figures/{source}/roc"),
        )  # fmt: skip
        if source == "preprint":
            figure_orders.main(
                orders=at["orders"], specification_detection=rates, printed=printed, **kinds(f"figures/{source}/orders")
            )
        table_slopes.main(slopes=slopes, **kinds(f"tables/{source}/slopes", "tex", "csv"))
        table_masses.main(curves=at["curves"], **kinds(f"tables/{source}/masses", "tex", "csv"))
        table_metric.main(metric=at["metric"], printed=printed, **kinds(f"tables/{source}/metric", "tex", "csv"))
        table_independence.main(independence=at["independence"], **kinds(f"tables/{source}/independence", "tex", "csv"))
        table_detection.main(
            specification_detection=rates, orders=at["orders"], printed=printed,
            **kinds(f"tables/{source}/detection", "tex", "csv"),
        )  # fmt: skip

    def of(name):
        return [path(f"analysis/{source}/{name}.csv") for source in sources]

    all_sources.main(
        slopes=of("method1_slopes"), rates=of("specification_detection"), metric=of("metric"), orders=of("orders"),
        printed=printed, specification_detection=path("analysis/specification_detection.csv"),
        method1_slopes=path("analysis/method1_slopes.csv"), cell_agreement=path("analysis/agreement.csv"),
        sources=list(sources),
    )  # fmt: skip
    for source in sources:
        paper_numbers.main(
            slopes=path(f"analysis/{source}/method1_slopes.csv"), curves=path(f"analysis/{source}/curves.csv"),
            specification_detection=path(f"analysis/{source}/specification_detection.csv"),
            metric=path(f"analysis/{source}/metric.csv"), orders=path(f"analysis/{source}/orders.csv"),
            independence=path(f"analysis/{source}/independence.csv"),
            cell_agreement=path("analysis/agreement.csv"), toy_model=path("analysis/toy_model.csv"), printed=printed,
            paper_numbers=path(f"analysis/{source}/paper_numbers.json"), source=source, settings=SETTINGS,
        )  # fmt: skip
    published_vs_ours.main(
        published=printed, mapping=printed.replace(".csv", "_mapping.csv"),
        study_models=printed.replace(".csv", "_models.csv"),
        tables=[
            *of("orders"), *of("metric"), *(path(f"analysis/{source}/paper_numbers.json") for source in sources),
        ],
        csv=path("tables/published_vs_ours.csv"), tex=path("tables/published_vs_ours.tex"),
        numbers=path("tables/published_vs_ours.json"), sources=list(sources), every_source=["preprint", "aaai", "run"],
        models=FACTS,
    )  # fmt: skip
    claims.main(
        tables=[
            *of("method1_slopes"), *of("curves"), *of("specification_detection"), *of("metric"), *of("independence"),
        ],
        csv=path("tables/claims.csv"), tex=path("tables/claims.tex"), numbers=path("tables/claims.json"),
        sources=list(sources), every_source=["preprint", "aaai", "run"], models=FACTS, threshold=THRESHOLD,
    )  # fmt: skip
    section.main(
        section_template=str(root / "paper/sections/underspecification.tex.j2"),
        numbers=[path(f"analysis/{source}/paper_numbers.json") for source in sources],
        figures=[str(p) for p in folder.glob("figures/**/*.pdf")],
        tables=[str(p) for p in folder.glob("tables/**/*.tex")],
        comparison_numbers=[path("tables/published_vs_ours.json"), path("tables/claims.json")],
        section_tex=path("paper/sections/underspecification.tex"), sources=list(sources), templates=["replica"],
        prompts={"mgc": ["A", "B"], "winogender": ["A"]}, models=FACTS, shares=False,
    )  # fmt: skip
    return folder


def test_fixed_outputs_have_their_columns_and_keys(run):
    rates = files.read_csv(run / "analysis/specification_detection.csv")
    keys = ["release", "model", "prompt", "evaluation_set", "templates", "accumulation", "gender", "dates", "choice"]
    assert {*keys, "metric", "value"} <= set(rates.columns)
    assert not rates.duplicated([*keys, "metric"]).any()
    assert set(rates.release) == {"preprint", "run"} and set(rates.dates) == {1, 2}
    slopes = files.read_csv(run / "analysis/method1_slopes.csv")
    keys = ["release", "model", "prompt", "variable", "accumulation", "gender", "metric"]
    assert {*keys, "value"} <= set(slopes.columns) and not slopes.duplicated(keys).any()
    assert set(slopes.variable) == {"date", "place"}
    bounded = slopes.dropna(subset=["value", "ci_low"])
    assert ((bounded.ci_low - 1e-6 <= bounded.value) & (bounded.value <= bounded.ci_high + 1e-6)).mean() > 0.9


def test_what_was_put_in_comes_out(run):
    slopes = files.read_csv(run / "analysis/run/method1_slopes.csv").set_index(
        ["model", "prompt", "variable", "accumulation", "gender", "metric"]
    )
    slopes = slopes.sort_index()
    for model, prompt in (("Filler", "mask"), ("Writer", "A"), ("Writer", "B"), ("Writer", correlation.MEAN)):
        own = slopes.value[model, prompt, "date", "top"]
        # Four dates from 1801 to 2016: a rise of 215 / 600 in three steps.
        assert own["female", "slope"] == pytest.approx(100 * 215 / 600 / 3, rel=0.1)
        assert own["female", "r"] > 0.99 and own["male", "r"] < -0.99
        # Top words she and her, the whole vocabulary two points more; the neopronouns are only there.
        full = slopes.value[model, prompt, "date", "full"]
        assert full["female", "intercept"] - own["female", "intercept"] == pytest.approx(1, abs=1e-6)
        assert "neo" not in own.index or own["neo", "intercept"] == pytest.approx(0, abs=1e-9)
        assert full["neo", "intercept"] == pytest.approx(0.1)
    frame = files.read_parquet(run / "masses/writer.parquet")
    sums = frame[(frame.evaluation_set == "winogender") & (frame.gender != "neo")]
    sums = sums.groupby(["item", "position", "accumulation"]).probability.sum()
    assert sums.to_numpy() == pytest.approx(1)


def test_a_text_without_distribution_is_named(run, root, tmp_path):
    top = files.read_parquet(run / "distributions/mgc/filler.parquet")
    files.write_parquet(tmp_path / "top.parquet", top[top.text_id != top.text_id.iloc[0]])
    with pytest.raises(UserError, match=r"top\.parquet: token distributions of .*: text \S+ has no distribution"):
        masses.main(
            instances=[str(run / "instances/mgc.parquet")], texts=[str(run / "texts/mgc.parquet")],
            distributions=[str(tmp_path / "top.parquet")], full=[],
            words=str(root / "templates/underspecification/words.tsv"), masses=str(tmp_path / "out.parquet"),
            label="Filler", methods=["mask"],
        )  # fmt: skip


def test_models_behind_servers_have_no_masses_over_the_vocabulary(run, root, tmp_path):
    masses.main(
        instances=[str(run / "instances/mgc.parquet")], texts=[str(run / "texts/mgc.parquet")],
        distributions=[str(run / "distributions/mgc/writer.parquet")], full=[],
        words=str(root / "templates/underspecification/words.tsv"), masses=str(tmp_path / "out.parquet"),
        label="UL2-20B", methods=["generate"],
    )  # fmt: skip
    frame = files.read_parquet(tmp_path / "out.parquet")
    assert set(frame.accumulation) == {"top"} and set(frame.model) == {"UL2-20B gen"}


def test_tables_are_latex(run):
    found = sorted(run.glob("tables/*/*.tex"))
    assert len(found) == 10
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(r"\begin{tabular}") and "nan" not in text
        assert len({row.count("&") for row in text.splitlines() if "&" in row and "multicolumn" not in row}) == 1


def test_demonstration_models_are_compared_with_nothing(run):
    table = files.read_csv(run / "tables/published_vs_ours.csv")
    own = table[table.templates == "run"]
    assert (own[own.kind == "table"].verdict == "not run").all()
    release = table[(table.templates == "preprint") & (table.kind == "table")]
    assert set(release[release.verdict != "not run"].models) == {"bert-base"}
    assert (table[table.templates == "aaai"].verdict == "not run").all()
    verdicts = files.read_csv(run / "tables/claims.csv")
    assert (verdicts[verdicts.templates != "preprint"].verdict == "not applicable").all()
    assert verdicts.claim.nunique() == 18


def test_the_section_uses_every_figure_and_table(run):
    text = (run / "paper/sections/underspecification.tex").read_text(encoding="utf-8")
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert len(labels) == len(set(labels))
    for path in [*run.glob("figures/**/*.pdf")]:
        relative = Path("..") / path.relative_to(run)
        assert str(relative) in text, relative
    for reference in re.findall(r"\\ref\{([^}]+)\}", text):
        assert reference in labels, reference
    assert "VAR" not in text and "nan" not in text


def test_numbers_are_those_of_the_tables(run):
    numbers = json.loads((run / "analysis/run/paper_numbers.json").read_text())
    assert numbers["mgc.sentences"]["value"] == 60 and numbers["mgc.dates"]["value"] == 4
    assert numbers["mgc.curves"]["value"] == 3 and numbers["method1.date.both"]["value"] == 3
    assert numbers["winogender.sentences"]["value"] == 32 and numbers["winogender.specified"]["value"] == 8
    assert not any(name.startswith("orders") for name in numbers)
    release = json.loads((run / "analysis/preprint/paper_numbers.json").read_text())
    assert release["agree.table3.1.female.cells"]["value"] == 6
    assert release["orders.cells"]["value"] == 6


def test_figures_draw_what_their_csv_says(run):
    drawn = files.read_csv(run / "figures/run/correlations_date_all.csv")
    assert set(drawn.variable) == {"date"} and drawn.model.nunique() == 2
    marks = files.read_csv(run / "figures/run/occupations_winogender_run.csv")
    assert len(marks) == 2 * 32 and set(marks.gender) == {"female"}
    assert len(files.read_csv(run / "figures/run/example.csv")) == 8 * 4
    orders = files.read_csv(run / "figures/preprint/orders.csv")
    assert set(orders.model) == {"BERT-base"} and len(orders) == 6


def test_figures_and_findings_use_the_threshold_of_the_settings(run):
    own = figure_occupations.select(files.read_csv(run / "analysis/run/metric.csv"), "winogender", "run")
    for threshold, labels in ((0.7, ("≤ 0.7 points", "0.7 to 1.4 points")), (2, ("≤ 2 points", "2 to 4 points"))):
        drawn = figure_occupations.draw(own, "winogender", {}, {}, threshold)
        assert [text.get_text() for text in drawn.legends[0].get_texts()][:2] == list(labels)
        values = own.assign(metric=[threshold, *[threshold * 1.5] * (len(own) - 1)], undefined=False)
        mesh = figure_occupations.draw(values, "winogender", {}, {}, threshold).axes[0].collections
        colours = np.concatenate([part.cmap(part.norm(part.get_array().ravel())) for part in mesh])
        assert len(np.unique(colours, axis=0)) == 2
    curve, areas = (files.read_csv(run / f"analysis/run/{name}.csv") for name in ("roc", "specification_detection"))
    curve, areas = (table[figure_roc.selected(table)] for table in (curve, areas))
    one = curve[(curve.model == "Filler") & (curve.evaluation_set == "winogender")]
    for threshold in (0.1, 5.0):
        drawn = figure_roc.draw(one, areas[(areas.metric == "AUC") & (areas.dates == 1)], {}, threshold)
        (dot,) = (line for line in drawn.axes[0].lines if line.get_marker() == "o")
        at = one[one.threshold <= threshold].iloc[0]
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (at.FPR, at.TPR)
    metric = pd.DataFrame(
        [
            {"model": m, "prompt": "mask", "templates": "official", "accumulation": "top", "dates": 1,
             "gender": "female", "evaluation_set": "winogender", "well_specified": False, "occupation": f"o{i}",
             "metric": value}
            for m in findings.METHOD2 for i, value in enumerate((1, 3, 3, 1))
        ]
    )  # fmt: skip
    shares = {f"o{i}": i for i in range(4)}
    for threshold, right in ((2.0, True), (0.5, False)):
        checks = findings.missed_at_both_ends(findings.Source({"metric": metric}, threshold, shares))
        assert [check.outcome for check in checks] == [right, right]


def test_lines_end_between_0_and_100_percent():
    for (low, high), ends in {
        (90, 110): ((0, 10), (90, 100)), (110, 90): ((10, 20), (100, 90)), (-5, 5): ((10, 20), (0, 5)),
        (20, 40): ((0, 20), (20, 40)), (30, 30): ((0, 20), (30, 30)),
    }.items():  # fmt: skip
        x, y = figure_correlations.inside([0, 20], [low, high])
        assert (tuple(x), tuple(y)) == ends


def test_ticks_of_dates_are_evenly_spaced_and_places_named():
    years = np.linspace(1801, 2016, 30).astype(int)
    at, labels = figure_correlations.ticks(pd.DataFrame({"position": range(30), "value": years}), "date")
    assert labels == ["", "1900", "", "2000"]
    assert np.ptp(np.diff(at)) < 0.2
    at, labels = figure_correlations.ticks(pd.DataFrame({"position": range(4), "value": list("abcd")}), "place")
    assert list(at) == [0, 1, 2, 3] and labels == ["a", "", "", "d"]


def test_no_line_crosses_years_without_data(run):
    assert [list(p) for p in figure_example.spans(np.array([1901, 1904, 2012, 2016]))] == [[1901, 1904], [2012, 2016]]
    assert [list(p) for p in figure_example.spans(np.array([1900, 1950, 2000]))] == [[1900, 1950, 2000]]
    drawn = figure_example.draw(files.read_csv(run / "figures/run/example.csv"), {})
    for ax in drawn.axes:
        for line in ax.lines:
            assert np.ptp(line.get_xdata()) < 20


def test_released_models_that_no_figure_of_the_study_shows_are_marked():
    assert figures.panel_label("GPT-4", "A") == "GPT-4† (A)" and figures.panel_label("Flan-T5-XXL") == "Flan-T5-XXL†"
    assert figures.panel_label("GPT-3", "A") == "GPT-3 (A)" and figures.panel_label("SmolLM2") == "SmolLM2"


def test_the_toy_models_points_have_the_share_of_what_is_selected(run):
    points = files.read_csv(run / "analysis/points.csv")
    table = files.read_csv(run / "analysis/toy_model.csv")
    share = table[table.population == "selected"].exact_share.iloc[0]
    assert points.selected.mean() == pytest.approx(share, abs=4 * np.sqrt(share / len(points)))
    drawn = figure_toy_model.draw(table.assign(simulated=-1e-5, exact=0.0), points)
    titles = [ax.get_title(loc="left") for ax in drawn.axes]
    assert "all: 0.000 (0.000)\nselected: 0.000 (0.000)" in titles


def test_no_mark_of_an_order_hides_another(run):
    drawn = figure_orders.draw(files.read_csv(run / "figures/preprint/orders.csv"))
    heights = [line.get_ydata()[0] for line in drawn.axes[0].lines]
    assert len(heights) == 3 and min(np.diff(sorted(heights))) > 0.2


def test_nothing_to_draw_is_said(tmp_path):
    files.write_csv(tmp_path / "curves.csv", pd.DataFrame(columns=["model"]))
    with pytest.raises(UserError, match=r"curves\.csv: has no row"):
        table_masses.main(curves=str(tmp_path / "curves.csv"), tex=str(tmp_path / "a"), csv=str(tmp_path / "b"))


def test_labels_of_the_run_are_those_of_the_study():
    assert study.run_label("BERT-base", "mask") == "BERT-base"
    assert np.isnan(study.MODELS["GPT-4"].parameters)
