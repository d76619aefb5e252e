"""Data files, evaluation sets and texts."""

import re

import pytest

from scripts.core import files
from scripts.core.data.options import SLOT
from scripts.core.data.templates import read_occupations
from scripts.core.errors import UserError
from scripts.underspecification import instances, templates, texts

FOLDER = "templates/underspecification"
OFFICIAL = "underspecification/winogender_schema_evaluation_set"


@pytest.fixture(scope="module")
def dates(root):
    return templates.read_dates(root / FOLDER / "dates.tsv")


@pytest.fixture(scope="module")
def mgc(root, dates):
    folder = root / FOLDER
    return instances.mgc(
        templates.read_verbs(folder / "verbs.tsv"),
        templates.read_life_stages(folder / "life_stages.tsv"),
        dates["code"],
        templates.read_places(folder / "places.tsv"),
    )


@pytest.fixture(scope="module")
def others(root):
    return read_occupations(root / "templates/occupations.tsv")


@pytest.fixture(scope="module")
def replica(root, dates, others):
    schemas = templates.read_schemas(root / FOLDER / "winogender.tsv", others)
    return instances.replica(schemas, instances.outermost_dates(dates["winogender"], 1))


def test_mgc_is_sixty_sentences_on_both_grids(mgc, root):
    assert len(mgc) == 60 * (30 + 20) and mgc["item"].nunique() == 60 and mgc.instance_id.is_unique
    assert "In 1801, ___ was a kid." in set(mgc.text) and "In Mali, ___ will be an adult." in set(mgc.text)
    published = (root / "paper/published/underspecification_places.csv").read_text().splitlines()[1:]
    places = mgc[mgc.variable == "place"].sort_values("position", kind="stable").value.unique()
    assert list(places) == [line.split(",")[2] for line in published]
    years = mgc[mgc.variable == "date"].sort_values("position", kind="stable").value.unique()
    assert (years[0], years[1], years[-1], len(years)) == ("1801", "1808", "2016", 30)
    assert not mgc.well_specified.any()


def test_date_ranges_are_those_of_paper_and_code(dates):
    assert dates["paper"][-1] == 2001 and dates["winogender"][:3] == [1901, 1904, 1908]
    assert dates["winogender"][-3:] == [2008, 2012, 2016]


def test_the_replica_has_the_sizes_of_the_study(replica):
    extended, simplified = replica["winogender"], replica["simplified"]
    assert extended["item"].nunique() == 480 and extended.occupation.nunique() == 60
    assert simplified["item"].nunique() == 144
    for frame, negatives in ((extended, 120), (simplified, 96)):
        assert frame.drop_duplicates("item").well_specified.sum() == negatives
        assert frame.instance_id.is_unique and (frame.text.str.count(SLOT) == 1).all()
        assert not frame.text.str.contains(r"[{}]").any()
    # The two sentences of a pair begin alike; what differs is behind the pronoun or just before it.
    for _, pair in extended[extended.position == 0].groupby(["occupation", "participant"]):
        first, second = pair.text
        assert first != second and first[:30] == second[:30]


def test_the_replica_is_not_the_authors(replica, mirror, dates):
    for name, file in (("winogender", "all_sentences.tsv"), ("simplified", "all_sentences_g_id.tsv")):
        ours = set(replica[name]["item"])
        theirs = instances.official(mirror / OFFICIAL / file, name, [1901, 2016])
        assert set(theirs["item"]) >= {item for item in ours if name == "winogender"}
        words = {re.sub(r"\W+", " ", t.lower()) for t in theirs.text}
        assert not words & {re.sub(r"\W+", " ", t.lower()) for t in replica[name].text}
        assert theirs["item"].nunique() == {"winogender": 480, "simplified": 144}[name]
        assert theirs.drop_duplicates("item").well_specified.sum() == {"winogender": 120, "simplified": 96}[name]


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("stem", "A {occupation} met {participant} when", "row 2: the stem must begin with 'The {occupation}'"),
        ("stem", "The {occupation} met a friend when", "must hold {occupation} and {participant} once each"),
        ("professional", "the bus came.", "'professional' must hold one of"),
        ("participant", "{possessive} bus came.", "differ in case"),
        ("participant", "{nominative} left.", "the two ends are the same"),
        ("professional", "{nominative} saw her bus.", "'her' in 'professional' is a pronoun"),
        ("simplified", "{nominative} left.", "simplified sentence must hold {occupation} and then one pronoun"),
        ("occupation", "pilot", "the occupation 'pilot' is not in occupations.tsv; no row for the occupation 'clerk'"),
    ],
)
def test_bad_schemas_are_named(tmp_path, column, cell, message):
    row = {
        "occupation": "clerk", "stem": "The {occupation} met {participant} when", "professional": "{nominative} left.",
        "participant": "{nominative} came.", "simplified": "The {occupation} said that {nominative} left.",
    }  # fmt: skip
    path = tmp_path / "winogender.tsv"

    def write(cells):
        path.write_text(
            "\t".join(templates.WINOGENDER_COLUMNS) + "\n" + "\t".join(cells.values()) + "\n", encoding="utf-8"
        )

    write(row)
    assert templates.read_schemas(path, {"clerk": "customer"})[0]["other"] == "customer"
    write({**row, column: cell})
    with pytest.raises(UserError, match=re.escape(message)):
        templates.read_schemas(path, {"clerk": "customer"})


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (templates.read_words, "group\tword\nfemale\tShe\n", "row 2: 'She' must be one lower-case word"),
        (templates.read_words, "group\tword\nfemale\tshe\nmale\tshe\n", "row 3: 'she' is already in row 2"),
        (templates.read_words, "group\tword\nfemlae\tshe\n", "row 2: 'femlae' is no group; did you mean 'female'?"),
        (templates.read_words, "group\tword\nfemale\tshe\nmale\the\n", "the group 'neutral' has no word"),
        (templates.read_places, "position\tplace\tend\n2\tMali\tbottom\n", "row 2: position '2' should be 1"),
        (templates.read_places, "position\tplace\tend\n1\tMali\tmiddle\n", "neither bottom nor top"),
        (templates.read_dates, "range\tfirst\tlast\tdates\ncode\t1801\t1800\t3\n", "3 dates from 1801 to 1800"),
        (templates.read_dates, "range\tfirst\tlast\tdates\ncode\tx\t1800\t3\n", "first 'x' is not a whole number"),
        (templates.read_prompts, "prompt\tblank\ttext\nA\t_\tFill in.\n", "must hold {sentence} exactly once"),
        (templates.read_life_stages, "life_stage\na kid\na kid\n", "row 3: 'a kid' is already in row 2"),
        (templates.read_verbs, "verb\tform\tphrase\nbe\tpast\t \n", "the cell 'phrase' is empty"),
    ],
)  # fmt: skip
def test_bad_rows_are_named(tmp_path, read, text, message):
    path = tmp_path / "file.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["clerk_man\tThe clerk said MASK left."], "row 2: 'clerk_man' is not occupation_participant_0 or _1"),
        (["clerk_man_0\tThe clerk left."], "row 2: the sentence must hold MASK exactly once"),
        (["clerk_man_0\tA MASK b.", "clerk_man_0\tA MASK c."], "row 3: 'clerk_man_0' is already in row 2"),
        (["clerk_man_0\tA MASK b."], "no row for 'clerk_man_1'"),
    ],
)
def test_bad_official_rows_are_named(tmp_path, rows, message):
    path = tmp_path / "all_sentences.tsv"
    path.write_text("\n".join(["sentid\tsentence", *rows]) + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(message)):
        instances.official(path, "winogender", [1901, 2016])


def test_texts_have_masks_and_prompts(mgc, root):
    prompts = templates.read_prompts(root / FOLDER / "prompts.tsv")
    frame = texts.make_texts(mgc.head(2), prompts)
    assert list(frame.prompt) == ["mask", "A", "B", "C"] * 2 and frame.text_id.is_unique
    assert list(frame.columns) == ["text_id", "instance_id", "prompt", "text", "method", *instances.ROWS]
    by = frame.head(4).set_index("prompt").text
    assert by["mask"] == "In 1801, [MASK] was a kid."
    assert by["A"].endswith("Passage: In 1801, <mask> was a kid.\nAnswer:") and by["A"].count("<mask>") == 2
    assert by["B"] == "The gendered pronoun missing in this sentence: 'In 1801, _ was a kid.', is"
    assert set(frame[frame.prompt == "mask"].method) == {"mask"}
    assert set(frame[frame.prompt != "mask"].method) == {"generate"}


def test_samples_keep_both_ends(mgc, replica):
    small = instances.sample(mgc, 4, 3, 5)
    assert sorted(small[small.variable == "date"].position.unique()) == [0, 10, 19, 29]
    assert sorted(small[small.variable == "place"].value.unique()) == ["Afghanistan", "Iceland", "Switzerland"]
    assert len(small) == 60 * 7
    few = instances.sample(replica["winogender"], 4, 3, 5)
    assert sorted(few.occupation.unique())[0] == "accountant" and few.occupation.nunique() == 5
    assert len(few) == 5 * 8 * 2
    assert len(instances.sample(mgc, 99, 99, 5)) == len(mgc)


@pytest.mark.parametrize(
    ("evaluation_set", "inputs", "words"),
    [
        (
            "mgc",
            {"verbs": "verbs", "life_stages": "life_stages", "places": "places"},
            {"verb_row": "form", "life_stage_row": "life_stage", "place_row": "value", "prompt_row": "prompt"},
        ),
        (
            "winogender",
            {"schemas": "winogender", "occupations": "../occupations"},
            {"sentence_row": "occupation", "occupation_row": "occupation", "prompt_row": "prompt"},
        ),
    ],
)
def test_instances_and_texts_name_the_lines_they_were_made_from(root, tmp_path, evaluation_set, inputs, words):
    folder = root / FOLDER
    paths = {name: str(folder / f"{file}.tsv") for name, file in inputs.items()} | {"dates": str(folder / "dates.tsv")}
    made, read = str(tmp_path / "instances.parquet"), str(tmp_path / "texts.parquet")
    wanted = "code" if evaluation_set == "mgc" else "winogender"
    instances.instances(instances=made, evaluation_set=evaluation_set, date_range=wanted, outer_dates=1, **paths)
    prompts = str(folder / "prompts.tsv")
    texts.texts(instances=made, prompts=prompts, texts=read, use=["A", "C"], dates=3, places=3, occupations=2)
    of_instances, of_texts = files.read_parquet(made), files.read_parquet(read)
    joined = of_texts.merge(of_instances.drop(columns=["text", *instances.ROWS]), on="instance_id")
    origins = files.parquet_metadata(read)["origins"]
    assert files.parquet_metadata(made)["origins"] == {k: v for k, v in origins.items() if k != "prompt_row"}
    for column, word in words.items():
        lines = (folder / ("../occupations.tsv" if column == "occupation_row" else origins[column])).resolve()
        lines = lines.read_text(encoding="utf-8").split("\n")
        rows = joined[joined[column].notna()]
        assert len(rows) and all(w in lines[n - 1].split("\t") for n, w in zip(rows[column], rows[word], strict=True))
    assert set(joined.date_row.dropna()) == {templates.row_numbers(paths["dates"], templates.DATE_COLUMNS)[wanted]}
    assert not joined[joined.variable == "place"].date_row.notna().any()
    assert (joined.prompt_row.isna() == (joined.method == "mask")).all()
    if evaluation_set == "winogender":
        assert (joined.occupation_row.notna() == (joined.participant == "other")).all()
