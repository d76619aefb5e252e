# Needs the declarations of the studies. Makes their targets, and lists what models do for all of them.

for declared in STUDIES.values():

    rule:
        """All figures, tables and analyses of one study."""
        name:
            declared.name
        input:
            declared.figure_files,
            declared.table_files,
            declared.analyses,
        localrule: True


# The models that score instances or read texts of some study, and those that some study prompts.
READ_MODELS = [name for name in MODELS if any(declared.is_read_by(name) for declared in STUDIES.values())]
ASKED_MODELS = [name for declared in STUDIES.values() if declared.prompted for name in declared.prompted.models]
# What they leave.
SCORE_FILES, DISTRIBUTION_FILES = (
    [output.file for declared in STUDIES.values() for output in declared.outputs if output.kind == kind]
    for kind in ("scores", "distributions")
)
# How the headlines of each study follow from the outcomes of its instances; python -m scripts.compare reads it as well.
DECLARED_PAIRS = {
    name: {
        "outcomes": declared.outcomes,
        "paired": {metric: dataclasses.asdict(pairs) for metric, pairs in declared.paired.items()},
    }
    for name, declared in STUDIES.items()
}
