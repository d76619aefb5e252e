"""What changes when only the score changes: accuracies that are compared, moves beyond intervals, and the thesis."""

import pandas as pd
import pytest

from scripts.core.data import estimate_rows
from scripts.paper.score_changes import PRONOUNS, compare_scores, find_thesis, select_accuracies, select_drawn

STUDIES = [
    {"key": "ruff", "label": "RUFF", "chances": {"accuracy": 0.25}},
    {"key": "winopron", "label": "WinoPron", "chances": {"accuracy": 0.5}},
]
APART = {"he": (0.7, 0.2), "xe": (0.1, 0.9)}
"""Pronouns that move in opposite directions: accuracies by the sum, and minus the score without context."""


def row(model, value, **given):
    usual = {
        "part": "replica", "model": model, "kind": "model", "scoring": "probability", "metric": "accuracy",
        "value": value, "low": max(0, value - 0.1), "high": min(1, value + 0.1), "n": 40, "n_unit": "instances",
        "label": f"{model.title()} (demonstration)" if model == "demo" else model.title(),
        "demonstration": model == "demo", "headline": False,
    }  # fmt: skip
    return usual | given


def by_score(model, values=APART):
    """Return the rows of a model by both scores, of all pronouns and of each."""
    return [
        row(model, value, pronoun=pronoun, normalisation=score, setting="fidelity")
        for place, score in enumerate(("sum", "context_free"))
        for pronoun, value in [("", 0.4), *((name, pair[place]) for name, pair in values.items())]
    ]


def summary(folder, rows, study="ruff"):
    estimate_rows.write_estimates(folder / f"{study}.csv", study, rows)
    return estimate_rows.read_estimates([folder / f"{study}.csv"])


def test_accuracies_by_several_scores_are_kept_and_nothing_else(tmp_path):
    plain = [row("small", 0.99, n_distractors=0), row("small", 0.5, metric="other pick", normalisation="sum")]
    summary(tmp_path, [*plain, *by_score("small"), *by_score("demo")])
    halves = [row("small", value, scoring=f"{half} likelihood", entities="double")
              for half, value in (("full", 0.6), ("partial", 0.8))]  # fmt: skip
    alone = row("large", 0.9, scoring="full likelihood", entities="double")
    summary(tmp_path, [*halves, alone], "winopron")
    both = estimate_rows.read_estimates([tmp_path / "ruff.csv", tmp_path / "winopron.csv"])
    kept = select_accuracies(both, STUDIES)
    assert kept[kept.study == "ruff"].model.unique().tolist() == ["small"]
    assert kept[kept.study == "ruff"].level.unique().tolist() == ["all", "he", "xe"]
    # A model with the full likelihood alone has nothing to be compared with; headlines are by the study's own score.
    assert kept[kept.study == "winopron"].accuracy.tolist() == [0.6, 0.8] and 0.99 not in set(kept.accuracy)
    assert kept.accuracy.tolist() == both.value.loc[kept.index].tolist()
    # Drawn are pronouns alone, of the authors' data if the run has them.
    assert select_drawn(kept).study.unique().tolist() == ["ruff"]
    # A run of studies without factors of pronouns has no such columns.
    assert select_drawn(kept[kept.study == "winopron"].drop(columns=list(PRONOUNS), errors="ignore")).empty
    twice = pd.concat([kept, kept.assign(part="official", accuracy=0.0)])
    assert set(select_drawn(twice).accuracy) == {0.0}
    # A run of one study may have no column of pronouns.
    alone = kept[kept.study == "winopron"].drop(columns=["pronoun", "pronoun_type"], errors="ignore")
    assert select_drawn(alone).empty and list(select_drawn(alone)) == list(alone)


def test_an_accuracy_moves_where_both_intervals_are_disjoint(tmp_path):
    values = {"he": (0.5, 0.71), "she": (0.5, 0.7), "they": (0.5, 0.29), "xe": (0.5, 0.3)}
    made = summary(tmp_path, by_score("m", values))
    changes = compare_scores(select_accuracies(made, STUDIES)).set_index("level")
    # Intervals that touch overlap.
    assert changes.direction.to_dict() == {"all": 0, "he": 1, "she": 0, "they": -1, "xe": 0}
    assert changes.pronoun.to_dict() == {"all": False} | dict.fromkeys(values, True)
    assert made.value.loc[changes.other].tolist() == [0.4, 0.71, 0.7, 0.29, 0.3]


ONE_SIDED, STILL = {"he": (0.7, 0.7), "xe": (0.1, 0.9)}, {"he": (0.5, 0.55)}


@pytest.mark.parametrize(
    ("models", "counts", "title"),
    [
        ({"a": APART}, (1, 1, 1), "The score decides whom a language model misgenders"),
        ({"a": APART, "b": APART}, (2, 2, 2), "The score decides whom language models misgender"),
        ({"a": APART, "b": STILL}, (2, 1, 1), "The score can decide whom a language model misgenders"),
        ({"a": ONE_SIDED, "b": STILL}, (2, 0, 1), "The score changes how often a language model misgenders"),
        ({"a": STILL}, (1, 0, 0), ""),
        ({"demo": APART}, (0, 0, 0), ""),
        ({}, (0, 0, 0), ""),
    ],
    ids=["one model", "all models", "some models", "one direction", "no move", "demonstration", "no model"],
)
def test_the_title_claims_what_the_comparisons_support(tmp_path, models, counts, title):
    rows = [one for model, values in models.items() for one in by_score(model, values)]
    made = summary(tmp_path, rows or [row("a", 0.5)])
    thesis = find_thesis(select_accuracies(made, STUDIES))
    assert ((thesis.models, thesis.decided, thesis.moved), thesis.title) == (counts, title)


def test_the_example_is_the_largest_pair_of_opposite_moves(tmp_path):
    small = {"he": (0.7, 0.4), "xe": (0.1, 0.4)}
    thesis = find_thesis(select_accuracies(summary(tmp_path, [*by_score("a", small), *by_score("b")]), STUDIES))
    up, down = thesis.example["up"], thesis.example["down"]
    assert (up.model, up.level, down.level, thesis.example["score"]) == ("b", "xe", "he", "context_free")


def test_moves_by_two_scores_are_no_opposite_moves(tmp_path):
    """One score lets an accuracy rise, another lets one fall: neither decides whom the model misgenders."""
    by_tokens = [
        row("a", value, pronoun=pronoun, normalisation="tokens", setting="fidelity")
        for pronoun, value in (("", 0.4), ("he", 0.1), ("xe", 0.1))
    ]
    made = summary(tmp_path, [*by_score("a", {"he": (0.1, 0.9), "xe": (0.9, 0.9)}), *by_tokens])
    thesis = find_thesis(select_accuracies(made, STUDIES))
    assert (thesis.models, thesis.decided, thesis.moved, thesis.example) == (1, 0, 1, {})
