"""The paper of a finished run: how long it is, what sticks out, what opens it, and the summary behind its overview."""

import json
import re
import shutil

import pytest

from scripts.core.data import estimate_rows
from tests import printed
from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

MOST_PAGES = 14
"""Five studies on one template set each, as by default, have at most as many: half of them before the appendix."""
FURTHER_PAGES = 6
"""For what the tests run besides: RUFF's authors' templates, more models, chains of thought, systems of WinoPron."""


@pytest.fixture(scope="module")
def log(finished):
    if shutil.which("latexmk") is None:
        pytest.skip("latexmk is not installed: nothing is typeset")
    return (finished.folder / "results/logs/paper_pdf/paper.log").read_text()


def test_it_is_as_long_as_a_paper(log):
    assert 10 < int(re.findall(r"results/paper/main\.pdf: (\d+) pages", log)[-1]) <= MOST_PAGES + FURTHER_PAGES


def test_nothing_sticks_out_far(log):
    # Boxes of models and files with long names may, by less than a letter.
    out = [float(box) for box in re.findall(r"sticks out: .*overfull .box, ([\d.]+) pt", log.rpartition("latexmk")[2])]
    assert max(out, default=0) < 6, out


def test_its_text_keeps_the_rules(finished, log):
    """No missing values, identifiers, wrong plurals, words to avoid or small type; captions say what they rest on."""
    pdf = finished.folder / "results/paper/main.pdf"
    assert printed.problems(pdf, sources="Where every result comes from") == []
    captions = printed.captions(pdf, "Where every result comes from")
    counted = [caption for caption in captions if re.search(r"\bn = |different n\b", caption)]
    assert captions and counted == captions, set(captions) - set(counted)


def test_every_float_has_its_caption_below_and_is_placed_by_latex(finished):
    folder = finished.folder / "results/paper"
    text = "".join(path.read_text() for path in [folder / "main.tex", *sorted((folder / "sections").glob("*.tex"))])
    floats = re.findall(r"\\begin\{((?:figure|table)\*?)\}(\[\w+\])?(.*?)\\end\{\1\}", text, flags=re.DOTALL)
    assert len(floats) > 10
    for _, place, body in floats:
        content = max(body.rfind(r"\includegraphics"), body.rfind(r"\end{tabular"))
        assert content < body.index(r"\caption{"), body[-400:]
        assert "h" not in place
    assert not re.search(r"captionof|\\FloatBarrier|\\clearpage", text)


def test_the_summary_has_all_studies_in_one_form(finished):
    folder = finished.folder / "results/paper"
    rows = estimate_rows.read_estimates([folder / "summary.csv"])
    studies = ["ruff", "counter_gap", "misgendered", "underspecification", "winopron"]
    assert rows.study.drop_duplicates().tolist() == studies
    assert rows.n.gt(0).all() and rows.groupby("study").headline.any().all()
    inside = rows.dropna(subset=["value", "low"])
    # A percentile interval of few draws may end just short of its value, never far from it.
    assert len(inside) and (inside.low <= inside.high).all()
    # Every column has its line in the documentation.
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert [name for name in rows if f"`{name}`" not in page] == []
    assert len(json.loads((folder / "summary.json").read_text())) == len(rows)


def test_the_overview_is_what_the_summary_says(finished):
    folder = finished.folder / "results/paper"
    rows = estimate_rows.read_estimates([folder / "summary.csv"])
    shown = rows[rows.headline]
    listed = estimate_rows.read_estimates([folder / "tables/overview.csv"])
    assert listed.study.drop_duplicates().tolist() == shown.study.drop_duplicates().tolist()
    # Headlines, and the accuracies by several scores that the text states.
    assert listed.merge(rows).shape == listed.shape
    numbers = json.loads((folder / "tables/overview.json").read_text())
    assert all(
        name.endswith(".half-width") or re.search(r"\(.* to |no interval", entry["text"])
        for name, entry in numbers.items()
    )
    main = (folder / "main.tex").read_text()
    order = (r"\input{sections/overview}", r"\section{Related work}", r"\input{sections/protocols}",
             r"\input{sections/scores}", r"\input{sections/headlines}", r"\input{sections/ruff}",
             r"\input{sections/evidence}", r"\subsection*{Limitations}", r"\subsection*{Ethical", r"\label{sec:audit}",
             r"\bibliography{", r"\appendix", r"\label{sec:models}", r"\input{sections/ruff_appendix}")  # fmt: skip
    places = [main.index(word) for word in order]
    assert places == sorted(places)
