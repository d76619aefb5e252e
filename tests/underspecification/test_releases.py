"""The authors' released files, in archives as they give them."""

import io
import tarfile

import pytest

from scripts.underspecification import probabilities, releases
from tests.refusals import refused

NAME = "{}p_wikibio_bert-base-uncased_date_clerk_man_0_testFalse.csv"
PROMPTED = "{}p_wikibio_text-davinci-002_date_clerk_woman_1_testFalse_P3.csv"
TEXT = ",date,In 2016: The clerk told the man that [MASK] left.\n0,1901,25.0\n1,2016,40.0\n"
FEMALE = NAME.format("f")


def archive(path, files):
    with tarfile.open(path, "w:xz") as made:
        for name, text in files.items():
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = len(text.encode())
            made.addfile(info, io.BytesIO(text.encode()))
    return path


def test_raw_files_become_tidy(tmp_path):
    files = {name.format(letter): TEXT for name in (NAME, PROMPTED) for letter in "fmn"}
    trial = {FEMALE.replace("testFalse", "testTrue"): TEXT}
    tidy = releases.read_archive(archive(tmp_path / "raw.tar.xz", files | trial), "preprint", "winogender")
    assert list(tidy.columns) == [*probabilities.COLUMNS, "text_id", "row"] and len(tidy) == 12
    assert set(tidy.text_id) == {f"raw.tar.xz:{name}" for name in files}
    row = tidy[(tidy.model == "BERT-base") & (tidy.gender == "neutral") & (tidy.position == 1)].iloc[0]
    assert row[["prompt", "item", "value", "probability", "row"]].tolist() == ["mask", "clerk_man_0", "2016", 0.4, 3]
    assert set(tidy[tidy.model == "GPT-3.5 SFT"].prompt) == {"A"}


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("notes.csv", TEXT, "notes.csv: the name is not that of a raw file"),
        (FEMALE.replace("bert-base-uncased", "bert-huge"), TEXT, "the model 'bert-huge' with prompt mask"),
        (FEMALE, TEXT.replace("25.0", "nan"), "row 2: 'nan' is not"),
        (FEMALE, TEXT.replace("40.0", "140.0"), "row 3: '140.0' is not"),
        (FEMALE, TEXT.replace("1901", "early"), "row 2: 'early' is not"),
        (FEMALE, TEXT.replace("0,1901", "1901"), "row 2: 2 cells"),
        (FEMALE, ",place,x\n", "row 1: the header must be an index, 'date'"),
        (FEMALE.replace("_0_", "_7_"), TEXT, "'clerk_man_7' is not"),
        (FEMALE, TEXT, "BERT-base, mask, clerk_man_0, date, 1901: has no probability for male"),
    ],
)
def test_bad_raw_files_are_named(tmp_path, name, text, named):
    with refused(tmp_path / "raw.tar.xz", named, "fetch it again"):
        releases.read_archive(archive(tmp_path / "raw.tar.xz", {name: text}), "preprint", "winogender")


def test_genders_of_different_dates_are_named(tmp_path):
    raw = {NAME.format(letter): TEXT.replace("1901", "1902") if letter == "n" else TEXT for letter in "fmn"}
    with refused("BERT-base, mask, clerk_man_0, date, 1901", "neutral"):
        releases.read_archive(archive(tmp_path / "raw.tar.xz", raw), "preprint", "winogender")
