"""
New quadruples from books (Xie et al. 2023, Section 2), outside the default targets.

REQUIRED INPUTS
    the books that the configuration names (counter_gap.books.sources)
    results/counter_gap/annotation/books/labels.csv            of the candidates, by people (rules/counter_gap.smk)

OUTPUTS
    results/counter_gap/books/                                 texts, sentences, passages, candidates, quadruples

There is one job for each book and step, so that a run goes on where it stopped. The later rules have what the first one
says of script, environment and group.
"""

COUNTER_GAP_BOOK_FOLDER = "results/counter_gap/books"


rule counter_gap_book_text:
    input:
        source=lambda wildcards: COUNTER_GAP.books[wildcards.book],
    output:
        text=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.txt",
        facts=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.json",
    log:
        "results/logs/counter_gap_book_text/{book}.log",
    wildcard_constraints:
        book=one_of(COUNTER_GAP.books),
    group:
        "instances"
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/counter_gap/books.py"


use rule counter_gap_book_text as counter_gap_book_sentences with:
    input:
        text=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.txt",
        environment="results/environments/coreference.json",
    output:
        sentences=f"{COUNTER_GAP_BOOK_FOLDER}/sentences/{{book}}.parquet",
    log:
        "results/logs/counter_gap_book_sentences/{book}.log",
    benchmark:
        "results/benchmarks/counter_gap_book_sentences/{book}.tsv"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),


use rule counter_gap_book_text as counter_gap_book_passages with:
    input:
        text=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.txt",
        facts=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.json",
        sentences=f"{COUNTER_GAP_BOOK_FOLDER}/sentences/{{book}}.parquet",
        words=str(TEMPLATES / "coreference/gendered_words.tsv"),
    output:
        passages=f"{COUNTER_GAP_BOOK_FOLDER}/passages/{{book}}.tsv",
        outcomes=f"{COUNTER_GAP_BOOK_FOLDER}/passages/{{book}}.csv",
    log:
        "results/logs/counter_gap_book_passages/{book}.log",
    benchmark:
        "results/benchmarks/counter_gap_book_passages/{book}.tsv"
    resources:
        mem_mb=growing(2000),


use rule counter_gap_book_text as counter_gap_book_candidates with:
    input:
        passages=expand(rules.counter_gap_book_passages.output.passages, book=COUNTER_GAP.books),
        outcomes=expand(rules.counter_gap_book_passages.output.outcomes, book=COUNTER_GAP.books),
    output:
        candidates=f"{COUNTER_GAP_BOOK_FOLDER}/candidates.tsv",
        funnel=f"{COUNTER_GAP_BOOK_FOLDER}/funnel_by_book.csv",
        table=f"{COUNTER_GAP_BOOK_FOLDER}/funnel.csv",
    log:
        "results/logs/counter_gap_book_candidates/all.log",
    resources:
        mem_mb=growing(2000),
    params:
        books=list(COUNTER_GAP.books),


# The labels are what annotators of the candidates come to.
use rule counter_gap_book_text as counter_gap_book_quadruples with:
    input:
        candidates=rules.counter_gap_book_candidates.output.candidates,
        labels="results/counter_gap/annotation/books/labels.csv",
        funnel=rules.counter_gap_book_candidates.output.funnel,
        facts=expand(rules.counter_gap_book_text.output.facts, book=COUNTER_GAP.books),
        sentences=expand(rules.counter_gap_book_sentences.output.sentences, book=COUNTER_GAP.books),
    output:
        quadruples=f"{COUNTER_GAP_BOOK_FOLDER}/quadruples.tsv",
        card=f"{COUNTER_GAP_BOOK_FOLDER}/quadruples.md",
    log:
        "results/logs/counter_gap_book_quadruples/all.log",
    group:
        "analyses"
    params:
        seed=COUNTER_GAP["books"]["seed"],
