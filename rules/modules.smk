# Needs all rules, so that it comes after them. Makes the digests of the code behind every rule. By itself, Snakemake reruns
# a rule whose script is newer than its outputs, and looks at no module that the script imports; profiles/default switches
# this off. Each rule gets the digests of its script and of all local modules behind it as a parameter instead, so that a
# change of what they do reruns exactly the rules that use it. Rules that make instances get a priority.

from scripts.core.provenance import closure


def carry_digests():
    for carrier in workflow.rules:
        if carrier.script:
            path = carrier.script.format(params=carrier.params).removeprefix("../")
            carrier.set_params(_code=call_or_exit(closure.digest_modules, path, ROOT))
            # Models wait for instances, and nearly all else for models.
            if Path(path).name == "instances.py":
                carrier.priority = 3
            given = dict(carrier.params.items())
            if "pronouns" in carrier.input.keys() and "_rows" not in given:
                carrier.set_params(_rows=pronoun_rows(given["pronoun_sets"]))
    closure.store_digests(ROOT)


carry_digests()
