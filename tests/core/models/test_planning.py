"""What a plan rests on: token counts, operations, speeds and GPUs that hold a model; and what it prints."""

import pytest

from scripts.core import config, files
from scripts.core.models import costs, planning
from scripts.planning import plan as script

ENTRY = {
    "architecture": "decoder", "parameters": 1_000_000_000, "precision": "float16", "gpus": 1, "source": {"hub": "o/a"},
}  # fmt: skip
SYSTEM = ENTRY | {"architecture": "c2f", "precision": "float32", "source": {"package": "p"}}
DEVICES = {
    "A100-40GB": {"memory_gb": 40, "tflops": {"float32": 12, "float16": 100}},
    "H100-80GB": {"memory_gb": 80, "tflops": {"float32": 40, "float16": 330}},
}
LOADING = (20 + 2e9 / 2e8) / 3600


def work(rule="score", model="one", study="ruff", **changed):
    """Return what a model does for a set: 5 instances of 2,000 tokens in 2 jobs."""
    return {
        "rule": rule, "study": study, "set": "replica", "model": model, "items": 5, "read": 10_000, "generated": 0,
        "jobs": 2,
    } | changed  # fmt: skip


def test_tokens_of_scoring():
    # Three instances of 10 tokens and one of 20, four options each.
    lengths = [(3, 10), (1, 20)]

    def count(shared=1.1, **entry):
        return planning.scored_tokens(entry, 4, lengths, shared)

    assert count(architecture="decoder") == 55
    assert count(architecture="decoder", shared=9) == count(architecture="decoder", recurrent=True) == 200
    assert count(architecture="encoder") == 4 * (3 * 100 + 400)
    assert count(architecture="encoder-decoder") == 50 + 4 * 50
    assert count(architecture="encoder-decoder", labels="span") == 50 + 4 * 4 * 5


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({}, 2e9 * 10_000 / 1e14),
        ({"architecture": "encoder-decoder"}, 1e9 * 10_000 / 1e14),
        ({"architecture": "encoder", "embedding_parameters": 10**8, "layer_repeats": 12}, 2 * 9e8 * 12e4 / 1e14),
        ({"precision": "float32"}, 2e9 * 10_000 / 12e12),
        ({"gpus": 0}, 2e9 * 10_000 / costs.CPU_FLOPS),
    ],
)
def test_hours_of_scoring_by_hand(changed, seconds):
    entry = ENTRY | changed
    row = planning.plan([work()], {"one": entry}, DEVICES)[0]
    loading = 20 + costs.weights_bytes(entry) / 2e8
    assert row["hours"] == pytest.approx((seconds + 2 * loading) / 3600)
    assert (row["device"], row["gpus"]) == (("cpu", 0) if changed.get("gpus") == 0 else ("A100-40GB", 1))
    assert row["tokens"] == 10_000 and row["memory_gb"] == costs.memory_mb(entry) / 1024


@pytest.mark.parametrize("rule", ["prompt", "token_distributions"])
def test_hours_of_generation_are_those_of_the_time_limit(rule):
    row = planning.plan([work(rule, generated=500)], {"one": ENTRY}, DEVICES)[0]
    seconds = costs.generation_seconds(ENTRY, 5, 10_000, 500, 1e14, 40)
    assert row["hours"] == pytest.approx(seconds / 3600 + 2 * LOADING) and row["tokens"] == 10_500


@pytest.mark.parametrize("rule", ["coreference", "train_coreference"])
def test_hours_of_coreference_by_hand(rule):
    """Twice two operations for each parameter and token, and a tenth of a second for each pass over a document."""
    row = planning.plan([work(rule)], {"one": SYSTEM}, DEVICES)[0]
    assert row["hours"] == pytest.approx((4e9 * 10_000 / 12e12 + 0.5 + 2 * (20 + 4e9 / 2e8)) / 3600)


def test_gpus_as_in_ruff_appendix_e(root):
    """On 40 GB A100s the paper took one for most models, two for OPT-30B and four for OPT-66B and Llama-2-70B."""
    models = config.load_yaml(root / "config/models.yaml")["models"]
    needed = {name: planning.gpus_needed(models[name], 40) for name in ("opt-13b", "opt-30b", "opt-66b", "llama-2-70b")}
    assert needed == {"opt-13b": 1, "opt-30b": 2, "opt-66b": 4, "llama-2-70b": 4}


def test_totals_come_first_and_each_model_and_study_has_a_line(tmp_path, capsys):
    entries = {"one": ENTRY, "large": ENTRY | {"parameters": 70 * 10**9, "source": {"hub": "o/b"}}, "c2f": SYSTEM}
    entries["c2f"] |= {"gpus": 0}
    parts = [
        work(), work(set="official", jobs=3), work(model="large"), work(study="winopron"), work("prompt", generated=9),
        work("coreference", "c2f", "winopron"),
    ]  # fmt: skip
    script.main(plan=str(tmp_path / "plan.csv"), work=parts, entries=entries, devices=DEVICES)
    table = files.read_csv(tmp_path / "plan.csv")
    assert table.columns.tolist() == planning.COLUMNS and len(table) == 5 * 2 + 1
    first, heading, names, *lines = capsys.readouterr().out.splitlines()
    spent = (table.hours * table.gpus.clip(lower=1)).groupby(table.device).sum().map(planning.two_digits)
    assert first == (
        f"In all: {spent['cpu']} hours on one CPU core, and {spent['A100-40GB']} GPU hours on A100-40GB (up to 5 GPUs) "
        f"or {spent['H100-80GB']} GPU hours on H100-80GB (up to 3 GPUs); 140 GB of weights to download at least; "
        "13 jobs."
    )
    assert heading == "Hours by device, times GPUs:"
    assert names.split() == ["model", "study", "jobs", "tokens", "memory", "A100-40GB", "H100-80GB", "cpu"]
    assert [line.split()[:4] for line in lines] == [
        ["one", "ruff", "7", "3.0e+04"], ["one", "winopron", "2", "1.0e+04"], ["large", "ruff", "2", "1.0e+04"],
        ["c2f", "winopron", "2", "1.0e+04"],
    ]  # fmt: skip
    assert lines[-1].split()[-3:-1] == ["-", "-"]


def test_systems_that_are_trained_from_one_encoder_download_it_once():
    entry = SYSTEM | {"source": {"hub": "a/b"}}
    rows = planning.plan(
        [work("train_coreference", name) for name in ("a", "b")], {"a": entry, "b": dict(entry)}, DEVICES
    )
    frame = script.pd.DataFrame(rows)
    assert planning.describe_totals(frame, {"a": entry, "b": entry}).endswith("; 4 GB of weights to download at least")


def test_a_run_without_models_has_an_empty_plan(tmp_path, capsys):
    script.main(plan=str(tmp_path / "plan.csv"), work=[], entries={}, devices=DEVICES)
    assert files.read_csv(tmp_path / "plan.csv").columns.tolist() == planning.COLUMNS
    assert capsys.readouterr().out == "No study of this run reads a model: there is nothing to plan.\n"
