"""What a card says first, of which files and of which part of a study."""

import pandas as pd

from scripts.card import card_figure
from scripts.card.card_page import chance_sentences, model_facts
from scripts.core import files
from scripts.core.data import estimate_rows


def test_a_model_at_chance_everywhere_is_said_to_be():
    columns = ["model", "value", "low", "high", "chance"]
    rows = [
        ("random", 24.0, 21.0, 27.0, 25.0),
        ("random", 1.0, -2.0, 4.0, 0.0),
        ("half", 24.0, 21.0, 27.0, 25.0),
        ("half", 60.0, 55.0, 65.0, 25.0),
        # Without a chance level or an interval nothing can be said.
        ("unknown", 24.0, 21.0, 27.0, None),
        ("unknown", 25.0, None, None, 25.0),
    ]
    called = {"random": "Dice", "half": "Half", "unknown": "Unknown"}
    assert chance_sentences(pd.DataFrame(rows, columns=columns), called) == [
        "Dice is at chance everywhere: the 95% interval of each of its 2 headline estimates includes the chance level."
    ]


def test_counts_are_of_the_model_s_own_files(tmp_path):
    paths = []
    for model, instances in (("opt", 40), ("opt-large", 7)):
        paths.append(str(tmp_path / f"scores/{model}.parquet"))
        facts = {"instances": instances, "unread_instances": 2, "tied_instances": 1, "revision": f"commit of {model}"}
        files.write_parquet(paths[-1], pd.DataFrame({"x": [1]}), facts)
    entry = dict.fromkeys(("architecture", "precision", "licence"), "x") | dict.fromkeys(("parameters", "context"), 7)
    told = model_facts("opt", entry | {"gated": False, "source": {"hub": "a/opt"}}, paths)
    assert told["Revision"] == "commit of opt" and told["Tied best options"] == "1 of 40 scored instances"


def test_the_figure_has_the_part_that_the_models_have(tmp_path):
    """Another model of the run was scored on the authors' templates as well, which come first."""
    usual = {"kind": "model", "scoring": "probability", "metric": "accuracy", "n": 40, "n_unit": "instances"}
    rows = [("replica", "mine", 0.25), ("replica", "other", 0.5), ("official", "other", 0.75)]
    estimate_rows.write_estimates(
        tmp_path / "summary.csv", "ruff",
        [usual | {"part": part, "model": model, "label": model, "value": value, "low": value, "high": value}
         for part, model, value in rows],
    )  # fmt: skip
    study = {
        "key": "ruff", "label": "RUFF", "points": [["all", "accuracy", {}, None]], "value": "Accuracy",
        "parts": ["official", "replica"], "chance": 0.25, "axis": "", "printed": "",
    }  # fmt: skip
    paths = {kind: str(tmp_path / f"studies.{kind}") for kind in ("pdf", "png", "csv")}
    card_figure.main(
        summaries=[tmp_path / "summary.csv"], printed=[], **paths, models={"mine": "Mine"}, studies=[study]
    )
    drawn = files.read_csv(paths["csv"])
    assert drawn[["who", "value"]].values.tolist() == [["model", 0.25], ["other models of this run", 0.5]]
