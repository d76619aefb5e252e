"""What makes and measures runs of synthetic models."""

import pytest

from scripts import scale
from scripts.core import config
from scripts.core.data import synthetic
from scripts.core.engines import registry
from tests.conftest import ROOT


@pytest.mark.parametrize("count", [1, 29, 240])
def test_the_registry_is_one_of_synthetic_models(tmp_path, count):
    (tmp_path / "models.yaml").write_text(scale.yaml.safe_dump(scale.registry(count)), encoding="utf-8")
    models = registry.load_registry(tmp_path / "models.yaml", ROOT / "config/schemas/models.schema.yaml")
    assert len({entry["label"] for entry in models.values()}) == len(models) == count
    assert all(map(synthetic.is_synthetic, models.values()))
    synthetic.check_names(models)


def test_families_have_letters():
    assert [scale.letters(n) for n in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


@pytest.mark.parametrize("study", scale.OVERLAYS)
def test_the_configuration_is_valid(tmp_path, study):
    models = list(scale.registry(3)["models"])
    settings = scale.overlay(study, f"synthetic-{study}-3", models)
    (tmp_path / "run.yaml").write_text(scale.yaml.safe_dump(settings), encoding="utf-8")
    merged = config.check(ROOT, [tmp_path / "run.yaml"])
    assert merged["run"] == f"synthetic-{study}-3" and merged["models"] == models and merged["studies"] == [study]
    assert scale.overlay(study, "x", models, ["replica"])[study]["templates"] == ["replica"]


def test_logs_say_what_rules_took(tmp_path):
    for name, seconds, memory in (("a/one.log", 1.5, 300), ("a/two.log", 2.5, 200), ("b/one.log", 9.0, 100)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        lines = f"10:00:00 INFO memory high-water mark: {memory} MB\n10:00:00 INFO finished in {seconds} s\n"
        (tmp_path / name).write_text(lines, encoding="utf-8")
    (tmp_path / "a/failed.log").write_text("10:00:00 ERROR no\n", encoding="utf-8")
    assert scale.measure_jobs(tmp_path) == [
        {"rule": "b", "jobs": 1, "seconds": 9.0, "slowest": 9.0, "peak_mb": 100},
        {"rule": "a", "jobs": 2, "seconds": 4.0, "slowest": 2.5, "peak_mb": 300},
    ]


def test_a_run_without_models_is_refused(capsys):
    assert scale.main(["--models", "0"]) == 1
    assert capsys.readouterr().err == "Error: --models is 0; a run has one model at least\n"
