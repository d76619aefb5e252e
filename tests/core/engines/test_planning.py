"""What a plan rests on: token counts, operations, measured speeds, and GPUs that hold a model."""

import pandas
import pytest

from scripts.core import config, files
from scripts.core.engines import planning, registry, usage
from scripts.planning import plan as script

ENTRY = {"architecture": "decoder", "parameters": 1_000_000_000, "precision": "float16", "gpus": 1}
PROMPTED = {"prompts": 50, "tokens": 120, "generated": 900, "jobs": 2}
DEVICES = {"A100-40GB": {"memory_gb": 40, "tflops": {"float32": 12, "float16": 100, "bfloat16": 100}}}


def test_tokens_before_and_after_sharing():
    # Three instances of 10 tokens and one of 20, four options each.
    lengths = [(3, 10), (1, 20)]
    assert planning.count_tokens("decoder", 4, lengths, 1.1) == (200, 55)
    assert planning.count_tokens("decoder", 4, lengths, 9) == (200, 200)
    assert planning.count_tokens("encoder", 4, lengths, 1.1) == (4 * (3 * 100 + 400),) * 2
    # Every option is read with the text, or once beside it: whole texts, or spans of five tokens.
    assert planning.count_tokens("encoder-decoder", 4, lengths, 1.1) == (200 + 200, 50 + 200)
    assert planning.count_tokens("encoder-decoder", 4, lengths, 1.1, "span") == (200 + 80, 50 + 80)


def test_operations():
    assert planning.operations(ENTRY, 10) == 2e10
    assert planning.operations(ENTRY | {"architecture": "encoder-decoder"}, 10) == 1e10
    assert planning.operations(ENTRY | {"embedding_parameters": 10**8, "layer_repeats": 12}, 1) == 2 * 9e8 * 12


def test_measured_speeds_take_precedence(tmp_path):
    for name, device in (("mine", "NVIDIA A100-SXM4-40GB"), ("kin", "NVIDIA A100-SXM4-40GB"), ("mine", "cpu")):
        facts = {"model": name, "engine": "packed", "device": device, "precision": "float16", "scored_tokens": 1000,
                 "seconds": 2.0 if name == "mine" else 4.0}  # fmt: skip
        files.write_json(tmp_path / name / f"{device}.json", facts)
    files.write_text(tmp_path / "broken.json", "{")
    entries = {"mine": ENTRY, "kin": ENTRY, "new": ENTRY}
    speeds = planning.measured_speeds(tmp_path, entries)
    assert speeds["NVIDIA A100-SXM4-40GB", "float16", "mine"] == 1e12
    assert speeds["cpu", "float16", "mine"] == 1e12
    (mine,) = planning.plan("mine", ENTRY, (10**9, 10**9), 5, 1, DEVICES, speeds, 1e9)
    loading = (20 + 2e9 / 2e8) / 3600
    assert mine["speed"] == "measured on this model"
    assert mine["hours"] == pytest.approx(2e18 / 1e12 / 3600 + loading)
    (new,) = planning.plan("new", ENTRY, (10**9, 10**9), 5, 1, DEVICES, speeds, 1e9)
    assert new["speed"] == "measured on models of its kind"
    assert new["hours"] == pytest.approx(2e18 / (4e12 / 6) / 3600 + loading)
    (none,) = planning.plan("new", ENTRY, (10**9, 10**9), 5, 2, DEVICES, {}, 1e9)
    assert none["speed"] == "config.yaml"
    assert none["hours"] == none["hours_unshared"] == pytest.approx(2e18 / 1e14 / 3600 + 2 * loading)
    (shared,) = planning.plan("new", ENTRY, (4 * 10**9, 10**9), 5, 2, DEVICES, {}, 1e9)
    assert (shared["hours"], shared["hours_unshared"]) == pytest.approx(
        (none["hours"], 8e18 / 1e14 / 3600 + 2 * loading)
    )
    (cpu,) = planning.plan("new", ENTRY | {"gpus": 0}, (10**9, 10**9), 5, 1, DEVICES, {}, 1e9)
    assert (cpu["device"], cpu["gpus"], cpu["speed"]) == ("cpu", 0, "matrix products")


def test_gpus_as_in_ruff_appendix_e(root):
    """On 40 GB A100s the paper took one for most models, two for OPT-30B and four for OPT-66B and Llama-2-70B."""
    models = config.load_yaml(root / "config/models.yaml")["models"]
    needed = {name: planning.gpus_needed(models[name], 40) for name in ("opt-13b", "opt-30b", "opt-66b", "llama-2-70b")}
    assert needed == {"opt-13b": 1, "opt-30b": 2, "opt-66b": 4, "llama-2-70b": 4}


def test_what_is_generated_is_planned_as_its_jobs_are_limited():
    """Prompts and continuations have no measured speed: hours are what jobs of such models get, and their loading."""
    entry = ENTRY | {"gpus": 1}
    (row,) = planning.plan_generation("prompt", "one", entry, 1000, 200, 20_000, 3, DEVICES, 1e9)
    loading = 3 * (20 + 2e9 / 2e8)
    assert row["hours"] == pytest.approx((1000 * registry.prompt_seconds(entry, 200, 20) + loading) / 3600)
    assert (row["rule"], row["instances"], row["tokens"], row["gpus"]) == ("prompt", 1000, 220_000, 1)
    assert row["operations"] == planning.operations(entry, 220_000)
    assert row["speed"] == "config.yaml, at most"
    cpu = planning.plan_generation("prompt", "one", entry | {"gpus": 0}, 10, 200, 100, 1, DEVICES, 2e10)
    assert [(r["device"], r["gpus"]) for r in cpu] == [("cpu", 0)]
    assert cpu[0]["hours"] == pytest.approx((2e9 * (2000 + 2 * 100) / 2e10 + 30) / 3600)


def test_the_report_has_every_rule_and_model_and_totals(tmp_path, capsys):
    entry = ENTRY | {"source": {"path": str(tmp_path / "nowhere")}}
    script.main(
        plan=str(tmp_path / "plan.csv"),
        scored={
            "ruff/replica": {
                "options": 4,
                "lengths": {"one": [(2, 12)], "two": [(2, 12)]},
                "shared": 1.1,
                "jobs": {"one": 3, "two": 1},
            }
        },
        prompted={"ruff/replica": {"told": PROMPTED}},
        texts={
            "wing/mgc": {
                "counts": {"mask": 1, "generate": 2}, "tokens": 30, "new_tokens": 7,
                "methods": {"one": ["generate"], "two": ["mask", "generate"]},
            }
        },
        resolved={}, trained={},
        entries={"one": entry | {"source": {"hub": "org/one"}}, "two": entry | {"gpus": 0, "precision": "float32"},
                 "told": entry},
        devices=DEVICES, speeds=str(tmp_path / "speeds"), benchmarks=str(tmp_path / "benchmarks"),
        estimated={"score": {"ruff/replica": {"one": [4800, 12], "two": [9000, 34]}}},
    )  # fmt: skip
    table = files.read_csv(tmp_path / "plan.csv")
    assert table.columns.tolist() == planning.COLUMNS + usage.COLUMNS
    assert table.memory_estimated_mb.tolist()[:2] == [4800, 9000] and table.minutes_estimated.tolist()[:2] == [12, 34]
    assert table.memory_measured_mb.isna().all() and (table.jobs_measured == 0).all()
    assert table.rule.tolist() == ["score", "score", "prompt", "token_distributions", "token_distributions"]
    assert table.model.tolist() == ["one", "two", "told", "one", "two"]
    assert table.jobs.tolist() == [3, 1, 2, 1, 1]
    assert table.instances.tolist() == [2, 2, 50, 2, 3]
    assert table.tokens.tolist() == [96, 96, 50 * 120 + 900, 2 * 30 + 14, 3 * 30 + 14]
    printed = capsys.readouterr().out
    assert "A100-40GB:" in printed
    assert "in 6 jobs (score " in printed
    hours = (table.hours * table.gpus)[table.gpus > 0].sum()
    assert f"A100-40GB: {hours:.2f} GPU hours" in printed
    assert f" and {planning.two_digits(hours)} GPU hours on A100-40GB; 2 GB of weights to download at least." in printed


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        (
            {"hours": {"A": 12.34, "B": 5.0}, "most_gpus": {"A": 1, "B": 4}, "download_gb": 0.0},
            "In all: 12 GPU hours on A or 5 GPU hours on B (up to 4 GPUs); no weights to download at least.",
        ),
        (
            {"hours": {"cpu": 0.0512}, "most_gpus": {"cpu": 0}, "download_gb": 1234.0},
            "In all: 0.051 hours on this CPU; 1200 GB of weights to download at least.",
        ),
    ],
)
def test_totals_in_words(summary, told):
    assert planning.plan_report(summary) == told


def test_a_run_without_models_has_an_empty_plan(tmp_path, capsys):
    script.main(
        plan=str(tmp_path / "plan.csv"), scored={}, prompted={}, texts={}, resolved={}, trained={}, entries={},
        devices=DEVICES,
        speeds=str(tmp_path / "speeds"), benchmarks=str(tmp_path / "benchmarks"), estimated={},
    )  # fmt: skip
    table = files.read_csv(tmp_path / "plan.csv")
    assert table.columns.tolist() == planning.COLUMNS + usage.COLUMNS
    assert table.empty
    assert capsys.readouterr().out == "No study of this run reads a model: there is nothing to plan.\n"


def test_a_cpu_has_a_speed():
    assert planning.cpu_speed(1) > 1e8


def test_coreference_is_planned_like_its_time_limit():
    """Rows for each system and set: operations, a tenth of a second for each document, and loading."""
    large = {"architecture": "lingmess", "parameters": 400_000_000, "precision": "float32", "gpus": 1}
    small = {"architecture": "c2f", "parameters": 20_000_000, "precision": "float32", "gpus": 0}
    asked = {"s/a": {"documents": 3000, "tokens": 100, "jobs": {"large": 2, "small": 1}}}
    found = planning.rows({}, {}, {}, asked, {}, {"large": large, "small": small}, DEVICES, {}, 8e10)
    assert [(row["rule"], row["model"], row["device"], row["jobs"]) for row in found] == [
        ("coreference", "large", "A100-40GB", 2), ("coreference", "small", "cpu", 1),
    ]  # fmt: skip
    on_gpu, on_cpu = found
    loading = 2 * (20 + 1.6e9 / 2e8)
    assert on_gpu["hours"] == pytest.approx((4 * 4e8 * 3e5 / 12e12 + 300 + loading) / 3600)
    assert on_cpu["hours"] == pytest.approx((4 * 2e7 * 3e5 / 8e10 + 300 + 20 + 8e7 / 2e8) / 3600)
    assert on_gpu["instances"] == 3000 and on_gpu["tokens"] == 300_000 and on_gpu["gpus"] == 1
    seconds = 3000 * registry.document_seconds(large, 100)
    assert on_gpu["hours"] == pytest.approx((seconds + loading) / 3600)


def test_training_is_planned_by_hand():
    """12 x parameters x tokens of training and 4 of scoring, and a tenth of a second for each pass over a document."""
    entry = {
        "parameters": 100, "architecture": "c2f", "precision": "float32", "gpus": 1, "source": {"hub": "a/b"},
    }  # fmt: skip
    job = {"trained": 200, "trained_tokens": 1000, "resolved": 30, "resolved_tokens": 500}
    entries = {"mine": entry, "mine-acda": dict(entry)}
    found = planning.rows({}, {}, {}, {}, {"mine": job, "mine-acda": job}, entries, DEVICES, {}, 8e10)
    assert {row["rule"] for row in found} == {"train_coreference"} and {row["jobs"] for row in found} == {1}
    assert found[0]["instances"] == 230 and found[0]["tokens"] == 1500
    assert found[0]["operations"] == 12 * 100 * 1000 + 4 * 100 * 500
    device = DEVICES[found[0]["device"]]
    seconds = found[0]["operations"] / (device["tflops"]["float32"] * 1e12) + 0.1 * (3 * 200 + 30) + 20 + 400 / 2e8
    assert found[0]["hours"] == pytest.approx(seconds / 3600)
    # Both are made from one encoder, which is downloaded once.
    assert planning.totals(pandas.DataFrame(found), entries)["download_gb"] == pytest.approx(400 / 1e9)
