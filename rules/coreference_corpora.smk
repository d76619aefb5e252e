# What coreference systems learn from and are scored on, outside the default targets. Needs annotated corpora. Makes
# documents, and the training part of OntoNotes followed by counterfactual copies.


rule coreference_corpus:
    input:
        source=corpus_source,
    output:
        documents="results/coreference/corpora/{corpus}/{part}.jsonl",
    log:
        "results/logs/coreference_corpus/{corpus}_{part}.log",
    wildcard_constraints:
        corpus="litbank|ontonotes",
        part=one_of(annotated.PARTS),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        corpus=lambda wildcards: wildcards.corpus,
        part=lambda wildcards: wildcards.part,
    script:
        "../scripts/coreference_corpora/coreference_corpus.py"


# The matching of 18,506 with as many names takes five minutes and, for weights in double precision, 3 GB.
rule coreference_names:
    output:
        pairs="results/coreference/names/{column}.tsv",
        totals="results/coreference/names/{column}.csv",
    log:
        "results/logs/coreference_names/{column}.log",
    benchmark:
        "results/benchmarks/coreference_names/{column}.tsv"
    wildcard_constraints:
        column=one_of(first_names.COLUMNS),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(5000),
        runtime=growing(120),
    params:
        column=lambda wildcards: wildcards.column,
    script:
        "../scripts/coreference_corpora/coreference_names.py"


rule coreference_augmented:
    input:
        documents=TRAINING_PART,
        words=(
            [upstream(path) for path in augmentation.PUBLISHED_WORDS]
            if CORPORA["augmentation"]["words"] == "published"
            else [str(TEMPLATES / "coreference/gendered_words.tsv")]
        ),
        names=swapped_names,
    output:
        augmented="results/coreference/augmented/ontonotes/{method}.jsonl",
        counts="results/coreference/augmented/ontonotes/{method}.csv",
    log:
        "results/logs/coreference_augmented/{method}.log",
    wildcard_constraints:
        method=one_of(augmentation.METHODS),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        method=lambda wildcards: wildcards.method,
        column=CORPORA["augmentation"]["column"],
    script:
        "../scripts/coreference_corpora/coreference_augmented.py"
