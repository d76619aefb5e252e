# What WinoPron reads: template sets, systems and models of this run, and the files of each set of instances.

from scripts.winopron.lib import prompts as winopron_prompts
from scripts.winopron.lib import study as winopron_study

WINOPRON = config["winopron"]
WINOPRON_PROMPTING = WINOPRON["prompting"]
WINOPRON_PROMPTS = str(TEMPLATES / "winopron/prompts.tsv")

# The template sets and what each is read from; Winogender Schemas have no sentences about one person.
WINOPRON_FILES = {
    "replica": {
        "sentences": str(TEMPLATES / "winopron/sentences.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("winopron/data.zip")},
    "winogender": {"winogender": upstream("winogender/data/templates.tsv")},
}
WINOPRON_ENTITIES = {name: ["double"] if name == "winogender" else ["double", "single"] for name in WINOPRON_FILES}
WINOPRON_NAMES = {"templates": one_of(WINOPRON_FILES), "entities": "double|single"}
# Those of this run.
WINOPRON_SETS = [
    {"templates": name, "entities": entities} for name in WINOPRON["templates"] for entities in WINOPRON_ENTITIES[name]
]
WINOPRON_PARTS = [name for name in WINOPRON["templates"] if name != "winogender"]
WINOPRON_OF = {
    kind: [f"results/winopron/{kind}/{names['templates']}/{names['entities']}.parquet" for names in WINOPRON_SETS]
    for kind in ("instances", "predictions")
}
WINOPRON_BOOTSTRAP = {"draws": WINOPRON["bootstrap"]["draws"], "seed": WINOPRON["bootstrap"]["seed"]}


def winopron_given(outputs, templates, entities):
    """Return the clusters or answers of a set of instances that the configuration names."""
    return [entry for entry in WINOPRON[outputs] if (entry["templates"], entry["entities"]) == (templates, entities)]


def winopron_systems(templates, entities):
    """Return every system with clusters of a set of instances, and the ways in which they are read."""
    rules_in_place = {rule: winopron_study.RULES[rule] for rule in WINOPRON["baselines"]}
    given = winopron_given("clusters", templates, entities)
    return winopron_study.systems(
        f"results/winopron/clusters/{templates}/{entities}", rules_in_place, RUN_SYSTEM_FACTS, given
    )


# Models that are prompted: what they are asked, and what figures and tables need to know of them.
try:
    WINOPRON_PROMPTED = winopron_prompts.jobs(
        WINOPRON_PROMPTING,
        MODELS,
        len(winopron_prompts.read(WINOPRON_PROMPTS, WINOPRON_PROMPTING["prompts"])),
        len(PRONOUN_SETS),
    )
    for names in WINOPRON_SETS:
        winopron_study.check_systems(names, winopron_systems(**names))
except UserError as error:
    exit_with(error)
WINOPRON_ASKED = {name: registry.describe(MODELS[name]) for name in WINOPRON_PROMPTED}
# Models of the run that resolve by likelihood; an encoder-decoder does not score what follows the slot.
WINOPRON_SCORING = {
    name: facts
    for name, facts in RUN_MODELS.items()
    if WINOPRON["resolution"]["pairs"] and facts["architecture"] != "encoder-decoder"
}


def winopron_read(wildcards):
    """Return what is read of a set of instances: systems with clusters or answers, prompted and scored models."""
    templates, entities = wildcards.templates, wildcards.entities
    winogender = templates == "winogender"
    return {
        "systems": winopron_systems(templates, entities),
        "answering": winopron_given("answers", templates, entities),
        "models": WINOPRON_ASKED if winogender or entities in WINOPRON_PROMPTING["entities"] else {},
        "scored": WINOPRON_SCORING if not winogender and entities == "double" else {},
    }


def winopron_inputs(wildcards):
    """Return the files of the same, with the instances and what the models were asked and scored."""
    read, templates = winopron_read(wildcards), wildcards.templates
    return {
        "instances": f"results/winopron/instances/{templates}/{wildcards.entities}.parquet",
        "clusters": [entry["file"] for entry in read["systems"]],
        "answer_files": [entry["file"] for entry in read["answering"]],
        "prompts": [f"results/winopron/prompts/{templates}.parquet"] if read["models"] else [],
        "answers": [f"results/winopron/answers/{templates}/{model}.parquet" for model in read["models"]],
        "selected": [f"results/winopron/instances/{templates}/selected.parquet"] if read["scored"] else [],
        "scores": [f"results/winopron/scores/{templates}/{model}.parquet" for model in read["scored"]],
    }
