"""The data of the page: what is shown, what is counted only, and that nothing ends the element it lies in."""

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.errors import UserError
from scripts.core.workflow.studies import ExplorerView
from scripts.explorer import explorer as script
from scripts.explorer import outputs, page_data
from tests.explorer import small


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def studies(folder):
    return small.build(folder)


@pytest.fixture(scope="module")
def data(studies):
    made = page_data.make_page_data(studies, small.MODELS)
    # As the page reads it.
    return page_data.read_page_data(f'<script id="data">{page_data.pack_data(made, small.CANARY)}</script>')


@pytest.fixture
def shown(data):
    return data["studies"][0]["sets"][0]


def accuracy(reader):
    """Return the accuracy that the page shows."""
    codes = np.array(reader["decided"])
    return (codes[codes >= 0] % 2).mean()


def test_every_instance_has_what_became_of_it(data, shown):
    levels = [level["name"] for level in data["studies"][0]["levels"]]
    m, other, asked = shown["readers"]
    assert [m["name"], other["name"], asked["name"]] == ["M <script>", "other", "M <script>, prompt 1"]
    assert accuracy(m) == pytest.approx(40 / 60) and accuracy(other) == pytest.approx(30 / 60)
    # A missing preference is called by the outcome; who was not asked decided nothing.
    assert set(asked["decided"][6:]) == {-1}
    assert levels[asked["decided"][0] // 2] == "several"
    assert m["shares"][0] == [731, 269] and m["options"]["values"] == [[["his", "he"], ["her", "she"]]]
    assert m["colour"] != other["colour"]
    text = shown["texts"][0]
    assert asked["answers"]["0"] == [f"Fill: {text}\nNow!", f"her {small.MARKUP}", f"Hm. {small.MARKUP}"]
    marked = [(text[start:end], label) for start, end, label in shown["spans"][0]]
    assert marked[1:] == [("The guest sat down.", "sentences about somebody else"), ("cook", "cook")]
    assert [label for *_, label in shown["spans"][1]] == ["introduction", "cook"]
    # Of clusters those with several mentions.
    assert len(other["clusters"]["values"][other["clusters"]["codes"][0]]) == 1
    context, task = shown["lines"]
    assert (task["values"][task["codes"][2]], context["values"][0]) == (
        "templates/small/task.tsv:5",
        "context.tsv:4, 5",
    )


def test_a_set_of_somebody_else_gives_numbers_alone(data, shown):
    withheld = data["studies"][0]["sets"][1]
    assert set(withheld) == set(shown) - {"ids", "texts", "spans", "lines"}
    assert all(set(reader) == {"name", "colour", "decided"} for reader in withheld["readers"])
    assert [factor["name"] for factor in withheld["factors"]] == ["case", "n_distractors"]
    text = json.dumps(data)
    assert small.SECRET not in text and "id00" in text and text.count("official") == 1
    for one, other in zip(shown["readers"], withheld["readers"], strict=True):
        assert one["decided"] == other["decided"]


def test_what_looks_like_markup_ends_nothing(folder, studies, root):
    page = folder / "page.html"
    script.main(
        template=str(root / "paper/explorer.html"), summaries=[small.summary(folder)], canary=small.CANARY,
        page=str(page), studies=studies, models=small.MODELS,
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert text.count("</script>") == text.count("<script") == 2
    assert page_data.read_page_data(text)["studies"][0]["question"] == f"Who? {small.MARKUP}"
    # Snakemake's report can open the largest page too.
    assert (page_data.LIMIT + (root / "paper/explorer.html").stat().st_size) * 4 / 3 < 2 << 20
    assert "<" not in page_data.pack_data({"text": small.MARKUP}, small.MARKUP)
    assert small.CANARY in text and not re.search(r'(?:src|href)="', text)


def test_the_page_opens_with_the_headline_model_and_the_next_with_the_same_instances(studies, tmp_path):
    def opened(*headline):
        entry = studies["small"] | {"headline": list(headline)}
        (study,) = page_data.make_page_data({"small": entry}, small.MODELS)["studies"]
        one = study["sets"][0]
        return [reader["name"] for reader in one["readers"]], one["compared"]

    assert opened("M <script>") == (["M <script>", "other", "M <script>, prompt 1"], True)
    assert opened("elsewhere", "other") == (["other", "M <script>", "M <script>, prompt 1"], True)
    # Nobody else has the instances of the prompted model.
    assert opened("M <script>, prompt 1") == (["M <script>, prompt 1", "M <script>", "other"], False)
    # Headlines of rules come last, those of demonstrations before them, and one without a value does not count.
    shown = dict(studies["small"])
    script.main(
        template=small.summary(tmp_path), summaries=[small.summary(tmp_path)], canary="", page=str(tmp_path / "page"),
        studies={"small": shown}, models=small.MODELS,
    )  # fmt: skip
    assert shown["headline"] == ["M <script>", "other", "rule"]


def test_a_large_run_shows_a_sample_of_whole_units(studies):
    whole = len(page_data.pack_data(page_data.make_page_data(studies, small.MODELS), ""))
    sampled = page_data.make_page_data(studies, small.MODELS, limit=whole * 3 // 4)
    assert len(page_data.pack_data(sampled, "")) <= whole * 3 // 4
    one = sampled["studies"][0]["sets"][0]
    assert 0 < len(one["units"]) < one["total"] == 60
    # Five instances an occupation, which are in it all or not at all.
    assert set(np.bincount(one["units"])) == {5}
    assert sampled == page_data.make_page_data(studies, small.MODELS, limit=whole * 3 // 4)


def test_probabilities_are_averaged_where_nothing_is_right(tmp_path):
    rows = [(f"t{n % 2}", f"{1900 + n % 2}", word, share) for n in range(2) for word, share in (("f", 0.1), ("m", 0.3))]
    table = pd.DataFrame(rows, columns=["item", "value", "gender", "probability"]).assign(model="m")
    table.loc[table.item == "t1", "probability"] = 0.0
    files.write_parquet(tmp_path / "probabilities.parquet", table)
    path = str(tmp_path / "probabilities.parquet")
    view = ExplorerView(
        sets={"released": [path, path]}, gold="value", words=("year", "likely"),
        levels={"f": "she", "m": "he"}, unit=("item", "texts"), factors=[], weights={"f": 1, "m": -1},
    )  # fmt: skip
    entry = asdict(view) | {"label": "S", "question": "Q", "headline": [], "shown": []}
    (study,) = page_data.make_page_data({"s": entry}, {})["studies"]
    (reader,) = study["sets"][0]["readers"]
    assert reader["value"] == [-200, 0] and study["mean"]
    assert [study["levels"][code // 2]["name"] for code in reader["decided"]] == ["m", "none"]


def test_instances_of_one_text_have_the_prediction_of_their_own_declaration(tmp_path):
    """A text can follow from two declarations, and then is scored once and predicted for both."""
    studies = small.build(tmp_path)
    for name in ("replica", "replica_predicted"):
        path = tmp_path / f"{name}.parquet"
        table, metadata = files.read_parquet(path), files.parquet_metadata(path)
        twice = pd.concat([table.assign(declaration="31"), table[:1].assign(declaration="32")], ignore_index=True)
        files.write_parquet(path, twice, metadata)
    (study, *_) = page_data.make_page_data(studies, small.MODELS)["studies"]
    reader = study["sets"][0]["readers"][0]
    assert reader["decided"][0] == reader["decided"][-1] >= 0


def test_clusters_of_another_text_and_two_decisions_are_refused(tmp_path):
    studies = small.build(tmp_path)
    path = tmp_path / "replica_predicted.parquet"
    table = files.read_parquet(path)
    files.write_parquet(path, pd.concat([table, table[:1]]))
    with pytest.raises(ValueError, match="M <script> decides an instance more than once"):
        page_data.make_page_data(studies, small.MODELS)
    files.write_parquet(path, table)
    frame = files.read_parquet(tmp_path / "replica.parquet")
    metadata = files.parquet_metadata(tmp_path / "replica.parquet")
    files.write_parquet(tmp_path / "replica.parquet", frame.assign(text="Other. " + frame.text), metadata)
    with pytest.raises(UserError, match="the text of 'id00' differs"):
        page_data.make_page_data(studies, small.MODELS)


def test_clusters_are_those_of_the_reader_s_debiasing(tmp_path):
    frame = pd.DataFrame({"instance_id": ["i"], "text": ["Ann said she left."]})
    given = []
    for debiasing, mentions in (("none", ((0, 0), (2, 2))), ("a-CDA", ((0, 1), (2, 3)))):
        path = tmp_path / f"{debiasing}.jsonl"
        text = frame.text[0]
        document = ("i", coreference.digest_text(text), coreference.split_words(text), (mentions,))
        coreference.write_clusters(path, [coreference.Document(*document)])
        given.append({"file": path, "system": "s", "debiasing": debiasing})
    entry = {"outputs": [], "clusters": given}
    found = outputs.find_outputs(entry, frame, {"model": "s", "debiasing": "none"})["clusters"]
    assert found["values"] == [(((0, 3), (9, 12)),)]
