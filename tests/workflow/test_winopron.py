"""WinoPron in the complete run: systems of the study, prompted and scored models, from templates to the section."""

import json

import pytest

from scripts.core import files
from scripts.winopron.lib import study

pytestmark = pytest.mark.workflow

PROMPTED = "Llama-2 (random)"


@pytest.fixture(scope="module")
def results(complete):
    return complete / "results/winopron"


def test_sentences_and_predictions_are_complete(results):
    for entities in study.ENTITIES:
        instances = files.read_parquet(results / f"instances/replica/{entities}.parquet")
        predictions = files.read_parquet(results / f"predictions/replica/{entities}.parquet")
        assert len(instances) == 1440
        of_rule = predictions[predictions.system == "Last person (rule)"]
        assert set(of_rule.instance_id) == set(instances.instance_id)
    prompts = files.read_parquet(results / "prompts/replica.parquet")
    # Two pairs of people with 24 sentences, one prompt in three variants.
    assert len(prompts) == 2 * 24 * 3
    double = files.read_parquet(results / "predictions/replica/double.parquet")
    systems = double.groupby("system").conversion.unique().map(set).to_dict()
    assert systems["SpanBERT-base"] == {"corrected", "carried_over"}
    assert systems[PROMPTED] == {"corrected", "published"}
    assert [systems[PROMPTED + scoring] for scoring in (study.FULL, study.PARTIAL)] == [{"corrected"}] * 2


def test_rules_are_right_half_the_time_and_never_with_both_endings(results):
    metrics = study.read_table(results / "analysis/metrics.csv")
    whole = study.overall_rows(metrics[(metrics.system == "SpanBERT-large") & (metrics.entities == "double")])
    value = whole[whole.conversion == "corrected"].set_index("metric").value
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
