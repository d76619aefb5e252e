# RUFF (Gautam et al. 2024), prompted models (Appendices F and H): prompts, analyses, figures, tables, part of the paper.

from scripts.ruff import prompt_texts

THINKING = PROMPTED_MODELS and PROMPTING["chain_of_thought"]["models"]
# A prompted model is compared with its own likelihoods, or with those of its base model.
COMPARED_PAIRS = [
    {"prompted": name, "scored": scored}
    for name in PROMPTED["ruff"]
    for scored in dict.fromkeys([name, MODELS[name].get("base", name)])
    if scored in RUN
]

# Figures: the tidy tables that each one draws and the params it takes besides the models. In the paper: vanilla 11a and
# 11b, final 12, chain 13; the others are additions, but 11a compares with likelihoods too.
RUFF_PROMPTING_FIGURES = {
    "prompting_vanilla": (["prompted_accuracy"], ["chance", "human"]),
    "prompting_outcomes": (["prompted_summary"], ["methods"]),
}
if THINKING:
    RUFF_PROMPTING_FIGURES |= {
        "prompting_final": (["prompted_accuracy"], ["methods", "chance", "human"]),
        "prompting_chain": (["prompted_accuracy"], ["methods", "chance", "human"]),
    }
# One script draws chains of thought, read at the final answer or in the chain.
RUFF_METHODS_FIGURES = {"prompting_final": "final", "prompting_chain": "chain"}
if COMPARED_PAIRS:
    RUFF_PROMPTING_FIGURES["prompting_against_scored"] = (["prompted_against_scored"], ["chance", "human"])
if set(PROMPTING["kinds"]) == {"open", "options"}:
    RUFF_PROMPTING_FIGURES["prompting_options"] = (["prompted_accuracy"], ["chance", "human"])
if "options" in PROMPTING["kinds"]:
    RUFF_PROMPTING_FIGURES["prompting_positions"] = (["prompted_positions"], [])
RUFF_PROMPTING_FIGURES["prompting_agreement"] = (["prompted_agreement"], [])
RUFF_PROMPTING_PARAMS = RUFF_FIGURE_PARAMS | {"methods": ["vanilla", *PROMPTING["chain_of_thought"]["methods"]]}

if PROMPTED_MODELS:
    RUFF_FIGURE_FILES += expand(
        "results/ruff/figures/{templates}/{name}.{kind}",
        templates=RUFF["templates"],
        name=RUFF_PROMPTING_FIGURES,
        kind=["pdf", "png", "csv"],
    )
    RUFF_TABLE_FILES += expand(
        "results/ruff/tables/{templates}/{name}.{kind}",
        templates=RUFF["templates"],
        name=["prompting", "prompted_models"],
        kind=["tex", "csv"],
    )
    RUFF_TABLE_FILES += expand(
        "results/ruff/tables/{name}.{kind}",
        name=["prompt_templates", "prompt_examples", *(["chain_examples"] if THINKING else [])],
        kind=["tex", "csv"],
    )
# What the paper takes; without a prompted model there is nothing.
RUFF_PROMPTING_TABLES = {
    table: f"{RUFF_ANALYSIS}/{table}.csv"
    for table in [
        "prompted_summary",
        "prompted_positions",
        "prompted_agreement",
        *(["prompted_against_scored"] if COMPARED_PAIRS else []),
    ]
    if PROMPTED_MODELS
}
RUFF_PROMPTING_NUMBERS = {
    "sample_size": PROMPTING["sample_size"],
    "seeds": len(PROMPTING["seeds"]),
    "chain_sample_size": PROMPTING["chain_of_thought"]["sample_size"],
    **{f"new_tokens.{step}": most for step, most in PROMPTING["new_tokens"].items()},
}
RUFF_PROMPTING_SECTION = {
    "models": PROMPTED_MODELS,
    "distractors": PROMPTING["distractors"],
    "chain_distractors": PROMPTING["chain_of_thought"]["distractors"] if THINKING else [],
    "chain_models": PROMPTING["chain_of_thought"]["models"],
    "methods": PROMPTING["chain_of_thought"]["methods"],
    "kinds": PROMPTING["kinds"],
    "orders": PROMPTING["option_orders"],
    "blank": prompt_texts.BLANKS[PROMPTING["blank"]],
    "pairs": COMPARED_PAIRS,
}


rule ruff_prompts:
    input:
        samples=expand(RUFF_SAMPLES, seed=PROMPTING["seeds"], n=PROMPTING["distractors"]),
        prompt_templates=str(TEMPLATES / "ruff/prompts.tsv"),
        chain_templates=str(TEMPLATES / "ruff/chain_of_thought.tsv"),
    output:
        prompted="results/ruff/instances/{templates}/prompted.parquet",
        prompts="results/ruff/prompts/{templates}.parquet",
    log:
        "results/logs/ruff_prompts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        sample_size=PROMPTING["sample_size"],
        kinds=PROMPTING["kinds"],
        blank=PROMPTING["blank"],
        option_orders=PROMPTING["option_orders"],
        chains={key: PROMPTING["chain_of_thought"][key] for key in ("methods", "distractors", "sample_size")},
        _code=code("scripts/ruff/prompts.py"),
    script:
        "../scripts/ruff/prompts.py"


rule ruff_prompted_outputs:
    input:
        prompted=rules.ruff_prompts.output.prompted,
        prompts=rules.ruff_prompts.output.prompts,
        answers=expand("results/ruff/answers/{{templates}}/{model}.parquet", model=PROMPTED["ruff"]),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        outputs=f"{RUFF_ANALYSIS}/prompted_outputs.parquet",
    log:
        "results/logs/ruff_prompted_outputs/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=32000 if PROMPTING["sample_size"] > 200 else 4000,
        runtime=60,
    params:
        models=list(PROMPTED["ruff"]),
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/prompted_outputs.py"),
    script:
        "../scripts/ruff/prompted_outputs.py"


rule ruff_prompted_accuracy:
    input:
        outputs=rules.ruff_prompted_outputs.output.outputs,
    output:
        **{
            table: f"{RUFF_ANALYSIS}/{table}.csv"
            for table in ("prompted_accuracy", "prompted_summary", "prompted_positions", "prompted_agreement")
        },
    log:
        "results/logs/ruff_prompted_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=32000 if PROMPTING["sample_size"] > 200 else 4000,
        runtime=30,
    params:
        n_options=len(PRONOUN_SETS),
        _code=code("scripts/ruff/prompted_accuracy.py"),
    script:
        "../scripts/ruff/prompted_accuracy.py"


rule ruff_prompted_against_scored:
    input:
        outputs=rules.ruff_prompted_outputs.output.outputs,
        predictions=rules.ruff_predictions.output.predictions,
    output:
        prompted_against_scored=f"{RUFF_ANALYSIS}/prompted_against_scored.csv",
    log:
        "results/logs/ruff_prompted_against_scored/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=32000 if PROMPTING["sample_size"] > 200 else 4000,
        runtime=30,
    params:
        pairs=COMPARED_PAIRS,
        _code=code("scripts/ruff/prompted_against_scored.py"),
    script:
        "../scripts/ruff/prompted_against_scored.py"


for figure, (tables, options) in RUFF_PROMPTING_FIGURES.items():
    drawn_by = "prompting_methods" if figure in RUFF_METHODS_FIGURES else figure

    rule:
        name:
            f"ruff_figure_{figure}"
        input:
            **{table: f"{RUFF_ANALYSIS}/{table}.csv" for table in tables},
        output:
            pdf=f"results/ruff/figures/{{templates}}/{figure}.pdf",
            png=reported(f"results/ruff/figures/{{templates}}/{figure}.png", "RUFF", "figure"),
            csv=f"results/ruff/figures/{{templates}}/{figure}.csv",
        log:
            f"results/logs/ruff_figure_{figure}/{{templates}}.log",
        conda:
            "../envs/analysis.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            **{option: RUFF_PROMPTING_PARAMS[option] for option in options},
            **({"answer": RUFF_METHODS_FIGURES[figure]} if figure in RUFF_METHODS_FIGURES else {}),
            models=PROMPTED_MODELS | (RUN_MODELS if "prompted_against_scored" in tables else {}),
            # The script's path is put together when the job runs, after the loop.
            _figure=drawn_by,
            _code=code(f"scripts/ruff/figure_{drawn_by}.py"),
        script:
            "../scripts/ruff/figure_{params._figure}.py"


rule ruff_table_prompting:
    input:
        prompted_summary=rules.ruff_prompted_accuracy.output.prompted_summary,
    output:
        tex="results/ruff/tables/{templates}/prompting.tex",
        csv=reported("results/ruff/tables/{templates}/prompting.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_prompting/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=PROMPTED_MODELS,
        _code=code("scripts/ruff/table_prompting.py"),
    script:
        "../scripts/ruff/table_prompting.py"


rule ruff_table_prompted_models:
    input:
        answers=rules.ruff_prompted_outputs.input.answers,
    output:
        tex="results/ruff/tables/{templates}/prompted_models.tex",
        csv=reported("results/ruff/tables/{templates}/prompted_models.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_prompted_models/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=PROMPTED_MODELS,
        _code=code("scripts/ruff/table_prompted_models.py"),
    script:
        "../scripts/ruff/table_prompted_models.py"


# Tables 3 to 5 of the study show prompts and belong to no template set; their example is one of the replica's.
rule ruff_table_prompt_templates:
    input:
        prompt_templates=rules.ruff_prompts.input.prompt_templates,
    output:
        tex="results/ruff/tables/prompt_templates.tex",
        csv=reported("results/ruff/tables/prompt_templates.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_prompt_templates/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        kinds=PROMPTING["kinds"],
        _code=code("scripts/ruff/table_prompt_templates.py"),
    script:
        "../scripts/ruff/table_prompt_templates.py"


rule ruff_table_prompt_examples:
    input:
        prompt_templates=rules.ruff_prompts.input.prompt_templates,
        sample=f"results/ruff/instances/replica/sample_seed{PROMPTING['seeds'][0]}_distractors0.parquet",
        answers=expand(rules.ruff_prompted_outputs.input.answers, templates=RUFF["templates"][0]),
    output:
        tex="results/ruff/tables/prompt_examples.tex",
        csv=reported("results/ruff/tables/prompt_examples.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_prompt_examples/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=PROMPTED_MODELS,
        blank=PROMPTING["blank"],
        _code=code("scripts/ruff/table_prompt_examples.py"),
    script:
        "../scripts/ruff/table_prompt_examples.py"


rule ruff_table_chain_examples:
    input:
        prompt_templates=rules.ruff_prompts.input.prompt_templates,
        chain_templates=rules.ruff_prompts.input.chain_templates,
        sample=rules.ruff_table_prompt_examples.input.sample,
    output:
        tex="results/ruff/tables/chain_examples.tex",
        csv=reported("results/ruff/tables/chain_examples.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_chain_examples/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        methods=PROMPTING["chain_of_thought"]["methods"],
        blank=PROMPTING["blank"],
        _code=code("scripts/ruff/table_chain_examples.py"),
    script:
        "../scripts/ruff/table_chain_examples.py"
