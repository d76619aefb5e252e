"""Show examples of quadruples with a system's predictions (paper Table 7)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib import examples
from scripts.counter_gap.lib.analyses import subsets

COLUMNS = ["rule", "data", "scoring", "system", "quadruple", "role", "correct"]


def main(*, instances: str, flags: str, tex: str, csv: str):
    """Write the table, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system (in the order of ``examples.preferred_systems``) that has one for every rule,
    otherwise of the first that has one for some rule.
    """
    passages, predicted = files.read_parquet(instances), files.read_parquet(flags)
    factors = subsets.factors_of(passages)
    plain = predicted[predicted.debiasing == "none"]
    best = {}
    for key in examples.preferred_systems(predicted):
        of_system = plain[(plain.scoring == key[1]) & (plain.system == key[2])]
        chosen = {rule: examples.choose(passages, of_system, factors, rule) for rule in examples.RULES}
        chosen = {rule: position for rule, position in chosen.items() if position is not None}
        if len(chosen) > len(best.get("chosen", {})):
            best = {"key": key, "flags": of_system, "chosen": chosen}
    shown, listed = [], []
    for rule, position in best.get("chosen", {}).items():
        four = examples.rows(passages, best["flags"], position)
        shown.append((f"{best['key'][2]}: {examples.RULES[rule]}", four))
        listed += [(rule, *best["key"], row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=COLUMNS))
    files.write_text(tex, examples.table(shown) if shown else "No quadruple of this run is an example.\n")


if __name__ == "__main__":
    run(main)
