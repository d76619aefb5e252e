"""Figures and tables of the WinoPron wing, with rules alone and with all systems of the study."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper.formats import interval
from scripts.core.statistics import procedures
from scripts.winopron import analyses, figures
from scripts.winopron.lib import numbers, study, summary, tables
from scripts.winopron.lib.analyses import performance
from tests import figures as rules
from tests.winopron import synthetic

LEVELS = {"nominative": 0.95, "accusative": 0.6, "possessive": 0.8}
RULES = ("First person (rule)", "Last person (rule)")


def predictions(frame, systems, prompted=False):
    """Return a table as the rule ``winopron_predictions`` writes it; systems of the study are read in two ways."""
    parts = []
    for seed, name in enumerate(systems):
        for way in [study.CORRECTED, *filter(None, [study.SYSTEMS.get(name)])]:
            prompts = ("0", "1") if prompted and name.startswith("FLAN") else ("",)
            for number, prompt in enumerate(prompts):
                if study.is_rule(name):
                    found = frame[["instance_id"]].assign(prediction="occupation")
                else:
                    answers = synthetic.answers(frame, lambda row: LEVELS[row.case], 10 * seed + number)
                    found = answers[["instance_id", "prediction"]]
                facts = {"system": name, "conversion": way, "prompt": prompt, "variant": "none" if prompt else ""}
                parts.append(found.assign(**facts))
    table = pd.concat(parts, ignore_index=True)
    meant = frame.set_index("instance_id").answer
    return table.assign(right=table.prediction == table.instance_id.map(meant))


@pytest.fixture(scope="module", params=["rules alone", "all systems"])
def made(request, tmp_path_factory):
    """Return the tidy tables of a run, and its systems."""
    folder = tmp_path_factory.mktemp("run")
    systems = RULES if request.param == "rules alone" else (*RULES, *study.SYSTEMS)
    sets, paths = [], {"instances": [], "predictions": []}
    for entities in study.ENTITIES:
        frame = synthetic.sentences(folder, entities)
        for kind, table in (("instances", frame), ("predictions", predictions(frame, systems, True))):
            paths[kind].append(str(folder / f"{entities}_{kind}.parquet"))
            files.write_parquet(paths[kind][-1], table)
        sets.append({"templates": "replica", "entities": entities})
    outputs = {
        name: str(folder / f"{name}.csv") for name in ("metrics", "bias", "biased_occupations", "overlap", "by_prompt")
    }
    analyses.metrics(**paths, **outputs, sets=sets, signed=False, empty=None, draws=100, seed=1)
    return systems, {name: study.read_table(path) for name, path in outputs.items()}


def test_accuracy(made):
    systems, tables_of = made
    frame = figures.select_accuracy(tables_of["metrics"], "replica")
    # Rules are drawn only where there is nothing else.
    assert set(frame.system) == set(RULES if len(systems) == 2 else study.SYSTEMS)
    assert len(frame) == 12 * frame.system.nunique()
    assert rules.problems(figures.draw_accuracy(frame), pronouns=True) == []


def test_consistency(made):
    systems, tables_of = made
    frame = figures.select_consistency(tables_of["metrics"], "replica")
    assert len(frame) == 2 * len(systems) and set(frame[~frame.system.isin(RULES)].chance) <= {0.0625, 0.25}
    # Rules never read the pronoun, so all sets are right together wherever one is.
    of_rules = frame[frame.system.isin(RULES)].groupby("metric").chance.unique().map(list).to_dict()
    assert of_rules == {"pronoun_consistency": [0.5], "disambiguation_consistency": [0.25]}
    assert rules.problems(figures.draw_consistency(frame)) == []


def test_bias(made):
    systems, tables_of = made
    frame = figures.select_bias(tables_of["bias"], "replica")
    assert set(frame.system) <= set(study.SYSTEMS) and (len(frame) == 0) == (len(systems) == 2)
    assert set(frame[frame.system.str.startswith("FLAN")].prompt) <= {"all"}
    assert rules.problems(figures.draw_bias(frame), pronouns=True) == []


def test_tables_have_every_system(made):
    systems, tables_of = made
    metrics = tables_of["metrics"]
    f1 = tables.split(metrics, "f1")
    assert list(f1)[2:] == study.order_systems(systems) and len(f1) == 2 * 8
    # Rules are typeset only where there is nothing else.
    assert list(tables.printed_split(f1))[2:] == (list(RULES) if len(systems) == 2 else list(study.SYSTEMS))
    performance = tables.performance(metrics, "replica")
    assert (performance.Winogender == "not run").all() and set(performance.System) == set(systems)
    consistency = tables.consistency(metrics)
    assert set(consistency.Prompts) <= {"", "each", "all together"}
    rule = consistency[consistency.System == RULES[0]].iloc[0]
    # A constant answer is right for one of two endings, with all pronoun sets, of every pair.
    pairs = metrics[metrics.system == RULES[0]].n.iloc[0]
    low, high = procedures.agreeing_interval(0.5, pairs, least=0.0)
    shown = interval(100 * low, 100 * high, 1)
    assert (rule["Pronoun"], rule["Pronoun interval"], rule["Disambig."]) == ("50.0", shown, "0.0")


def test_overlaps_stand_beside_chance(made):
    systems, tables_of = made
    if len(systems) == 2:
        assert tables.overlaps(tables_of["overlap"], "cases").empty
        return
    cells = tables.overlaps(tables_of["overlap"], "systems")
    # Prompted systems as well: of their answers the most frequent one.
    assert cells.System.str.contains("SpanBERT-base / FLAN").any()
    rows = tables_of["overlap"]
    tested = rows[rows.p_value.notna()]
    assert ((tested.p_holm >= tested.p_value) & tested.expected.between(0, 1)).all()


def test_occupations_are_listed_by_form(made):
    systems, tables_of = made
    cells = tables.biased_occupations(tables_of["biased_occupations"], tables_of["bias"])
    assert len(cells) == 12 * (len(systems) - 2)
    many = pd.DataFrame({"System": ["a"], "Positive": ["b, c, d, e, f, g"], "Negative": [""]})
    assert tables.printed_occupations(many).Positive.tolist() == ["b, c, d, e and 2 more"]


def test_numbers_and_summary(made):
    systems, tables_of = made
    found = numbers.from_metrics(tables_of["metrics"]) | numbers.from_bias(tables_of["bias"])
    found |= numbers.from_overlap(tables_of["overlap"])
    assert found["rules"]["value"] == 2 and found["systems"]["value"] == len(systems) - 2
    assert found["chance.pronoun_consistency"]["text"] == "6.25"
    assert ("accuracy.highest" in found) == (len(systems) > 2) == bool(found["bias.systems"]["value"])
    rows = pd.DataFrame(summary.rows(tables_of["metrics"], tables_of["by_prompt"], summary.identities({}, {}, {})))
    assert set(rows.kind) == ({"heuristic"} if len(systems) == 2 else {"heuristic", "system"})
    headlines = rows[rows.headline]
    assert not headlines.duplicated(["label", "prompt"]).any() and set(headlines.label) == set(systems)
    assert set(headlines[headlines.prompt != ""].label) == {name for name in systems if name.startswith("FLAN")}


def test_the_accuracies_of_prompts_that_differ_are_not_pooled():
    """Two prompts that are right in an eighth and in three of eight sentences."""
    pairs = [f"p{number}" for number in range(4)] * 4
    right = [[True] + [False] * 7 + [False] * 8, [True, True, True, False] * 1 + [False, False, True, True] * 3]
    answers = pd.concat(
        pd.DataFrame({"pair": pairs, "answer": "occupation", "prompt": str(prompt), "variant": "none",
                      "prediction": np.where(chosen, "occupation", None)})
        for prompt, chosen in zip((0, 4), right, strict=True)
    )  # fmt: skip
    apart = performance.by_prompt(answers, 200, 1)
    assert dict(zip(apart.prompt, apart.value, strict=True)) == {"0": 1 / 16, "4": 9 / 16}
    keys = {"templates": "replica", "entities": "double", "system": "m", "conversion": study.CORRECTED, "n": 4}
    pooled = performance.evaluate(answers.assign(case="nominative", pronoun_set="he"), 200, 1).assign(**keys)
    rows = pd.DataFrame(summary.rows(pooled, apart.assign(**keys)))
    whole = rows[(rows.metric == "accuracy") & (rows["case"] == "")]
    assert whole.set_index("prompt").value.to_dict() == {"0": 1 / 16, "4": 9 / 16} and whole.headline.all()
    assert not rows[rows["case"] != ""].headline.any()


def test_overlaps_of_two_readings_are_counted_apart():
    columns = ["comparison", "reading", "system", "p_value", "p_holm"]
    rows = [
        ("cases", reading, "SpanBERT-base", p, p)
        for reading in ("corrected", "as published")
        for p in (0.01, 0.3, np.nan)
    ]
    found = numbers.from_overlap(pd.DataFrame(rows, columns=columns))
    assert (found["overlap.cases.above_chance"]["value"], found["overlap.cases.tested"]["value"]) == (1, 2)


def test_prompting_says_the_pairs_that_prompted_models_were_asked(made):
    """Not the fewest of any system."""
    table = made[1]["metrics"].query("entities == 'double'").copy()
    prompted = table.groupby("system").pairing.transform(lambda pairing: (pairing != "").any())
    if not prompted.any():
        return
    table["n"] = np.where(prompted, 60, 4)
    found = numbers.from_metrics(table)
    assert (found["asked.lowest"]["value"], found["prompted.pairs"]["value"]) == (4, 60)


def test_a_table_without_rows_is_a_comment(made, tmp_path):
    cells = tables.consistency(made[1]["metrics"].iloc[:0])
    tables.write(tmp_path / "a.tex", tmp_path / "a.csv", cells, 3, ["System"], "Nothing.")
    assert (tmp_path / "a.tex").read_text(encoding="utf-8") == "% Nothing.\n"
