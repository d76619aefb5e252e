"""Snakemake's HTML report of a finished run, opened in a browser."""

import json
import re
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]

# Steps that a reader takes: open a study, look at one result, read what is said of it.
CLICKS = """
<script>setTimeout(() => {
  const study = [...document.querySelectorAll("a")].filter(a => a.textContent.trim() === "%(study)s").pop();
  study.click();
  setTimeout(() => {
    const named = text => [...document.querySelectorAll("tr")].filter(
      row => %(cells)s.every(cell => [...row.cells].some(c => c.textContent === cell)))[0];
    named().querySelector("a[iconname=eye]").click();
    setTimeout(() => named().querySelector("a[iconname=information-circle]").click(), 500);
  }, 1000);
}, 1500);</script>
"""


@pytest.fixture(scope="module")
def report(finished, tmp_path_factory):
    if shutil.which("latexmk") is None:
        pytest.skip("latexmk is not installed: the report shows the paper")
    path = tmp_path_factory.mktemp("report") / "report.html"
    done = finished.snakemake("--report", str(path), "--", "paper", "figures", "tables")
    assert done.returncode == 0, done.stdout[-3000:]
    return path.read_text(encoding="utf-8")


def opened(report, folder, study, *cells):
    """Return the page as a browser shows it after the clicks, without scripts; leaves a picture beside it."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed: bash envs/chromium.sh")
    page = folder / "page.html"
    clicks = CLICKS % {"study": study, "cells": json.dumps(cells)}
    # Scripts of the page name the end of a body too; the last one is the page's own.
    page.write_text(f"{clicks}</body>".join(report.rsplit("</body>", 1)), encoding="utf-8")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900", "--virtual-time-budget=9000",
    ]  # fmt: skip
    picture = folder / "page.png"
    for option in (f"--screenshot={picture}", "--dump-dom"):
        done = subprocess.run(
            [*command, option, page.as_uri()], capture_output=True, text=True, check=True, timeout=120
        )
    assert picture.stat().st_size > 20_000
    return re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("study", "cells", "caption"),
    [
        ("2. RUFF", ("figure", "Accuracy by distractors", "replica"), "ruff-replica-accuracy_by_distractors"),
        ("3. Counter-GAP", ("table", "bias"), "counter-gap-bias"),
    ],
)
def test_a_result_has_its_study_and_the_papers_caption(report, finished, tmp_path, study, cells, caption):
    page = opened(report, tmp_path, study, *cells)
    source = "".join(p.read_text() for p in (finished.folder / "results/paper/sections").glob("*.tex"))
    source = re.sub(r"\\sourced\{[^}]*\}", "", source)
    label = source.index(rf"\label{{{'fig' if cells[0] == 'figure' else 'tab'}:{caption}}}")
    words = re.findall(r"[A-Za-z]{3,}", source[source.rindex(r"\caption{", 0, label) + 9 : label])[:8]
    # Files of one job show all its captions, each with the name of its file.
    named = rf"<strong>(?:Figure|Table) \d+ of the paper, {re.split('-', caption)[-1]}\.</strong>(.*?)</p>"
    shown = re.search(named, page, flags=re.DOTALL)
    assert shown, page[-3000:]
    assert re.findall(r"[A-Za-z]{3,}", shown[1])[:8] == words
