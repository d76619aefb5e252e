"""Published numbers beside ours: which of our rows is compared."""

import pandas as pd
import pytest

from scripts.winopron import published, study


def test_every_system_is_compared_once_and_as_published():
    rows = [
        ("replica", "double", "spanbert-base-coref", "system", "clusters", way, "", "", "", "", "f1", value)
        for way, value in (("corrected", 0.6), ("published", 0.7))
    ]
    there = ("winogender", "double", "spanbert-base-coref", "system", "clusters", "published", "", "", "")
    rows += [(*there, sets, "f1", value) for sets, value in (("", 0.5), (study.THREE_SETS, 0.8))]
    table = published.comparable_estimates(
        pd.DataFrame(rows, columns=[*study.IDENTITY, *study.FACTORS, "metric", "value"]), "replica"
    )
    found = table[table.metric == "f1"].set_index(["model", "data"]).value["spanbert-base-coref"]
    assert found.to_dict() == pytest.approx({"WP": 0.7, "WS": 0.8, "WP - WS": -0.1})


def test_occupations_of_table_4_are_looked_for_as_published():
    named = pd.DataFrame(
        [("Nominative", "he", "positive", "cook"), ("Nominative", "he", "positive", "clerk"),
         ("Nominative", "he", "negative", "cook"), ("Accusative", "he", "positive", "cook")],
        columns=["case", "pronoun_set", "polarity", "occupation"],
    )  # fmt: skip
    columns = ["model", "kind", "scoring", "reading", "case", "pronoun_set", "bias", "occupation"]
    base = ("SpanBERT-large", "system", "clusters")
    biased = pd.DataFrame(
        [(*base, "published", "nominative", "he", "positive", "cook"),
         (*base, "corrected", "nominative", "he", "positive", "clerk")],
        columns=columns,
    )  # fmt: skip
    found = published.comparable_occupations(named, biased, ["SpanBERT-large", "CAW-coref"])
    # Three forms for each system; all others have none of the occupations.
    assert len(found) == 6 and found.found.sum() == 1
    assert found[found.found == 1].iloc[0][["model", "case", "bias"]].tolist() == [
        "SpanBERT-large", "nominative", "positive",
    ]  # fmt: skip
