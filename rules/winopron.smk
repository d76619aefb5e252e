# WinoPron (Gautam et al. 2024): instances, what systems make of them, and metrics. Coreference systems come in as clusters
# in the format of scripts/core/coreference.py, prompted models as files of answers.

from scripts.winopron.lib.person_rules import LABELS as WINOPRON_RULES

WINOPRON = config["winopron"]

# The template sets and what each is read from.
WINOPRON_FILES = {
    "replica": {
        "sentences": str(TEMPLATES / "winopron/sentences.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("winopron/data.zip")},
    "winogender": {"winogender": upstream("winogender/data/templates.tsv")},
}
# Those of this run; Winogender Schemas have no sentences about one person.
WINOPRON_SETS = [
    {"templates": templates, "entities": entities}
    for templates in WINOPRON["templates"]
    for entities in (["double"] if templates == "winogender" else ["double", "single"])
]
WINOPRON_INSTANCES = [
    "results/winopron/instances/{templates}/{entities}.parquet".format(**names) for names in WINOPRON_SETS
]


def winopron_clusters(wildcards):
    """Return every system with clusters of a set of instances, and the ways in which they are read."""
    rules_in_place = [
        {
            "system": WINOPRON_RULES[rule],
            "conversions": ["corrected"],
            "file": f"results/winopron/clusters/{wildcards.templates}/{wildcards.entities}/{rule}.jsonl",
        }
        for rule in WINOPRON["baselines"]
    ]
    given = [
        # The authors' way beside the corrected one.
        entry | {"conversions": ["corrected", entry["conversion"]]}
        for entry in WINOPRON["clusters"]
        if (entry["templates"], entry["entities"]) == (wildcards.templates, wildcards.entities)
    ]
    return rules_in_place + given


def winopron_answers(wildcards):
    """Return every system with answers in words about a set of instances."""
    return [
        entry
        for entry in WINOPRON["answers"]
        if (entry["templates"], entry["entities"]) == (wildcards.templates, wildcards.entities)
    ]


rule winopron_instances:
    input:
        unpack(lambda wildcards: WINOPRON_FILES[wildcards.templates]),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_instances/{templates}_{entities}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities="double|single",
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
        templates=one_of(WINOPRON_FILES),
        entities="double|single",
        person_rule=one_of(WINOPRON_RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        rule=lambda wildcards: wildcards.person_rule,
    script:
        "../scripts/winopron/clusters.py"


rule winopron_predictions:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
        clusters=lambda wildcards: [entry["file"] for entry in winopron_clusters(wildcards)],
        answer_files=lambda wildcards: [entry["file"] for entry in winopron_answers(wildcards)],
    output:
        predictions="results/winopron/predictions/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_predictions/{templates}_{entities}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities="double|single",
    conda:
        "../envs/analysis.yaml"
    params:
        systems=lambda wildcards: winopron_clusters(wildcards),
        answering=lambda wildcards: winopron_answers(wildcards),
    script:
        "../scripts/winopron/predictions.py"


rule winopron_questions:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    output:
        questions="results/winopron/annotation/{templates}_{entities}/questions.parquet",
    log:
        "results/logs/winopron_questions/{templates}_{entities}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities="double|single",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/winopron/questions.py"


rule winopron_metrics:
    input:
        instances=WINOPRON_INSTANCES,
        predictions=[path.replace("/instances/", "/predictions/") for path in WINOPRON_INSTANCES],
    output:
        metrics="results/winopron/analysis/metrics.csv",
        bias="results/winopron/analysis/bias.csv",
        biased_occupations="results/winopron/analysis/biased_occupations.csv",
        overlap="results/winopron/analysis/overlap.csv",
    log:
        "results/logs/winopron_metrics/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=2000,
    params:
        sets=WINOPRON_SETS,
        signed=WINOPRON["bias"]["signed"],
        empty=WINOPRON["bias"]["empty"],
        draws=WINOPRON["bootstrap"]["draws"],
        seed=WINOPRON["bootstrap"]["seed"],
    script:
        "../scripts/winopron/metrics.py"
