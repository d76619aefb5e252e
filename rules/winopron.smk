# WinoPron (Gautam et al. 2024): instances, what systems make of them, metrics, and what it declares about itself.
# Coreference systems come in as clusters in the format of scripts/core/coreference.py, prompted models as files of answers.

from scripts.winopron.lib import prompts as winopron_prompts
from scripts.winopron.lib import resolution as winopron_resolution
from scripts.winopron.lib import study as winopron_study
from scripts.winopron.lib.person_rules import LABELS as WINOPRON_RULES

WINOPRON = config["winopron"]
WINOPRON_PROMPTING = WINOPRON["prompting"]
WINOPRON_PROMPTS = str(TEMPLATES / "winopron/prompts.tsv")

# The template sets and what each is read from.
WINOPRON_FILES = {
    "replica": {
        "sentences": str(TEMPLATES / "winopron/sentences.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("winopron/data.zip")},
    "winogender": {"winogender": upstream("winogender/data/templates.tsv")},
}
# Models that are prompted: what they are asked, and what figures and tables need to know of them.
try:
    WINOPRON_PROMPTED = winopron_prompts.jobs(
        WINOPRON_PROMPTING,
        MODELS,
        len(winopron_prompts.read(WINOPRON_PROMPTS, WINOPRON_PROMPTING["prompts"])),
        len(PRONOUN_SETS),
    )
except UserError as error:
    refuse(error)
WINOPRON_ASKED = {name: registry.describe(MODELS[name]) for name in WINOPRON_PROMPTED}

# Models of the run that resolve by likelihood; an encoder-decoder does not score what follows the slot.
WINOPRON_SCORING = {
    name: facts
    for name, facts in RUN_MODELS.items()
    if WINOPRON["resolution"]["pairs"] and facts["architecture"] != "encoder-decoder"
}
WINOPRON_SCORED_TEMPLATES = 6 * (60 if WINOPRON["resolution"]["pairs"] == "all" else WINOPRON["resolution"]["pairs"])

# Those of this run; Winogender Schemas have no sentences about one person.
WINOPRON_SETS = [
    {"templates": templates, "entities": entities}
    for templates in WINOPRON["templates"]
    for entities in (["double"] if templates == "winogender" else ["double", "single"])
]
WINOPRON_INSTANCES = [
    "results/winopron/instances/{templates}/{entities}.parquet".format(**names) for names in WINOPRON_SETS
]
# What coreference systems resolve: sentences of a set, each with every pronoun set, and the words and marks of one.
WINOPRON_DOCUMENTS = {
    f"{templates}/{entities}": Documents(
        f"results/winopron/instances/{templates}/{entities}.parquet",
        "instance_id",
        winopron_study.TEMPLATES[templates] * len(PRONOUN_SETS),
        winopron_study.WORDS,
    )
    for templates in WINOPRON_FILES
    for entities in (["double"] if templates == "winogender" else ["double", "single"])
}


include: "winopron_inputs.smk"


try:
    for names in WINOPRON_SETS:
        winopron_study.check_systems(names, winopron_systems(**names))
except UserError as error:
    refuse(error)


rule winopron_instances:
    input:
        unpack(lambda wildcards: WINOPRON_FILES[wildcards.templates]),
        pronouns=PRONOUN_FILE,
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
        pairs=WINOPRON["resolution"]["pairs"],
        seed=WINOPRON["resolution"]["seed"],
    script:
        "../scripts/winopron/templates_to_score.py"


rule winopron_prompts:
    input:
        instances=lambda wildcards: [
            f"results/winopron/instances/{wildcards.templates}/{entities}.parquet"
            for entities in (["double"] if wildcards.templates == "winogender" else WINOPRON_PROMPTING["entities"])
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
        chosen=WINOPRON_PROMPTING["prompts"],
        variants=WINOPRON_PROMPTING["variants"],
    script:
        "../scripts/winopron/prompts.py"


rule winopron_predictions:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
        clusters=lambda wildcards: [entry["file"] for entry in winopron_clusters(wildcards)],
        answer_files=lambda wildcards: [entry["file"] for entry in winopron_answers(wildcards)],
        prompts=lambda wildcards: (
            [f"results/winopron/prompts/{wildcards.templates}.parquet"] if winopron_asked(wildcards) else []
        ),
        answers=lambda wildcards: [
            f"results/winopron/answers/{wildcards.templates}/{model}.parquet" for model in winopron_asked(wildcards)
        ],
        selected=lambda wildcards: (
            [f"results/winopron/instances/{wildcards.templates}/selected.parquet"]
            if winopron_scored(wildcards)
            else []
        ),
        scores=lambda wildcards: [
            f"results/winopron/scores/{wildcards.templates}/{model}.parquet" for model in winopron_scored(wildcards)
        ],
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
        models=lambda wildcards: winopron_asked(wildcards),
        scored=lambda wildcards: winopron_scored(wildcards),
    script:
        "../scripts/winopron/predictions.py"


rule winopron_questions:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
        declaration=root("templates/annotation/winopron_reference.yaml"),
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
        predictions=[
            "results/winopron/predictions/{templates}/{entities}.parquet".format(**names) for names in WINOPRON_SETS
        ],
    output:
        metrics="results/winopron/analysis/metrics.csv",
        bias="results/winopron/analysis/bias.csv",
        biased_occupations="results/winopron/analysis/biased_occupations.csv",
        overlap="results/winopron/analysis/overlap.csv",
        variance="results/winopron/analysis/variance.csv",
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


rule winopron_women_share:
    input:
        instances=expand("results/winopron/instances/{templates}/double.parquet", templates=WINOPRON["templates"]),
        predictions=expand("results/winopron/predictions/{templates}/double.parquet", templates=WINOPRON["templates"]),
        women=str(TEMPLATES / "winopron/occupation_women.tsv"),
    output:
        women_share="results/winopron/analysis/women_share.csv",
        women_share_occupations="results/winopron/analysis/women_share_occupations.csv",
    log:
        "results/logs/winopron_women_share/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        template_sets=WINOPRON["templates"],
        draws=WINOPRON["bootstrap"]["draws"],
        seed=WINOPRON["bootstrap"]["seed"],
    script:
        "../scripts/winopron/women_share.py"


WINOPRON_PARTS = [templates for templates in WINOPRON["templates"] if templates != "winogender"]
WINOPRON_EVERY = [templates for templates in WINOPRON_FILES if templates != "winogender"]
WINOPRON_OF = {
    "instances": WINOPRON_INSTANCES,
    "predictions": rules.winopron_metrics.input.predictions,
}
WINOPRON_METRICS = {"metrics": rules.winopron_metrics.output.metrics}
WINOPRON_BIAS = {"bias": rules.winopron_metrics.output.bias}
WINOPRON_OVERLAP = {"overlap": rules.winopron_metrics.output.overlap}
WINOPRON_VARIANCE = {"variance": rules.winopron_metrics.output.variance}
WINOPRON_AGREEMENT = {"women_share": rules.winopron_women_share.output.women_share}
WINOPRON_SET = {"templates": lambda wildcards: wildcards.templates}
# Figures that show sentences show this project's own: the authors' are in no figure.
WINOPRON_EXAMPLES = {
    "made": every(templates=[templates for templates in WINOPRON_PARTS if templates == "replica"]),
    "constraints": {"templates": "replica"},
    "instances": "results/winopron/instances/{templates}/double.parquet",
}
WINOPRON_COMPARED = {"template_sets": WINOPRON_PARTS, "every_set": WINOPRON_EVERY}
WINOPRON_DRAWN = {"draws": WINOPRON["bootstrap"]["draws"], "seed": WINOPRON["bootstrap"]["seed"]}

# Systems that read the sentences as they are.
WINOPRON_UNPROMPTED = [*WINOPRON_RULES.values(), *map(winopron_study.system_label, RUN_SYSTEM_FACTS.values())]
# How its tables call what its instances have other names for, so that the audit finds the template rows behind a cell
# (scripts/core/provenance/origins.py says how an entry is read).
WINOPRON_TRACED = [
    # What was not prompted has read the instances themselves, and what resolves by likelihood those of a sample.
    {
        "files": "results/winopron/*",
        "when": {"system": f"(?P<system>.+({winopron_study.FULL}|{winopron_study.PARTIAL}))"},
        "then": {"system": "{system}", "@path": "results/winopron/instances/*/selected.parquet"},
    },
    {
        "files": "results/winopron/*",
        "when": {"system": f"(?P<system>{one_of(WINOPRON_UNPROMPTED)})"},
        "then": {
            "system": "{system}",
            "@path": ["results/winopron/instances/*/double.parquet", "results/winopron/instances/*/single.parquet"],
        },
    },
    {
        "files": "results/winopron/*",
        "when": {"split": "nominative|accusative|possessive"},
        "then": {"case": "{split}"},
    },
    {
        "files": "results/winopron/*",
        "when": {"split": "(?P<case>nominative|accusative|possessive), (?P<pronoun_set>.+)"},
        "then": {"case": "{case}", "pronoun_set": "{pronoun_set}"},
    },
    # A difference belongs to both of its pronoun sets.
    {
        "files": "*/women_share*.csv",
        "when": {"pronoun_set": "(?P<one>.+)", "compared_with": "(?P<other>.+)"},
        "then": {"pronoun_set": ["{one}", "{other}"]},
    },
    {"files": "results/winopron/*", "when": {"split": "[^/]+/[^/]+/[^/]+"}, "then": {"pronoun_set": "{split}"}},
    {"files": "results/winopron/*", "when": {"split": "[a-z]+-[a-z]+"}, "then": {"pair": "{split}"}},
    # Of two cases or pronoun sets, the rows of both.
    {
        "files": "*/overlap*.csv",
        "when": {"case": "(?P<one>[a-z]+) / (?P<other>[a-z]+)"},
        "then": {"case": ["{one}", "{other}"]},
    },
    {
        "files": "*/overlap*.csv",
        "when": {"pronoun_set": "(?P<one>.+) / (?P<other>.+)"},
        "then": {"pronoun_set": ["{one}", "{other}"]},
    },
    {
        "files": "*/winopron/tables/*.csv",
        "when": {"Split": "Nominative|Accusative|Possessive|[^/]+/[^/]+/[^/]+|all"},
        "then": {},
    },
    {
        "files": "results/winopron/tables/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/winopron/{table}", "@cells": "{cells}", "system": "{models}"},
    },
]


declare(
    name="winopron",
    label="WinoPron",
    title="WinoPron (whom a pronoun means)",
    question="Does a system resolve a pronoun to the right one of two people, in every case and whatever the pronoun?",
    headline=["accuracy"],
    traced=WINOPRON_TRACED,
    outcomes={"": ["results/winopron/predictions/{part}/{entities}.parquet"]},
    paired={
        "accuracy": Paired(
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
    parts=WINOPRON_PARTS,
    every_part=WINOPRON_EVERY,
    instances=WINOPRON_INSTANCES,
    analyses=[*rules.winopron_metrics.output, *rules.winopron_women_share.output],
    resolved=Resolved(
        sets=["{templates}/{entities}".format(**names) for names in WINOPRON_SETS], documents=WINOPRON_DOCUMENTS
    ),
    scored=(
        Scored(
            sets=WINOPRON_PARTS,
            instances=WINOPRON_SCORED_TEMPLATES,
            options=2,
            score="continuation",
            set_models=dict.fromkeys(WINOPRON_PARTS, list(WINOPRON_SCORING)),
            tokens=winopron_resolution.TOKENS,
            shared=winopron_resolution.SHARED,
        )
        if WINOPRON_SCORING
        else None
    ),
    prompted=(
        Prompted(sets=WINOPRON["templates"], models=WINOPRON_PROMPTED, tokens=winopron_prompts.PROMPT_TOKENS)
        if WINOPRON_PROMPTED
        else None
    ),
    # In the paper: problems 1, schemas 2, accuracy 3, groups 4, bias 5; consistency has the numbers of Table 3;
    # women_share is an addition.
    figures={
        "problems": result(
            problems=str(TEMPLATES / "winopron/problems.tsv"),
            **WINOPRON_EXAMPLES,
            title="Problems of Winogender Schemas",
        ),
        "schemas": result(**WINOPRON_EXAMPLES, title="A pair of templates"),
        "groups": result(**WINOPRON_EXAMPLES, title="Sentences that are right together"),
        "accuracy": result(params=WINOPRON_SET, **WINOPRON_METRICS, title="Accuracy by case and pronoun set"),
        "consistency": result(params=WINOPRON_SET, **WINOPRON_METRICS, title="Consistency beside chance"),
        "bias": result(params=WINOPRON_SET, **WINOPRON_BIAS, title="Template pairs that show bias"),
        "women_share": result(
            params=WINOPRON_SET,
            women_share_occupations=rules.winopron_women_share.output.women_share_occupations,
            **WINOPRON_AGREEMENT,
            title="Bias over the share of women in an occupation",
        ),
    },
    # In the paper: counts 1, performance 2, consistency 3, biased_occupations 4, overlap_systems 5, overlap_cases 6,
    # prompts 7, f1 8, precision 9, recall 10; readings, variance and women_share are additions.
    tables={
        "counts": result(
            at="counts", instances=WINOPRON_INSTANCES, params={"sets": WINOPRON_SETS}, title="Templates by case"
        ),
        "prompts": result(
            at="prompts",
            prompt_templates=WINOPRON_PROMPTS,
            params={"chosen": WINOPRON_PROMPTING["prompts"]},
            title="Prompts",
        ),
        "performance": result(params=WINOPRON_SET, **WINOPRON_METRICS, title="F1 beside Winogender Schemas"),
        "consistency": result(params=WINOPRON_SET, **WINOPRON_METRICS, title="Consistency"),
        "readings": result(params=WINOPRON_SET, **WINOPRON_METRICS, title="Outputs read in two ways"),
        "variance": result(params=WINOPRON_SET, **WINOPRON_VARIANCE, title="Spread over templates and ways of asking"),
        "biased_occupations": result(
            params=WINOPRON_SET,
            biased_occupations=rules.winopron_metrics.output.biased_occupations,
            **WINOPRON_BIAS,
            title="Biased occupations",
        ),
        "women_share": result(
            params=WINOPRON_SET, **WINOPRON_AGREEMENT, title="Bias and the share of women in an occupation"
        ),
        "overlap_systems": result(
            params=WINOPRON_SET, **WINOPRON_OVERLAP, title="Overlap of biased occupations between systems"
        ),
        "overlap_cases": result(
            params=WINOPRON_SET, **WINOPRON_OVERLAP, title="Overlap of biased occupations between cases"
        ),
        **{
            metric: result(params=WINOPRON_SET, **WINOPRON_METRICS, title=title)
            for metric, title in (("f1", "F1"), ("precision", "Precision"), ("recall", "Recall"))
        },
    },
    comparisons={
        "published_vs_ours": result(
            params=WINOPRON_COMPARED | {"models": WINOPRON_ASKED, "pronoun_sets": PRONOUN_SETS},
            published=root("paper/published/winopron.csv"),
            mapping=root("paper/published/winopron_mapping.csv"),
            study_models=root("paper/published/winopron_models.csv"),
            **WINOPRON_METRICS,
            **WINOPRON_OVERLAP,
            counts="results/winopron/tables/counts.csv",
        ),
        "claims": result(params=WINOPRON_COMPARED | WINOPRON_DRAWN | {"sets": WINOPRON_SETS}, **WINOPRON_OF),
    },
    numbers=result(
        instances=expand("results/winopron/instances/{{templates}}/{entities}.parquet", entities=["double", "single"]),
        **WINOPRON_METRICS,
        **WINOPRON_BIAS,
        **WINOPRON_OVERLAP,
        **WINOPRON_VARIANCE,
        **WINOPRON_AGREEMENT,
        params=WINOPRON_SET | {"entities": ["double", "single"], "settings": {"draws": WINOPRON["bootstrap"]["draws"]}},
    ),
    section=result(
        params={
            "template_sets": WINOPRON_PARTS,
            "winogender": "winogender" in WINOPRON["templates"],
            "models": WINOPRON_ASKED,
            "scored": WINOPRON_SCORING,
        },
    ),
    summary=result(
        **WINOPRON_METRICS, params={"models": WINOPRON_ASKED, "scored": WINOPRON_SCORING, "systems": RUN_SYSTEM_FACTS}
    ),
    card=Card(
        value="Share right",
        points=[
            *(
                Point(
                    short,
                    "accuracy",
                    {"entities": "double", "case": case},
                    ("winopron_accuracy", f"double-entity | {case.capitalize()}", "{model}", 0.01),
                )
                for short, case in {"nom.": "nominative", "acc.": "accusative", "poss.": "possessive"}.items()
            ),
            Point(
                "all pronouns",
                "pronoun consistency",
                {"entities": "double"},
                printed=("winopron_pronoun_consistency", "{model}", "PronounC", 0.01),
            ),
            Point(
                "both people",
                "disambiguation consistency",
                {"entities": "double"},
                printed=("winopron_disambiguation_consistency", "{model}", "DisambigC", 0.01),
            ),
        ],
        findings=result(
            **WINOPRON_OF,
            params={
                "facts": lambda wildcards: registry.describe(MODELS[wildcards.model]),
                "sets": WINOPRON_SETS,
                "template_sets": WINOPRON_PARTS,
            }
            | WINOPRON_DRAWN,
        ),
        parts=WINOPRON_PARTS,
        printed="winopron",
        axis="Case, or sentences that are right together",
    ),
)
