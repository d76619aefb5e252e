# WinoPron (Gautam et al. 2024). Needs scripts/winopron/lib/plan.py, which says what the run asks, scores and reads,
# templates/winopron or the authors' files, scores (rules/scoring.smk), answers (rules/prompting.smk) and clusters
# (rules/coreference.smk). Makes instances, prompts, predictions and metrics; declares figures, tables and numbers.

from scripts.winopron.lib import plan as winopron_plan
from scripts.winopron.lib import study as winopron_study
from scripts.winopron.lib import traces as winopron_traces

WINOPRON_PROMPTS = str(TEMPLATES / "winopron/prompts.tsv")
WINOPRON = call_or_exit(
    winopron_plan.Plan.of,
    config["winopron"],
    MODELS,
    RUN_MODELS,
    RUN_SYSTEM_FACTS,
    len(PRONOUN_SETS),
    WINOPRON_PROMPTS,
)
WINOPRON_PROMPTING = WINOPRON["prompting"]
WINOPRON_OF = {kind: WINOPRON.files(kind) for kind in ("instances", "predictions")}

# What the template sets are read from.
WINOPRON_FILES = {
    "replica": {
        "sentences": str(TEMPLATES / "winopron/sentences.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("winopron/data.zip")},
    "winogender": {"winogender": upstream("winogender/data/templates.tsv")},
}
WINOPRON_NAMES = {"templates": one_of(WINOPRON_FILES), "entities": one_of(winopron_study.ENTITIES)}
winopron_read = lambda wildcards: WINOPRON.read_of(wildcards.templates, wildcards.entities)


rule winopron_instances:
    input:
        unpack(lambda wildcards: WINOPRON_FILES[wildcards.templates]),
        pronouns=PRONOUN_FILE,
    output:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_instances/{templates}_{entities}.log",
    wildcard_constraints:
        **WINOPRON_NAMES,
    conda:
        "../envs/analysis.yaml"
    params:
        entities=lambda wildcards: wildcards.entities,
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/winopron/instances.py"


rule winopron_clusters:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    output:
        clusters="results/winopron/clusters/{templates}/{entities}/{person_rule}.jsonl",
    log:
        "results/logs/winopron_clusters/{templates}_{entities}_{person_rule}.log",
    wildcard_constraints:
        **WINOPRON_NAMES,
        person_rule=one_of(winopron_study.RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        rule=lambda wildcards: wildcards.person_rule,
    script:
        "../scripts/winopron/analyses.py"


rule winopron_templates_to_score:
    input:
        instances="results/winopron/instances/{templates}/double.parquet",
    output:
        selected="results/winopron/instances/{templates}/selected.parquet",
    log:
        "results/logs/winopron_templates_to_score/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **WINOPRON["resolution"],
    script:
        "../scripts/winopron/instances.py"


rule winopron_prompts:
    input:
        instances=lambda wildcards: [
            f"results/winopron/instances/{wildcards.templates}/{entities}.parquet"
            for entities in winopron_plan.entities_of(wildcards.templates)
            if WINOPRON.is_asked(wildcards.templates, entities)
        ],
        prompt_templates=WINOPRON_PROMPTS,
    output:
        prompts="results/winopron/prompts/{templates}.parquet",
    log:
        "results/logs/winopron_prompts/{templates}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        pairs=WINOPRON_PROMPTING["pairs"],
        seed=WINOPRON_PROMPTING["seed"],
        wording=WINOPRON_PROMPTING["wording"],
        chosen=WINOPRON_PROMPTING["prompts"],
        variants=WINOPRON_PROMPTING["variants"],
    script:
        "../scripts/winopron/instances.py"


rule winopron_predictions:
    input:
        unpack(lambda wildcards: WINOPRON.inputs_of(wildcards.templates, wildcards.entities)),
    output:
        predictions="results/winopron/predictions/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_predictions/{templates}_{entities}.log",
    wildcard_constraints:
        **WINOPRON_NAMES,
    conda:
        "../envs/analysis.yaml"
    params:
        systems=lambda wildcards: winopron_read(wildcards)["systems"],
        answering=lambda wildcards: winopron_read(wildcards)["answering"],
        models=lambda wildcards: winopron_read(wildcards)["models"],
        scored=lambda wildcards: winopron_read(wildcards)["scored"],
    script:
        "../scripts/winopron/analyses.py"


# Tidy tables over all sets, by name; and a figure or table of a template set that is made from some.
winopron_tables = lambda *names: {name: f"results/winopron/analysis/{name}.csv" for name in names}
winopron_result = lambda title, *tables: result(title=title, params=WINOPRON_SET, **winopron_tables(*tables))


# What the study's analysis writes over all sets.
WINOPRON_WRITTEN = ["metrics", "bias", "biased_occupations", "overlap", "by_prompt"]
WINOPRON_MODELS = {"models": WINOPRON.asked, "scored": WINOPRON.scoring}
WINOPRON_SET = from_wildcards("templates")
WINOPRON_COMPARED = {"template_sets": WINOPRON.parts, "every_set": ["replica", "official"]}
# Tables of sentences show this project's own: the authors' are in none.
WINOPRON_EXAMPLES = {
    "targets": combine(templates=[templates for templates in WINOPRON.parts if templates == "replica"]),
    "constraints": {"templates": "replica"},
    "instances": "results/winopron/instances/{templates}/double.parquet",
}


declare(
    name="winopron",
    label="WinoPron",
    title="WinoPron (whom a pronoun means)",
    question="Does a system resolve a pronoun to the right one of two people, in every case and whatever the pronoun?",
    chances={"accuracy": 0.5},
    headline=["accuracy"],
    traced=winopron_traces.list_traces(WINOPRON),
    outcomes={"": ["results/winopron/predictions/{part}/{entities}.parquet"]},
    paired={
        "accuracy": PairedOutcomes(
            cluster=["pair"],
            value="right",
            unit=["instance_id", "prompt", "variant"],
            where={
                "system": ["{label}, {scoring}", "{label}, {debiasing}", "{label}"],
                "conversion": ["corrected", "carried_over", "published"],
            },
            prediction=["prediction"],
        )
    },
    parts=WINOPRON.parts,
    instances=WINOPRON_OF["instances"],
    # Beside the parts, not in their folders.
    analysis_rules={
        "metrics": result(
            path="",
            outputs=WINOPRON_WRITTEN,
            **WINOPRON_OF,
            params={"sets": WINOPRON.sets} | WINOPRON["bias"] | WINOPRON.bootstrap,
            mem_mb=2000,
        ),
    },
    analyses=list(winopron_tables(*WINOPRON_WRITTEN).values()),
    resolved=WINOPRON.documents,
    scored=WINOPRON.scored,
    prompted=WINOPRON.prompts,
    # In the paper: accuracy 3, bias 5; consistency has the numbers of Table 3.
    figures={
        "accuracy": winopron_result("Accuracy by case and pronoun set", "metrics"),
        "consistency": winopron_result("Consistency beside chance", "metrics"),
        "bias": winopron_result("Template pairs that show bias", "bias"),
    },
    # In the paper: counts 1, performance 2, consistency 3, biased_occupations 4, overlap_systems 5, overlap_cases 6,
    # prompts 7, f1 8, precision 9, recall 10.
    # Figures 1, 2 and 4 are text: the tables problems, schemas and groups.
    tables={
        "problems": result(
            problems=str(TEMPLATES / "winopron/problems.tsv"),
            **WINOPRON_EXAMPLES,
            title="Problems of Winogender Schemas",
        ),
        "schemas": result(**WINOPRON_EXAMPLES, title="A pair of templates"),
        "groups": result(**WINOPRON_EXAMPLES, title="Sentences that are right together"),
        "counts": result(
            path="counts", instances=WINOPRON_OF["instances"], params={"sets": WINOPRON.sets}, title="Templates by case"
        ),
        "prompts": result(
            path="prompts",
            prompt_templates=WINOPRON_PROMPTS,
            params={"wording": WINOPRON_PROMPTING["wording"], "chosen": WINOPRON_PROMPTING["prompts"]},
        ),
        "performance": winopron_result("F1 beside Winogender Schemas", "metrics"),
        "consistency": winopron_result("Consistency", "metrics"),
        "biased_occupations": winopron_result("Biased occupations", "biased_occupations", "bias"),
        "overlap_systems": winopron_result("Overlap of biased occupations between systems", "overlap"),
        "overlap_cases": winopron_result("Overlap of biased occupations between cases", "overlap"),
        "f1": winopron_result("F1", "metrics"),
        "precision": winopron_result("Precision", "metrics"),
        "recall": winopron_result("Recall", "metrics"),
    },
    comparisons={
        "published_vs_ours": result(
            params=WINOPRON_COMPARED | {"models": WINOPRON.asked, "pronoun_sets": PRONOUN_SETS},
            **published_files("winopron"),
            **winopron_tables("metrics", "overlap", "biased_occupations"),
            named_occupations=repo_path("paper/published/winopron_table4.csv"),
            counts="results/winopron/tables/counts.csv",
        ),
        "findings": result(params=WINOPRON_COMPARED | WINOPRON.bootstrap | {"sets": WINOPRON.sets}, **WINOPRON_OF),
    },
    numbers=result(
        instances="results/winopron/instances/{templates}/double.parquet",
        **winopron_tables("metrics", "bias", "overlap"),
        params=WINOPRON_SET | {"settings": {"draws": WINOPRON["bootstrap"]["draws"]}},
    ),
    section=result(
        params={"template_sets": WINOPRON.parts, "winogender": "winogender" in WINOPRON.templates} | WINOPRON_MODELS
    ),
    summary=result(**winopron_tables("metrics", "by_prompt"), params=WINOPRON_MODELS | {"systems": RUN_SYSTEM_FACTS}),
    card=Card(
        value="Share right",
        points=[
            Point(
                short,
                "accuracy",
                {"entities": "double", "case": case},
                ("winopron_accuracy", f"double-entity | {case.capitalize()}", "{model}", 0.01),
            )
            for case, short in winopron_study.CASE_LABELS.items()
        ]
        + [
            Point(
                label,
                f"{kind} consistency",
                {"entities": "double"},
                (f"winopron_{kind}_consistency", "{model}", column, 0.01),
            )
            for label, kind, column in (
                ("all pronouns", "pronoun", "PronounC"),
                ("both people", "disambiguation", "DisambigC"),
            )
        ],
        findings=result(
            **WINOPRON_OF,
            params={"facts": lambda wildcards: MODELS[wildcards.model].facts}
            | {"sets": WINOPRON.sets, "template_sets": WINOPRON.parts}
            | WINOPRON.bootstrap,
        ),
        parts=WINOPRON.parts,
        printed="winopron",
        axis="Case, or sentences that are right together",
    ),
    explorer=ExplorerView(
        sets={
            f"{names['templates']}, {winopron_study.ENTITIES[names['entities']]}": expand(
                "results/winopron/{kind}/{templates}/{entities}.parquet", kind=["instances", "predictions"], **names
            )
            for names in WINOPRON.sets
        },
        gold="answer",
        words=("meant", "taken"),
        levels={"occupation": "", "participant": ""},
        unit=("pair", "pairs of people"),
        factors=["case", "pronoun_set", "occupation"],
        called=winopron_study.READINGS | {winopron_study.CORRECTED: ""},
        clusters=[entry for names in WINOPRON.sets for entry in WINOPRON.systems_of(**names)],
        scorings=winopron_study.SCORINGS,
    ),
)
