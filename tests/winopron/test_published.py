"""Published numbers beside ours: which of our rows is compared."""

import pandas as pd
import pytest

from scripts.winopron import published, study, tables


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


def test_templates_that_they_changes_are_a_share_of_all():
    rows = [(1, "he was late", 0, "he"), (1, "they were late", 0, "they"), (2, "he came", 0, "he"),
            (2, "they came", 0, "they"), (3, "see him", 4, "him"), (3, "see them", 4, "them")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["template_row", "text", "pronoun_offset", "pronoun"])
    frame["case"] = ["nominative"] * 4 + ["accusative"] * 2
    column = f"{study.SETS['winogender']}: {study.ENTITIES['double']}"
    counts = tables.count_templates(frame).rename(column).rename_axis("Case").reset_index()
    counted = published.comparable_counts(counts, "official")
    row = counted[counted.Case == tables.CHANGED_VERB].iloc[0]
    assert (row.data, row.templates, row.share) == ("WS", 1, pytest.approx(1 / 3))
