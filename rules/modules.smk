# The modules behind every rule. Snakemake reruns a rule whose script changed, but looks at no module that the script
# imports: each rule gets the digests of its script and of all local modules behind it as a parameter, so that a change
# reruns exactly the rules that use it. Comes after all rules.

from scripts.core.provenance import closure


def carry_digests():
    for carrier in workflow.rules:
        if carrier.script:
            path = carrier.script.format(params=carrier.params).removeprefix("../")
            try:
                carrier.set_params(_code=closure.digests(path, str(ROOT)))
            except UserError as error:
                refuse(error)


carry_digests()
