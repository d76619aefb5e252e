"""The shipped flags: the originals without their texts, with the same results to the last digit."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import upstream
from scripts.counter_gap import passages, released_flags, study
from tests.refusals import refused

SHIPPED = "templates/counter_gap/released_flags.tsv"
SYSTEMS = [
    {"model": label, "debiasing": debiasing, "path": path.format(name=name)}
    for debiasing, path in study.RELEASED.items()
    for name, label in study.SYSTEMS.items()
]


@pytest.fixture
def written(frame, tmp_path):
    """The eight instances of the tests, flags of every system, and the file that is made of them."""
    frame["book"] = ["12.txt"] * 4 + ["tale.epub"] * 4
    generator = np.random.default_rng(3)
    flags = {
        (facts["model"], facts["debiasing"]): pd.DataFrame(
            {"id": frame.id, "a_pred": generator.random(8) < 0.5, "b_pred": generator.random(8) < 0.5}
        )
        for facts in SYSTEMS
    }
    path = tmp_path / "flags.tsv"
    released_flags.write_flags(path, frame, flags)
    return frame, flags, path


def assert_same(path, frame, flags):
    """Everything that the analysis reads of instances and flags is in the file."""
    read = released_flags.read_instances(path)
    columns = ["id", "quadruple", "role", "gender", "case", "a_coref", "b_coref"]
    pd.testing.assert_frame_equal(read[columns], frame[columns])
    facts = read[["source", "mark", "words"]].iloc[::4].reset_index(drop=True)
    pd.testing.assert_frame_equal(facts, released_flags.facts_of_texts(frame))
    again = released_flags.read_flags(path)
    assert list(again) == list(flags)
    for key, predicted in flags.items():
        pd.testing.assert_frame_equal(again[key], predicted[["id", "a_pred", "b_pred"]])


def test_what_is_written_is_read(written):
    frame, flags, path = written
    assert_same(path, frame, flags)
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = released_flags.read_instances(path).row
    assert [lines[row - 1].partition("\t")[0] for row in rows] == ["rain"] * 4 + ["road"] * 4
    facts = released_flags.facts_of_texts(frame)
    assert facts.mark.tolist() == ["none", "splitting"]
    # Between Judit and she: a, coat, a comma, as. Between Paul and him: seven words and a comma.
    assert facts.words.tolist() == [4, 8]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("\tF\tnominative", "\tX\tnominative", "row 4: unknown gender 'X'"),
        ("road\t", "rain\t", "row 5: 'rain' is already in row 4"),
        # The last cell, which would shift what follows by an instance.
        ("\n$", "a\n", "of SpanBERT-large, n-CDA is not four of a, b, x and -; restore the file"),
    ],
)
def test_bad_rows_are_named(written, old, new, named):
    path = written[2]
    text = f"{path.read_text(encoding='utf-8')}$"
    path.write_text(text.replace(old, new, 1).removesuffix("$"), encoding="utf-8")
    for read in (released_flags.read_instances, released_flags.read_flags):
        with refused(path, named):
            read(path)


@pytest.mark.parametrize(
    ("row", "text", "named"),
    [
        pytest.param(3, ["rain-swap-9\tTRUE\tFALSE"], "its IDs are not those of the instances; fetch", id="another ID"),
        pytest.param(8, [], "its IDs are not", id="one less"),
        pytest.param(2, ["rain-control\tTRUE\tno"], "row 3: unknown B-coref 'no'", id="label"),
    ],
)
def test_bad_flags_are_named(tmp_path, frame, row, text, named):
    lines, path = ["ID\tA-coref\tB-coref", *(f"{i}\tTRUE\tFALSE" for i in frame.id)], tmp_path / "out.tsv"
    lines[row : row + 1] = text
    path.write_text("\n".join(lines), encoding="utf-8")
    with refused(path, named):
        released_flags.read_output(path, frame)


def test_the_shipped_file_is_small_and_has_no_text(root):
    path = root / SHIPPED
    assert path.stat().st_size < 100_000
    frame = released_flags.read_instances(path)
    assert len(frame) == 4008 and frame.id.is_unique and set(frame.groupby("quadruple").size()) == {4}
    flags = released_flags.read_flags(path)
    assert len(flags) == 8 and all(len(predicted) == 4008 for predicted in flags.values())
    # The only longer words are the labels of the facts.
    labels = {label for levels in released_flags.LEVELS.values() for label in levels}
    cells = {cell for line in path.read_text(encoding="utf-8").split("\n")[3:] for cell in line.split("\t")}
    assert {cell for cell in cells if len(cell) > 6} <= labels | {cell for cell in cells if cell.isdecimal()}


def test_spoilt_quadruples_are_false_for_all_released_systems(official):
    frame, flags = official
    spoilt = frame.id[frame["mark"] == "splitting"]
    found = flags[flags.debiasing == "none"].assign(any=lambda t: t.a_pred | t.b_pred)
    assert len(spoilt) == 400 and not found["any"][found.id.isin(spoilt)].any()
    assert found["any"][~found.id.isin(spoilt)].mean() > 0.8


@pytest.mark.upstream
def test_the_shipped_file_is_made_of_the_originals(root, mirror, tmp_path):
    """And says the same of them; estimates need no more (test_published.py)."""
    paths = ["counter_gap/data/C-GAP.tsv", *(facts["path"] for facts in SYSTEMS)]
    pinned = upstream.read_manifest(root / "config/upstream.tsv")
    assert {path: files.sha256(mirror / path) for path in paths} == {path: pinned[path].sha256 for path in paths}
    made = tmp_path / "made.tsv"
    released_flags.released_flags(
        c_gap=str(mirror / paths[0]), released=[str(mirror / path) for path in paths[1:]], compact=str(made),
        systems=SYSTEMS,
    )  # fmt: skip
    assert made.read_bytes() == (root / SHIPPED).read_bytes()
    frame = passages.read_c_gap(mirror / paths[0])
    flags = {
        (facts["model"], facts["debiasing"]): released_flags.read_output(mirror / facts["path"], frame)
        for facts in SYSTEMS
    }
    assert_same(made, frame, flags)
