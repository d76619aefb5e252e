# RUFF (Gautam et al. 2024). Needs scripts/ruff/lib/plan.py, which says what the run scores and prompts, templates/ruff
# or the authors' files, and scores (rules/scoring.smk). Makes instances and the sheet for annotators; declares analyses,
# figures, tables and numbers. Those of prompted models are in rules/ruff_prompting.smk.

from scripts.core.paper.formats import FEWEST, have_sizes
from scripts.ruff.lib import plan as ruff_plan
from scripts.ruff.lib import traces as ruff_traces
from scripts.ruff.lib.human import human_baseline as ruff_human_baseline

RUFF_ANALYSIS = "results/ruff/analysis/{templates}"
RUFF = call_or_exit(
    ruff_plan.Plan.of,
    config["ruff"],
    MODELS,
    RUN_MODELS,
    KNOWN_PRONOUNS,
    config["pronoun_sets"],
    TEMPLATES / "ruff/prompts.tsv",
)
RUFF_MODELS = {"models": RUFF.models}

RUFF_SAMPLES = "results/ruff/instances/{{templates}}/sample_seed{seed}_distractors{n}.parquet"
RUFF_SELECTED = "results/ruff/instances/{templates}/selected.parquet"
RUFF_PREDICTIONS = f"{RUFF_ANALYSIS}/predictions.parquet"

# The template files of each set: this project's own (tasks, contexts, occupations), or the authors' archive.
RUFF_TEMPLATE_FILES = {
    "replica": [str(TEMPLATES / path) for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")],
    "official": [upstream("ruff/data.zip")],
}
RUFF_SOURCES = {
    "templates": lambda wildcards: RUFF_TEMPLATE_FILES[wildcards.templates],
    "pronouns": PRONOUN_FILE,
}


# The next three rules have what this one says of inputs, pronoun sets, script and environment.
rule ruff_context_free:
    input:
        **RUFF_SOURCES,
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


use rule ruff_context_free as ruff_full_set_sizes with:
    output:
        full_set_sizes="results/ruff/instances/{templates}/full_set_sizes.parquet",
    log:
        "results/logs/ruff_full_set_sizes/{templates}.log",
    params:
        distractors=RUFF["distractors"],


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


# Analyses (scripts/ruff/analyses.py) of scores; those of prompted models are in rules/ruff_prompting.smk.
RUFF_OF_SCORES = {
    "instances": RUFF_SELECTED,
    "scores": expand("results/ruff/scores/{{templates}}/{model}.parquet", model=RUFF.models),
}
RUFF_SCORERS = {"models": list(RUFF.models), "pronoun_sets": PRONOUN_SETS, "sizes": RUFF.sizes}
RUFF_ANALYSES = {
    "predictions": result(outputs=["predictions.parquet"], params=RUFF_SCORERS, mem_mb=4000, **RUFF_OF_SCORES),
    "context_free_counts": result(
        outputs=["context_free", "context_free_summary"],
        params=RUFF_MODELS | {"pronoun_sets": PRONOUN_SETS},
        mem_mb=4000,
        predictions=RUFF_PREDICTIONS,
    ),
    "accuracy": result(
        outputs=["accuracy_by_seed", "accuracy", "accuracy_over_models"],
        params=RUFF_MODELS | RUFF.bootstrap,
        mem_mb=4000,
        runtime=20,
        predictions=RUFF_PREDICTIONS,
    ),
    "pronoun_tests": result(
        params=RUFF_MODELS | {"pronoun_sets": PRONOUN_SETS, "alpha": RUFF["alpha"]},
        mem_mb=4000,
        predictions=RUFF_PREDICTIONS,
    ),
    "error_types": result(outputs=["error_types", "error_range"], mem_mb=4000, predictions=RUFF_PREDICTIONS),
    "scaling": result("accuracy", params=RUFF_MODELS),
    "normalisation": result(
        params={"models": list(RUFF.models), "sizes": RUFF.sizes} | RUFF.bootstrap,
        mem_mb=8000,
        runtime=60,
        **RUFF_OF_SCORES,
    ),
}


# The human baseline in the figures: the accuracy of this run's annotators if the configuration lists their sheets,
# otherwise the study's.
RUFF_ANNOTATION = RUFF["annotation"]
RUFF_PEOPLE = {
    "_people": lambda wildcards: (
        [f"results/ruff/annotation/{wildcards.templates}/accuracy.csv"]
        if RUFF_ANNOTATION["sheets"].get(wildcards.templates)
        else []
    )
}
RUFF_HUMAN = {"human": lambda wildcards, input: ruff_human_baseline(input._people, RUFF["human_accuracy"])}


include: "ruff_prompting.smk"


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
        instances=RUFF_ANNOTATION["instances"],
        seed=RUFF_ANNOTATION["seed"],
    script:
        "../scripts/ruff/instances.py"


rule ruff_human_accuracy:
    input:
        samples=rules.ruff_human_sheet.input.samples,
        sheet=rules.ruff_human_sheet.output.sheet,
        completed=lambda wildcards: [
            config_path(path) for path in RUFF_ANNOTATION["sheets"].get(wildcards.templates, [])
        ],
    output:
        answers="results/ruff/annotation/{templates}/answers.csv",
        agreement="results/ruff/annotation/{templates}/agreement.csv",
        accuracy="results/ruff/annotation/{templates}/accuracy.csv",
    log:
        "results/logs/ruff_human_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/ruff/analyses.py"


# In the paper: headline 1, context_free 4, introduction_accuracy 5, accuracy_by_pronoun 6, accuracy_by_distractors 7,
# scaling 8, error_types 9, context_free_by_model 10; the others are additions.
RUFF_FIGURE_PARAMS = RUFF_MODELS | {"chance": RUFF.chance} | RUFF_HUMAN
RUFF_COUNTED = RUFF_MODELS | {"pronoun_sets": PRONOUN_LABELS}
RUFF_SPLIT = RUFF_COUNTED | {"chance": RUFF.chance}
RUFF_POINTS = [
    Point(
        str(n),
        "accuracy",
        {"scoring": "probability", "n_distractors": n},
        printed=("ruff_accuracy", f"{{model}} | {n} | all", "accuracy", 1.0),
    )
    for n in RUFF["distractors"]
]
RUFF_FIGURES = {
    "headline": result(
        "accuracy",
        params=RUFF_FIGURE_PARAMS,
        **RUFF_PEOPLE,
        title="Accuracy by number of distractors, largest models",
    ),
    "context_free": result(
        "context_free", "context_free_summary", params=RUFF_COUNTED, title="Predictions without context"
    ),
    "introduction_accuracy": result(
        "accuracy", params=RUFF_FIGURE_PARAMS, **RUFF_PEOPLE, title="Accuracy without distractors"
    ),
    "accuracy_by_pronoun": result(
        "accuracy",
        "pronoun_tests",
        params=RUFF_FIGURE_PARAMS | RUFF_COUNTED,
        **RUFF_PEOPLE,
        title="Accuracy without distractors by pronoun set",
    ),
    "accuracy_by_distractors": result(
        "accuracy", params=RUFF_FIGURE_PARAMS, **RUFF_PEOPLE, title="Accuracy by number of distractors"
    ),
    "who_becomes_whom": result(
        predictions=RUFF_PREDICTIONS,
        params=RUFF_SPLIT | RUFF.bootstrap,
        title="Who becomes whom",
    ),
    "scaling": result(
        "scaling",
        targets=None if have_sizes(RUFF.models) else [],
        params=RUFF_FIGURE_PARAMS,
        **RUFF_PEOPLE,
        title="Accuracy by model size",
    ),
    "error_types": result("error_types", params=RUFF_MODELS, title="Kinds of errors with distractors"),
    "context_free_by_model": result("context_free", params=RUFF_COUNTED, title="Predictions without context by model"),
    **RUFF_PROMPTING_FIGURES,
}

# In the paper: instance_counts 1, models 2.
RUFF_TABLES = {
    "instance_counts": result(
        context_free=rules.ruff_context_free.output.context_free,
        full_set_sizes=rules.ruff_full_set_sizes.output.full_set_sizes,
        samples=rules.ruff_select_instances.input.samples,
        selected=rules.ruff_select_instances.output.selected,
        params=RUFF_MODELS | {"scored": RUFF.sizes},
        title="Numbers of instances",
    ),
    "models": result(params=RUFF_MODELS, title="Models by family"),
    "accuracy": result("accuracy", params=RUFF_MODELS, title="Accuracy by number of distractors"),
    "pronoun_tests": result("pronoun_tests", params=RUFF_MODELS, title="Tests between pronoun sets"),
    "error_types": result("error_types", params=RUFF_MODELS, title="Kinds of errors with distractors"),
    **RUFF_PROMPTING_TABLES,
}

# Beside the study: published numbers and findings, over all template sets at once.
RUFF_COMPARED = {
    "template_sets": RUFF.templates,
    "every_set": list(RUFF_TEMPLATE_FILES),
    "models": RUFF.models | RUFF.asked,
    "pronoun_sets": PRONOUN_SETS,
}
RUFF_COMPARISONS = {
    "published_vs_ours": result(
        params=RUFF_COMPARED,
        **published_files("ruff"),
        tables=expand(
            [
                f"{RUFF_ANALYSIS}/accuracy.csv",
                f"{RUFF_ANALYSIS}/error_types.csv",
                f"{RUFF_ANALYSIS}/paper_numbers.json",
                "results/ruff/tables/{templates}/instance_counts.csv",
                "results/ruff/tables/{templates}/models.csv",
                *RUFF_PROMPTING_COMPARED,
            ],
            templates=RUFF.templates,
        ),
    ),
    "findings": result(
        params=RUFF_COMPARED,
        printed=repo_path("paper/published/ruff.csv"),
        study_models=repo_path("paper/published/ruff_models.csv"),
        tables=expand(
            f"{RUFF_ANALYSIS}/{{table}}.csv",
            templates=RUFF.templates,
            table=[
                "accuracy",
                "context_free",
                "pronoun_tests",
                "error_types",
                *(["prompted_accuracy"] if RUFF.asked else []),
            ],
        ),
    ),
}


declare(
    name="ruff",
    models=list(RUFF.models),
    label="RUFF",
    traced=ruff_traces.list_traces(RUFF),
    outcomes={
        "probability": ["results/ruff/analysis/{part}/predictions.parquet"],
        "prompted": ["results/ruff/analysis/{part}/prompted_outputs.parquet"],
    },
    paired={
        "accuracy": PairedOutcomes(
            cluster=["occupation"],
            unit=["instance_id", "seed"],
            where={"model": ["{model}"], "setting": ["fidelity"]},
            prediction=["prediction"],
        )
    },
    title="RUFF (robust pronoun fidelity)",
    parts=RUFF.templates,
    every_part=list(RUFF_TEMPLATE_FILES),
    instances=expand(
        [
            "results/ruff/instances/{templates}/context_free.parquet",
            "results/ruff/instances/{templates}/selected.parquet",
            *expand("results/ruff/instances/{{templates}}/distractors{n}.parquet", n=RUFF["distractors"]),
            *expand(RUFF_SAMPLES, n=RUFF["distractors"], seed=RUFF["seeds"]),
        ],
        templates=RUFF.templates,
    ),
    scored=RUFF.scored,
    prompted=RUFF.prompts,
    figures=RUFF_FIGURES,
    tables=RUFF_TABLES,
    comparisons=RUFF_COMPARISONS,
    analysis_rules=RUFF_ANALYSES | RUFF_PROMPTING_ANALYSES,
    numbers=result(
        "accuracy",
        "accuracy_over_models",
        "context_free",
        "pronoun_tests",
        "error_types",
        "error_range",
        "normalisation",
        *RUFF_PROMPTING_NUMBERED,
        instance_counts="results/ruff/tables/{templates}/instance_counts.csv",
        params={
            "settings": {
                "seeds": len(RUFF["seeds"]),
                "chance": RUFF.chance,
                "alpha": RUFF["alpha"],
                "bootstrap_draws": RUFF.bootstrap["draws"],
            },
            "sizes": RUFF.sizes,
            "prompting_settings": RUFF.prompting_numbers,
        },
    ),
    section=result(
        _included=repo_path("paper/sections/ruff_prompting.tex.j2"),
        params={
            "template_sets": RUFF.templates,
            "models": RUFF.models,
            "pronoun_sets": PRONOUN_LABELS,
            "distractors": RUFF["distractors"],
            "seeds": RUFF["seeds"],
            "prompting": RUFF.prompting_section,
            "uneven": ruff_plan.uneven_models(RUFF.sizes),
        },
    ),
    abstract=True,
    question="Does a model reuse the pronoun that a person was introduced with, also after sentences about somebody else?",
    summary=result(
        normalisation=expand(f"{RUFF_ANALYSIS}/normalisation.csv", templates=RUFF.templates),
        accuracy=expand(f"{RUFF_ANALYSIS}/accuracy.csv", templates=RUFF.templates),
        prompted=expand(f"{RUFF_ANALYSIS}/prompted_summary.csv", templates=RUFF.templates if RUFF.asked else []),
        params={
            "template_sets": RUFF.templates,
            "models": RUFF.models | RUFF.asked,
            "distractors": RUFF["distractors"],
        },
    ),
    chances={"accuracy": RUFF.chance},
    headline=["who_becomes_whom", "headline", "error_types"],
    card=Card(
        value="Accuracy",
        points=RUFF_POINTS,
        findings=result(
            printed=repo_path("paper/published/ruff.csv"),
            tables=expand(
                f"{RUFF_ANALYSIS}/{{table}}.csv",
                templates=RUFF.templates,
                table=["accuracy", "context_free", "pronoun_tests", "error_types"],
            ),
            params={
                "model": lambda wildcards: wildcards.model,
                "facts": lambda wildcards: MODELS[wildcards.model].facts,
                "template_sets": RUFF.templates,
                "pronoun_sets": PRONOUN_SETS,
            },
        ),
        parts=RUFF.templates,
        chance=RUFF.chance,
        printed="ruff",
        axis="Number of distractors",
    ),
    explorer=ExplorerView(
        sets={
            name: expand([RUFF_SELECTED, RUFF_PREDICTIONS, *[RUFF_OUTPUTS][: len(RUFF.asked)]], templates=name)
            for name in RUFF.templates
        },
        gold="pronoun",
        words=("introduced", "preferred"),
        levels=dict(zip(PRONOUN_SETS, PRONOUN_SETS)),
        unit=("occupation", "occupations"),
        factors=["n_distractors", "case", "polarity", "distractor_pronoun", "seed", "occupation"],
        called={"vanilla": "prompted", "published": ""},
        where={"setting": "fidelity", "answer": "final"},
    ),
)
