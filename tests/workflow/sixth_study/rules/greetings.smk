# A study as small as one can be: sentences with a slot, the pronoun that a model prefers in it, one figure, one table.

GREETINGS = config["greetings"]
GREETINGS_ASKED = {name: Prompting(["vanilla"], {"answer": 5}, [(4, 5)]) for name in GREETINGS["asked"]}


rule greetings_instances:
    input:
        sentences=str(TEMPLATES / "greetings/sentences.tsv"),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        instances="results/greetings/instances/{templates}/selected.parquet",
    log:
        "results/logs/greetings_instances/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/greetings/instances.py"


declare(
    name="greetings",
    label="Greetings",
    title="Greetings (a study of the tests)",
    parts=GREETINGS["templates"],
    every_part=["replica"],
    instances=expand(rules.greetings_instances.output.instances, templates=GREETINGS["templates"]),
    scored=ScoredInstances(sets=GREETINGS["templates"], instances=4, options=len(PRONOUN_SETS), tokens=9),
    prompted=PromptSet(sets=GREETINGS["templates"], models=GREETINGS_ASKED, tokens=20) if GREETINGS_ASKED else None,
    analysis_rules={
        "choices": result(
            scores=expand("results/greetings/scores/{{templates}}/{model}.parquet", model=RUN),
            params={"models": list(RUN), "pronoun_sets": PRONOUN_SETS},
        )
    },
    figures={"choices": result("choices", title="Preferred pronoun sets")},
    tables={"choices": result("choices")},
    numbers=result("choices"),
    section=result(params={"template_sets": GREETINGS["templates"]}),
    question="Which pronoun set does a model prefer in a greeting?",
    summary=result(
        choices=expand("results/greetings/analysis/{templates}/choices.csv", templates=GREETINGS["templates"]),
        params={"template_sets": GREETINGS["templates"]},
    ),
    headline=["choices"],
)
