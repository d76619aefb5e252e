"""What RUFF asks of a run's pronoun sets and models, and what it has in common with the study."""

import pytest

from scripts.core.data import options, templates
from scripts.ruff import study
from tests import plans
from tests.refusals import refused
from tests.ruff.synthetic import FOUR, SHARING

KNOWN = plans.PRONOUNS | SHARING
REFUSED = {
    "none": ([], ["pronoun_sets", "at least three", "has none"]),
    "one": (["he"], ["pronoun_sets", "at least three", "has one, he", "add some of"]),
    "two": (["he", "xe"], ["pronoun_sets", "at least three", "has two, he and xe", "add some of"]),
    "shared-form": (["he", "e", "they", "ey"], ["'e'", "'ey'", "accusative", "'em'", "remove"]),
}


@pytest.mark.parametrize(("names", "named"), REFUSED.values(), ids=REFUSED)
def test_sets_that_cannot_tell_people_apart_are_refused(names, named):
    with refused(*named):
        study.select_pronoun_sets(KNOWN, names)


@pytest.mark.parametrize(("names", "chance"), [(FOUR, 0.25), (["xe", "he", "they"], 1 / 3)])
def test_sets_keep_their_order_and_chance_is_one_among_them(names, chance):
    selected = study.select_pronoun_sets(KNOWN, names)
    assert list(selected) == names and options.chance_of_sets(selected, templates.CASES) == chance


def test_only_the_studys_own_sets_are_compared_with_it():
    assert study.explain_other_sets(FOUR[::-1]) == ""
    assert study.explain_other_sets(FOUR[:3]).endswith("the pronoun sets he, she, they, xe; this run has he, she, they")


KEYS = ("demonstration", "architecture", "parameters")
RUNS = {
    "largest-decoder": (
        {"a": (False, "encoder", 9), "b": (False, "decoder", 3), "c": (False, "decoder", 5)}, "c", ["a", "b", "c"]
    ),
    "demonstration-last": ({"a": (False, "encoder", 9), "b": (True, "decoder", 3)}, "a", ["a"]),
    "demonstration-alone": ({"b": (True, "decoder", None)}, "b", ["b"]),
}  # fmt: skip


@pytest.mark.parametrize(("models", "main", "pooled"), RUNS.values(), ids=RUNS)
def test_demonstration_models_stand_for_a_run_only_by_themselves(models, main, pooled):
    models = {name: dict(zip(KEYS, facts, strict=True)) for name, facts in models.items()}
    assert (study.main_model(models), study.pooled_models(models)) == (main, pooled)
