"""The paper's main file: what it says of models, systems and pronoun sets, and what it leaves out."""

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from scripts.core import files
from tests import forks
from tests.paper import main_file, test_score_changes
from tests.paper.typeset import ROOT
from tests.ruff.synthetic import SETS

C2F = {"c2f-minilm-litbank": {"label": "c2f-MiniLM (demonstration)", "demonstration": True}}


def test_a_demonstration_system_is_named_described_and_cited(tmp_path):
    printed = main_file.write(tmp_path, coreference_systems=C2F)
    assert "c2f-MiniLM (demonstration) is a demonstration model, which exercises" in " ".join(printed.split())
    assert "The coreference system c2f-MiniLM (demonstration) puts" in printed
    keys = {key for cited in re.findall(r"\\citep\{([^}]+)\}", printed) for key in cited.split(",")}
    known = set(re.findall(r"^@\w+\{(\w+),", (tmp_path / "references.bib").read_text(), flags=re.MULTILINE))
    assert {"lee2018", "joshi2020", "bamman2020"} <= keys <= known
    assert "MiniLM \\citep" not in printed


def test_pronoun_sets_of_the_run_are_named_if_a_study_takes_them(tmp_path):
    text = main_file.write(tmp_path, pronoun_sets=SETS[:4])
    assert "The pronoun sets are he" in text
    assert "The pronoun sets are" not in main_file.write(tmp_path)


def test_a_run_without_models_has_a_paper(tmp_path):
    """A study may need no model: then no model, engine or table of models is spoken of."""
    text = main_file.write(tmp_path)
    assert r"\input{sections/overview}" in text.split(r"\input{sections/one}")[0]
    assert r"\subsection*{Limitations}" in text.split(r"\input{sections/two}")[1].split(r"\bibliography{")[0]
    assert "engine" not in text
    assert "tab:run" not in text and "tab:compute" not in text
    assert r"\input{sections/two_appendix}" in text.split(r"\appendix")[1] and "one_appendix" not in text
    assert [text.count(rf"\input{{sections/{name}}}") for name in ("one", "two")] == [1, 1]


@pytest.mark.parametrize(
    ("configured", "printed"), [(None, "The score decides whom a language model misgenders"), ("Mine", "Mine")]
)
def test_the_title_is_configured_or_says_what_the_run_supports(tmp_path, configured, printed):
    test_score_changes.summary(tmp_path, test_score_changes.by_score("m"))
    studies = [main_file.STUDIES[0] | {"key": "ruff"}]
    settings = main_file.SETTINGS | {"title": configured}
    text = main_file.write(tmp_path, summary_csv=str(tmp_path / "ruff.csv"), studies=studies, settings=settings)
    assert rf"\title{{{printed}}}" in text and f"pdftitle={{{printed}}}" in text


MIXED = """
run: mixed
studies: [ruff, misgendered, underspecification]
models: [minilm-l6-mlm, opt-125m]
ruff: {prompting: {models: [smollm2-135m-instruct]}}
"""
"""A model that leaves distributions alone, one that is scored as well, and one that is only prompted."""


def test_every_model_of_a_run_has_a_file_that_tells_its_revision(tmp_path):
    folder = tmp_path / "mixed"
    files.write_text(folder / "mixed.yaml", MIXED)
    arguments = ["paper_source", "--configfile", folder / "mixed.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = forks.run_module("scripts.provenance.expected_jobs", arguments, folder, environment, apart=True)
    assert done.returncode == 0, done.stderr
    (job,) = (job for job in json.loads(done.stdout)["jobs"] if job["rule"] == "paper_source")
    left = {Path(path).stem: Path(path).parts[2] for path in job["inputs"] if path.endswith(".parquet")}
    assert set(job["params"]["models"]) == {"minilm-l6-mlm", "opt-125m", "smollm2-135m-instruct"} == set(left)
    assert left["minilm-l6-mlm"] == "distributions" and left["smollm2-135m-instruct"] == "answers"


def test_a_model_that_is_only_prompted_stands_in_the_table_of_models(tmp_path):
    facts = {"model": "m", "source": {"hub": "a/m"}, "revision": "b" * 40, "precision": "float16", "prompts": 3}
    files.write_parquet(tmp_path / "m.parquet", pd.DataFrame({"x": [1]}), facts)
    models = {"m": {"label": "Asked", "architecture": "decoder", "parameters": 7, "demonstration": False}}
    text = main_file.write(tmp_path, models=models, made=[tmp_path / "m.parquet"])
    assert "Asked & decoder & 7 & float16 & a/m at bbbbbbbbbbbb" in text and "engine" not in text
