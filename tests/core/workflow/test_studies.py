"""What follows from a study's declaration: files, rules, and the studies of a run."""

import doctest

import pytest

from scripts.core.errors import UserError
from scripts.core.workflow import studies
from scripts.core.workflow.studies import Coreference, Documents, Probes, ScoredInstances, Study, combine, result


def root(path):
    return f"house/{path}"


@pytest.fixture
def study():
    return Study(
        name="sixth",
        label="Sixth",
        title="A sixth study",
        part="source",
        parts=["run", "first.release"],
        every_part=["run", "first.release", "second"],
        figures={
            "curve": result("slopes", params={"n": 3}, printed="printed.csv"),
            "rows": result(
                path="{source}/rows_{kind}", targets=combine(source=["run"], kind=["a", "b"]), script="bars"
            ),
            "toy": result(path="toy", mem_mb=9000),
        },
        tables={"counts": result("slopes")},
        comparisons={"findings": result(tables=["a.csv"])},
        analysis_rules={
            "slopes": result(masses="m.parquet", outputs=["slopes", "sums.parquet"], runtime=20),
            "totals": result(path="", outputs={"sums": "all_sums"}),
        },
        numbers=result("slopes"),
        section=result(params={"sources": ["run"]}),
        models=["m"],
        scored=ScoredInstances(sets=["replica"], instances=10, options=11, tokens=20),
        texts=Probes(sets=["short"], new_tokens={"short": 5, "long": 9}, tokens=12, counts={"short": {"mask": 2}}),
    )


def test_examples():
    assert doctest.testmod(studies).attempted > 0
    assert doctest.testmod(studies).failed == 0


def test_files_are_those_of_the_run(study):
    assert study.files("figure", suffixes=(".pdf",)) == [
        "results/sixth/figures/run/curve.pdf",
        "results/sixth/figures/first.release/curve.pdf",
        "results/sixth/figures/run/rows_a.pdf",
        "results/sixth/figures/run/rows_b.pdf",
        "results/sixth/figures/toy.pdf",
    ]
    assert study.files("comparison") == [f"results/sixth/tables/findings{end}" for end in (".csv", ".tex", ".json")]
    assert len(study.files()) == 5 * 3 + 2 * 2 + 3
    assert study.number_files[1] == "results/sixth/analysis/first.release/paper_numbers.json"
    assert study.section_files == ["results/paper/sections/sixth.tex"]
    assert study.score_files == ["results/sixth/scores/replica/m.parquet"]
    assert study.distribution_files == ["results/sixth/distributions/short/m.parquet"]


def test_a_set_may_be_for_some_models_and_have_its_own_lengths():
    scored = ScoredInstances(
        sets=["replica", "few"], instances=10, options=11, tokens=20, set_lengths={"few": [(4, 60)]},
        set_models={"few": ["b", "c"]},
    )  # fmt: skip
    assert scored.models_of("replica", ["a", "b"]) == ["a", "b"]
    assert scored.models_of("few", ["a", "b"]) == ["b"]
    assert (scored.lengths_of("replica"), scored.lengths_of("few")) == ([(10, 20)], [(4, 60)])
    whole = Study(
        name="s", label="S", title="S", parts=["replica"], models=["a", "b"], numbers=result(), section=result(),
        scored=scored,
    )  # fmt: skip
    assert whole.score_files == [f"results/s/scores/{path}.parquet" for path in (
        "replica/a", "replica/b", "few/b",
    )]  # fmt: skip


def test_the_size_of_a_set_follows_its_own_lengths():
    scored = ScoredInstances(
        sets=["replica", "few"], instances=10, options=11, tokens=20, lengths=[(10, 19)],
        set_lengths={"few": [(3, 60), (1, 100)]},
        fewer={"b": {"priority": 4, "instances": 4, "lengths": [(4, 21)]}},
    )  # fmt: skip
    assert scored.size_of("replica", "a") == (10, 20) and scored.size_of("replica", "b") == (4, 20)
    assert scored.size_of("few", "a") == scored.size_of("few", "b") == (4, pytest.approx(5200**0.5))


def test_rules_carry_one_name(study):
    rules = {rule.name: rule for rule in study.rules(root)}
    assert list(rules) == [
        "sixth_figure_curve", "sixth_figure_rows", "sixth_figure_toy", "sixth_table_counts", "sixth_findings",
        "sixth_paper_numbers", "sixth_section", "sixth_slopes", "sixth_totals",
    ]  # fmt: skip
    curve = rules["sixth_figure_curve"]
    assert curve.script == "sixth/figures"
    assert curve.inputs == {"slopes": "results/sixth/analysis/{source}/slopes.csv", "printed": "printed.csv"}
    assert curve.outputs["png"] == "results/sixth/figures/{source}/curve.png"
    assert curve.log == "results/logs/sixth_figure_curve/{source}.log"
    assert (curve.reported, curve.environment, curve.params, curve.resources) == ("png", "analysis", {"n": 3}, {})
    # All parts that there can be, not those of this run alone; signs are no pattern.
    assert curve.constraints == {"source": r"run|first\.release|second"}
    rows = rules["sixth_figure_rows"]
    assert rows.script == "sixth/bars"
    assert rows.log == "results/logs/sixth_figure_rows/{source}_{kind}.log"
    toy = rules["sixth_figure_toy"]
    assert (toy.constraints, toy.log) == ({}, "results/logs/sixth_figure_toy/all.log")
    assert toy.resources == {"mem_mb": 9000}
    assert rules["sixth_findings"].outputs["numbers"] == "results/sixth/tables/findings.json"
    assert rules["sixth_findings"].inputs == {"tables": ["a.csv"]}
    assert [rules[f"sixth_{name}"].script for name in ("findings", "paper_numbers", "table_counts")] == [
        "sixth/findings", "sixth/paper", "sixth/tables",
    ]  # fmt: skip
    slopes, totals = rules["sixth_slopes"], rules["sixth_totals"]
    assert (slopes.script, slopes.resources) == ("sixth/analyses", {"runtime": 20})
    folder = "results/sixth/analysis/{source}"
    assert slopes.outputs == {"slopes": f"{folder}/slopes.csv", "sums": f"{folder}/sums.parquet"}
    assert totals.outputs == {"sums": "results/sixth/analysis/all_sums.csv"}


def test_a_section_gets_what_it_shows(study):
    section = {rule.name: rule for rule in study.rules(root)}["sixth_section"]
    assert section.inputs == {
        "section_template": "house/paper/sections/sixth.tex.j2",
        "numbers": study.number_files,
        "figures": study.files("figure", suffixes=(".pdf",)),
        "tables": study.files(suffixes=(".tex",)),
        "comparison_numbers": ["results/sixth/tables/findings.json"],
    }
    assert (section.script, section.environment) == ("sixth/paper", "paper")
    assert section.outputs == {"section_tex": "results/paper/sections/sixth.tex"}


def test_studies_of_a_run_are_in_the_papers_order():
    known = ("one", "two", "three")
    assert studies.select_studies("all", known) == ["one", "two", "three"]
    assert studies.select_studies(["three", "one"], known) == ["one", "three"]
    with pytest.raises(UserError, match=r"studies: 'twoo' is not a study; did you mean 'two'\?"):
        studies.select_studies(["one", "twoo"], known)


def test_a_study_reads_with_the_models_that_score_a_set():
    scored = ScoredInstances(["a", "b"], 10, 4, 20, set_models={"a": ["one"], "b": []})
    given = {"name": "s", "label": "S", "title": "S", "parts": ["x"], "numbers": None, "section": None}
    given["models"] = ["one", "two"]
    study = Study(**given, scored=scored)
    assert study.reads("one") and not study.reads("two")
    whole = Study(**given, scored=ScoredInstances(["a"], 10, 4, 20))
    assert whole.reads("two") and not whole.reads("three")
    assert not Study(**given).reads("one")


def test_clusters_of_a_study_are_those_of_its_systems_and_sets():
    documents = {name: Documents(f"results/s/{name}.parquet", "id", 5, 20) for name in ("a", "b/c", "d")}
    given = {"name": "s", "label": "S", "title": "S", "parts": ["x"], "numbers": None, "section": None}
    study = Study(**given, systems=["one", "two"], resolved=Coreference(sets=["a", "b/c"], documents=documents))
    assert study.cluster_files == [
        f"results/s/clusters/{name}/{system}.jsonl" for name in ("a", "b/c") for system in ("one", "two")
    ]
    assert Study(**given, systems=["one"]).cluster_files == []
