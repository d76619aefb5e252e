# RUFF (Gautam et al. 2024), prompted models (Appendices F and H): prompts, analyses, figures, tables, part of the paper.

from scripts.ruff import prompting_jobs

PROMPTING = RUFF["prompting"]

try:
    PROMPTED["ruff"] = prompting_jobs.jobs(PROMPTING, MODELS, RUFF["seeds"], RUFF["distractors"])
except UserError as error:
    refuse(error)

RUFF_ANSWER_FILES = expand(
    "results/ruff/answers/{templates}/{model}.parquet", templates=RUFF["templates"], model=PROMPTED["ruff"]
)


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
