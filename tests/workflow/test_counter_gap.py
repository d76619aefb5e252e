"""What Counter-GAP's rules leave, from templates to the section, in the complete run of the workflow tests.

The run has two more systems than the rules that stand in for systems (``config/test.yaml``): the output of one is that
of the gendered rule, and after debiasing that of a rule without bias; the other is random and run by the workflow.
"""

import json
import re

import pandas as pd
import pytest

from scripts.core import files
from scripts.counter_gap import study, tables
from scripts.counter_gap.estimates import COLUMNS
from scripts.counter_gap.passages import ROLES
from scripts.counter_gap.released_flags import facts_of_texts

pytestmark = pytest.mark.workflow

SYSTEM = "Some system"
RESOLVED = "c2f (random)"


@pytest.fixture(scope="module")
def run(complete):
    """The study's results."""
    return complete / "results/counter_gap"


def read_numbers(run, templates="replica"):
    return json.loads((run / f"analysis/{templates}/paper_numbers.json").read_text(encoding="utf-8"))


def read_estimates(run, **levels):
    return study.pick(study.read_estimates(run / "estimates.csv", 0.01), **levels)


def test_estimates_have_their_columns_and_keys(run):
    table = files.read_csv(run / "estimates.csv")
    assert list(table) == COLUMNS
    assert not table.duplicated([*study.IDENTITY, *study.FACTORS, "metric"]).any()
    readings = table.fillna({"reading": ""}).groupby("templates").reading.unique().map(set).to_dict()
    assert readings == {"replica": {study.CORRECTED, study.PUBLISHED}, "released": {""}}
    defined = table.dropna(subset=["value", "low"])
    assert ((defined.low - 1e-6 <= defined.value) & (defined.value <= defined.high + 1e-6)).mean() > 0.95
    ratios = table[table.below > 0]
    assert (ratios.above / ratios.below).tolist() == pytest.approx(ratios.value.tolist())
    tests = table[["p_value", "p_centred"]].dropna()
    assert (tests > 0).all(axis=None)


def test_what_explains_the_metrics_adds_up(run):
    table = read_estimates(run, metric=...)
    values = table.pivot(index=study.IDENTITY, columns="metric", values="value")
    assert (values.lean_masculine - values.lean_feminine).tolist() == pytest.approx(values.acc_diff.tolist())
    parts = values.split_masculine + values.split_feminine - values.one_each / 2
    assert parts.tolist() == pytest.approx(values.delta_i.tolist())


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
    (system,) = shown.model.unique()
    assert system in (SYSTEM, "tiny-c2f") and "across" in set(shown.rule)
    across = shown[shown.rule == "across"]
    right = across.correct.tolist()
    assert right in ([True, True, False, False], [False, False, True, True])
    frame = files.read_parquet(run / "instances/replica.parquet")
    facts = facts_of_texts(frame)[(frame.quadruple[::4] == across.quadruple.iloc[0]).to_numpy()]
    assert facts.mark.item() == "none" and facts.words.item() > 0
    text = (run / "tables/replica/examples.tex").read_text(encoding="utf-8")
    predicted = files.read_parquet(run / "predictions/replica.parquet")
    predicted = predicted[
        (predicted.model == system) & (predicted.debiasing == "none") & (predicted.reading == shown.reading[0])
    ]
    predicted = predicted.merge(frame[["id", "quadruple", "role"]]).merge(shown[["quadruple", "role"]])
    names = predicted.a_pred.astype(int) + predicted.b_pred
    # The names that the system finds, and the pronoun where it finds any.
    assert text.count(r"\colorbox{yellow!60}") == names.sum() + (names > 0).sum() > 0
    assert text.count(r"\textbf{\underline{") == len(shown) == 4 * shown.rule.nunique()


def test_the_section_shows_what_the_other_tables_repeat(run):
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


def test_one_table_has_both_measures_of_bias_on_all_quadruples(run):
    cells = files.read_csv(run / "tables/bias.csv")
    assert list(dict.fromkeys(cells.templates)) == list(
        dict.fromkeys(files.read_csv(run / "tables/by_gender.csv").templates)
    )
    labels = study.RULES | {"tiny-c2f": RESOLVED, SYSTEM: SYSTEM} | {name: name for name in study.SYSTEMS.values()}
    table = study.with_systems(study.read_estimates(run / "estimates.csv", 0.01), labels)
    for row in cells[cells.Debiasing == "none"].to_dict("records"):
        values = table[(table.templates == row["templates"]) & (table.system == row["System"])]
        values = values[(values.debiasing == "none") & (values.reading != study.PUBLISHED) & (values.role == "")]
        values = values[values.original_gender == ""].set_index(["metric", "gender"]).value
        assert float(row["accuracy: M"]) == pytest.approx(100 * values["accuracy", "M"], abs=0.06)
        printed = float(str(row["inconsistency: ΔI"]).partition(" ")[0].strip("*†‡").replace("−", "-"))
        assert printed == pytest.approx(100 * values["delta_i", ""], abs=0.06)
    text = (run / "tables/bias.tex").read_text(encoding="utf-8")
    assert "not run" not in text and "not released" not in text


def test_numbers_are_those_of_the_tables(run):
    numbers = read_numbers(run)
    assert numbers["size.all"]["text"] == "24"
    assert numbers["systems"]["value"] == 6
    main = read_estimates(run, templates="replica", reading=study.CORRECTED, metric=...)
    delta = main[main.metric == "delta_i"]
    none = delta[delta.debiasing == "none"]
    assert numbers["delta_i.significant_holm"]["value"] == none.significant_holm.sum()
    assert numbers["n-CDA.delta_i.significant_holm"]["value"] == 0 and numbers["n-CDA.systems"]["value"] == 1
    tested = main[main.p_value.notna()]
    parted = (tested.significant != tested.significant_centred) | (
        tested.significant_holm != tested.significant_centred_holm
    )
    assert numbers["disputed"]["value"] == parted.sum()


def test_the_text_prints_the_ends_of_the_estimates(run):
    """Of the set that figures show, and each with the row that it is."""
    numbers = read_numbers(run, "released")
    for metric in ("delta_i", "cancelled"):
        rows = read_estimates(run, templates="released", debiasing="none", metric=metric)
        for row in (rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]):
            (entry,) = [entry for name, entry in numbers.items() if name == f"{metric}.{row.model}.released.none.value"]
            assert entry["value"] == row.value and entry["cell"]["model"] == row.model


def test_figures_draw_what_their_csv_says(run):
    assert set(files.read_csv(run / "figures/replica/cancellation.csv").metric) == {
        "lean_masculine",
        "lean_feminine",
        "acc_diff",
        "delta_i",
    }
    arrows = files.read_csv(run / "figures/inconsistencies.csv")
    assert arrows.inconsistency.value_counts().to_dict() == {"across": 4, "within": 2}
    roles = {"original": 0, "control": 0, "swap-1": 1, "swap-2": 1}
    assert set(roles) == set(ROLES)
    for arrow in arrows.itertuples():
        assert (roles[arrow.first] == roles[arrow.second]) == (arrow.inconsistency == "within")
