"""Figures, tables, numbers and summary of WinoPron, with rules alone and with all systems of the study."""

import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper.formats import interval
from scripts.core.statistics import procedures
from scripts.winopron import estimates, figures, section, study, tables
from tests import figures as rules
from tests.winopron import synthetic

LEVELS = {"nominative": 0.95, "accusative": 0.6, "possessive": 0.8}
RULES = {name: study.RULES[name] for name in ("first", "last")}
SETS = [("replica", kind) for kind in study.ENTITIES]


def answers(frame, entities, models):
    """Return answers of rules, which name the occupation, and of systems of the study, read in two ways."""
    for seed, name in enumerate(models):
        of_rule, flan = name in RULES, name.startswith("FLAN")
        facts = {"model": name, "kind": "heuristic" if of_rule else "system", "entities": entities}
        facts |= {"scoring": "prompted", "variant": "none"} if flan else {}
        for reading in [study.CORRECTED] if of_rule else study.READINGS:
            for number, prompt in enumerate(("0", "1") if flan else ("",)):
                asked = facts | {"reading": reading, "prompt": prompt}
                if of_rule:
                    yield synthetic.answered(frame, lambda _: "occupation", **asked)
                else:
                    yield synthetic.answers(frame, lambda row: LEVELS[row.case], 10 * seed + number, **asked)


@pytest.fixture(scope="module", params=["rules alone", "all systems"])
def made(request, tmp_path_factory):
    """Return the folder of a run with its tables, and the labels of its systems."""
    folder = tmp_path_factory.mktemp("run")
    labels = RULES if request.param == "rules alone" else RULES | {name: name for name in study.SYSTEMS}
    paths = {"instances": [], "predictions": []}
    columns = [*study.IDENTITY, *study.ASKED, "instance_id", "prediction", "right"]
    for _, entities in SETS:
        frame = synthetic.sentences(folder, entities)
        for kind, table in (
            ("instances", frame),
            ("predictions", pd.concat(answers(frame, entities, labels))[columns]),
        ):
            paths[kind].append(str(folder / f"{entities}_{kind}.parquet"))
            files.write_parquet(paths[kind][-1], table)
    names = ("estimates", "biased_occupations", "overlap")
    estimates.estimates(**paths, **{name: str(folder / f"{name}.csv") for name in names}, draws=100, seed=1)
    return folder, labels


def drawn(made, name, **checks):
    folder, labels = made
    select, draw = figures.FIGURES[name]
    rows = study.with_systems(study.read_table(folder / "estimates.csv"), labels)
    rows = select(rows[(rows.entities == "double") & (rows.reading == study.CORRECTED)])
    assert rules.problems(draw(rows), **checks) == []
    return rows


def cells(made, name):
    folder, labels = made
    paths = {kind: str(folder / f"{kind}.csv") for kind in ("estimates", "biased_occupations", "overlap")}
    tables.table(
        **paths, tex=str(folder / "t.tex"), csv=str(folder / "t.csv"), table=name, templates="replica", labels=labels
    )
    return files.read_csv(folder / "t.csv", dtype=str).fillna(""), (folder / "t.tex").read_text(encoding="utf-8")


def test_accuracy(made):
    rows = drawn(made, "accuracy", pronouns=True)
    # Rules are drawn only where there is nothing else.
    assert set(rows.model) == set(RULES if len(made[1]) == 2 else study.SYSTEMS)
    assert len(rows) == 12 * rows.model.nunique()


def test_consistency(made):
    rows = drawn(made, "consistency")
    assert len(rows) == 2 * len(made[1]) and set(rows[rows.kind != "heuristic"].chance) <= {0.0625, 0.25}
    # Rules never read the pronoun, so all sets are right together wherever one is.
    of_rules = rows[rows.kind == "heuristic"].groupby("metric").chance.unique().map(list).to_dict()
    assert of_rules == {"pronoun_consistency": [0.5], "disambiguation_consistency": [0.25]}


def test_bias(made):
    rows = drawn(made, "bias", pronouns=True)
    assert set(rows.model) <= set(study.SYSTEMS) and rows.empty == (len(made[1]) == 2)


def test_tables_have_every_system(made):
    f1, printed = cells(made, "f1")
    assert list(f1)[2:] == study.order_systems(made[1].values()) and len(f1) == 2 * 8
    # Rules are typeset only where there is nothing else.
    assert ("(rule)" in printed) == (len(made[1]) == 2)
    performance, _ = cells(made, "performance")
    assert (performance.Winogender == "not run").all() and set(performance.System) == set(made[1].values())
    consistency, _ = cells(made, "consistency")
    assert set(consistency.Prompts) <= {"", "each", "all together"}
    rule = consistency[consistency.System == RULES["first"]].iloc[0]
    # A constant answer is right for one of two endings, with all pronoun sets, of every pair.
    low, high = procedures.agreeing_interval(0.5, len(synthetic.PEOPLE), least=0.0)
    shown = interval(100 * low, 100 * high, 1)
    assert (rule["Pronoun"], rule["Pronoun interval"], rule["Disambig."]) == ("50.0", shown, "0.0")


def test_overlaps_and_occupations(made):
    by_system, _ = cells(made, "overlap_systems")
    occupations, _ = cells(made, "biased_occupations")
    if len(made[1]) == 2:
        assert by_system.empty and occupations.empty
        assert cells(made, "overlap_cases")[1] == "% This table has no rows in this run.\n"
        return
    # Prompted systems as well: of their answers the most frequent one.
    assert by_system.System.str.contains("SpanBERT-base / FLAN").any()
    # A system of the study comes first wherever it is in the run.
    assert not by_system.System.str.endswith("/ LingMess").any()
    assert len(occupations) == 12 * len(study.SYSTEMS)
    rows = study.read_table(made[0] / "overlap.csv")
    tested = rows[rows.p_value.notna()]
    assert ((tested.p_holm >= tested.p_value) & tested.expected.between(0, 1)).all()
    # Holm's correction is over one way of reading.
    assert set(rows.groupby("reading").size()) == {len(rows) // 2}


def test_some_of_many_occupations_are_typeset():
    assert tables._first(list("bcdefg")) == "b, c, d, e and 2 more" and tables._first(["b"]) == "b"


def test_numbers(made):
    folder, labels = made
    rows = study.with_systems(study.read_table(folder / "estimates.csv"), labels)
    rows = rows[(rows.entities == "double") & (rows.reading == "corrected") & (rows.prompts != "together")]
    found = section.count_systems(rows, "replica") | section.count_bias(rows, "replica")
    found |= section.count_overlaps(study.read_table(folder / "overlap.csv"), "replica")
    assert (found["rules"]["value"], found["systems"]["value"]) == (2, len(labels) - 2)
    assert found["chance.pronoun_consistency"]["text"] == "6.25" and found["bias.chance"]["text"] == "21.1"
    assert bool(found["bias.systems"]["value"]) == bool(found["overlap.pairs"]["value"]) == (len(labels) > 2)
    # Not the fewest of any system.
    few = rows.assign(clusters=rows.clusters.where(rows.scoring == "prompted", 4))
    some = section.count_systems(few, "replica")
    assert some["asked.lowest"]["value"] == 4 and some.get("prompted.pairs", {"value": 12})["value"] == 12


def test_the_section_prints_estimates_and_keeps_where_they_are_from(made, tmp_path, root):
    folder, labels = made
    for name in ("results/paper/sections", "results/winopron/tables/replica", "results/winopron/figures/replica"):
        (tmp_path / name).mkdir(parents=True)
    template = tmp_path / "winopron.tex.j2"
    template.write_text(
        "\\BLOCK{set n = sets.replica.rules}\\VAR{n.value(n.highest('accuracy'))} (\\VAR{n.ends(n.lowest('accuracy'))})"
    )
    section.section(
        section_template=str(template), estimates=str(folder / "estimates.csv"), overlap=str(folder / "overlap.csv"),
        instances=[str(folder / "double_instances.parquet")], figures=[], tables=[], comparison_numbers=[],
        section_tex=str(tmp_path / "results/paper/sections/winopron.tex"), paper_numbers=[str(tmp_path / "n.json")],
        template_sets=["replica"], winogender=False, models={}, scored={}, labels=labels, draws=100,
    )  # fmt: skip
    numbers = json.loads((tmp_path / "n.json").read_text(encoding="utf-8"))
    (name,) = [name for name in numbers if name.startswith("accuracy.") and name.endswith(".value")]
    assert (numbers[name]["text"], numbers[name]["source"], numbers[name]["cell"]["model"]) == (
        "50.0", "estimates.csv", "first",
    )  # fmt: skip
    text = (tmp_path / "results/paper/sections/winopron.tex").read_text(encoding="utf-8")
    assert text.startswith(f"\\sourced{{winopron.replica.{name}}}{{50.0}} (\\sourced{{winopron.replica.accuracy.")


def test_the_summary_has_each_prompt_and_the_extremes_as_headlines(made, tmp_path):
    folder, labels = made
    facts = {name: {"label": name, "demonstration": False} for name in study.SYSTEMS[4:]}
    path = tmp_path / "summary.csv"
    section.summary(
        estimates=str(folder / "estimates.csv"), summary=str(path), labels=labels, models=facts, scored={}, systems={}
    )
    rows = files.read_csv(path, dtype={"prompt": str}).fillna({"prompt": "", "case": ""})
    assert set(rows.kind) == ({"heuristic"} if len(labels) == 2 else {"heuristic", "system"})
    headlines = rows[rows.headline]
    assert not headlines.duplicated(["label", "prompt"]).any() and set(headlines.label) == set(labels.values())
    # The mean of prompts that differ is nobody's.
    whole = rows[(rows.metric == "accuracy") & (rows["case"] == "") & (rows.entities == "double")]
    assert set(whole[whole.prompt != ""].label) == {name for name in labels.values() if name.startswith("FLAN")}
    assert not whole[whole.prompt == ""].label.str.startswith("FLAN").any()
