"""Resolution by likelihood: what is scored, and whom scores mean, against a plain loop."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.winopron import instances, predictions, study, templates
from tests.winopron import make


@pytest.fixture
def double(tmp_path):
    return instances.build(make.read(tmp_path), "double", make.PRONOUNS)


def test_every_template_is_scored_once_with_both_people(double, tmp_path):
    path, out = tmp_path / "double.parquet", tmp_path / "selected.parquet"
    files.write_parquet(path, double, {"origins": {"template_row": "sentences.tsv", "pronoun_row": "pronouns.tsv"}})
    instances.templates_to_score(instances=str(path), selected=str(out), pairs="all", seed=1)
    table = files.read_parquet(out)
    assert len(table) == double.template.nunique() == 12 and table.instance_id.is_unique
    assert files.parquet_metadata(out)["origins"] == {"template_row": "sentences.tsv"}
    weaver = table[(table.template == "weaver-possessive-1")].iloc[0]
    assert weaver.text == "The weaver let the buyer wait, because ___ tools still lay on the loom."
    assert list(weaver.options) == ["the weaver's", "the buyer's"]
    assert options.fill(weaver.text, weaver.options[1]).endswith("because the buyer's tools still lay on the loom.")
    assert not table.text.str.contains("|".join(rf"\b{form}\b" for form in ("he", "she", "they", "xe"))).any()
    assert set(instances.to_score(double, ["pilot-guest"]).pair) == {"pilot-guest"}


def test_verbs_agree_with_nouns_and_not_with_they():
    row = {"occupation": "weaver", "participant": "buyer", "case": "nominative", "answer": "occupation"}
    template = templates.Template(**row, double="The weaver met the buyer when {pronoun} was late.", single=None, row=2)
    frame = instances.build(templates.Templates("winogender", "f", (template,)), "double", make.PRONOUNS)
    # Also where they come first.
    for order in (frame, frame.iloc[::-1]):
        assert instances.to_score(order, ["weaver-buyer"]).text.tolist() == [
            "The weaver met the buyer when ___ was late."
        ]


@pytest.mark.parametrize("column", study.LIKELIHOODS.values())
def test_the_likelier_sentence_wins_as_in_a_plain_loop(double, column):
    table = instances.to_score(double, list(double.pair.unique()))
    values = np.random.default_rng(2).normal(size=(len(table), 2))
    values[0] = -3.0
    scores = pd.DataFrame(
        [(row.instance_id, i, values[n, i]) for n, row in enumerate(table.itertuples()) for i in range(2)],
        columns=["instance_id", "option_index", column],
    ).sample(frac=1, random_state=1)
    # The other scoring favours the other person.
    other = next(name for name in study.LIKELIHOODS.values() if name != column)
    found = predictions.by_likelihood(scores.assign(**{other: -scores[column]}), table, double, column)
    found = found.set_index("instance_id").prediction
    assert len(found) == len(double)
    for n, row in enumerate(table.itertuples()):
        # A tie goes to the occupation.
        expected = "participant" if values[n, 1] > values[n, 0] else "occupation"
        assert (found[double[double.template == row.template].instance_id] == expected).all()


def test_scores_of_other_templates_are_refused(double):
    table = instances.to_score(double, list(double.pair.unique()))
    with pytest.raises(UserError, match="the template 'pilot-accusative-1' was scored and has no sentence"):
        predictions.by_likelihood(
            pd.DataFrame(), table, double[double.template != "pilot-accusative-1"], "log_probability"
        )


def test_scores_without_what_follows_are_refused(double):
    table = instances.to_score(double, ["pilot-guest"])
    with pytest.raises(UserError, match="the scores lack continuation_log_probability"):
        predictions.by_likelihood(pd.DataFrame({"instance_id": []}), table, double, "continuation_log_probability")
