"""WinoPron in the complete run: systems of the study, prompted and scored models, from templates to the section."""

import json

import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.winopron import study

pytestmark = pytest.mark.workflow

PROMPTED = "tiny-llama"


@pytest.fixture(scope="module")
def results(complete):
    return complete / "results/winopron"


def test_sentences_and_predictions_are_complete(results):
    for entities in study.ENTITIES:
        instances = files.read_parquet(results / f"instances/replica/{entities}.parquet")
        predictions = files.read_parquet(results / f"predictions/replica/{entities}.parquet")
        assert len(instances) == 1440
        of_rule = predictions[predictions.model == "last"]
        assert set(of_rule.instance_id) == set(instances.instance_id)
    prompts = files.read_parquet(results / "prompts/replica.parquet")
    # Two pairs of people with 24 sentences, one prompt in three variants.
    assert len(prompts) == 2 * 24 * 3
    double = files.read_parquet(results / "predictions/replica/double.parquet")
    readings = double.groupby(["model", "scoring"]).reading.agg(set).to_dict()
    assert readings["SpanBERT-base", ""] == {"corrected", "published"}
    assert readings[PROMPTED, estimate_rows.PROMPTED] == {"corrected", "published"}
    assert [readings[PROMPTED, way] for way in (estimate_rows.FULL, estimate_rows.PARTIAL)] == [{"corrected"}] * 2


def test_rules_are_right_half_the_time_and_never_with_both_endings(results):
    table = study.read_table(results / "estimates.csv")
    whole = study.pick(table, model="SpanBERT-large", entities="double", reading="corrected")
    value = whole.set_index("metric").value
    assert value["accuracy"] == value["pronoun_consistency"] == 0.5 and value["disambiguation_consistency"] == 0


def test_numbers_and_the_section_follow(results):
    numbers = json.loads((results / "analysis/replica/paper_numbers.json").read_text(encoding="utf-8"))
    assert numbers["size.double.sentences"]["value"] == 1440 and numbers["asked.lowest"]["value"] == 2
    # Three systems by clusters, two prompted models, and three by likelihood in two ways.
    assert numbers["systems"]["value"] == 11
    compared = files.read_csv(results / "tables/published_vs_ours.csv")
    ours = compared[(compared.templates == "replica") & (compared.models == "spanbert-base-coref")]
    assert (ours.verdict != "not run").any()
    section = (results.parent / "paper/sections/winopron.tex").read_text(encoding="utf-8")
    assert "SpanBERT-large" in section
