"""Memory, minutes and jobs grow with what they depend on and keep above their floors; a plan adds them up."""

from dataclasses import replace

import pytest

from scripts.core import files
from scripts.core.models import costs
from scripts.core.models.entries import Hub, Model, Package, System
from scripts.planning import plan as script
from tests import plans
from tests.refusals import refused

MODEL = Model(
    name="one", label="One", licence="MIT", source=Hub("o/a"), architecture="decoder", parameters=10**9,
    precision="float16", gpus=1,
)  # fmt: skip
SYSTEM = System(
    name="c2f", label="C2F", licence="MIT", source=Package("p", "1"), architecture="c2f", parameters=10**9,
    precision="float32", gpus=1, environment="main",
)  # fmt: skip
DEVICES = {
    "A100-40GB": {"memory_gb": 40, "tflops": {"float32": 12, "float16": 100}},
    "H100-80GB": {"memory_gb": 80, "tflops": {"float32": 40, "float16": 330}},
}
STAGES = {
    "score": lambda model, n, tokens: costs.scoring_seconds(model, n, 4, tokens),
    "prompt": lambda model, n, tokens: costs.prompting_seconds(model, tokens, [(n, 20), (n, 10)]),
    "read": lambda model, n, tokens: n * costs.reading_seconds(model, tokens),
    "generate": lambda model, n, tokens: costs.generation_seconds(model, n, n * tokens, n * 9, 1e12, 40 * model.gpus),
    "resolve": lambda model, n, tokens: costs.resolving_seconds(model, n, n * tokens),
}


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("stage", STAGES)
def test_everything_grows_and_nothing_is_below_its_floor(stage, architecture, gpus):
    """With instances, tokens, parameters and attempts; a job that does nothing starts and loads its weights."""
    model = replace(MODEL, architecture=architecture, gpus=gpus)
    seconds = STAGES[stage]
    for rising in (
        [seconds(model, n, 60) for n in (0, 1, 100, 10_000)],
        [seconds(model, 100, tokens) for tokens in (10, 60, 600)],
        [seconds(replace(model, parameters=n), 100, 60) for n in (10**7, 10**8, 10**9, 10**10)],
        [costs.memory_mb(replace(model, parameters=n)) for n in (10**7, 10**8, 10**9, 10**10)],
    ):
        assert rising == sorted(set(rising)), rising
    work = seconds(model, 1000, 60)
    assert costs.memory_mb(model) * 2**20 > 1.5 * costs.weights_bytes(model)
    assert costs.job_minutes(model, work) > costs.job_minutes(model, 0) - 1 >= costs.STARTUP_MINUTES
    for attempt in (2, 3):
        assert costs.job_minutes(model, work, attempt) == attempt * costs.job_minutes(model, work)
        assert costs.memory_mb(model, attempt) == 2 ** (attempt - 1) * costs.memory_mb(model)
    # As many jobs as keep each within its time, and no more.
    for minutes in (1e-3, 1, 60, 1e9):
        count = costs.jobs_within(work, minutes)
        assert count >= 1 and work / count <= 60 * minutes * (1 + 1e-9)
        assert count == 1 or work / (count - 1) > 60 * minutes
    assert costs.jobs_within(seconds(model, 500, 60), 60) <= costs.jobs_within(seconds(model, 50_000, 60), 60)


def test_times_by_hand():
    """SmolLM2, OPT-66B, ALBERT and MiniLM of the registry: what an operation, a token, a layer and a document cost."""
    models = plans.MODELS
    assert costs.reading_seconds(models["opt-66b"], 224) == pytest.approx(2 * 65719701504 * 224 / 1e14 + 0.1)
    # An encoder reads each text once for each of its tokens; its embeddings do nothing, and ALBERT's layers repeat.
    minilm = 2 * (22744506 - 30522 * 384) * 4 * 56**2 / 8e10
    assert costs.scoring_seconds(models["minilm-l6-mlm"], 10, 4, 56) == pytest.approx(10 * minilm)
    assert costs.work_parameters(models["albert-base-v2"]) == 12 * (11221680 - 3840000)
    smollm = models["smollm2-135m-instruct"]
    assert costs.prompting_seconds(smollm, 200, [(3, 20)]) == pytest.approx(3 * 2 * 134515008 * 240 / 8e10)
    thinking = replace(smollm, thinking={"tokens": 50})
    assert costs.prompting_seconds(thinking, 200, [(1, 20)]) == pytest.approx(2 * 134515008 * 340 / 8e10)
    assert costs.resolving_seconds(SYSTEM, 5, 1000) == pytest.approx(4e9 * 1000 / 12e12 + 0.5)
    # 2 GB at 200 MB/s.
    assert costs.job_minutes(MODEL, 50) == 10 + 1
    # What runs elsewhere takes nothing here, and one job.
    assert costs.prompting_seconds(models["gpt-4o-mini"], 200, [(100, 20)]) == 0
    assert costs.scoring_seconds(replace(MODEL, source=None, outputs={"ruff/replica": "x.csv"}), 10**9, 4, 50) == 0
    assert costs.jobs_within(0, 60) == 1


@pytest.mark.parametrize(
    ("name", "layers", "cached"), [("llama-2-7b", 32, 524288), ("llama-2-13b", 40, 819200), ("flan-t5-xxl", 24, 393216)]
)
def test_shapes_follow_from_numbers_of_parameters(name, layers, cached):
    """Llama 2 and FLAN-T5 as their configurations have them, in float16; what is estimated may be three tenths more."""
    found = costs.decoder_shape(plans.MODELS[name])
    assert layers <= found[0] <= 1.3 * layers
    assert cached <= found[1] <= 1.3 * cached


def test_the_bound_of_prompts_is_at_most_three_times_the_arithmetic():
    """Half of what prompts have is shared or, in an encoder-decoder, read by half of the parameters."""
    for model in plans.MODELS.values():
        if model.prompt_wrapping and model.gpus:
            for tokens, new in ((200, 20), (200, 5), (200, 128), (80, 5)):
                read = costs.reading_seconds(model, tokens) - costs.GPU_SECONDS_PER_INSTANCE
                arithmetic = read + new * costs.token_seconds(model, tokens + new, 40 * model.gpus)
                assert 1 <= costs.prompting_seconds(model, tokens, [(1, new)]) / arithmetic <= 3
    # Llama-2-70B-chat, whose heads share keys and values, on four A100s.
    assert 40 < costs.prompts_per_batch(plans.MODELS["llama-2-70b-chat"], 220, 160) < costs.PROMPT_TOKENS / 220


@pytest.mark.parametrize("seconds", [7, 3600, 1e9])
def test_more_jobs_than_a_queue_takes_are_refused_with_the_number_to_set(seconds):
    jobs = {"a": 1, "b": costs.jobs_within(seconds, 1e-4)}
    with refused("minutes_per_job is 0.0001", f"{jobs['b']} jobs to score ruff with model b", "at least") as caught:
        costs.check_jobs(jobs, "score ruff", 1e-4)
    enough = float(str(caught.value).rpartition(" ")[2])
    assert 900 < costs.jobs_within(seconds, enough) <= 1000
    costs.check_jobs({"b": costs.jobs_within(seconds, enough)}, "score ruff", enough)


def test_tokens_of_scoring():
    # Three instances of 10 tokens and one of 20, four options each.
    lengths = [(3, 10), (1, 20)]

    def count(shared=1.1, **changed):
        return costs.scored_tokens(replace(MODEL, **changed), 4, lengths, shared)

    assert count() == 55
    assert count(shared=9) == count(recurrent=True) == 200
    assert count(architecture="encoder") == 4 * (3 * 100 + 400)
    assert count(architecture="encoder-decoder") == 50 + 4 * 50
    assert count(architecture="encoder-decoder", labels="span") == 50 + 4 * 4 * 5


def work(rule="score", model=MODEL, study="ruff", part="replica", generated=0, jobs=2):
    """Return what a model does for a set: 5 instances of 2,000 tokens in 2 jobs."""
    return costs.Work(rule, study, part, model, 5, 10_000, generated, jobs)


@pytest.mark.parametrize(
    ("part", "seconds"),
    [
        (work(), 2e9 * 10_000 / 1e14),
        (work(model=replace(MODEL, architecture="encoder-decoder")), 1e9 * 10_000 / 1e14),
        (work(model=replace(MODEL, gpus=0)), 2e9 * 10_000 / costs.CPU_FLOPS),
        (work("prompt", generated=500), costs.generation_seconds(MODEL, 5, 10_000, 500, 1e14, 40)),
        (work("token_distributions", generated=500), costs.generation_seconds(MODEL, 5, 10_000, 500, 1e14, 40)),
        (work("coreference", SYSTEM), costs.resolving_seconds(SYSTEM, 5, 10_000)),
        (work("train_coreference", SYSTEM), costs.resolving_seconds(SYSTEM, 5, 10_000)),
    ],
)
def test_hours_of_a_plan_are_those_of_the_time_limits_on_its_devices(part, seconds):
    first, *others = costs.plan_costs([part], DEVICES)
    loading = 20 + costs.weights_bytes(part.model) / 2e8
    assert first["hours"] == pytest.approx((seconds + 2 * loading) / 3600)
    assert first["tokens"] == 10_000 + part.generated and first["memory_gb"] == costs.memory_mb(part.model) / 1024
    assert (first["device"], first["gpus"]) == (("A100-40GB", 1) if part.model.gpus else ("cpu", 0))
    assert [row["hours"] < first["hours"] for row in others] == ([True] if part.model.gpus else [])


def test_gpus_as_in_ruff_appendix_e():
    """On 40 GB A100s the paper took one for most models, two for OPT-30B and four for OPT-66B and Llama-2-70B."""
    needed = [costs.gpus_needed(plans.MODELS[n], 40) for n in ("opt-13b", "opt-30b", "opt-66b", "llama-2-70b")]
    assert needed == [1, 2, 4, 4]


def test_totals_come_first_and_each_model_and_study_has_a_line(tmp_path, capsys):
    large, small = replace(MODEL, name="large", parameters=70 * 10**9, source=Hub("o/b")), replace(SYSTEM, gpus=0)
    parts = [
        work(), work(part="official", jobs=3), work(model=large), work(study="winopron"), work("prompt", generated=9),
        work("coreference", small, "winopron"),
    ]  # fmt: skip
    script.main(plan=str(tmp_path / "plan.csv"), rows=costs.plan_costs(parts, DEVICES))
    table = files.read_csv(tmp_path / "plan.csv")
    assert table.columns.tolist() == costs.PLAN_COLUMNS and len(table) == 5 * 2 + 1
    first, heading, names, *lines = capsys.readouterr().out.splitlines()
    spent = (table.hours * table.gpus.clip(lower=1)).groupby(table.device).sum().map(script.two_digits)
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
    systems = [replace(SYSTEM, name=name, source=Hub("a/b")) for name in ("a", "b")]
    frame = script.pd.DataFrame(costs.plan_costs([work("train_coreference", system) for system in systems], DEVICES))
    assert script.describe_totals(frame).endswith("; 4 GB of weights to download at least")


def test_a_run_without_models_has_an_empty_plan(tmp_path, capsys):
    script.main(plan=str(tmp_path / "plan.csv"), rows=[])
    assert files.read_csv(tmp_path / "plan.csv").columns.tolist() == costs.PLAN_COLUMNS
    assert capsys.readouterr().out == "No study of this run reads a model: there is nothing to plan.\n"
