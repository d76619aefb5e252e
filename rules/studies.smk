# Needs the declarations of the studies. Makes the rules of their figures, tables, numbers and sections, and their
# targets. Rule, script, log and output carry the same name: rule ruff_figure_scaling runs figure_scaling of
# scripts/ruff/figures.py.


def outputs(made, study, place):
    """Return the named outputs of a rule of a study, which is the rule at that place in the study's declaration."""
    kind = "table" if made.kind == "comparison" else made.kind
    # All studies together come first.
    category = f"{list(STUDIES).index(study.name) + 2}. {study.label}"
    return {
        name: reported(path, category, place, kind, made.title) if name == made.reported else path
        for name, path in made.outputs.items()
    }


for declared in STUDIES.values():
    for place, made in enumerate(declared.rules(repo_path), 1):

        rule:
            name:
                made.name
            input:
                **made.inputs,
            output:
                **outputs(made, declared, place),
            log:
                made.log,
            wildcard_constraints:
                **made.constraints,
            conda:
                f"../envs/{made.environment}.yaml"
            resources:
                **{name: growing(amount) for name, amount in made.resources.items()},
            params:
                **made.params,
                # The script's path is put together when the job runs, after the loop.
                _script=made.script,
            script:
                "../scripts/{params._script}.py"

    rule:
        """All figures, tables and analyses of one study."""
        name:
            declared.name
        input:
            declared.files(),
            declared.analyses,
        localrule: True


# The models that score instances or read texts of some study, and those that some study prompts.
READ_MODELS = [name for name in MODELS if any(declared.reads(name) for declared in STUDIES.values())]
ASKED_MODELS = [name for declared in STUDIES.values() if declared.prompted for name in declared.prompted.models]
# What they leave.
SCORE_FILES = [path for declared in STUDIES.values() for path in declared.score_files]
DISTRIBUTION_FILES = [path for declared in STUDIES.values() for path in declared.distribution_files]
# How the headlines of each study follow from the outcomes of its instances; python -m scripts.compare reads it as well.
DECLARED_PAIRS = {
    name: {
        "outcomes": declared.outcomes,
        "paired": {metric: dataclasses.asdict(pairs) for metric, pairs in declared.paired.items()},
    }
    for name, declared in STUDIES.items()
}
