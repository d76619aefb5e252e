"""The evaluation sets: of this project's files, against what the paper says and what the authors released."""

import re

import pytest

from scripts.core import files
from scripts.core.data.options import SLOT
from scripts.core.data.templates import line_numbers
from scripts.underspecification import instances, templates, texts
from tests.refusals import refused
from tests.underspecification.synthetic import FOLDER, own_mgc, own_pairs

OFFICIAL = "underspecification/winogender_schema_evaluation_set"


@pytest.fixture(scope="module")
def mgc():
    return own_mgc()


@pytest.fixture(scope="module")
def replica():
    return own_pairs([1901, 2016])


def test_mgc_is_sixty_sentences_on_both_grids(mgc, root):
    assert len(mgc) == 60 * (30 + 20) and mgc["item"].nunique() == 60 and mgc.instance_id.is_unique
    assert {"In 1801, ___ was a kid.", "In Mali, ___ will be an adult."} <= set(mgc.text)
    assert not mgc.well_specified.any()
    grids = mgc.sort_values("position", kind="stable").groupby("variable").value.unique()
    published = (root / "paper/published/underspecification_places.csv").read_text().splitlines()[1:]
    assert list(grids["place"]) == [line.split(",")[2] for line in published]
    assert len(grids["date"]) == 30 and [*grids["date"][:2], grids["date"][-1]] == ["1801", "1808", "2016"]


def test_date_ranges_are_those_of_paper_and_code():
    dates = templates.read_dates(FOLDER / "dates.tsv")
    assert dates["paper"][-1] == 2001 and dates["winogender"][:3] == [1901, 1904, 1908]
    assert instances.outermost_dates(dates["winogender"], 3) == [1901, 1904, 1908, 2008, 2012, 2016]
    assert instances.outermost_dates([1901, 2016], 1) == instances.outermost_dates([1901, 2016], 5) == [1901, 2016]


def test_the_replica_has_the_sizes_of_the_study(replica):
    for name, sentences, occupations, specified in (("winogender", 480, 60, 120), ("simplified", 144, 48, 96)):
        frame = replica[name]
        assert (frame["item"].nunique(), frame.occupation.nunique()) == (sentences, occupations)
        assert frame.drop_duplicates("item").well_specified.sum() == specified
        assert frame.instance_id.is_unique and (frame.text.str.count(SLOT) == 1).all()
        assert not frame.text.str.contains(r"[{}]").any()
    # The two sentences of a pair begin alike; what differs is behind the pronoun or just before it.
    extended = replica["winogender"]
    for _, pair in extended[extended.position == 0].groupby(["occupation", "participant"]):
        first, second = pair.text
        assert first != second and first[:30] == second[:30]


def test_the_replica_is_not_the_authors(replica, mirror):
    for name, file in (("winogender", "all_sentences.tsv"), ("simplified", "all_sentences_g_id.tsv")):
        theirs = instances.read_official(mirror / OFFICIAL / file, name, [1901, 2016])
        sentences = [frame.drop_duplicates("item") for frame in (replica[name], theirs)]
        assert len({(len(frame), frame.well_specified.sum()) for frame in sentences}) == 1
        assert name == "simplified" or set(theirs["item"]) >= set(replica[name]["item"])
        words = [{re.sub(r"\W+", " ", t.lower()) for t in frame.text} for frame in (replica[name], theirs)]
        assert not words[0] & words[1]


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (["clerk_man\tThe clerk said MASK left."], "row 2: 'clerk_man' is not occupation_participant_0 or _1"),
        (["clerk_man_0\tThe clerk left."], "row 2: the sentence must hold MASK exactly once"),
        (["clerk_man_0\tA MASK b.", "clerk_man_0\tA MASK c."], "row 3: 'clerk_man_0' is already in row 2"),
        (["clerk_man_0\tA MASK b."], "no row for 'clerk_man_1'"),
    ],
)
def test_bad_official_rows_are_named(tmp_path, rows, named):
    path = tmp_path / "all_sentences.tsv"
    path.write_text("\n".join(["sentid\tsentence", *rows]) + "\n", encoding="utf-8")
    with refused(path, named, "fetch"):
        instances.read_official(path, "winogender", [1901, 2016])


def test_samples_keep_both_ends(mgc, replica):
    small = instances.sample_instances(mgc, 4, 3, 5)
    assert sorted(small[small.variable == "date"].position.unique()) == [0, 10, 19, 29]
    assert sorted(small[small.variable == "place"].value.unique()) == ["Afghanistan", "Iceland", "Switzerland"]
    assert len(small) == 60 * 7 and len(instances.sample_instances(mgc, 99, 99, 5)) == len(mgc)
    few = instances.sample_instances(replica["winogender"], 4, 3, 5)
    assert few.occupation.min() == "accountant" and few.occupation.nunique() == 5 and len(few) == 5 * 8 * 2


MADE_FROM = {
    "mgc": ("code", "verbs", "life_stages", "places"),
    "winogender": ("winogender", "schemas", "occupations"),
}
"""Sets to the range of their dates and the files that they are made from."""
FILES = {"schemas": "winogender.tsv", "occupations": "../occupations.tsv"}
WORDS = {
    "verb_row": "form", "life_stage_row": "life_stage", "place_row": "value", "sentence_row": "occupation",
    "occupation_row": "occupation", "prompt_row": "prompt",
}  # fmt: skip
"""Columns with lines to columns whose words stand there."""


@pytest.mark.parametrize("evaluation_set", MADE_FROM)
def test_instances_and_texts_name_the_lines_they_were_made_from(tmp_path, evaluation_set):
    dates, *sources = MADE_FROM[evaluation_set]
    paths = {name: str(FOLDER / FILES.get(name, f"{name}.tsv")) for name in (*sources, "dates")}
    made, read = str(tmp_path / "instances.parquet"), str(tmp_path / "texts.parquet")
    instances.instances(instances=made, evaluation_set=evaluation_set, date_range=dates, outer_dates=1, **paths)
    prompts, sample = str(FOLDER / "prompts.tsv"), {"dates": 3, "places": 3, "occupations": 2}
    texts.texts(instances=made, prompts=prompts, texts=read, use=["A", "C"], **sample)
    of_instances = files.read_parquet(made).drop(columns=["text", *instances.ROWS])
    rows = files.read_parquet(read).merge(of_instances, on="instance_id")
    origins = files.parquet_metadata(read)["origins"]
    assert files.parquet_metadata(made)["origins"] == {k: v for k, v in origins.items() if k != "prompt_row"}
    for column in origins.keys() - {"date_row"}:
        lines = (FOLDER / FILES.get("occupations" if column == "occupation_row" else "", origins[column])).read_text()
        known = rows[rows[column].notna()]
        assert len(known)
        for number, word in zip(known[column], known[WORDS[column]], strict=True):
            assert word in lines.split("\n")[number - 1].split("\t")
    assert set(rows.date_row.dropna()) == {line_numbers(paths["dates"], templates.DATE_COLUMNS)[dates]}
    assert (rows.date_row.notna() == (rows.variable == "date")).all()
    assert (rows.prompt_row.isna() == (rows.method == "mask")).all()
    assert (rows.occupation_row.notna() == (rows.participant == "other")).all()
