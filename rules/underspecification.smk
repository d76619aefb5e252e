# Underspecification (McMilin 2022). Needs scripts/underspecification/lib/plan.py, which says what the run reads and
# asks, templates/underspecification, token distributions (rules/distributions.smk) and the authors' files. Makes
# evaluation sets, texts, probabilities of gendered words and both methods; declares figures, tables and numbers. A
# source is a release or the run.

from scripts.underspecification.lib import plan as underspecification_plan
from scripts.underspecification.lib import study as underspecification_study
from scripts.underspecification.lib import traces as underspecification_traces

UNDERSPEC_ANALYSIS = "results/underspecification/analysis"
UNDERSPEC_TEMPLATES = str(TEMPLATES / "underspecification")
UNDERSPEC_OFFICIAL = "underspecification/winogender_schema_evaluation_set"
UNDERSPEC = call_or_exit(
    underspecification_plan.Plan.of,
    config["underspecification"],
    RUN | SERVERS,
    f"{UNDERSPEC_TEMPLATES}/words.tsv",
)
UNDERSPEC_RUN = [underspecification_study.RUN]
UNDERSPEC_BOOTSTRAP = UNDERSPEC.bootstrap
UNDERSPEC_THRESHOLD = {"threshold": UNDERSPEC["threshold"]}

# The evaluation sets and what each is read from.
UNDERSPEC_REPLICA = {
    "schemas": f"{UNDERSPEC_TEMPLATES}/winogender.tsv",
    "occupations": str(TEMPLATES / "occupations.tsv"),
}
UNDERSPEC_FILES = {
    "mgc": {
        "verbs": f"{UNDERSPEC_TEMPLATES}/verbs.tsv",
        "life_stages": f"{UNDERSPEC_TEMPLATES}/life_stages.tsv",
        "places": f"{UNDERSPEC_TEMPLATES}/places.tsv",
    },
    "winogender_replica": UNDERSPEC_REPLICA,
    "simplified_replica": UNDERSPEC_REPLICA,
    "winogender_official": {"sentences": upstream(f"{UNDERSPEC_OFFICIAL}/all_sentences.tsv")},
    "simplified_official": {"sentences": upstream(f"{UNDERSPEC_OFFICIAL}/all_sentences_g_id.tsv")},
}
UNDERSPEC_SHARES = {"shares": upstream(f"{UNDERSPEC_OFFICIAL}/occupations-stats.tsv")} if UNDERSPEC.has_shares else {}
underspecification_release = lambda file: (
    lambda wildcards: upstream(f"{underspecification_study.RELEASES[wildcards.release]}/data/{file}.tar.xz")
)


rule underspecification_instances:
    input:
        unpack(lambda wildcards: UNDERSPEC_FILES[wildcards.set]),
        dates=f"{UNDERSPEC_TEMPLATES}/dates.tsv",
    output:
        instances="results/underspecification/instances/{set}.parquet",
    log:
        "results/logs/underspecification_instances/{set}.log",
    wildcard_constraints:
        set=one_of(UNDERSPEC_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        evaluation_set=lambda wildcards: underspecification_plan.kind_of(wildcards.set),
        date_range=lambda wildcards: UNDERSPEC["date_range"] if wildcards.set == "mgc" else "winogender",
        outer_dates=lambda wildcards: 0 if wildcards.set == "mgc" else UNDERSPEC["outer_dates"],
    script:
        "../scripts/underspecification/instances.py"


rule underspecification_texts:
    input:
        instances="results/underspecification/instances/{set}.parquet",
        prompts=f"{UNDERSPEC_TEMPLATES}/prompts.tsv",
    output:
        texts="results/underspecification/texts/{set}.parquet",
    log:
        "results/logs/underspecification_texts/{set}.log",
    wildcard_constraints:
        set=one_of(UNDERSPEC_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        **{key: UNDERSPEC["sample"][key] for key in ("dates", "places", "occupations")},
        use=lambda wildcards: UNDERSPEC["prompts"][underspecification_plan.method_of(wildcards.set)],
    script:
        "../scripts/underspecification/instances.py"


rule underspecification_word_group_probabilities:
    input:
        instances=UNDERSPEC.files("instances"),
        texts=UNDERSPEC.files("texts"),
        distributions=UNDERSPEC.files("distributions", "{model}"),
        # A server gives no probabilities over the vocabulary.
        full=lambda wildcards: (
            UNDERSPEC.files("distributions", f"{wildcards.model}.mass") if MODELS[wildcards.model].source else []
        ),
        words=f"{UNDERSPEC_TEMPLATES}/words.tsv",
    output:
        probabilities="results/underspecification/word_group_probabilities/run/{model}.parquet",
    log:
        "results/logs/underspecification_word_group_probabilities/{model}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        label=lambda wildcards: UNDERSPEC.models[wildcards.model]["label"],
        methods=lambda wildcards: MODELS[wildcards.model].methods("underspecification"),
    script:
        "../scripts/underspecification/analyses.py"


rule underspecification_released:
    input:
        winogender=underspecification_release("detect_wino_raw"),
        simplified=underspecification_release("detect_wino_mod_raw"),
        mgc=underspecification_release("spur_mgc_raw"),
    output:
        probabilities="results/underspecification/word_group_probabilities/released/{release}.parquet",
    log:
        "results/logs/underspecification_released/{release}.log",
    wildcard_constraints:
        release=one_of(underspecification_study.RELEASES),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        release=lambda wildcards: wildcards.release,
    script:
        "../scripts/underspecification/analyses.py"


UNDERSPEC_PUBLISHED = repo_path("paper/published/underspecification.csv")


# Tidy tables of each of some sources.
underspecification_tables = lambda names, sources: expand(
    f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}.csv", source=sources, table=names
)
# What either method reads: the probabilities of a source.
UNDERSPEC_READ = {"probabilities": lambda wildcards: UNDERSPEC.probabilities_of(wildcards.source)}
UNDERSPEC_ANALYSES = {
    "method1_slopes": result(
        **UNDERSPEC_READ,
        outputs={"slopes": "method1_slopes", "curves": "curves"},
        params=UNDERSPEC_BOOTSTRAP,
        mem_mb=4000,
        runtime=20,
    ),
    "specification_detection": result(
        **UNDERSPEC_READ,
        outputs=["metric", "specification_detection", "independence"],
        params=UNDERSPEC_THRESHOLD | {"folds": UNDERSPEC["folds"]} | UNDERSPEC_BOOTSTRAP,
        mem_mb=4000,
        runtime=20,
    ),
    "toy_model": result(
        path="", outputs={"correlations": "toy_model", "points": "toy_points"}, params=UNDERSPEC["toy"]
    ),
    "all_sources": result(
        path="",
        outputs=["method1_slopes", "specification_detection"],
        slopes=underspecification_tables("method1_slopes", UNDERSPEC.sources),
        rates=underspecification_tables("specification_detection", UNDERSPEC.sources),
        mem_mb=2000,
    ),
}
UNDERSPEC_METHOD1 = {"slopes": f"{UNDERSPEC_ANALYSIS}/{{source}}/method1_slopes.csv"}
UNDERSPEC_TOY = f"{UNDERSPEC_ANALYSIS}/toy_model.csv"


# What findings are tested on.
UNDERSPEC_TESTED = ["method1_slopes", "curves", "specification_detection", "metric", "independence"]
UNDERSPEC_COMPARED = {
    "sources": UNDERSPEC.sources,
    "every_source": list(underspecification_plan.SOURCES),
    "models": UNDERSPEC.models,
}
UNDERSPEC_RELEASED = combine(source=UNDERSPEC["released"])

# In the paper: correlations_date_main 3, correlations_place_main 6, correlations_date_all 7, correlations_place_all 8,
# example 4, occupations_example 5, occupations_<set>_<part> 9 to 14; the others are additions.
UNDERSPEC_FIGURES = {
    "toy_model": result(
        path="toy_model",
        correlations=UNDERSPEC_TOY,
        points=f"{UNDERSPEC_ANALYSIS}/toy_points.csv",
        title="The toy model",
    ),
    "correlations": result(
        "curves",
        path="{source}/correlations_{variable}_{choice}",
        targets=[
            *combine(source=UNDERSPEC.sources, variable=["date", "place"], choice=["all"]),
            *combine(source=UNDERSPEC["released"], variable=["date", "place"], choice=["main"]),
        ],
        constraints={"variable": "date|place", "choice": "main|all"},
        **UNDERSPEC_METHOD1,
        params=from_wildcards("variable", "choice"),
        title="Pronouns against dates and places",
    ),
    "occupations": result(
        "metric",
        path="{source}/occupations_{set}_{part}",
        targets=[
            target
            for sources, parts in (
                (UNDERSPEC["released"], underspecification_study.PARTS),
                (UNDERSPEC_RUN, UNDERSPEC_RUN),
            )
            for target in combine(source=sources, set=underspecification_plan.KINDS, part=parts)
        ],
        constraints={
            "set": one_of(underspecification_plan.KINDS),
            "part": one_of([*underspecification_study.PARTS, *UNDERSPEC_RUN]),
        },
        **UNDERSPEC_SHARES,
        params={"evaluation_set": lambda wildcards: wildcards.set} | from_wildcards("part") | UNDERSPEC_THRESHOLD,
        title="Change by occupation",
    ),
    # One model alone, as in the main text of the study.
    "occupations_example": result(
        "metric",
        targets=UNDERSPEC_RELEASED,
        **UNDERSPEC_SHARES,
        params={"evaluation_set": "winogender", "part": "GPT-3.5 SFT"} | UNDERSPEC_THRESHOLD,
        title="Change by occupation, an example",
    ),
    "example": result(
        mem_mb=2000,
        **UNDERSPEC_READ,
        params={"occupation": "doctor", "model": "RoBERTa-large"},
        title="Pronouns for one sentence",
    ),
}

# In the paper: metric 2, detection 3; the others are additions.
UNDERSPEC_TABLES = {
    "slopes": result(**UNDERSPEC_METHOD1, title="Slopes over dates and places"),
    "word_group_probabilities": result("curves", title="Probability of pronouns"),
    "metric": result("metric", printed=UNDERSPEC_PUBLISHED, title="Task specification metric"),
    "detection": result(
        "specification_detection", printed=UNDERSPEC_PUBLISHED, title="Detection of unspecified sentences"
    ),
    "independence": result("independence", title="Winogender beside occupations' shares"),
}

UNDERSPEC_PAIRED = {"model": ["{label}"], "accumulation": ["top"]}


declare(
    name="underspecification",
    models=list(UNDERSPEC.models),
    label="Underspecification",
    traced=underspecification_traces.list_traces(),
    outcomes={
        "distribution": ["results/underspecification/word_group_probabilities/run/{model}.parquet"],
        "": ["results/underspecification/word_group_probabilities/released/{part}.parquet"],
    },
    paired={
        "slope, female minus male": PairedOutcomes(
            cluster=["item"],
            value="probability",
            unit=["item"],
            where=UNDERSPEC_PAIRED,
            statistic="slope",
            by="position",
            signs={"gender": {"female": 1, "male": -1}},
        ),
        "AUC": PairedOutcomes(
            cluster=["occupation"],
            value="probability",
            unit=["item"],
            where=UNDERSPEC_PAIRED,
            statistic="area",
            by="position",
            signs={"well_specified": {"False": 1, "True": -1}},
        ),
    },
    title="Underspecification (pronouns against dates and places)",
    part="source",
    parts=UNDERSPEC.sources,
    every_part=list(underspecification_plan.SOURCES),
    instances=UNDERSPEC.files("instances"),
    analyses=expand(
        f"{UNDERSPEC_ANALYSIS}/{{name}}.csv",
        name=["specification_detection", "method1_slopes", "toy_model"],
    ),
    analysis_rules=UNDERSPEC_ANALYSES,
    texts=UNDERSPEC.texts,
    figures=UNDERSPEC_FIGURES,
    tables=UNDERSPEC_TABLES,
    comparisons={
        "published_vs_ours": result(
            params=UNDERSPEC_COMPARED,
            **published_files("underspecification"),
            tables=expand(
                f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}",
                source=UNDERSPEC.sources,
                table=["specification_detection.csv", "metric.csv", "paper_numbers.json"],
            ),
        ),
        "findings": result(
            params=UNDERSPEC_COMPARED | UNDERSPEC_THRESHOLD,
            **UNDERSPEC_SHARES,
            tables=underspecification_tables(UNDERSPEC_TESTED, UNDERSPEC.sources),
        ),
    },
    numbers=result(
        "curves",
        "specification_detection",
        "metric",
        "independence",
        **UNDERSPEC_METHOD1,
        toy_model=UNDERSPEC_TOY,
        params={
            **from_wildcards("source"),
            "models": UNDERSPEC.models,
            "settings": {key: UNDERSPEC[key] for key in ("threshold", "folds")}
            | {"draws": UNDERSPEC_BOOTSTRAP["draws"]},
        },
    ),
    section=result(
        params={
            "sources": UNDERSPEC.sources,
            "templates": UNDERSPEC.templates,
            "prompts": UNDERSPEC["prompts"],
            "models": UNDERSPEC.models,
            "shares": bool(UNDERSPEC_SHARES),
        }
    ),
    pronoun_sets=False,
    question="Where a sentence does not say which pronoun is right, does a model's pronoun follow a date or a place?",
    summary=result(
        slopes=f"{UNDERSPEC_ANALYSIS}/method1_slopes.csv",
        detection=f"{UNDERSPEC_ANALYSIS}/specification_detection.csv",
        params={"models": UNDERSPEC.models},
    ),
    chances={"AUC": 0.5, "slope, female minus male": 0},
    headline=["correlations"],
    card=Card(
        value="Balanced accuracy",
        points=[
            Point(
                name,
                "balanced accuracy",
                {"evaluation_set": name.lower(), "templates": UNDERSPEC.templates[0], "gender": "female"},
                ("underspec_balanced_accuracy", f"{name.capitalize()} | {{model}}", "BA", 1.0),
            )
            for name in ("Winogender", "simplified")
        ],
        findings=result(
            tables=underspecification_tables(UNDERSPEC_TESTED, UNDERSPEC_RUN),
            params={
                "sources": UNDERSPEC_RUN,
                "facts": lambda wildcards: MODELS[wildcards.model].facts,
                **UNDERSPEC_THRESHOLD,
            },
        ),
        parts=["run"],
        chance=0.5,
        printed="underspecification",
        axis="Sentences, feminine pronouns",
    ),
    explorer=ExplorerView(
        sets={
            name: [f"results/underspecification/instances/{name}.parquet", *UNDERSPEC.probabilities_of("run")]
            for name in UNDERSPEC.sets
            if UNDERSPEC.models
        }
        | {f"{name}, released outputs": UNDERSPEC.probabilities_of(name) * 2 for name in UNDERSPEC["released"]},
        own=["replica", "mgc"],
        where={"accumulation": "top"},
        gold="value",
        words=("date or place", "most probable"),
        levels={"female": "she", "male": "he", "neutral": "they", "neo": "xe"},
        unit=("item", "sentences"),
        factors=[
            *("evaluation_set", "variable", "well_specified", "participant", "coreferent"),
            *("occupation", "form", "life_stage"),
        ],
        weights={"female": 1, "male": -1},
        quantity="Probability, female minus male words",
    ),
)
