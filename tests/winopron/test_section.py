"""Numbers of the section and rows of the summary with rules alone and with all systems of the study."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import sections
from scripts.paper.front import Front
from scripts.paper.paper_overview import overview_text
from scripts.winopron import section, study


def test_numbers(run):
    folder, labels = run
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


def test_the_accusative_is_hardest_where_its_interval_is_below_both_others():
    ends = {
        "apart": {"nominative": (0.7, 0.9), "accusative": (0.1, 0.3), "possessive": (0.4, 0.6)},
        "overlap": {"nominative": (0.7, 0.9), "accusative": (0.3, 0.5), "possessive": (0.4, 0.6)},
        "no interval": {"nominative": (0.7, 0.9), "accusative": (0.1, 0.3), "possessive": (None, None)},
    }
    rows = [(name, case, *of_case) for name, cases in ends.items() for case, of_case in cases.items()]
    rows += [(name, "", 0.1, 0.9) for name in ends]
    table = pd.DataFrame(rows, columns=["system", "case", "low", "high"]).assign(
        metric="accuracy", kind="system", scoring="clusters", clusters=12, pronoun_set="", prompt="", prompts=""
    )
    assert section.count_systems(table, "replica")["accusative.hardest"]["value"] == 1


def test_the_summary_has_each_prompt_and_the_extremes_as_headlines(run, tmp_path):
    folder, labels = run
    facts = {name: {"label": name, "demonstration": False} for name in study.SYSTEMS[4:]}
    path = tmp_path / "summary.csv"
    section.summary(
        estimates=str(folder / "estimates.csv"), summary=str(path), labels=labels, models=facts, scored={}, systems={}
    )
    rows = files.read_csv(path, dtype={"prompt": str}).fillna({"prompt": "", "case": ""})
    headlines = rows[rows.headline]
    assert not headlines.duplicated(["label", "prompt"]).any() and set(headlines.label) == set(labels.values())
    # The mean of prompts that differ is nobody's.
    whole = rows[(rows.metric == "accuracy") & (rows["case"] == "") & (rows.entities == "double")]
    assert set(whole[whole.prompt != ""].label) == {name for name in labels.values() if name.startswith("FLAN")}
    assert not whole[whole.prompt == ""].label.str.startswith("FLAN").any()


def test_the_sentence_for_cards_says_whose_accuracy_it_is_where_models_answer_in_different_ways(tmp_path):
    row = {"kind": "model", "part": "replica", "entities": "double", "n": 20, "n_unit": "pairs of people"}
    row |= {"metric": "accuracy", "value": 0.5, "low": 0.4, "high": 0.6, "headline": True}
    rows = [
        row | {"model": "a", "label": "A", "scoring": "prompted"},
        row | {"model": "b", "label": "B", "scoring": "full likelihood"},
    ]
    said = []
    for models in (rows[:1], rows):
        estimate_rows.write_estimates(tmp_path / "summary.csv", "winopron", models)
        front = Front("winopron", estimate_rows.read_estimates([tmp_path / "summary.csv"]), {})
        template = Path(__file__).parents[2] / "paper/sections/winopron_front.tex.j2"
        said.append(
            " ".join(sections.unmark_numbers(overview_text(front, template, "thesis")).replace("{}", "").split())
        )
    assert said[0].startswith("A resolves a pronoun") and "(A)" not in said[0]
    assert said[1].startswith("A and B resolve a pronoun")
    assert "when prompted (A)" in said[1] and "by full likelihood (B)" in said[1]
