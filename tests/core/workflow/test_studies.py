"""What follows from a study's declaration: files, and the studies of a run."""

import pytest

from scripts.core.errors import UserError
from scripts.core.workflow import studies
from scripts.core.workflow.model_work import Coreference, Documents, Probes, Prompting, PromptSet, ScoredInstances
from scripts.core.workflow.studies import Study
from tests.refusals import refused

NAMED = {"name": "sixth", "title": "Sixth (a study)", "question": "What?"}


def test_files_are_those_of_the_run():
    folder = "results/sixth"
    study = Study(
        **NAMED,
        parts=["run", "release"],
        figures=[f"{folder}/figures/run/curve", f"{folder}/figures/release/curve", f"{folder}/figures/toy"],
        tables=[f"{folder}/tables/run/counts", f"{folder}/tables/findings"],
        models=["m"],
        scored=ScoredInstances(sets=["replica"], instances=10, options=11, tokens=20),
        texts=Probes(sets=["short"], new_tokens={"short": 5, "long": 9}, tokens=12, counts={"short": {"mask": 2}}),
    )
    assert len(study.figure_files) == 9 and study.figure_files[:2] == [
        f"{folder}/figures/run/curve.pdf", f"{folder}/figures/run/curve.png",
    ]  # fmt: skip
    assert study.table_files == [
        f"{folder}/tables/run/counts.tex", f"{folder}/tables/run/counts.csv", f"{folder}/tables/findings.tex",
        f"{folder}/tables/findings.csv", f"{folder}/tables/findings.json",
    ]  # fmt: skip
    assert study.label == "Sixth"
    assert study.number_files[1] == f"{folder}/analysis/release/paper_numbers.json"
    assert [output.file for output in study.outputs] == [
        f"{folder}/scores/replica/m.parquet", f"{folder}/distributions/short/m.parquet",
    ]  # fmt: skip


def test_a_set_may_be_for_some_models_and_have_its_own_lengths():
    scored = ScoredInstances(
        sets=["replica", "few"], instances=10, options=11, tokens=20, set_lengths={"few": [(4, 60)]},
        set_models={"few": ["b", "c"]},
    )  # fmt: skip
    assert scored.models_of("replica", ["a", "b"]) == ["a", "b"]
    assert scored.models_of("few", ["a", "b"]) == ["b"]
    assert (scored.lengths_of("replica"), scored.lengths_of("few")) == ([(10, 20)], [(4, 60)])
    whole = Study(**NAMED, parts=["replica"], models=["a", "b"], scored=scored)
    assert [(output.set, output.model) for output in whole.outputs] == [
        ("replica", "a"), ("replica", "b"), ("few", "b"),
    ]  # fmt: skip


def test_the_size_of_a_set_follows_its_own_lengths():
    scored = ScoredInstances(
        sets=["replica", "few"], instances=10, options=11, tokens=20, lengths=[(10, 19)],
        set_lengths={"few": [(3, 60), (1, 100)]},
        fewer={"b": {"priority": 4, "instances": 4, "lengths": [(4, 21)]}},
    )  # fmt: skip
    assert scored.size_of("replica", "a") == (10, 20) and scored.size_of("replica", "b") == (4, 20)
    assert scored.size_of("few", "a") == scored.size_of("few", "b") == (4, pytest.approx(5200**0.5))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"figurs": []}, ["rules/sixth.smk", "no field 'figurs'", "did you mean 'figures'?"]),
        ({"parts": None}, ["rules/sixth.smk", "lacks 'parts'"]),
    ],
)
def test_a_declaration_has_the_fields_of_a_study(changed, told):
    given = {name: value for name, value in (NAMED | {"parts": ["x"]} | changed).items() if value is not None}
    with refused(*told):
        studies.declare_study(**given)


def test_what_models_and_systems_read_follows_from_what_they_leave():
    study = studies.declare_study(
        **NAMED,
        parts=["x"],
        models=["m", "n"],
        scored=ScoredInstances(sets=["a"], instances=10, options=11, tokens=20),
        prompted=PromptSet(sets=["a"], models={"n": Prompting([], {}, []), "p": Prompting([], {}, [])}, tokens=5),
        texts=Probes(sets=["t"], new_tokens={}, tokens=12, counts={}),
        resolved=Coreference(sets=["d"], documents={n: Documents(f"{n}.parquet", "id", 5, 20) for n in ("d", "e")}),
    )
    folder = "results/sixth"
    assert study.read_files == [
        f"{folder}/instances/a/selected.parquet", f"{folder}/texts/t.parquet", f"{folder}/prompts/a.parquet",
        "d.parquet",
    ]  # fmt: skip
    # A model that is only prompted reads no texts.
    assert study.is_read_by("n") and not study.is_read_by("p")
    assert [output.file for output in study.outputs_of("p")] == [f"{folder}/answers/a/p.parquet"]


def test_studies_of_a_run_are_in_the_papers_order():
    known = ("one", "two", "three")
    assert studies.select_studies("all", known) == ["one", "two", "three"]
    assert studies.select_studies(["three", "one"], known) == ["one", "three"]
    with pytest.raises(UserError, match=r"studies: 'twoo' is not a study; did you mean 'two'\?"):
        studies.select_studies(["one", "twoo"], known)


def test_a_study_reads_with_the_models_that_score_a_set():
    scored = ScoredInstances(["a", "b"], 10, 4, 20, set_models={"a": ["one"], "b": []})
    given = NAMED | {"parts": ["x"], "models": ["one", "two"]}
    study = Study(**given, scored=scored)
    assert study.is_read_by("one") and not study.is_read_by("two")
    whole = Study(**given, scored=ScoredInstances(["a"], 10, 4, 20))
    assert whole.is_read_by("two") and not whole.is_read_by("three")
    assert not Study(**given).is_read_by("one")


def test_clusters_of_a_study_are_those_of_its_systems_and_sets():
    documents = {name: Documents(f"results/s/{name}.parquet", "id", 5, 20) for name in ("a", "b/c", "d")}
    given = NAMED | {"parts": ["x"]}
    study = Study(**given, systems=["one", "two"], resolved=Coreference(sets=["a", "b/c"], documents=documents))
    assert study.cluster_files == [
        f"results/sixth/clusters/{name}/{system}.jsonl" for name in ("a", "b/c") for system in ("one", "two")
    ]
    assert Study(**given, systems=["one"]).cluster_files == []
