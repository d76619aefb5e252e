"""The paper: no typed results, citations that exist, and a build that refuses what is broken."""

import functools
import inspect
import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pypdf
import pytest
from matplotlib.figure import Figure

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import latex, published, sections
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.sections import link_numbers
from scripts.paper import paper_pdf, paper_provenance, paper_source
from scripts.ruff import prompt_tables, study, tables
from scripts.ruff import published as ruff_published
from scripts.ruff import section as ruff_paper
from scripts.ruff.findings import findings
from tests import forks
from tests.ruff import synthetic

ROOT = Path(__file__).parents[2]
SECTIONS = sorted((ROOT / "paper/sections").glob("*.tex.j2"))
needs_tex = pytest.mark.skipif(shutil.which("latexmk") is None, reason="latexmk is not installed: nothing is typeset")

DOCUMENT = r"\documentclass{article}%s\begin{document}%s\end{document}"


def prose(template):
    """Return a template's text without commands, expressions, squares and numbers of the paper's figures and tables."""
    text = re.sub(r"\\#\{.*?\}", "", template, flags=re.DOTALL)
    text = re.sub(r"\\(VAR|BLOCK)\{.*?\}", "", text, flags=re.DOTALL)
    text = re.sub(r"(Figures?|Tables?) \d+((,| and| to) \d+)* of the\s+study|(Method|Table) \d\b", "", text)
    text = re.sub(r"\)\^2\$", ")$", text)
    # The level of every interval, which the code fixes, and the name of a model.
    text = re.sub(r"\b95 ?\\?%|\bUL2\b", "", text)
    return re.sub(r"\\(cite\w*|ref|label|includegraphics)(\[.*?\])?\{.*?\}", "", text)


@pytest.mark.parametrize("path", SECTIONS, ids=lambda p: p.name)
def test_no_result_is_typed(path):
    text = prose(path.read_text(encoding="utf-8"))
    # The level of all intervals.
    names = re.sub(r"MiniLM-L6-MLM|SmolLM2-135M-Instruct|95\\%", "", text)
    assert not re.findall(r".{0,30}\d.{0,30}", names)
    # Captions are arguments of an expression: the digits there may only name the study's figures and ids of numbers.
    calls = r"^\\VAR\{((?:figure|table)\(.*)\}$"
    captions = re.findall(calls, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert captions or "_front." in path.name or r"\BLOCK{call " in path.read_text(encoding="utf-8")
    for caption in captions:
        literal = " ".join(re.findall(r'"([^"]*)"', re.sub(r'number\(\w+, "[\w.]+"\)', "", caption)))
        assert not re.search(r"\d", re.sub(r"Figures? \d+( to \d+)? of the study|\b95%", "", literal)), literal


@pytest.mark.parametrize("path", sorted((ROOT / "paper/sections").glob("*_front.tex.j2")), ids=lambda p: p.name)
def test_the_first_page_says_no_number_without_interval_and_n(path):
    """Its sentences take numbers from the summary alone, whose text has both; counts of models are of these rows."""
    expressions = re.findall(r"\\VAR\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", path.read_text(encoding="utf-8"))
    known = r"front\.(estimate|against|names|above|counted)\(|how\[|words\[|area$|moved\.|pronoun$|most$"
    assert expressions and [one for one in expressions if not re.match(known, one)] == []


def test_every_entry_of_the_bibliography_has_an_address():
    entries = re.split(r"^@", (ROOT / "paper/references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [entry.partition(",")[0] for entry in entries if not re.search(r"^\s*url\s*= \{https://", entry, re.M)] == []


def test_every_citation_is_in_the_bibliography_and_used():
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "paper").rglob("*.j2"))
    cited = {key for group in re.findall(r"\\cite\w*\{([\w,]+)\}", text) for key in group.split(",")}
    # Families of models are cited where they are run.
    cited |= {key for _, key in re.findall(r'\("([\w-]+)", "([a-z]+\d+)"\)', text)}
    listed = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/references.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert cited == listed


def part(**values):
    numbers = {name: {"value": v, "text": f"{v}"} for name, v in values.items()}
    return {"key": "replica", "id": "ruff.replica", "numbers": numbers}


def test_instances_are_one_number_or_a_range():
    made = part(**{"scored.0": 18, "scored.1": 18, "scored.2": 9})
    assert link_numbers(ruff_paper.scored(made, [0, 1])) == r"\sourced{ruff.replica.scored.0}{18}"
    low, high = r"\sourced{ruff.replica.scored.2}{9}", r"\sourced{ruff.replica.scored.1}{18}"
    assert link_numbers(ruff_paper.scored(made, [0, 1, 2])) == f"{low} to {high}"


RUFF_TABLES = ("accuracy", "pronoun_tests", "error_types")
FIGURES = (
    "headline", "context_free", "introduction_accuracy", "accuracy_by_pronoun", "accuracy_by_distractors", "scaling",
    "error_types", "context_free_by_model", "who_becomes_whom",
)  # fmt: skip
SETTINGS = {"authors": [], "date": "2026-11-24", "code": "https://example.org/code"}
TWO, PAPER, SETS = synthetic.DEMONSTRATION, synthetic.paper_models(), synthetic.SETS


def call(function, arguments):
    function(**{name: arguments[name] for name in inspect.signature(function).parameters})


PROMPTING_FIGURES = (
    "prompting_vanilla", "prompting_final", "prompting_chain", "prompting_against_scored",
)  # fmt: skip
DEMONSTRATED, STUDY = dict(list(TWO.items())[:1]), synthetic.prompted_models()


def prompting(asked, models, distractors, orders=("published",)):
    """Return what the rules tell the paper about prompted models; the last of them thinks."""
    known = {"llama-2-7b-chat": "llama-2-7b", "llama-2-13b-chat": "llama-2-13b", "llama-2-70b-chat": "llama-2-70b"}
    pairs = [{"prompted": name, "scored": known.get(name, name)} for name in asked]
    return {
        "models": asked,
        "distractors": list(distractors),
        "chain_distractors": list(distractors)[:2] if asked else [],
        "chain_models": list(asked)[-1:],
        "methods": ["kojima", "zhou"],
        "kinds": ["open", "options"],
        "orders": list(orders),
        "thinking": bool(asked),
        "blank": "___",
        "pairs": [pair for pair in pairs if pair["scored"] in models],
    }


def made_prompting(folder, key, sets, facts):
    """Write what the paper takes of prompted models; return their tables."""
    if not facts["models"]:
        return {}
    outputs = synthetic.prompted_outputs(
        facts["models"], sets, facts["distractors"], facts["chain_models"], facts["orders"], size=4
    )
    kept = (outputs.method == "vanilla") | outputs.n_distractors.isin(facts["chain_distractors"])
    data = synthetic.prompted_tables(outputs[kept], facts["pairs"])
    cells = {
        f"{key}/prompting": tables.prompting(data["estimates"], facts["models"])[1],
        f"{key}/prompted_models": pd.DataFrame({"Prompted": list(facts["models"])}),
        "prompt_examples": pd.DataFrame({"Model": list(facts["models"])}),
        "chain_examples": pd.DataFrame({"Method": facts["methods"]}),
    }
    for name, frame in cells.items():
        files.write_text(folder / f"tables/{name}.tex", latex.latex_table(frame))
    listed = {kind: str(folder / f"tables/prompt_templates.{kind}") for kind in ("tex", "csv")}
    prompts = str(ROOT / "templates/ruff/prompts.tsv")
    prompt_tables.table_prompt_templates(prompt_templates=prompts, kinds=facts["kinds"], **listed)
    models = pd.DataFrame.from_dict(facts["models"], orient="index").rename_axis("model").reset_index()
    most = {f"new_tokens_{step}": number for step, number in (("answer", 5), ("chain", 128), ("final", 10))}
    files.write_csv(folder / f"tables/{key}/prompted_models.csv", models.assign(**most))
    for name in PROMPTING_FIGURES:
        if name != "prompting_against_scored" or facts["pairs"]:
            box(folder, key, name)
    return data


def box(folder, key, name):
    """Write an empty figure."""
    with files.write_atomically(folder / f"figures/{key}/{name}.pdf") as temporary:
        Figure(figsize=(2, 1)).savefig(temporary, format="pdf")


def made_set(folder, key, models, sets, seeds, distractors, interval, asked):
    """Write what the paper takes of one template set, from made-up tables; figures are empty boxes.

    Returns:
        The tables of results, and score files.
    """
    data = synthetic.tables(models, sets, seeds, distractors)
    # Not all is as the study found it, and intervals overlap.
    estimates = data["estimates"]
    estimates.loc[estimates.metric == "accuracy", ["value", "low", "high"]] *= (0.8, 0.75, 0.85)
    rows = [("no context", None, 180, None, None, 180)]
    rows += [(f"+ {n}", n, 7200, seeds, 2160, seeds * 2160) for n in distractors]
    columns = ["setting", "n_distractors", "instances", "samples", "sample_size", "scored"]
    counts = pd.DataFrame(rows, columns=columns)
    counts = counts.astype(dict.fromkeys(("n_distractors", "samples", "sample_size"), "Int64"))
    where = {kind: folder / f"tables/{key}/instance_counts.{kind}" for kind in ("tex", "csv")}
    files.write_csv(where["csv"], counts)
    cells = tables.instance_count_cells(counts, dict.fromkeys(models, 2160), models)
    files.write_text(where["tex"], latex.latex_table(cells))
    where = {kind: str(folder / f"tables/{key}/models.{kind}") for kind in ("tex", "csv")}
    tables.table_models(models=models, **where)
    paths = synthetic.write(folder / key, data, key)
    for name in RUFF_TABLES:
        where = {kind: str(folder / f"tables/{key}/{name}.{kind}") for kind in ("tex", "csv")}
        given = {"estimates": paths["estimates"], "pronoun_tests": paths["pronoun_tests"], "templates": key}
        tables.table(**given, **where, table=name, models=models, asked=asked["models"])
    for name, frame in made_prompting(folder, key, sets, asked).items():
        data[name] = pd.concat([data[name], frame]) if len(data[name]) else frame
    for name in FIGURES:
        box(folder, key, name)
        files.write_csv(
            folder / f"figures/{key}/{name}.csv",
            pd.DataFrame({"low": [0.1 if interval else None], "interval": [interval]}),
        )
    scores = []
    for name in models:
        scores.append(str(folder / f"scores/{key}/{name}.parquet"))
        facts = {"model": name, "source": {"hub": f"some_one/{name}"}, "revision": 40 * "a", "precision": "float32",
                 "engine": "packed"}  # fmt: skip
        files.write_parquet(scores[-1], pd.DataFrame({"x": [1]}), facts)
    return {name: frame.assign(templates=key) for name, frame in data.items()}, scores


def made_comparisons(folder, paths, models, sets, keys, settings):
    """Write what stands beside the study, over all template sets."""
    listed = ROOT / "paper/published"
    given = {name: str(listed / f"ruff{end}.csv") for name, end in (("published", ""), ("mapping", "_mapping"))}
    given |= {"printed": given["published"], "study_models": str(listed / "ruff_models.csv"), **paths}
    for name in ("instance_counts", "models", "prompted_models"):
        found = [folder / f"tables/{key}/{name}.csv" for key in keys]
        given[f"listed_{name}"] = [str(path) for path in found if path.is_file()]
    given |= {"template_sets": list(keys), "every_set": ["replica", "official"], "facts": models}
    given |= {"pronoun_sets": [s["set"] for s in sets], "settings": settings}
    listed = folder / "tables/prompt_templates.csv"
    given["prompt_templates"] = [str(listed)] if listed.is_file() else []
    for compare in (ruff_published.published_vs_ours, findings):
        stem = compare.__name__
        ours = {kind: str(folder / f"tables/{stem}.{kind}") for kind in ("csv", "tex")}
        ours |= {"numbers": str(folder / f"tables/{stem}.json"), "models": models}
        if compare is not findings:
            ours |= {name.removeprefix("listed_"): given[name] for name in given if name.startswith("listed_")}
        call(compare, given | ours)


def render(
    folder,
    models=TWO,
    sets=SETS[:4],
    seeds=3,
    distractors=range(6),
    keys=("replica",),
    interval="SD",
    asked=DEMONSTRATED,
):
    """Render a paper from made-up results, ``asked`` being the prompted models; return the folder with its sources."""
    distractors = list(distractors)
    asked = prompting(asked, models, distractors)
    made = [made_set(folder, key, models, sets, seeds, distractors, interval, asked) for key in keys]
    parts = [data for data, _ in made]
    paths = synthetic.write_all(folder, parts)
    settings = {"seeds": seeds, "alpha": 0.05, "bootstrap_draws": 2000, "chance": 1 / len(sets)}
    compared = settings | {"pronoun_sets": len(sets), "cases": 3}
    made_comparisons(folder, paths, models | asked["models"], sets, keys, compared)
    figures = sorted((folder / "figures").rglob("*.pdf"))
    paper = folder / "paper"
    paper_source.main(
        main_template=str(ROOT / "paper/main.tex.j2"),
        bibliography=str(ROOT / "paper/references.bib"),
        style=str(ROOT / "paper/proceedings.sty"),
        citation_file=str(ROOT / "CITATION.cff"),
        made=[path for _, scores in made for path in scores],
        speeds=[],
        title="A title",
        settings=SETTINGS,
        main_tex=str(paper / "main.tex"),
        bibliography_copy=str(paper / "references.bib"),
        style_copy=str(paper / "proceedings.sty"),
        models=models,
        coreference_systems={},
        pronoun_sets=sets,
        engine="packed",
        studies=[{"key": "ruff", "name": "RUFF", "abstract": True, "appendix": False}],
    )
    ruff_paper.section(
        section_template=str(ROOT / "paper/sections/ruff.tex.j2"),
        abstract_template=str(ROOT / "paper/sections/ruff_abstract.tex.j2"),
        **paths,
        instance_counts=[str(folder / f"tables/{key}/instance_counts.csv") for key in keys],
        figures=[str(p) for p in figures],
        tables=[str(p) for p in sorted((folder / "tables").rglob("*.tex"))],
        comparison_numbers=[str(p) for p in sorted((folder / "tables").glob("*.json"))],
        section_tex=str(paper / "sections/ruff.tex"),
        abstract_tex=str(paper / "sections/ruff_abstract.tex"),
        paper_numbers=[str(folder / f"analysis/{key}/paper_numbers.json") for key in keys],
        template_sets=list(keys),
        models=models,
        pronoun_sets=sets,
        distractors=distractors,
        seeds=list(range(seeds)),
        settings=settings,
        sizes=dict.fromkeys(models, 2160),
        prompting=asked,
        prompting_settings={"sample_size": 4, "seeds": 1, "new_tokens.chain": 128, "new_tokens.final": 10},
        uneven=[],
    )
    rendered = "".join(
        (paper / name).read_text(encoding="utf-8")
        for name in ("main.tex", "sections/ruff.tex", "sections/ruff_abstract.tex")
    )
    targets = sorted(set(re.findall(r"\\(?:sourced|origin)\{([^}]+)\}", rendered)))
    anchors = "".join(rf"\hypertarget{{{target}}}{{}}" for target in targets)
    files.write_text(paper / "sections/provenance.tex", rf"\section{{Sources}}\label{{sec:provenance}}{anchors}")
    files.write_text(paper / "sections/currency.tex", "")
    files.write_text(paper / "sections/overview.tex", r"\input{sections/ruff_abstract}")
    files.write_text(paper / "sections/scores.tex", r"\begin{figure}\caption{Scores}\label{fig:scores}\end{figure}")
    files.write_text(paper / "sections/undecided.tex", r"\section{Findings}\label{sec:findings}")
    return paper


def section(paper):
    """Return the section as a reader sees it, in one line: without links."""
    text = "".join((paper / f"sections/{name}.tex").read_text(encoding="utf-8") for name in ("ruff_abstract", "ruff"))
    text = re.sub(r"\\sourced\{[^}]+\}\{((?:\\.|[^{}]|\{\})*)\}", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r" \\origin\{[^}]+\}", "", text))


RUNS = {
    "one model, one seed": {"models": dict(list(TWO.items())[:1]), "seeds": 1, "distractors": [0, 5]},
    "nobody asked": {"models": dict(list(TWO.items())[1:]), "asked": {}},
    "five pronoun sets": {"models": dict(list(PAPER.items())[5:13]), "sets": SETS, "distractors": [0, 2, 4]},
    "all models of the study": {"models": PAPER, "keys": ("replica", "official"), "asked": STUDY},
    "all models on one set": {"models": PAPER, "asked": STUDY},
    "default": {},
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """The paper of each of :data:`RUNS`, rendered when it is first asked for; nothing but PDF files is added."""
    return functools.cache(lambda name: render(tmp_path_factory.mktemp("run"), **RUNS[name]))


@pytest.mark.parametrize("run", list(RUNS)[:4])
@needs_tex
def test_every_run_has_a_paper(tmp_path, rendered, run):
    paper = rendered(run)
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(paper.rglob("*.tex")))
    links = dict(re.findall(r"\\sourced\{([\w.]+)\}\{(\d[\d.]*)\}", text))
    listed = pd.DataFrame([{"result": name, "shown": shown} for name, shown in links.items()])
    files.write_csv(tmp_path / "provenance.csv", listed.reindex(columns=paper_pdf.LISTED))
    paper_pdf.main(
        main_tex=str(paper / "main.tex"), sections=[], bibliography="", style="", figures=[],
        pdf=str(paper / "main.pdf"), provenance_csv=str(tmp_path / "provenance.csv"),
        located_json=str(tmp_path / "located.json"), manifest=str(paper / "main.tex"), overfull=5,
    )  # fmt: skip
    reader = pypdf.PdfReader(paper / "main.pdf")
    located = json.loads((tmp_path / "located.json").read_text(encoding="utf-8"))
    assert links and {row["result"] for row in located["results"]} == links.keys()
    printed = [page.extract_text() for page in reader.pages]
    assert all(row["shown"] in printed[row["page"] - 1] for row in located["results"])
    assert (reader.metadata.title, reader.metadata.author) == ("A title", "The maintainers of this project")
    assert reader.metadata.creation_date.isoformat()[:10] == "2026-11-24"
    assert min(sizes(reader)) > SMALLEST


SMALLEST = 6.9
"""Of 7 points, what rounding leaves."""


def sizes(reader):
    """Return the sizes of all type of a PDF file, in points as printed."""
    found = set()

    def look(text, page, line, _font, size):
        # What is left of a line that matplotlib or TeX sets in pieces has no size.
        if text.strip() and size:
            found.add(round(size * abs(line[3] * page[3]), 2))

    for page in reader.pages:
        page.extract_text(visitor_text=look)
    return found


def test_captions_claim_only_what_is_drawn(tmp_path, rendered):
    several = section(rendered("default"))
    # Accuracies have intervals; the shares of errors vary over samples.
    assert several.count("shading: one standard deviation over samples") == 1
    assert "bootstrap intervals over occupations" in several
    single = section(render(tmp_path, models=dict(list(TWO.items())[:1]), seeds=1, asked={}))
    assert "standard deviation over samples" not in single.split(r"\subsection{Results}")[1]
    assert "over models" not in single.split(r"\paragraph{Without context.}")[1].split(r"\paragraph{With an")[0]


def test_sentences_compare_what_intervals_support():
    made = part(**{"setting.chance": 0.25})
    rows = [
        {"model": "m", "metric": "accuracy", "n_distractors": str(n), "value": low, "low": low, "high": high}
        for n, low, high in ((0, 0.6, 0.9), (1, 0.2, 0.6), (5, 0.1, 0.2))
    ]
    made["scored"] = Numbers(made, synthetic.of_models(rows), study.IDENTITY, study.FACTORS, "estimates.csv", factor=1)
    told = [ruff_paper.against_chance(made, "m", n) for n in (0, 1, 5)]
    assert told == ["above chance", "not distinguishable from chance", "below chance"]
    assert [ruff_paper.apart(made, "m", a, b) for a, b in ((0, 5), (5, 0), (0, 1))] == [
        "do not overlap", "do not overlap", "overlap"
    ]  # fmt: skip


def test_many_models_are_spoken_of_together(rendered):
    text = section(rendered("all models on one set"))
    assert "of 29 models" in text
    assert "On average over prompts" not in text
    assert r"\citep{chung2024}" in text
    assert "goes from" not in text
    assert "and the tests of single models." in text
    assert "\\citep{biderman2023}" in text
    assert "allal2025" not in text


def test_demonstration_models_are_marked(rendered):
    marked = (rendered("default") / "main.tex").read_text(encoding="utf-8")
    assert marked.count(r"\textbf{Demonstration models.}") == 1 and "its rows say nothing about" in marked
    assert "Demonstration models" not in (rendered("all models on one set") / "main.tex").read_text(encoding="utf-8")


C2F = {"c2f-minilm-litbank": {"label": "c2f-MiniLM (demonstration)", "demonstration": True}}


def test_a_demonstration_system_is_named_described_and_cited(tmp_path):
    printed = source_without_models(tmp_path, SETS[:4], systems=C2F)
    assert "\\textbf{Demonstration models.} c2f-MiniLM (demonstration) only exercises" in printed
    assert "The coreference system c2f-MiniLM (demonstration) puts" in printed
    keys = {key for cited in re.findall(r"\\citep\{([^}]+)\}", printed) for key in cited.split(",")}
    known = set(re.findall(r"^@\w+\{(\w+),", (tmp_path / "references.bib").read_text(), flags=re.MULTILINE))
    assert {"lee2018", "joshi2020", "bamman2020"} <= keys <= known
    assert "MiniLM \\citep" not in printed


def source_without_models(tmp_path, sets, systems=None, title="A title", settings=SETTINGS, models=None, made=()):
    """Render the main file of two studies that need no model; one may be given."""
    paper_source.main(
        main_template=str(ROOT / "paper/main.tex.j2"),
        bibliography=str(ROOT / "paper/references.bib"),
        style=str(ROOT / "paper/proceedings.sty"),
        citation_file=str(ROOT / "CITATION.cff"),
        made=list(made),
        speeds=[],
        title=title,
        settings=settings,
        main_tex=str(tmp_path / "main.tex"),
        bibliography_copy=str(tmp_path / "references.bib"),
        style_copy=str(tmp_path / "proceedings.sty"),
        models=models or {},
        coreference_systems=systems or {},
        pronoun_sets=sets,
        engine=None,
        studies=[
            {"key": "one", "name": "One", "abstract": False, "appendix": False},
            {"key": "two", "name": "Two", "abstract": False, "appendix": True},
        ],
    )
    return (tmp_path / "main.tex").read_text(encoding="utf-8")


def test_pronoun_sets_of_the_run_are_named_if_a_study_takes_them(tmp_path):
    assert "The pronoun sets, in the order in which ties are broken, are he" in source_without_models(
        tmp_path, SETS[:4]
    )
    alone = source_without_models(tmp_path, [])
    assert "pronoun sets, in the order" not in alone.partition("Limitations")[0]


def test_a_run_without_models_has_a_paper(tmp_path):
    """A study may need no model: then no model, engine or table of models is spoken of."""
    text = source_without_models(tmp_path, SETS[:4])
    assert r"\input{sections/overview}" in text.split(r"\input{sections/one}")[0]
    assert r"\section*{Limitations}" in text.split(r"\input{sections/two}")[1].split(r"\bibliography{")[0]
    assert "engine" not in text
    assert "tab:run" not in text and "tab:compute" not in text
    assert r"\input{sections/two_appendix}" in text.split(r"\appendix")[1] and "one_appendix" not in text
    # Each section is read twice: its body, and in the appendix its details.
    body, details = text.split(r"\detailstrue")
    assert [part.count(r"\input{sections/one}") for part in (body, details)] == [1, 1]
    assert [part.count(r"\input{sections/two}") for part in (body, details)] == [1, 1]


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
    text = source_without_models(tmp_path, [], models=models, made=[tmp_path / "m.parquet"])
    assert "Asked & decoder & 7 & float16 & a/m at bbbbbbbbbbbb" in text and "engine" not in text


def test_the_study_stands_beside_the_run(rendered):
    two = section(rendered("default"))
    assert "All 20 findings of the study are undecided on the replica templates" in two
    assert "accuracy: MosaicBERT" not in two and "official templates" not in two
    many = section(rendered("all models of the study"))
    different = many.split(r"\label{tab:ruff-published}")[0].split(r"\begin{table*}")[-1]
    assert 0 < different.count(r" \\ ") - 1 <= published.MOST
    same = re.search(
        r"Of the (\d+) findings that are decided on both template sets, (\d+) ha(?:s|ve) the same verdict", many
    )
    assert same and 0 < int(same[2]) <= int(same[1]) <= 20
    counted = re.search(
        r"the study's 20 findings, (\d+) holds?, (\d+) fails? and (\d+) (?:is|are) undecided on the official templates",
        many,
    )
    # Findings that nobody made up tables for: some are refuted, and of the others the intervals overlap.
    holding, failing, undecided = map(int, counted.groups())
    assert min(failing, undecided) > 0
    assert holding + failing + undecided == 20


def test_the_body_is_short_and_the_details_have_all_other_figures(tmp_path):
    text = section(render(tmp_path, keys=("replica", "official")))
    body, details = text.split(r"\ifdetails \section{RUFF in detail}")
    assert r"\ifdetails\else" in body and "Also made" not in text
    assert "{../figures/official/who_becomes_whom.pdf}" in body and "/who_becomes_whom.pdf}" not in details
    for name in ("accuracy_by_distractors", "error_types", "context_free_by_model"):
        assert f"{{../figures/official/{name}.pdf}}" in details and f"/{name}.pdf}}" not in body


def test_no_figure_of_prompts_is_shown_that_draws_nothing(rendered):
    """Boxes are over prompts: with 4 instances of each prompt none is drawn."""
    text = section(rendered("default"))
    assert "prompting_vanilla.pdf" not in text and r"\ref{fig:ruff-replica-prompting_vanilla}" not in text


def test_tables_have_no_rows_of_what_was_not_compared(rendered):
    for run in ("default", "all models of the study"):
        text = section(rendered(run))
        for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text):
            rows = table.partition(r"\midrule")[2].partition(r"\caption")[0].split(r"\\")
            assert not [row for row in rows if re.search("not applicable|not run|not released", row)]


def build(folder, body, head=""):
    (folder / "main.tex").write_text(DOCUMENT % (head, body), encoding="utf-8")
    beside = str(folder.parent / f"{folder.name}.")
    files.write_csv(f"{beside}csv", pd.DataFrame(columns=paper_pdf.LISTED))
    paper_pdf.main(
        main_tex=str(folder / "main.tex"),
        sections=[],
        bibliography="",
        style="",
        figures=[],
        manifest=str(folder / "main.tex"),
        provenance_csv=f"{beside}csv",
        pdf=str(folder / "main.pdf"),
        located_json=f"{beside}json",
        overfull=10,
    )


@pytest.mark.attack("a model's label is a TeX command", "typeset as text")
@needs_tex
@pytest.mark.parametrize("label", ["BERT 50% sparse, no. #2", r"\input{secret.tex}", "a_b^c~d&{e}$f$", "é→ü"])
def test_a_label_in_a_numbers_id_is_the_name_of_a_link_and_no_command(tmp_path, label):
    (tmp_path / "secret.tex").write_text(r"\undefined{what was read}", encoding="utf-8")
    part = {"id": "ruff.replica", "numbers": {f"best.{label}": {"text": "18", "value": 18}}}
    text = sections.link_numbers(sections.number(part, f"best.{label}"))
    name = sections.target(f"ruff.replica.best.{label}")
    assert text == rf"\sourced{{{name}}}{{18}}"
    head = r"\usepackage{hyperref}\DeclareRobustCommand{\sourced}[2]{\hyperlink{#1}{#2}}"
    build(tmp_path, rf"{text} \hypertarget{{{name}}}{{there}}", head)
    assert (tmp_path / "main.pdf").is_file()
    assert len({sections.target(other) for other in (label, label + "=", label.replace("#", "=23."))}) >= 2


@needs_tex
def test_a_good_paper_is_built_reproducibly(tmp_path):
    build(tmp_path, "Text.")
    first = (tmp_path / "main.pdf").read_bytes()
    build(tmp_path, "Text.")
    assert first == (tmp_path / "main.pdf").read_bytes()
    assert {p.name for p in tmp_path.iterdir()} == {"main.tex", "main.pdf"}


@needs_tex
@pytest.mark.parametrize("name", [".latexmkrc", "latexmkrc"])
def test_no_configuration_of_latexmk_is_run(tmp_path, monkeypatch, name):
    """Neither one that lies among the results nor one of the user's: it is a program, and it may change the paper."""
    home = tmp_path / "home"
    home.mkdir()
    paper = tmp_path / "paper"
    paper.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    program = f"system('touch', '{tmp_path}/was-run');\n"
    for folder in (paper, home):
        (folder / name).write_text(program)
    build(paper, "Text.")
    assert not (tmp_path / "was-run").exists()


@needs_tex
def test_tex_runs_no_programs(tmp_path, monkeypatch):
    """Also where the site's configuration of TeX would allow it."""
    (tmp_path / "cnf").mkdir()
    (tmp_path / "cnf/texmf.cnf").write_text("shell_escape = t\n")
    monkeypatch.setenv("TEXMFCNF", f"{tmp_path / 'cnf'}:")
    (tmp_path / "paper").mkdir()
    build(tmp_path / "paper", rf"Text.\immediate\write18{{touch {tmp_path}/was-run}}")
    assert not (tmp_path / "was-run").exists()


@needs_tex
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"See \ref{fig:gone}.", "main.tex, line 1: undefined reference fig:gone"),
        (r"See \cite{gone}.", "main.tex, line 1: undefined citation gone"),
        (r"\undefinedcommand", "main.tex, line 1: LaTeX error: Undefined control sequence"),
        (r"\noindent\rule{50cm}{1pt}", "main.tex, line 1: overfull hbox"),
        (r"\section{a}\label{a}\section{b}\label{a}", "main.tex: label defined twice: a"),
        (r"\font\x=cmmi10 \x \char255", "main.tex: missing glyph"),
        (r"x\pdfstartlink goto name{gone}\relax x\pdfendlink", "main.tex: link without a target: gone"),
    ],
)
def test_a_broken_paper_leaves_no_pdf(tmp_path, body, words):
    (tmp_path / "main.pdf").write_text("an older paper")
    with pytest.raises(UserError, match=words):
        build(tmp_path, body)
    assert [p.name for p in tmp_path.iterdir()] == ["main.tex"]


@needs_tex
def test_a_problem_names_the_file_that_is_included(tmp_path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections/one.tex").write_text("Text.\n\nSee \\ref{gone}.\n")
    with pytest.raises(UserError, match=r"sections/one\.tex, line 3: undefined reference gone"):
        build(tmp_path, r"Text. \input{sections/one} More.")


def test_missing_tex_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"latexmk is not installed.*apt-get install latexmk texlive"):
        build(tmp_path, "Text.")


def test_a_paper_that_is_not_current_says_so_of_one_result_and_of_several():
    reason = {"kind": "input", "what": "input", "name": "a.csv", "old": "1", "new": "2"}
    bad = {f"results/{name}.pdf": {"verdict": "stale", "reasons": [reason]} for name in ("a", "b")}
    one = {"results/a.pdf": bad["results/a.pdf"]}
    assert paper_provenance.refusal_message(one).startswith(
        "1 result behind the paper is not current: results/a.pdf is stale"
    )
    assert paper_provenance.refusal_message(bad).startswith(
        "2 results behind the paper are not current: results/a.pdf is stale"
    )
    assert "Of the 9 files behind this paper 1 is not what" in paper_provenance.stale_mark(one, 9)
    assert "Of the 9 files behind this paper 2 are not what" in paper_provenance.stale_mark(bad, 9)
