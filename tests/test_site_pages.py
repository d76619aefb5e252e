"""The documentation site: built by MkDocs in strict mode, with its hook and a search that works from a file."""

import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from tests import browser, pages

ROOT = Path(__file__).parents[1]


def build(folder):
    """Build the site where its environment exists (`make docs` makes it); return what MkDocs said."""
    python = ROOT / ".venv-docs/bin/python"
    if not python.exists():
        pytest.skip("the environment of the site is missing: make docs")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace(".site/html", str(folder / "html"))
    for old, new in {"docs_dir: docs": f"docs_dir: {ROOT}/docs", "hooks: [": f"hooks: [{ROOT}/"}.items():
        assert old in settings
        settings = settings.replace(old, new)
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    command = [python, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", folder / "mkdocs.yml"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the built site."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def cells(site, page):
    """Return the rows of a page's tables as text, with blanks between their cells."""
    text = (site / page).read_text(encoding="utf-8")
    rows = re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).replace("&gt;", ">").split()) for row in rows]


def test_every_page_is_in_the_navigation_and_loads_nothing_from_elsewhere(site):
    text = re.sub(r"!!python\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    nav = yaml.safe_load(text)["nav"]
    named = [page for section in nav for entries in section.values() for one in entries for page in one.values()]
    assert sorted(named) == sorted({f"{path.stem}.md" for path in site.glob("*.html")} - {"404.md"})
    assert len(named) > len(pages.PAGES)
    built = "".join(path.read_text(encoding="utf-8") for path in site.glob("*.html"))
    # Info strings of the repository are those of MkDocs, and files outside of docs/ have their links.
    assert "yaml file=" not in built
    assert (site / "CITATION.cff").is_file()
    assert not re.findall(r"unpkg|googleapis|src=.https?://", built)


def test_every_key_of_the_configuration_and_of_an_entry_has_a_row(site):
    rows = cells(site, "configuration.html")
    below = {row.split(" ")[0] for row in rows}
    defaults = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    named = [name for name, value in defaults.items() if not isinstance(value, dict)]
    named += [f"{name}.{key}" for name, value in defaults.items() if isinstance(value, dict) for key in value]
    assert not [name for name in named if not any(key == name or key.startswith(f"{name}.") for key in below)]
    assert any(row.startswith("scoring.engine packed , minicons packed packed: what texts share") for row in rows)
    below = {row.split(" ")[0].partition(".")[0] for row in cells(site, "registry.html")}
    schema = yaml.safe_load((ROOT / "config/schemas/models.schema.yaml").read_text(encoding="utf-8"))
    assert not {*schema["$defs"]["entry"]["properties"], *schema["$defs"]["system"]["properties"]} - below


def test_targets_and_the_dictionary_list_what_there_is(site):
    rows = cells(site, "targets.html")
    assert "ruff All figures, tables and analyses of one study." in rows
    assert any(row.startswith("paper The typeset paper") for row in rows)
    page = (site / "dictionary.html").read_text(encoding="utf-8")
    stored = pd.read_parquet(ROOT / "tests/golden/default.parquet").file
    tables = [path.removeprefix("results/") for path in stored if path.endswith(".csv")]
    assert not [path for path in tables if f"<code>{path}</code>" not in page]
    assert "log_probability double summed log-probability, in nats" in cells(site, "dictionary.html")


def test_columns_are_described_that_results_have():
    described = yaml.safe_load((ROOT / "docs/columns.yaml").read_text(encoding="utf-8"))
    stored = pd.read_parquet(ROOT / "tests/golden/default.parquet")
    known = {
        name for text in stored.text[stored.file.str.endswith(".csv")] for name in text.partition("\n")[0].split(",")
    }
    outputs = [*(ROOT / "tests/golden/models/results").rglob("*.parquet")]
    known.update(*(pq.read_schema(path).names for path in outputs))
    # No golden file holds instances: their columns are words of the code that makes them.
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts").rglob("*.py"))
    assert not [name for name in described if name not in known and not re.search(rf"\b{name}\b", code)]


def test_the_search_works_from_a_file(site, tmp_path):
    with browser.Browser(tmp_path) as opened:
        opened.call("Page.navigate", url=(site / "index.html").as_uri())
        opened.wait("document.querySelector('[data-md-component=search-query]')")
        opened.evaluate(
            "document.querySelector('[data-md-toggle=search]').click();"
            "const field = document.querySelector('[data-md-component=search-query]'); field.focus();"
            "field.value = 'headline'; field.dispatchEvent(new Event('input', {bubbles: true})); 1"
        )
        opened.wait("document.querySelector('[data-md-component=search-result] a[href*=\"results.html\"]')", 30)
