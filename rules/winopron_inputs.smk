# What rules of WinoPron read, by the wildcards of a job: systems and models of a set of instances.


def winopron_systems(templates, entities):
    """Return every system with clusters of a set of instances, and the ways in which they are read."""
    rules_in_place = [
        {
            "system": WINOPRON_RULES[rule],
            "conversions": ["corrected"],
            "file": f"results/winopron/clusters/{templates}/{entities}/{rule}.jsonl",
        }
        for rule in WINOPRON["baselines"]
    ]
    # The authors' way beside the corrected one.
    of_the_run = [
        {
            "system": winopron_study.system_label(facts),
            "conversions": winopron_study.conversions(facts["architecture"]),
            "file": f"results/winopron/clusters/{templates}/{entities}/{name}.jsonl",
        }
        for name, facts in RUN_SYSTEM_FACTS.items()
    ]
    given = [
        entry | {"conversions": ["corrected", entry["conversion"]]}
        for entry in WINOPRON["clusters"]
        if (entry["templates"], entry["entities"]) == (templates, entities)
    ]
    return rules_in_place + of_the_run + given


def winopron_clusters(wildcards):
    """Return the same, for the wildcards of a job."""
    return winopron_systems(wildcards.templates, wildcards.entities)


def winopron_answers(wildcards):
    """Return every system with answers in words about a set of instances."""
    return [
        entry
        for entry in WINOPRON["answers"]
        if (entry["templates"], entry["entities"]) == (wildcards.templates, wildcards.entities)
    ]


def winopron_asked(wildcards):
    """Return the models that are prompted about a set of instances."""
    asked = wildcards.templates == "winogender" or wildcards.entities in WINOPRON_PROMPTING["entities"]
    return WINOPRON_ASKED if asked else {}


def winopron_scored(wildcards):
    """Return the models that resolve a set of instances by likelihood."""
    asked = wildcards.templates != "winogender" and wildcards.entities == "double"
    return WINOPRON_SCORING if asked else {}
