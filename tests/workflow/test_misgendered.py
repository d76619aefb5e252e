"""MISGENDERED's rules with one template less and one pronoun group more, from templates to the section."""

import json

import pytest
import yaml

from scripts.core import files

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]

GROUP = "ve\tve\tver\tvis\tvis\tverself\tneo\n"
GROUPS = ["he", "she", "they", "thon", "e", "ae", "co", "vi", "xe", "ey", "ze", "ve"]
TARGETS = ("misgendered", "results/paper/sections/misgendered.tex")


@pytest.fixture(scope="module")
def changed(fresh):
    """A run without the fifth template and with another group."""
    workflow = fresh(("tiny-opt",))
    templates = workflow.folder / "templates/misgendered/templates.tsv"
    lines = templates.read_text(encoding="utf-8").splitlines(keepends=True)
    templates.write_text("".join(line for line in lines if not line.startswith("4\t")), encoding="utf-8")
    with (workflow.folder / "templates/pronouns.tsv").open("a", encoding="utf-8") as pronouns:
        pronouns.write(GROUP)
    overlay = workflow.folder / "config/test.yaml"
    settings = yaml.safe_load(overlay.read_text(encoding="utf-8"))
    settings["studies"] = ["misgendered"]
    settings["misgendered"] |= {"pronoun_sets": GROUPS, "sample": {"instances": 240}}
    overlay.write_text(yaml.safe_dump(settings), encoding="utf-8")
    done = workflow.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout[-6000:]
    assert workflow.planned(*TARGETS) == {}
    return workflow


def test_instances_scores_and_estimates_follow(changed):
    results = changed.folder / "results/misgendered"
    instances = files.read_parquet(results / "instances/replica/selected.parquet")
    assert 4 not in set(instances.template_index) and set(instances.group) == set(GROUPS)
    assert "ver" in set(files.read_parquet(results / "scores/replica/tiny-opt.parquet").option)
    accuracy = files.read_csv(results / "estimates.csv")
    of_group = accuracy[(accuracy.group == "ve") & (accuracy.model == "tiny-opt")]
    assert len(of_group) and (of_group.pronoun_type == "neo").all()
    assert set(files.read_parquet(results / "predictions/replica.parquet").shots) == {0, 1}


def test_tables_figures_and_the_section_follow(changed):
    results = changed.folder / "results/misgendered"
    assert len(files.read_csv(results / "tables/replica/templates.csv")) == 49
    pronouns = files.read_csv(results / "tables/replica/pronouns.csv")
    assert list(pronouns["Nom."]) == GROUPS and pronouns["Ref."].iloc[-1] == "verself"
    assert set(files.read_csv(results / "figures/replica/accuracy_by_group.csv").group) == set(GROUPS)
    numbers = json.loads((results / "analysis/replica/paper_numbers.json").read_text(encoding="utf-8"))
    assert (numbers["size.groups"]["value"], numbers["size.templates"]["value"]) == (12, 49)
    # 49 templates, 500 names, 12 groups.
    assert numbers["size.one"]["value"] == 294_000 and numbers["chance"]["value"] < 0.0945
    # Other groups are not compared with the study.
    compared = files.read_csv(results / "tables/published_vs_ours.csv")
    likelihood = compared[(compared.variant == "likelihood") & (compared.templates == "replica")]
    assert set(likelihood.verdict) == {"not run"}
    assert "ve" in (results.parent / "paper/sections/misgendered.tex").read_text(encoding="utf-8")
