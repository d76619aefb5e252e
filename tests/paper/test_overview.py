"""The overview over all studies: its section, its table and the first page of the report."""

import re

import pytest

from scripts.core import estimate_rows, files
from scripts.core.paper import claims
from scripts.core.paper.claims import Check, Claim
from scripts.paper import paper_overview
from tests.paper.test_paper import DOCUMENT, ROOT, build, needs_tex

STUDIES = [
    {
        "key": "one",
        "label": "One",
        "question": "Does it_ rise?",
        "parts": ["replica", "official"],
    },
    {
        "key": "two",
        "label": "Two",
        "question": "",
        "parts": ["run"],
    },
]


@pytest.fixture
def made(tmp_path):
    """The overview of two studies, of which one tests findings and has a picture."""
    rows = [
        {"part": "replica", "model": model, "kind": "model", "scoring": "probability", "metric": "accuracy",
         "pronoun": pronoun, "value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "n_unit": "instances", "label": model,
         "headline": True}
        for model in ("A_1", "B") for pronoun in ("", "xe")
    ]  # fmt: skip
    paths = [tmp_path / f"{name}.csv" for name in ("one", "two", "all")]
    estimate_rows.write(paths[0], "one", rows)
    estimate_rows.write(paths[1], "two", rows[:1])
    files.write_csv(paths[2], estimate_rows.read(paths[:2]))
    folder = tmp_path / "results/one/tables"
    found = [
        Claim(
            n, "S", f"Finding {n}.", lambda run, n=n: [Check(run < n if n < 12 else None, missing=("C",) * (n == 12))]
        )
        for n in range(1, 13)
    ]
    beside = {kind: folder / f"claims.{kind}" for kind in ("csv", "tex", "json")}
    claims.write(
        found, {"replica": 1, "official": 99}, ["replica", "official"],
        csv=beside["csv"], tex=beside["tex"], numbers=beside["json"],
    )  # fmt: skip
    picture = tmp_path / "results/one/figures/replica/a.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"PNG")
    outputs = {name: tmp_path / f"out/{name}" for name in ("overview_tex", "tex", "csv", "report_rst")}
    relative = {path: str(path.relative_to(tmp_path)) for path in (beside["csv"], beside["json"], picture)}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        paper_overview.main(
            template=str(ROOT / "paper/overview.tex.j2"), summary_csv=str(paths[2]),
            verdicts=[relative[beside["csv"]]], verdict_counts=[relative[beside["json"]]],
            headline=[relative[picture]], headline_titles={relative[picture]: "One: A"},
            studies=STUDIES, **{name: str(path) for name, path in outputs.items()},
        )  # fmt: skip
    return {name: path.read_text(encoding="utf-8") for name, path in outputs.items()} | {"folder": tmp_path}


def test_a_study_is_named_once_and_constant_columns_are_told_in_the_caption(made):
    lines = made["tex"].splitlines()
    assert r"One & A\_1 & accuracy & 0.500 [0.400, 0.600] \\" not in lines
    body = [line for line in lines if "accuracy" in line]
    assert [line.partition("&")[0].strip() for line in body] == ["One", "", "", "", "Two"]
    assert lines.index(r"\midrule", lines.index(body[3])) < lines.index(body[4])
    assert "n: 9 instances." in made["overview_tex"] and "Status: run." in made["overview_tex"]
    assert files.read_csv(made["folder"] / "out/csv").label.tolist() == ["A_1", "B", "A_1", "B", "A_1"]


def test_findings_are_counted_and_named_and_what_is_open_is_one_sentence(made):
    text = re.sub(r"\\sourced\{[^}]+\}\{([^}]*)\}", r"\1", made["overview_tex"])
    assert r"Of 12 findings of the study, on the \emph{replica} data 10 hold and 1 fails; 1 cannot be decided" in text
    assert "most often for want of C (1 of them)." in text
    # Some are named, the others counted.
    assert (
        r"\emph{Holds:} Finding 2. Finding 3." in text and "Finding 9. (2 more.)" in text and "Finding 10" not in text
    )
    assert r"\paragraph{Two.}" not in text
    assert r"\paragraph{One.} Does it\_ rise?" in text


def test_the_reports_page_says_the_same(made):
    page = made["report_rst"]
    assert "on the replica data 10 hold and 1 fails; 1 cannot be decided" in page
    assert "**One: A**" in page and "base64,UE5H" in page


@needs_tex
def test_it_can_be_typeset(made, tmp_path):

    folder = tmp_path / "typeset"
    folder.mkdir()
    (folder / "proceedings.sty").write_text((ROOT / "paper/proceedings.sty").read_text())
    text = made["overview_tex"]
    anchors = "".join(
        rf"\hypertarget{{{name}}}{{}}" for name in set(re.findall(r"\\(?:sourced|origin)\{([^}]+)\}", text))
    )
    document = DOCUMENT.replace("{article}", "[10pt,twocolumn]{article}" + r"\usepackage{proceedings}")
    (folder / "body.tex").write_text(text + anchors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.paper.test_paper.DOCUMENT", document)
        build(folder, r"\input{body}")
    assert (folder / "main.pdf").is_file()
