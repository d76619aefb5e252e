"""The wing's scripts from templates to the section, in one small run without Snakemake."""

import json
import re

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.counter_gap import (
    baseline,
    claims,
    figure_breakdown,
    figure_cancellation,
    figure_inconsistencies,
    figure_simulation,
    flags,
    instances,
    metrics,
    paper_numbers,
    published_vs_ours,
    section,
    simulation,
    table_accuracy,
    table_artefact,
    table_cancellation,
    table_datasets,
    table_debiasing,
    table_examples,
    table_inconsistency,
    table_original_counterfactual,
)
from scripts.counter_gap.lib import examples, name_rules, tables
from scripts.counter_gap.lib.analyses import subsets
from scripts.counter_gap.lib.analyses.metrics import KEYS, read_set
from scripts.counter_gap.lib.instances import ROLES
from tests.counter_gap import make

SHARED = ("inconsistencies", "simulation")
SYSTEM = "Some system"


@pytest.fixture(scope="module")
def run(tmp_path_factory, root):
    """Every output of the wing on the project's quadruples, with one more system that is the gendered rule."""
    folder = tmp_path_factory.mktemp("wing")
    at = {}

    def path(name):
        at[name] = str(folder / name)
        return at[name]

    instances.main(
        instances=path("instances.parquet"),
        quadruples=str(root / "templates/counter_gap/quadruples.tsv"),
        pronouns=str(root / "templates/pronouns.tsv"),
    )
    systems = [{"system": label, "debiasing": "none"} for label in name_rules.LABELS.values()]
    outputs = []
    for rule in name_rules.LABELS:
        baseline.main(instances=at["instances.parquet"], clusters=path(f"{rule}.jsonl"), baseline=rule)
        outputs.append(at[f"{rule}.jsonl"])
    systems += [{"system": SYSTEM, "debiasing": "none"}, {"system": SYSTEM, "debiasing": "n-CDA"}]
    outputs += [at["gendered.jsonl"], at["nearest.jsonl"]]
    flags.main(
        instances=at["instances.parquet"], outputs=outputs, released=[], flags=path("flags.parquet"), data="replica",
        cluster_systems=systems, systems=[],
    )  # fmt: skip
    common = {"metrics": path("metrics.csv"), "significance": path("significance.csv")}
    metrics.main(
        instances=[at["instances.parquet"]], flags=[at["flags.parquet"]], **common,
        decomposition=path("decomposition.csv"), subset_sizes=path("subset_sizes.csv"),
        members=path("members.parquet"), data=["replica"], draws=300, seed=1, alpha=0.01,
    )  # fmt: skip
    simulation.main(simulation=path("simulation.csv"), quadruples=40, repeats=4, seed=1)
    for name, script in (
        ("accuracy", table_accuracy), ("inconsistency", table_inconsistency),
        ("original_counterfactual", table_original_counterfactual), ("datasets", table_datasets),
        ("debiasing", table_debiasing),
    ):  # fmt: skip
        script.main(**common, tex=path(f"replica/{name}.tex"), csv=path(f"replica/{name}.csv"), templates="replica")
    table_artefact.main(
        **common, subset_sizes=at["subset_sizes.csv"], tex=path("replica/artefact.tex"),
        csv=path("replica/artefact.csv"), templates="replica",
    )  # fmt: skip
    table_cancellation.main(
        metrics=at["metrics.csv"], decomposition=at["decomposition.csv"], tex=path("replica/cancellation.tex"),
        csv=path("replica/cancellation.csv"), templates="replica",
    )  # fmt: skip
    table_examples.main(
        instances=at["instances.parquet"], flags=at["flags.parquet"], tex=path("replica/examples.tex"),
        csv=path("replica/examples.csv"),
    )  # fmt: skip

    def kinds(name):
        return {kind: path(f"{name}.{kind}") for kind in ("pdf", "png", "csv")}

    figure_inconsistencies.main(**kinds("figures/inconsistencies"))
    figure_simulation.main(simulation=at["simulation.csv"], **kinds("figures/simulation"))
    figure_cancellation.main(metrics=at["metrics.csv"], **kinds("replica/figure_c"), templates="replica")
    figure_breakdown.main(
        metrics=at["metrics.csv"], subset_sizes=at["subset_sizes.csv"], **kinds("replica/figure_b"), templates="replica"
    )  # fmt: skip
    paper_numbers.main(
        significance=at["significance.csv"], metrics=at["metrics.csv"], subset_sizes=at["subset_sizes.csv"],
        simulation=at["simulation.csv"], examples=at["replica/examples.csv"], paper_numbers=path("numbers.json"),
        templates="replica",
        settings={"alpha": 0.01, "draws": 300, "simulated_quadruples": 40, "simulated_data_sets": 4},
    )  # fmt: skip
    beside = {
        stem: {
            key: path(f"tables/{stem}.{kind}") for key, kind in (("csv", "csv"), ("tex", "tex"), ("numbers", "json"))
        }
        for stem in ("published_vs_ours", "claims")
    }
    sets = {"template_sets": ["replica"], "every_set": ["replica", "official"]}
    published_vs_ours.main(
        published=str(root / "paper/published/counter_gap.csv"),
        mapping=str(root / "paper/published/counter_gap_mapping.csv"),
        study_models=str(root / "paper/published/counter_gap_models.csv"), **common,
        subset_sizes=at["subset_sizes.csv"], **beside["published_vs_ours"], **sets,
    )  # fmt: skip
    claims.main(**common, **beside["claims"], **sets)
    names = ("accuracy", "inconsistency", "original_counterfactual", "datasets", "debiasing", "cancellation")
    section.main(
        section_template=str(root / "paper/sections/counter_gap.tex.j2"),
        numbers=[at["numbers.json"]],
        figures=[
            *(at[f"figures/{name}.pdf"] for name in SHARED),
            *(str(folder / f"replica/{name}.pdf") for name in ("cancellation", "breakdown")),
        ],
        tables=[
            *(at[f"replica/{name}.tex"] for name in (*names, "artefact", "examples")),
            *(own["tex"] for own in beside.values()),
        ],
        comparison_numbers=[own["numbers"] for own in beside.values()],
        section_tex=path("paper/sections/counter_gap.tex"),
        template_sets=["replica"],
        gap=[],
    )
    return at


def test_metrics_have_their_columns_and_keys(run):
    table = files.read_csv(run["metrics.csv"])
    assert list(table.columns) == [
        "data", "scoring", "system", "debiasing", "subset", "metric", "group", "value", "ci_low", "ci_high", "p_value",
        "p_centred",
    ]  # fmt: skip
    assert not table.duplicated([*KEYS, "subset", "metric", "group"]).any()
    assert set(table.data) == {"replica"} and set(table.scoring) == {"clusters", "clusters_faithful"}
    defined = table.dropna(subset=["value", "ci_low"])
    assert ((defined.ci_low - 1e-6 <= defined.value) & (defined.value <= defined.ci_high + 1e-6)).mean() > 0.95


def test_the_decomposition_adds_up(run):
    parts = files.read_csv(run["decomposition.csv"])
    table = files.read_csv(run["metrics.csv"]).set_index([*KEYS, "subset", "metric", "group"])
    for key, outcomes in parts.groupby([*KEYS, "subset"]):
        assert outcomes.acc_diff_part.sum() == pytest.approx(table.value[(*key, "acc_diff", "all")], abs=1e-9)
        assert outcomes.delta_i_part.sum() == pytest.approx(table.value[(*key, "delta_i", "all")], abs=1e-9)
        assert len(outcomes) == 9


def test_debiasing_says_what_was_not_run(run):
    cells = pd.read_csv(run["replica/debiasing.csv"], keep_default_na=False)
    methods = cells[(cells.System == SYSTEM) & (cells.Scoring == "spans")].set_index("Debiasing")
    assert list(methods.index) == ["none", "a-CDA", "n-CDA"]
    assert methods.loc["a-CDA", "ΔI"] == tables.NOT_RUN and methods.loc["n-CDA", "ΔI"] == "0.00"
    assert set(cells["F1 on OntoNotes"]) == {tables.NOT_RUN}
    assert (cells[cells.System.str.endswith("(rule)")].Debiasing == "none").all()


def test_rules_stand_for_no_system_of_the_study(run):
    compared = files.read_csv(run["tables/published_vs_ours.csv"])
    assert set(compared[compared.kind != "setting"].verdict) == {"not run"}
    assert set(files.read_csv(run["tables/claims.csv"]).verdict) == {"not applicable"}


def test_tables_are_latex(run):
    for name in ("accuracy", "inconsistency", "artefact", "cancellation"):
        text = open(run[f"replica/{name}.tex"], encoding="utf-8").read()  # noqa: PTH123, SIM115
        assert text.startswith(r"\begin{tabular}") and "Δ" not in text and "nan" not in text
        rows = [line for line in text.splitlines() if "&" in line]
        assert len({row.count("&") for row in rows}) == 1


def test_examples_follow_their_rule(run):
    shown = files.read_csv(run["replica/examples.csv"])
    assert shown.system.unique().tolist() == [SYSTEM]
    across = shown[shown.rule == "across"]
    right = across.correct.tolist()
    assert right in ([True, True, False, False], [False, False, True, True])
    frame = files.read_parquet(run["instances.parquet"])
    factors = subsets.factors_of(frame)
    chosen = factors[factors.quadruple == across.quadruple.iloc[0]].iloc[0]
    assert not chosen.artefact and chosen.right_name
    text = open(run["replica/examples.tex"], encoding="utf-8").read()  # noqa: PTH123, SIM115
    assert text.count(r"\colorbox{yellow!60}") == 8 and text.count(r"\textbf{\underline{") == 4


def test_an_example_marks_names_pronoun_and_prediction(tmp_path):
    frame = make.eight_instances(tmp_path / "quadruples.tsv")
    row = next(frame.assign(a_pred=True, b_pred=False).itertuples(index=False))
    text = examples.typeset(row, {"Mina": "violet", "Judit": "orange", "Paul": "blue", "Otto": "cyan"})
    assert r"\colorbox{yellow!60}{\textcolor{violet}{Mina}}" in text
    assert r"\underline{\textcolor{orange}{Judit}}" in text
    assert r"\colorbox{yellow!60}{\textbf{\underline{she}}}" in text
    assert r"said \textcolor{blue}{Paul}." in text
    shorn = re.sub(r"\\(colorbox|textcolor)\{[^}]*\}|\\(textbf|underline)|[{}]", "", text)
    assert shorn == row.text


def test_the_section_uses_every_figure_and_table(run, root):
    text = open(run["paper/sections/counter_gap.tex"], encoding="utf-8").read()  # noqa: PTH123, SIM115
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert len(labels) == len(set(labels)) == 14
    for label in labels:
        assert re.search(rf"\\ref\{{{label}\}}", text) or label.split("-")[-1] in (
            "inconsistency",
            "original",
            "datasets",
        )
    for used in re.findall(
        r"(?:number|value)\((?!beside)\w+, \"([^\"]+)\"\)", (root / "paper/sections/counter_gap.tex.j2").read_text()
    ):
        collected = json.loads(open(run["numbers.json"], encoding="utf-8").read())  # noqa: PTH123, SIM115
        assert used in collected or used.startswith(("n-CDA", "without")), used


def test_numbers_are_those_of_the_tables(run):
    numbers = json.loads(open(run["numbers.json"], encoding="utf-8").read())  # noqa: PTH123, SIM115
    assert numbers["size.all"]["text"] == "24" and numbers["size.instances"]["value"] == 96
    assert numbers["systems"]["value"] == 5
    assert numbers["delta_i.highest"]["system"] in (SYSTEM, "Gendered (rule)")
    assert numbers["cancelled.highest"]["text"] == "100.00"
    tests = files.read_csv(run["significance.csv"])
    delta = tests[(tests.scoring == "clusters") & (tests.metric == "delta_i") & (tests.subset == "all")]
    assert numbers["delta_i.significant"]["value"] == delta[delta.debiasing == "none"].significant.sum()
    assert numbers["n-CDA.delta_i.significant"]["value"] == numbers["n-CDA.delta_i.significant_holm"]["value"] == 0
    assert numbers["n-CDA.systems"]["value"] == 1
    main = tests[(tests.scoring == "clusters") & tests.subset.isin(["all", "all without artefact"])]
    parted = (main.significant != main.significant_centred) | (main.significant_holm != main.significant_centred_holm)
    assert numbers["disputed"]["value"] == parted.sum()


def test_no_p_value_is_zero(run):
    tests = files.read_csv(run["significance.csv"])
    assert (tests[["p_value", "p_centred"]] > 0).all(axis=None)


def test_marks_tell_every_test_apart():
    row = pd.Series({"value": -0.0499, "significant": True, "significant_holm": False, "significant_centred": True,
                     "significant_centred_holm": False})  # fmt: skip
    assert tables.formatted(row, "marked") == "−4.99*" and tables.formatted(row, "rho") == "−0.050*"
    assert tables.marked(row.where(row.index != "significant_centred", False)) == "−4.99*‡"
    both = row.where(row.index != "significant_holm", True)
    assert tables.marked(both) == "−4.99*†‡"
    assert tables.marked(both.where(row.index != "significant_centred_holm", True)) == "−4.99*†"
    untested = row.where(row.index == "value", None)
    assert tables.marked(untested) == "−4.99"


def test_what_was_not_released_is_told_from_what_was_not_run():
    assert tables.absent("released") == "not released"
    assert tables.absent("clusters") == tables.absent("clusters_faithful") == "not run"


def test_small_and_uniform_subsets_are_drawn_without_intervals(run):
    drawn = files.read_csv(run["replica/figure_b.csv"])
    small = drawn.quadruples < figure_breakdown.FEWEST
    assert small.any() and (~small).any()
    assert drawn[small].ci_low.isna().all() and drawn[small].ci_high.isna().all()
    shown = drawn[drawn.ci_low.notna()]
    assert len(shown) and (shown.ci_low < shown.ci_high).all()


def test_figures_draw_what_their_csv_says(run):
    drawn = files.read_csv(run["replica/figure_b.csv"])
    assert set(drawn.metric) == {"delta_i"} and set(drawn.scoring) == {"clusters"}
    assert set(files.read_csv(run["replica/figure_c.csv"]).metric) == {"lean", "acc_diff", "delta_i"}
    arrows = files.read_csv(run["figures/inconsistencies.csv"])
    assert arrows.inconsistency.value_counts().to_dict() == {"across": 4, "within": 2}
    roles = {"original": 0, "control": 0, "swap-1": 1, "swap-2": 1}
    assert set(roles) == set(ROLES)
    for arrow in arrows.itertuples():
        assert (roles[arrow.first] == roles[arrow.second]) == (arrow.inconsistency == "within")


def test_a_set_that_was_not_run_is_named(run):
    for read in (lambda: tables.read(run["metrics.csv"], run["significance.csv"], "official"),
                 lambda: read_set(run["metrics.csv"], "official")):  # fmt: skip
        with pytest.raises(UserError, match=r"metrics\.csv: has no rows of 'official'"):
            read()


def test_members_are_the_instances_of_each_subset(run):
    members, sizes = files.read_parquet(run["members.parquet"]), files.read_csv(run["subset_sizes.csv"])
    counts = members.groupby("subset").id.nunique()
    assert counts.pop("originals") * 4 == counts["all"]
    assert counts.to_dict() == (4 * sizes.set_index("subset").quadruples).to_dict()
    masculine = members[members.original_gender == "M"].groupby("subset").id.nunique() / 4
    assert masculine.drop("originals").to_dict() == sizes.set_index("subset").masculine.to_dict()
