"""Published numbers beside those of a run: one in which every number comes out, and what a run lacks or has besides."""

import inspect
import json

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import latex, published_table
from scripts.ruff.published import published_vs_ours
from tests.ruff import synthetic
from tests.ruff.synthetic import FOUR, PUBLISHED

SETTINGS = {"alpha": 0.05, "chance": 0.25, "seeds": 3, "pronoun_sets": 4, "cases": 3}
INSTANCES = {0: 7200, 1: 86400, 2: 345600, 3: 1036800, 4: 2073600, 5: 2073600}


def run_script(main, folder, tables, keys=("replica",), pronoun_sets=FOUR, **inputs):
    """Run a script that sets the study beside the ``tables`` of a run; return its CSV, LaTeX and numbers."""
    csv, tex, numbers = (folder / f"out.{kind}" for kind in ("csv", "tex", "json"))
    paths = {name: str(folder / f"{name}.csv") for name in ("estimates", "pronoun_tests")}
    for name, path in paths.items():
        files.write_csv(path, pd.concat([tables[name].assign(templates=key) for key in keys]))
    given = paths | inputs | {"csv": str(csv), "tex": str(tex), "numbers": str(numbers)}
    given |= {"study_models": str(PUBLISHED / "ruff_models.csv"), "template_sets": list(keys)}
    given |= {"every_set": ["replica", "official"], "pronoun_sets": list(pronoun_sets)}
    main(**{name: given[name] for name in inspect.signature(main).parameters})
    return files.read_csv(csv), tex.read_text(encoding="utf-8"), json.loads(numbers.read_text(encoding="utf-8"))


def compare(folder, run, tables, keys=("replica",), **options):
    published, mapping = (str(PUBLISHED / name) for name in ("ruff.csv", "ruff_mapping.csv"))
    paths = {name: str(folder / f"{name}.csv") for name in ("instance_counts", "models")}
    rows = [("no context", None, 180, None, None, 180)]
    rows += [(f"+ {n} distractors", n, size, 3, 2160, 6480) for n, size in INSTANCES.items()]
    columns = ["setting", "n_distractors", "instances", "samples", "sample_size", "scored"]
    files.write_csv(paths["instance_counts"], pd.DataFrame(rows, columns=columns))
    files.write_csv(paths["models"], pd.DataFrame.from_dict(run, orient="index").rename_axis("model").reset_index())
    return run_script(
        published_vs_ours, folder, tables, keys, published=published, mapping=mapping,
        **{name: [path] * len(keys) for name, path in paths.items()},
        prompted_models=[], prompt_templates=[], facts=run, settings=SETTINGS, **options,
    )  # fmt: skip


def made():
    """Return the study's models and a run in which every number comes out."""
    run = synthetic.paper_models()
    return run, synthetic.tables(run, synthetic.SETS[:4])


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("complete"), *made(), ("replica", "official"))


def test_every_number_comes_out_or_says_why_not(complete):
    found, _, numbers = complete
    assert found.templates.value_counts().to_dict() == {"replica": 166, "official": 166}
    compared = found[(found.kind != "setting") & found.table.notna()]
    assert set(compared.verdict) == {"as printed", "within tolerance"}
    ours = found.drop_duplicates("item").set_index("item").ours
    assert ours["ruff_accuracy_drop"] == pytest.approx(34, abs=0.1)
    assert ours["ruff_instances_total"] == pytest.approx(5.6232)
    # The registry counts parameters; the study prints nominal sizes.
    differs = found[found.verdict == "differs"]
    assert set(differs.item) <= {"ruff_model_parameters"} and "ALBERT-v2 | xxlarge" in set(differs.row)
    assert numbers["published.official.results.differs"]["value"] == 0
    not_run = found.verdict == "not run"
    assert set(found.verdict) >= {"not run"} and "not applicable" not in set(found.verdict)
    assert (found.reason.notna() == not_run).all() and (found.ours.notna() == ~not_run).all()


def test_a_moved_number_differs(tmp_path):
    run, tables = made()
    rows, name = tables["estimates"], "mosaicbert"
    rows.loc[(rows.model == name) & (rows.metric == "accuracy"), ["value", "low", "high"]] -= 0.2
    found, tex, numbers = compare(tmp_path, run, tables)
    wrong = found[(found.verdict == "differs") & (found.kind != "setting")]
    assert set(wrong.models) == {name}
    assert wrong.difference.between(-0.25, -0.15).all()
    assert numbers["published.replica.results.differs"]["value"] == len(wrong) == 2
    assert all(latex.escape(published_table.describe_result(row, "ruff")) in tex for row in wrong.to_dict("records"))


def test_a_demonstration_model_is_left_out_whatever_its_name(tmp_path):
    run, tables = made()
    run["mosaicbert"] = run["mosaicbert"] | {"demonstration": True}
    found, _, _ = compare(tmp_path, run, tables)
    # A template set that was not run says so first.
    assert set(found[found.templates == "official"].verdict) == {"not run"}
    own = found[found.templates == "replica"]
    of_model = own[(own.models == "mosaicbert") | (own.item == "ruff_accuracy_drop")]
    assert set(of_model.verdict) == {"not run"} and set(of_model.reason) == {"not in this run: mosaicbert"}
    accuracies = own[(own.item == "ruff_accuracy") & own.table.notna() & own.models.isin(["bert-large", "opt-66b"])]
    assert set(accuracies.verdict) == {"as printed"}
    # What needs no model is compared.
    assert set(own[own.item == "ruff_instances_created"].verdict) == {"as printed"}


def test_other_pronoun_sets_are_another_experiment(tmp_path):
    found, tex, _ = compare(tmp_path, *made(), pronoun_sets=["he", "she", "xe"])
    own = found[found.templates == "replica"]
    asked = own[(own.variant == "likelihood") & own.table.notna()]
    assert set(asked.verdict) == {"not run"}
    assert set(asked.reason) == {"not in this run: a choice among exactly he, she, they, xe"}
    assert "within tolerance" in set(own[own.variant == "registry"].verdict)
    # Numbers of instances depend on the number of sets; numbers of task sentences and of samples do not.
    counted = own[own.item.isin(["ruff_instances_created", "ruff_subset_size", "ruff_instances_total"])]
    assert set(counted.verdict) == {"not applicable"} and counted.ours.isna().all()
    told = "the study counts instances of the pronoun sets he, she, they, xe; this run has he, she, xe"
    assert set(counted.reason) == {told} and "not applicable" not in tex
    fixed = ["ruff_task_sentences", "ruff_subsets", "ruff_distractors", "ruff_grammatical_cases", "ruff_task_templates"]
    assert set(own[own.item.isin(fixed)].verdict) == {"as printed"}
