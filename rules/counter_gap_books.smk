# New quadruples from books (Xie et al. 2023, Section 2): books to clean texts, their sentences, passages and counterfactuals,
# candidates for annotators, and the labelled set. One job for each book and step, so that a run goes on where it stopped; no
# default target asks for any of it. The later rules have what the first one says of script, environment and group.

from scripts.counter_gap.lib.book_texts import books_of as counter_gap_books_of

COUNTER_GAP_BOOK_FOLDER = "results/counter_gap/books"
try:
    # Files of config/upstream.tsv are fetched; others lie where the configuration says.
    COUNTER_GAP_BOOK_FILES = counter_gap_books_of(
        COUNTER_GAP["books"]["sources"], {path: upstream(path) for path in UPSTREAM}, config_path
    )
except UserError as error:
    exit_with(error)


rule counter_gap_book_text:
    input:
        source=lambda wildcards: COUNTER_GAP_BOOK_FILES[wildcards.book],
    output:
        text=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.txt",
        facts=f"{COUNTER_GAP_BOOK_FOLDER}/texts/{{book}}.json",
    log:
        "results/logs/counter_gap_book_text/{book}.log",
    wildcard_constraints:
        book=one_of(COUNTER_GAP_BOOK_FILES or ["none"]),
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
        mem_mb=2000,
        runtime=60,


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
        mem_mb=2000,


use rule counter_gap_book_text as counter_gap_book_candidates with:
    input:
        passages=expand(rules.counter_gap_book_passages.output.passages, book=COUNTER_GAP_BOOK_FILES),
        outcomes=expand(rules.counter_gap_book_passages.output.outcomes, book=COUNTER_GAP_BOOK_FILES),
    output:
        candidates=f"{COUNTER_GAP_BOOK_FOLDER}/candidates.tsv",
        funnel=f"{COUNTER_GAP_BOOK_FOLDER}/funnel_by_book.csv",
    log:
        "results/logs/counter_gap_book_candidates/all.log",
    resources:
        mem_mb=2000,
    params:
        books=list(COUNTER_GAP_BOOK_FILES),


use rule counter_gap_book_text as counter_gap_book_funnel with:
    input:
        funnel=rules.counter_gap_book_candidates.output.funnel,
    output:
        table=f"{COUNTER_GAP_BOOK_FOLDER}/funnel.csv",
        tex=f"{COUNTER_GAP_BOOK_FOLDER}/funnel.tex",
        pdf=f"{COUNTER_GAP_BOOK_FOLDER}/figures/funnel.pdf",
        png=f"{COUNTER_GAP_BOOK_FOLDER}/figures/funnel.png",
        csv=f"{COUNTER_GAP_BOOK_FOLDER}/figures/funnel.csv",
    log:
        "results/logs/counter_gap_book_funnel/all.log",
    group:
        "analyses"


# The labels are what annotators of the candidates come to.
use rule counter_gap_book_text as counter_gap_book_quadruples with:
    input:
        candidates=rules.counter_gap_book_candidates.output.candidates,
        labels="results/counter_gap/annotation/books/labels.csv",
        funnel=rules.counter_gap_book_candidates.output.funnel,
        facts=expand(rules.counter_gap_book_text.output.facts, book=COUNTER_GAP_BOOK_FILES),
        sentences=expand(rules.counter_gap_book_sentences.output.sentences, book=COUNTER_GAP_BOOK_FILES),
    output:
        quadruples=f"{COUNTER_GAP_BOOK_FOLDER}/quadruples.tsv",
        card=f"{COUNTER_GAP_BOOK_FOLDER}/quadruples.md",
    log:
        "results/logs/counter_gap_book_quadruples/all.log",
    group:
        "analyses"
    params:
        seed=COUNTER_GAP["books"]["seed"],


use rule counter_gap_book_text as counter_gap_book_consistency with:
    input:
        instances="results/counter_gap/instances/candidates.parquet",
        outputs=[entry["file"] for entry in COUNTER_GAP_CLUSTERS["candidates"]],
    output:
        consistency=f"{COUNTER_GAP_BOOK_FOLDER}/consistency.csv",
    log:
        "results/logs/counter_gap_book_consistency/all.log",
    group:
        "analyses"
    params:
        systems=COUNTER_GAP_CLUSTERS["candidates"],
        draws=COUNTER_GAP["bootstrap"]["draws"],
        seed=COUNTER_GAP["bootstrap"]["seed"],


# What the rules find again of C-GAP's passages from the same books; needs the network or a mirror.
use rule counter_gap_book_text as counter_gap_book_rediscovery with:
    input:
        c_gap=COUNTER_GAP_FILES["official"]["c_gap"],
        texts=expand(rules.counter_gap_book_text.output.text, book=COUNTER_GAP_BOOK_FILES),
        facts=expand(rules.counter_gap_book_text.output.facts, book=COUNTER_GAP_BOOK_FILES),
        passages=expand(rules.counter_gap_book_passages.output.passages, book=COUNTER_GAP_BOOK_FILES),
        outcomes=expand(rules.counter_gap_book_passages.output.outcomes, book=COUNTER_GAP_BOOK_FILES),
    output:
        rediscovery=f"{COUNTER_GAP_BOOK_FOLDER}/rediscovery.csv",
    log:
        "results/logs/counter_gap_book_rediscovery/all.log",
    group:
        "analyses"
