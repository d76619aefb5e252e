"""Which instances are prompted, with which prompts, and what a run is refused for."""

import copy

import pytest

from scripts.core import config, files
from scripts.core.errors import UserError
from scripts.core.models import registry
from scripts.ruff import instances, plan
from scripts.ruff.prompts import read_prompts
from tests.conftest import ROOT

SETS = ["he", "she", "they", "xe"]
KINDS = ["open"] * 5 + ["options"] * 5
TEMPLATES = {
    "pronouns": str(ROOT / "templates/pronouns.tsv"),
    "templates": [str(ROOT / "templates" / path) for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")],
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    paths = []
    for n in (0, 1):
        paths.append(str(folder / f"{n}.parquet"))
        instances.sample(**TEMPLATES, pronoun_sets=SETS, n_distractors=n, seed=13, sample=paths[-1])
    return paths


def make(samples, folder, **changed):
    given = {
        "samples": samples,
        "prompt_templates": str(ROOT / "templates/ruff/prompts.tsv"),
        "chain_templates": str(ROOT / "templates/ruff/chain_of_thought.tsv"),
        "sample_size": 4,
        "kinds": ["open", "options"],
        "blank": "code",
        "option_orders": ["published"],
        "chains": {"methods": ["kojima"], "distractors": [1], "sample_size": 2},
        "prompted": str(folder / "prompted.parquet"),
        "prompts": str(folder / "prompts.parquet"),
        **changed,
    }
    instances.prompts(**given)
    return files.read_parquet(given["prompted"]), files.read_parquet(given["prompts"])


def test_every_instance_has_its_prompts(samples, tmp_path):
    rows, made = make(samples, tmp_path, option_orders=["published", "rotated"])
    assert made.text_id.is_unique
    assert len(made) == 8 * 15 + 2 * 15
    assert set(made[made.method == "kojima"].instance_id) == set(rows[rows.chains].instance_id)
    assert made[made.method == "vanilla"].follow_up.isna().all()
    assert made[made.method == "kojima"].follow_up.notna().all()
    _, few = make(samples, tmp_path, kinds=["options"], chains={"methods": [], "distractors": [0], "sample_size": 1})
    assert len(few) == 8 * 5
    facts = files.parquet_metadata(tmp_path / "prompts.parquet")
    assert facts["blank"] == "code"
    assert facts["kinds"] == ["options"]


def test_prompts_name_the_lines_they_were_made_from(samples, tmp_path):
    rows, made = make(samples, tmp_path)
    origins = files.parquet_metadata(tmp_path / "prompts.parquet")["origins"]
    assert origins == files.parquet_metadata(tmp_path / "prompted.parquet")["origins"] | {
        "prompt_row": "prompts.tsv", "chain_row": "chain_of_thought.tsv"
    }  # fmt: skip
    lines = {name: (ROOT / "templates/ruff" / name).read_text().split("\n") for name in ("prompts.tsv", "task.tsv")}
    chains = (ROOT / "templates/ruff/chain_of_thought.tsv").read_text().split("\n")
    texts, distractors = (rows.set_index("instance_id")[column] for column in ("text", "n_distractors"))
    for row in made.itertuples():
        assert lines["prompts.tsv"][row.prompt_row - 1].startswith(f"{row.prompt}\t")
        end = lines["task.tsv"][row.task_row - 1].split("\t")[2].replace("{pronoun}", "___")
        assert texts[row.instance_id].endswith(end)
        assert len(row.context_rows) == 1 + distractors[row.instance_id]
    vanilla = made.method == "vanilla"
    assert made.chain_row.isna().equals(vanilla)
    assert all(chains[n - 1].startswith("kojima\t") for n in made.chain_row.dropna())


def test_the_blank_is_written_as_configured(samples, tmp_path):
    _, code = make(samples, tmp_path)
    _, paper = make(samples, tmp_path, blank="paper")
    assert not code.text.str.contains("____").any()
    assert (code.text.str.replace("___", "_______") == paper.text).all()


@pytest.fixture(scope="module")
def known():
    entries = registry.read_registry(ROOT / "config/models.yaml", ROOT / "config/schemas/models.schema.yaml").models
    return config.load_yaml(ROOT / "config.yaml")["ruff"], entries


def test_jobs_of_the_default_run_and_with_chains(known, samples, tmp_path):
    """The plan counts as many prompts as are made."""
    ruff, entries = known
    (job,) = plan.prompted_jobs(ruff["prompting"], entries, ruff["seeds"], ruff["distractors"], KINDS).values()
    # Chains of thought take minutes an instance.
    assert job.methods == ["vanilla"]
    settings = copy.deepcopy(ruff["prompting"])
    settings["chain_of_thought"]["models"] = ["smollm2-135m-instruct"]
    (job,) = plan.prompted_jobs(settings, entries, ruff["seeds"], ruff["distractors"], KINDS).values()
    assert job.methods == ["vanilla", "kojima", "zhou"]
    assert job.new_tokens == {"answer": 20, "chain": 128, "final": 10}
    chains = {"methods": ["kojima", "zhou"], "distractors": [1], "sample_size": 1}
    _, made = make(samples, tmp_path, chains=chains)
    counts = made.method.value_counts()
    chained = counts["kojima"] + counts["zhou"]
    # Two steps each: 128 tokens of a chain, then 10.
    changed = copy.deepcopy(settings) | {"distractors": [0, 1], "sample_size": 4}
    changed["chain_of_thought"] |= {"distractors": [1], "sample_size": 1}
    (job,) = plan.prompted_jobs(changed, entries, ruff["seeds"], ruff["distractors"], KINDS).values()
    assert job.answers == [(counts["vanilla"], 20), (chained, 128), (chained, 10)]
    assert job.prompts == counts["vanilla"] + 2 * chained
    assert (job.generated(), job.generated(thought=5)) == (
        counts["vanilla"] * 20 + chained * 138,
        job.generated() + 5 * job.prompts,
    )


def test_one_more_prompt_is_one_more_prompt_of_the_plan(known, samples, tmp_path):
    """A row in the table of prompts is all that it takes to ask another question."""
    ruff, entries = known
    table = (ROOT / "templates/ruff/prompts.tsv").read_text(encoding="utf-8")
    more = tmp_path / "prompts.tsv"
    more.write_text(table.rstrip("\n") + "\n10\topen\t{task}\\n\\nWhich pronoun fits?\n", encoding="utf-8")
    kinds = [prompt["kind"] for prompt in read_prompts(more).values()]
    settings = copy.deepcopy(ruff["prompting"])
    before, after = (
        next(iter(plan.prompted_jobs(settings, entries, ruff["seeds"], ruff["distractors"], known_kinds).values()))
        for known_kinds in (KINDS, kinds)
    )
    assert after.prompts == before.prompts * 11 / 10


def test_new_tokens_follow_the_architecture(known):
    """5 for FLAN-T5, 20 for Llama-2-chat (Appendix F.1)."""
    ruff, entries = known
    full = config.load_yaml(ROOT / "config/all.yaml")["ruff"]["prompting"]
    chains = ruff["prompting"]["chain_of_thought"] | full["chain_of_thought"]
    settings = ruff["prompting"] | full | {"chain_of_thought": chains}
    planned = plan.prompted_jobs(settings, entries, [13, 17, 19], list(range(6)), KINDS)
    assert {job.new_tokens["answer"] for name, job in planned.items() if "t5" in name} == {5}
    assert {job.new_tokens["answer"] for name, job in planned.items() if "llama" in name} == {20}
    assert [name for name, job in planned.items() if len(job.methods) > 1] == ["flan-t5-xxl"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["models"].append("opt-125m"), "ruff.prompting.models: 'opt-125m' has no prompt_wrapping"),
        (lambda s: s["models"].append("flan-t5"), "models: 'flan-t5' is not in config/models.yaml; did you mean"),
        (lambda s: s["seeds"].append(1), "ruff.prompting.seeds: 1 is not in ruff.seeds"),
        (lambda s: s["distractors"].append(7), "ruff.prompting.distractors: 7 is not in ruff.distractors"),
        (
            lambda s: s["chain_of_thought"].update(models=["flan-t5-xl"]),
            "ruff.prompting.chain_of_thought.models: 'flan-t5-xl' is not in ruff.prompting.models",
        ),
        (
            lambda s: s["chain_of_thought"].update(distractors=[2], models=s["models"]),
            "ruff.prompting.chain_of_thought.distractors: 2 is not in ruff.prompting.distractors",
        ),
        (
            lambda s: s["chain_of_thought"].update(sample_size=16, models=s["models"]),
            "ruff.prompting.chain_of_thought.sample_size is 16, more than ruff.prompting.sample_size",
        ),
    ],
)
def test_what_cannot_be_prompted_is_refused(known, change, message):
    ruff, entries = known
    settings = copy.deepcopy(ruff["prompting"])
    change(settings)
    with pytest.raises(UserError) as caught:
        plan.prompted_jobs(settings, entries, ruff["seeds"], ruff["distractors"], KINDS)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_nobody_is_asked_needs_to_fit_nothing(known):
    ruff, entries = known
    settings = copy.deepcopy(ruff["prompting"])
    settings["chain_of_thought"] |= {"models": [], "sample_size": 16, "distractors": [2]}
    assert plan.prompted_jobs(settings, entries, ruff["seeds"], ruff["distractors"], KINDS)
    settings |= {"models": [], "seeds": [1], "distractors": [7]}
    assert plan.prompted_jobs(settings, entries, ruff["seeds"], [0], KINDS) == {}
