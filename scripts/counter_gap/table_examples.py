"""Show examples of quadruples with a system's predictions (paper Table 7)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib import examples
from scripts.counter_gap.lib.analyses import subsets

COLUMNS = ["rule", "source", "system", "quadruple", "role", "correct"]


def main(*, instances: str, flags: str, tex: str, csv: str):
    """Write the table, and a CSV that says which quadruples of which system it shows.

    All examples are of the first system (in the order of ``examples.system``) that has one for every rule, otherwise of
    the first that has one for some rule.
    """
    frame, found = files.read_parquet(instances), files.read_parquet(flags)
    factors = subsets.of_quadruples(frame)
    best = {}
    for key in examples.system(found):
        source, system, debiasing = key
        own = found[(found.source == source) & (found.system == system) & (found.debiasing == debiasing)]
        chosen = {rule: examples.choose(frame, own, factors, rule) for rule in examples.RULES}
        chosen = {rule: position for rule, position in chosen.items() if position is not None}
        if len(chosen) > len(best.get("chosen", {})):
            best = {"key": key, "own": own, "chosen": chosen}
    shown, listed = [], []
    for rule, position in best.get("chosen", {}).items():
        four = examples.rows(frame, best["own"], position)
        shown.append((f"{best['key'][1]}: {examples.RULES[rule]}", four))
        listed += [(rule, *best["key"][:2], row.quadruple, row.role, row.correct) for row in four]
    files.write_csv(csv, pd.DataFrame(listed, columns=COLUMNS))
    files.write_text(tex, examples.table(shown) if shown else "No quadruple of this run is an example.\n")


if __name__ == "__main__":
    run(main)
