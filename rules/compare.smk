# Needs two runs, or two models of one, and what the studies declare of their headlines. Makes a comparison: where they
# differ, how sure that is, and why (docs/compare.md).

# How the headlines of each study follow from the outcomes of its instances; the command reads it as well.
DECLARED_PAIRS = declared_pairs()


# They take seconds.
localrules:
    compare,
    compare_runs,
    compare_pdf,


rule compare:
    input:
        compared,


rule compare_runs:
    input:
        template_html=repo_path("paper/compare.html.j2"),
        template_tex=repo_path("paper/compare.tex.j2"),
        style=repo_path("paper/proceedings.sty"),
        a_files=places.inputs(COMPARISON.a.path) if COMPARISON else [],
        b_files=places.inputs(COMPARISON.b.path) if COMPARISON else [],
    output:
        comparison_json=f"{places.RESULTS}/comparison.json",
        html=f"{places.RESULTS}/comparison.html",
        main_tex=f"{places.RESULTS}/comparison.tex",
        style_copy=f"{places.RESULTS}/proceedings.sty",
    log:
        "results/logs/compare_runs/compare.log",
    conda:
        "../envs/paper.yaml"
    resources:
        mem_mb=4000,
    params:
        a=COMPARISON.a.absolute if COMPARISON else None,
        b=COMPARISON.b.absolute if COMPARISON else None,
        declared=DECLARED_PAIRS,
    script:
        "../scripts/compare/compare_runs.py"


rule compare_pdf:
    input:
        main_tex=rules.compare_runs.output.main_tex,
        style=rules.compare_runs.output.style_copy,
    output:
        pdf=f"{places.RESULTS}/comparison.pdf",
    log:
        "results/logs/compare_pdf/compare.log",
    conda:
        "../envs/paper.yaml"
    params:
        overfull=10.0,
    script:
        "../scripts/compare/compare_pdf.py"
