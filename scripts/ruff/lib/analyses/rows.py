"""The rows of a predictions frame that have a right answer."""


def fidelity_rows(table):
    """Return the rows of a predictions frame that have a context and so a right answer."""
    return table[table.setting == "fidelity"].assign(correct=lambda t: t.correct.astype(float))
