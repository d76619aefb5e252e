"""From distributions over tokens to the probabilities of words, and from these to estimates."""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.underspecification import estimates, instances, probabilities, study, texts
from scripts.underspecification.templates import Prompt
from tests.refusals import refused
from tests.underspecification.synthetic import FOLDER, SCHEMA, tidy

WORDS = {"female": ["she", "her"], "male": ["he"], "neutral": ["they"], "neo": ["xe"]}
NOTHING = dict.fromkeys(WORDS, 0)
TOKENS = ["text_id", "step", "rank", "token", "probability", "chosen"]
MASSES = ["text_id", "step", "group", "probability"]


def test_masses_at_a_mask():
    top = pd.DataFrame(
        [("t", 0, 0, " She", 0.4, True), ("t", 0, 1, "her", 0.1, False), ("t", 0, 2, " he", 0.2, False),
         ("t", 0, 3, "hers", 0.1, False), ("u", 0, 0, "it", 0.9, True)],
        columns=TOKENS,
    )  # fmt: skip
    sums = probabilities.accumulate(top, pd.Series({"t": "mask", "u": "mask"}), WORDS)
    assert sums.loc["t"].to_dict() == pytest.approx(NOTHING | {"female": 0.5, "male": 0.2})
    assert sums.loc["u"].sum() == 0


def test_masses_of_continuations_take_the_one_written_word_or_all_steps():
    top = pd.DataFrame(
        [("one", 0, 0, "\n", 0.9, True), ("one", 0, 1, "she", 0.1, False),
         ("one", 1, 0, "She", 0.6, True), ("one", 1, 1, " he", 0.3, False),
         ("two", 0, 0, "he", 0.5, True), ("two", 0, 1, "she", 0.2, False),
         ("two", 1, 0, " or", 0.9, True), ("two", 2, 0, "she", 0.4, True),
         ("none", 0, 0, "it", 0.8, True), ("none", 0, 1, "she", 0.2, False)],
        columns=TOKENS,
    )  # fmt: skip
    methods = pd.Series(dict.fromkeys(("one", "two", "none"), "generate"))
    sums = probabilities.accumulate(top, methods, WORDS).T.to_dict()
    # Several such words, or none: sums over all steps, divided by their number.
    assert sums["one"] == pytest.approx(NOTHING | {"female": 0.6, "male": 0.3})
    assert sums["two"] == pytest.approx(NOTHING | {"female": 0.6 / 3, "male": 0.5 / 3})
    assert sums["none"] == pytest.approx(NOTHING | {"female": 0.2})
    written = probabilities.accumulate(top, methods, WORDS, written_only=True).T.to_dict()
    assert written["one"] == sums["one"] and written["none"] == NOTHING
    assert written["two"] == pytest.approx(NOTHING | {"female": 0.3, "male": 0.25})
    rows = [("one", 0, "female", 0.3), ("one", 1, "female", 0.7), ("one", 1, "neo", 0.01), ("none", 0, "female", 0.3)]
    whole = probabilities.accumulate_full(pd.DataFrame(rows, columns=MASSES), top, methods, WORDS).T.to_dict()
    assert whole["one"] == pytest.approx(NOTHING | {"female": 0.7, "neo": 0.01})
    assert whole["none"] == pytest.approx(NOTHING | {"female": 0.3})


@pytest.mark.parametrize(
    ("evaluation_set", "changed", "named"),
    [
        ("winogender", {"neo": 3.3}, None),
        ("mgc", {"neo": 3.3}, "probability is 3.3"),
        ("winogender", {"male": 3.3}, "probability is 3.3"),
        ("winogender", {"neo": -0.1}, "probability is -0.1"),
        ("winogender", {"neo": np.inf}, "probability is inf"),
    ],
)
def test_only_the_ratio_of_neopronouns_may_be_above_one(tmp_path, evaluation_set, changed, named):
    """Off MGC probabilities are divided by that of the three genders, which neopronouns are no part of."""
    shares = {"female": 0.2, "male": 0.8, "neutral": 0.0} | changed
    rows = [{"item": "s", "gender": gender, "position": 0, "probability": p} for gender, p in shares.items()]
    files.write_parquet(tmp_path / "p.parquet", tidy(rows, evaluation_set=evaluation_set))
    if named:
        with refused("p.parquet", named, "delete"):
            probabilities.read_probabilities(str(tmp_path / "p.parquet"))
    else:
        assert probabilities.read_probabilities(str(tmp_path / "p.parquet")).probability.max() == 3.3


def female(text):
    """Return the made-up probability of female words in a text, which rises with its date."""
    year = re.search(r"\b(1[89]|20)\d\d\b", text)
    return 0.1 + ((int(year.group()) - 1801) / 600 if year else 0.2)


def distribute(rows):
    """Return made-up distributions and masses of texts; a continuation's word stands at its second step."""
    top, full = [], []
    for row in rows.itertuples():
        rising = female(row.text)
        values = [(" she", rising), (" he", 0.7 - rising), (" they", 0.1), (" it", 0.05), (" her", 0.01)]
        for step in range(1 if row.method == "mask" else 2):
            for rank, (token, value) in enumerate(sorted(values, key=lambda pair: -pair[1])):
                written = "\n" if row.method == "generate" and not (step or rank) else token
                top.append((row.text_id, step, rank, written, value, rank == 0))
            for group, value in (("female", rising + 0.02), ("male", 0.7 - rising), ("neutral", 0.1), ("neo", 0.001)):
                full.append((row.text_id, step, group, value))
    return pd.DataFrame(top, columns=TOKENS), pd.DataFrame(full, columns=MASSES)


def read(folder, method, model="m", label="M", full=True):
    """Have a model read two sentences of MGC and eight of Winogender; return the file of its probabilities."""
    verb = {"verb": "be", "form": "past", "phrase": "was", "verb_row": 2}
    places = {"Mali": 2, "Sweden": 3}
    mgc = instances.build_mgc([verb], {"a kid": 2, "an adult": 3}, [1801, 1873, 1944, 2016], places)
    winogender = instances.build_replica([SCHEMA | {"other": "customer", "row": 2}], [1901, 2016])["winogender"]
    paths = {kind: [] for kind in ("instances", "texts", "distributions", "full")}
    for name, frame in (("mgc", mgc), ("winogender", winogender)):
        rows = texts.make_texts(frame, {prompt: Prompt("_", f"{prompt}: {{sentence}}") for prompt in "AB"})
        tables = frame, rows, *distribute(rows[rows.method == method])
        for (kind, made), table in zip(paths.items(), tables, strict=True):
            made.append(str(folder / f"{kind}_{name}.parquet"))
            files.write_parquet(made[-1], table)
    paths["full"] *= full
    words = str(FOLDER / "words.tsv")
    made = str(folder / "probabilities.parquet")
    probabilities.word_group_probabilities(
        **paths, words=words, probabilities=made, model=model, label=label, methods=[method]
    )
    return made


@pytest.mark.parametrize(("method", "prompts"), [("mask", ["mask"]), ("generate", ["A", "B", "A|B"])])
def test_slopes_are_those_that_were_put_into_the_distributions(tmp_path, method, prompts):
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("estimates", "curves", "metrics")}
    estimates.estimates(probabilities=[read(tmp_path, method)], **paths, threshold=0.5, folds=3, draws=100, seed=1)
    table = study.read_table(paths["estimates"])
    for prompt in prompts:
        of_prompt = table[(table.prompt == prompt) & (table.variable == "date")]
        value = of_prompt.set_index(["accumulation", "gender", "metric"]).value
        # Four dates from 1801 to 2016: a rise of 215 / 600 in three steps.
        assert value["top", "female", "slope"] == pytest.approx(100 * 215 / 600 / 3, rel=0.02)
        assert value["top", "female", "r"] > 0.99 and value["top", "male", "r"] < -0.99
        # Top words she and her, the whole vocabulary one point more; the neopronouns are only there.
        assert value["full", "female", "intercept"] - value["top", "female", "intercept"] == pytest.approx(1)
        assert value["full", "neo", "intercept"] == pytest.approx(0.1) and np.isnan(value["top", "neo", "slope"])


def test_probabilities_of_method_2_are_divided_by_those_of_the_three_genders(tmp_path):
    frame = files.read_parquet(read(tmp_path, "generate"))
    kept = frame[(frame.evaluation_set == "winogender") & (frame.gender != "neo")]
    sums = kept.groupby(["item", "position", "prompt", "accumulation"]).probability.sum()
    assert sums.to_numpy() == pytest.approx(1) and set(frame.accumulation) == {"top", "written", "full"}


def test_models_behind_servers_have_no_masses_over_the_vocabulary(tmp_path):
    frame = files.read_parquet(read(tmp_path, "generate", "ul2", "UL2-20B", full=False))
    assert "full" not in set(frame.accumulation) and set(frame.label) == {"UL2-20B gen"} and set(frame.model) == {"ul2"}


BROKEN = {
    "missing row": (lambda f: f.drop(index=4), ["s ___", "1802", "but of female, neutral"]),
    "repeated row": (lambda f: pd.concat([f, f.iloc[4:5]]), ["s ___", "1802", "but of female, male, neutral, male"]),
    "one for another": (
        lambda f: f.assign(gender=f.gender.where(f.index != 4, "female")),
        ["s ___", "1802", "but of female, female, neutral"],
    ),
    "words": (lambda f: f.assign(probability="much"), ["probability holds string"]),
    "empty cell": (lambda f: f.assign(gender=f.gender.where(f.index != 4)), ["row 5", "gender is empty"]),
    "no column": (lambda f: f.drop(columns="templates"), ["column templates is missing"]),
    "nothing": (lambda f: f.iloc[:0], ["has no row"]),
}


@pytest.mark.parametrize(("change", "named"), BROKEN.values(), ids=BROKEN)
def test_broken_probabilities_are_refused(tmp_path, change, named):
    rows = [
        {"item": "s ___", "gender": gender, "position": k, "value": str(1801 + k), "probability": 0.1}
        for gender in ("female", "male", "neutral") for k in range(3)
    ]  # fmt: skip
    path = tmp_path / "p.parquet"
    files.write_parquet(path, change(tidy(rows, evaluation_set="mgc")))
    with refused(path, *named, "delete"):
        probabilities.read_probabilities(str(path))
