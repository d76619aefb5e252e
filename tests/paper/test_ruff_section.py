"""RUFF's section of the paper from made-up results: of any run it can be typeset, and says what the run has."""

import functools
import inspect
import json
import re

import pandas as pd
import pypdf
import pytest
from matplotlib.figure import Figure

from scripts.core import files
from scripts.core.paper import latex, published_table
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.sections import link_numbers
from scripts.paper import paper_pdf
from scripts.ruff import prompt_tables, study, tables
from scripts.ruff import section as ruff_paper
from scripts.ruff.findings import findings
from scripts.ruff.published import published_vs_ours
from tests.paper import main_file
from tests.paper.typeset import ROOT, needs_tex
from tests.ruff import synthetic

SECTIONS = ("ruff", "ruff_appendix")
FIGURES = (
    "context_free", "introduction_accuracy", "accuracy_by_pronoun", "accuracy_by_distractors", "scaling", "error_types",
    "who_becomes_whom",
)  # fmt: skip
PROMPTING_FIGURES = ("prompting_vanilla", "prompting_final", "prompting_chain")
TWO, PAPER, SETS = synthetic.DEMONSTRATION, synthetic.paper_models(), synthetic.SETS
DEMONSTRATED, STUDY = dict(list(TWO.items())[:1]), synthetic.prompted_models()


def prompting(asked, models, distractors):
    """Return what the rules tell the paper about prompted models; the last of them thinks."""
    pairs = [{"prompted": name, "scored": name.removesuffix("-chat")} for name in asked]
    return {
        "models": asked,
        "distractors": distractors,
        "chain_distractors": distractors[:2] if asked else [],
        "chain_models": list(asked)[-1:],
        "methods": ["kojima", "zhou"],
        "kinds": ["open", "options"],
        "thinking": bool(asked),
        "blank": "___",
        "pairs": [pair for pair in pairs if pair["scored"] in models],
        "settings": {"sample_size": 4, "seeds": 1, "new_tokens.chain": 128, "new_tokens.final": 10},
    }


def table(folder, name):
    """Return the paths of a table."""
    return {kind: str(folder / f"tables/{name}.{kind}") for kind in ("tex", "csv")}


def make_prompting(folder, key, sets, facts):
    """Write what the paper takes of prompted models; return their tables."""
    if not facts["models"]:
        return {}
    outputs = synthetic.prompted_outputs(facts["models"], sets, facts["distractors"], facts["chain_models"], size=4)
    kept = (outputs.method == "vanilla") | outputs.n_distractors.isin(facts["chain_distractors"])
    data = synthetic.prompted_tables(outputs[kept], facts["pairs"])
    cells = {
        f"{key}/prompting": tables.prompting(data["estimates"], facts["models"])[1],
        f"{key}/prompted_models": pd.DataFrame({"Prompted": list(facts["models"])}),
    }
    for name, frame in cells.items():
        files.write_text(table(folder, name)["tex"], latex.latex_table(frame))
    prompt_tables.table_prompt_templates(
        prompt_templates=str(ROOT / "templates/ruff/prompts.tsv"), kinds=facts["kinds"],
        **table(folder, "prompt_templates"),
    )  # fmt: skip
    models = pd.DataFrame.from_dict(facts["models"], orient="index").rename_axis("model").reset_index()
    most = {f"new_tokens_{step}": number for step, number in (("answer", 5), ("chain", 128), ("final", 10))}
    files.write_csv(table(folder, f"{key}/prompted_models")["csv"], models.assign(**most))
    return data


def make_set(folder, key, models, sets, seeds, distractors, asked):
    """Write what the paper takes of one template set, from made-up tables; return the tables of results."""
    data = synthetic.tables(models, sets, seeds, distractors)
    # Not all is as the study found it, and intervals overlap.
    estimates = data["estimates"]
    estimates.loc[estimates.metric == "accuracy", ["value", "low", "high"]] *= [0.8, 0.75, 0.85]
    rows = [("no context", None, 180, None, None, 180)]
    rows += [(f"+ {n}", n, 7200, seeds, 2160, seeds * 2160) for n in distractors]
    columns = ["setting", "n_distractors", "instances", "samples", "sample_size", "scored"]
    counts = pd.DataFrame(rows, columns=columns)
    counts = counts.astype(dict.fromkeys(("n_distractors", "samples", "sample_size"), "Int64"))
    files.write_csv(table(folder, f"{key}/instance_counts")["csv"], counts)
    cells = tables.instance_count_cells(counts, dict.fromkeys(models, 2160), models)
    files.write_text(table(folder, f"{key}/instance_counts")["tex"], latex.latex_table(cells))
    tables.table_models(models=models, **table(folder, f"{key}/models"))
    paths = synthetic.write(folder / key, data, key)
    given = {"estimates": paths["estimates"], "pronoun_tests": paths["pronoun_tests"], "templates": key}
    for name in ("accuracy", "pronoun_tests"):
        tables.table(**given, **table(folder, f"{key}/{name}"), table=name, models=models, asked=asked["models"])
    for name, frame in make_prompting(folder, key, sets, asked).items():
        data[name] = pd.concat([data[name], frame]) if len(data[name]) else frame
    drawn = PROMPTING_FIGURES if asked["models"] else ()
    for name in (*FIGURES, *drawn):
        with files.write_atomically(folder / f"figures/{key}/{name}.pdf") as temporary:
            Figure(figsize=(2, 1)).savefig(temporary, format="pdf")
    return {name: frame.assign(templates=key) for name, frame in data.items()}


def make_comparisons(folder, **given):
    """Write what stands beside the study, over all template sets."""
    listed = ROOT / "paper/published"
    given |= {"published": str(listed / "ruff.csv"), "mapping": str(listed / "ruff_mapping.csv")}
    given |= {"printed": given["published"], "study_models": str(listed / "ruff_models.csv")}
    given |= {"every_set": ["replica", "official"]}
    for compare in (published_vs_ours, findings):
        name = compare.__name__
        taken = given | table(folder, name) | {"numbers": str(folder / f"tables/{name}.json")}
        if compare is findings:
            taken["models"] = given["facts"]
        compare(**{key: taken[key] for key in inspect.signature(compare).parameters})


def render(folder, models=TWO, sets=SETS[:4], seeds=3, distractors=range(6), keys=("replica",), asked=DEMONSTRATED):
    """Render a paper from made-up results, ``asked`` being the prompted models; return the folder with its sources."""
    keys, distractors = list(keys), list(distractors)
    asked = prompting(asked, models, distractors)
    parts = [make_set(folder, key, models, sets, seeds, distractors, asked) for key in keys]
    paths = synthetic.write_all(folder, parts)
    settings = {"seeds": seeds, "alpha": 0.05, "bootstrap_draws": 2000, "chance": 1 / len(sets)}
    # In the order of ``keys``: the replica, then the official templates.
    listed = {
        name: sorted(str(path) for path in (folder / "tables").rglob(f"{name}.csv"))[::-1]
        for name in ("instance_counts", "models", "prompted_models", "prompt_templates")
    }
    make_comparisons(
        folder, **paths, **listed, template_sets=keys, facts=models | asked["models"],
        pronoun_sets=[s["set"] for s in sets], settings=settings | {"pronoun_sets": len(sets), "cases": 3},
    )  # fmt: skip
    paper = folder / "paper"
    main_file.write(
        paper, pronoun_sets=sets, engine="packed",
        studies=[{"key": "ruff", "label": "RUFF", "appendix": True, "chances": {}}],
    )  # fmt: skip
    ruff_paper.section(
        section_templates=[str(ROOT / f"paper/sections/{name}.tex.j2") for name in SECTIONS],
        **paths,
        instance_counts=listed["instance_counts"],
        figures=[str(p) for p in sorted((folder / "figures").rglob("*.pdf"))],
        tables=[str(p) for p in sorted((folder / "tables").rglob("*.tex"))],
        comparison_numbers=[str(p) for p in sorted((folder / "tables").glob("*.json"))],
        section_files=[str(paper / f"sections/{name}.tex") for name in SECTIONS],
        paper_numbers=[str(folder / f"analysis/{key}/paper_numbers.json") for key in keys],
        template_sets=keys,
        models=models,
        pronoun_sets=sets,
        distractors=distractors,
        seeds=list(range(seeds)),
        settings=settings,
        sizes=dict.fromkeys(models, 2160),
        prompting=asked,
        uneven=[],
    )
    sources = ["main.tex", *(f"sections/{name}.tex" for name in SECTIONS)]
    rendered = "".join((paper / name).read_text(encoding="utf-8") for name in sources)
    targets = sorted(set(re.findall(r"\\(?:sourced|origin)\{([^}]+)\}", rendered)))
    anchors = "".join(rf"\hypertarget{{{target}}}{{}}" for target in targets)
    others = dict.fromkeys(("currency", "overview", "protocols", "scores", "headlines", "evidence", "findings"), "")
    others["provenance"] = rf"\section{{Sources}}\label{{sec:provenance}}{anchors}"
    for name, text in others.items():
        files.write_text(paper / f"sections/{name}.tex", text)
    return paper


def section(paper):
    """Return the section as a reader sees it, in one line: without links."""
    text = "".join((paper / f"sections/{name}.tex").read_text(encoding="utf-8") for name in SECTIONS)
    text = re.sub(r"\\sourced\{[^}]+\}\{((?:\\.|[^{}]|\{\})*)\}", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r" \\origin\{[^}]+\}", "", text))


RUNS = {
    "one model, one seed": {"models": dict(list(TWO.items())[:1]), "seeds": 1, "distractors": [0, 5]},
    "nobody asked": {"models": dict(list(TWO.items())[1:]), "seeds": 1, "asked": {}},
    "five pronoun sets": {"models": dict(list(PAPER.items())[5:13]), "sets": SETS, "distractors": [0, 2, 4]},
    "all models of the study": {"models": PAPER, "keys": ("replica", "official"), "asked": STUDY},
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """The paper of each of :data:`RUNS`, rendered when it is first asked for; nothing but PDF files is added."""
    return functools.cache(lambda name: render(tmp_path_factory.mktemp("run"), **RUNS[name]))


@pytest.mark.parametrize("run", RUNS)
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


@pytest.mark.parametrize(
    ("run", "said", "unsaid"),
    [
        (
            "one model, one seed",
            ["their answers, which are too few to report"],
            ["findings of the study are",
             "shading: one standard deviation over samples", "official templates",
             # Four instances of each prompt are too few.
             "prompting_vanilla.pdf", r"\ref{fig:ruff-replica-prompting_vanilla}"],
        ),
        (
            "all models of the study",
            ["of 29 models", r"\citep{chung2024}", r"\citep{biderman2023}", "file has the tests of single models.",
             "shading: one standard deviation over samples", "bootstrap intervals over occupations"],
            ["On average over prompts", "goes from", "allal2025", "Demonstration models", "Also made"],
        ),
    ],
)  # fmt: skip
def test_a_run_is_told_what_it_has(rendered, run, said, unsaid):
    paper = rendered(run)
    text = section(paper) + (paper / "main.tex").read_text(encoding="utf-8")
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


@pytest.mark.parametrize("run", ["one model, one seed", "all models of the study"])
def test_tables_have_no_rows_of_what_was_not_compared(rendered, run):
    for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", section(rendered(run))):
        rows = table.partition(r"\midrule")[2].partition(r"\caption")[0].split(r"\\")
        assert not [row for row in rows if re.search("not applicable|not run|not released", row)]


def test_the_study_stands_beside_the_run(rendered):
    text = section(rendered("all models of the study"))
    different = text.split(r"\label{tab:ruff-published}")[0].split(r"\begin{table*}")[-1]
    assert 0 < different.count(r" \\ ") - 1 <= published_table.MOST
    same = r"Of the (\d+) findings that are decided on both template sets, (\d+) ha(?:s|ve) the same verdict"
    decided, agreeing = map(int, re.search(same, text).groups())
    assert 0 < agreeing <= decided <= 20
    counts = r"20 findings, (\d+) holds?, (\d+) fails? and (\d+) (?:is|are) undecided on the official templates"
    # Findings that nobody made up tables for: some are refuted, and of the others the intervals overlap.
    holding, failing, undecided = map(int, re.search(counts, text).groups())
    assert min(failing, undecided) > 0 and holding + failing + undecided == 20


def test_the_body_is_short_and_the_details_have_all_other_figures(rendered):
    body, details = section(rendered("all models of the study")).split(r"\section{RUFF: details}")
    places = {name: (f"official/{name}.pdf}}" in body, f"official/{name}.pdf}}" in details) for name in FIGURES}
    assert all(sum(place) == 1 for place in places.values())
    assert places["who_becomes_whom"][0] and not places["error_types"][0]


def part(**values):
    numbers = {name: {"value": v, "text": f"{v}"} for name, v in values.items()}
    return {"key": "replica", "id": "ruff.replica", "numbers": numbers}


def test_instances_are_one_number_or_a_range():
    made = part(**{"scored.0": 18, "scored.1": 18, "scored.2": 9})
    assert link_numbers(ruff_paper.scored(made, [0, 1])) == r"\sourced{ruff.replica.scored.0}{18}"
    low, high = r"\sourced{ruff.replica.scored.2}{9}", r"\sourced{ruff.replica.scored.1}{18}"
    assert link_numbers(ruff_paper.scored(made, [0, 1, 2])) == f"{low} to {high}"


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
