"""What Counter-GAP's rules leave, from templates to the section, in the complete run of the workflow tests.

The run has two more systems than the rules that stand in for systems (``config/test.yaml``): the output of one is that
of the gendered rule, and after debiasing that of a rule without bias; the other is random and run by the workflow.
"""

import json
import re

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.counter_gap.lib import tables
from scripts.counter_gap.lib.analyses import subsets
from scripts.counter_gap.lib.analyses.metrics import KEYS
from scripts.counter_gap.lib.instances import ROLES
from scripts.counter_gap.lib.study import read_set

pytestmark = pytest.mark.workflow

SYSTEM = "Some system"
RESOLVED = "c2f (random)"


@pytest.fixture(scope="module")
def run(complete):
    """The study's results."""
    return complete / "results/counter_gap"


def read_numbers(run):
    return json.loads((run / "analysis/replica/paper_numbers.json").read_text(encoding="utf-8"))


def test_metrics_have_their_columns_and_keys(run):
    table = files.read_csv(run / "analysis/metrics.csv")
    assert list(table.columns) == [
        "data", "scoring", "system", "debiasing", "subset", "metric", "group", "value", "ci_low", "ci_high", "p_value",
        "p_centred",
    ]  # fmt: skip
    assert not table.duplicated([*KEYS, "subset", "metric", "group"]).any()
    scorings = table.groupby("data").scoring.unique().map(set).to_dict()
    assert scorings == {"replica": {"clusters", "clusters_faithful"}, "released": {"released"}}
    defined = table.dropna(subset=["value", "ci_low"])
    assert ((defined.ci_low - 1e-6 <= defined.value) & (defined.value <= defined.ci_high + 1e-6)).mean() > 0.95


def test_the_decomposition_adds_up(run):
    parts = files.read_csv(run / "analysis/decomposition.csv")
    table = files.read_csv(run / "analysis/metrics.csv").set_index([*KEYS, "subset", "metric", "group"])
    for key, outcomes in parts.groupby([*KEYS, "subset"]):
        assert outcomes.acc_diff_part.sum() == pytest.approx(table.value[(*key, "acc_diff", "all")], abs=1e-9)
        assert outcomes.delta_i_part.sum() == pytest.approx(table.value[(*key, "delta_i", "all")], abs=1e-9)
        assert len(outcomes) == 9


def test_debiasing_says_what_was_not_run(run):
    cells = pd.read_csv(run / "tables/replica/debiasing.csv", keep_default_na=False)
    methods = cells[(cells.System == SYSTEM) & (cells.Scoring == "spans")].set_index("Debiasing")
    assert list(methods.index) == ["none", "a-CDA", "n-CDA"]
    assert methods.loc["a-CDA", "ΔI"] == tables.NOT_RUN and methods.loc["n-CDA", "ΔI"] == "0.00"
    assert set(cells["F1 on OntoNotes (development set)"]) == {tables.NOT_RUN}
    assert (cells[cells.System.str.endswith("(rule)")].Debiasing == "none").all()


def test_rules_stand_for_no_system_of_the_study(run):
    compared = files.read_csv(run / "tables/published_vs_ours.csv")
    assert set(compared[(compared.kind != "setting") & (compared.templates == "replica")].verdict) == {"not run"}
    verdicts = files.read_csv(run / "tables/findings.csv")
    assert set(verdicts[verdicts.templates == "replica"].verdict) == {"undecided"}


def test_released_flags_give_the_printed_results(run):
    compared = files.read_csv(run / "tables/published_vs_ours.csv")
    results = compared[(compared.kind != "setting") & (compared.templates == "released")]
    # Tables 2 to 4, and of Table 6 what was released; test_published.py names the two cells that differ a little.
    assert (results.verdict == "as printed").sum() == 96 and (results.verdict != "not run").sum() == 98
    verdicts = files.read_csv(run / "tables/findings.csv")
    released = verdicts[verdicts.templates == "released"].set_index("number").verdict
    # Findings 3, 8 and 15 say that something does not differ: the intervals of one system are too wide to decide.
    assert set(released.index[released == "holds"]) == {1} and not (released == "fails").any()


def test_what_has_no_text_has_no_examples(run):
    assert (run / "tables/released/accuracy.csv").is_file() and (run / "tables/replica/examples.csv").is_file()
    assert not (run / "tables/released/examples.csv").exists()


def test_tables_are_latex(run):
    for name in ("accuracy", "inconsistency", "cancellation"):
        text = (run / f"tables/replica/{name}.tex").read_text(encoding="utf-8")
        assert text.startswith(r"\begin{tabular}") and "Δ" not in text and "nan" not in text
        rows = [line for line in text.splitlines() if "&" in line]
        assert len({row.count("&") for row in rows}) == 1


def test_examples_follow_their_rule(run):
    shown = files.read_csv(run / "tables/replica/examples.csv")
    # One system that is no rule; what is random may be more accurate than the other.
    (system,) = shown.system.unique()
    assert system in (SYSTEM, RESOLVED) and "across" in set(shown.rule)
    across = shown[shown.rule == "across"]
    right = across.correct.tolist()
    assert right in ([True, True, False, False], [False, False, True, True])
    frame = files.read_parquet(run / "instances/replica.parquet")
    factors = subsets.factors_of(frame)
    chosen = factors[factors.quadruple == across.quadruple.iloc[0]].iloc[0]
    assert not chosen.artefact and chosen.right_name
    text = (run / "tables/replica/examples.tex").read_text(encoding="utf-8")
    predicted = files.read_parquet(run / "flags/replica.parquet")
    predicted = predicted[
        (predicted.system == system) & (predicted.debiasing == "none") & (predicted.scoring == shown.scoring[0])
    ]
    predicted = predicted.merge(frame[["id", "quadruple", "role"]]).merge(shown[["quadruple", "role"]])
    names = predicted.a_pred.astype(int) + predicted.b_pred
    # The names that the system finds, and the pronoun where it finds any.
    assert text.count(r"\colorbox{yellow!60}") == names.sum() + (names > 0).sum() > 0
    assert text.count(r"\textbf{\underline{") == len(shown) == 4 * shown.rule.nunique()


def test_the_section_shows_what_the_other_tables_repeat(run, root):
    text = (run.parent / "paper/sections/counter_gap.tex").read_text(encoding="utf-8")
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert len(labels) == len(set(labels))
    for label in labels:
        assert re.search(rf"\\ref\{{{label}\}}", text), label
    shown, left_out = set(), set()
    for path in run.glob("figures/**/*.pdf"):
        (shown if str(path.relative_to(run.parent)) in text else left_out).add(path.stem)
    for path in run.glob("tables/**/*.tex"):
        cells = path.read_text(encoding="utf-8").strip()
        (shown if cells.startswith("%") or cells.partition("\n\\tablenote")[0] in text else left_out).add(path.stem)
    # The study's own tables are files: bias and by_gender have their numbers together.
    assert left_out - shown == {
        "accuracy", "findings", "datasets", "debiasing", "inconsistency", "original_counterfactual",
        "training",
    }  # fmt: skip
    for cells in re.findall(r"\\midrule.*?\\bottomrule", text, flags=re.DOTALL):
        assert not re.search("not (applicable|run|released)", cells), cells
    collected = read_numbers(run)
    for used in re.findall(
        r"(?:number|value)\((?!beside)\w+, \"([^\"]+)\"\)", (root / "paper/sections/counter_gap.tex.j2").read_text()
    ):
        assert used in collected or used.startswith(("n-CDA", "without")), used


def test_one_table_has_both_measures_of_bias_on_all_quadruples(run):
    cells = files.read_csv(run / "tables/bias.csv")
    assert list(dict.fromkeys(cells.templates)) == list(
        dict.fromkeys(files.read_csv(run / "tables/by_gender.csv").templates)
    )
    metrics = files.read_csv(run / "analysis/metrics.csv")
    for row in cells[cells.Debiasing == "none"].to_dict("records"):
        values = metrics[(metrics.data == row["templates"]) & (metrics.system == row["System"])]
        values = values[
            (values.debiasing == "none") & (values.subset == "all") & (values.scoring != "clusters_faithful")
        ]
        values = values.set_index(["metric", "group"]).value
        assert float(row["accuracy: M"]) == pytest.approx(100 * values["accuracy", "M"], abs=0.06)
        printed = float(str(row["inconsistency: ΔI"]).partition(" ")[0].strip("*†‡").replace("−", "-"))
        assert printed == pytest.approx(100 * values["delta_i", "all"], abs=0.06)
    text = (run / "tables/bias.tex").read_text(encoding="utf-8")
    assert "not run" not in text and "not released" not in text


def test_numbers_are_those_of_the_tables(run):
    numbers = read_numbers(run)
    assert numbers["size.all"]["text"] == "24"
    assert numbers["systems"]["value"] == 6
    assert numbers["delta_i.highest"]["system"] in (SYSTEM, "Gendered (rule)")
    assert numbers["cancelled.highest"]["text"] == "100.0"
    tests = files.read_csv(run / "analysis/significance.csv")
    tests = tests[tests.data == "replica"]
    delta = tests[(tests.scoring == "clusters") & (tests.metric == "delta_i") & (tests.subset == "all")]
    assert numbers["delta_i.significant"]["value"] == delta[delta.debiasing == "none"].significant.sum()
    assert numbers["n-CDA.delta_i.significant"]["value"] == numbers["n-CDA.delta_i.significant_holm"]["value"] == 0
    assert numbers["n-CDA.systems"]["value"] == 1
    main = tests[(tests.scoring == "clusters") & (tests.subset == "all")]
    parted = (main.significant != main.significant_centred) | (main.significant_holm != main.significant_centred_holm)
    assert numbers["disputed"]["value"] == parted.sum()


def test_no_p_value_is_zero(run):
    tests = files.read_csv(run / "analysis/significance.csv")
    assert (tests[["p_value", "p_centred"]] > 0).all(axis=None)


def test_figures_draw_what_their_csv_says(run):
    assert set(files.read_csv(run / "figures/replica/cancellation.csv").metric) == {"lean", "acc_diff", "delta_i"}
    arrows = files.read_csv(run / "figures/inconsistencies.csv")
    assert arrows.inconsistency.value_counts().to_dict() == {"across": 4, "within": 2}
    roles = {"original": 0, "control": 0, "swap-1": 1, "swap-2": 1}
    assert set(roles) == set(ROLES)
    for arrow in arrows.itertuples():
        assert (roles[arrow.first] == roles[arrow.second]) == (arrow.inconsistency == "within")


def test_a_set_that_was_not_run_is_named(run):
    for read in (lambda: tables.read(run / "analysis/metrics.csv", run / "analysis/significance.csv", "official"),
                 lambda: read_set(run / "analysis/metrics.csv", "official")):  # fmt: skip
        with pytest.raises(UserError, match=r"metrics\.csv: has no rows of 'official'"):
            read()


def test_members_are_the_instances_of_each_subset(run):
    members = files.read_parquet(run / "analysis/members.parquet").query("data == 'replica'")
    sizes = files.read_csv(run / "analysis/subset_sizes.csv").query("data == 'replica'")
    instances = members.groupby("subset").id.nunique()
    assert instances.pop("originals") * 4 == instances["all"]
    assert instances.to_dict() == (4 * sizes.set_index("subset").quadruples).to_dict()
    masculine = members[members.original_gender == "M"].groupby("subset").id.nunique() / 4
    assert masculine.drop("originals").to_dict() == sizes.set_index("subset").masculine.to_dict()
