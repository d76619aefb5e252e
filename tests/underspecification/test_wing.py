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
    correlation,
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
    study,
    table_detection,
    table_masses,
    table_metric,
    table_slopes,
    texts,
    toy_model,
)

SETS = ("mgc", "winogender_replica", "simplified_replica")
MODELS = {
    "filler": {"label": "Filler", "demonstration": True, "architecture": "encoder", "methods": ["mask"]},
    "writer": {"label": "Writer", "demonstration": False, "architecture": "decoder", "methods": ["generate"]},
}
FACTS = {name: {**facts, "family": name, "size": "small", "parameters": 1} for name, facts in MODELS.items()}
SETTINGS = {"threshold": 0.5, "folds": 3, "draws": 50}


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
        at = {name: path(f"analysis/{source}/{name}.csv") for name in ("curves", "metric", "roc", "orders")}
        rates, slopes = (path(f"analysis/{source}/{n}.csv") for n in ("specification_detection", "method1_slopes"))
        read = [path(f"masses/{part}.parquet") for part in parts]
        method1.main(masses=read, slopes=slopes, curves=at["curves"], draws=50, seed=1)
        method2.main(
            masses=read, metric=at["metric"], specification_detection=rates, roc=at["roc"], orders=at["orders"],
            threshold=0.5, folds=3, draws=50, seed=1,
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
                metric=at["metric"], evaluation_set=name, part=part, models=FACTS,
                **kinds(f"figures/{source}/occupations_{name}_{part}"),
            )  # fmt: skip
        figure_example.main(
            masses=read, occupation="doctor", model="RoBERTa-large", models=FACTS, **kinds(f"figures/{source}/example")
        )
        figure_roc.main(roc=at["roc"], specification_detection=rates, models=FACTS, **kinds(f"figures/{source}/roc"))
        if source == "preprint":
            figure_orders.main(
                orders=at["orders"], specification_detection=rates, printed=printed, **kinds(f"figures/{source}/orders")
            )
        table_slopes.main(slopes=slopes, **kinds(f"tables/{source}/slopes", "tex", "csv"))
        table_masses.main(curves=at["curves"], **kinds(f"tables/{source}/masses", "tex", "csv"))
        table_metric.main(metric=at["metric"], printed=printed, **kinds(f"tables/{source}/metric", "tex", "csv"))
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
        tables=[*of("method1_slopes"), *of("curves"), *of("specification_detection"), *of("metric")],
        csv=path("tables/claims.csv"), tex=path("tables/claims.tex"), numbers=path("tables/claims.json"),
        sources=list(sources), every_source=["preprint", "aaai", "run"], models=FACTS,
    )  # fmt: skip
    section.main(
        section_template=str(root / "paper/sections/underspecification.tex.j2"),
        numbers=[path(f"analysis/{source}/paper_numbers.json") for source in sources],
        figures=[str(p) for p in folder.glob("figures/**/*.pdf")],
        tables=[str(p) for p in folder.glob("tables/**/*.tex")],
        comparison_numbers=[path("tables/published_vs_ours.json"), path("tables/claims.json")],
        section_tex=path("paper/sections/underspecification.tex"), sources=list(sources), templates=["replica"],
        prompts={"mgc": ["A", "B"], "winogender": ["A"]}, models=FACTS,
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
    assert len(found) == 8
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


def test_nothing_to_draw_is_said(tmp_path):
    files.write_csv(tmp_path / "curves.csv", pd.DataFrame(columns=["model"]))
    with pytest.raises(UserError, match=r"curves\.csv: has no row"):
        table_masses.main(curves=str(tmp_path / "curves.csv"), tex=str(tmp_path / "a"), csv=str(tmp_path / "b"))


def test_labels_of_the_run_are_those_of_the_study():
    assert study.run_label("BERT-base", "mask") == "BERT-base"
    assert study.demonstration(FACTS) == {"Filler"}
    assert np.isnan(study.MODELS["GPT-4"].parameters)
