"""The documentation site: its pages from the repository's files, and the reference pages that are generated."""

import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts import site_pages
from scripts.core import config
from scripts.core.errors import UserError
from tests import forks, pages

ROOT = Path(__file__).parents[1]
LISTED = "ruff    All figures, tables and analyses of one study.\nhelp    List these targets.\n1 job\n"


@pytest.fixture(scope="module")
def navigation():
    """The pages in the navigation of mkdocs.yml."""
    text = re.sub(r"!!python\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return [name for section in yaml.safe_load(text)["nav"] for entries in section.values() for entry in entries
            for name in entry.values()]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with all pages, as MkDocs reads them."""
    run, folder = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("site") / "pages"
    forks.run_snakemake(["--cores", "2", "instances", "--directory", str(run)], ROOT).check_returncode()
    site_pages.write_pages(ROOT, run, folder, LISTED)
    return folder


def test_the_navigation_lists_every_page_once(site, navigation):
    assert sorted(navigation) == sorted(path.name for path in site.glob("*.md"))


def test_blocks_links_and_lists_are_those_of_mkdocs(tmp_path):
    text = (
        "# Title\n\n[README](../README.md) · [runs](runs.md)\n\n1. Do [this](../README.md#start), [that](x.csv)\n\n"
        "   ```yaml file=mine.yaml\n   a: 1\n   ```\n\n```bash run\nsnakemake\n\n   kept\n```\n"
    )
    assets = set()
    page = site_pages.site_page(text, "docs/a.md", {"README.md": "index.md"}, assets)
    assert page == (
        "# Title\n\n1. Do [this](index.md#start), [that](x.csv)\n\n"
        '    ```yaml title="mine.yaml"\n    a: 1\n    ```\n\n```bash\nsnakemake\n\n   kept\n```\n'
    )
    assert assets == {"docs/x.csv"}


def test_every_key_of_the_configuration_has_a_row(site):
    page = (site / "configuration.md").read_text(encoding="utf-8")
    defaults = config.load_yaml(ROOT / "config.yaml")
    named = [name for name, value in defaults.items() if not isinstance(value, dict)]
    named += [f"{name}.{key}" for name, value in defaults.items() if isinstance(value, dict) for key in value]
    below = {row.partition("`")[2].partition("`")[0] for row in page.splitlines() if row.startswith("| `")}
    assert not [name for name in named if not any(key == name or key.startswith(f"{name}.") for key in below)]
    assert "| `scoring.engine` | `packed`, `minicons` | `packed` | packed: what texts share" in page


def test_every_key_of_a_registry_entry_has_a_row(site):
    page = (site / "registry.md").read_text(encoding="utf-8")
    schema = config.load_yaml(ROOT / "config/schemas/models.schema.yaml")
    for kind in ("entry", "system"):
        for name in schema["$defs"][kind]["properties"]:
            assert re.search(rf"^\| `{name}[`.]", page, flags=re.MULTILINE), name


def test_targets_are_those_that_help_lists(site):
    page = (site / "targets.md").read_text(encoding="utf-8")
    assert "| `ruff` | All figures, tables and analyses of one study. |\n| `help` | List these targets. |\n" in page


def test_the_dictionary_lists_every_csv_and_the_models_outputs(site):
    page = (site / "dictionary.md").read_text(encoding="utf-8")
    stored = pd.read_parquet(ROOT / site_pages.PACKED).file
    missing = [
        path for path in stored if path.endswith(".csv") and f"| `{path.removeprefix('results/')}` |" not in page
    ]
    assert not missing
    assert "`log_probability` | double | summed log-probability, in nats |" in page


def test_a_described_column_that_no_file_has_is_named():
    with pytest.raises(UserError, match=r"docs/columns.yaml: no file has the column 'no_such_column'"):
        site_pages.dictionary_page(ROOT, ROOT, {"no_such_column": "x"})


def test_the_site_builds_in_strict_mode(site, tmp_path):
    """Where its environment exists: `make docs` makes it."""
    python = ROOT / ".venv-docs/bin/python"
    if not python.exists():
        pytest.skip("the environment of the site is missing: make docs")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace(".site/pages", str(site)).replace(".site/html", str(tmp_path / "html"))
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    built = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "html").glob("*.html"))
    assert "yaml file=" not in built
    # Nothing that a browser would load from another host.
    assert not re.findall(r"unpkg|googleapis|src=.https?://", built)
    assert len(list((tmp_path / "html").glob("*.html"))) > len(pages.PAGES)
