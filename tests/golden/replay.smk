# The workflow without the rules that leave the stored outputs of models, which are files like any other here.
# tests/golden/replay.py puts this file beside Snakefile in a copy of the repository.


include: "Snakefile"


from tests.golden import replay


rule golden:
    input:
        rules.figures.input,
        rules.tables.input,
        rules.paper_provenance.input,
        rules.paper_summary.output,
        rules.explorer.output,
        expand(rules.card_page.output.html, card=CARDED),
    localrule: True


if set(replay.DRAWN) <= set(RUN):

    ruleorder: draw_scores > merge_scores

    rule draw_scores:
        input:
            instances="results/{study}/instances/{templates}/selected.parquet",
        output:
            scores="results/{study}/scores/{templates}/{model}.parquet",
        wildcard_constraints:
            templates=SCORED_SETS,
            model=one_of(replay.DRAWN),
        params:
            model=lambda wildcards: wildcards.model,
            label=lambda wildcards: MODELS[wildcards.model].label,
            architecture=lambda wildcards: MODELS[wildcards.model].architecture,
            criterion=lambda wildcards: SCORED[wildcards.study].criterion,
        script:
            "draw_scores.py"


replay.prepare(workflow)
