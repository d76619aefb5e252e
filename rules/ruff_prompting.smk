# RUFF (Gautam et al. 2024), prompted models (Appendices F and H); included in rules/ruff.smk, whose plan and paths it
# needs, with answers (rules/prompting.smk). Makes prompts; says what rules/ruff.smk declares of prompted models:
# analyses, figures and tables, none where nothing is asked.

RUFF_PROMPTED = {"models": RUFF.asked}


rule ruff_prompts:
    input:
        samples=expand(RUFF_SAMPLES, seed=RUFF.prompting["seeds"], n=RUFF.prompting["distractors"]),
        prompt_templates=str(TEMPLATES / "ruff/prompts.tsv"),
        chain_templates=str(TEMPLATES / "ruff/chain_of_thought.tsv"),
    output:
        prompted="results/ruff/instances/{templates}/prompted.parquet",
        prompts="results/ruff/prompts/{templates}.parquet",
    log:
        "results/logs/ruff_prompts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        **{key: RUFF.prompting[key] for key in ("sample_size", "kinds", "blank", "option_orders")},
        chains={key: RUFF.prompting["chain_of_thought"][key] for key in ("methods", "distractors", "sample_size")},
    script:
        "../scripts/ruff/instances.py"


RUFF_WRITTEN = {
    "prompted": rules.ruff_prompts.output.prompted,
    "prompts": rules.ruff_prompts.output.prompts,
    "pronouns": PRONOUN_FILE,
}
RUFF_ANSWERS = expand("results/ruff/answers/{{templates}}/{model}.parquet", model=RUFF.prompted)
RUFF_OUTPUTS = f"{RUFF_ANALYSIS}/prompted_outputs.parquet"
RUFF_PROMPTED_MB = 32000 if RUFF.prompting["sample_size"] > 200 else 4000
RUFF_PROMPTING_ANALYSES = {
    "prompted_outputs": result(
        outputs=["prompted_outputs.parquet"],
        params={"models": list(RUFF.prompted), "pronoun_sets": PRONOUN_SETS},
        mem_mb=RUFF_PROMPTED_MB,
        runtime=60,
        answers=RUFF_ANSWERS,
        **RUFF_WRITTEN,
    ),
    "prompted_accuracy": result(
        outputs=["prompted_accuracy", "prompted_summary"],
        mem_mb=RUFF_PROMPTED_MB,
        runtime=30,
        prompted_outputs=RUFF_OUTPUTS,
    ),
    "prompted_against_scored": result(
        params={"pairs": RUFF.pairs},
        mem_mb=RUFF_PROMPTED_MB,
        runtime=30,
        prompted_outputs=RUFF_OUTPUTS,
        predictions=RUFF_PREDICTIONS,
    ),
}


# In the paper: vanilla 11a and 11b, final 12, chain 13; the others are additions, but 11a compares with likelihoods too.
RUFF_PROMPTING_FIGURE_PARAMS = RUFF_PROMPTED | {"chance": RUFF.chance} | RUFF_HUMAN
RUFF_PROMPTING_METHODS = {"methods": ["vanilla", *RUFF.prompting["chain_of_thought"]["methods"]]}
RUFF_PROMPTING_FIGURES = {}
# A figure draws shares of enough instances; a run with fewer for each prompt has none of these pictures.
prompting_figure = lambda size, *tables, **given: result(
    *tables,
    script="prompting_figures",
    targets=None if size * len(RUFF.prompting["seeds"]) >= FEWEST else [],
    params=RUFF_PROMPTING_FIGURE_PARAMS | given.pop("params", {}),
    **RUFF_PEOPLE,
    **given,
)
if RUFF.asked:
    RUFF_PROMPTING_FIGURES |= {
        "prompting_vanilla": prompting_figure(
            RUFF.prompting["sample_size"],
            "prompted_accuracy",
            title="Prompted models: accuracy by number of distractors",
        ),
    }
if RUFF.chained:
    # One function draws chains of thought, read at the final answer or in the chain.
    RUFF_PROMPTING_FIGURES |= {
        f"prompting_{answer}": prompting_figure(
            RUFF.prompting["chain_of_thought"]["sample_size"],
            "prompted_accuracy",
            params=RUFF_PROMPTING_METHODS | {"answer": answer},
            title=f"Chains of thought: accuracy of the {answer}" + (" answer" if answer == "final" else ""),
        )
        for answer in ("final", "chain")
    }
if RUFF.pairs:
    RUFF_PROMPTING_FIGURES["prompting_against_scored"] = prompting_figure(
        RUFF.prompting["sample_size"],
        "prompted_against_scored",
        params={"models": RUFF.asked | RUFF.models},
        title="Prompted beside scored",
    )
# Tables 3 to 5 of the study show prompts and belong to no template set; their example is one of the replica's.
RUFF_PROMPTING_TABLES = {}
RUFF_PROMPT_EXAMPLE = f"results/ruff/instances/replica/sample_seed{RUFF.prompting['seeds'][0]}_distractors0.parquet"
if RUFF.asked:
    RUFF_PROMPTING_TABLES |= {
        "prompting": result("prompted_summary", params=RUFF_PROMPTED, title="Prompted models: accuracy and outcomes"),
        "prompted_models": result(
            answers=RUFF_ANSWERS,
            params=RUFF_PROMPTED,
            title="Prompted models",
        ),
        "prompt_templates": result(
            path="prompt_templates",
            prompt_templates=rules.ruff_prompts.input.prompt_templates,
            params={"kinds": RUFF.prompting["kinds"]},
            title="Prompts",
        ),
        "prompt_examples": result(
            path="prompt_examples",
            prompt_templates=rules.ruff_prompts.input.prompt_templates,
            sample=RUFF_PROMPT_EXAMPLE,
            answers=expand(RUFF_ANSWERS, templates=RUFF.templates[0]),
            params=RUFF_PROMPTED | {"blank": RUFF.prompting["blank"]},
            title="Examples of prompts",
        ),
    }
if RUFF.chained:
    RUFF_PROMPTING_TABLES["chain_examples"] = result(
        path="chain_examples",
        prompt_templates=rules.ruff_prompts.input.prompt_templates,
        chain_templates=rules.ruff_prompts.input.chain_templates,
        sample=RUFF_PROMPT_EXAMPLE,
        params={"methods": RUFF.prompting["chain_of_thought"]["methods"], "blank": RUFF.prompting["blank"]},
        title="Chains of thought",
    )

# What the paper's numbers and the published ones are compared with; without a prompted model there is nothing.
RUFF_PROMPTING_NUMBERED = [
    table
    for table in [
        "prompted_summary",
        *(["prompted_against_scored"] if RUFF.pairs else []),
    ]
    if RUFF.asked
]
RUFF_PROMPTING_COMPARED = [
    f"results/ruff/{table}.csv"
    for table in (
        "analysis/{templates}/prompted_accuracy",
        "tables/{templates}/prompted_models",
    )
    if RUFF.asked
]
