"""Published numbers beside those of a run: the study's own pattern, the demonstration run, and what lies between."""

import inspect
import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import latex, published
from scripts.ruff.published import published_vs_ours
from tests.ruff import pattern, synthetic

PUBLISHED = pattern.ROOT / "paper/published"
SETTINGS = {"alpha": 0.05, "chance": 0.25, "seeds": 3, "pronoun_sets": 4, "cases": 3}


def run_script(main, folder, run, tables, keys=("replica",), pronoun_sets=pattern.SETS, **inputs):
    """Run a script that sets the study beside the ``tables`` of a run; return its CSV, LaTeX and numbers."""
    csv, tex, numbers = (folder / f"out.{kind}" for kind in ("csv", "tex", "json"))
    paths = {name: str(folder / f"{name}.csv") for name in ("estimates", "pronoun_tests")}
    for name, path in paths.items():
        files.write_csv(path, pd.concat([tables[name].assign(templates=key) for key in keys]))
    given = paths | inputs
    main(
        **{name: given[name] for name in given if name in inspect.signature(main).parameters},
        study_models=str(PUBLISHED / "ruff_models.csv"),
        csv=str(csv),
        tex=str(tex),
        numbers=str(numbers),
        template_sets=list(keys),
        every_set=["replica", "official"],
        pronoun_sets=list(pronoun_sets),
    )
    return files.read_csv(csv), tex.read_text(encoding="utf-8"), json.loads(numbers.read_text(encoding="utf-8"))


def compare(folder, run, tables, keys=("replica",), **options):
    """Run the script as :func:`run_script` says."""
    published, mapping = (str(PUBLISHED / name) for name in ("ruff.csv", "ruff_mapping.csv"))
    paths = {name: str(folder / f"{name}.csv") for name in ("instance_counts", "models")}
    files.write_csv(paths["instance_counts"], pattern.instance_counts())
    files.write_csv(paths["models"], pd.DataFrame.from_dict(run, orient="index").rename_axis("model").reset_index())
    listed = {name: [path] * len(keys) for name, path in paths.items()}
    return run_script(
        published_vs_ours, folder, run, tables, keys, published=published, mapping=mapping, **listed,
        prompted_models=[], prompt_templates=[], facts=run, settings=SETTINGS, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    run = pattern.models()
    return compare(tmp_path_factory.mktemp("complete"), run, pattern.tables(run), ("replica", "official"))


def test_the_studys_own_pattern_agrees_with_it(complete):
    found, _, numbers = complete
    assert found.templates.value_counts().to_dict() == {"replica": 166, "official": 166}
    compared = found[(found.kind != "setting") & found.table.notna()]
    assert not compared.empty
    assert set(compared.verdict) == {"as printed", "within tolerance"}
    drop = found[found.item == "ruff_accuracy_drop"].iloc[0]
    assert drop.ours == pytest.approx(34, abs=0.1)
    total = found[found.item == "ruff_instances_total"].iloc[0]
    assert total.ours == pytest.approx(5.6232)
    # The registry counts parameters; the study prints nominal sizes.
    differs = found[found.verdict == "differs"]
    assert set(differs.item) <= {"ruff_model_parameters"}
    assert "ALBERT-v2 | xxlarge" in set(differs.row)
    assert numbers["published.official.results.differs"]["value"] == 0


def test_every_row_without_a_number_says_why(complete):
    found = complete[0]
    assert found[found.verdict.isin(["not run", "not applicable"])].reason.notna().all()
    assert found[found.verdict != "not run"].reason.isna().all()
    assert found[found.verdict != "not run"].ours.notna().all()


@pytest.mark.parametrize("name", ["mosaicbert", "bert-large"])
def test_a_moved_number_differs(tmp_path, name):
    run = pattern.models()
    tables = pattern.tables(run)
    moved = (tables["estimates"].model == name) & (tables["estimates"].metric == "accuracy")
    tables["estimates"].loc[moved, ["value", "low", "high"]] -= 0.2
    found, tex, numbers = compare(tmp_path, run, tables)
    wrong = found[(found.verdict == "differs") & (found.kind != "setting")]
    assert set(wrong.models) == {name}
    assert wrong.difference.between(-0.25, -0.15).all()
    assert numbers["published.replica.results.differs"]["value"] == len(wrong) == 2
    assert all(latex.escape(published.quantity(row, "ruff")) in tex for row in wrong.to_dict("records"))


def test_demonstration_models_are_never_compared(tmp_path):
    run = synthetic.DEMONSTRATION
    found, tex, numbers = compare(tmp_path, run, synthetic.tables(run, synthetic.SETS[:4]))
    asked = found[found.models.notna()]
    assert len(asked) > 50
    assert set(asked.verdict) == {"not run"}
    # What needs no model is compared: the instances.
    counted = found[(found.item == "ruff_instances_created") & (found.templates == "replica")]
    assert set(counted.verdict) == {"as printed"}
    assert set(found[found.templates == "official"].verdict) == {"not run"}
    assert numbers["published.replica.results.differs"]["value"] == 0
    assert "MosaicBERT" not in tex


def test_a_demonstration_model_under_a_studys_name_is_left_out(tmp_path):
    run = pattern.models()
    run["mosaicbert"] = run["mosaicbert"] | {"demonstration": True}
    found, _, _ = compare(tmp_path, run, pattern.tables(run))
    own = found[(found.models == "mosaicbert") & (found.templates == "replica")]
    assert set(own.verdict) == {"not run"}
    assert set(own.reason) == {"not in this run: mosaicbert"}
    pooled = found[(found.item == "ruff_accuracy_drop") & (found.templates == "replica")]
    assert pooled.reason.tolist() == ["not in this run: mosaicbert"]


def test_other_pronoun_sets_are_another_experiment(tmp_path):
    run = pattern.models()
    found, _, _ = compare(tmp_path, run, pattern.tables(run), pronoun_sets=[*pattern.SETS, "ey"])
    asked = found[(found.variant == "likelihood") & found.table.notna() & (found.templates == "replica")]
    assert set(asked.verdict) == {"not run"}
    assert set(asked.reason) == {"not in this run: a choice among exactly he, she, they, xe"}
    registry = found[(found.variant == "registry") & (found.templates == "replica")]
    assert "within tolerance" in set(registry.verdict)


def test_counts_of_instances_do_not_apply_to_other_pronoun_sets(tmp_path):
    """They depend on the number of sets; numbers of task sentences and of samples do not."""
    run = pattern.models()
    found, tex, _ = compare(tmp_path, run, pattern.tables(run), pronoun_sets=["he", "she", "xe"])
    own = found[found.templates == "replica"].set_index("item")
    for item in ("ruff_instances_created", "ruff_subset_size", "ruff_instances_total"):
        rows = own.loc[[item]]
        assert set(rows.verdict) == {"not applicable"}
        assert set(rows.reason) == {
            "the study counts instances of the pronoun sets he, she, they, xe; this run has he, she, xe"
        }
        assert rows.ours.isna().all()
    fixed = ["ruff_task_sentences", "ruff_subsets", "ruff_distractors", "ruff_grammatical_cases", "ruff_task_templates"]
    assert set(own.loc[fixed].verdict) == {"as printed"}
    assert (own.verdict == "not applicable").sum() >= 13
    assert "not applicable" not in tex
    # A template set that was not run says so first.
    assert set(found[found.templates == "official"].verdict) == {"not run"}


def test_with_the_studys_sets_every_count_applies(complete):
    assert "not applicable" not in set(complete[0].verdict)


def test_a_run_of_some_models_compares_what_it_can(tmp_path):
    run = {name: facts for name, facts in pattern.models().items() if name.startswith(("bert", "opt"))}
    found, _, _ = compare(tmp_path, run, pattern.tables(run))
    own = found[(found.templates == "replica") & (found.item == "ruff_accuracy") & found.table.notna()]
    assert set(own[own.models.isin(run)].verdict) == {"as printed"}
    assert set(own[own.models.isin(["mosaicbert", "llama-2-70b"])].verdict) == {"not run"}
    pooled = found[(found.item == "ruff_accuracy_drop") & (found.templates == "replica")].iloc[0]
    assert pooled.reason.startswith("not in this run: albert-base-v2")
    assert pooled.reason.endswith("more")
