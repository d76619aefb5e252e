# Needs scores, instances and the records of a run. Makes results for others: in the schema of every_eval_ever,
# validated by that package, the crate, and the project's own instances as tasks for lm-evaluation-harness.

EXPORTED = [
    {"study": name, "set": part, "model": model}
    for name, scored in SCORED.items()
    for part in scored.sets
    for model in scored.models_of(part, STUDIES[name].models)
]
# Where a record says that a model comes from; a server is named by the model's name there.
SOURCES = {
    name: entry.get("source") or ({"base_url": True, "model": entry["api"]["model"]} if "api" in entry else {})
    for name, entry in MODELS.items()
}


localrules:
    export_environment,
    export_tasks,


# In the repository, for all runs; with --sdm conda the job's own environment has all packages.
rule export_environment:
    input:
        lock=repo_path("envs/export.lock"),
    output:
        environment="results/environments/export.json",
    log:
        "results/logs/export_environment/export.log",
    conda:
        "../envs/export.yaml"
    params:
        folder=repo_path(".venv-export"),
        # The package asks for a newer Python than its validator needs.
        options=["--ignore-requires-python"],
    script:
        "../scripts/planning/environments.py"


rule export_results:
    input:
        summary=rules.paper_summary.output.csv,
        scores=["results/{study}/scores/{set}/{model}.parquet".format(**entry) for entry in EXPORTED],
        instances=["results/{study}/instances/{set}/selected.parquet".format(**entry) for entry in EXPORTED],
        environment=rules.export_environment.output.environment,
        canary_file=TEMPLATES / "pronouns.tsv",
    output:
        folder=directory("results/export/every_eval_ever"),
        validation="results/export/every_eval_ever.json",
    log:
        "results/logs/export_results/export.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        scored=EXPORTED,
        studies={name: study.label for name, study in STUDIES.items()},
        models={
            name: {key: MODELS[name][key] for key in ("label", "architecture", "parameters")}
            | {"source": SOURCES[name]}
            for name in dict.fromkeys([*READ_MODELS, *ASKED_MODELS])
        },
        organization=config["export"]["organization"],
        relationship=config["export"]["relationship"],
    script:
        "../scripts/export/export_results.py"


# The sets whose texts are the project's own; of others nothing is exported.
EXPORTED_TASKS = [
    {"study": name, "set": part, "score": scored.score}
    for name, scored in SCORED.items()
    for part in scored.sets
    if template_files.is_own(part)
]


rule export_tasks:
    input:
        instances=["results/{study}/instances/{set}/selected.parquet".format(**entry) for entry in EXPORTED_TASKS],
        canary_file=TEMPLATES / "pronouns.tsv",
        citation_file=repo_path("CITATION.cff"),
    output:
        folder=directory("results/export/harness"),
    log:
        "results/logs/export_tasks/export.log",
    conda:
        "../envs/analysis.yaml"
    params:
        sets=EXPORTED_TASKS,
        own_templates=not config.get("template_folder"),
    script:
        "../scripts/export/export_tasks.py"


rule export:
    """Results in the schema of Every Eval Ever, and the templates as tasks for lm-evaluation-harness."""
    input:
        rules.export_results.output,
        rules.export_tasks.output,
        rules.crate.output,
    localrule: True
