"""What replays make is what is stored: a change of any number is named by file, row and column."""

import pytest

from tests.golden import compare
from tests.golden.replay import LISTED, OVERLAYS, UPSTREAM, replay

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The copy of the repository in which all parts are made."""
    return tmp_path_factory.mktemp("golden")


@pytest.mark.parametrize("part", OVERLAYS)
def test_nothing_has_changed(part, folder, request):
    if part in UPSTREAM:
        request.getfixturevalue("mirror")
    run = replay(folder, part)
    made = compare.snapshot(run, (run / LISTED).read_text(encoding="utf-8").split(), part in UPSTREAM)
    lines = compare.differences(compare.load(part), made, compare.Renamed.read())
    assert not lines, "\n".join([f"{part}: {len(lines)} differences (CONTRIBUTING.md, Golden files)", *lines])
