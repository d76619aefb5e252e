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


replay.prepare(workflow)
