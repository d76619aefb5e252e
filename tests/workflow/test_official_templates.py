"""RUFF and WinoPron on the authors' templates: a whole run, and that their sentences are only in its Parquet files."""

import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import pypdf
import pytest
import yaml

from scripts.core import files
from scripts.winopron import templates
from scripts.winopron.templates import PRONOUN

pytestmark = [pytest.mark.workflow, pytest.mark.upstream, pytest.mark.nightly]

STUDIES = ("ruff", "winopron")
TARGETS = ("winopron", "results/ruff/tables/official/instance_counts.csv")
"""All of WinoPron, and of RUFF what the paper shows and this."""
DATA = (".parquet",)
"""Files that may hold their sentences, below a study's results: what models read and what they answered."""
PICTURES = (".png",)
WORDS = 7
"""So many words in a row are theirs: the replicas share no seven of them."""


def runs_of_words(text):
    """Return every seven words in a row, in lower case."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}


class Sentences:
    """The authors' sentences, which a failing test must not print."""

    def __init__(self, winopron: Path, ruff: Path):
        """Read WinoPron's archive and a file of RUFF's instances."""
        self._texts = [t for row in templates.read_official(winopron).rows for t in (row.double, row.single)]
        parts = [part for text in self._texts for part in text.split(PRONOUN)]
        self._runs = {run for part in (*parts, *files.read_parquet(ruff).text) for run in runs_of_words(part)}

    def __repr__(self):
        return "the authors' sentences"

    def in_text(self, text):
        """Tell whether a text has seven words in a row of theirs."""
        return not self._runs.isdisjoint(runs_of_words(text))

    def share_in(self, path):
        """Return the share of the instances of a file that have seven such words."""
        return files.read_parquet(path).text.map(self.in_text).mean()

    def archive_with_one(self):
        """Return a zip whose member log.txt has one of them, in capitals."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("log.txt", f"... {self._texts[100].replace(PRONOUN, 'xe').upper()} ...")
        return archive.getvalue()


@pytest.fixture(scope="module")
def theirs(made, mirror):
    return Sentences(mirror / "winopron/data.zip", made / "results/ruff/instances/official/selected.parquet")


@pytest.fixture(scope="module")
def made(fresh, mirror):
    """A run of both studies on all sets of templates, packed, with its report."""
    if shutil.which("latexmk") is None:
        pytest.skip("latexmk is not installed: there is no paper to pack")
    workflow = fresh(("tiny-llama",))
    overlay = workflow.folder / "config/test.yaml"
    settings = yaml.safe_load(overlay.read_text(encoding="utf-8"))
    settings |= {"studies": list(STUDIES), "models": ["tiny-llama"], "upstream": {"mirror": str(mirror)}}
    settings["ruff"] |= {
        "templates": ["replica", "official"],
        "seeds": [13],
        "prompting": settings["ruff"]["prompting"]
        | {
            "models": ["tiny-llama"],
            "seeds": [13],
            "chain_of_thought": {"models": ["tiny-llama"], "distractors": [0], "sample_size": 4},
        },
    }
    settings["winopron"] |= {
        "templates": ["replica", "official", "winogender"],
        "prompting": settings["winopron"]["prompting"] | {"pairs": 1, "models": ["tiny-llama"]},
        "resolution": {"pairs": 1},
    }
    overlay.write_text(yaml.safe_dump(settings), encoding="utf-8")
    for arguments in (("paper", *TARGETS, "crate"), ("--report", "report.html", "--", "paper", *TARGETS)):
        done = workflow.snakemake(*arguments)
        assert done.returncode == 0, done.stdout[-3000:]
        (workflow.folder / "printed.txt").write_text(done.stdout, encoding="utf-8")
    return workflow.folder


def texts(path, content):
    """Yield the name and the text of a file and, of an archive, of what is in it."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # What their own archive holds stays behind its password.
            for member in (info for info in archive.infolist() if not info.flag_bits & 1):
                yield from texts(f"{path}:{member.filename}", archive.read(member))
    elif path.endswith(".pdf"):
        pages = pypdf.PdfReader(io.BytesIO(content)).pages
        yield path, "\n".join(page.extract_text() for page in pages)
    elif not path.endswith(PICTURES):
        yield path, content.decode(errors="ignore")


def test_the_search_sees_a_sentence(theirs):
    assert [theirs.in_text(text) for _, text in texts("a.zip", theirs.archive_with_one())] == [True]
    assert [name for name, _ in texts("a.zip", theirs.archive_with_one())] == ["a.zip:log.txt"]
    assert not theirs.in_text("The weaver told the buyer that they would sell the loom by the end of the week.")


def test_their_sentences_are_in_data_files_alone(made, theirs):
    """Names of files alone, so that a failure prints no sentence."""
    searched, seen, paper = 0, [], ""
    for path in sorted(made.rglob("*")):
        name = str(path.relative_to(made))
        # Winogender Schemas, from which WinoPron has much, are fetched as they are published, in plain text.
        fetched = name == "results/upstream/winogender/data/templates.tsv"
        read = name.endswith(DATA) and name.startswith(tuple(f"results/{study}/" for study in STUDIES))
        if not path.is_file() or fetched or read:
            continue
        for part, text in texts(name, path.read_bytes()):
            searched += 1
            paper = text if part == "results/paper/main.pdf" else paper
            if theirs.in_text(text):
                seen.append(part)
    assert seen == [] and searched > 300
    assert "WinoPron" in paper and "RUFF" in paper
    for kept in ("winopron/instances/official/double", "ruff/instances/official/selected"):
        assert theirs.share_in(made / f"results/{kept}.parquet") > 0.7


def test_a_crate_names_their_instances_and_does_not_pack_them(made):
    with zipfile.ZipFile(made / "results/crate/run.crate.zip") as archive:
        packed = archive.namelist()
        graph = {entity["@id"]: entity for entity in json.loads(archive.read("ro-crate-metadata.json"))["@graph"]}
    assert not [name for name in packed if "/instances/official/" in name and name.endswith(DATA)]
    for study, source in (("ruff", "robust-pronoun-fidelity"), ("winopron", "winopron")):
        hidden = [e for name, e in graph.items() if f"results/{study}/instances/official/" in name]
        assert hidden and all(len(entity["sha256"]) == 64 for entity in hidden)
        assert [name for name in graph if name.startswith("https://") and source in name.lower()]
