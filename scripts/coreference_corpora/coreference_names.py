"""Match masculine with feminine first names, for name-based augmentation."""

import pandas as pd

from scripts.core import files
from scripts.core.coreference_systems import first_names
from scripts.core.workflow.job import log, run


def main(*, pairs: str, totals: str, column: str):
    """Write the names and what each is swapped for, and how well they match.

    Args:
        pairs: A name, a tab and its counterpart in each row, both ways (TSV).
        totals: How many pairs there are of each gender, and their total weight (CSV).
        column: Where the frequencies of a name begin: corrected, or faithful to the study's code, one column late.
    """
    matched, weights = first_names.match_genders(first_names.read_names(first_names.packaged_names(), column))
    swaps = first_names.swap_pairs([pair for some in matched.values() for pair in some])
    files.write_text(pairs, "".join(f"{name}\t{other}\n" for name, other in swaps.items()))
    table = pd.DataFrame(
        {"gender": gender, "pairs": len(some), "weight": weights[gender]} for gender, some in matched.items()
    )
    files.write_csv(totals, table)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main)
