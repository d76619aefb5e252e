"""Which combinations of declared forms the study averaged, worked out from its printed numbers alone.

Section 3.3 speaks of seven combinations and Table 2 lists six. Table 4 averages all experiments and Table 6 those of
each number of declared forms, so Table 4 is the mean of Table 6 with the numbers of combinations as weights. In the
same way Table 4 is the plain mean over declaration types (Table 5) and forms (Table 8), and a row of Table 7 is the
mean of its row of Table 10 with the numbers of names as weights.
"""

import pandas as pd

ACCURACY = "misgendered_accuracy"
WEIGHTS = {
    "six combinations (Table 2)": {"2": 1, "3": 2, "4": 2, "5": 1},
    "seven, a further one of three forms": {"2": 1, "3": 3, "4": 2, "5": 1},
    "seven, a further one of four forms": {"2": 1, "3": 2, "4": 3, "5": 1},
}
"""Combinations for each number of declared forms."""
NAMES = {"Female": 100, "Male": 100, "Unisex": 300}
TYPES = ("Binary", "Neutral", "Neo-Pronouns")
ROUNDING = 0.05
"""Half of the last printed digit, in percentage points; both sides of a comparison are rounded."""


def printed_averages(published):
    """Return the printed averages beside what the printed parts give with each set of weights.

    Parameters
    ----------
    published : DataFrame of str
        From :func:`scripts.core.paper.published.read_published`.

    Returns
    -------
    DataFrame
        ``of`` (what is averaged), ``weights``, ``quantity``, ``printed``, ``computed``, ``difference`` (percentage
        points), ``fits`` (whether rounding can explain the difference).
    """
    values = {(row.row, row.column): float(row.value) for row in published.itertuples() if row.item == ACCURACY}
    rows = []

    def add(of, weights, quantity, printed, parts):
        total = sum(weight for weight, _ in parts)
        computed = sum(weight * value for weight, value in parts) / total
        difference = computed - printed
        rows.append((of, weights, quantity, printed, computed, difference, abs(difference) <= 2 * ROUNDING + 1e-9))

    for name, weights in WEIGHTS.items():
        for kind in TYPES:
            parts = [(weight, values[f"declared forms | {n}", kind]) for n, weight in weights.items()]
            add("numbers of declared forms (Table 6)", name, kind, values[kind, "Accuracy"], parts)
    for kind in TYPES:
        parts = [(1, values[f"declaration type | {t}", kind]) for t in ("Explicit", "Parenthetical")]
        add("declaration types (Table 5)", "equal", kind, values[kind, "Accuracy"], parts)
    for kind in TYPES:
        forms = ("Nominative", "Accusative", "Reflexive", "Pos-Dependent", "Pos-Independent")
        parts = [(1, values[f"pronoun form | {form}", kind]) for form in forms]
        add("forms (Table 8)", "equal", kind, values[kind, "Accuracy"], parts)
    for group, kind in (("She", "Binary"), ("He", "Binary"), ("They", "Neutral")):
        parts = [(n, values[f"pronoun group | {group}", name]) for name, n in NAMES.items()]
        add("classes of names (Table 10)", "100, 100, 300", group, values[f"{kind} | {group}", "Accuracy"], parts)
    columns = ["of", "weights", "quantity", "printed", "computed", "difference", "fits"]
    return pd.DataFrame(rows, columns=columns)
