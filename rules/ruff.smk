"""
RUFF (Gautam et al. 2024): does a model use a person's pronoun again, also after sentences about somebody else?

REQUIRED INPUTS
    templates/ruff/*.tsv, templates/occupations.tsv       or the authors' archive (rules/upstream.smk)
    results/ruff/scores/{templates}/{model}.parquet       rules/scoring.smk
    results/ruff/answers/{templates}/{model}.parquet      rules/prompting.smk

OUTPUTS
    results/ruff/instances/, prompts/, predictions/, outputs/, annotation/, analysis/
    results/ruff/estimates.csv, pronoun_tests.csv, against_scored.csv, normalisation.csv
    results/ruff/figures/, tables/                        figures 4 to 9 and 11 to 13, tables 1 to 3 of the paper
    results/paper/sections/ruff.tex, ruff_appendix.tex
"""

from scripts.core.paper.formats import FEWEST, have_sizes
from scripts.ruff import plan as ruff_plan
from scripts.ruff.human import human_baseline as ruff_human_baseline

RUFF_PROMPTS = str(TEMPLATES / "ruff/prompts.tsv")
RUFF_CHAINS = str(TEMPLATES / "ruff/chain_of_thought.tsv")
RUFF = call_or_exit(
    ruff_plan.Plan,
    config["ruff"],
    MODELS,
    RUN_MODELS,
    KNOWN_PRONOUNS,
    config["pronoun_sets"],
    RUFF_PROMPTS,
)
RUFF_CATEGORY = f"{len(STUDIES) + 2}. RUFF"

# The template files of each set: this project's own (tasks, contexts, occupations), or the authors' archive.
RUFF_FILES = {
    "replica": [str(TEMPLATES / path) for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")],
    "official": [upstream("ruff/data.zip")],
}
RUFF_SAMPLES = "results/ruff/instances/{{templates}}/sample_seed{seed}_distractors{n}.parquet"
RUFF_SELECTED = "results/ruff/instances/{templates}/selected.parquet"
RUFF_SHEETS = RUFF["annotation"]["sheets"]
RUFF_COMPARED = {"template_sets": RUFF.templates, "every_set": list(RUFF_FILES), "pronoun_sets": PRONOUN_SETS}
# Of what models answer; none where nobody is asked.
RUFF_OUTPUTS = "results/ruff/outputs/{templates}.parquet"
RUFF_OUTPUT_FILES = expand(RUFF_OUTPUTS, templates=RUFF.templates if RUFF.asked else [])

# Figures 4 to 9 of the paper in this order, who becomes whom being an addition, then 11 to 13.
RUFF_DRAWN = ["context_free", "introduction_accuracy", "accuracy_by_pronoun", "accuracy_by_distractors"]
RUFF_DRAWN += ["who_becomes_whom", *(["scaling"] if have_sizes(RUFF.models) else []), "error_types"]
RUFF_DRAWN += RUFF.prompting_figures(FEWEST)
RUFF_FIGURES = expand("results/ruff/figures/{templates}/{figure}", templates=RUFF.templates, figure=RUFF_DRAWN)
RUFF_TABULATED = ["accuracy", "pronoun_tests", *(["prompting"] if RUFF.asked else [])]
RUFF_LISTED = ["instance_counts", "models", *(["prompted_models"] if RUFF.asked else [])]
RUFF_TABLES = [
    *expand("results/ruff/tables/{templates}/{table}", templates=RUFF.templates, table=[*RUFF_LISTED, *RUFF_TABULATED]),
    *(["results/ruff/tables/prompt_templates"] if RUFF.asked else []),
]


rule ruff_context_free:
    input:
        templates=lambda wildcards: RUFF_FILES[wildcards.templates],
        pronouns=PRONOUN_FILE,
    output:
        context_free="results/ruff/instances/{templates}/context_free.parquet",
    log:
        "results/logs/ruff_context_free/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/ruff/instances.py"


# The next two rules have what this one says of inputs, pronoun sets, script and environment.
use rule ruff_context_free as ruff_instances with:
    output:
        instances="results/ruff/instances/{templates}/distractors{n}.parquet",
    log:
        "results/logs/ruff_instances/{templates}_distractors{n}.log",
    benchmark:
        "results/benchmarks/ruff_instances/{templates}_distractors{n}.tsv"
    wildcard_constraints:
        n=r"[0-5]",
    params:
        n_distractors=lambda wildcards: int(wildcards.n),


use rule ruff_context_free as ruff_sample with:
    output:
        sample="results/ruff/instances/{templates}/sample_seed{seed}_distractors{n}.parquet",
    log:
        "results/logs/ruff_sample/{templates}_seed{seed}_distractors{n}.log",
    wildcard_constraints:
        seed=r"\d+",
        n=r"[0-5]",
    params:
        n_distractors=lambda wildcards: int(wildcards.n),
        seed=lambda wildcards: int(wildcards.seed),


rule ruff_select_instances:
    input:
        context_free="results/ruff/instances/{templates}/context_free.parquet",
        samples=expand(RUFF_SAMPLES, seed=RUFF["seeds"], n=RUFF["distractors"]),
    output:
        selected=RUFF_SELECTED,
    log:
        "results/logs/ruff_select_instances/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        sizes=sorted(set(RUFF.sizes.values())),
    script:
        "../scripts/ruff/instances.py"


rule ruff_prompts:
    input:
        samples=expand(RUFF_SAMPLES, seed=RUFF.prompting["seeds"], n=RUFF.prompting["distractors"]),
        prompt_templates=RUFF_PROMPTS,
        chain_templates=RUFF_CHAINS,
    output:
        prompted="results/ruff/instances/{templates}/prompted.parquet",
        prompts="results/ruff/prompts/{templates}.parquet",
    log:
        "results/logs/ruff_prompts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(30),
    params:
        **{key: RUFF.prompting[key] for key in ("sample_size", "kinds", "blank")},
        chains={key: RUFF.chains[key] for key in ("methods", "distractors", "sample_size")},
    script:
        "../scripts/ruff/instances.py"


rule ruff_predictions:
    input:
        instances=RUFF_SELECTED,
        scores=expand("results/ruff/scores/{{templates}}/{model}.parquet", model=RUFF.models),
    output:
        predictions="results/ruff/predictions/{templates}.parquet",
    log:
        "results/logs/ruff_predictions/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        models=list(RUFF.models),
        pronoun_sets=PRONOUN_SETS,
        sizes=RUFF.sizes,
    script:
        "../scripts/ruff/predictions.py"


rule ruff_outputs:
    input:
        prompted=rules.ruff_prompts.output.prompted,
        prompts=rules.ruff_prompts.output.prompts,
        pronouns=PRONOUN_FILE,
        answers=expand("results/ruff/answers/{{templates}}/{model}.parquet", model=RUFF.prompted),
    output:
        outputs=RUFF_OUTPUTS,
    log:
        "results/logs/ruff_outputs/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(RUFF.outputs_mb),
        runtime=growing(60),
    params:
        models=list(RUFF.prompted),
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/ruff/predictions.py"


rule ruff_estimates:
    input:
        predictions=expand(rules.ruff_predictions.output.predictions, templates=RUFF.templates),
        outputs=RUFF_OUTPUT_FILES,
    output:
        estimates="results/ruff/estimates.csv",
        pronoun_tests="results/ruff/pronoun_tests.csv",
        against_scored="results/ruff/against_scored.csv",
    log:
        "results/logs/ruff_estimates/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(RUFF.outputs_mb),
        runtime=growing(60),
    params:
        **RUFF.bootstrap,
        template_sets=RUFF.templates,
        models=RUFF.models,
        pronoun_sets=PRONOUN_SETS,
        pairs=RUFF.pairs,
        chance=RUFF.chance,
        alpha=RUFF["alpha"],
    script:
        "../scripts/ruff/estimates.py"


rule ruff_normalisation:
    input:
        instances=expand(RUFF_SELECTED, templates=RUFF.templates),
        scores=expand("results/ruff/scores/{templates}/{model}.parquet", templates=RUFF.templates, model=RUFF.models),
    output:
        normalisation="results/ruff/normalisation.csv",
    log:
        "results/logs/ruff_normalisation/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        **RUFF.bootstrap,
        template_sets=RUFF.templates,
        models=list(RUFF.models),
        sizes=RUFF.sizes,
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/ruff/normalisation.py"


rule ruff_human_sheet:
    input:
        samples=expand(RUFF_SAMPLES, seed=RUFF["seeds"][0], n=RUFF["distractors"]),
    output:
        sheet="results/ruff/annotation/{templates}/sheet.csv",
    log:
        "results/logs/ruff_human_sheet/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        instances=RUFF["annotation"]["instances"],
        seed=RUFF["annotation"]["seed"],
    script:
        "../scripts/ruff/instances.py"


rule ruff_human_accuracy:
    input:
        samples=rules.ruff_human_sheet.input.samples,
        sheet=rules.ruff_human_sheet.output.sheet,
        completed=lambda wildcards: [config_path(path) for path in RUFF_SHEETS.get(wildcards.templates, [])],
    output:
        answers="results/ruff/annotation/{templates}/answers.csv",
        agreement="results/ruff/annotation/{templates}/agreement.csv",
        accuracy="results/ruff/annotation/{templates}/accuracy.csv",
    log:
        "results/logs/ruff_human_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/ruff/human.py"


# The human baseline is that of this run's annotators if the configuration lists their sheets, otherwise the study's.
rule ruff_figures:
    input:
        estimates=rules.ruff_estimates.output.estimates,
        pronoun_tests=rules.ruff_estimates.output.pronoun_tests,
        _people=lambda wildcards: [
            f"results/ruff/annotation/{name}/accuracy.csv"
            for name in RUFF_SHEETS
            if RUFF_SHEETS[name] and name == wildcards.templates
        ],
    output:
        pdf=expand("results/ruff/figures/{{templates}}/{figure}.pdf", figure=RUFF_DRAWN),
        png=[
            reported(path, RUFF_CATEGORY, 1, "figure")
            for path in expand("results/ruff/figures/{{templates}}/{figure}.png", figure=RUFF_DRAWN)
        ],
        csv=expand("results/ruff/figures/{{templates}}/{figure}.csv", figure=RUFF_DRAWN),
    log:
        "results/logs/ruff_figures/{templates}.log",
    wildcard_constraints:
        templates=one_of(RUFF_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        models=RUFF.models,
        asked=RUFF.asked,
        pronoun_sets=PRONOUN_LABELS,
        chance=RUFF.chance,
        human=lambda wildcards, input: ruff_human_baseline(input._people, RUFF["human_accuracy"]),
        methods=RUFF.methods,
    script:
        "../scripts/ruff/figures.py"


rule ruff_table:
    input:
        estimates=rules.ruff_estimates.output.estimates,
        pronoun_tests=rules.ruff_estimates.output.pronoun_tests,
    output:
        tex="results/ruff/tables/{templates}/{table}.tex",
        csv=reported("results/ruff/tables/{templates}/{table}.csv", RUFF_CATEGORY, 2, "table", "{table}"),
    log:
        "results/logs/ruff_table/{templates}_{table}.log",
    wildcard_constraints:
        templates=one_of(RUFF_FILES),
        table=one_of(RUFF_TABULATED),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates", "table"),
        models=RUFF.models,
        asked=RUFF.asked,
    script:
        "../scripts/ruff/tables.py"


# Table 1 of the paper.
rule ruff_table_instance_counts:
    input:
        context_free=rules.ruff_context_free.output.context_free,
        samples=rules.ruff_select_instances.input.samples,
        selected=rules.ruff_select_instances.output.selected,
    output:
        tex="results/ruff/tables/{templates}/instance_counts.tex",
        csv=reported(
            "results/ruff/tables/{templates}/instance_counts.csv", RUFF_CATEGORY, 3, "table", "Numbers of instances"
        ),
    log:
        "results/logs/ruff_table_instance_counts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=RUFF.models,
        pronoun_sets=PRONOUN_SETS,
        sizes=RUFF.sizes,
    script:
        "../scripts/ruff/tables.py"


# Table 2 of the paper.
rule ruff_table_models:
    output:
        tex="results/ruff/tables/{templates}/models.tex",
        csv=reported("results/ruff/tables/{templates}/models.csv", RUFF_CATEGORY, 4, "table", "Models by family"),
    log:
        "results/logs/ruff_table_models/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=RUFF.models,
    script:
        "../scripts/ruff/tables.py"


rule ruff_table_prompted_models:
    input:
        answers=rules.ruff_outputs.input.answers,
    output:
        tex="results/ruff/tables/{templates}/prompted_models.tex",
        csv=reported(
            "results/ruff/tables/{templates}/prompted_models.csv", RUFF_CATEGORY, 5, "table", "Prompted models"
        ),
    log:
        "results/logs/ruff_table_prompted_models/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=RUFF.asked,
    script:
        "../scripts/ruff/prompt_tables.py"


# Table 3 of the paper belongs to no template set.
rule ruff_table_prompt_templates:
    input:
        prompt_templates=RUFF_PROMPTS,
    output:
        tex="results/ruff/tables/prompt_templates.tex",
        csv=reported("results/ruff/tables/prompt_templates.csv", RUFF_CATEGORY, 6, "table", "Prompts"),
    log:
        "results/logs/ruff_table_prompt_templates/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        kinds=RUFF.prompting["kinds"],
    script:
        "../scripts/ruff/prompt_tables.py"


rule ruff_published_vs_ours:
    input:
        **published_files("ruff"),
        estimates=rules.ruff_estimates.output.estimates,
        instance_counts=expand(rules.ruff_table_instance_counts.output.csv, templates=RUFF.templates),
        models=expand(rules.ruff_table_models.output.csv, templates=RUFF.templates),
        prompted_models=expand(
            "results/ruff/tables/{templates}/prompted_models.csv", templates=RUFF.templates if RUFF.asked else []
        ),
        prompt_templates=[rules.ruff_table_prompt_templates.output.csv] if RUFF.asked else [],
    output:
        csv=reported(
            "results/ruff/tables/published_vs_ours.csv", RUFF_CATEGORY, 7, "table", "Published numbers beside ours"
        ),
        tex="results/ruff/tables/published_vs_ours.tex",
        numbers="results/ruff/tables/published_vs_ours.json",
    log:
        "results/logs/ruff_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **RUFF_COMPARED,
        facts=RUFF.models | RUFF.asked,
        settings=RUFF.compared_settings,
    script:
        "../scripts/ruff/published.py"


rule ruff_findings:
    input:
        printed=repo_path("paper/published/ruff.csv"),
        study_models=repo_path("paper/published/ruff_models.csv"),
        estimates=rules.ruff_estimates.output.estimates,
        pronoun_tests=rules.ruff_estimates.output.pronoun_tests,
    output:
        csv=reported("results/ruff/tables/findings.csv", RUFF_CATEGORY, 8, "table", "Findings of the study"),
        tex="results/ruff/tables/findings.tex",
        numbers="results/ruff/tables/findings.json",
    log:
        "results/logs/ruff_findings/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **RUFF_COMPARED,
        models=RUFF.models | RUFF.asked,
    script:
        "../scripts/ruff/findings.py"


rule ruff_findings_of_model:
    input:
        printed=repo_path("paper/published/ruff.csv"),
        estimates=rules.ruff_estimates.output.estimates,
        pronoun_tests=rules.ruff_estimates.output.pronoun_tests,
    output:
        findings_csv="results/ruff/analysis/findings_of_model/{model}.csv",
    log:
        "results/logs/ruff_findings_of_model/{model}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("model"),
        facts=lambda wildcards: MODELS[wildcards.model].facts,
        template_sets=RUFF.templates,
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/ruff/findings.py"


rule ruff_section:
    input:
        **rules.ruff_estimates.output,
        section_templates=expand(repo_path("paper/sections/ruff{part}.tex.j2"), part=SECTION_PARTS),
        _included=repo_path("paper/sections/ruff_prompting.tex.j2"),
        normalisation=rules.ruff_normalisation.output.normalisation,
        instance_counts=rules.ruff_published_vs_ours.input.instance_counts,
        figures=expand("{figure}.pdf", figure=RUFF_FIGURES),
        tables=[
            *expand("{table}.tex", table=RUFF_TABLES),
            rules.ruff_published_vs_ours.output.tex,
            rules.ruff_findings.output.tex,
        ],
        comparison_numbers=[rules.ruff_published_vs_ours.output.numbers, rules.ruff_findings.output.numbers],
    output:
        section_files=expand("results/paper/sections/ruff{part}.tex", part=SECTION_PARTS),
        paper_numbers=expand("results/ruff/analysis/{templates}/paper_numbers.json", templates=RUFF.templates),
    log:
        "results/logs/ruff_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        template_sets=RUFF.templates,
        models=RUFF.models,
        pronoun_sets=PRONOUN_LABELS,
        distractors=RUFF["distractors"],
        seeds=RUFF["seeds"],
        settings=RUFF.section_settings,
        sizes=RUFF.sizes,
        prompting=RUFF.prompting_section,
        uneven=RUFF.uneven,
    script:
        "../scripts/ruff/section.py"


rule ruff_summary:
    input:
        estimates=rules.ruff_estimates.output.estimates,
        normalisation=rules.ruff_normalisation.output.normalisation,
    output:
        summary="results/ruff/analysis/summary.csv",
    log:
        "results/logs/ruff_summary/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        template_sets=RUFF.templates,
        models=RUFF.models | RUFF.asked,
        distractors=RUFF["distractors"],
    script:
        "../scripts/ruff/summary.py"


declare(
    name="ruff",
    models=list(RUFF.models),
    title="RUFF (robust pronoun fidelity)",
    question="Does a model reuse the pronoun that a person was introduced with, also after sentences about somebody else?",
    chances={"accuracy": RUFF.chance},
    outcomes={
        "probability": ["results/ruff/predictions/{part}.parquet"],
        "prompted": ["results/ruff/outputs/{part}.parquet"],
    },
    paired={
        "accuracy": PairedOutcomes(
            cluster=["occupation"],
            unit=["instance_id", "seed"],
            where={"model": ["{model}"], "setting": ["fidelity"]},
            prediction=["prediction"],
        )
    },
    parts=RUFF.templates,
    analyses=[*rules.ruff_estimates.output, rules.ruff_normalisation.output.normalisation],
    scored=RUFF.scored,
    prompted=RUFF.prompts,
    figures=RUFF_FIGURES,
    tables=[*RUFF_TABLES, "results/ruff/tables/published_vs_ours", "results/ruff/tables/findings"],
    card=Card(
        value="Accuracy",
        points=[
            Point(
                str(n),
                "accuracy",
                {"scoring": "probability", "n_distractors": n},
                ("ruff_accuracy", f"{{model}} | {n} | all", "accuracy", 1.0),
            )
            for n in RUFF["distractors"]
        ],
        parts=RUFF.templates,
        chance=RUFF.chance,
        printed="ruff",
        axis="Number of distractors",
    ),
    explorer=ExplorerView(
        sets={
            name: expand(
                [RUFF_SELECTED, rules.ruff_predictions.output.predictions, *[RUFF_OUTPUTS][: len(RUFF.asked)]],
                templates=name,
            )
            for name in RUFF.templates
        },
        gold="pronoun",
        words=("introduced", "preferred"),
        levels=dict(zip(PRONOUN_SETS, PRONOUN_SETS)),
        unit=("occupation", "occupations"),
        factors=["n_distractors", "case", "polarity", "distractor_pronoun", "seed", "occupation"],
        called={"vanilla": "prompted"},
        where={"setting": "fidelity", "answer": "final"},
    ),
)
