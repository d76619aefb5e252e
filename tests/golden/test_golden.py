"""What replays make is what is stored: a change of any number is named by file, row and column."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from matplotlib.image import imread

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.explorer import page_data
from tests.golden import compare, marks
from tests.golden.replay import LISTED, OVERLAYS, UPSTREAM, pictures, replay

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.workflow, pytest.mark.golden]
PARTS = [pytest.param(part, marks=[pytest.mark.upstream] if part in UPSTREAM else []) for part in OVERLAYS]
SETS = {
    "entities": {"double": "two people", "single": "one person"},
    "shots": {"0": "no examples", "2": "2 examples"},
}
"""Factors of estimates that tell the explorer's sets apart, to what their labels say."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The copy of the repository in which all parts are made."""
    return tmp_path_factory.mktemp("golden")


@pytest.mark.parametrize("part", PARTS)
def test_nothing_has_changed(part, folder, request):
    if part in UPSTREAM:
        request.getfixturevalue("mirror")
    run = replay(folder, part)
    made = compare.snapshot(run, (run / LISTED).read_text(encoding="utf-8").split(), part in UPSTREAM)
    lines = compare.differences(compare.load(part), made, compare.Renamed.read())
    assert not lines, "\n".join([f"{part}: {len(lines)} differences (CONTRIBUTING.md, Golden files)", *lines])


@pytest.mark.parametrize("part", PARTS)
def test_figures_show_what_their_tables_say(part, folder, request):
    if part in UPSTREAM:
        request.getfixturevalue("mirror")
    run = replay(folder, part)
    checked, wrong = set(), []
    for path in sorted(run.glob("results/**/figures/**/*.csv")):
        drawn = json.loads(path.with_suffix(".png").read_text(encoding="utf-8"))
        if drawn and path.stem not in marks.OTHERS:
            checked.add(path.stem)
            wrong += [
                f"{path.relative_to(run)}: {row}" for row in marks.undrawn(path.stem, files.read_csv(path), drawn)
            ]
    assert not wrong, "\n".join(wrong)
    assert len(checked) >= 5, checked


def test_pictures_of_the_documentation_are_those_of_the_default_run(folder):
    """README and gallery show what the code draws today; else: make docs."""
    run = replay(folder, "default")
    for path in map(Path, pictures()):
        shown, drawn = (imread(place / path.name) for place in (ROOT / "docs", run / "pictures"))
        assert shown.shape == drawn.shape, path
        assert (abs(shown - drawn).max(axis=-1) > 0.1).mean() < 0.001, path


def test_the_explorer_has_the_accuracies_of_the_summary(folder):
    """Every accuracy of the summary about sentences that the page can filter comes again from what the page holds."""
    run = replay(folder, "default")
    page = run / "results/explorer.html"
    studies = {study["name"]: study for study in page_data.read_page_data(page.read_text(encoding="utf-8"))["studies"]}
    assert set(studies) == set(OVERLAYS["default"].get("studies", studies)) and page.stat().st_size < 1_500_000
    rows = estimate_rows.read_estimates([run / "results/paper/summary.csv"])
    counts = dict.fromkeys(studies, 0)
    for row in rows[rows.metric == "accuracy"].to_dict("records"):
        likelihood = row["scoring"] if row["scoring"] in (estimate_rows.FULL, estimate_rows.PARTIAL) else ""
        name = ", ".join(filter(None, [row["label"], row["debiasing"], likelihood]))
        factors = {key: row[key] for key in estimate_rows.factor_columns(rows) if row[key] and key != "wording"}
        told = [SETS[key].get(factors.pop(key), "?") for key in SETS if key in factors]
        for one in studies[row["study"]]["sets"]:
            known = {factor["name"]: factor for factor in one["factors"]} | {"pronoun": one["gold"]}
            readers = [reader for reader in one["readers"] if reader["name"] == name]
            if not readers or not one["label"].startswith(row["part"]) or not factors.keys() <= known.keys():
                continue
            if all(words in one["label"] for words in told):
                kept = [
                    code % 2 for place, code in enumerate(readers[0]["decided"])
                    if code >= 0 and all(
                        known[key]["values"][known[key]["codes"][place]] in value.split("|")
                        for key, value in factors.items()
                    )
                ]  # fmt: skip
                assert sum(kept) / len(kept) == pytest.approx(row["value"]), row
                counts[row["study"]] += 1
    assert min(counts[name] for name in ("ruff", "counter_gap", "misgendered", "winopron")) >= 6, counts


@pytest.mark.upstream
@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("part", UPSTREAM)
def test_no_text_of_somebody_else_is_in_the_explorer(part, folder):
    run = replay(folder, part)
    data = page_data.read_page_data((run / "results/explorer.html").read_text(encoding="utf-8"))
    page = json.dumps(data, ensure_ascii=False)
    for path in run.glob("results/*/instances/**/*.parquet"):
        own = "replica" in path.as_posix() or path.name == "mgc.parquet"
        if not own and "text" in pq.read_schema(path).names:
            table = pq.read_table(path, columns=["text"])[:2000]
            found = sum(json.dumps(text, ensure_ascii=False)[1:-1] in page for text in table.column("text").to_pylist())
            # No message shows a text.
            assert found == 0, path
