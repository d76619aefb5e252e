"""MISGENDERED's rules with one template less and one pronoun group more, from templates to the section."""

import json

import pytest
import yaml

from scripts.core import files

pytestmark = pytest.mark.workflow

GROUP = "ve\tve\tver\tvis\tvis\tverself\tneo\n"
GROUPS = ["he", "she", "they", "thon", "e", "ae", "co", "vi", "xe", "ey", "ze", "ve"]


@pytest.fixture(scope="module")
def changed(fresh):
    """The results of a run without the fifth template and with another group."""
    workflow = fresh(("tiny-opt",))
    templates = workflow.folder / "templates/misgendered/templates.tsv"
    lines = templates.read_text(encoding="utf-8").splitlines(keepends=True)
    templates.write_text("".join(line for line in lines if not line.startswith("4\t")), encoding="utf-8")
    pronouns = workflow.folder / "templates/pronouns.tsv"
    pronouns.write_text(pronouns.read_text(encoding="utf-8") + GROUP, encoding="utf-8")
    overlay = workflow.folder / "config/test.yaml"
    settings = yaml.safe_load(overlay.read_text(encoding="utf-8"))
    settings["studies"] = ["misgendered"]
    settings["misgendered"] |= {"pronoun_sets": GROUPS, "sample": {"instances": 240}}
    overlay.write_text(yaml.safe_dump(settings), encoding="utf-8")
    done = workflow.snakemake("misgendered", "results/paper/sections/misgendered.tex")
    assert done.returncode == 0, done.stdout[-6000:]
    return workflow


@pytest.fixture(scope="module")
def results(changed):
    return changed.folder / "results/misgendered"


def test_tables_of_templates_and_groups_follow(results):
    assert len(files.read_csv(results / "tables/replica/templates.csv")) == 49
    pronouns = files.read_csv(results / "tables/replica/pronouns.csv")
    assert list(pronouns["Nom."]) == GROUPS
    assert pronouns["Ref."].iloc[-1] == "verself"


def test_instances_scores_and_accuracies_follow(results):
    instances = files.read_parquet(results / "instances/replica/selected.parquet")
    assert 4 not in set(instances.template_index) and set(instances.group) == set(GROUPS)
    scores = files.read_parquet(results / "scores/replica/tiny-opt.parquet")
    assert "ver" in set(scores.option)
    accuracy = files.read_csv(results / "estimates.csv")
    of_group = accuracy[(accuracy.group == "ve") & (accuracy.model == "tiny-opt")]
    assert len(of_group) and (of_group.pronoun_type == "neo").all()
    predictions = files.read_parquet(results / "predictions/replica.parquet")
    assert set(predictions.shots) == {0, 1}


def test_figures_and_numbers_follow(results):
    drawn = files.read_csv(results / "figures/replica/accuracy_by_group.csv")
    assert set(drawn.group) == set(GROUPS)
    numbers = json.loads((results / "analysis/replica/paper_numbers.json").read_text(encoding="utf-8"))
    assert numbers["size.groups"]["value"] == 12
    assert numbers["size.templates"]["value"] == 49 and numbers["size.templates.smallest"]["value"] == 9
    # 49 templates, 500 names, 12 groups.
    assert numbers["size.one"]["value"] == 294_000
    assert numbers["chance"]["value"] < 0.0945


def test_other_groups_are_not_compared_with_the_study(results):
    compared = files.read_csv(results / "tables/published_vs_ours.csv")
    likelihood = compared[(compared.variant == "likelihood") & (compared.templates == "replica")]
    assert set(likelihood.verdict) == {"not run"}
    assert "ve" in (results.parent / "paper/sections/misgendered.tex").read_text(encoding="utf-8")


def test_a_second_run_has_nothing_to_do(changed):
    assert changed.planned("misgendered", "results/paper/sections/misgendered.tex") == {}
