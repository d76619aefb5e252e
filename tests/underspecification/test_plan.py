"""The plan of a run: sources, sets and texts, and what is refused before any job."""

from scripts.underspecification.plan import SETS, Plan, kind_of, method_of
from tests import plans
from tests.conftest import ROOT
from tests.refusals import refused


def plan(*models, **changes):
    words = ROOT / "templates/underspecification/words.tsv"
    return Plan.of(plans.settings("underspecification", changes), plans.select(*models), words)


def test_sources_are_releases_and_the_run_if_it_has_models():
    made = plan(plans.ENCODER, released=["preprint"])
    folder = "results/underspecification/word_group_probabilities"
    assert made.parts == ["preprint", "run"]
    assert made.probabilities_of("run") == [f"{folder}/run/{plans.ENCODER}.parquet"]
    assert made.probabilities_of("preprint") == [f"{folder}/released/preprint.parquet"]
    assert plan(released=["aaai"]).parts == ["aaai"]
    assert [plan(plans.ENCODER, released=released).has_shares for released in ([], ["aaai"])] == [False, True]
    assert plan(plans.ENCODER, released=[], templates=["replica", "official"]).has_shares


def test_sets_decide_texts():
    made = plan(
        plans.ENCODER, templates=["official"], sample={"dates": 2, "places": 3, "occupations": 4}, outer_dates=1,
        max_new_tokens={"mgc": 5, "winogender": 6}, prompts={"mgc": ["A"], "winogender": ["A", "B"]},
    )  # fmt: skip
    assert made.texts.sets == made.sets == ["mgc", "winogender_official", "simplified_official"]
    assert made.texts.new_tokens == {name: 5 if name == "mgc" else 6 for name in SETS}
    assert made.texts.counts["mgc"] == {"mask": 300, "generate": 300}
    assert made.texts.counts["simplified_official"]["generate"] == 2 * made.texts.counts["simplified_official"]["mask"]
    assert {"female", "male", "neutral"} <= made.texts.word_groups.keys()
    assert [kind_of(name) for name in made.sets] == ["mgc", "winogender", "simplified"]
    assert [method_of(name) for name in made.sets] == ["mgc", "winogender", "winogender"]


def test_a_run_without_models_and_releases_is_refused():
    with refused("underspecification.released", "models", "studies"):
        plan(released=[])
