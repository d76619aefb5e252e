# What follows from the studies' declarations: the rules of their figures, tables, numbers and sections, and their targets.
# Rule, script, log and output carry the same name: rule ruff_figure_scaling runs scripts/ruff/figure_scaling.py.


def reported(path, study, kind, title):
    """Return an output that Snakemake's HTML report shows under ``study`` and ``title``, with its caption in the paper."""
    labels = {"kind": kind, "result": title}
    for wildcard in re.findall(r"\{(\w+)\}", path):
        labels[wildcard] = f"{{{wildcard}}}"
    return report(path, caption=Path("results/paper/captions.rst").absolute(), category=study, labels=labels)


def outputs(made, study):
    """Return the named outputs of a rule of a study."""
    kind = "table" if made.kind == "comparison" else made.kind
    return {
        name: reported(path, study.label, kind, made.title) if name == made.reported else path
        for name, path in made.outputs.items()
    }


for declared in STUDIES.values():
    for made in declared.rules(root):

        rule:
            name:
                made.name
            input:
                **made.inputs,
            output:
                **outputs(made, declared),
            log:
                made.log,
            wildcard_constraints:
                **made.constraints,
            conda:
                f"../envs/{made.environment}.yaml"
            resources:
                **made.resources,
            params:
                **made.params,
                # The script's path is put together when the job runs, after the loop.
                _script=made.script,
            script:
                "../scripts/{params._script}.py"

    rule:
        name:
            declared.name
        input:
            declared.files(),
            declared.analyses,
        localrule: True


# The models that some study reads, and those that some study prompts.
READ_MODELS = RUN if any(declared.scored or declared.texts for declared in STUDIES.values()) else {}
ASKED_MODELS = [name for declared in STUDIES.values() if declared.prompted for name in declared.prompted.models]
# What they leave.
SCORE_FILES = [path for declared in STUDIES.values() for path in declared.score_files(RUN)]
DISTRIBUTION_FILES = [path for declared in STUDIES.values() for path in declared.distribution_files(RUN)]
